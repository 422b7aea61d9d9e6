"""How many tokens of a conversation's contexts would a provider's prompt cache hit?

Twenty questions over this project's own documents and sources, while files change between them: a
session, beside a context a turn, and beside contexts in the order `stable`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path

import quire
from bench.report import Cell, Table
from quire import Quire

ROOT = Path(__file__).parents[1]
BUDGET = 8000
QUESTIONS = (
    "how are receipts verified",
    "what binds a text to its sources",
    "how is a receipt signed",
    "what does a replay take from the receipt",
    "how are proofs encoded",
    "who may read a memory",
    "how are access classes computed",
    "what happens when an access rule changes",
    "how is a viewer resolved",
    "what does the audit log record",
    "how is the query embedded",
    "how are vectors quantized",
    "what is cached of semantic searches",
    "how are scores of sources fused",
    "how is relevance estimated",
    "how are context files inherited",
    "how does a judge decide on a sentence",
    "how are rules evaluated for a situation",
    "what do hooks answer",
    "how does the warm process serve hooks",
)
CHANGED = (
    "docs/guide/contexts.md",
    "ARCHITECTURE.md",
    "src/quire/engine.py",
    "docs/reliability.md",
)
"""One of these grows by a paragraph before every fourth question."""


def tables() -> Iterator[Table]:
    rows: list[tuple[Cell, ...]] = []
    for name, ask in (("session", _by_session), ("assemble", _plain), ("order = stable", _stable)):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "project"
            _copy(place)
            with quire.open(place, settings={"embed": {"provider": "none"}}) as q:
                q.index(history=0)
                rows.append((name, *_measure(place, q, ask)))
    yield Table(
        f"Prompt caches: {len(QUESTIONS)} questions, {BUDGET} tokens, a changed file every fourth",
        ("contexts by", "tokens sent", "same beginning", "share", "turns that kept it whole"),
        rows,
    )


def _measure(
    place: Path, q: Quire, ask: Callable[[Quire], Callable[[str], str]]
) -> tuple[str, ...]:
    sent = same = whole = 0
    before = ""
    answer = ask(q)
    for number, question in enumerate(QUESTIONS):
        if number and number % 4 == 0:
            _change(place, number)
            q.index(history=0)
        text = answer(question)
        common = _common(before, text)
        sent += quire.count_tokens(text)
        same += quire.count_tokens(common)
        whole += bool(before) and text.startswith(before)
        before = text
    share = f"{100 * same / sent:.0f}%"
    return f"{sent:,}", f"{same:,}", share, f"{whole} of {len(QUESTIONS) - 1}"


def _common(before: str, text: str) -> str:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, text, strict=False))
    return text[: sum(1 for _ in same)]


def _by_session(q: Quire) -> Callable[[str], str]:
    session = q.session(budget=BUDGET)
    return lambda question: session.ask(question).text


def _plain(q: Quire) -> Callable[[str], str]:
    return lambda question: q.assemble(question, budget=BUDGET, reserve={}).text


def _stable(q: Quire) -> Callable[[str], str]:
    shown: list[str] = []

    def ask(question: str) -> str:
        context = q.assemble(question, budget=BUDGET, reserve={}, order="stable", previous=shown)
        shown[:] = [source.chunk_id for source in context]
        return context.text

    return ask


def _copy(place: Path) -> None:
    for name in ("docs", "src"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "ARCHITECTURE.md", place)


def _change(place: Path, number: int) -> None:
    file = place / CHANGED[number // 4 % len(CHANGED)]
    file.write_text(file.read_text("utf-8") + f"\n# A remark\n# number {number}.\n", "utf-8")
