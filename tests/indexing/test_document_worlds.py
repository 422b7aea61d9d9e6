"""Documents and metadata: the same state by any way, and nothing of what others keep.

Each case brings two open stores to the same random documents: one by single puts, updates of
metadata, deletions and expiries in any order, while a reader holds a view open, the other by one
batch. Roots, facets, lists, filtered searches and now and then a whole context must be the same for
every viewer. Then documents that two of the viewers may not read are put, changed and deleted in
the first store: for these viewers nothing changes. In one case of five, another thread reads the
first store all the while: each of its answers is that of a state with its root that was committed. `QUIRE_CASES` says how
many cases are tried.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Self

import pytest

from quire import Quire, Viewer
from quire.core import conditions
from quire.core.metadata import check_metadata
from quire.core.types import NO_FILTER, OWNER, Filter
from tests.conftest import Forest

CASES = int(os.environ.get("QUIRE_CASES", "2000"))
BATCHES = 4
WHOLE = 40
"""One case in so many assembles contexts, too."""
READ = 5
"""One case in so many is read by another thread."""
ANA, BEN = Viewer("ana"), Viewer("ben")
PATHS = ("crm/1", "crm/2", "notes/3")
HIDDEN_PATH = "hidden/4"
TEXTS = (
    "The pilot is Wren.",
    "The pilot waits.\n\nThe tide turns.",
    "Tide and pilot, twice a day.",
)
METADATA: tuple[Mapping[str, Any], ...] = (
    {},
    {"team": "north", "n": 1},
    {"team": "south", "n": 2.5, "tags": ["x", "é"]},
    {"n": -3, "due": "2026-01-31", "flag": True},
    {"team": 7, "flag": False, "tags": []},
)
SHARES: tuple[tuple[str, ...], ...] = ((), (), ("ana",), ("ben", "ana"), ("mallory",))
HIDDEN = (("mallory",), ("owner",))
PAST = "2020-01-01"
EXPIRES = (None, None, PAST, "2999-01-01")
NOW = 1_800_000_000
WHERES = ('team = "north" or n > 2', "not has(team)", 'tags in ["x"] and n >= 1', "flag = true")


@dataclass(frozen=True)
class Wanted:
    """One document of a world."""

    text: str
    metadata: Mapping[str, Any]
    share: tuple[str, ...]
    expires: str | None

    def put(self, opened: Quire, path: str) -> None:
        opened.documents.put(path=path, **self.fields())

    def fields(self) -> dict[str, Any]:
        return {
            "content": self.text,
            "metadata": self.metadata,
            "share": self.share,
            "expires": self.expires,
        }


def any_document(random: Random, shares: tuple[tuple[str, ...], ...] = SHARES) -> Wanted:
    return Wanted(
        random.choice(TEXTS), random.choice(METADATA), random.choice(shares), random.choice(EXPIRES)
    )


def read_state(opened: Quire) -> tuple[str, str]:
    """Return the root of what the owner reads, and answers that follow from it."""
    with opened.store.view(OWNER) as view:
        answers = [
            [(each.path, each.acl, each.metadata, each.expires) for each in view.listing()],
            view.facets(9),
            view.lexical("pilot tide", 9).hits,
            [chunk.text for record in view.listing() for chunk in view.chunks_of(record.id)],
        ]
        return view.roots().content, repr(answers)


class Reader:
    """A thread that reads a store, over and over, while another one writes."""

    def __init__(self, opened: Quire) -> None:
        self._opened = opened
        self._committed: dict[str, str] = {}
        self._read: list[tuple[str, str]] = []
        self._failed: list[BaseException] = []
        self._busy = threading.Event()
        self._reading = threading.Lock()
        self._ended = False
        self._thread = threading.Thread(target=self._run)
        self.reads = self.between = 0
        """How many answers were read, and how many of those while a case was written."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._busy.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while self._busy.wait() and not self._ended:
                with self._reading:
                    if self._busy.is_set():
                        self._read.append(read_state(self._opened))
        except BaseException as error:  # noqa: BLE001 - which the other thread raises
            self._failed.append(error)

    def note(self) -> None:
        """Note a state that was committed, while somebody reads."""
        if not self._busy.is_set():
            return
        root, answers = read_state(self._opened)
        assert self._committed.setdefault(root, answers) == answers, "one root, one answer"

    def start(self) -> None:
        """Begin to read."""
        self._busy.set()
        self.note()

    def check(self) -> None:
        """Stop reading; whatever was read is a state that was committed."""
        self._busy.clear()
        with self._reading:  # so that no read is under way: what comes next is not noted
            known = [*self._read]
            self._read.clear()
        if self._failed:
            raise self._failed[0]
        last = read_state(self._opened)[0]
        for root, answers in known:
            assert self._committed.get(root) == answers, "a reader saw what never was"
        self.reads += len(known)
        self.between += sum(root != last for root, _ in known)


