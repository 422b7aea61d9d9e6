"""The entry point of the command `quire`.

Hooks take a fast path of their own, because an assistant starts them again and again.
"""

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
        from quire.cli.main import main as run_command
    except KeyboardInterrupt:  # while modules are being imported
        os._exit(INTERRUPTED)
    run_command()
