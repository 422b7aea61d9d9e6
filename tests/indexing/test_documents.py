"""Documents that are not files: put, get, update, delete, beside the files of a project."""

from __future__ import annotations

import asyncio
import re
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire import Context, NewDocument, Progress, Quire, verify_record_proof
from quire.core import conditions
from quire.core.types import OWNER
from quire.errors import InputError
from tests.conftest import Forest, Tree

TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xR2uLq"


@pytest.fixture
def opened(tree: Tree) -> Iterator[Quire]:
    tree.write("docs/harbour.md", "# Harbour\n\nThe pilot lives at the harbour.\n")
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.index()
    with tree.open() as opened:
        yield opened


def roots(opened: Quire, viewer: str | None = None) -> str:
    return opened.status(viewer).roots.state


def found(opened: Quire, query: str, **options: Any) -> list[str]:
    return [each.path for each in opened.search(query, **options).results]


def _request(context: Context) -> Any:
    return context.receipt["request"]


def test_it_is_found_beside_files_and_stays_when_they_are_indexed(opened: Quire) -> None:
    result = opened.documents.put("The pilot of ticket 42 is Wren.", path="crm/42")
    assert (result.path, result.state) == ("crm/42", "added")
    assert {*found(opened, "pilot")} == {"docs/harbour.md", "crm/42"}
    before = roots(opened)
    assert opened.index().removed == 0
    assert roots(opened) == before
    context = opened.assemble("pilot Wren", budget=2000)
    assert "Wren" in context.text
    assert not opened.verify(context.receipt, context.text).problems
    assert opened.replay(context.receipt)[1] == []


def test_the_same_again_changes_nothing(opened: Quire) -> None:
    def put() -> str:
        return opened.documents.put("Ä text.", path="a", metadata={"n": 1.0}, title="T").state

    assert put() == "added"
    before = roots(opened)
    assert put() == "unchanged"
    assert roots(opened) == before
    assert (
        opened.documents.put("Ä text!", path="a", metadata={"n": 1}, title="T").state == "changed"
    )
    assert (
        opened.documents.put("Ä text.", path="a", metadata={"n": 1}, title="T").state == "changed"
    )
    assert roots(opened) == before
    assert opened.documents.delete("a")
    assert not opened.documents.delete("a", missing_ok=True)


def test_metadata_change_the_roots_alone(opened: Quire) -> None:
    opened.documents.put("The text.", path="a", metadata={"team": "north", "n": 1})
    chunks = opened.documents.chunks("a")
    before = roots(opened)
    record = opened.documents.update("a", metadata={"n": 2, "team": None}, title="Other")
    assert (record.metadata, record.title) == ({"n": 2}, "Other")
    assert opened.documents.chunks("a") == chunks
    assert roots(opened) != before
    assert opened.documents.get("a").metadata == {"n": 2}
    assert found(opened, "text", where="n = 2") == ["a"]
    assert found(opened, "text", where="n = 1") == []
    with pytest.raises(InputError, match="nothing to change"):
        opened.documents.update("a")


def test_metadata_are_proved_alone(opened: Quire) -> None:
    opened.documents.put("The text.", path="a", metadata={"team": "north", "n": 1}, share=["ana"])
    proof = opened.documents.prove_record("a")
    root = opened.status().roots.content
    assert verify_record_proof(proof, root)
    assert (proof.record.metadata, proof.readers) == ({"team": "north", "n": 1}, ("user:ana",))
    assert "The text." not in repr(proof)
    forged = replace(proof.record, metadata={"team": "south", "n": 1})
    assert not verify_record_proof(replace(proof, record=forged), root)
    opened.documents.update("a", metadata={"n": 2})
    assert not verify_record_proof(proof, opened.status().roots.content)
    assert verify_record_proof(
        opened.documents.prove_record("docs/harbour.md"), opened.status().roots.content
    )
    with pytest.raises(InputError, match="only the owner"):
        opened.documents.prove_record("a", viewer="ana")
    with pytest.raises(InputError, match="nothing has the path"):
        opened.documents.prove_record("b")
    with pytest.raises(InputError, match="nothing has the path"):
        opened.documents.prove_record("a", viewer="bob")


PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<<"
    b"/F1 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 51>>stream\nBT /F1 12 Tf 20 100 Td (The dredger is late.) Tj ET\nendstream "
    b"endobj\n5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF\n"
)


