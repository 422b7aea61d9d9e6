"""A service for several tenants: a space for each, and viewers with rights inside it.

Run it: `python examples/multi_tenant.py FOLDER`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import quire

SETTINGS = '[access]\n"hr/**" = ["ann", "@hr"]\n\n[groups]\nhr = ["bob"]\n'
WORDS_ONLY = {"embed": {"provider": "none"}}


def make_tenant(folder: Path, name: str) -> None:
    """Write the files of a tenant."""
    root = folder / name
    (root / "hr").mkdir(parents=True, exist_ok=True)
    (root / "quire.toml").write_text(SETTINGS)
    (root / "handbook.md").write_text(f"# Handbook of {name}\n\nHolidays are 28 days a year.\n")
    (root / "hr" / "pay.md").write_text(f"# Pay at {name}\n\nHolidays are paid in full.\n")


def open_tenant(folder: Path, name: str, viewer: str | None = None) -> quire.Quire:
    """Open the space of a tenant in the store that all share; None: as its owner."""
    store = folder / "tenants.db"
    return quire.open(folder / name, store=store, space=name, viewer=viewer, settings=WORDS_ONLY)


def main(folder: str) -> None:
    """Index two tenants in one store, and ask as different users."""
    place = Path(folder)
    for tenant in ("north", "south"):
        make_tenant(place, tenant)
        with open_tenant(place, tenant) as q:
            q.index()
    for tenant, viewer in (("north", "ann"), ("north", "bob"), ("north", "eve"), ("south", "ann")):
        with open_tenant(place, tenant, viewer) as q:
            context = q.assemble("how many holidays", budget=1500)
        print(tenant, viewer, [source.path for source in context], tenant in context.text)


if __name__ == "__main__":
    main(sys.argv[1])
