"""Print one hash over many pages of the shop, receipts included, from a process of its own."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict

import quire
from quire import Quire
from quire.core.types import Context

QUERIES = ("why is login slow", "give tests a clock of their own", "charge a card twice")
ATTEMPTS = (("performance", "check-assumptions"), ("debugging", None), ("testing", None))


def pages(opened: Quire) -> Iterator[Context]:
    """Make many pages."""
    for query in QUERIES:
        for budget in (200, 900, 4000):
            yield opened.assemble(query, recipe="agent", budget=budget)
        yield opened.assemble(query, recipe="agent", types=["memory", "code"], overflow="cut")
        yield opened.assemble(query, recipe="agent", budget=300, hard=False)
    for domain, strategy in ATTEMPTS:
        yield opened.agent.premortem(domain, strategy)


def plain(context: Context) -> str:
    """Write all of a page as text."""
    return json.dumps(asdict(context), ensure_ascii=False)


def digest(opened: Quire) -> str:
    """Hash all pages."""
    found = hashlib.sha256()
    for page in pages(opened):
        found.update(plain(page).encode())
    return found.hexdigest()


if __name__ == "__main__":
    with quire.open(sys.argv[1]) as opened:
        print(digest(opened))  # noqa: T201 - for whoever started it
