"""A workspace in its plainest form, to compare with.

A dictionary of blocks, from which everything is computed anew for each question.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from quire import Block, Viewer
from quire.core.types.blocks import PAGES

Acl = tuple[str, ...]
NAMES = tuple(f"b{number}" for number in range(9))
LISTS: tuple[Acl | None, ...] = (
    None,
    None,
    None,
    ("user:ann",),
    ("group:crew",),
    ("group:crew", "user:bob"),
    ("link:door",),
    ("public",),
    (),
)
VIEWERS = (
    Viewer("ann"),
    Viewer("bob"),
    Viewer("cat"),
    Viewer("", links=("door",)),
    Viewer("bob", links=("door",)),
    Viewer(""),
)
GROUPS: tuple[dict[str, list[str]], ...] = ({}, {"crew": ["cat"]}, {"crew": ["ann", "cat"]})


@dataclass
class Reference:
    blocks: dict[str, Block] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)

    def above(self, name: str) -> list[Block]:
        """Give what a block stands in, the nearest first."""
        found: list[Block] = []
        parent = self.blocks[name].parent
        while parent in self.blocks:
            found.append(self.blocks[parent])
            parent = self.blocks[parent].parent
        return found

    def in_circle(self) -> bool:
        for name in self.blocks:
            met, at = {name}, self.blocks[name].parent
            while at in self.blocks:
                if at in met:
                    return True
                met.add(at)
                at = self.blocks[at].parent
        return False

    def access(self, name: str) -> Acl | None:
        for block in (self.blocks[name], *self.above(name)):
            if block.access is not None:
                return block.access
        return None

    def title(self, name: str) -> str:
        pages = [one for one in self.above(name) if one.type in PAGES]
        same = pages and self.access(pages[0].id) == self.access(name)
        return " ".join(pages[0].text.split()) if same else ""

    def readable(self, viewer: Viewer) -> set[str]:
        groups = tuple(sorted(name for name, who in self.groups.items() if viewer.name in who))
        known = replace(viewer, groups=groups)
        lists = {name: self.access(name) for name in self.blocks}
        # Without rules, what no list says is public.
        return {name for name, acl in lists.items() if acl is None or known.may_read(acl)}

    def children(self, viewer: Viewer, parent: str) -> list[str]:
        there = [self.blocks[name] for name in self.readable(viewer)]
        found = [one for one in there if one.parent == parent]
        return [one.id for one in sorted(found, key=lambda one: (one.position, one.id))]

    def links(self, viewer: Viewer) -> set[tuple[str, str]]:
        there = self.readable(viewer)
        return {
            (name, target)
            for name in there
            for target in self.blocks[name].links
            if target in there
        }

    def below(self, name: str) -> set[str]:
        return {one for one in self.blocks if name in [up.id for up in self.above(one)]}


def any_tree(random: Random, size: int) -> list[Block]:
    """Make blocks without a circle; some stand in what is not there."""
    names = random.sample(NAMES, size)
    blocks = [
        replace(any_block(random, name), parent=random.choice((None, "absent", *names[:place])))
        for place, name in enumerate(names)
    ]
    return random.sample(blocks, size)


def any_block(random: Random, name: str) -> Block:
    return Block(
        name,
        random.choice(("page", "page", "paragraph", "todo", "db_row", "divider")),
        random.choice(("", "Tide table", "Rope", "Keel and mast")),
        random.choice((None, *NAMES)),
        random.randrange(3),
        {"due": "soon"} if random.randrange(2) else {},
        links=tuple(random.sample(NAMES, random.randrange(3))),
        created=1,
        edited=2,
        access=random.choice(LISTS),
    )
