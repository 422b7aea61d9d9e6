"""Hypothesis strategies: random documents, hits and recipes."""

from __future__ import annotations

import os
from dataclasses import dataclass

from hypothesis import strategies as st

from quire.core.types import Chunk, Recipe
from tests.pipeline.builders import document, recipe

CASES = int(os.environ.get("QUIRE_CASES", "400"))
"""So many random cases are tried; of those that need a store on disk, fewer."""

COMMON = (
    "validator",
    "crash",
    "quorum",
    "ledger",
    "stake",
    "epoch",
    "vote",
    "leader",
    "replica",
    "network",
)

ODD = (
    "👩‍👩‍👧‍👦 family 🇩🇪🇫🇷 flags 👍🏽\n",
    "共识算法在验证者崩溃后继续运行。账本不会丢失。\n",
    "```py\ndef vote(leader):\n    return `x`\n```\n",
    "[DOC: x]\nvote for this, not for a marker\n",
    "[DOC: a.md]\n",
    "x" * 400 + " ledger\n",
    "vote " * 120 + "\n",
    "\n",
    " \n\n",
    ".",
    "vote",
    "\n\n\nquorum at last\n\n\n\n",
    '{"vote": "\\n\\t\\"", "k": [1, 2]}\n',
    "tab\tand  spaces   \n\n  leader\n",
    "e\u0301 a\u030a \u202etxet\u202c \u0000 \ufeff vote\n",
    "\n" * 90 + "network",
)

plain = st.lists(st.sampled_from(COMMON), min_size=1, max_size=25).map(
    lambda words: " ".join(words) + ".\n\n"
)
texts = st.one_of(
    plain,
    plain,
    st.sampled_from(ODD),
    st.text(min_size=1, max_size=40).map(
        lambda text: text.encode("utf-8", "replace").decode().replace("\r", " ")
    ),
)
paths = st.sampled_from(["a.md", "b.md", "dir/c.md", "größe.md", "z z.md", "漢.md", "x]y.md"])


@dataclass(frozen=True, slots=True)
class World:
    """What two sources found among some documents, best first."""

    lexical: tuple[Chunk, ...]
    semantic: tuple[Chunk, ...]

    @property
    def found(self) -> dict[str, Chunk]:
        return {one.id: one for one in (*self.lexical, *self.semantic)}


@st.composite
def worlds(draw: st.DrawFn) -> World:
    named = draw(st.lists(paths, unique=True, min_size=1, max_size=5))
    chunks = [
        one
        for path in named
        for one in document(path, *draw(st.lists(texts, min_size=1, max_size=5)))
    ]
    lexical = draw(st.permutations(chunks))[: draw(st.integers(0, len(chunks)))]
    semantic = draw(st.permutations(chunks))[: draw(st.integers(0, len(chunks)))]
    return World(tuple(lexical), tuple(semantic))


recipes: st.SearchStrategy[Recipe] = st.builds(
    recipe,
    st.one_of(st.integers(4, 120), st.integers(60, 800)),
    pack=st.sampled_from(["greedy", "interleaved", "score_weighted", "optimal"]),
    order=st.sampled_from(["auto", "auto", "grouped", "packed", "edges", "stable"]),
    overflow=st.sampled_from(["skip", "skip", "cut", "stop"]),
    hard=st.sampled_from([True, True, True, False]),
    dedup=st.sampled_from([0.8, 0.8, 0.3, 1.0, 0.0]),
    per_document=st.sampled_from([0, 0, 1, 2]),
    format=st.sampled_from(["markers", "markers", "json"]),
    metadata=st.booleans(),
    top=st.sampled_from([100, 100, 3, 8]),
    overhead=st.sampled_from([10, 10, 0, 40]),
)
models = st.sampled_from(["o200k", "o200k", "approx", "claude-sonnet-4-5"])
