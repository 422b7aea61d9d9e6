"""How many semantic searches of a day are answered from the cache, and is any answer out of date?

A workspace of real documents (BENCH_DATA), 200 people with different rights, 1,200 requests and
200 edits. Every search is made twice on the same snapshot, with the cache and without: the answers
must be equal to the byte, and both are timed.

The day is a model: no log of a real one was at hand. The first row draws questions by the law of
the day in `bench/workspace.py`, and adds questions about the page, follow-ups and questions of one
person alone. The other rows say what becomes of the rate when people repeat themselves, and each
other, less. Requests of the first row are whole pages; those of the others are searches alone.
"""

from __future__ import annotations

import copy
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from time import thread_time
from typing import Any

import numpy as np
import numpy.typing as npt

import quire
from bench import data
from bench.evidence import stores as evidence
from bench.pages import questions
from bench.pages.corpora import CORPORA, PAGES
from bench.report import Table
from quire import Block, ContextRequest, Focus, Quire, TokenBudget
from quire.core.types import NO_FILTER, Filter, Hits
from quire.errors import InputError
from quire.pipeline import recipe
from quire.pipeline.intents import parse_query
from quire.store.index import search, vectors
from quire.store.sql.view import SqlView

REQUESTS = 1200
EDIT_EVERY = 6
PEOPLE = 200
TEAMS = 12
NOW = 1_772_000_000
SEED = 20_260_301
PUBLIC_SHARE = 0.3
"""Pages open to everybody; each of the others belongs to one team."""
SECOND_TEAM = 0.3
"""People who are in a second team."""
NOTES = 5
"""Blocks on the private page of each person."""
RECIPE = recipe.load("workspace")
STANDING = (
    "Summarize this page",
    "What was decided on this page?",
    "What is still open on this page?",
    "Who is responsible for this page?",
)
ABOUT = ("How do we handle {}?", "What do we know about {}?", "Why did we choose {}?")
EDITS = {"text": 0.80, "new": 0.10, "delete": 0.05, "share": 0.05}
COMPARED_PAGES = 20
"""Every so many requests, the whole page is compared as well."""


@dataclass(frozen=True)
class Model:
    """How people ask."""

    name: str
    common: int = 150
    """Questions about the whole workspace that anybody may ask."""
    exponent: float = 1.3
    """Of Zipf's law for these questions and the pages that somebody looks at; half for people."""
    kinds: tuple[float, ...] = (0.70, 0.12, 0.06, 0.06, 0.06)
    """Shares of requests, in the order of `KINDS`."""
    repetition: float = 1.0
    """Of the requests that repeat a question, so many remain; the others ask something new."""
    whole: bool = False
    """Whether whole pages are made, and not searches alone."""


KINDS = ("common", "page", "again", "follow-up", "new")
"""A common question; a standing question of the page that somebody looks at; the same person's
last question again; a follow-up to it in new words; a question that nobody else asks."""
DAYS = (
    Model("the day", whole=True),
    Model("repetition halved", repetition=0.5),
    Model("repetition quartered", repetition=0.25),
    Model("300 questions, exponent 1.0, fewer common", 300, 1.0, (0.45, 0.30, 0.06, 0.06, 0.13)),
)


@dataclass
class Searches:
    """What the searches of a day came to."""

    total: int = 0
    stale: int = 0
    kept: float = 0.0
    """Seconds of the processor with the cache."""
    plain: float = 0.0
    compared: list[int] = field(default_factory=lambda: [0, 0])
    """Vectors compared without the cache, and with it."""
    asked: set[bytes] = field(default_factory=set)
    before: int = 0
    """Searches for something that somebody had asked before."""


class Uncached:
    """A cache that keeps nothing."""

    def nearest(self, *_: object) -> None:
        """Keep nothing."""

    def count_search(self, *, hit: bool) -> None:
        """Count nothing."""


@dataclass(frozen=True)
class Workspace:
    """Who is there, and what each may look at."""

    pages: Mapping[str, str]
    """The team of each page, or nothing if it is public."""
    titles: Mapping[str, str]
    blocks: Mapping[str, Sequence[str]]
    """The blocks of each page."""
    sentences: Sequence[str]

    def readable(self, person: int) -> list[str]:
        """Return the pages that somebody may read, their own team's first."""
        mine = teams_of(person)
        return [name for team in (*mine, "") for name, of in self.pages.items() if of == team]


def tables() -> Iterator[Table]:
    """Live through the day, and through days with less repetition."""
    if data.folder() is None:
        print("no day: BENCH_DATA names no folder")
        return
    table = Table(
        f"a day of {REQUESTS:,} requests and {REQUESTS // EDIT_EVERY} edits by {PEOPLE} people",
        (
            *("day", "searches", "asked before", "from the cache", "stale"),
            *(
                "vectors compared",
                "CPU ms a search",
                "without cache",
                "pages compared",
                "other pages",
            ),
        ),
    )
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        made = _make(Path(folder))
        for number, model in enumerate(DAYS):
            copied = Path(folder, f"day{number}")
            shutil.copytree(Path(folder, "vault"), copied)
            with quire.open(copied) as kept, quire.open(copied) as plain:
                table.add(model.name, *_day(kept, plain, made, model))
                held = kept.status().vectors
        table.notes.append(f"{len(made.pages)} pages, {held:,} vectors")
    yield table


