"""What the entry points of the specifications need of the engine."""

from __future__ import annotations

from typing import Protocol, Unpack

from quire.core.types import Context, Options


class Assemble(Protocol):
    """The engine's `assemble`, which every entry point ends in."""

    def __call__(self, query: str, **options: Unpack[Options]) -> Context:
        """Assemble one context for a query."""
