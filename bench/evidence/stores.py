"""How does a corpus become a store?

As it would for a user: its documents are written as files, and `index` reads the folder. What
takes long is kept in BENCH_CACHE: a store under a name that changes with the code that makes it,
and vectors by their text, so that cutting the text in another way embeds only what is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

import quire
from bench import cache
from quire.core import hashing

MADE_BY = (
    *("ingest", "embed", "store/index/analyzer.py", "store/index/postings.py"),
    *("store/sqlite/schema.py", "indexing/files.py", "core/hashing.py", "core/globs.py"),
    *("core/types/records.py", "core/types/outline.py", "core/types/settings.py"),
)
"""What decides over the content of a store."""
BATCH = 256
ALL = 100
"""Percent of the texts that have vectors."""


@contextmanager
def opened(task: str, corpus: str, documents: Iterable[Any], *, coverage: int) -> Iterator[Any]:
    """Open the store of a corpus, with vectors of so many percent of its texts.

    It is made when it is not there.
    """
    kind = {ALL: "vectors", 0: "words"}.get(coverage, f"vectors-{coverage}")
    home = cache.folder() / "evidence" / f"{task}-{code_name()}-{kind}"
    folder = home / hashing.identifier("corpus", corpus)[:16]
    done = folder.with_suffix(".done")
    if not done.exists():
        for document in documents:
            write_document(folder, document.path, document.text)
        (folder / ".quire").mkdir(parents=True, exist_ok=True)  # the root, whatever is above
    with quire.open(folder) as store:
        if not done.exists():
            store.index(embed=False)
            embed_missing(store, coverage)
            told = store.index(embed=coverage == ALL)
            lines = [f"{one.path}: {one.reason}\n" for one in told.skipped]
            done.write_text("".join(lines), "utf-8", errors="backslashreplace")
        yield store


def write_document(folder: Path, path: str, text: str) -> None:
    """Write a document as a file, below the folder alone."""
    file = folder / path
    if not file.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"a document's path leads out of its corpus: {path}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))


def embed_missing(store: Any, coverage: int = ALL) -> None:
    """Give texts their vectors: kept ones, else new ones that are kept from now on."""
    if not coverage:
        return
    embedder = store.embedder()
    kept = apsw.Connection(str(cache.folder() / "evidence-vectors.db"))
    kept.set_busy_timeout(60_000)
    kept.execute(
        "CREATE TABLE IF NOT EXISTS vector (model TEXT, key TEXT, made BLOB, "
        "PRIMARY KEY (model, key)) WITHOUT ROWID"
    )
    for missing in store.store.missing_vectors():
        batch = [(key, text) for key, text in missing if _percentile(key) < coverage]
        for at in range(0, len(batch), BATCH):
            part = batch[at : at + BATCH]
            known = {
                key: made
                for key, _ in part
                for (made,) in kept.execute(
                    "SELECT made FROM vector WHERE model = ? AND key = ?", (embedder.model, key)
                )
            }
            fresh = [(key, text) for key, text in part if key not in known]
            made = embedder.embed([text for _, text in fresh])
            known.update(zip((key for key, _ in fresh), made, strict=True))
            kept.executemany(
                "INSERT OR IGNORE INTO vector VALUES (?, ?, ?)",
                [(embedder.model, key, known[key]) for key, _ in fresh],
            )
            with store.store.write() as writer:
                writer.put_vectors(embedder.model, known)
    kept.close()


def _percentile(key: str) -> int:
    return int(hashing.identifier("coverage", key)[:8], 16) % ALL


def code_name(made_by: Sequence[str] = MADE_BY) -> str:
    """Name the code that makes stores by its content."""
    home = Path(quire.__file__).parent
    files = sorted(
        file
        for name in made_by
        for file in ([home / name] if name.endswith(".py") else (home / name).rglob("*.py"))
    )
    return hashing.identifier("code", *(file.read_text("utf-8") for file in files))[:12]
