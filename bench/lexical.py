"""How fast are words searched, beside FTS5?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import apsw

from bench import cache, data, queries, stores, synthetic
from bench.report import Table, timed
from quire.core.protocols import Store
from quire.core.types import OWNER, Chunk, Document, IngestSettings
from quire.ingest.read import build_document
from quire.store import open_store
from quire.store.index.analyzer import STOP_WORDS

TOP = 50
COLUMNS = (
    *("question", "quire p50 ms", "quire p95", "quire cpu"),
    *("fts5 p50 ms", "fts5 p95", "fts5 cpu", "ratio p50", "ratio p95"),
)
REAL = ("scifact_dev", "musique", "cosqa_dev", "ws_sourcegraph_handbook", "ws_peps")
FTS5_NOTE = (
    "fts5: contentless, porter unicode61, optimised, OR of the same words, ORDER BY rank "
    f"LIMIT {TOP}, same page cache"
)


def tables(sizes: Sequence[int], asked: int) -> Iterator[Table]:
    """Measure on made-up text of each size, then on real text."""
    for size in sizes:
        yield _made_up(size, asked)
    if data.folder() is None:
        print("BENCH_DATA is not set: no words are searched in real text")
    else:
        yield _real(asked)


def search(store: Store, words: Sequence[str]) -> object:
    """Ask our store, view and all."""
    with store.view(OWNER) as view:
        return view.lexical(" ".join(words), TOP)


def search_fts5(connection: apsw.Connection, words: Sequence[str]) -> object:
    """Ask FTS5 the same."""
    wanted = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
    return connection.execute(
        f"SELECT rowid, rank FROM text WHERE text MATCH ? ORDER BY rank LIMIT {TOP}", (wanted,)
    ).fetchall()


def _made_up(size: int, asked: int) -> Table:
    ours, _ = stores.ours(size)
    theirs, _ = stores.fts5(str(size), partial(_chunks_of, partial(synthetic.documents, size)))
    return _compared(
        f"words: top {TOP} of {size:,} chunks of made-up text",
        ours,
        theirs,
        queries.shapes(asked),
    )


def _real(asked: int) -> Table:
    texts = cache.folder() / "quire-real-text.db"
    if not texts.exists():
        fresh = texts.with_suffix(".new.db")
        store = open_store(fresh)
        documents = _real_documents()
        while batch := list(islice(documents, 500)):
            with store.write() as writer:
                for document in batch:
                    writer.put(document.record, document.chunks, document.links)
        store.close()
        fresh.rename(texts)
    theirs, _ = stores.fts5("real", partial(_chunks_of, _real_documents))
    asked_words = [
        [word for word in re.findall(r"\w+", text) if word.lower() not in STOP_WORDS]
        for text in data.queries(10 * asked)
    ]
    store = open_store(texts)
    with store.view(OWNER) as view:
        chunks = view.coverage().chunks
    store.close()
    return _compared(
        f"words: top {TOP} of {chunks:,} chunks of real text (prose and code)",
        texts,
        theirs,
        {"real questions, stop words left out": [words for words in asked_words if words]},
    )


def _compared(title: str, ours: Path, theirs: Path, asked: dict[str, list[list[str]]]) -> Table:
    table = Table(title, COLUMNS, notes=[FTS5_NOTE])
    store = open_store(ours, create=False)
    connection = stores.peer(theirs)
    for shape, questions in asked.items():
        mine = timed([partial(search, store, words) for words in questions])
        peer = timed([partial(search_fts5, connection, words) for words in questions])
        table.add(
            *(shape, mine.p50, mine.p95, mine.cpu, peer.p50, peer.p95, peer.cpu),
            *(peer.p50 / mine.p50, peer.p95 / mine.p95),
        )
    store.close()
    connection.close()
    return table


def _chunks_of(documents: Callable[[], Iterator[Document]]) -> Iterator[Chunk]:
    return (chunk for document in documents() for chunk in document.chunks)


def _real_documents() -> Iterator[Document]:
    settings = IngestSettings()
    for task in REAL:
        for number, (path, text) in enumerate(data.documents(task)):
            yield build_document(f"{task}/{number}/{path}", text.encode(), settings)
