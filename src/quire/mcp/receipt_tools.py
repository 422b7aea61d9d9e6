"""Tools that check receipts."""

from __future__ import annotations

from quire.core.json_schema import record, text, texts
from quire.core.serialize import to_plain
from quire.mcp.schemas import NOTES, answer
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
    result = quire.verify(
        receipt, context, signature=arguments.get("signature"), key=arguments.get("key")
    )
    data = {"holds": result.holds, **to_plain(result), "notes": []}
    return ToolResult(data, "problems")


TOOLS = (
    Tool(
        "verify",
        "Verify a receipt",
        "Check that a receipt holds: its hashes, proofs and signature, and that every byte of its "
        "context follows from the texts in the store.",
        lambda: record(
            {
                "receipt": {
                    "type": ["string", "object"],
                    "description": "Hash of a receipt from this server, or a whole receipt.",
                },
                "context": text("Context to check against it (default: the one from this server)."),
                "signature": {
                    "type": "object",
                    "description": "Signature that came with the receipt (FILE.sig).",
                },
                "key": text("Public key that must have signed it, in hexadecimal digits."),
            },
            "receipt",
        ),
        answer(
            {
                "holds": {"type": "boolean"},
                "problems": texts("What is wrong; empty if the receipt holds."),
                "checked": texts("What was checked."),
                "not_checked": texts("What was not checked, and why."),
                "signature": text("yours, known, foreign, invalid or unsigned."),
                "key": text("Id of the key that signed it."),
                "binds": {
                    "type": "boolean",
                    "description": "Whether the text was rendered again from its sources, or a "
                    "known key signed the receipt.",
                },
                "notes": NOTES["notes"],
            }
        ),
        verify,
    ),
)