@pytest.mark.parametrize(
    ("content", "options", "text", "kind"),
    [
        ("# A\n\nBody.", {}, "# A\n\nBody.", "document"),
        ("plain", {"type": "text"}, "plain", "document"),
        ("def f(): pass\n", {"path": "a.py"}, "def f(): pass\n", "code"),
        ("<p>One <b>two</b>.</p>", {"type": "html"}, "One two.", "document"),
        (PDF, {}, "The dredger is late.", "document"),
        (
            [
                {"role": "user", "content": "Hi", "at": "2026-01-31"},
                {"role": "ai", "content": "Ho"},
            ],
            {},
            "user (2026-01-31 00:00 UTC):\nHi\n\nassistant:\nHo\n\n",
            "conversation",
        ),
        ({"a": 1}, {}, '{\n  "a": 1\n}\n', "document"),
        (
            {"name": "Wren", "tags": ["x", {"y": 2}], "no": None},
            {"template": "{{{name}}} {tags.1.y} {tags} {gone?}{no}"},
            '{Wren} 2 [\n  "x",\n  {\n    "y": 2\n  }\n] ',
            "document",
        ),
    ],
)
def test_what_it_may_be_made_of(
    opened: Quire, content: Any, options: dict[str, Any], text: str, kind: str
) -> None:
    path = opened.documents.put(content, **{"path": "x/1", **options}).path
    document = opened.documents.get(path)
    assert document.text.strip() == text.strip()
    assert document.kind == kind


def test_front_matter_of_files_and_documents_are_metadata(opened: Quire, tree: Tree) -> None:
    matter = '---\nteam: north\nversion: "1.10"\nn: 3\ndue: 2026-01-31\ntags: [x, y]\n---\nText.\n'
    tree.write("docs/m.md", matter)
    opened.index()
    stated = {
        "team": "north", "version": "1.10", "n": 3, "due": "2026-01-31", "tags": ("x", "y"),
    }  # fmt: skip
    assert opened.documents.get("docs/m.md").metadata == stated
    opened.documents.put(matter, path="crm/1", metadata={"team": "south"})
    assert opened.documents.get("crm/1").metadata == {**stated, "team": "south"}
    assert found(opened, "text", where='n = 3 and team = "north"') == ["docs/m.md"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"path": "docs/harbour.md"}, "is a file of the project"),
        ({"path": "/etc/passwd"}, "is not a path"),
        ({"path": "a/../b"}, "is not a path"),
        ({"path": "a//b"}, "is not a path"),
        ({"path": ""}, "needs a path"),
        ({"path": ".quire/memory/x"}, "reserved"),
        ({"path": "@ana/x"}, "reserved"),
        ({"path": "a\nb"}, "cannot be printed"),
        ({"path": "x" * 1001}, "more than 1000"),
        ({"path": "a", "type": "docs"}, "unknown type 'docs'"),
        ({"path": "a", "content": ""}, "is empty"),
        ({"path": "a", "content": b"\x00\xff\x00"}, "cannot be read"),
        ({"path": "a", "content": 3}, "expected a text"),
        ({"path": "a", "content": [{"role": "user"}]}, "a message has no content"),
        ({"path": "a", "content": {"a": 1}, "template": "{b}"}, "does not have"),
        ({"path": "a", "content": {"a": 1}, "template": "{"}, "stands alone"),
        ({"path": "a", "expires": "soon"}, "expected a date"),
        ({"path": "a", "expires": 1 << 62}, "expires: expected seconds since 1970"),
        ({"path": "a", "modified": -(10**18)}, "modified: expected seconds since 1970"),
        (
            {"path": "a", "content": [{"role": "user", "content": "x", "at": 10**15}]},
            "at: expected seconds since 1970",
        ),
        ({"path": "a", "metadata": {"a": None}}, "expected a text"),
        ({"path": "a", "share": "ana"}, "expected a list"),
        ({"path": "a", "share": None}, "share: expected a list"),
        ({"path": "a", "share": [1]}, "share: expected a list"),
        ({"path": "a", "title": 3}, "title: expected a text, not 3"),
        ({"path": "a", "author": None}, "author: expected a text"),
        ({"path": "a", "content": {"a": 1}, "template": 3}, "template: expected a text"),
        ({"path": 3}, "needs a path"),
    ],
)
def test_what_cannot_be_put_is_told(opened: Quire, options: dict[str, Any], reason: str) -> None:
    before = roots(opened)
    with pytest.raises(InputError, match=re.escape(reason)):
        opened.documents.put(**{"content": "text", **options})
    assert roots(opened) == before


