"""The promises of a context, each checked from the outside, by its own means."""

from __future__ import annotations

import json
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from rs_bpe.bpe import openai

from quire import packing, rendering, tokens
from quire.core.protocols import Counter
from quire.core.serialize import escape_json
from quire.core.types import Candidate, Chunk, Context, Decision, Piece, Recipe

STEPS = {"rank", "depth", "dedup", "group", "pack", "fit"}
Shown = Sequence[tuple[Chunk, str, int]]
"""Chunks in their order, what is shown of each, and their scores."""


@cache
def _oracle() -> openai.Tokenizer:
    return openai.o200k_base()


def count(name: str, text: str, otherwise: Counter | None = None) -> int:
    """Count tokens anew; o200k also by an independent implementation."""
    counted = (otherwise or tokens.open_counter(name)).count(text)
    if name == "o200k":
        assert counted == _oracle().count(text)
    return counted


def holds(
    context: Context,
    recipe: Recipe,
    found: Mapping[str, Chunk],
    *,
    model: str = "o200k",
    counter: Counter | None = None,
    previous: Sequence[str] = (),
) -> None:
    """Check everything that can be said of a context of what was found."""
    budget = recipe.budget
    fate = {decision.chunk_id: decision for decision in context.decisions}
    assert context.tokens == count(model, context.text, counter)
    assert context.available == budget.total - sum(budget.reserved.values())
    assert context.limit_exceeded == max(0, context.tokens - context.available)
    if budget.hard:
        assert context.tokens <= context.available
    _decided(context, recipe, found)
    shown = _shown(context, found, recipe)
    assert context.content_tokens == sum(count(model, text, counter) for _, text, _ in shown)
    for source, (chunk, text, score) in zip(context.sources, shown, strict=True):
        assert (source.path, source.lines, source.title) == (chunk.path, chunk.lines, chunk.title)
        assert (source.record_id, source.score) == (chunk.record_id, score)
        assert source.tokens == fate[chunk.id].tokens == count(model, text, counter)
    expected = said(shown, recipe)
    if not shown and count(model, expected, counter) > context.available:
        expected = ""
    assert context.text == expected
    _ordered(shown, recipe, previous)
    if budget.hard and passes_over(recipe):
        _nothing_more_fits(context, recipe, found, model=model, counter=counter, previous=previous)


def passes_over(recipe: Recipe) -> bool:
    """Tell whether a piece that does not fit is passed over; `optimal` knows nothing else."""
    return recipe.budget.overflow == "skip" or recipe.fit.pack == "optimal"


def _decided(context: Context, recipe: Recipe, found: Mapping[str, Chunk]) -> None:
    """Every candidate has one decision, every excluded one one reason."""
    names = [decision.chunk_id for decision in context.decisions]
    assert sorted(names) == sorted(found)
    steps = Tally(decision.step for decision in context.decisions)
    assert set(steps) <= STEPS
    inside = [source.chunk_id for source in context.sources]
    assert len(set(inside)) == len(inside)
    for decision in context.decisions:
        assert decision.reason
        assert (decision.verdict == "dropped") == (decision.step != "fit")
        assert (decision.chunk_id in inside) == (decision.verdict in {"kept", "cut"})
        chunk = found[decision.chunk_id]
        assert (decision.path, decision.lines) == (chunk.path, chunk.lines)
    assert steps["rank"] == max(0, len(found) - recipe.top)
    assert context.omitted == steps["pack"]
    cut = [decision for decision in context.decisions if decision.verdict == "cut"]
    assert len(cut) <= (recipe.budget.overflow == "cut")
    passing = recipe.budget.hard and passes_over(recipe)
    assert context.truncated == (not passing and bool(cut or context.omitted))
    if recipe.fit.per_document:
        per_document = Tally(source.record_id for source in context.sources)
        assert all(many <= recipe.fit.per_document for many in per_document.values())
    else:
        assert not steps["group"]
    texts = [found[name].text for name in inside]
    assert len(set(texts)) == len(texts), "the same text was printed twice"


def _shown(context: Context, found: Mapping[str, Chunk], recipe: Recipe) -> Shown:
    """Tell what is shown of each source: all of it, or what the context says of a cut one."""
    cut = {one.chunk_id: one for one in context.decisions if one.verdict == "cut"}
    rows = [
        (found[source.chunk_id], found[source.chunk_id].text, source.score)
        for source in context.sources
    ]
    if not cut:
        return rows
    (at,) = (place for place, row in enumerate(rows) if row[0].id in cut)
    chunk, whole, score = rows[at]
    # The longest beginning with which everything else is as it is.
    for end in range(len(whole) - 1, 0, -1):
        tried = [*rows[:at], (chunk, whole[:end], score), *rows[at + 1 :]]
        if said(tried, recipe) == context.text and whole[:end].rstrip() == whole[:end]:
            return tried
    raise AssertionError(f"no beginning of {whole!r} gives {context.text!r}")


