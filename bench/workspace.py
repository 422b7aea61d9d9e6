"""How fast is a workspace's context built, and how often is one at hand already?

Made-up pages of made-up text with made-up vectors; two hundred people in twenty groups, each page
open to one group, or to all. The question is embedded by the real model each time.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from bench import synthetic, synthetic_vectors
from bench.assemble import Measured
from bench.fresh import Fresh
from bench.question_model import QuestionModel
from bench.report import Table, times
from quire import Block, ContextRequest, Focus, Quire, TokenBudget, config
from quire.errors import InputError
from quire.store import open_store

BLOCKS = 100_000
PER_PAGE = 99
PEOPLE = 200
GROUPS = 20
NOW = 1_700_000_000
HOUR = 60 * 60
SEED = 20_260_101
DAY = 1200
"""Requests of a day."""
EDITED_EVERY = 6
BUDGET = TokenBudget()


class Model(QuestionModel):
    """Also gives made-up vectors to what is edited."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give each text the vector of a question."""
        known = [*self._vectors.values()]
        return [known[len(text) % len(known)] for text in texts]


def tables(asked: int) -> Iterator[Table]:
    """Build contexts for many people, then live through a day of questions and edits."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.db")
        fresh = Fresh()
        questions = fresh.take(5 * asked + 150)
        model = Model(questions)
        made = _made(Path(folder), path)
        with Measured(path, Path(folder), model) as quire:
            model.at_work = True
            yield _built(quire, questions[: 5 * asked], made)
            yield _day(quire, questions[5 * asked :])


def _made(root: Path, path: Path) -> float:
    random = np.random.default_rng(SEED)
    teams = {
        f"team{group}": [_name(each) for each in range(group, PEOPLE, GROUPS)]
        for group in range(GROUPS)
    }
    lines = [f"{team} = {json.dumps(people)}\n" for team, people in teams.items()]
    (root / "quire.toml").write_text("[groups]\n" + "".join(lines))
    begun = perf_counter()
    with Quire(config.load(root, store=path)) as quire:
        quire.blocks.put(_blocks(random), at=NOW - 30 * 24 * HOUR)
        for place in range(PEOPLE * 5):
            page = int(random.integers(BLOCKS // (PER_PAGE + 1)))
            with suppress(InputError):  # a page of another group
                quire.blocks.view(
                    f"p{page}", at=NOW - place % 60 * HOUR, viewer=_name(place % PEOPLE)
                )
    store = open_store(path)
    world = synthetic_vectors.World().texts(BLOCKS)
    with store.write() as writer:
        for batch in store.missing_vectors():
            writer.put_vectors(synthetic_vectors.MODEL, {key: next(world) for key, _ in batch})
    store.close()
    return perf_counter() - begun


def _name(number: int) -> str:
    return f"user{number}"


def _blocks(random: np.random.Generator) -> list[Block]:
    types = ("paragraph", "todo", "heading", "list", "code", "quote")
    pages = BLOCKS // (PER_PAGE + 1)
    words = iter(synthetic.documents(BLOCKS))
    texts = (chunk.text for document in words for chunk in document.chunks)
    found: list[Block] = []
    for page in range(pages):
        group = int(random.integers(GROUPS + 5))
        access = ("public",) if group >= GROUPS else (f"@team{group}",)
        found.append(Block(f"p{page}", "page", next(texts)[:60], access=access, position=page))
        for place in range(PER_PAGE):
            above = f"p{page}" if place < 10 or random.random() < 0.5 else f"b{page}-{place % 10}"
            link = (f"p{int(random.integers(pages))}",) if random.random() < 0.1 else ()
            found.append(
                Block(
                    f"b{page}-{place}",
                    types[int(random.integers(len(types)))],
                    next(texts)[:400],
                    above,
                    place,
                    links=link,
                    edited=NOW - int(random.integers(60 * 24)) * HOUR,
                )
            )
    return found


def _request(random: np.random.Generator, query: str) -> ContextRequest:
    page = int(random.integers(BLOCKS // (PER_PAGE + 1)))
    focus = Focus(block_id=f"b{page}-{int(random.integers(PER_PAGE))}")
    user = _name(int(random.integers(PEOPLE)))
    return ContextRequest(query, user, focus=focus, token_budget=BUDGET, as_of=NOW)


def _built(quire: Quire, questions: list[str], seconds: float) -> Table:
    table = Table(
        f"build a workspace's context: {BLOCKS:,} blocks, {PEOPLE} people, question embedded",
        ("requests", "p50 ms", "p95 ms", "CPU ms", "tokens exact"),
    )
    random = np.random.default_rng(SEED + 1)
    for query in questions[:10]:
        quire.workspace.build(_request(random, query))
    wall, cpu, exact = [], [], 0
    for query in questions[10:]:
        request = _request(random, query)
        begun, worked = perf_counter(), process_time()
        payload = quire.workspace.build(request)
        wall.append(perf_counter() - begun)
        cpu.append(process_time() - worked)
        exact += quire.workspace.estimate_tokens(payload) == payload.metadata.total_tokens
    found = times(wall, cpu)
    table.add(len(wall), found.p50, found.p95, found.cpu, f"{exact} of {len(wall)}")
    table.notes.append(f"the workspace was made in {seconds:,.0f} s; its vectors are made up")
    return table


def _day(quire: Quire, questions: list[str]) -> Table:
    """Ask what people ask: some questions often, each person about a few places; and edit."""
    table = Table(
        "a day of questions with edits between them",
        (
            "requests",
            "edits",
            "asked before",
            "contexts at hand",
            "question vectors at hand",
            "semantic searches at hand",
            "stale",
        ),
    )
    random = np.random.default_rng(SEED + 2)
    asked: dict[tuple[str, str, str], object] = {}
    known: set[str] = set()
    before = at_hand = vectors = stale = edits = 0
    first = quire.store.search_count
    for number in range(DAY):
        person = int(random.zipf(1.3)) % PEOPLE
        query = questions[int(random.zipf(1.3)) % len(questions)]
        page = (person * 7 + int(random.zipf(1.5))) % (BLOCKS // (PER_PAGE + 1))
        request = ContextRequest(
            query, _name(person), focus=Focus(page_id=f"p{page}"), token_budget=BUDGET, as_of=NOW
        )
        if number % EDITED_EVERY == 0:
            block = f"b{int(random.integers(BLOCKS // (PER_PAGE + 1)))}-1"
            quire.blocks.edit(block, at=NOW + number, text=f"edited in minute {number}")
            edits += 1
        payload = quire.workspace.build(request)
        key = (query, _name(person), f"p{page}")
        before += key in asked
        again = asked.get(key) is payload.receipt
        at_hand += again
        vectors += query in known
        known.add(query)
        asked[key] = payload.receipt
        if again and number % 10 == 0:
            with quire._project.view(_name(person)) as view:  # noqa: SLF001 - the state that it must be of
                stale += view.roots().state != payload.receipt["view_root"]
    shares = (f"{count / DAY:.0%}" for count in (before, at_hand, vectors))
    count = quire.store.search_count.plus(-first.hits, -first.total)
    table.add(DAY, edits, *shares, f"{count.rate:.0%}", stale)
    table.notes.append(
        "an edit counts for those who may read what was edited, and nobody else; asked before: the "
        "same person asked the same of the same page, so that no cache could have more at hand"
    )
    return table
