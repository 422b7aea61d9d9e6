"""Check a receipt against itself: what follows from other parts of it is computed again.

Each check yields one sentence for what is wrong. A check reads the receipt in today's form; hashes
are computed over the fields that the receipt was written with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from quire.core import merkle
from quire.core.types import FULL
from quire.receipts import proof_encoding
from quire.receipts import receipt as receipts
from quire.receipts.canonical import data_hash
from quire.receipts.parts import EXCLUDED, PROOFS, all_decisions, parts_of
from quire.receipts.written import INCLUDED

FIT = "fit"
"""The step that includes a candidate."""
STEPS = ("rank", "relevance", "depth", "dedup", "group", "pack")
"""The steps that drop one."""
SHOWN_SINCE = 3
"""Since this version of the pipeline a source records how it is shown."""
_CHUNK_FIELDS = ("chunk_id", "record_id", "path", "lines", "title")
_DECISION_FIELDS = ("path", "lines", "tokens", "score")
_LEAF_FIELDS = ("id", "record_id", "kind", "path", "title", "sequence", "start", "end", "lines")

Data = Mapping[str, Any]
ENTITY_FORMATS = ("markdown", "xml", "plain")
LISTS_END = 3
"""The version of the pipeline from which on a list of entities with some left out is truncated."""


def check_hashes(receipt: Data) -> Iterator[str]:
    """Compute the hashes again, over the fields that the receipt was written with."""
    if receipts.receipt_hash(receipt) != receipt["hash"]:
        yield "the receipt was altered: its hash does not match"
    for part in ("request", "recipe"):
        if data_hash(receipt[part]) != receipt[f"{part}_hash"]:
            yield f"the {part} was altered: its hash does not match"
    for part, value in parts_of(receipt).items():
        named = receipt.get("parts", {}).get(part)
        if named is not None and data_hash(value) != named["hash"]:
            yield f"the part {part} was altered: its hash does not match"


def check_sums(receipt: Data) -> Iterator[str]:
    """Add up again what follows from other parts."""
    budget = receipt["recipe"]["budget"]
    tokens, available = receipt["tokens"], receipt["available"]
    verdicts = [decision["verdict"] for decision in receipt["decisions"]]
    omitted = receipt["omitted"]
    if receipt[EXCLUDED] is not None:
        omitted = sum(decision["step"] == "pack" for decision in receipt[EXCLUDED])
    skips = budget["overflow"] == "skip" or receipt["recipe"]["fit"]["pack"] == "optimal"
    lists_entities = receipt["recipe"]["render"]["format"] in ENTITY_FORMATS
    is_list = lists_entities and receipt["pipeline"] >= LISTS_END
    may_stop = not budget["hard"] or not skips or is_list
    expected: dict[str, Any] = {
        "available": budget["total"] - sum(budget["reserved"].values()),
        "content_tokens": sum(source["tokens"] for source in receipt["sources"]),
        "limit_exceeded": max(0, tokens - available),
        "omitted": omitted,
        "truncated": "cut" in verdicts or (may_stop and omitted > 0),
        "counter": receipt["request"]["model"],
    }
    counts = {PROOFS: len(receipt["sources"])}
    if receipt[EXCLUDED] is not None:
        counts[EXCLUDED] = len(receipt[EXCLUDED])
    for name, count in counts.items():
        if receipt["parts"][name]["count"] != count:
            yield f"the part {name} has {count} entries, not {receipt['parts'][name]['count']}"
    for name, value in expected.items():
        if receipt[name] != value:
            yield f"{name} is {receipt[name]}, but {value} follows from the rest of the receipt"
    if budget["hard"] and tokens > available:
        yield f"{tokens} tokens exceed the budget of {available}"


def check_sources(receipt: Data) -> Iterator[str]:
    """Compare the sources with their chunks, and with the decision on each."""
    names = [decision["chunk_id"] for decision in all_decisions(receipt)]
    if len(set(names)) != len(names):
        yield "there are two decisions on one candidate"
    included = {decision["chunk_id"]: decision for decision in receipt["decisions"]}
    sources = receipts.chunk_ids(receipt)
    proved = sources if receipt[PROOFS] is None else receipt[PROOFS]["chunks"]
    if sorted(sources) != sorted(included) or set(proved) != set(sources):
        yield "sources, decisions and proofs do not name the same pieces"
        return
    for source in receipt["sources"]:
        chunk = {**source["chunk"], "chunk_id": source["chunk"]["id"]}
        if any(source[name] != chunk[name] for name in _CHUNK_FIELDS):
            yield f"{source['path']}: the source does not match its chunk"
        decision = included[source["chunk_id"]]
        if any(source[name] != decision[name] for name in _DECISION_FIELDS):
            yield f"{source['path']}: the source does not match its decision"
        if receipt["pipeline"] >= SHOWN_SINCE and (
            (source["level"] == FULL) != (decision["verdict"] == "kept")
        ):
            yield f"{source['path']}: shown {source['level']}, but {decision['verdict']}"


def check_decisions(receipt: Data) -> Iterator[str]:
    """Check that the decisions agree with their steps, with the scores and with what was asked."""
    inside = len(receipt["decisions"])
    for place, decision in enumerate(all_decisions(receipt)):
        if not (
            decision["step"] == FIT and decision["verdict"] in INCLUDED
            if place < inside
            else decision["verdict"] == "dropped" and decision["step"] in STEPS
        ):
            yield (
                f"{decision['path']}: no step {decision['step']!r} decides {decision['verdict']!r}"
            )
        elif decision["tokens"] < 0:
            yield f"{decision['path']}: {decision['tokens']} tokens"
    yield from _check_order(receipt)
    for name, of in (("judge", "verdicts"), ("writer", "summaries")):
        if receipt[of] and not receipt[name]:
            yield f"there are {of}, but no {name}"
    vectors = [receipt["query_vector"], *receipt["section_vectors"].values()]
    if receipt["embedder"] is None and any(vector is not None for vector in vectors):
        yield "there is a vector of the query, but no embedder"


def _check_order(receipt: Data) -> Iterator[str]:
    """Check the order of scores, where the recipe ranks by nothing else."""
    recipe = receipt["recipe"]
    if recipe["sections"] or recipe["fit"]["same_path"] == "demote":
        return  # sections have rankings of their own; a demoted piece had another score
    by_step = {
        step: [item["score"] for item in all_decisions(receipt) if item["step"] == step]
        for step in (FIT, *STEPS)
    }
    ordered = ["rank", "depth"]
    if recipe["fit"]["pack"] == "score_weighted":
        ordered += [FIT, "pack"]
    for step in ordered:
        if any(first < second for first, second in pairwise(by_step[step])):
            yield f"the decisions of the step {step!r} are not in the order of their scores"
    # Whoever ranked behind the limit, or behind what fills the budget, has no better score.
    ahead = [by_step[step] for step in (FIT, "pack", "group", "dedup")]
    for step in ("depth", "rank"):
        scores = by_step[step]
        if scores and any(min(better) < max(scores) for better in ahead if better):
            yield f"a candidate that the step {step!r} dropped has a better score than others"
        ahead.append(scores)


def check_proofs(receipt: Data) -> Iterator[str]:
    """Follow the proof of each source up to the root of the content."""
    for source in receipt["sources"] if receipt[PROOFS] is not None else ():
        chunk, leaf = source["chunk"], leaf_of(source)
        proof = proof_encoding.proof_of(receipt, chunk["id"])
        key = bytes.fromhex(chunk["id"])
        if not merkle.verify_leaf(proof, key, leaf, receipt["content_root"]):
            yield f"{source['path']}: not proved to be under the root {receipt['content_root']}"
        elif merkle.top_nodes(proof) != proof_encoding.top_of(receipt, chunk["id"]):
            yield f"{source['path']}: the nodes above it are not those of its proof"


def leaf_of(source: Data) -> bytes:
    """Return the hash of the leaf that a source's chunk is in the tree."""
    chunk = {**source["chunk"], "lines": tuple(source["chunk"]["lines"])}
    return merkle.chunk_leaf_hash(
        tuple(chunk[name] for name in _LEAF_FIELDS), bytes.fromhex(chunk["text_hash"])
    )