@dataclass
class _Run:
    lines: tuple[int, int]
    text: str
    title: str
    score: int
    is_cut: bool

    def json(self, *, metadata: bool) -> dict[str, object]:
        plain: dict[str, object] = {"lines": list(self.lines), "text": self.text}
        plain |= {"truncated": True} if self.is_cut else {}
        return plain | ({"title": self.title, "score": self.score} if metadata else {})

    def marked(self, *, metadata: bool) -> str:
        first, last = self.lines
        place = f"lines {first}-{last}, " if first else ""
        title = f", {self.title}" if self.title else ""
        head = f"({place}score {self.score}{title})\n" if metadata else ""
        lines = self.text.strip("\n").split("\n")
        forged = [line.lstrip(" \t").startswith("[DOC:") for line in lines]
        told = ["\\" + line if bad else line for line, bad in zip(lines, forged, strict=True)]
        return head + "\n".join([*told, *(["..."] if self.is_cut else [])]) + "\n"


def said(shown: Shown, recipe: Recipe) -> str:
    """Say pieces in their order: a marker where the document changes, neighbours as one text."""
    documents: list[tuple[str, list[_Run]]] = []
    record, end = "", -1
    for chunk, text, score in shown:
        first, last = chunk.lines
        if text != chunk.text:
            last = first + text.count("\n")
        if chunk.record_id != record:
            documents.append((chunk.path, []))
            end = -1
        runs = documents[-1][1]
        is_cut = bool(chunk.text.removeprefix(text).strip())
        if chunk.start == end:
            before = runs[-1]
            runs[-1] = _Run(
                (before.lines[0], last),
                before.text + text,
                before.title,
                max(before.score, score),
                is_cut,
            )
        else:
            runs.append(_Run((first, last), text, chunk.title, score, is_cut))
        record, end = chunk.record_id, chunk.start + len(text.encode())
    metadata = recipe.render.metadata
    if recipe.render.format == "json":
        data = [
            {"path": path, "runs": [run.json(metadata=metadata) for run in runs]}
            for path, runs in documents
        ]
        text = json.dumps({"documents": data}, ensure_ascii=False, separators=(",", ":"))
        assert json.loads(escape_json(text)) == json.loads(text), "escaped, it means the same"
        return escape_json(text)
    return "\n".join(
        f"[DOC: {path}]\n" + _with_gaps(runs, metadata=metadata) for path, runs in documents
    )


def _with_gaps(runs: Sequence[_Run], *, metadata: bool) -> str:
    """Say the runs of a document, and the line where each begins behind a gap."""
    texts = [run.marked(metadata=metadata) for run in runs]
    if metadata:
        return "".join(texts)
    gaps = ["", *(f"... (line {run.lines[0]})\n" for run in runs[1:])]
    return "".join(gap + text for gap, text in zip(gaps, texts, strict=True))


def _ordered(shown: Shown, recipe: Recipe, previous: Sequence[str]) -> None:
    """The order of the pieces is the one that was asked for."""
    order = recipe.fit.order
    if order == "auto":
        packed = recipe.fit.pack in {"interleaved", "score_weighted"}
        order = "packed" if packed else "grouped"
    names = [chunk.id for chunk, _, _ in shown]
    by_score = sorted(
        shown, key=lambda row: (-row[2], row[0].path, row[0].sequence, row[0].start, row[0].id)
    )
    blocks = [
        list(some) for _, some in groupby((row[0] for row in shown), key=lambda one: one.record_id)
    ]
    if order == "packed" and recipe.fit.pack in {"score_weighted", "optimal"}:
        assert names == [chunk.id for chunk, _, _ in by_score]
    if order in {"grouped", "edges"}:
        assert len(blocks) == len({chunk.record_id for chunk, _, _ in shown})
        for block in blocks:
            assert [one.start for one in block] == sorted(one.start for one in block)
        best = list(dict.fromkeys(chunk.record_id for chunk, _, _ in by_score))
        if order == "edges":
            best = best[::2] + best[1::2][::-1]
        assert [block[0].record_id for block in blocks] == best
    if order == "stable":
        old = [name for name in previous if name in names]
        assert names[: len(old)] == old


def _nothing_more_fits(
    context: Context,
    recipe: Recipe,
    found: Mapping[str, Chunk],
    *,
    model: str,
    counter: Counter | None,
    previous: Sequence[str],
) -> None:
    """With any piece that was left out, in the place of its repeats, the budget would be passed."""
    inside = {source.chunk_id for source in context.sources}
    left = [one for one in context.decisions if one.step == "pack"]
    kept = [one for one in context.decisions if one.chunk_id in inside]
    for decision in left:
        piece = _piece(found[decision.chunk_id], decision)
        others = [_piece(found[one.chunk_id], one) for one in kept]
        pieces = [one for one in others if not _repeats(one, piece, recipe)] + [piece]
        ordered = packing.sort_by_preference(pieces, recipe.fit.pack)
        blocks = packing.arrange(ordered, recipe.fit.order, recipe.fit.pack, previous)
        with_it = count(model, rendering.render(blocks, recipe.render), counter)
        assert with_it > context.available, f"{decision} would still fit"


def _repeats(piece: Piece, better: Piece, recipe: Recipe) -> bool:
    fit = recipe.fit
    both = [better.candidate, piece.candidate]
    return better.order < piece.order and bool(packing.dedup(both, fit.dedup, within=fit.within)[1])


def _piece(chunk: Chunk, decision: Decision) -> Piece:
    return Piece(Candidate(chunk, decision.score, decision.signals), decision.tokens, chunk.text)
