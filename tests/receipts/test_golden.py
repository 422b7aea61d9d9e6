"""Receipts of every version of the schema are read, verified, compared and replayed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from quire import Quire, receipts, tokens
from quire import open as open_quire
from quire.errors import InputError
from quire.indexing import audit
from quire.receipts.canonical import data_hash
from quire.receipts.parts import PARTS_SINCE
from quire.receipts.receipt import PIPELINE
from quire.receipts.schema import UPGRADES, VERSION, json_schema
from tests.conftest import Tree
from tests.receipts.golden import make

GOLDEN = Path(make.__file__).parent
FILES = sorted(GOLDEN.glob("v*/*.json"))
VERSIONS = range(1, VERSION + 1)
COUNTER = tokens.open_counter("o200k")


def load(file: Path) -> tuple[dict[str, Any], str]:
    """Parse a golden receipt with its parts, and read its context."""
    parts = file.with_suffix(".json.parts")
    written = parts.read_text("utf-8") if parts.exists() else None
    receipt = audit.parse_with_parts(file.read_text("utf-8"), written)
    return receipt, file.with_suffix(".txt").read_text("utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    """The project that the golden receipts are of, indexed by today's code."""
    folder = tmp_path_factory.mktemp("golden")
    make.make_project(folder)
    with open_quire(folder) as opened:
        yield opened


golden = pytest.mark.parametrize(
    "file", FILES, ids=[f"{file.parent.name}/{file.stem}" for file in FILES]
)


def test_every_version_has_golden_receipts() -> None:
    assert {file.parent.name for file in FILES} == {f"v{version}" for version in VERSIONS}
    for version in VERSIONS:
        assert {file.stem for file in FILES if file.parent.name == f"v{version}"} == set(
            make.REQUESTS
        )
    assert sorted(UPGRADES) == [*VERSIONS][:-1]


@golden
def test_a_golden_receipt_holds(file: Path) -> None:
    receipt, text = load(file)
    assert receipt["version"] == int(file.parent.name[1:])
    assert audit.verify_receipt(receipt, text).problems == ()
    today = receipts.read(receipt)
    assert today["version"] == VERSION
    assert today["pipeline"] >= 1
    assert audit.chunk_ids(receipt) == [source["chunk_id"] for source in today["sources"]]


@golden
def test_a_golden_receipt_holds_without_its_parts(project: Quire, file: Path) -> None:
    receipt, text = load(file)
    viewer = make.REQUESTS[file.stem][-1] if "--viewer" in make.REQUESTS[file.stem] else None
    compact = audit.compact_receipt(receipt)
    assert receipts.receipt.receipt_hash(compact) == receipt["hash"]
    assert project.verify(compact, text, viewer).problems == ()
    assert audit.diff_receipts(compact, receipt) == audit.diff_receipts(receipt, compact) == []
    if receipt["version"] >= PARTS_SINCE:
        assert audit.parse_receipt(file.read_text("utf-8")) == compact
        assert "proofs" not in compact


