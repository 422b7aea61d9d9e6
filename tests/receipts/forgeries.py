"""Receipts of many kinds, forged as somebody would who knows how to compute hashes.

`NOT_COVERED` is the list of what `quire verify` cannot tell with the store at hand; it stands in
docs/reliability.md as well. A signature covers every byte.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import quire
from quire import Block, Quire
from quire.core import hashing
from quire.core.types import Context
from quire.receipts.canonical import data_hash
from quire.receipts.parts import named_by
from quire.receipts.receipt import receipt_hash
from tests.conftest import trust
from tests.pipeline.builders import Meaning
from tests.receipts.mutations import Path as Place
from tests.receipts.mutations import alterations
from tests.serving import VARIABLE, Endpoint, Reply, said

QUERY = "quorum vote of the validators"
LONG = " ".join(
    f"Sentence {number} of the minutes: the quorum took vote {number} without a word."
    for number in range(60)
)
FILES = {
    "quire.toml": "",
    "two.md": "# People\n\nA vote needs two people, and a quorum.\n\n## Void\n\nNo quorum, no vote.\n",
    "minutes.md": f"# Minutes\n\n{LONG}\n",
    "count.py": (
        '"""Count votes."""\n\n\ndef count_votes(votes, quorum):\n'
        '    """Count the votes of the validators, if there is a quorum."""\n'
        + "".join(f"    votes += {number}  # a vote\n" for number in range(40))
        + "    return votes if votes >= quorum else None\n"
    ),
    "CLAUDE.md": "# Rules of the vote\n\nA quorum must be counted before a vote.\n",
    "guides/void.md": "# Void votes\n\nA vote without a quorum is void.\n",
    "votes.context.md": (
        "---\nmetadata: {name: Votes, type: module}\nbehavior_rules:\n"
        "  - {trigger: a vote is counted, action: count the quorum first}\n"
        "injection_rules:\n"
        "  - {name: void, condition: void votes are involved, inject: [/guides/void.md]}\n"
        "---\nVotes are whole.\n"
    ),
}


def answer(question: dict[str, Any]) -> Reply:
    """Answer as a judge or as a writer."""
    asked = json.dumps(question)
    if "Statements" in asked:
        return said("openai", "verdicts", [{"number": 1, "applies": True}])
    from tests.llm.test_writer import tasks_in

    entries = [{"number": task["number"], "text": "A quorum voted."} for task in tasks_in(question)]
    return said("openai", "texts", entries)


def make_world(root: Path, endpoint: Endpoint) -> Quire:
    """Make a project with documents, code, rules, blocks and memories, a judge and a writer."""
    settings = "".join(
        f'[{name}]\nprovider = "llm"\nmodel = "small"\nurl = "{endpoint.url}"\n'
        f'key_env = "{VARIABLE}"\n'
        for name in ("judge", "writer")
    )
    for name, text in {**FILES, "quire.toml": settings}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    trust(root)
    opened = quire.open(root)
    opened._project._embedder = Meaning()
    opened.blocks.put(
        [
            Block("plan", "page", "Plan of the vote", access=("public",)),
            Block("long", "paragraph", LONG, "plan", 0),
            Block("short", "paragraph", "Two people are a quorum.", "plan", 1),
        ],
        at=1_780_000_000,
    )
    for text in ("The quorum is two people.", "A vote of the validators is final."):
        opened.memories.add(text, at=1_780_000_000)
    long = "The quorum of the validators: " + "a vote is counted once, and never twice. " * 20
    opened.memories.add(long, at=1_780_000_001)
    opened.index()
    return opened


NOT_COVERED: dict[tuple[str, ...], str] = {
    ("request.*",): "another question, filter or date: the page does not show them. `replay` "
    "notices, unless that request gives this very context",
    ("recipe.*",): "a setting that changes no byte of this page, such as a weight. `replay` "
    "notices, unless that recipe gives this very context",
    (
        "decisions.*",
        "excluded*",
    ): "the signals behind a score, and the record of candidates that were left "
    "out. `replay` notices",
    ("embedder", "query_vector"): "the query's vector and its model. `replay` makes it again",
    ("failed.*",): "which sources failed, and why. `replay` asks again",
    ("judge", "verdicts.*", "writer"): "what a language model said, as far as the page does not "
    "show it. `replay --ask-models` asks again",
    ("view_root",): "the state: `verify` says that this is another one, as after any change",
}
"""Fields of which some forgery is not caught by `verify` with the store, and why."""

REQUESTS: dict[str, dict[str, Any]] = {
    "documents, cut": {"budget": 300, "reserve": {"answer": 5}, "overflow": "cut"},
    "entities, levels": {
        "recipe": "entities", "budget": 96, "format": "xml", "paths": ["*.py", "two.md"],
        "levels": ["full", "signature", "outline"],
    },
    "plain, sources": {"recipe": "entities", "budget": 400, "format": "plain", "overflow": "cut"},
    "a page": {"recipe": "agent", "budget": 400},
    "a template, summarized": {
        "recipe": "workspace", "focus": "long", "budget": 400, "cut": "summarize",
        "shares": {"focus": 300, "semantic": 60, "relations": 0, "activity": 0},
    },
    "a situation, judged": {
        "recipe": "situation", "budget": 400, "situation": {"tool": "edit"},
        "base": "votes.context.md",
    },
    "json, failed": {"budget": 300, "reserve": {}, "format": "json"},
}  # fmt: skip
"""A context of each kind that a receipt can be of."""


@dataclass(frozen=True)
class Forgery:
    """A receipt that was altered in one place, with all of its hashes computed anew."""

    field: str
    place: Place
    receipt: Any


def forged(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Compute all hashes of an altered receipt anew."""
    other: dict[str, Any] = copy.copy(dict(receipt))
    try:
        for part in ("request", "recipe"):
            other[f"{part}_hash"] = data_hash(other[part])
        other["hash"] = receipt_hash(other)
        other["parts"] = named_by(other["excluded"], other["proofs"])
        other["hash"] = receipt_hash(other)
    except (KeyError, TypeError, AttributeError):
        pass
    return other


