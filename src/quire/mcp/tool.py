"""What a tool is: a row with its schemas and its function.

A module of tools keeps the function, the schemas and the row of each tool together; `tools` joins
the rows of all modules. Nothing here knows the protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from quire.core.json_schema import Schema
from quire.mcp.session import Session

Arguments = dict[str, Any]
"""What a tool is called with, checked against its input schema."""

Step = Callable[[str], None]
"""Reports the next step of a call; raises `CancelledError` if the client has given up."""


class CancelledError(Exception):
    """The client no longer waits for the result."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returns."""

    data: dict[str, Any]
    """The structured result, as the output schema says."""
    list_name: str = ""
    """The list in the data that may be shortened to fit."""
    text_name: str = ""
    """The text in the data that is shown to a reader; empty: all data, as JSON."""
    remarks: str = ""
    """What such a reader is told beside the text."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of the server."""

    name: str
    title: str
    description: str
    input_schema: Callable[[], Schema]
    output_schema: Schema
    run: Callable[[Session, Arguments, Step], ToolResult]
    read_only: bool = True
    idempotent: bool = True
