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
        is_logged = os.environ.get("QUIRE_LOG_JSON") not in {None, "", "0"}
        if is_logged:
            from quire.system import events

            events.write_json()
        if sys.argv[1:2] == ["hook"]:
            from quire.integrations.hooks import warm

            if not is_logged and warm.try_answer(sys.argv[2:]):
                os._exit(0)
            from quire.integrations.hooks.command import run

            run(sys.argv[2:])
        from quire.cli.main import main as run_command
    except KeyboardInterrupt:  # while modules are being imported
        os._exit(INTERRUPTED)
    run_command()