def nested(items: int, depth: int) -> Any:
    value: Any = [0] * items
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "options",
    [
        {"content": {"a": "x" * 50_000}, "template": "{a}" * 4_000},
        {"content": {"a": nested(40_000, 400)}},
        {"content": {"a": nested(40_000, 400)}, "template": "{a}"},
        {"content": [{"role": "user", "content": "x", "more": nested(40_000, 400)}]},
    ],
)
def test_a_small_request_does_not_become_a_large_text(
    opened: Quire, options: dict[str, Any]
) -> None:
    """Of some hundred kilobytes gigabytes could be made, before anybody looked at the size."""
    tracemalloc.start()
    with pytest.raises(InputError, match="a text of more than 16777216 characters"):
        opened.documents.put(path="crm/1", **options)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000_000


def test_what_has_another_type_is_told(opened: Quire) -> None:
    opened.documents.put("text", path="a")
    documents: Any = opened.documents
    calls: list[Callable[[], Any]] = [
        lambda: documents.get(3),
        lambda: documents.delete(["a"]),
        lambda: documents.update(None, title="x"),
        lambda: documents.update("a", title=3),
        lambda: documents.update("a", share="ana"),
        lambda: documents.prove_record(3),
    ]
    for call in calls:
        with pytest.raises(InputError, match="expected a"):
            call()
    lines: list[dict[str, Any]] = [
        {"content": "one", "path": "b", "title": None, "metadata": None, "expires": None},
        {"content": "two", "path": "c", "title": 3},
        {"content": None, "path": "d"},
    ]
    result = opened.documents.put_many(lines, skip_errors=True)
    assert (result.added, [each.path for each in result.skipped]) == (1, ["c", "d"])


def test_a_file_does_not_replace_a_document(opened: Quire, tree: Tree) -> None:
    opened.documents.put("Mine.", path="crm/42.md")
    tree.write("crm/42.md", "The file.\n")
    result = opened.index()
    assert [(each.path, "was put" in each.reason) for each in result.skipped] == [
        ("crm/42.md", True)
    ]
    assert opened.documents.get("crm/42.md").text == "Mine."
    opened.documents.delete("crm/42.md")
    assert opened.index().indexed == 1
    assert opened.documents.get("crm/42.md").text == "The file.\n"
    with pytest.raises(InputError, match="is a file"):
        opened.documents.delete("crm/42.md")


def test_secrets_are_taken_out_of_text_title_and_metadata(opened: Quire) -> None:
    result = opened.documents.put(
        f"token {TOKEN} end", path="a", title=f"T {TOKEN}", metadata={"k": TOKEN, "l": [TOKEN]}
    )
    assert [each.kind for each in result.redacted] == ["a GitHub token"]
    stored = str(opened.documents.get("a")) + str(opened.documents.facets())
    assert "ghp_" not in stored
    opened.documents.update("a", metadata={"k": f"x {TOKEN}"}, title=f"Key {TOKEN}")
    assert "ghp_" not in str(opened.documents.get("a"))


def test_each_viewer_has_paths_of_their_own(opened: Quire) -> None:
    opened.documents.put("The owner's plan.", path="plan", share=["owner"])
    theirs = opened.documents.put("The plan of Ana.", path="plan", viewer="ana")
    assert theirs.path == "@ana/plan"
    assert found(opened, "plan", viewer="ana") == ["@ana/plan"]
    assert found(opened, "plan", viewer="bob") == []
    assert {*found(opened, "plan")} == {"plan", "@ana/plan"}
    assert found(opened, "plan", shared_only=True) == ["plan"]
    assert opened.documents.get("plan", viewer="ana").text == "The plan of Ana."
    opened.documents.update("plan", share=["bob"], viewer="ana")
    assert found(opened, "plan", viewer="bob") == ["@ana/plan"]
    with pytest.raises(InputError, match="was put by ana"):
        opened.documents.delete("@ana/plan", viewer="bob")
    with pytest.raises(InputError, match="no document has the path"):
        opened.documents.update("plan", metadata={"a": 1}, viewer="bob")
    with pytest.raises(InputError, match="nothing has the path"):
        opened.documents.get("plan", viewer="carl")
    assert opened.documents.delete("@ana/plan")
    assert opened.documents.get("plan").text == "The owner's plan."


