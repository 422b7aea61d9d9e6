"""The pool: what several systems show for each question, for labellers who see none of them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from bench.pages import systems
from bench.pages.corpora import CORPORA, PAGES
from bench.pages.judge import SAME, Judged, likeness
from bench.pages.labels import Label
from bench.pages.pieces import Piece, Span, hash_of, text_of
from bench.pages.questions import Question
from bench.pages.stores import Opened, open_corpus

KEY = "key.jsonl"
PER_FILE = 10
PASSAGES = 250
"""Passages in a file, where one question does not have more."""
SEED = "pages"
GUIDE = """\
For each passage of a question write one line of JSON into a file of answers:
{"question": "ID", "passage": N, "label": 0}

2: helps to answer. It holds a part of the answer, or what one must know to answer.
1: on topic, does not help.
0: off topic.

Judge each passage by itself, by its text and its document's name. A question may have no answer.
What is superseded helps only if the question is about it. A bare title or heading helps only if it
answers. For a situation, 2 means: this guide applies now.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One passage of the pool."""

    question: Question
    span: Span
    hash: str
    text: str
    title: str


def collect(
    questions: Sequence[Question], report: Callable[[str], None], *, embed: bool = True
) -> list[Entry]:
    """Ask all systems all questions; return each passage once."""
    return _for_each_corpus(questions, _pooled, report, embed=embed)


def collect_unjudged(
    questions: Sequence[Question],
    labels: Sequence[Label],
    report: Callable[[str], None],
    *,
    embed: bool = True,
) -> list[Entry]:
    """Return what Quire's pages show today and no label says anything about."""

    def unjudged(opened: Opened, question: Question, _: systems.Bm25) -> list[Span]:
        judged = Judged(opened.texts, [one for one in labels if one.question == question.id])
        return [
            span
            for piece in _quire(opened, question)
            if judged.value_of(piece) is None
            for span in piece.spans
            if judged.value_of_span(span) is None
        ]

    return _for_each_corpus(questions, unjudged, report, embed=embed)


def collect_disputed(
    questions: Sequence[Question],
    labels: Sequence[Label],
    report: Callable[[str], None],
    *,
    embed: bool = True,
) -> list[Entry]:
    """Return the passages on which two labellers differ."""
    spans: dict[str, list[Span]] = {}
    for label in labels:
        if label.is_disputed:
            spans.setdefault(label.question, []).append(label.span)
    asked = [question for question in questions if question.id in spans]
    return _for_each_corpus(asked, lambda _o, question, _b: spans[question.id], report, embed=embed)


def _for_each_corpus(
    questions: Sequence[Question],
    find: Callable[[Opened, Question, systems.Bm25], list[Span]],
    report: Callable[[str], None],
    *,
    embed: bool,
) -> list[Entry]:
    entries: list[Entry] = []
    places = list(CORPORA)
    ordered = sorted(questions, key=lambda one: (places.index(one.corpus), one.id))
    for corpus, asked in groupby(ordered, key=lambda one: one.corpus):
        report(corpus)
        with open_corpus(CORPORA[corpus], embed=embed) as opened:
            words = systems.Bm25(opened.texts, opened.corpus.frame)
            for question in asked:
                spans = find(opened, question, words)
                entries += _entries(opened, question, distinct(opened.texts, spans))
    return entries


def _pooled(opened: Opened, question: Question, words: systems.Bm25) -> list[Span]:
    pieces = [
        *_quire(opened, question),
        *words.find(question.text),
        *systems.dense_pieces(opened, question),
    ]
    return [span for piece in pieces for span in piece.spans]


def _quire(opened: Opened, question: Question) -> list[Piece]:
    return [
        piece
        for recipe in systems.RECIPES[opened.corpus.form]
        for budget in (None, systems.SMALL)
        for piece in systems.quire_pieces(opened, question, recipe, budget)
    ]


def distinct(texts: Mapping[str, str], spans: Iterable[Span]) -> list[Span]:
    """Return spans without those that are nearly another one."""
    chosen: list[Span] = []
    for span in sorted(set(spans)):
        if not any(likeness(texts, span, other) >= SAME for other in chosen):
            chosen.append(span)
    return chosen


def _entries(opened: Opened, question: Question, spans: Iterable[Span]) -> list[Entry]:
    entries = [
        Entry(
            question=question,
            span=span,
            hash=hash_of(opened.texts, span),
            text=text_of(opened.texts, span),
            title=_title(opened, span.path),
        )
        for span in spans
    ]
    return sorted(entries, key=_shuffled)


def _shuffled(entry: Entry) -> bytes:
    """Sort key: an order that says nothing of who found a passage."""
    return hashlib.sha256(f"{SEED} {entry.question.id} {entry.span.place}".encode()).digest()


def _title(opened: Opened, path: str) -> str:
    """Return the title of a page whose path does not name it."""
    if opened.corpus.form != PAGES:
        return ""
    found = re.search(r"^(?:title: |Title: |# )(.+)$", opened.texts[path], re.MULTILINE)
    return found[1].strip().strip('"') if found else ""


def write(entries: Sequence[Entry], folder: Path) -> list[Path]:
    """Write the files for labellers, and beside them the key that `label` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    by_question = [list(group) for _, group in groupby(entries, key=lambda one: one.question.id)]
    parts = _parts(by_question)
    files = []
    for number, part in enumerate(parts, 1):
        file = folder / f"part-{number:02}.md"
        head = f"# Passages to label, part {number} of {len(parts)}\n\n{GUIDE}\n"
        file.write_text(head + "\n".join(_written(group) for group in part), "utf-8")
        files.append(file)
    keys = [
        {
            "question": entry.question.id,
            "passage": number,
            "path": entry.span.path,
            "first": entry.span.first,
            "last": entry.span.last,
            "hash": entry.hash,
        }
        for group in by_question
        for number, entry in enumerate(group, 1)
    ]
    lines = "".join(json.dumps(key, ensure_ascii=False) + "\n" for key in keys)
    (folder / KEY).write_text(lines, "utf-8")
    return files


def _parts(groups: Sequence[list[Entry]]) -> list[list[list[Entry]]]:
    """Divide questions into files that one labeller reads at a time."""
    parts: list[list[list[Entry]]] = []
    for group in groups:
        if (
            not parts
            or len(parts[-1]) == PER_FILE
            or sum(map(len, parts[-1])) + len(group) > PASSAGES
        ):
            parts.append([])
        parts[-1].append(group)
    return parts


def _written(group: Sequence[Entry]) -> str:
    question = group[0].question
    corpus = CORPORA[question.corpus]
    lines = [f"## {question.id}", "", f"Question: {question.text}"]
    if question.focus:
        path, _, line = question.focus.partition(":")
        lines.append(f"The user is viewing: {path}" + (f", line {line}" if line else ""))
    if question.situation:
        lines.append(f"Situation: {json.dumps(question.situation, ensure_ascii=False)}")
    if corpus.as_of:
        lines.append(f"Today is {corpus.as_of}.")
    for number, entry in enumerate(group, 1):
        title = f" ({entry.title})" if entry.title else ""
        span = entry.span
        lines += ["", f"### {question.id}, passage {number}"]
        lines += [f"{span.path}{title}, lines {span.first}-{span.last}", "~~~~", entry.text, "~~~~"]
    return "\n".join(lines) + "\n"
