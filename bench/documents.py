"""What does it cost to put documents from memory, and to filter them by metadata?"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import quire
from bench import queries, stores, synthetic, synthetic_vectors
from bench.report import Table, timed
from quire import Progress, Quire
from quire.core.metadata import check_metadata
from quire.core.protocols import Store
from quire.core.types import NO_FILTER, OWNER, Filter
from quire.store import open_store

TOP = 50
EMBEDDED = 1000
"""So many documents are put with vectors of the local model."""
CHANGES = 200
RARE = 1000
"""One document in so many passes the filter."""
WHERE = Filter(where='team = "rare" and priority >= 0')


def tables(sizes: Sequence[int], asked: int) -> Iterator[Table]:
    """Put documents into new stores, and ask them with and without a filter."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "quire.toml").write_text('[embed]\nprovider = "none"\n')
            with quire.open(root) as opened:
                yield _put(opened, size)
                _embed(opened, size)
                yield _filter(opened.store, size, asked, "documents")
    with tempfile.TemporaryDirectory() as folder, quire.open(folder) as opened:
        yield _with_vectors(opened)


def filters(sizes: Sequence[int], asked: int) -> Iterator[Table]:
    """Ask stores of longer documents, which are written at once, with and without a filter."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(Path(folder) / "store.db")
            spent = _Clock()
            stores.put_documents(store, size, lambda number: check_metadata(_metadata(number)))
            stores.put_vectors(store, size)
            spent.stop()
            table = _filter(store, size, asked, "chunks")
            table.notes.append(f"the store was written in {spent.seconds:.0f} s")
            store.close()
            yield table


class _Clock:
    """Seconds that pass, and those that processors spend."""

    def __init__(self) -> None:
        self._start = perf_counter(), process_time()
        self.seconds = self.cpu = 0.0

    def stop(self) -> None:
        self.seconds = perf_counter() - self._start[0]
        self.cpu = process_time() - self._start[1]


def _documents(size: int) -> Iterator[dict[str, Any]]:
    texts = (
        chunk.text
        for number in range(-(-size // synthetic.CHUNKS_PER_RECORD))
        for chunk in synthetic.document(number).chunks
    )
    for number, text in zip(range(size), texts, strict=False):
        yield {
            "content": text,
            "path": f"crm/{number % 500}/{number}",
            "metadata": _metadata(number),
        }


def _metadata(number: int) -> dict[str, Any]:
    return {
        "team": "rare" if number % RARE == 7 else f"team {number % 50}",
        "priority": number % 10,
        "due": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}",
        "tags": [f"t{number % 7}", f"u{number % 11}"],
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _put(opened: Quire, size: int) -> Table:
    peaks: list[tuple[int, float]] = []

    def report(progress: Progress) -> None:
        peaks.append((progress.done, _peak()))

    made = _Clock()
    for _ in _documents(size):
        pass
    made.stop()
    put = _Clock()
    opened.documents.put_many(_documents(size), embed=False, report=report)
    put.stop()
    again = _Clock()
    repeated = min(size, 5000)
    opened.documents.put_many(_documents(repeated), embed=False)
    again.stop()
    updated = _Clock()
    for number in range(CHANGES):
        opened.documents.update(f"crm/{number % 500}/{number}", metadata={"priority": 11})
    updated.stop()
    columns = ("what", "documents/s", "per second of CPU", "peak MB")
    table = Table(f"{size:,} documents put from memory", columns)
    early = next(peak for done, peak in peaks if done >= size // 10)
    table.add("the first tenth, without vectors", None, None, early)
    own = size / max(put.cpu - made.cpu, 1e-9)  # without what it costs to make up the texts
    table.add("all, without vectors", size / put.seconds, own, peaks[-1][1])
    table.add(f"{repeated:,} of them again", repeated / again.seconds, repeated / again.cpu, None)
    rates = CHANGES / updated.seconds, CHANGES / updated.cpu
    table.add("metadata of one updated, each in its own transaction", *rates, None)
    table.notes = ["about 100 words and five values of metadata each; batches of 500"]
    return table


def _with_vectors(opened: Quire) -> Table:
    spent = _Clock()
    result = opened.documents.put_many(_documents(EMBEDDED))
    spent.stop()
    columns = ("what", "documents/s", "per second of CPU")
    table = Table(f"{EMBEDDED:,} documents put with vectors", columns)
    table.add("with the local model", EMBEDDED / spent.seconds, EMBEDDED / spent.cpu)
    table.notes = [f"{result.vectors:,} vectors"]
    return table


def _embed(opened: Quire, size: int) -> None:
    """Give each text a made-up vector: the model is measured elsewhere."""
    vectors = synthetic_vectors.World().texts(size + size // 10)
    missing = opened.store.missing_vectors()
    for batch in list(missing):
        with opened.store.write() as writer:
            writer.put_vectors(synthetic_vectors.MODEL, {key: next(vectors) for key, _ in batch})


def _filter(store: Store, size: int, asked: int, what: str) -> Table:
    texts = [" ".join(words) for words in queries.shapes(asked)["eight terms, two frequent"]]
    vectors = synthetic_vectors.World().questions(asked)
    table = Table(
        f"a filter that one of {RARE:,} documents passes, {size:,} {what}",
        ("search", "unfiltered p50 ms", "p95", "filtered p50 ms", "filtered p95", "recall"),
    )

    def ask(view: Any, kind: str, question: Any, where: Filter, k: int = TOP) -> Any:
        search = view.lexical if kind == "by words" else view.semantic
        return search(question, k, where)

    for kind, questions in (("by words", texts), ("by meaning", vectors)):
        found = {}
        for where in (NO_FILTER, WHERE):

            def call(question: Any, where: Filter = where, kind: str = kind) -> None:
                with store.view(OWNER) as view:  # anew, as each request does
                    ask(view, kind, question, where)

            found[where] = timed([lambda q=each: call(q) for each in questions])  # type: ignore[misc]
        with store.view(OWNER) as view:
            passing = {
                chunk.id for record in view.listing(WHERE) for chunk in view.chunks_of(record.id)
            }
            hit = wanted = 0
            for question in questions[:10]:
                every = ask(view, kind, question, NO_FILTER, size * 2).hits
                best = [each.id for each in every if each.id in passing][:TOP]
                filtered = {each.id for each in ask(view, kind, question, WHERE).hits}
                hit, wanted = hit + len(filtered & {*best}), wanted + len(best)
        without, within = found[NO_FILTER], found[WHERE]
        recall = hit / wanted if wanted else None
        table.add(kind, without.p50, without.p95, within.p50, within.p95, recall)
    table.notes = [
        f"recall: of the best {TOP} of an unfiltered search of all, restricted to what passes",
        f"condition: {WHERE.where}",
    ]
    return table