def with_text(receipt: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Give a receipt another text, with all of its hashes."""
    return forged({**receipt, "text_hash": hashing.text_hash(text).hex()})


NAMED = {
    "proofs": {"classes", "tops", "chunks", "leaf", "bucket", "nodes", "class"},
    "verdicts": {"applies", "reason"},
}
"""Fields of parts that are maps: every other name in them stands for any."""
MAPS = (
    "signals", "verdicts", "summaries", "section_vectors", "options", "reserved", "weights",
    "lifts", "intents", "types",
)  # fmt: skip


def field_of(place: Place) -> str:
    """Return the name of the field at a place: `sources.*.tokens`."""
    parts: list[str] = []
    for number, part in enumerate(place):
        above = str(place[number - 1]) if number else ""
        named = NAMED.get(str(place[0]), set())
        in_map = above in MAPS or (place[0] == "recipe" and above == "sources")
        any_name = (place[0] in NAMED and number and part not in named) or in_map
        parts.append("*" if isinstance(part, int) or any_name else part)
    return ".".join(parts)


def forgeries(receipt: Mapping[str, Any], each: int) -> Iterator[Forgery]:
    """Alter every field of a receipt in every way, each way in a few of its places."""
    tried: dict[tuple[str, str], int] = {}
    for place, other in alterations(receipt):
        if not isinstance(other, dict) or not place:
            continue
        field = field_of(place)
        value: Any = other
        for part in place:
            value = value[part]
        way = (field, f"{type(value).__name__} {str(value)[:3] if value is None else ''}")
        tried[way] = tried.get(way, 0) + 1
        if tried[way] > each:
            continue
        false = forged(other)
        if json.dumps(false, sort_keys=True) != json.dumps(receipt, sort_keys=True):
            yield Forgery(field, place, false)


def make_contexts(world: Quire) -> dict[str, Context]:
    """Make one context of each kind."""
    return {name: world.assemble(QUERY, **options) for name, options in REQUESTS.items()}
