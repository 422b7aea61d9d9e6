"""How fast are vectors searched, beside sqlite-vec and plain numpy, and how much is missed?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
import numpy.typing as npt

from bench import cache, data, stores, synthetic_vectors
from bench.report import Table, timed
from quire.core import hashing
from quire.core.protocols import Store
from quire.core.types import OWNER, Chunk, EmbedSettings, Hits, Record
from quire.embed import open_embedder
from quire.store import open_store
from quire.store.index import vectors

TOP = 50
COLUMNS = ("way", "p50 ms", "p95", "cpu", "ratio p95", f"recall@{TOP}")
RECALL_OVER = 200
"""Recall differs from question to question, so that it takes many."""
FORCED = "two passes are forced here: so few vectors are all compared"


def tables(sizes: Sequence[int], asked: int, real: int, *, slow: bool) -> Iterator[Table]:
    """Measure on made-up vectors of each size, then on real ones."""
    for size in sizes:
        yield _made_up(size, asked, with_vec0=slow or size <= 200_000)
    if data.folder() is None:
        print("BENCH_DATA is not set: no real vectors are searched")
    else:
        yield from _real(real)


def search(store: Store, vector: bytes, *, exact: bool) -> Hits:
    """Ask our store, view and all."""
    with store.view(OWNER) as view:
        return view.semantic(vector, TOP, exact=exact)


def _made_up(size: int, asked: int, *, with_vec0: bool) -> Table:
    path, _ = stores.ours(size)
    table = Table(f"vectors: top {TOP} of {size:,} made-up vectors, 384 dimensions", COLUMNS)
    world = synthetic_vectors.World()
    questions = world.questions(asked)
    store = open_store(path, create=False)
    exact = timed([partial(search, store, one, exact=True) for one in questions])
    with limits(scan=min(size // 2, vectors.SCAN_LIMIT)):
        passes = timed([partial(search, store, one, exact=False) for one in questions])
        share = recall(store, world.questions(RECALL_OVER))
    if size <= vectors.SCAN_LIMIT:
        table.notes.append(FORCED)
    # What is compared with is what a user gets at this size.
    ours = exact if size <= vectors.SCAN_LIMIT else passes
    table.add("quire, every vector", exact.p50, exact.p95, exact.cpu, exact.p95 / ours.p95, 1.0)
    kept = vectors.first_pass_size(TOP)
    table.add(
        f"quire, two passes ({kept:,} kept)",
        passes.p50,
        passes.p95,
        passes.cpu,
        passes.p95 / ours.p95,
        share,
    )
    store.close()
    matrix = _matrix(size)
    brute = timed([partial(_brute, matrix, one) for one in questions])
    del matrix
    table.add("numpy float32", brute.p50, brute.p95, brute.cpu, brute.p95 / ours.p95, 1.0)
    if with_vec0:
        vec0, _ = stores.sqlite_vec(size)
        connection = stores.peer(vec0)
        stores.with_vec0(connection)
        few = questions[: max(5, asked // 4)]
        peer = timed(
            [
                partial(
                    lambda one: connection.execute(
                        f"SELECT rowid, distance FROM vectors WHERE one MATCH vec_int8(?) "
                        f"AND k = {TOP}",
                        (one,),
                    ).fetchall(),
                    one,
                )
                for one in few
            ],
            warm=1,
        )
        connection.close()
        table.add("sqlite-vec int8", peer.p50, peer.p95, peer.cpu, peer.p95 / ours.p95, 1.0)
    else:
        table.notes.append("sqlite-vec: only with --slow at this size, it takes long to build")
    table.notes.append("ratio: how much faster Quire is, in the way that it takes at this size")
    table.notes.append("the vectors imitate real ones: bench/synthetic_vectors.py tells how")
    return table


def _real(count: int) -> Iterator[Table]:
    embedder = open_embedder(EmbedSettings())
    assert embedder is not None, "the local model"
    passages = data.passages(count)
    matrix = cache.embedded(embedder, passages, asked=False)
    questions = [
        row.tobytes() for row in cache.embedded(embedder, data.queries(2 * RECALL_OVER), asked=True)
    ]
    store = _real_store(embedder.model, passages, matrix)
    embedder.close()
    table = Table(
        f"recall of two passes on {len(passages):,} real vectors (prose and code)",
        ("kept of all", "kept", "as of 1M", "recall@1", "recall@5", "recall@10", f"recall@{TOP}"),
        notes=[
            "as many are kept here as would be the same share of a million; so the best 50 of few",
            "thousand are far harder to keep than the best 50 of a million: what holds there",
            "lies between recall@1 and recall@50",
        ],
    )
    for share in (0.005, 0.01, 0.02, 0.05, 0.1):
        kept = max(1, int(len(passages) * share))
        with limits(scan=0, first_pass=kept, per_hit=0):
            found = [recall(store, questions, top) for top in (1, 5, 10, TOP)]
        table.add(f"{share:.1%}", kept, int(1_000_000 * share), *found)
    yield table
    store.close()


def _real_store(model: str, passages: list[str], matrix: npt.NDArray[np.int8]) -> Store:
    name = hashing.identifier("bench real vectors", model, tuple(passages))[:8]
    path = cache.folder() / f"quire-real-vectors-{name}.db"
    if path.exists():
        return open_store(path)
    fresh = path.with_suffix(".new.db")
    store = open_store(fresh)
    with store.write() as writer:
        made: dict[str, bytes] = {}
        for number, text in enumerate(passages):
            record = Record(f"{number:032x}", "document", f"passages/{number}")
            size = len(text.encode())
            chunk = Chunk(
                id=hashing.chunk_id(record.id, 0, text),
                record_id=record.id,
                kind=record.kind,
                path=record.path,
                title="",
                sequence=0,
                start=0,
                end=size,
                lines=(0, 0),
                text=text,
            )
            writer.put(record, [chunk])
            made[chunk.vector_key] = matrix[number].tobytes()
        writer.put_vectors(model, made)
    store.close()
    fresh.rename(path)
    return open_store(path)


def recall(store: Store, questions: Sequence[bytes], top: int = TOP) -> float:
    """Return which part of the best hits a search finds that is not asked to be exact."""
    shares = []
    for one in questions:
        with store.view(OWNER) as view:
            exact = {hit.id for hit in view.semantic(one, top, exact=True).hits}
            found = {hit.id for hit in view.semantic(one, top).hits}
        shares.append(len(exact & found) / len(exact))
    return float(np.mean(shares))


@contextmanager
def limits(
    *, scan: int, first_pass: int | None = None, per_hit: int | None = None
) -> Iterator[None]:
    """Let two passes begin at fewer vectors, and keep fewer."""
    kept = (vectors.SCAN_LIMIT, vectors.FIRST_PASS, vectors.FIRST_PASS_PER_HIT)
    vectors.SCAN_LIMIT = scan
    vectors.FIRST_PASS = kept[1] if first_pass is None else first_pass
    vectors.FIRST_PASS_PER_HIT = kept[2] if per_hit is None else per_hit
    try:
        yield
    finally:
        vectors.SCAN_LIMIT, vectors.FIRST_PASS, vectors.FIRST_PASS_PER_HIT = kept


def _matrix(size: int) -> npt.NDArray[np.float32]:
    matrix = np.empty((size, synthetic_vectors.DIMS), np.float32)
    for at, vector in enumerate(synthetic_vectors.World().texts(size)):
        matrix[at] = np.frombuffer(vector, np.int8)
    return matrix


def _brute(matrix: npt.NDArray[np.float32], vector: bytes) -> object:
    scores = matrix @ np.frombuffer(vector, np.int8).astype(np.float32)
    best = np.argpartition(scores, scores.size - TOP)[-TOP:]
    return best[np.argsort(-scores[best])]
