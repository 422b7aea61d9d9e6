"""A store of real documents, how its file is damaged, and what it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import quire
from quire import Quire
from quire.core.types import Filter
from quire.core.types.blocks import Block
from quire.errors import QuireError
from tests.conftest import LONG_AGO, Tree

HERE = Path(__file__).parents[2]
PAGES = (
    "CONTRIBUTING.md",
    "docs/reliability.md",
    "src/quire/store/access.py",
    "src/quire/core/merkle.py",
)
"""Files of this project itself; the last two have outlines, names and links."""
SETTINGS = '[ingest]\nhistory = 0\n[groups]\ndev = ["ann"]\n[access]\n"docs/**" = ["@dev", "bob"]\n'
PAGE = 4096
SECTOR = 512


def build(root: Path) -> Tree:
    """Make a project with files, memories, an experience, blocks, rules and vectors."""
    tree = Tree(root)
    tree.fill({page: (HERE / page).read_bytes() for page in PAGES})
    tree.write("quire.toml", SETTINGS)
    tree.index(embed=True)
    with tree.open() as opened:
        opened.memories.add("The store is one SQLite file; keep a backup.", at=LONG_AGO)
        opened.memories.add("Ann reviews what touches access.", viewer="ann", at=LONG_AGO)
        opened.blocks.put(
            [
                Block("plan", "page", text="Release plan"),
                Block("step", "todo", text="Tag", parent="plan"),
            ],
            at=LONG_AGO,
        )
        context = opened.assemble("checksum of a page", budget=1500)
        opened.feedback.add(context.receipt, useful=[context.sources[0].chunk_id], at=LONG_AGO)
    assert not list(tree.store.parent.glob("*-wal"))
    return tree


# --- damage ----------------------------------------------------------------------------------------


def damage(data: bytes, random: Random) -> bytes:
    """Return the bytes of a file after something happened to them."""
    return random.choice((_flip, _flip, _flip, _scatter, _zero, _zero, _garble, _truncate, _swap))(
        data, random
    )


def _flip(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]


def _scatter(data: bytes, random: Random) -> bytes:
    for _ in range(random.randrange(2, 40)):
        data = _flip(data, random)
    return data


def _zero(data: bytes, random: Random) -> bytes:
    return _overwrite(data, random, bytes)


def _garble(data: bytes, random: Random) -> bytes:
    return _overwrite(data, random, random.randbytes)


def _overwrite(data: bytes, random: Random, make: Callable[[int], bytes]) -> bytes:
    size = random.choice((1, 16, SECTOR, PAGE, 3 * PAGE))
    start = random.randrange(len(data))
    if size >= SECTOR:
        start -= start % min(size, PAGE)
    size = min(size, len(data) - start)
    return data[:start] + make(size) + data[start + size :]


def _truncate(data: bytes, random: Random) -> bytes:
    size = random.randrange(len(data))
    return data[: size - size % random.choice((1, SECTOR, PAGE))]


def _swap(data: bytes, random: Random) -> bytes:
    count = len(data) // PAGE
    first, second = sorted(random.sample(range(count), 2))
    pages = [data[number * PAGE : (number + 1) * PAGE] for number in range(count)]
    pages[first], pages[second] = pages[second], pages[first]
    return b"".join(pages)


# --- questions -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What one question gave: a value, the pieces of text in it, and what was said beside it."""

    value: Any
    pieces: Mapping[str, str]
    said: tuple[str, ...] = ()


def _context(opened: Quire, query: str, **options: Any) -> Answer:
    context = opened.assemble(query, budget=1500, **options)
    pieces = {f"path of {source.chunk_id}": source.path for source in context.sources}
    receipt = {**context.receipt, "made": None}
    said = (*context.notes, *(f"{each.source}: {each.reason}" for each in context.failed))
    return Answer((context.text, receipt), pieces, said)


def _search(opened: Quire, query: str, **options: Any) -> Answer:
    result = opened.search(query, k=8, **options)
    pieces = {each.chunk.id: each.chunk.text for each in result.results}
    said = (*result.notes, *(f"{each.source}: {each.reason}" for each in result.failed))
    return Answer([(each.chunk.id, each.score) for each in result.results], pieces, said)


def _texts(opened: Quire) -> Answer:
    chunks = opened.documents.chunks()
    pieces = {chunk.id: chunk.text for chunk in chunks}
    pieces |= {f"path of {chunk.id}": chunk.path for chunk in chunks}
    return Answer([chunk.id for chunk in chunks], pieces)


Question = Callable[[Quire], Answer]

QUESTIONS: Mapping[str, Question] = {
    "context": lambda opened: _context(opened, "how is a chunk proved to be under the root"),
    "page": lambda opened: _context(
        opened, "access rules of a class", recipe="agent", viewer="ann"
    ),
    "search": lambda opened: _search(opened, "who may read a record", viewer="bob"),
    "texts": _texts,
    "memories": lambda opened: Answer(opened.memories.export(), {}),
    "blocks": lambda opened: Answer(opened.blocks.export(), {}),
    "map": lambda opened: Answer(opened.map(budget=300).text, {}),
    "list": lambda opened: Answer(opened.documents.list(Filter(kinds=("document",))), {}),
    "status": lambda opened: Answer(opened.status("bob"), {}),
}


def ask(root: Path) -> dict[str, Answer | QuireError]:
    """Open a project and ask everything; an error is an answer, too."""
    answers: dict[str, Answer | QuireError] = {}
    try:
        opened = quire.open(root)
    except QuireError as error:
        return {"open": error}
    with opened:
        for name, question in QUESTIONS.items():
            try:
                answers[name] = question(opened)
            except QuireError as error:
                answers[name] = error
    return answers
