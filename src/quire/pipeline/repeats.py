"""Repeats: candidates that are left out because a better piece shows the same.

That holds only while the better piece is in the context, and shows what they say. Where it did not
fit, or was cut, they are restored: they become pieces that compete with the others, and the context
is packed again. A restored piece is passed over wherever one that it repeats is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from quire import packing
from quire.core.types import Candidate, Chunk, Piece, Recipe
from quire.packing import Covered, never_covered
from quire.pipeline.cuts import item_body
from quire.pipeline.draft import Draft, Repeat

MAX_ROUNDS = 4
"""After so many rounds of packing all repeats are restored at once."""
_LABEL = re.compile(r"(?m)^- \*\*[^*\n]+\*\*(?: \(\d+ times\))?: ")
"""What precedes a field of an experience: another field may hold its text."""
ENTITY_SHOWN = "its entity is there already"
SAME_TEXT = "100% of it stands in {} ({})"


def restore(draft: Draft, *, everything: bool) -> Draft | None:
    """Restore what is left out as a repeat of something that the context does not show.

    Returns None if nothing is; with `everything`, all repeats are restored if any is.
    """
    finder = _Finder(draft)
    hidden = [repeat for repeat in draft.repeats if repeat.candidate.chunk.id not in draft.restored]
    orphans = [repeat for repeat in hidden if finder.shown_by(repeat, draft.pieces) is None]
    headings = {piece.heading for piece in draft.pieces}
    repeated = [piece for piece in draft.repeated if piece.heading not in headings]
    if not orphans and not repeated:
        return None
    if everything:
        orphans, repeated = hidden, list(draft.repeated)
    candidates = [*draft.candidates, *(repeat.candidate for repeat in orphans)]
    return replace(
        draft,
        candidates=tuple(sorted(candidates, key=lambda candidate: candidate.order)),
        restored=draft.restored | {repeat.candidate.chunk.id for repeat in orphans},
        ungrouped=draft.ungrouped | {piece.candidate.chunk.id for piece in repeated},
    )


def make_covered(draft: Draft) -> Covered:
    """Return a function that tells whether chosen pieces show all that a restored one says."""
    if not draft.restored and not draft.ungrouped:
        return never_covered
    finder = _Finder(draft)
    repeats = {
        repeat.candidate.chunk.id: repeat
        for repeat in draft.repeats
        if repeat.candidate.chunk.id in draft.restored
    }

    def covered(piece: Piece, chosen: Sequence[Piece]) -> bool:
        chunk_id = piece.candidate.chunk.id
        if chunk_id in repeats and finder.shown_by(repeats[chunk_id], chosen) is not None:
            return True
        return chunk_id in draft.ungrouped and any(
            other.heading == piece.heading and other.candidate.chunk.id != chunk_id
            for other in chosen
        )

    return covered


def shown_by(draft: Draft, repeat: Repeat) -> str | None:
    """Return the reason that names the piece of the context which shows a repeat, if one does."""
    return _Finder(draft).shown_by(repeat, draft.pieces)


def shown_texts(chosen: Sequence[Piece]) -> dict[str, Piece]:
    """Return the first piece with each text that chosen pieces show in full."""
    return {piece.candidate.content: piece for piece in reversed(chosen) if piece.is_full}


def same_text_shown(piece: Piece, shown: Mapping[str, Piece]) -> str | None:
    """Return the reason that names a chosen piece with the very text of one that did not fit.

    A repeat may cost less than what it repeats: beside its neighbour it needs no heading.
    """
    other = shown.get(piece.candidate.content)
    if other is None:
        return None
    chunk = other.candidate.chunk
    return SAME_TEXT.format(place_of(chunk), chunk.id)


class _Finder:
    """Finds the piece that shows what a repeat says."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._shows: dict[tuple[str, str, str, str], bool] = {}

    def shown_by(self, repeat: Repeat, chosen: Sequence[Piece]) -> str | None:
        """Return the reason that names the piece which shows a repeat; None if there is none."""
        own = repeat.candidate.chunk.id
        by_id = {candidate.chunk.id: reason for candidate, reason in repeat.better}
        by_text = {candidate.content: reason for candidate, reason in repeat.better}
        for piece in chosen:
            chunk = piece.candidate.chunk
            reason = by_id.get(chunk.id) or (
                by_text.get(piece.candidate.content) if repeat.same_text else None
            )
            if reason is not None and chunk.id != own and self._is_shown(repeat, piece):
                return reason.format(place_of(chunk), chunk.id)
        return None

    def _is_shown(self, repeat: Repeat, piece: Piece) -> bool:
        candidate, better = repeat.candidate, piece.candidate
        if (
            piece.is_full
            and not piece.is_cut_off
            and (not repeat.same_text or piece.text == better.chunk.text)
        ):
            return True
        key = (candidate.chunk.id, better.chunk.id, piece.level, piece.text)
        if key not in self._shows:
            self._shows[key] = self._compare(repeat, piece)
        return self._shows[key]

    def _compare(self, repeat: Repeat, piece: Piece) -> bool:
        draft, code = self._draft, piece.candidate.chunk.kind == "code"
        shown = item_body(draft, piece.candidate) if piece.is_full else piece.text
        if not repeat.same_text:
            texts = packing.shared_texts(repeat.candidate, piece.candidate)
            return any(packing.says_all(shown, text) for text in texts) or not texts
        said = item_body(draft, repeat.candidate)
        if repeat.candidate.chunk.record_id == piece.candidate.chunk.record_id:
            shown, said = _LABEL.sub("- ", shown), _LABEL.sub("- ", said)
            if _has_fields(shown, said):
                return True
        return packing.says_all(shown, said, code=code)


