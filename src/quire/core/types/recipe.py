"""What is a recipe made of?

A recipe is data: which sources are asked, how their rankings become one, what counts as a
duplicate, how the budget is spent and how the context is said. Five specifications are five
recipes; a user's own extends one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MOST_TIMES = 4
"""A larger budget asks for at most so many times what a recipe says."""
RESERVED: Mapping[str, int] = {"system": 200, "query": 100, "response": 500}


@dataclass(frozen=True, slots=True)
class Budget:
    """How many tokens there are, and who has a claim on them."""

    total: int = 4000
    """The whole window."""
    reserved: Mapping[str, int] = field(default_factory=lambda: dict(RESERVED))
    """What is kept free of it, by purpose."""
    overhead: int = 10
    """What a document's marker is taken to cost at least while packing."""
    overflow: str = "skip"
    """What becomes of a piece that does not fit: `skip` it, `cut` it to what is left, or `stop`."""
    hard: bool = True
    """Never pass the budget; otherwise the last piece may, and the result says by how much."""
    history: int = 0
    """What the conversation so far may take of it, at most."""
    system: int = 0
    """What the caller's own instructions may take of it, at most."""

    @property
    def available(self) -> int:
        """What the context may use."""
        return self.total - sum(self.reserved.values())


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """How deep a source is asked, at least, and what its ranking weighs."""

    k: int = 50
    weight: int = 1
    options: Mapping[str, int] = field(default_factory=dict)
    """What only this source knows: how many ancestors, how many hours. And what changes its weight:
    `whole`, `long` (docs/guide.md)."""


@dataclass(frozen=True, slots=True)
class RankSpec:
    """How rankings become one."""

    top: int = 100
    """So many candidates go on to be fitted, at least."""
    deeper: int = 10
    """With each so many tokens one candidate is asked for, and half of them go on, if that is more
    than `k` and `top` say; up to four times as many. 0: what they say is all."""
    times: int = 3
    """No more go on when the better ones fill the budget so many times over; 0: all of them."""
    fusion: str = "sum"
    """What is added up: `sum` the shares of the best scores, `rrf` the inverted ranks."""
    constant: int = 60
    """Added to each rank before it is inverted (`rrf`)."""
    reach: int = 2
    """Words so many chunks before and after one count for it, less with each; not in code."""
    recent: int = 0
    """What a record of this very moment gains, in percent; nothing after 30 days."""
    weights: Mapping[str, int] = field(default_factory=dict)
    """What each signal weighs, where signals are added up in place of what the sources say."""
    feedback: int = 10
    """What a record gains or loses that was often useful or useless, in percent; 0: nothing."""


@dataclass(frozen=True, slots=True)
class FitSpec:
    """What fits, and in which order it stands."""

    dedup: float = 0.8
    """A piece of which more than this share stands in a better one is a duplicate."""
    pack: str = "greedy"
    """`greedy`, `interleaved`, `score_weighted` or `optimal`."""
    order: str = "auto"
    """`grouped`, `packed`, `edges`, `stable`; auto: as the way of packing wants it."""
    per_document: int = 0
    """At most so many pieces of one document; 0: as many as fit."""
    levels: tuple[str, ...] = ("full",)
    """With how much detail a piece may be shown, from `full` over `signature` to `outline`."""
    cut: str = "keep_start"
    """What is kept of a piece that is cut: `keep_start`, `keep_end`, the sentences nearest to the
    question (`extractive`), or what a writer makes of it (`summarize`; without one those)."""
    shortest: int = 0
    """Of a piece that is cut at least so many characters are kept, or it is left out."""
    within: bool = True
    """Pieces of one record may be duplicates of each other, too."""
    fuzzy: bool = False
    """A piece with nearly the words of a better one, in any order, is a duplicate as well."""
    same_path: str = "keep"
    """What becomes of a commit and code in another section when the commit changes that file
    alone: the weaker one is left out (`drop`), counts half (`demote`), or stays (`keep`)."""


@dataclass(frozen=True, slots=True)
class RenderSpec:
    """How the context is said."""

    format: str = "markers"
    metadata: bool = False
    """Name lines, headings and score before each piece."""
    groups: bool = False
    """Put code, documentation, conversations and the rest under titles of their own."""
    content: bool = True
    """Show the text itself, not only what an entity says of itself."""
    cap: int = 0
    """Show at most so many characters of a piece; 0: all of it."""
    sources: int = 0
    """Name so many sources, at most, at the end."""
    title: str = ""
    """What stands above everything, in a format that has a title."""
    footer: str = ""
    """What stands below everything there: `{items}`, `{sections}` and `{experiences}` are
    counted."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: what belongs into it, and how much of the budget it has."""

    name: str
    title: str = ""
    kinds: tuple[str, ...] = ()
    """The kinds of chunks that belong into it; none: all."""
    paths: tuple[str, ...] = ()
    """Globs; likewise."""
    query: str = ""
    """What is asked for it in place of the question."""
    sources: tuple[str, ...] = ()
    """Which of the recipe's sources are asked; none: all of them."""
    k: int = 20
    """So many of what is found go on, at most."""
    weight: int = 1
    """Its part of the budget, beside those of the other sections."""
    item: int = 0
    """What one item may take of that part, in percent; 0: all of it."""
    timeout: int = 0
    """It is waited for so many milliseconds; 0: as long as it takes."""
    lifts: Mapping[str, int] = field(default_factory=dict)
    """What `recency`, `importance` and `confidence` add to a score at most, in percent."""
    order: str = "score"
    """How its items stand: the best first (`score`), or as they stand in their pages (`tree`)."""
    show: tuple[str, ...] = ()
    """Which parts of an item are shown, in this order; none: all of them."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a question may be after: words that tell it, and the kinds of things that answer it."""

    words: tuple[str, ...] = ()
    types: Mapping[str, int] = field(default_factory=dict)
    """How well a kind answers it, in thousandths; others: half."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides over a context but the question, the viewer and the store."""

    name: str
    about: str = ""
    sources: Mapping[str, SourceSpec] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    rank: RankSpec = field(default_factory=RankSpec)
    fit: FitSpec = field(default_factory=FitSpec)
    render: RenderSpec = field(default_factory=RenderSpec)
    sections: tuple[Section, ...] = ()
    """The parts of the page, in their order; none: all that is found competes for one budget."""

    intents: Mapping[str, Intent] = field(default_factory=dict)

    def section(self, name: str) -> Section | None:
        """Look a section up by its name."""
        return next((section for section in self.sections if section.name == name), None)

    def share(self, section: Section) -> int:
        """Tell how many tokens a section has before any others leave it theirs."""
        total = sum(each.weight for each in self.sections)
        return self.budget.available * section.weight // total if total else 0

    def depth(self, source: str) -> int:
        """Tell how deep a source is asked: more tokens hold more of what it finds."""
        return self._following(self.sources[source].k, 1)

    @property
    def top(self) -> int:
        """Tell how many candidates go on."""
        return self._following(self.rank.top, 2)

    def _following(self, least: int, share: int) -> int:
        deeper = self.rank.deeper * share
        following = self.budget.available // deeper if deeper else 0
        return max(least, min(MOST_TIMES * least, following))
