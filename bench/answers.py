"""Answer several hundred requests of all kinds, and write each answer into a file of its own.

`bench.same_bytes` runs this file with the sources of two checkouts. So it uses only what every
version has: the public names of `quire`, and the serializer.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import quire
from quire.core.serialize import to_plain

DIMS = 64
NOW = 1_760_000_000
HOUR = 3600
TRIES = 5
"""A busy machine may let a section run out of time: then it is asked again."""
QUESTIONS = (
    "how does the budget decide what is left out of a context",
    "verify a receipt",
    "who may read a memory that another user wrote",
    "fuse the rankings of the sources into one",
    "which tasks are due",
    "dedup_near",
)
PAGES = ("documents", "entities", "agent", "situation", "tools", "workspace")
BUDGETS = (900, 2500, 8000)
VIEWERS = (None, "ann", "bob")
FORMATS = {
    "documents": ("markers", "markdown", "xml", "plain", "json"),
    "entities": ("markers", "markdown", "xml", "plain", "json"),
    "agent": ("page", "markdown", "json"),
    "workspace": ("template", "page", "markdown"),
}
VARIANTS: tuple[dict[str, Any], ...] = (
    {"pack": "greedy"},
    {"pack": "interleaved"},
    {"pack": "optimal"},
    {"order": "packed"},
    {"order": "edges"},
    {"overflow": "cut"},
    {"overflow": "stop"},
    {"hard": False},
    {"dedup": 0.5},
    {"per_document": 1},
    {"recent": 50},
    {"floor": 300},
    {"feedback": 0},
    {"metadata": True},
    {"cap": 200},
    {"exact": True},
    {"paths": ["docs/**"]},
    {"kinds": ["code"]},
    {"kinds": ["memory", "experience"]},
    {"since": "2026-01-01"},
    {"where": 'team = "north"'},
    {"shared_only": True},
    {"model": "claude-sonnet-4-5"},
    {"reserve": {}},
    {"as_of": "2026-06-01"},
    {"recipe": "entities", "groups": False},
    {"recipe": "entities", "content": False},
    {"recipe": "agent", "types": ["memories", "code"]},
    {"recipe": "agent", "limit": 2},
)
MEMORIES = (
    ("The budget of a context includes its reserves.", "fact", ()),
    ("Ann prefers short contexts with sources.", "preference", ("ann",)),
    ("Receipts are verified before they are filed.", "decision", ("public",)),
    ("The nightly index failed because the disk was full.", "error", ("@staff",)),
)
EXPERIENCES = (
    ("rank by words alone", "performance", "falsified", "synonyms were missed"),
    ("embed the titles", "performance", "confirmed", "the titles say what a chunk is about"),
    ("cut long pieces in the middle", "documentation", "falsified", "the end was what mattered"),
)
CONTEXT_FILE = """\
metadata: {name: Packing}
behavior_rules:
  - trigger: a budget is changed
    action: count the whole text again
injection_rules:
  - name: receipts
    condition: tool == "write_file"
    inject: [../README.md]
    priority: 5
