"""The access log: which contexts were handed out, to whom.

If `[audit] file` names a file, each context that leaves the engine adds one line to it: when, who
asked, which receipt, and the pieces in it. A context whose line cannot be written is not handed
out. The file lies beside the store and is not part of its state.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from quire.core.types import Context, Viewer
from quire.errors import InputError, StoreError
from quire.system import platform

OWNER = "(owner)"


def write(file: Path, context: Context, viewer: Viewer, recipe: str, at: int) -> None:
    """Add a line for a context that a viewer is handed; `at` is the time, since 1970."""
    line = {
        "at": at,
        "viewer": OWNER if viewer.owner else viewer.name,
        "recipe": recipe,
        "receipt": context.receipt["hash"],
        "view_root": context.receipt["view_root"],
        "tokens": context.tokens,
        "pieces": [source.chunk_id for source in context.sources],
        "records": sorted({source.record_id for source in context.sources}),
    }
    data = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        platform.append(file, data)  # in one write: lines of several processes stay whole
    except OSError as error:
        raise StoreError(
            f"the context is withheld, because the audit log cannot be written ({error})",
            place=str(file),
            hint="make room, or change [audit] file",
        ) from error


def read(file: Path, viewer: str | None = None) -> Iterator[Mapping[str, Any]]:
    """Iterate over the lines of the log, oldest first; those of one viewer, or of all."""
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    entry = json.loads(line)
                except ValueError as error:
                    raise InputError(
                        f"not an entry: {error}", place=f"{file}, line {number}"
                    ) from error
                if viewer is None or entry["viewer"] == viewer:
                    yield entry
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot be read: {error}", place=str(file)) from error