def check_written_form(receipt: Data) -> Iterator[str]:
    """Check that each hash is written in its one form: two forms would be two receipts."""
    for name in ("view_root", "content_root", "viewer_hash", "text_hash"):
        if not _is_hash(receipt[name]):
            yield f"{name} is not a hash"
    for name, part in receipt["parts"].items():
        if not _is_hash(part["hash"]):
            yield f"the hash of the part {name} is not a hash"
    for text in () if receipt[PROOFS] is None else _proof_hashes(receipt[PROOFS]):
        if text != text.lower():
            yield f"a hash of the proofs is written in capital letters: {text}"
            return


def _is_hash(text: str) -> bool:
    return len(text) == _HASH_DIGITS and set(text) <= _DIGITS


_HASH_DIGITS = 64
_DIGITS = frozenset("0123456789abcdef")


def _proof_hashes(proofs: Data) -> Iterator[str]:
    yield from proofs["classes"]
    for top in proofs["tops"].values():
        yield from (value for _, value in top)
    for own in proofs["chunks"].values():
        yield own["leaf"]
        yield from (text for pair in own["bucket"] for text in pair)
        yield from (value for _, value in own["nodes"])


_SHOWN = 76
"""Characters of a line that a message quotes."""


def first_difference(given: str, rebuilt: str) -> str:
    """Describe the first line in which two texts differ."""
    one, other = given.split("\n"), rebuilt.split("\n")
    place = next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return f"line {place + 1} is {_line(one, place)}, but its sources give {_line(other, place)}"


def _line(lines: Sequence[str], place: int) -> str:
    if place >= len(lines):
        return "not there"
    line = lines[place]
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…")
