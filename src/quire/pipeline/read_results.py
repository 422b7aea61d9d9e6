"""Read the results that a caller brought, and find where each stands in its document.

A retriever may know the offset of a text, its number in the document, its line, or nothing. What
follows one another is placed so; where that is not known, texts stand apart and the page marks the
gap.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any

from quire.core import dates
from quire.core.types import Candidate, RetrievalResult
from quire.errors import InputError, unknown
from quire.pipeline.validate import is_a

FIELDS = tuple(field.name for field in fields(RetrievalResult))
_TEXTS = ("text", "path", "id", "title", "kind", "name", "summary", "language")
_REQUIRED = ("text", "path", "score")
LARGEST = 2**53
"""No place in a document is further behind."""


@dataclass(frozen=True, slots=True)
class PlacedResult:
    """A result with its place."""

    result: RetrievalResult
    text: str
    """Its text. One whose offset is not known ends with a line end, which separates it from the
    next one."""
    sequence: int
    start: int


def read_results(items: Sequence[Any]) -> list[RetrievalResult]:
    """Check results: `RetrievalResult`, mappings with its fields, or hits of `Quire.search`."""
    results = [_read(item, f"result {number}") for number, item in enumerate(items, start=1)]
    seen: dict[str, int] = {}
    for number, result in enumerate(results, start=1):
        if result.id and seen.setdefault(result.id, number) != number:
            raise InputError(
                f"the id {result.id!r} is that of result {seen[result.id]} as well",
                value=result.id,
                hint="bring each result once",
                place=f"result {number}",
            )
    return results


def place_results(results: Sequence[RetrievalResult]) -> list[PlacedResult]:
    """Give each result its place in its document; documents come in the order of their paths."""
    documents: dict[str, list[RetrievalResult]] = {}
    for result in results:
        documents.setdefault(result.path, []).append(result)
    return [item for path in sorted(documents) for item in _place(path, documents[path])]


def _read(item: Any, place: str) -> RetrievalResult:
    if isinstance(item, Candidate):
        return _from_candidate(item)
    if isinstance(item, Mapping):
        for name in item:
            if name not in FIELDS:
                raise unknown("field", name, FIELDS, place=place)
        for name in _REQUIRED:
            if name not in item:
                raise InputError(f"{name} is missing", field=name, place=place)
        item = RetrievalResult(**item)
    if not isinstance(item, RetrievalResult):
        raise InputError(
            f"expected a RetrievalResult, not {type(item).__name__}",
            hint="give each text with its path and its score",
            place=place,
        )
    _check(item, place)
    score = float(item.score)
    modified = item.modified
    if isinstance(modified, str):
        modified = dates.parse_date("modified", modified)
    return replace(item, score=score, modified=modified)


def _from_candidate(candidate: Candidate) -> RetrievalResult:
    chunk = candidate.chunk
    return RetrievalResult(
        text=chunk.text,
        path=chunk.path,
        score=float(candidate.score),
        id=chunk.id,
        sequence=chunk.sequence,
        start=chunk.start,
        line=chunk.lines[0],
        title=chunk.title,
        kind=chunk.kind,
    )


def _check(result: RetrievalResult, place: str) -> None:
    for name in _TEXTS:
        _check_text(name, getattr(result, name), place)
    if not result.text.strip():
        raise InputError("is empty", field="text", place=place, hint="leave the result out")
    if not result.path.strip():
        raise InputError("is empty", field="path", place=place, hint="name its document")
    _check_number("score", result.score, place)
    if result.semantic_score is not None:
        _check_number("semantic_score", result.semantic_score, place)
        if not 0 <= result.semantic_score <= 1:
            raise _wrong("semantic_score", "a number from 0 to 1", result.semantic_score, place)
    for name in ("sequence", "start", "line"):
        _check_place(name, getattr(result, name), place)
    if not isinstance(result.metadata, Mapping):
        raise _wrong("metadata", "a mapping", result.metadata, place)
    if not is_a(result.modified, (int, str, type(None))):
        raise _wrong("modified", "a date, or seconds since 1970", result.modified, place)


def _check_text(name: str, value: object, place: str) -> None:
    if not isinstance(value, str):
        raise _wrong(name, "a string", value, place)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError("is not valid Unicode", field=name, place=place) from None


def _check_place(name: str, value: object, place: str) -> None:
    is_unknown = value is None and name != "line"
    if not is_unknown and not (is_a(value, int) and 0 <= value <= LARGEST):  # type: ignore[operator]
        raise _wrong(name, "a whole number of at least 0", value, place)


def _check_number(name: str, value: object, place: str) -> None:
    try:
        number = float(value) if is_a(value, (int, float)) else math.nan  # type: ignore[arg-type]
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise _wrong(name, "a finite number", value, place)


def _wrong(name: str, expected: str, value: object, place: str) -> InputError:
    return InputError(
        f"expected {expected}, not {value!r:.60}", field=name, value=value, place=place
    )


# --- places -------------------------------------------------------------------------------------


def _place(path: str, results: Sequence[RetrievalResult]) -> list[PlacedResult]:
    """Place the results of one document."""
    exact = [result for result in results if result.start is not None]
    if exact and len(exact) < len(results):
        raise InputError(
            "some of its results have a start and others have none",
            field="start",
            place=path,
            hint="give it for all of them, or for none",
        )
    ordered = sorted(results, key=_reading_order)
    given = Counter(result.sequence for result in results if result.sequence is not None)
    for sequence, times in sorted(given.items()):
        if times > 1:
            raise InputError(
                f"two results have the sequence {sequence}",
                field="sequence",
                value=sequence,
                place=path,
                hint="bring each chunk once, or leave the sequence out",
            )
    free = (number for number in count() if number not in given)
    placed: list[PlacedResult] = []
    for result in ordered:
        before = placed[-1] if placed else None
        text, start = result.text, result.start
        if start is None:
            text = text if text.endswith("\n") else f"{text}\n"
            end = -1 if before is None else before.start + len(before.text.encode())
            start = end if before is not None and _follows(before.result, result) else end + 1
        sequence = next(free) if result.sequence is None else result.sequence
        placed.append(PlacedResult(result, text, sequence, start))
    if exact:
        _check_overlaps(path, placed)
    return placed


def _reading_order(result: RetrievalResult) -> tuple[Any, ...]:
    """Sort key: by offset, sequence or line; what has none comes last, the best first."""
    sequence = LARGEST + 1 if result.sequence is None else result.sequence
    line = result.line or LARGEST + 1
    described = (result.id, result.name, result.title, result.kind, result.summary)
    modified = str(result.modified)
    return (
        *(result.start or 0, sequence, line, -result.score, result.text),
        *(*described, result.language, modified, str(result.semantic_score)),
    )


def _follows(before: RetrievalResult, result: RetrievalResult) -> bool:
    """Tell whether a result continues the one before it."""
    if before.sequence is not None and result.sequence is not None:
        return result.sequence == before.sequence + 1
    after = before.line + before.text.rstrip("\n").count("\n") + 1
    return bool(before.line) and result.line == after


def _check_overlaps(path: str, placed: Sequence[PlacedResult]) -> None:
    """Refuse offsets that cannot be: where two results overlap, they hold the same text."""
    last: tuple[int, bytes] | None = None
    for item in placed:
        data = item.text.encode()
        if last is not None:
            start, before = last
            shared = before[item.start - start :]
            if shared[: len(data)] != data[: len(shared)]:
                raise InputError(
                    f"the result at byte {item.start} overlaps the one at {start}, and their texts "
                    "differ there",
                    field="start",
                    value=item.start,
                    place=path,
                    hint="count bytes of UTF-8, not characters; or leave it out",
                )
        if last is None or item.start + len(data) > last[0] + len(last[1]):
            last = (item.start, data)