def teams_of(person: int) -> tuple[str, ...]:
    """Return the teams of somebody."""
    random = Random(SEED + person)
    more = f"team{random.randrange(TEAMS)}" if random.random() < SECOND_TEAM else ""
    return tuple(sorted({f"team{person % TEAMS}", more} - {""}))


# --- the workspace -------------------------------------------------------------------------------


def _make(folder: Path) -> Workspace:
    root = folder / "vault"
    (root / ".quire").mkdir(parents=True)
    corpora = [corpus for corpus in CORPORA.values() if corpus.form == PAGES and corpus.is_real]
    sentences: list[str] = []
    for corpus in corpora:
        for path, text in corpus.read().items():
            evidence.write_document(root / "files" / corpus.name, path, text)
            sentences += [line.strip() for line in text.split("\n") if 60 < len(line) < 300]
    members = {team: [_name(p) for p in range(PEOPLE) if team in teams_of(p)] for team in _teams()}
    groups = "".join(f"{team} = {people!r}\n" for team, people in members.items())
    (root / "quire.toml").write_text(f'[ingest]\nignore = ["/files/"]\n[groups]\n{groups}', "utf-8")
    random = Random(SEED)
    with quire.open(root) as store:
        store.blocks.import_pages(root / "files", "markdown", allow_secret=True, at=NOW - 86_400)
        blocks = store.blocks.export()
        by_page: dict[str, list[str]] = {}
        parents = {block.id: block.parent for block in blocks}
        titles = {block.id: block.text for block in blocks if block.type == "page"}
        for block in blocks:
            if block.id not in titles:
                page = block.parent
                while page is not None and page not in titles:
                    page = parents[page]
                by_page.setdefault(page or "", []).append(block.id)
        pages: dict[str, str] = {}
        for name in titles:
            if len(by_page.get(name, ())) > 1:
                closed = random.random() >= PUBLIC_SHARE
                pages[name] = f"team{random.randrange(TEAMS)}" if closed else ""
        readers = {name: (f"@{team}",) for name, team in pages.items() if team}
        shared = [replace(one, access=readers[one.id]) for one in blocks if one.id in readers]
        notes = [note for person in range(PEOPLE) for note in _notes(person, random, sentences)]
        store.blocks.put([*shared, *notes], at=NOW - 86_400)
        evidence.embed_missing(store)
    return Workspace(pages, titles, by_page, sentences)


def _teams() -> list[str]:
    return [f"team{number}" for number in range(TEAMS)]


def _notes(person: int, random: Random, sentences: Sequence[str]) -> list[Block]:
    page = Block(f"notes{person}", "page", f"Notes {person}", access=(_name(person),))
    texts = random.sample(sentences, NOTES)
    return [
        page,
        *(Block(f"note{person}-{n}", "paragraph", t, page.id) for n, t in enumerate(texts)),
    ]


def _name(person: int) -> str:
    return f"user{person}"


# --- the day -------------------------------------------------------------------------------------


def _day(kept: Quire, plain: Quire, made: Workspace, model: Model) -> tuple[Any, ...]:
    asking = _asked(made, Random(SEED + 1), model)
    editing = Random(SEED + 2)
    found = Searches()
    compared = different = 0
    with _watched(found):
        for number in range(REQUESTS):
            if number % EDIT_EVERY == 0:
                _edit(kept, made, editing, number)
            person, query, page = next(asking)
            request = ContextRequest(
                query,
                _name(person),
                focus=Focus(page_id=page),
                token_budget=TokenBudget(),
                as_of=NOW + number,
            )
            if not model.whole:
                _search(kept, request, made.titles[page])
                continue
            payload = kept.workspace.build(request)
            if number % COMPARED_PAGES == 0:
                with _unwatched():
                    other = plain.workspace.build(request)
                compared += 1
                different += other.receipt["hash"] != payload.receipt["hash"]
    count = kept.store.search_count
    assert count.total == found.total, "each search was counted"
    each = 1000 / found.total
    return (
        found.total,
        f"{found.before / found.total:.1%}",
        f"{count.rate:.1%}",
        found.stale,
        f"{found.compared[True] / found.compared[False]:.1%}",
        found.kept * each,
        found.plain * each,
        compared,
        different,
    )


