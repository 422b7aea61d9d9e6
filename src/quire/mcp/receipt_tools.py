"""Tools that check receipts."""

from __future__ import annotations

from quire.mcp.schemas import NOTES, answer, record, text, texts
from quire.mcp.session import Session
from quire.mcp.tool import Arguments, Step, Tool, ToolResult


def verify(session: Session, arguments: Arguments, step: Step) -> ToolResult:
    """Check a receipt, and its context, against the store."""
    receipt, context = arguments["receipt"], arguments.get("context")
    if isinstance(receipt, str):
        assembled = session.find(receipt)
        receipt, context = assembled.receipt, assembled.text if context is None else context
    step("opening the store")
    quire = session.quire()
    step("verifying")
    differences = quire.verify(receipt, context)
    data = {"holds": not differences, "differences": differences, "notes": []}
    return ToolResult(data, "differences")


TOOLS = (
    Tool(
        "verify",
        "Verify a receipt",
        "Check that a receipt holds: its hashes, its proofs, and that the store still agrees.",
        lambda: record(
            {
                "receipt": {
                    "type": ["string", "object"],
                    "description": "Hash of a receipt from this server, or a whole receipt.",
                },
                "context": text("Context to check against it (default: the one from this server)."),
            },
            "receipt",
        ),
        answer(
            {
                "holds": {"type": "boolean"},
                "differences": texts("Differences, in order; empty if the receipt holds."),
                "notes": NOTES["notes"],
            }
        ),
        verify,
    ),
)
