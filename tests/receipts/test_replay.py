"""A replay gives the same bytes, or says exactly what differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quire import AccessRule, Quire
from quire.core.types import Options
from quire.errors import InputError
from quire.indexing.audit import diff_receipts
from tests.conftest import Tree
from tests.pipeline.builders import Broken, Meaning
from tests.pipeline.conftest import opened
from tests.pipeline.digest import requests
from tests.receipts.conftest import QUERY, as_read


def test_replay_gives_the_same_bytes(library: Quire) -> None:
    for query, options in requests():
        context = library.assemble(query, **options)
        again, differing = library.replay(as_read(context.receipt), options.get("viewer"))
        assert differing == []
        assert again.text == context.text
        assert again.receipt == context.receipt
        assert again is not context


def test_replay_needs_no_model(project: Quire) -> None:
    context = project.assemble(QUERY)
    assert context.receipt["query_vector"] is not None
    project._vectors._cache._items.clear()
    embedder = Broken()
    project._project._embedder = embedder
    again, differing = project.replay(context.receipt)
    assert (differing, again.text) == ([], context.text)
    assert embedder.asked == [QUERY], "it is asked once, to compare"
    assert again.notes[-1] == (
        "the vector of 'quorum vote' is taken from the receipt: the model is out of order"
    )


def test_replay_does_not_ask_another_model_that_is_configured(project: Quire) -> None:
    context = project.assemble(QUERY)
    project._vectors._cache._items.clear()
    project._project._embedder = Meaning("another/16")
    assert project.assemble(QUERY, budget=3000).failed, "asking anew would fail"
    assert project.replay(context.receipt)[1] == []


@pytest.mark.parametrize("dims", [16, 8])
def test_replay_in_a_store_of_another_model_says_so(project: Quire, dims: int) -> None:
    context = project.assemble(QUERY)

    class Other(Meaning):
        def __init__(self) -> None:
            super().__init__("another/8")
            self.dims = dims

        def _vector(self, text: str) -> bytes:
            return super()._vector(text)[:dims]

    project._project._embedder = Other()
    project.index(reembed=True)
    again, differing = project.replay(context.receipt)
    assert "embedder: meaning/16 -> another/8" in differing
    assert any(text.startswith("view_root: ") for text in differing)
    assert not any(text.startswith("content_root: ") for text in differing)
    assert not again.failed


def test_a_failure_is_replayed_as_recorded(project: Quire) -> None:
    working = project._project._embedder
    project._project._embedder = Broken()
    context = project.assemble(QUERY)
    assert context.failed
    project._project._embedder = working
    again, differing = project.replay(as_read(context.receipt), keep_failures=True)
    assert differing == []
    assert again.failed == context.failed
    assert again.receipt == context.receipt
    assert not project.assemble(QUERY).failed, "what was replayed is not kept for others"


def test_a_context_without_vectors_is_replayed_after_embedding(tree: Tree) -> None:
    tree.write("a.md", "The quorum takes a vote.\n")
    with opened(tree) as found:
        found.index(embed=False)
        context = found.assemble(QUERY)
        assert found.replay(context.receipt)[1] == []
        found.index()
        again, differing = found.replay(context.receipt)
    assert again.text == context.text
    assert any(text.startswith("embedder: None -> meaning/16") for text in differing)


def test_replay_says_what_a_change_of_the_store_has_changed(project: Quire, tree: Tree) -> None:
    options: Options = {"budget": 70, "reserve": {}}
    context = project.assemble(QUERY, **options)
    paths = [source.path for source in context.sources]
    left = [one.path for one in context.decisions if one.step == "pack"]
    assert left
    tree.remove(paths[0])
    tree.write("new.md", "quorum vote quorum vote\n")
    project.index()
    again, differing = project.replay(context.receipt)
    roots = [text.split(":")[0] for text in differing]
    assert roots[:2] == ["view_root", "content_root"]
    before, after = context.receipt["view_root"], again.receipt["view_root"]
    assert differing[0] == f"view_root: {before} -> {after}"
    assert f"gone: {paths[0]}:1-{context.sources[0].lines[1]} (no longer found)" in differing
    assert "new: new.md:1-1 (before: not found)" in differing
    for path in left:
        if path in {source.path for source in again.sources}:
            assert any(
                text.startswith(f"new: {path}:") and "pack: does not fit" in text
                for text in differing
            )


def test_replay_says_why_a_piece_is_gone(project: Quire, tree: Tree) -> None:
    options: Options = {"budget": 30, "reserve": {}}
    context = project.assemble(QUERY, **options)
    (source,) = context.sources
    tree.write("a first.md", "quorum vote, quorum vote\n")
    project.index()
    again, differing = project.replay(context.receipt)
    assert source.chunk_id not in [one.chunk_id for one in again.sources]
    (gone,) = (text for text in differing if text.startswith("gone: "))
    assert gone.startswith(f"gone: {source.path}:")
    assert "(pack: does not fit: " in gone


def test_a_receipt_of_another_viewer_is_said_to_be_one(project: Quire) -> None:
    context = project.assemble(QUERY, viewer="alice")
    assert "hr/c.md" in context.text
    assert project.replay(context.receipt, "alice")[1] == []
    again, differing = project.replay(context.receipt, "bob")
    assert "hr/c.md" not in again.text
    assert differing[0] == "they are of two viewers, who may read different things"
    gone = [text for text in differing if text.startswith("gone: ")]
    assert gone == ["gone: hr/c.md:1-1 (no longer found)"]
    # Nothing of what bob may not read is told that the receipt did not say itself.
    other, lost = project.verify(context.receipt, context.text, "bob")
    assert other == "it was made for another viewer than the one who reads here"
    assert lost.startswith("hr/c.md: this store does not have this piece: it has changed since, or")


def test_viewers_who_read_the_same_are_still_two(project: Quire) -> None:
    context = project.assemble(QUERY, viewer="bob")
    again, differing = project.replay(context.receipt, "carol")
    assert again.text == context.text
    assert differing == ["they are of two viewers, who may read different things"]


def test_a_right_that_was_taken_back_holds_for_a_replay(project: Quire) -> None:
    context = project.assemble(QUERY, viewer="alice")
    project.access.set_rules([AccessRule("hr/**", ("owner",))])
    again, differing = project.replay(context.receipt, "alice")
    assert "hr/c.md" not in again.text
    assert any(text.startswith("gone: hr/c.md") for text in differing)


def test_replay_of_an_altered_receipt_says_that_first(project: Quire) -> None:
    receipt = as_read(project.assemble(QUERY).receipt)
    receipt["request"]["query"] = "epoch"
    _, differing = project.replay(receipt)
    assert differing[0] == "the receipt was altered: its hash does not match"
    assert differing[1] == "the request was altered: its hash does not match"


def test_replay_keeps_to_what_was_asked_then(project: Quire, tree: Tree) -> None:
    """The recipe is in the receipt: a file that has changed since takes no part."""
    path = tree.write("mine.toml", 'extends = "documents"\n[budget]\ntotal = 900\n')
    context = project.assemble(QUERY, recipe=str(path), order="stable", previous=["0" * 32])
    path.unlink()
    again, differing = project.replay(as_read(context.receipt))
    assert (again.text, differing) == (context.text, [])


def test_an_empty_context_is_replayed(project: Quire) -> None:
    context = project.assemble(QUERY, budget=2, reserve={}, allow_empty=True)
    assert project.replay(context.receipt)[1] == []


# --- two receipts ------------------------------------------------------------------------------


def test_nothing_differs(project: Quire) -> None:
    receipt = as_read(project.assemble(QUERY).receipt)
    assert diff_receipts(receipt, receipt) == []
    assert diff_receipts({**receipt, "created": "today"}, {**receipt, "created": "now"}) == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"budget": 3000}, ["recipe.budget.total: 4000 -> 3000", "available: 3200 -> 2200"]),
        ({"reserve": {"x": 800}}, ["recipe.budget.reserved.system: 200 -> None"]),
        ({"model": "approx"}, ["request.model: o200k -> approx", "counter: o200k -> approx"]),
        ({"pack": "optimal"}, ["recipe.fit.pack: "]),
        ({"metadata": True}, ["recipe.render.metadata: False -> True"]),
        ({"viewer": "bob"}, ["they are of two viewers, who may read different things"]),
        ({"order": "edges"}, ["the shared pieces are in another order"]),
        ({"as_of": 7}, ["request.as_of: None -> 7"]),
        ({"budget": 850}, ["omitted: 0 -> "]),
    ],
)
def test_what_differs_between_two_receipts_is_named(
    project: Quire, options: Options, expected: list[str]
) -> None:
    one, other = project.assemble(QUERY), project.assemble(QUERY, **options)
    told = diff_receipts(as_read(one.receipt), as_read(other.receipt))
    for text in expected:
        assert any(found.startswith(text) for found in told), told
    if one.text == other.text:
        assert not any(found.startswith("text_hash") for found in told)
    else:
        assert any(found.startswith("text_hash: ") for found in told)


def test_whatever_differs_is_said(project: Quire) -> None:
    """Two receipts of which no part differs by name still have two hashes."""
    receipt = as_read(project.assemble(QUERY).receipt)
    other = as_read(receipt)
    other["proofs"]["classes"].reverse()
    other["hash"] = "0" * 64
    assert diff_receipts(receipt, other) == [f"hash: {receipt['hash']} -> {'0' * 64}"]
    other = as_read(receipt)
    other |= {"judge": "j/1", "verdicts": {"a": {"applies": True, "reason": "by j"}}}
    other |= {"writer": "w/1", "summaries": {"b": "Short."}}
    assert diff_receipts(receipt, other) == [
        "judge: None -> j/1",
        "writer: None -> w/1",
        "a judge gave other verdicts on the sentences of rules",
        "a writer gave other summaries",
    ]
    other = as_read(receipt)
    other["decisions"].reverse()
    assert diff_receipts(receipt, other) == ["the decisions are in another order"]
    other = as_read(receipt)
    other["decisions"][0]["reason"] = "for fun"
    assert diff_receipts(receipt, other) == ["the decisions on 1 of 4 candidates differ"]


# --- what is no receipt ------------------------------------------------------------------------

NOT_RECEIPTS: dict[str, str | bytes] = {
    "empty": "",
    "text": "no receipt",
    "broken": '{"version": 1, "text_hash": ',
    "list": "[]",
    "number": "5",
    "null": "null",
    "other": '{"a": 1}',
    "half": '{"version": 1, "text_hash": "x"}',
    "newer": '{"version": 3, "text_hash": "x"}',
    "odd version": '{"version": [], "text_hash": "x"}',
    "not text": b"\xff\xfe",
    "deep": '{"version":1,"text_hash":' + "[" * 100_000,
    "huge number": '{"version": 1, "text_hash": ' + "9" * 5000 + "}",
    "twice": '{"version": 1, "version": 1, "text_hash": "x"}',
    "nan": '{"version": 1, "text_hash": NaN}',
}


@pytest.mark.parametrize("what", sorted(NOT_RECEIPTS))
@pytest.mark.parametrize("command", ["verify", "replay", "diff", "--previous"])
def test_what_is_no_receipt_is_refused_in_one_line(
    kept_tree: Tree, tmp_path: Path, what: str, command: str
) -> None:
    file, text = tmp_path / "odd.json", NOT_RECEIPTS[what]
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    arguments = {
        "verify": ["verify", str(file)],
        "replay": ["replay", str(file)],
        "diff": ["diff", str(file), str(file)],
        "--previous": ["assemble", QUERY, "--order", "stable", "--previous", str(file)],
    }[command]
    done = kept_tree.call(*arguments)
    assert done.returncode in {1, 2}
    assert (done.stdout + done.stderr).count("\n") == 1, done.stdout + done.stderr


def test_no_file(kept_tree: Tree) -> None:
    for command in (["verify", "no.json"], ["replay", "no.json"], ["diff", "no.json", "no.json"]):
        done = kept_tree.call(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("quire: no.json cannot be read: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("part", ["request", "recipe", "sources", "decisions", "proofs", "failed"])
@pytest.mark.parametrize("value", [None, 5, "x", [], {}, [5], [{}], {"x": 5}])
def test_parts_of_the_wrong_kind_are_named(kept: Quire, part: str, value: object) -> None:
    receipt: dict[str, Any] = as_read(kept.assemble(QUERY).receipt)
    good = as_read(receipt)
    receipt[part] = value
    if receipt == good:
        return
    wrong = kept.verify(receipt).problems
    assert wrong
    if wrong[0].startswith("the receipt is malformed: "):
        with pytest.raises(InputError, match="the receipt is malformed"):
            kept.replay(receipt)
        with pytest.raises(InputError, match="the receipt is malformed"):
            diff_receipts(receipt, good)
        with pytest.raises(InputError, match="the receipt is malformed"):
            diff_receipts(good, receipt)
    else:
        assert kept.replay(receipt)[1]
        assert diff_receipts(receipt, good)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("query_vector", "not hex", "query_vector cannot be read"),
        ("query_vector", "00ff", "the query vector has 2 dimensions"),
        ("counter", "nobody-1", "no token counter for the model 'nobody-1'"),
        ("recipe.budget.total", 0, "budget.total: must be between 1 and"),
        ("recipe.budget.total", -1, "must be at least 0"),
        ("recipe.fit.pack", "x", "fit.pack: unknown packing strategy"),
        ("recipe.fit.dedup", 7, "between 0 and 1"),
        ("recipe.sources", {}, "has no sources"),
        ("recipe.sources", {"lexical": {"q": 1}}, "recipe.sources.lexical.q is unknown"),
        ("recipe.rank", {"q": 1}, "recipe.rank.q is unknown"),
        ("recipe.name", "", "expected a text"),
        ("request.paths", [""], "is not a glob"),
        ("request.query", "", "the query is empty"),
        ("request.query", "x" * 100_001, "at most 100000 are allowed"),
    ],
)
def test_a_receipt_that_asks_for_what_cannot_be(
    kept: Quire, part: str, value: object, said: str
) -> None:
    receipt = as_read(kept.assemble(QUERY).receipt)
    *names, last = part.split(".")
    inner = receipt
    for name in names:
        inner = inner[name]
    inner[last] = value
    assert kept.verify(receipt)
    with pytest.raises(Exception, match=said) as refused:
        kept.replay(receipt)
    assert type(refused.value).__module__ == "quire.errors"
    assert "\n" not in str(refused.value)


def test_a_receipt_is_written_in_one_form(kept: Quire) -> None:
    from quire.receipts.canonical import canonical

    receipt = kept.assemble(QUERY).receipt
    text = canonical(receipt)
    assert text == canonical(json.loads(text))
    assert text == canonical(json.loads(json.dumps(receipt, indent=4)))
    assert canonical({"b": [1, 2.5, None, True], "a": "ü\n漢👩‍💻"}) == (
        '{"a":"ü\\n漢👩‍💻","b":[1,2.5,null,true]}'
    )
    shuffled = dict(sorted(receipt.items(), reverse=True))
    assert canonical(shuffled) == text
