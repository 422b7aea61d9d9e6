"""How a corpus becomes a store: as it would for a user, once for each state of the code.

The store of a corpus lies in BENCH_CACHE, under a name that changes with its documents and with
the code that makes stores; vectors are kept by their text (`bench.evidence.stores`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import quire
from bench import cache
from bench.evidence import stores as evidence
from bench.pages.blocks import Place, block_at, place_blocks
from bench.pages.corpora import LEARNED, MATERIAL, PAGES, Corpus, rows_of

FILES = "files"
"""The folder of pages that are imported, and not indexed as files, too."""
MADE_BY = ("workspace", "memory", "rules/discovery.py")
"""What decides over the content of these stores, beside what does over others."""
IMPORTED_AT = 1_772_000_000
"""Imports happen at a fixed moment, so that recency is the same in every run."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A corpus with its open store."""

    corpus: Corpus
    texts: Mapping[str, str]
    store: Any
    places: Mapping[str, Place] = field(default_factory=dict)
    """Path and lines in the corpus, by the id of a record whose own path says nothing."""
    titles: frozenset[str] = frozenset()
    """The ids of blocks that are pages: of them, only the title is shown."""

    def focus(self, place: str) -> str:
        """Return the id of the block at `path` or `path:line`."""
        path, _, line = place.partition(":")
        return block_at(self.places, path, int(line) if line else None, set(self.titles))


@contextmanager
def open_corpus(corpus: Corpus, *, embed: bool = True) -> Iterator[Opened]:
    """Open the store of a corpus; it is made when it is not there."""
    texts = corpus.read()
    folder = cache.folder() / "pages" / f"{corpus.name}-{_name(corpus, texts, embed=embed)}"
    done = folder.with_suffix(".json")
    if not done.exists():
        _write(folder, corpus, texts)
    with quire.open(folder) as store:
        if not done.exists():
            told = _fill(store, folder, corpus, texts)
            if embed:
                store.index(embed=False)
                evidence.embed_missing(store)
            store.index(embed=embed)
            done.write_text(json.dumps(told), "utf-8")
        told = json.loads(done.read_text("utf-8"))
        places = {name: (path, first, last) for name, (path, first, last) in told["places"]}
        yield Opened(corpus, texts, store, places, frozenset(told["titles"]))


def _name(corpus: Corpus, texts: Mapping[str, str], *, embed: bool) -> str:
    told = json.dumps([corpus.form, corpus.page_format, embed, sorted(texts.items())])
    code = evidence.code_name((*evidence.MADE_BY, *MADE_BY))
    made = hashlib.sha256((told + code).encode("utf-8", "surrogatepass"))
    return made.hexdigest()[:12]


def _write(folder: Path, corpus: Corpus, texts: Mapping[str, str]) -> None:
    (folder / ".quire").mkdir(parents=True, exist_ok=True)  # the root, whatever is above
    if corpus.form == LEARNED:
        return
    if corpus.form == PAGES:
        (folder / "quire.toml").write_text(f'[ingest]\nignore = ["/{FILES}/"]\n', "utf-8")
    base = folder / FILES if corpus.form == PAGES else folder
    for path, text in texts.items():
        evidence.write_document(base, path, text)


def _fill(store: Any, folder: Path, corpus: Corpus, texts: Mapping[str, str]) -> dict[str, Any]:
    """Add what is not indexed as files; return where the records that it made come from."""
    places: dict[str, Place] = {}
    titles: list[str] = []
    if corpus.form == PAGES:
        store.blocks.import_pages(
            folder / FILES, corpus.page_format, allow_secret=True, at=IMPORTED_AT
        )
        places = place_blocks(store, texts)
        titles = sorted(block.id for block in store.blocks.export() if block.type == "page")
    if corpus.form == LEARNED:
        paths = {**_remember(store), **_experience(store)}
        places = {name: (path, 1, texts[path].count("\n")) for name, path in paths.items()}
    return {"places": sorted(places.items()), "titles": titles}


def _remember(store: Any) -> dict[str, str]:
    ids: dict[str, str] = {}
    for row in rows_of(MATERIAL / "memories.jsonl"):
        written = store.memories.add(
            row["content"],
            category=row.get("category", "fact"),
            importance=row.get("importance", 0.5),
            supersedes=ids.get(row.get("supersedes", "")),
            at=_seconds(row["at"]),
        )
        ids[row["id"]] = written.value.id
    return {record: f"memories/{name}" for name, record in ids.items()}


def _experience(store: Any) -> dict[str, str]:
    ids: dict[str, str] = {}
    for row in rows_of(MATERIAL / "experiences.jsonl"):
        started = {
            key: row[key]
            for key in ("domain", "strategy", "hypothesis", "action", "prediction")
            if key in row
        }
        ended = {
            key: row[key] for key in ("result", "surprise", "root_cause", "lesson") if key in row
        }
        at = _seconds(row["at"])
        written = store.experiences.start(row["goal"], **started, at=at)
        name = written.value.id
        if row.get("outcome"):
            name = store.experiences.resolve(name, row["outcome"], **ended, at=at + 3600).value.id
        ids[name] = f"experiences/{row['id']}"
    return ids


def _seconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())
