"""Write notes to standard error; standard output belongs to the protocol."""

from __future__ import annotations

import sys

from quire.core.serialize import printable


def note(text: str) -> None:
    """Print one line to standard error."""
    print(printable(text), file=sys.stderr, flush=True)  # noqa: T201 - standard output is the protocol's