def by_single_steps(
    opened: Quire,
    wanted: Mapping[str, Wanted | None],
    random: Random,
    note: Callable[[], None],
) -> None:
    """Bring a store to the documents that are wanted, one transaction after the other."""
    paths = list(wanted)
    random.shuffle(paths)
    for path in paths:
        aim = wanted[path]
        if aim is None:
            opened.documents.delete(path, missing_ok=True)
        elif random.randrange(2):
            aim.put(opened, path)
        else:
            other = any_document(random)
            Wanted(aim.text, other.metadata, other.share, other.expires).put(opened, path)
            note()
            gone = dict.fromkeys(other.metadata.keys() - aim.metadata.keys())
            opened.documents.update(
                path, metadata={**gone, **aim.metadata}, share=aim.share, expires=aim.expires
            )
        note()


def in_one_batch(opened: Quire, wanted: Mapping[str, Wanted | None]) -> None:
    """Bring a store to the documents that are wanted at once."""
    for path, aim in wanted.items():
        if aim is None:
            opened.documents.delete(path, missing_ok=True)
    new = [{"path": path, **aim.fields()} for path, aim in wanted.items() if aim is not None]
    opened.documents.put_many(reversed(new))


def ask(opened: Quire, viewer: Viewer, where: str, *, whole: bool) -> list[str]:
    """Return what a viewer gets."""
    wanted = Filter(where=conditions.read(where), alive_at=NOW)
    with opened.store.view(viewer) as view:
        answers: list[Any] = [
            view.roots(),
            view.facets(9),
            list(view.listing()),
            view.count(wanted),
        ]
        answers += [view.lexical("pilot tide", 9, each).hits for each in (NO_FILTER, wanted)]
    if whole:
        context = opened.assemble("pilot", where=where, budget=1500, viewer=viewer)
        assert not opened.verify(context.receipt, context.text, viewer=viewer).problems
        found = opened.search("pilot tide", where=where, viewer=viewer)
        facets = opened.documents.facets(viewer=viewer)
        answers += [context.text, context.receipt, found, facets, opened.status(viewer).roots]
    return list(map(repr, answers))


def check(
    busy: Quire, plain: Quire, reader: Reader, random: Random, *, whole: bool, read: bool
) -> None:
    wanted = {path: any_document(random) if random.randrange(4) else None for path in PATHS}
    wanted[HIDDEN_PATH] = None
    where = random.choice(WHERES)
    viewer = random.choice((ANA, BEN))
    with busy.store.view(random.choice((OWNER, viewer))) as view:
        before = [view.roots(), list(view.listing()), view.facets(9)]
        if read:
            reader.start()
        by_single_steps(busy, wanted, random, reader.note)
        assert [view.roots(), list(view.listing()), view.facets(9)] == before
    in_one_batch(plain, wanted)
    assert ask(busy, OWNER, where, whole=whole) == ask(plain, OWNER, where, whole=whole)
    answers = ask(plain, viewer, where, whole=whole)
    assert ask(busy, viewer, where, whole=whole) == answers
    check_list(busy, wanted, where)
    hide(busy, wanted, random, reader.note)
    reader.check()
    assert ask(busy, viewer, where, whole=whole) == answers


def check_list(opened: Quire, wanted: Mapping[str, Wanted | None], where: str) -> None:
    """What is listed has the metadata that it was given, and a filter lists what passes it."""
    condition = conditions.parse(where)
    stated = {
        path: check_metadata(aim.metadata)
        for path, aim in wanted.items()
        if aim is not None and aim.expires != PAST
    }
    assert {each.path: each.metadata for each in opened.documents.list()} == stated
    passing = {path for path, metadata in stated.items() if conditions.holds(condition, metadata)}
    assert {each.path for each in opened.documents.list(where)} == passing


def hide(
    opened: Quire,
    wanted: Mapping[str, Wanted | None],
    random: Random,
    note: Callable[[], None],
) -> None:
    """Put, change or delete what neither Ana nor Ben may read."""
    for path in ("notes/3", HIDDEN_PATH):
        known = wanted[path]
        if known is not None and known.share != ("mallory",):
            continue
        secret = any_document(random, HIDDEN)
        if random.randrange(3):
            secret.put(opened, path)
            note()
            opened.documents.update(path, metadata=random.choice(METADATA))
        elif known is not None:
            opened.documents.delete(path)
        note()


@pytest.fixture
def stores() -> Iterator[tuple[Quire, Quire]]:
    """Two open stores in memory, where there is room for them."""
    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base) as folder, ExitStack() as stack:
        forest = Forest(Path(folder))
        trees = [forest(name) for name in ("busy", "plain")]
        for tree in trees:
            tree.write("quire.toml", '[embed]\nprovider = "none"\n')
        busy, plain = (stack.enter_context(tree.open()) for tree in trees)
        yield busy, plain


@pytest.mark.parametrize("batch", range(BATCHES))
def test_any_way_to_the_same_documents(stores: tuple[Quire, Quire], batch: int) -> None:
    with Reader(stores[0]) as reader:
        for number in range(batch, CASES, BATCHES):
            try:
                check(
                    *stores,
                    reader,
                    Random(number),
                    whole=number % WHOLE == 0,
                    read=number // BATCHES % READ == 0,
                )
            except AssertionError as error:
                error.add_note(f"case {number} of {CASES}")
                raise
    assert reader.between, "nothing was read while something was written"
