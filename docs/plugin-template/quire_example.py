"""Plug-ins for Quire: delete what you do not need, and rename the rest.

A plug-in gets data and returns data. It may raise: Quire names it and goes on without it. The same
input must give the same output, because contexts are compared byte by byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


class VCardReader:
    """Reads contacts (`quire.readers`): bytes become Markdown."""

    suffixes = (".vcf",)

    def read(self, data: bytes, path: str) -> str:
        """Return the text of a file, which Quire splits by its headings."""
        lines = re.sub(r"\r?\n[ \t]", "", data.decode("utf-8")).splitlines()
        cards: list[dict[str, str]] = []
        for line in lines:
            name, _, value = line.partition(":")
            key = name.split(";")[0].upper()
            if key == "BEGIN":
                cards.append({})
            elif cards and value:
                cards[-1].setdefault(key, value)
        if not cards:
            raise ValueError(f"{path} holds no contact")
        return "\n".join(
            f"# {card.get('FN', 'Unknown')}\n\n"
            + "".join(
                f"- {key.lower()}: {card[key]}\n"
                for key in ("ORG", "EMAIL", "TEL", "NOTE")
                if key in card
            )
            for card in cards
        )


def collect_titled(view: Any, query: Any, k: int) -> list[tuple[str, int]]:
    """Find chunks whose heading has a word of the query (`quire.collectors`).

    `view` is the store as the viewer may read it. Return ids of chunks with scores.
    """
    words = set(re.findall(r"\w+", query.text.lower()))
    found = []
    for record in view.listing(query.where):
        for chunk in view.chunks_of(record.id):
            common = words & set(re.findall(r"\w+", chunk.title.lower()))
            if common:
                found.append((chunk.id, len(common)))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:k]


def render_numbered(documents: Sequence[dict[str, Any]]) -> str:
    """Render a context as numbered documents (`quire.formats`)."""
    parts = []
    for number, document in enumerate(documents, 1):
        text = "\n[...]\n".join(part["text"].strip() for part in document["parts"])
        parts.append(f"[{number}] {document['path']}\n{text}\n")
    return "\n".join(parts)


class LetterEmbedder:
    """Embeds by counting letters (`quire.embedders`): a model that needs no download."""

    name = "letters-1"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text; change `name` when the vectors change."""
        letters = "abcdefghijklmnopqrstuvwxyz"
        return [[1.0, *(float(text.lower().count(each)) for each in letters)] for text in texts]


class OverlapReranker:
    """Scores texts by the words that they share with the query (`quire.rerankers`)."""

    name = "overlap-1"

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text; a higher one is better."""
        wanted = set(re.findall(r"\w+", query.lower()))
        return [float(len(wanted & set(re.findall(r"\w+", text.lower())))) for text in texts]


class DiarySource:
    """Entries of a diary (`quire.sources`): `2026-01-31 Text`, one a line, a document each.

    `settings` is the `[sources.NAME]` of quire.toml. With `resumable`, `changes` is given the
    cursor of what was read last, a text; without, it yields everything each time, and what it no
    longer yields is removed.
    """

    resumable = True

    def __init__(self, name: str, settings: Any, root: Path) -> None:
        self._name = name
        self._file = root / settings.location

    def changes(self, since: str | None) -> Iterator[dict[str, Any]]:
        """Yield what changed since a cursor, in the order of the cursors; None: everything."""
        for line in sorted(self._file.read_text("utf-8").splitlines()):
            day, _, text = line.partition(" ")
            if since is None or day >= since:  # at the cursor, too: that entry may have changed
                yield {
                    "path": f"{self._name}/{day}",
                    "content": text or None,  # None: it was deleted
                    "modified": day,
                    "metadata": {"day": day},
                    "share": ["owner"],
                    "cursor": day,
                }