@golden
def test_a_golden_receipt_with_one_altered_byte_does_not(file: Path) -> None:
    receipt, text = load(file)
    data = text.encode()
    for place in (0, len(data) // 2, len(data) - 1):
        other = bytearray(data)
        other[place] ^= 1
        altered = other.decode("utf-8", "surrogateescape")
        assert audit.verify_receipt(receipt, altered), place
    written = file.read_text("utf-8")
    for before, after in (
        (f'"tokens":{receipt["tokens"]}', f'"tokens":{receipt["tokens"] + 1}'),
        (receipt["hash"], receipt["hash"][:-1] + ("0" if receipt["hash"][-1] != "0" else "1")),
        ('"verdict":"kept"', '"verdict":"cept"'),
    ):
        assert before in written
        assert audit.verify_receipt(json.loads(written.replace(before, after, 1)), text)


@golden
def test_a_golden_receipt_verifies_and_replays_in_its_project(project: Quire, file: Path) -> None:
    receipt, text = load(file)
    viewer = make.REQUESTS[file.stem][-1] if "--viewer" in make.REQUESTS[file.stem] else None
    assert project.verify(receipt, text, viewer).problems == ()
    context, differing = project.replay(receipt, viewer)
    if receipts.read(receipt)["pipeline"] == PIPELINE:
        assert (context.text, differing) == (text, []), "raise PIPELINE if this change is meant"
    elif context.text != text:
        assert differing[0].startswith("pipeline: ")


@pytest.mark.parametrize("name", sorted(make.REQUESTS))
def test_receipts_of_two_versions_are_compared(name: str) -> None:
    first, _ = load(GOLDEN / "v1" / f"{name}.json")
    for version in VERSIONS:
        other, _ = load(GOLDEN / f"v{version}" / f"{name}.json")
        assert audit.diff_receipts(first, other) == []
        assert audit.diff_receipts(other, first) == []
    other, _ = load(GOLDEN / f"v{VERSION}" / "documents.json")
    if name != "documents":
        assert any(change.startswith("recipe.") for change in audit.diff_receipts(first, other))


def test_a_newer_version_is_refused_by_name(tree: Tree) -> None:
    receipt, text = load(FILES[-1])
    newer = {**receipt, "version": VERSION + 1, "news": {}}
    said = f"written by a newer Quire: it has version {VERSION + 1}, and this one reads"
    with pytest.raises(InputError, match=said):
        audit.parse_receipt(json.dumps(newer))
    with pytest.raises(InputError, match=said):
        audit.diff_receipts(newer, receipt)
    (wrong,) = audit.verify_receipt(newer, text)
    assert said in wrong
    tree.write("r.json", json.dumps(newer))
    done = tree.call("verify", "r.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.parametrize("version", [0, -1, None, "1", 1.0, True, []])
def test_what_is_no_version_is_refused(version: object) -> None:
    receipt, _ = load(FILES[0])
    with pytest.raises(InputError, match="the receipt is malformed: version is"):
        audit.diff_receipts({**receipt, "version": version}, receipt)


def test_fields_with_a_default_may_be_missing_and_no_others() -> None:
    receipt, text = load(GOLDEN / f"v{VERSION}" / "documents.json")
    older = json.loads(json.dumps(receipt))
    del older["request"]["base"], older["recipe"]["fit"]["fuzzy"], older["sources"][0]["section"]
    for part in ("request", "recipe"):
        older[f"{part}_hash"] = data_hash(older[part])
    older["hash"] = receipts.receipt.receipt_hash(older)
    assert audit.verify_receipt(older, text).problems == ()
    assert audit.diff_receipts(older, receipt) == []
    for path in (["request", "query"], ["recipe", "name"], ["tokens"], ["pipeline"]):
        broken = json.loads(json.dumps(receipt))
        inner = broken
        for name in path[:-1]:
            inner = inner[name]
        del inner[path[-1]]
        with pytest.raises(InputError, match=f"{'.'.join(path)} is missing"):
            receipts.read(broken)


def test_another_pipeline_is_a_difference_between_receipts_but_not_in_a_replay(
    project: Quire,
) -> None:
    receipt = dict(project.assemble("quorum vote").receipt)
    newer = {**receipt, "pipeline": PIPELINE + 1}
    assert audit.diff_receipts(receipt, newer) == [f"pipeline: {PIPELINE} -> {PIPELINE + 1}"]
    newer["hash"] = receipts.receipt.receipt_hash(newer)
    refused, difference = project.replay(newer)[1]
    assert refused.startswith("a newer Quire made it: ")
    assert difference == f"pipeline: {PIPELINE + 1} -> {PIPELINE}"


@pytest.mark.parametrize(
    "file", sorted(GOLDEN.glob(f"v{VERSION}/*.json")), ids=lambda each: each.name
)
def test_the_json_schema_describes_a_receipt(file: Path) -> None:
    checker = jsonschema.Draft202012Validator(json_schema())
    written = json.loads(file.read_text("utf-8"))
    checker.validate(written | {"created": "2026-01-31T12:00:00+00:00"})
    checker.validate(load(file)[0])  # with its parts
    wrongs: list[dict[str, Any]] = [
        {"tokens": "12"},
        {"version": VERSION - 1},
        {"more": 1},
        {"sources": [{}]},
    ]
    for wrong in wrongs:
        assert not checker.is_valid(written | wrong), wrong
    assert not checker.is_valid({name: each for name, each in written.items() if name != "hash"})
