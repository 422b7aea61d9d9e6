"""Viewers, and the filters of what they ask for."""

from __future__ import annotations

from quire.core.frozen import dataclass
from quire.core.types.records import PUBLIC

LINK = "link:"
OWNER_NAME = "owner"
"""Events of the owner are recorded under this name; no other viewer may have it."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who reads: the owner everything, others what their name, groups and links allow."""

    name: str
    groups: tuple[str, ...] = ()
    owner: bool = False
    links: tuple[str, ...] = ()
    """The tokens of the links that they present (`link:TOKEN`, or the token alone)."""

    @property
    def principals(self) -> frozenset[str]:
        """All principals that access may have been granted to."""
        user = {f"user:{self.name}"} if self.name else set()
        groups = {f"group:{group}" for group in self.groups}
        links = {f"{LINK}{token.removeprefix(LINK)}" for token in self.links}
        return frozenset({PUBLIC, *user, *groups, *links})

    @property
    def actor(self) -> str:
        """The name that their events are recorded under; empty if they have none."""
        return OWNER_NAME if self.owner else self.name

    def may_read(self, acl: tuple[str, ...]) -> bool:
        """Tell whether an access list lets this viewer read."""
        return self.owner or not self.principals.isdisjoint(acl)

    def shown(self, acl: tuple[str, ...] | None, author: str | None) -> tuple[str, ...] | None:
        """Return what this viewer is shown of an access list.

        The owner and the author see all of it: they decide over it. Anyone else sees by which
        names they may read, never the other readers, and never the token of a link: whoever knows
        it may read, too.
        """
        if self.owner or acl is None or (self.name and self.name == author):
            return acl
        return tuple(
            principal
            for principal in acl
            if principal in self.principals and not principal.startswith(LINK)
        )


OWNER = Viewer(name="", owner=True)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which chunks may be found at all; the scores of the others stay the same."""

    kinds: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Globs as in .gitignore; a chunk passes if the last one that matches is not negated."""
    since: int | None = None
    until: int | None = None
    shared_only: bool = False
    """Leave out what other users wrote and did not share: of it, the owner alone may read more."""
    where: str = ""
    """A condition on metadata: `team = "north" and priority >= 3` (`core/conditions.py`)."""
    alive_at: int | None = None
    """Leave out what has expired at this moment; None: expiry is not looked at."""


NO_FILTER = Filter()
