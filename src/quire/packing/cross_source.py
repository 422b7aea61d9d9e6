"""Duplicates across the sections of a page: two sources about the same thing.

The text of a principle comes from one of its experiences; a commit that changes a single file is
about the code of that file. Where both were found for different sections, the weaker one adds
little. So does an experience that two sections found, where one of them shows all that the other
would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from quire.core.types import Candidate

DROP, DEMOTE, KEEP = "drop", "demote", "keep"
SAME_PATH_RULES = (DROP, DEMOTE, KEEP)
"""What happens to the weaker one of a commit and a piece of code that share a path."""

TEXT, PATH = "text", "path"
Key = tuple[str, str]
"""Something that a candidate is about: a text or a path."""


@dataclass(frozen=True, slots=True)
class CrossSourceDuplicate:
    """A dropped candidate, and the better one about the same thing."""

    candidate: Candidate
    of: Candidate
    also: tuple[Candidate, ...] = ()
    """Others about the same thing, likewise better."""

    @property
    def better(self) -> tuple[Candidate, ...]:
        """All candidates that it is a duplicate of."""
        return (self.of, *self.also)


def dedup_cross_source(
    candidates: Sequence[Candidate], same_path: str
) -> tuple[list[Candidate], list[CrossSourceDuplicate]]:
    """Split candidates into those to keep, best first, and those about a better one's subject.

    The better one is the more relevant one: boosts order experiences within their section and say
    nothing about a principle beside them.
    """
    kept: list[Candidate] = []
    dropped: list[CrossSourceDuplicate] = []
    about: dict[Key, list[Candidate]] = {}
    for candidate in sorted(candidates, key=_by_relevance):
        keys = list(_keys(candidate, paths=same_path != KEEP))
        better = [
            (key, other)
            for key in keys
            for other in about.get(key, ())
            if _kind(other) != _kind(candidate) and other.section != candidate.section
        ]
        same = [other for (subject, _), other in better if same_path == DROP or subject != PATH]
        if same:
            dropped.append(CrossSourceDuplicate(candidate, same[0], tuple(same[1:])))
            continue
        for key in keys:
            about.setdefault(key, []).append(candidate)
        kept.append(replace(candidate, score=candidate.score // 2) if better else candidate)
    return sorted(kept, key=lambda candidate: candidate.order), dropped


def dedup_records(
    candidates: Sequence[Candidate],
) -> tuple[list[Candidate], list[CrossSourceDuplicate]]:
    """Split candidates into those to keep and those whose record another section shows with more.

    A section says which fields of a record it shows; the one with all of its fields and others is
    the better one.
    """
    fields: dict[str, list[tuple[frozenset[str], Candidate]]] = {}
    for candidate in candidates:
        if candidate.section is not None and candidate.section.show:
            shown = frozenset(candidate.section.show)
            fields.setdefault(candidate.chunk.record_id, []).append((shown, candidate))
    kept: list[Candidate] = []
    dropped: list[CrossSourceDuplicate] = []
    for candidate in candidates:
        own = frozenset(() if candidate.section is None else candidate.section.show)
        better = [
            other for shown, other in fields.get(candidate.chunk.record_id, ()) if own < shown
        ]
        if own and better:
            dropped.append(CrossSourceDuplicate(candidate, better[0], tuple(better[1:])))
        else:
            kept.append(candidate)
    return kept, dropped


def shared_texts(candidate: Candidate, other: Candidate) -> tuple[str, ...]:
    """Return the texts that make two candidates duplicates; none if they share a path."""
    keys = set(_keys(candidate, paths=False)) & set(_keys(other, paths=False))
    return tuple(sorted(text for _, text in keys))


def _by_relevance(candidate: Candidate) -> tuple[int, tuple[int, str, int, int, str]]:
    return -candidate.relevance, candidate.order


def _keys(candidate: Candidate, *, paths: bool) -> Iterator[Key]:
    """Yield what a candidate is about."""
    record, text = candidate.record, candidate.chunk.text.strip()
    if record is None or candidate.section is None:
        return
    if record.kind == "value":
        yield TEXT, text
    elif record.kind == "experience":
        yield TEXT, text
        yield TEXT, str(record.attrs.get("lesson", "")).strip()
    elif paths and record.kind == "code":
        yield PATH, record.path
    elif paths and record.kind == "commit" and len(record.paths) == 1:
        yield PATH, record.paths[0]


def _kind(candidate: Candidate) -> str:
    return "" if candidate.record is None else candidate.record.kind
