"""Which door is opened? The fast one for hooks, which are started again and again; else all."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command `quire`."""
    if sys.argv[1:2] == ["hook"]:
        from quire.doors.hooks.command import run

        run(sys.argv[2:])
    from quire.doors.cli import main as door

    door()
