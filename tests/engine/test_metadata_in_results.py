"""Results carry the metadata of their documents; receipts stay as they are."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy
from typing import Any

import pytest

from quire.adapters.retrieval import Retrieval
from quire.core.deserialize import from_plain
from quire.core.serialize import to_plain
from quire.core.types import Candidate, Context
from quire.errors import InputError
from tests.conftest import Tree

METADATA = {"team": "north", "tags": ["a", "b"], "priority": 3, "title": "mine"}
KEPT = {**METADATA, "tags": ("a", "b")}


@pytest.fixture
def filled(tree: Tree) -> Tree:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("front.md", "---\nteam: south\n---\n\nThe zebra in a file.\n")
    tree.write("plain.md", "The zebra without metadata.\n")
    with tree.open() as q:
        q.index()
        q.documents.put("The zebra of ana.", path="crm/1", metadata=METADATA, share=["ana"])
    return tree


def test_hits_and_sources_have_it(filled: Tree) -> None:
    with filled.open() as q:
        hits = {hit.path: hit.metadata for hit in q.search("zebra")}
        context = q.assemble("zebra", budget=2000)
    expected = {"crm/1": KEPT, "front.md": {"team": "south"}, "plain.md": {}}
    assert hits == expected
    assert {source.path: source.metadata for source in context.sources} == expected
    assert {chunk.document_path: chunk.metadata for chunk in context.chunks} == expected
    assert {hash(source) for source in context.sources}
    assert deepcopy(context.sources) == pickle.loads(pickle.dumps(context.sources))
    with pytest.raises(TypeError):
        context.sources[0].metadata["team"] = "west"  # type: ignore[index]  # which is shared


def test_a_viewer_gets_that_of_what_they_may_read(filled: Tree) -> None:
    with filled.open() as q:
        assert "crm/1" not in [hit.path for hit in q.search("zebra", viewer="ben")]
        found = {hit.path: hit.metadata for hit in q.search("zebra", viewer="ana")}
        assert found["crm/1"] == KEPT


def test_it_is_no_part_of_a_receipt(filled: Tree) -> None:
    with filled.open() as q:
        context = q.assemble("zebra", budget=2000)
        recorded: Any = context.receipt["sources"]
        assert all("metadata" not in source for source in recorded)
        assert q.verify(context.receipt, context.text).holds
        again, differences = q.replay(context.receipt)
        assert differences == []
        assert again.sources == context.sources
        q.documents.update("crm/1", metadata={"team": "west"})
        changed = q.assemble("zebra", budget=2000)
        assert {source.path: source.metadata for source in changed.sources}["crm/1"] == {
            **KEPT,
            "team": "west",
        }
        assert q.verify(context.receipt, context.text).problems == ()


def test_the_json_of_results_has_it_and_is_read_back(filled: Tree) -> None:
    found = json.loads(filled.call("search", "zebra", "--json").stdout)["results"]
    assert {hit["path"]: hit["metadata"] for hit in found}["crm/1"] == METADATA
    shown = json.loads(filled.call("assemble", "zebra", "--json").stdout)["sources"]
    assert {source["path"]: source["metadata"] for source in shown}["crm/1"] == METADATA
    with filled.open() as q:
        context = q.assemble("zebra", budget=2000)
        assert from_plain(Context, to_plain(context)).sources == context.sources
        (hit,) = q.search("zebra", k=1, where='team = "north"')
        assert from_plain(Candidate, to_plain(hit)).metadata == KEPT


@pytest.mark.parametrize("options", [{"k": 3}, {"budget": 2000}])
def test_frameworks_get_it_beside_what_quire_says(filled: Tree, options: dict[str, int]) -> None:
    with filled.open() as q:
        passages = {each.path: each for each in Retrieval(q, **options).passages("zebra")}  # type: ignore[arg-type]  # a number
        metadata = passages["crm/1"].metadata()
        assert metadata["team"] == "north"
        assert metadata["tags"] == ["a", "b"]
        assert metadata["title"] != "mine"
        assert metadata["path"] == "crm/1"


def test_an_expired_document_says_so(filled: Tree) -> None:
    with filled.open() as q:
        q.documents.put("Old.", path="crm/2", expires="2020-01-31", share=["ana"])
        for viewer in (None, "ana"):
            with pytest.raises(InputError, match="crm/2 expired at 2020-02-01"):
                q.documents.get("crm/2", viewer=viewer)
        with pytest.raises(InputError, match="nothing has the path"):
            q.documents.get("crm/2", viewer="ben")


def test_several_are_deleted_or_none(filled: Tree) -> None:
    with filled.open() as q:
        for path in ("a", "b", "c"):
            q.documents.put("Text.", path=path)
        with pytest.raises(InputError, match="no document has the path 'nope'"):
            q.documents.delete("a", "nope")
        assert [each.path for each in q.documents.list(put_only=True)] == ["a", "b", "c", "crm/1"]
        assert q.documents.delete("a", "b", "a")
        assert not q.documents.delete("c", "nope", missing_ok=True)
    called = filled.call("document", "delete", "crm/1", "nope")
    assert (called.returncode, called.stdout) == (2, "")
    assert filled.call("document", "get", "crm/1").stdout == (
        filled.call("document", "show", "crm/1").stdout
    )
    called = filled.call("document", "delete", "crm/1")
    assert called.stdout == "deleted crm/1\n"


@pytest.mark.parametrize(
    ("where", "kinds"),
    [
        ('priority > "a"', [("priority", "texts", "numbers")]),
        ("team = 3", [("team", "numbers", "texts")]),
        ('team != 2026-01-31 or tags contains "a"', [("team", "dates", "texts")]),
        (
            "priority = true and not team > 3",
            [("priority", "true or false", "numbers"), ("team", "numbers", "texts")],
        ),
        ('team = "x" and priority > 1', []),
    ],
)
def test_a_comparison_that_can_never_hold_is_told(
    filled: Tree, where: str, kinds: list[tuple[str, str, str]]
) -> None:
    with filled.open() as q:
        expected = [
            f"`where` compares {key!r} with {asked}, and no record has such a value under it; "
            f"there are: {there}"
            for key, asked, there in kinds
        ]
        for notes in (q.search("zebra", where=where).notes, q.explain("zebra", where=where).notes):
            assert [note for note in notes if "compares" in note] == expected
        secret = q.search("zebra", where="priority > 1", viewer="ben").notes
        assert any("no record has metadata under 'priority'" in note for note in secret)