def _search(store: Quire, request: ContextRequest, title: str) -> None:
    """Make the semantic search that the page of a request needs."""
    depth = max(section.k for section in RECIPE.sections if "semantic" in section.sources)
    text = parse_query(request.query, RECIPE.intents, focus=title, as_of=NOW).text
    with store._project.view(request.user) as view:  # noqa: SLF001 - as a request does
        make, _ = store._vectors.plan(text, view.coverage())  # noqa: SLF001
        assert make is not None, "there are vectors"
        view.semantic(make(), max(depth, RECIPE.depth("semantic")))


def _asked(made: Workspace, random: Random, model: Model) -> Iterator[tuple[int, str, str]]:
    """Give who asks what, on which page."""
    common = [one.text for one in questions.load() if one.kind == "workspace" and one.answer]
    titles = sorted({title for title in made.titles.values() if 8 < len(title) < 80})
    random.shuffle(titles)
    more = (ABOUT[place % len(ABOUT)].format(title) for place, title in enumerate(titles))
    common = [*common, *more][: model.common]
    random.shuffle(common)
    pages = {person: made.readable(person) for person in range(PEOPLE)}
    last: dict[int, str] = {}
    seen: set[tuple[str, str]] = set()
    while True:
        person = _zipf(random, PEOPLE, model.exponent / 2)
        page = pages[person][_zipf(random, len(pages[person]), model.exponent)]
        kind = random.choices(KINDS, model.kinds)[0]
        new = f"What about this: {random.choice(made.sentences)[:80]}?"
        query = {
            "common": common[_zipf(random, len(common), model.exponent)],
            "page": random.choice(STANDING),
            "again": last.get(person, new),
            "follow-up": f"{last[person]} And since when?" if person in last else new,
            "new": new,
        }[kind]
        about = (query, page if "this page" in query else "")
        if about in seen and random.random() >= model.repetition:
            query = new
        seen.add(about)
        last[person] = query
        yield person, query, page


def _zipf(random: Random, size: int, exponent: float) -> int:
    return random.choices(range(size), [1 / (rank + 1) ** exponent for rank in range(size)])[0]


def _edit(store: Quire, made: Workspace, random: Random, number: int) -> None:
    """Let somebody change something that they may read."""
    person = random.randrange(PEOPLE)
    page = random.choice(made.readable(person))
    block = random.choice(made.blocks[page])
    text = f"{random.choice(made.sentences)} (minute {number})"
    kind = random.choices([*EDITS], [*EDITS.values()])[0]
    with suppress(InputError):  # it was deleted earlier
        if kind == "text":
            store.blocks.edit(block, text=text, at=NOW + number)
        elif kind == "new":
            store.blocks.put([Block(f"new{number}", "paragraph", text, page)], at=NOW + number)
        elif kind == "delete":
            store.blocks.delete(block)
        else:
            store.blocks.share(page, [f"@team{random.randrange(TEAMS)}"], at=NOW + number)


# --- with the cache and without ------------------------------------------------------------------

_SEMANTIC = SqlView.semantic


@contextmanager
def _watched(found: Searches) -> Iterator[None]:
    """Make every search twice on its snapshot, with the cache and without."""
    score_slots, counting = vectors.score_slots, threading.local()

    def score(matrix: vectors.Matrix, query: bytes, slots: npt.NDArray[np.int32]) -> vectors.Scores:
        found.compared[getattr(counting, "cached", False)] += slots.size
        return score_slots(matrix, query, slots)

    def semantic(
        self: SqlView, vector: bytes, k: int, where: Filter = NO_FILTER, *, exact: bool = False
    ) -> Hits:
        with self._use as snapshot:
            bare = copy.copy(snapshot)
            bare.searches = Uncached()  # type: ignore[assignment]
            answers: dict[bool, Hits] = {}
            for cached in (True, False) if found.total % 2 else (False, True):
                counting.cached = cached
                begun = thread_time()
                asked = snapshot if cached else bare
                answers[cached] = search.semantic(asked, vector, k, where, exact=exact)
                spent = thread_time() - begun
                if cached:
                    found.kept += spent
                else:
                    found.plain += spent
        found.total += 1
        found.stale += repr(answers[True]) != repr(answers[False])
        found.before += vector in found.asked
        found.asked.add(vector)
        return answers[True]

    SqlView.semantic = semantic  # type: ignore[method-assign]
    vectors.score_slots = score
    try:
        yield
    finally:
        SqlView.semantic = _SEMANTIC  # type: ignore[method-assign]
        vectors.score_slots = score_slots


@contextmanager
def _unwatched() -> Iterator[None]:
    """Search without the cache, and count nothing."""
    watched = SqlView.semantic

    def semantic(
        self: SqlView, vector: bytes, k: int, where: Filter = NO_FILTER, *, exact: bool = False
    ) -> Hits:
        with self._use as snapshot:
            bare = copy.copy(snapshot)
            bare.searches = Uncached()  # type: ignore[assignment]
            return search.semantic(bare, vector, k, where, exact=exact)

    SqlView.semantic = semantic  # type: ignore[method-assign]
    try:
        yield
    finally:
        SqlView.semantic = watched  # type: ignore[method-assign]
