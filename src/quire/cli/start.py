"""Which door is opened? The fast one for hooks, which are started again and again; else all."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command `quire`."""
    try:
        if sys.argv[1:2] == ["hook"]:
            from quire.integrations.hooks.command import run

            run(sys.argv[2:])
        from quire.cli.main import main as door
    except KeyboardInterrupt:  # while modules are still being read
        os._exit(INTERRUPTED)
    door()
