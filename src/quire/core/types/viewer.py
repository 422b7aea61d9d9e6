"""Who asks, and for what?"""

from __future__ import annotations

from dataclasses import dataclass

from quire.core.types.records import PUBLIC

LINK = "link:"
OWNER_NAME = "owner"
"""What the owner does is recorded under this name; no other viewer may have it."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks. The owner reads everything; others what their name, groups and links allow."""

    name: str
    groups: tuple[str, ...] = ()
    owner: bool = False
    links: tuple[str, ...] = ()
    """The tokens of the links that they present (`link:TOKEN`, or the token alone)."""

    @property
    def principals(self) -> frozenset[str]:
        """All names under which access may have been given to this viewer."""
        named = {f"user:{self.name}"} if self.name else set()
        held = {f"group:{group}" for group in self.groups}
        shown = {f"{LINK}{token.removeprefix(LINK)}" for token in self.links}
        return frozenset({PUBLIC, *named, *held, *shown})

    @property
    def actor(self) -> str:
        """The name under which what they do is recorded; empty: they have none."""
        return OWNER_NAME if self.owner else self.name

    def may_read(self, acl: tuple[str, ...]) -> bool:
        """Tell whether an access list lets this viewer read."""
        return self.owner or not self.principals.isdisjoint(acl)


OWNER = Viewer(name="", owner=True)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which chunks may answer at all. Filters never change how the others are scored."""

    kinds: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Globs as in .gitignore; a chunk passes if the last one that matches is not negated."""
    since: int | None = None
    until: int | None = None


NO_FILTER = Filter()
