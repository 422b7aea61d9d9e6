"""What does indexing cost, stage by stage, and what does the store take?"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import data, process, stores
from bench.report import Table
from quire.store.sqlite.database import Connection

EMBED_SAMPLE = 400
TREES = (("swe_dev", "a source tree"), ("ws_peps", "a folder of specifications"))


def tables(sizes: Sequence[int]) -> Iterator[Table]:
    """Measure on real trees, then tell what made-up stores cost to make and to keep."""
    if data.folder() is None:
        print("BENCH_DATA is not set: no real tree is indexed")
    else:
        for task, what in TREES:
            yield from _tree(task, what)
    for size in sizes:
        yield _made_up(size)


def _tree(task: str, what: str) -> Iterator[Table]:
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        root = Path(folder) / "tree"
        for path, text in data.tree(task):
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode("utf-8", "surrogatepass"))
        store = Path(folder) / "store.db"
        told = process.measured("index", str(root), str(store))
        again = process.measured("again", str(root), str(store))
        bytes_by_part = _parts(store)
        made = process.measured("embed", str(store), str(EMBED_SAMPLE))
    rate = made["sample"] / made["embed_seconds"]
    embedding = made["texts"] / rate
    writing = made["write_seconds"] / made["sample"] * made["texts"]
    stages = {**told["stages"], "vector rows": writing}
    rest = sum(stages.values())
    whole = rest + embedding
    table = Table(
        f"indexing {what}: {told['indexed']:,} files, {told['chunks']:,} chunks",
        ("stage", "seconds", "share of all"),
    )
    for stage, seconds in sorted(stages.items(), key=lambda pair: -pair[1]):
        table.add(stage, seconds, f"{seconds / whole:.2%}")
    table.add("everything but embedding", rest, f"{rest / whole:.2%}")
    table.add("embedding (estimated)", embedding, f"{embedding / whole:.2%}")
    table.notes = [
        (
            f"embedding: {rate:.1f} texts/s on {made['sample']:,} texts from all over the tree, "
            f"estimated for all {made['texts']:,}"
        ),
        f"loading the model: {made['loading_seconds']:.2f} s",
        (
            f"peak memory: {told['peak_mib']:.0f} MiB to read and write, "
            f"{made['peak_mib']:.0f} MiB to embed"
        ),
        f"indexing it again, nothing changed: {again['seconds']:.2f} s",
    ]
    yield table
    yield _size_table(f"the file of {what}, before vectors", bytes_by_part, told["chunks"])


def _made_up(size: int) -> Table:
    path, costs = stores.ours(size)
    table = _size_table(f"the file of {size:,} chunks of made-up text", _parts(path), size)
    if "text_seconds" in costs:
        stages = ", ".join(
            f"{stage} {seconds:.0f}"
            for stage, seconds in sorted(costs["text_stages"].items(), key=lambda pair: -pair[1])
        )
        rate = size / costs["text_seconds"]
        table.notes = [
            (
                f"written in {costs['text_seconds']:.0f} s ({rate:,.0f} chunks/s, the making up of "
                f"the text included), {stores.RECORDS_PER_COMMIT:,} records a commit"
            ),
            f"seconds by stage: {stages}",
            f"vectors in {costs['vectors_seconds']:.0f} s more",
        ]
    return table


def _size_table(title: str, parts: dict[str, int], chunks: int) -> Table:
    table = Table(title, ("part", "MiB", "bytes a chunk"))
    for part, count in sorted(parts.items(), key=lambda pair: -pair[1]):
        table.add(part, count / 2**20, count / chunks)
    whole = sum(parts.values())
    table.add("all", whole / 2**20, whole / chunks)
    return table


# A table belongs to the part that starts with its name.
_PARTS = {
    "text and places": (
        "chunk",
        "record",
        "kind",
        "sqlite_autoindex_chunk",
        "sqlite_autoindex_rec",
    ),
    "vectors": ("vector_",),
    "posting lists": ("posting", "segment"),
    "merkle trees": ("leaf", "bucket", "node", "root"),
    "columns": ("row_block", "sqlite_autoindex_row_block"),
}


def _parts(store: Path) -> dict[str, int]:
    connection = Connection(str(store))
    found: dict[str, int] = {}
    for table, size in connection.rows("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
        part = next(
            (part for part, starts in _PARTS.items() if table.startswith(starts)), "the rest"
        )
        found[part] = found.get(part, 0) + size
    connection.close()
    return found
