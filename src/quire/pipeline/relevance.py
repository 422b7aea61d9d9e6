"""The steps that weigh how likely a candidate is to help, and drop what is not likely to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quire.core.paths import is_named
from quire.core.types import Candidate
from quire.pipeline.candidates import (
    is_heading_alone,
    is_list_of_names,
    is_title_alone,
)
from quire.pipeline.decisions import drop
from quire.pipeline.draft import Draft
from quire.pipeline.intents import holds_phrase
from quire.ranking import CERTAIN, RELEVANCE, SIMILARITY
from quire.retrieval import DEFINED, NAMED_SCORE, TEXT_COLLECTORS

STEP = "relevance"
HALF = CERTAIN // 2
SEEN = "the reader has it already: `seen` names it"
ONLY_NAMES = "it holds only imports and names to export"
ONLY_TITLE = "it is a title, with nothing under it of its own"
ONLY_HEADING = "it is a heading, with nothing below it but directives"
EMPTY = {ONLY_NAMES: is_list_of_names, ONLY_HEADING: is_heading_alone}
"""Why a candidate answers nothing, and what tells it; such are left out where there are others."""
FILE_KINDS = ("code", "document")
UNASKED = "the question does not ask for {}, and code or documents are more likely to help"
RELEVANCE_SCALE = 10_000
"""What one thousandth of relevance is worth: the best hit of two sources has a million for each."""
OFF_TOPIC = "not likely to help: nothing that was found with it has enough words of the question"
NOTHING_RELEVANT = "nothing that was found is likely to help; `floor` 0 shows it all the same"


def drop_irrelevant(draft: Draft) -> Draft:
    """Drop what is not likely to be relevant.

    Only what a search for the text found is judged, and not if it holds half of the query's words
    or is named without doubt, as a commit by its hash or a definition with its file. Commits that
    the query does not ask for stay only if they are as relevant as the best code or document
    (`asked` of a section).
    """
    floor = draft.recipe.rank.floor
    candidates = [_Judged(draft, candidate) for candidate in draft.candidates]
    relevant = [each for each in candidates if each.is_certain or each.relevance >= floor]
    dropped = [each for each in candidates if not (each.is_certain or each.relevance >= floor)]
    relevant, unasked = _split_unasked(draft, relevant)
    titles = [each for each in relevant if is_title_alone(draft, each.candidate)]
    relevant = [each for each in relevant if each not in titles]
    empty = {
        id(each): reason
        for each in relevant
        for reason, is_empty in EMPTY.items()
        if is_empty(draft, each.candidate)
    }
    empty = empty if len(empty) < len(relevant) else {}  # better than nothing
    without_body = [each for each in relevant if id(each) in empty]
    relevant = [each for each in relevant if id(each) not in empty]
    decisions = [
        *(drop(each.candidate, STEP, each.reason(floor)) for each in dropped),
        *(drop(each.candidate, STEP, UNASKED.format(each.section)) for each in unasked),
        *(drop(each.candidate, STEP, empty[id(each)]) for each in without_body),
        *(drop(each.candidate, STEP, ONLY_TITLE) for each in titles),
    ]
    return replace(
        draft,
        candidates=tuple(each.candidate for each in relevant),
        decisions=(*draft.decisions, *decisions),
        notes=draft.notes if relevant or not decisions else (*draft.notes, NOTHING_RELEVANT),
    )


class _Judged:
    """A candidate, and what is known of its relevance."""

    def __init__(self, draft: Draft, candidate: Candidate) -> None:
        features, signals = draft.features, candidate.signals
        self.candidate = candidate
        self.section = "" if candidate.section is None else candidate.section.name
        self.words = features.words.get(candidate.chunk.id, 0)
        self.relevance = signals.get(RELEVANCE, draft.recipe.rank.floor)
        by_text = draft.recipe.sources.keys() & signals.keys() <= TEXT_COLLECTORS
        is_required = candidate.chunk.record_id in features.included
        is_placed = DEFINED in signals and is_named(draft.request.query, candidate.chunk.path)
        is_known = is_placed or signals.get(DEFINED, 0) >= NAMED_SCORE
        self.is_named = is_known or not by_text or is_required
        """Whether it is named, or was found in another way than by its text."""
        self.is_certain = self.is_named or self.words >= HALF
        self.likely = signals.get(RELEVANCE, self.words)
        """How likely it is to help, as far as that is known."""

    def reason(self, floor: int) -> str:
        """Say why it is left out."""
        if not self.relevance:
            return OFF_TOPIC
        relevance = f"its relevance is {self.relevance / CERTAIN:.3f}"
        return f"not likely to help: {relevance}, the least is {floor / CERTAIN:.3f}"


def _split_unasked(
    draft: Draft, candidates: Sequence[_Judged]
) -> tuple[list[_Judged], list[_Judged]]:
    """Separate what the query does not ask for, unless it is as relevant as the best of files."""
    query = draft.request.query
    unasked = {
        section.name
        for section in draft.recipe.sections
        if section.asked and not holds_phrase(query, section.asked)
    }
    others = [each for each in candidates if each.section not in unasked]
    if not draft.recipe.rank.floor or not unasked or not others:
        return list(candidates), []
    files = [each.likely for each in others if each.candidate.chunk.kind in FILE_KINDS]
    least = max([HALF, *files])
    stays = [
        each.section not in unasked or each.is_named or each.likely >= least for each in candidates
    ]
    return (
        [each for each, stay in zip(candidates, stays, strict=True) if stay],
        [each for each, stay in zip(candidates, stays, strict=True) if not stay],
    )


def add_relevance(draft: Draft, candidate: Candidate) -> Candidate:
    """Return a candidate with what is known of its relevance among its signals."""
    name = candidate.chunk.id
    tables = {RELEVANCE: draft.features.relevance, SIMILARITY: draft.features.similarity}
    known = {signal: table[name] for signal, table in tables.items() if name in table}
    if not known:
        return candidate
    section = candidate.section
    by_relevance = section is not None and section.score == RELEVANCE and RELEVANCE in known
    return replace(
        candidate,
        score=known[RELEVANCE] * RELEVANCE_SCALE if by_relevance else candidate.score,
        signals={**candidate.signals, **known},
    )