def test_what_expires_is_gone_when_it_does_and_replays(
    opened: Quire, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1_769_860_000]  # 2026-01-31, 11:46 UTC
    for place in ("quire.system.clock.now", "quire.indexing.documents.now"):
        monkeypatch.setattr(place, lambda: clock[0])
    monkeypatch.setattr("quire.indexing.indexer.now", lambda: clock[0])
    opened.documents.put("The pilot is ill today.", path="news", expires=date(2026, 1, 31))
    opened.documents.put("The pilot is old.", path="older", expires="2026-01-31T12:00:00Z")
    first = opened.assemble("pilot", budget=3000)
    assert _request(first)["alive_at"] is None
    assert {source.path for source in first.sources} == {"news", "older", "docs/harbour.md"}
    clock[0] += 3600
    second = opened.assemble("pilot", budget=3000)
    assert {source.path for source in second.sources} == {"news", "docs/harbour.md"}
    assert opened.replay(second.receipt)[1] == []
    clock[0] += 60
    assert opened.assemble("pilot", budget=3000).receipt == second.receipt
    clock[0] += 86_400
    assert found(opened, "pilot") == ["docs/harbour.md"]
    assert [each.path for each in opened.documents.list(put_only=True)] == []
    assert len(opened.documents.list(put_only=True, expired=True)) == 2
    with pytest.raises(InputError, match="news expired at 2026-02-01"):
        opened.documents.get("news")
    back = opened.assemble("pilot", budget=3000, as_of="2026-01-31T11:00:00Z")
    assert len(back.sources) == 3
    assert opened.replay(second.receipt)[1] == []
    opened.documents.update("news", expires=None)
    assert opened.index().removed == 1
    assert [each.path for each in opened.documents.list(put_only=True, expired=True)] == ["news"]


def test_many_are_put_in_batches_and_progress_is_told(
    opened: Quire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quire.indexing.put_documents.BATCH_DOCUMENTS", 10)
    reports: list[Progress] = []
    seen: list[int] = []

    def stream() -> Iterator[Any]:
        for number in range(25):
            seen.append(len(reports))
            yield {
                "content": f"Document {number}.",
                "path": f"n/{number}",
                "metadata": {"n": number},
            }

    result = opened.documents.put_many(stream(), report=reports.append)
    assert (result.added, result.changed, result.unchanged) == (25, 0, 0)
    assert [each.done for each in reports] == [10, 20, 25]
    assert seen[10] == 1, "the first batch is written before the eleventh is asked for"
    again = opened.documents.put_many(stream())
    assert (again.added, again.unchanged) == (0, 25)
    assert len(opened.documents.list("n >= 10 and n < 20")) == 10


def test_an_error_keeps_what_came_before_it(opened: Quire) -> None:
    documents: list[Any] = [NewDocument("one", "a"), {"content": "two"}, NewDocument("three", "c")]
    with pytest.raises(InputError, match="document 2: path: is missing"):
        opened.documents.put_many(documents)
    assert [each.path for each in opened.documents.list(put_only=True)] == ["a"]
    documents.append(NewDocument("four", "docs/harbour.md"))
    result = opened.documents.put_many(documents, skip_errors=True)
    assert (result.added, result.unchanged) == (1, 1)
    assert [each.path for each in result.skipped] == ["document 2", "docs/harbour.md"]


def test_the_async_twins(opened: Quire) -> None:
    async def run() -> str:
        await opened.documents.put_async("text", path="a", metadata={"n": 1})
        await opened.documents.put_many_async([NewDocument("more", "b")])
        await opened.documents.update_async("a", metadata={"n": 2})
        document = await opened.documents.get_async("a")
        await opened.documents.delete_async("b")
        return str(document.metadata["n"])

    assert asyncio.run(run()) == "2"


def test_a_filter_that_nothing_passes_is_told(opened: Quire) -> None:
    opened.documents.put("text", path="a", metadata={"team": "north"}, share=["ana"])
    notes = opened.search("text", where='tema = "north"').notes
    assert "no record has metadata under 'tema'; did you mean 'team'?" in notes
    assert 'no record passes `where` (tema = "north")' in notes
    assert opened.search("text", where='team = "north"').notes == ()
    hidden = opened.search("text", where='team = "north"', viewer="bob").notes
    assert "no record has metadata under 'team'; there are: none" in hidden
    with pytest.raises(InputError, match="needs quotes"):
        opened.search("text", where="team = north")
    assert opened.search("text", paths=["b/**"]).notes == (
        "no record has a path that passes `paths` (b/**)",
    )
    assert opened.assemble("text", paths=["b/**", "!c"], allow_empty=True).notes == (
        "no record has a path that passes `paths` (b/**, !c)",
    )
    assert opened.search("text", paths=["a"]).notes == ()
    assert "passes `paths` (a)" in opened.search("text", paths=["a"], viewer="bob").notes[0]
    assert opened.documents.facets(viewer="bob") == ()
    (facet,) = opened.documents.facets()
    assert (facet.key, facet.records, facet.values) == ("team", 1, (("north", 1),))


def test_two_ways_to_say_the_same_give_the_same_receipt(opened: Quire) -> None:
    opened.documents.put("text", path="a", metadata={"team": "north", "n": 3})
    one = opened.assemble("text", where='n >= 3 and team in ["north"]', budget=2000)
    other = opened.assemble(
        "text", where={"team": {"$eq": "north"}, "n": {"$gte": 3.0}}, budget=2000
    )
    assert one.receipt == other.receipt
    assert _request(one)["where"] == 'n >= 3 and team = "north"'
    assert not opened.verify(one.receipt, one.text).problems
    assert opened.replay(one.receipt)[1] == []


NUMBERS = count()
WHERES = ('team = "a"', "n > 1 and not has(x)", 'team != "b" or n = 2')
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "put", "update", "delete", "index", "read"]),
        st.sampled_from(["p/1", "p/2", "q/1", "docs/new.md"]),
        st.sampled_from(["harbour pilot", "harbour wren", "tide"]),
        st.fixed_dictionaries(
            {}, optional={"team": st.sampled_from("ab"), "n": st.integers(0, 3), "x": st.booleans()}
        ),
        st.sampled_from([None, "ana"]),
    ),
    max_size=12,
)