def _has_fields(shown: str, said: str) -> bool:
    """Tell whether a text has every line of another one of the same record, as a part of its own.

    The goal of a post-mortem is the beginning of what happened, and ends with a mark of its own.
    """
    lines = (line.strip().removeprefix("- ").removesuffix("…") for line in said.split("\n"))
    return all(line.rstrip() in shown for line in lines)


def dropped_as(duplicates: Sequence[packing.Duplicate], wording: str) -> tuple[Repeat, ...]:
    """Return the repeats that dropped duplicates are, worded with their percentage."""
    return tuple(
        Repeat(
            duplicate.candidate,
            tuple(
                (better, f"{percent}% of {wording} {{}} ({{}})")
                for better, percent in duplicate.better
            ),
        )
        for duplicate in duplicates
    )


def find_in_longer(
    recipe: Recipe, candidates: Sequence[Candidate], runs: packing.Runs
) -> tuple[Repeat, ...]:
    """Return the repeats that a longer candidate holds, though it is not as good.

    They stay candidates: only a context that shows the longer one leaves them out. On pages with
    sections each item stands for what it is, a memory beside a document that says the same.
    """
    if recipe.sections or recipe.fit.dedup >= 1:
        return ()
    return dropped_as(packing.find_contained(candidates, runs), "it stands in")


def about_the_same(duplicates: Sequence[packing.CrossSourceDuplicate]) -> tuple[Repeat, ...]:
    """Return the repeats of what is about the same thing."""
    return tuple(
        Repeat(
            duplicate.candidate,
            tuple((better, "{} tells of the same ({})") for better in duplicate.better),
            same_text=False,
        )
        for duplicate in duplicates
    )


def shown_elsewhere(duplicates: Sequence[packing.CrossSourceDuplicate]) -> tuple[Repeat, ...]:
    """Return the repeats of records that another section shows with more of their fields."""
    return tuple(
        Repeat(
            duplicate.candidate,
            tuple(
                (better, f"it stands under {better.section.title!r} ({{1}})")
                for better in duplicate.better
                if better.section is not None
            ),
        )
        for duplicate in duplicates
    )


def implemented_by(overloads: Sequence[tuple[Candidate, Candidate]]) -> tuple[Repeat, ...]:
    """Return the repeats that overloads of a function are beside its implementation."""
    return tuple(
        Repeat(candidate, ((other, "{} implements it ({})"),), same_text=False)
        for candidate, other in overloads
    )


def place_of(chunk: Chunk) -> str:
    """Return the path and lines of a chunk."""
    return f"{chunk.path}:{chunk.lines[0]}-{chunk.lines[1]}" if chunk.lines[0] else chunk.path
