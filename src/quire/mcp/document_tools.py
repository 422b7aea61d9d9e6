"""Tools that put documents into the store and take them out again."""

from __future__ import annotations

from quire.core.json_schema import record, text, texts
from quire.core.serialize import pick, to_plain
from quire.mcp.schemas import NOTES, answer
from quire.mcp.session import Session
from quire.mcp.tool import Arguments, Step, Tool, ToolResult

_STRING = {"type": "string"}
_METADATA = {
    "type": "object",
    "description": "Values by key to filter by with `where`: texts, numbers, true or false, lists "
    "of texts; a text such as 2026-01-31 is a date.",
    "additionalProperties": {
        "anyOf": [
            {"type": ["string", "number", "boolean"]},
            {"type": "array", "items": {"type": "string"}},
        ]
    },
}


def put_document(session: Session, arguments: Arguments, step: Step) -> ToolResult:
    """Put a document that is not a file."""
    step("opening the store")
    quire = session.quire(create=True)
    step("writing")
    result = quire.documents.put(arguments.pop("text"), **arguments)
    data = pick(to_plain(result), "path", "id", "state", "notes")
    data["redacted"] = [f"line {item.line}: {item.kind}" for item in result.redacted]
    return ToolResult(data)


def delete_document(session: Session, arguments: Arguments, step: Step) -> ToolResult:
    """Delete a document that was put."""
    step("opening the store")
    quire = session.quire()
    step("deleting")
    deleted = quire.documents.delete(arguments["path"], missing_ok=True)
    return ToolResult({"path": arguments["path"], "deleted": deleted})


TOOLS = (
    Tool(
        "put_document",
        "Put a document",
        "Keep a text that is not a file of the project (a ticket, a web page, a result) so that "
        "later contexts and searches find it. The same path again replaces it.",
        lambda: record(
            {
                "text": text("The text; Markdown unless `type` says otherwise.", minLength=1),
                "path": text("Its name, like that of a file: tickets/42.", minLength=1),
                "type": text("text, markdown, html, json, or another format."),
                "title": text("Its title."),
                "metadata": _METADATA,
                "expires": text("Last day on which it is shown: 2026-01-31."),
                "share": texts("Who can read it: NAME, @GROUP, public or owner."),
            },
            "text",
            "path",
        ),
        answer(
            {
                "path": _STRING,
                "id": _STRING,
                "state": text("added, changed or unchanged."),
                "redacted": texts("Secrets that were taken out of it."),
                "notes": NOTES["notes"],
            }
        ),
        put_document,
        read_only=False,
    ),
    Tool(
        "delete_document",
        "Delete a document",
        "Delete a document that `put_document` or `quire add` put; files stay as they are.",
        lambda: record({"path": text("Its path.", minLength=1)}, "path"),
        answer({"path": _STRING, "deleted": {"type": "boolean"}}),
        delete_document,
        read_only=False,
    ),
)