@given(STEPS)
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
def test_any_order_gives_the_same_state_and_filters_first(plant: Forest, steps: Any) -> None:
    """Whatever was done in between, the state is that of the last put of each document."""
    names = f"one{next(NUMBERS)}", f"two{next(NUMBERS)}"
    tree = plant(names[0])
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("docs/harbour.md", "The harbour.\n")
    tree.index()
    expected: dict[tuple[str, str | None], tuple[str, dict[str, Any]]] = {}
    with tree.open() as opened:
        for verb, path, text, stated, viewer in steps:
            key = (path, viewer)
            if verb == "put":
                opened.documents.put(text, path=path, metadata=stated, viewer=viewer)
                expected[key] = (text, stated)
            elif verb == "update" and key in expected and stated:
                opened.documents.update(path, metadata=stated, viewer=viewer)
                expected[key] = (expected[key][0], {**expected[key][1], **stated})
            elif verb == "delete" and key in expected:
                opened.documents.delete(path, viewer=viewer)
                del expected[key]
            elif verb == "index":
                opened.index(embed=False)
            else:
                opened.search(text, viewer=viewer)
        states = [opened.status(viewer).roots for viewer in (None, "ana", "bob")]
        for where in WHERES:
            condition = conditions.parse(where)
            every = {each.path: each for each in opened.documents.list(viewer=OWNER)}
            passing = {p for p, each in every.items() if conditions.holds(condition, each.metadata)}
            unfiltered = found(opened, "harbour tide", k=50)
            filtered = found(opened, "harbour tide", k=50, where=where)
            assert filtered == [path for path in unfiltered if path in passing]
    other = plant(names[1])
    other.write("quire.toml", '[embed]\nprovider = "none"\n')
    other.write("docs/harbour.md", "The harbour.\n")
    other.index()
    with other.open() as fresh:
        for (path, viewer), (text, stated) in sorted(expected.items(), key=repr, reverse=True):
            fresh.documents.put(text, path=path, metadata=stated, viewer=viewer)
        assert [fresh.status(viewer).roots for viewer in (None, "ana", "bob")] == states
