"""The tool that brings the store up to date with files."""

from __future__ import annotations

from pathlib import Path

from quire.core.json_schema import record, text, texts
from quire.core.serialize import pick, to_plain
from quire.errors import InputError
from quire.mcp.schemas import answer, objects
from quire.mcp.session import Session
from quire.mcp.tool import Arguments, Step, Tool, ToolResult

MAX_PATHS = 64


def index(session: Session, arguments: Arguments, step: Step) -> ToolResult:
    """Read files and folders of the project again."""
    from quire.indexing import background

    step("opening the store")
    quire = session.quire()
    root = quire.root()
    for path in arguments["paths"]:
        if "\0" in path:
            raise InputError("a path cannot contain NUL", field="paths", value=path)
    step("reading")
    result = quire.documents.read_again([Path(root, path) for path in arguments["paths"]])
    background.embed_later(quire.config, root, result)
    data = pick(to_plain(result), "indexed", "unchanged", "removed", "missing_vectors", "notes")
    data["skipped"] = [pick(to_plain(item), "path", "reason") for item in result.skipped]
    return ToolResult(data, "skipped")


_INTEGER = {"type": "integer"}
TOOLS = (
    Tool(
        "index",
        "Read files again",
        "Read files of the project again that were added, changed or deleted, so that other tools "
        "know them as they are now. Files that an answer quotes are checked without it.",
        lambda: record(
            {
                "paths": {
                    **texts("Files and folders, from the root of the project."),
                    "minItems": 1,
                    "maxItems": MAX_PATHS,
                }
            },
            "paths",
        ),
        answer(
            {
                "indexed": {**_INTEGER, "description": "Files that were read."},
                "unchanged": _INTEGER,
                "removed": {**_INTEGER, "description": "Files that are gone."},
                "missing_vectors": {
                    **_INTEGER,
                    "description": "Texts that are found by words alone until they are embedded.",
                },
                "skipped": objects({"path": {"type": "string"}, "reason": text("Why.")}),
                "notes": texts("Remarks."),
            }
        ),
        index,
        read_only=False,
    ),
)
