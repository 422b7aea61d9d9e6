"""Receipts that somebody forged who knows how to compute hashes.

Every field of receipts of many kinds is altered, and every hash in the receipt is computed anew.
`quire verify` with the store catches it, or the field stands in `NOT_COVERED`, which is the table in
docs/reliability.md. What stands there is caught by a replay, unless a run of its own says the same;
a signature catches everything.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from quire import Quire, receipts, tokens
from quire.core.types import RECEIPT_PARTS, Context
from quire.errors import EmbedError, QuireError
from quire.receipts import signing
from tests.receipts.conftest import as_read
from tests.receipts.forgeries import (
    NOT_COVERED,
    QUERY,
    REQUESTS,
    forged,
    forgeries,
    with_text,
)
from tests.receipts.mutations import altered
from tests.receipts.test_tampering import content

EACH = int(os.environ.get("QUIRE_FORGERIES", "1"))
"""In how many places a field is altered in each way."""
COUNTER = tokens.open_counter("o200k")
PRIVATE_KEY = bytes(range(32))
PUBLIC_KEY = signing.public_key_of(PRIVATE_KEY)
RELIABILITY = Path(__file__).parents[2] / "docs" / "reliability.md"


class Broken:
    """An embedder that is out of order for a while."""

    model = "meaning/16"

    def embed_query(self, _: str) -> bytes:
        raise EmbedError("the model is out of order")

    def close(self) -> None: ...


def assemble(world: Quire, name: str) -> Context:
    """Make a context of a kind; one of them is made while the model is out of order."""
    embedder = world._project._embedder
    assert embedder is not None
    if "failed" in name:
        world._project._embedder = Broken()  # type: ignore[assignment]  # all that is asked of it
        world._vectors._cache._items.clear()
    try:
        return world.assemble(QUERY, **REQUESTS[name])
    finally:
        world._project._embedder = embedder


def is_listed(field: str) -> bool:
    return any(fnmatchcase(field, pattern) for patterns in NOT_COVERED for pattern in patterns)


def is_noticed_by_replay(world: Quire, false: dict[str, Any]) -> bool:
    """Tell whether a replay notices a forgery; one that a run of its own confirms is none."""
    try:
        again, differing = world.replay(false)
    except QuireError:
        return True
    return bool(differing) or content(again.receipt) == content(false)


def check_forgeries(world: Quire, name: str) -> set[str]:
    """Forge a receipt in every way; return the fields that `verify` with the store leaves open."""
    context = assemble(world, name)
    receipt = as_read(context.receipt)
    assert world.verify(receipt, context.text).binds
    signature = signing.sign(receipt, PRIVATE_KEY)
    uncovered: set[str] = set()
    tried = 0
    for forgery in forgeries(receipt, EACH):
        tried += 1
        signed = signing.check_signature(forgery.receipt, signature, key=PUBLIC_KEY)
        problems = receipts.verify(forgery.receipt, COUNTER, context=context.text).problems
        # A part that has not the hash that is signed is caught by that hash.
        unseen = not signed.problem and not (problems and forgery.place[0] in RECEIPT_PARTS)
        assert not unseen, f"{forgery.place} was forged unseen by the signature"
        if problems:
            continue
        if world.verify(forgery.receipt, context.text).problems:
            continue
        uncovered.add(forgery.field)
        assert is_listed(forgery.field), f"{name}: {forgery.place} was forged unseen, and unlisted"
        assert is_noticed_by_replay(world, forgery.receipt), forgery.place
    assert tried > 400
    return uncovered


def test_every_forgery_is_caught_or_listed(world: Quire) -> None:
    uncovered = {field for name in REQUESTS for field in check_forgeries(world, name)}
    for patterns in NOT_COVERED:
        for pattern in patterns:
            assert any(fnmatchcase(field, pattern) for field in uncovered), (
                f"{pattern} is listed, and every forgery of it is caught"
            )


def test_the_list_is_the_one_in_the_documents() -> None:
    text = RELIABILITY.read_text("utf-8")
    for patterns, reason in NOT_COVERED.items():
        fields = ", ".join(f"`{pattern}`" for pattern in patterns)
        assert f"| {fields} | {reason} |" in text


def test_the_kinds_of_receipts_are_all_there(world: Quire) -> None:
    made = {name: assemble(world, name) for name in REQUESTS}
    levels = {source.level for context in made.values() for source in context.sources}
    assert levels >= {"full", "cut", "capped", "summarized", "signature"}
    assert made["a template, summarized"].receipt["summaries"]
    assert made["a situation, judged"].receipt["verdicts"]
    assert made["json, failed"].failed


# --- the cases of the finding -------------------------------------------------------------------


def test_two_people_do_not_become_no_people(world: Quire) -> None:
    """The context altered by one word, as many tokens, and every hash computed anew."""
    context = world.assemble("how many people does a vote need", paths=["two.md"])
    text = context.text.replace("two people", "no people")
    assert text != context.text
    assert COUNTER.count(text) == context.tokens
    false = with_text(as_read(context.receipt), text)
    assert receipts.verify(false, COUNTER, context=text).problems == (), "it agrees with itself"
    assert not receipts.verify(false, COUNTER, context=text).binds
    first, *_ = world.verify(false, text)
    assert first.startswith("the context does not follow from its sources: line ")
    assert "no people" in first
    assert "two people" in first
    (without_text,) = world.verify(false)
    assert without_text == "text_hash is not of the text that follows from the sources"


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_no_byte_of_a_page_can_be_altered(world: Quire, name: str) -> None:
    context = assemble(world, name)
    receipt = as_read(context.receipt)
    for place in range(0, len(context.text), 1 + len(context.text) // 12):
        letter = "x" if context.text[place] != "x" else "y"
        text = context.text[:place] + letter + context.text[place + 1 :]
        assert world.verify(with_text(receipt, text), text), place


def test_another_viewer_budget_question_and_score_are_noticed(world: Quire) -> None:
    context = world.assemble(QUERY, budget=900)
    receipt = as_read(context.receipt)
    viewer = forged({**receipt, "viewer_hash": "0" * 64})
    assert "it was made for another viewer than the one who reads here" in [*world.verify(viewer)]
    budget = as_read(receipt)
    budget["recipe"]["budget"]["total"] += 100
    budget["available"] += 100
    assert world.replay(forged(budget))[1]
    question = as_read(receipt)
    question["request"]["query"] = "who is paid what"
    assert world.replay(forged(question))[1]
    score = as_read(receipt)
    score["sources"][0]["score"] += 1
    for decision in score["decisions"]:
        if decision["chunk_id"] == score["sources"][0]["chunk_id"]:
            decision["score"] += 1
    assert world.replay(forged(score))[1]


def test_a_receipt_of_another_store_does_not_hold_here(world: Quire, tmp_path: Path) -> None:
    import quire

    (tmp_path / "quire.toml").write_text('[embed]\nprovider = "none"\n', "utf-8")
    (tmp_path / "other.md").write_text("A vote of another store needs a quorum.\n", "utf-8")
    with quire.open(tmp_path) as other:
        other.index()
        context = other.assemble("vote quorum")
        assert other.verify(context.receipt, context.text).binds
        wrong = world.verify(context.receipt, context.text)
        assert "the receipt is of another store" in " ".join(wrong)
        signed = world.verify(context.receipt, context.text, signature=other.sign(context.receipt))
        assert signed.holds
        assert "the receipt is of another store" in " ".join(signed.not_checked)


# --- what a replay makes again ------------------------------------------------------------------


def test_a_steered_vector_is_caught(world: Quire) -> None:
    receipt = as_read(world.assemble(QUERY).receipt)
    vector = bytearray.fromhex(receipt["query_vector"])
    vector[0] = (vector[0] + 1) % 128
    assert world.replay(forged({**receipt, "query_vector": vector.hex()}))[1] != [
        f"the vector of {QUERY!r} is not the one that its model makes"
    ], "processors round differently"
    vector[0] = (vector[0] + 60) % 128
    _, differing = world.replay(forged({**receipt, "query_vector": vector.hex()}))
    assert f"the vector of {QUERY!r} is not the one that its model makes" in differing


def test_an_invented_failure_is_caught(world: Quire) -> None:
    receipt = as_read(world.assemble(QUERY, format="json").receipt)
    false = forged({**receipt, "failed": [{"source": "lexical", "reason": "down"}]})
    _, differing = world.replay(false)
    assert any(text.startswith("failed: ") for text in differing)


def test_a_verdict_is_taken_from_the_receipt_unless_the_judge_is_asked(world: Quire) -> None:
    context = assemble(world, "a situation, judged")
    receipt = as_read(context.receipt)
    again, differing = world.replay(receipt)
    assert differing == []
    assert any("verdicts of the judge" in note for note in again.notes)
    (name,) = receipt["verdicts"]
    false = forged(altered(receipt, ("verdicts", name, "reason"), "by somebody else"))
    assert world.replay(false, ask_models=True)[1]
    assert any("verdicts of the judge" in text for text in world.verify(false).not_checked)


def test_an_older_pipeline_is_checked_without_rendering(world: Quire) -> None:
    context = world.assemble(QUERY)
    older = forged({**as_read(context.receipt), "pipeline": 2})
    verified = world.verify(older, context.text)
    assert (verified.problems, verified.binds) == ((), False)
    assert any("version 2 of the pipeline made it" in text for text in verified.not_checked)