"""


def main() -> None:
    """Make a store of a folder, and answer: `answers.py FOLDER OUT [FEW]`."""
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    few = int(sys.argv[3]) if len(sys.argv) > 3 else None
    out.mkdir(parents=True)
    with quire.open(folder, embedder=("words", embed)) as q:
        fill(q)
        for number, (name, answer) in enumerate(answers(q)):
            if few is not None and number >= few:
                break
            (out / f"{number:04d} {name}.json").write_text(answer(), "utf-8")


def fill(q: quire.Quire) -> None:
    """Index the folder, and write what is no file."""
    (q.root() / "packing.context.yaml").write_text(CONTEXT_FILE)
    q.access.set_groups({"staff": ["ann"]})
    q.access.allow("docs/explanation/**", ["ann"])
    q.index()
    for number, (text, category, share) in enumerate(MEMORIES):
        q.memories.add(text, category=category, share=share, at=NOW + number * HOUR)
    for number, (goal, domain, outcome, cause) in enumerate(EXPERIENCES):
        at = NOW + number * HOUR
        started = q.experiences.start(
            goal, domain=domain, hypothesis="it gets better", share=("public",), at=at
        )
        q.experiences.resolve(started.value.id, outcome, root_cause=cause, at=at + HOUR)
    q.blocks.put(blocks(), at=NOW)
    for number, team in enumerate(("north", "south")):
        text = f"The team of the {team} keeps receipts for {number + 1} years.\n"
        q.documents.put(
            text, path=f"teams/{team}.md", metadata={"team": team}, modified=NOW + number
        )
    rated = q.assemble(QUESTIONS[1], budget=BUDGETS[1])
    q.feedback.add(rated.receipt, useful=[rated.sources[0].chunk_id], at=NOW)


def blocks() -> list[quire.Block]:
    """Make a page with tasks, and one that few may read."""
    made = [
        quire.Block("plan", "page", "Plan of the release", created=NOW, edited=NOW),
        quire.Block("pay", "page", "Pay", access=("ann",), created=NOW, edited=NOW),
        quire.Block("sum", "paragraph", "Pay is decided in June.", "pay", created=NOW, edited=NOW),
    ]
    for number, subject in enumerate(("budget", "receipts", "ranking", "access")):
        made.append(
            quire.Block(
                f"task-{number}",
                "todo",
                f"Write the chapter on {subject}",
                "plan",
                number,
                {"status": "done" if number % 2 else "open", "due": f"2026-0{number + 1}-15"},
                created=NOW,
                edited=NOW + number,
            )
        )
    return made


def answers(q: quire.Quire) -> Iterator[tuple[str, Callable[[], str]]]:
    """Name all requests, and what answers each."""
    for name, options in requests():
        yield name, partial(context, q, **options)
    for number, question in enumerate(QUESTIONS):
        for viewer in VIEWERS:
            search = partial(q.search, question, k=20, viewer=viewer)
            yield f"search {number} {viewer}", partial(told, search)
    for domain in ("performance", "documentation"):
        yield f"premortem {domain}", partial(told, partial(q.agent.premortem, domain))
    for viewer in VIEWERS:
        yield f"roots {viewer}", partial(told, partial(q.roots, viewer))


def requests() -> Iterator[tuple[str, dict[str, Any]]]:
    """List the contexts that are asked for."""
    for number, question in enumerate(QUESTIONS):
        for recipe in PAGES:
            for budget in BUDGETS:
                for viewer in VIEWERS:
                    yield (
                        f"{recipe} {budget} {viewer} {number}",
                        {"query": question, "recipe": recipe, "budget": budget, "viewer": viewer},
                    )
        for recipe, formats in FORMATS.items():
            for form in formats:
                yield (
                    f"{recipe} {form} {number}",
                    {"query": question, "recipe": recipe, "format": form, "budget": BUDGETS[1]},
                )
        for place, variant in enumerate(VARIANTS[number % 2 :: 2]):
            shown = " ".join(f"{key} {value}" for key, value in variant.items())
            plain = "".join(letter if letter.isalnum() else " " for letter in shown)
            yield f"option {place} {plain} {number}", {"query": question, "budget": 2000, **variant}
    for tool in ("write_file", "search"):
        situation = {"tool": tool, "path": "docs/guide.md"}
        yield (
            f"situation {tool}",
            {"query": "change the budget", "recipe": "situation", "situation": situation},
        )


def context(q: quire.Quire, *, query: str, **options: Any) -> str:
    """Assemble, and write the context with its decisions and its whole receipt."""
    return told(lambda: q.assemble(query, **options))


def told(answer: Callable[[], Any]) -> str:
    """Write an answer, or the error; what ran out of time is asked again."""
    for _ in range(TRIES):
        try:
            found = answer()
        except quire.QuireError as error:
            return f"{type(error).__name__}: {error}\n"
        if not getattr(found, "failed", ()):
            break
    parts = [to_plain(found)]
    if isinstance(found, quire.Context):
        parts += [found.text, json.loads(json.dumps(found.receipt)), to_plain(found.decisions)]
        parts[0].pop("created", None)  # the day on which it was asked for
    return json.dumps(parts, indent=1, ensure_ascii=False)


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Embed by the hashes of words: it takes no model, and every machine gives the same."""
    return [
        [float(sum(column)) for column in zip(*map(_word, _words(text)), strict=True)]
        for text in texts
    ]


def _words(text: str) -> list[str]:
    return text.lower().split() or [""]


@lru_cache(maxsize=100_000)
def _word(word: str) -> tuple[int, ...]:
    return tuple(byte - 128 for byte in hashlib.blake2b(word.encode(), digest_size=DIMS).digest())


if __name__ == "__main__":
    main()
