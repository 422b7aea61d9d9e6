"""Settings of a project: where they come from, which one wins, and which ones count.

A setting on the command line wins over a `QUIRE_*` variable, that over the project's `quire.toml`,
that over the user's own file, and that over the default. An unknown setting, or a value of the
wrong type, is an error that names the file, the key and what was expected.

A project may be somebody else's. Whatever its quire.toml sets that can send, run, read or write
something outside the project (`sensitive`) counts only if the user trusts the project (`trust`),
and a settings file that other users could have written is refused (`places`).
"""

from __future__ import annotations

from quire.config.layers import load, parse_store, project_of, project_root, propose, snapshot
from quire.config.sensitive import Proposal, SensitiveSetting
from quire.config.settings import DEFAULT_STORE, FILE, ROOT_MARKERS, SECTIONS, TEMPLATE, Config

__all__ = [
    "DEFAULT_STORE",
    "FILE",
    "ROOT_MARKERS",
    "SECTIONS",
    "TEMPLATE",
    "Config",
    "Proposal",
    "SensitiveSetting",
    "load",
    "parse_store",
    "project_of",
    "project_root",
    "propose",
    "snapshot",
]
