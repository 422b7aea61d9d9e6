"""Memories survive export and import, and a bad file is refused as a whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire import AccessRule, Quire
from quire.core.serialize import json_line
from quire.errors import InputError

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

from .conftest import WORDS_ONLY

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
A, B, C = "a" * 32, "b" * 32, "c" * 32


def exported(quire: Quire, viewer: str | None = None) -> str:
    return "\n".join(json_line(one) for one in quire.memories.export(viewer=viewer))


def line(name: str | None = None, content: str = "Something.", **more: Any) -> str:
    return json.dumps({"content": content, **({"id": name} if name else {}), **more})


@pytest.fixture
def filled(opened: Quire) -> Quire:
    first = opened.memories.add(
        "Ports are even.", at=1, category="decision", share=["public"]
    ).value
    second = opened.memories.add("Ports are odd.", at=2, supersedes=first.id, importance=0.9).value
    opened.memories.edit(second.id, at=3, content="Ports are prime.")
    opened.memories.add("Eve likes tea.", at=4, viewer="eve", category="preference")
    opened.memories.add("For the crew.", at=5, viewer="eve", share=["@crew"])
    opened.memories.add(
        "For me.\n\nIn two paragraphs, with “quotes” and 検索.", at=6, share=["owner"]
    )
    return opened


def test_the_owner_s_export_is_taken_in_without_loss(filled: Quire, plant: Forest) -> None:
    other = plant("other", {"quire.toml": WORDS_ONLY})
    text = exported(filled)
    with other.open() as quire:
        result = quire.memories.import_lines(text, at=99)
        assert (result.added, result.changed, result.unchanged) == (5, 0, 0)
        assert exported(quire) == text
        assert quire.memories.list(history=True) == filled.memories.list(history=True)
        assert quire.status().roots == filled.status().roots
        again = quire.memories.import_lines(text, at=100)
        assert (again.added, again.changed, again.unchanged) == (0, 0, 5)


def test_what_was_edited_in_the_file_is_edited(filled: Quire) -> None:
    text = exported(filled).replace("prime", "square")
    result = filled.memories.import_lines(text, at=99)
    assert (result.added, result.changed, result.unchanged) == (0, 1, 4)
    assert "Ports are square." in [one.content for one in filled.memories.list()]


def test_anyone_else_becomes_the_author_and_takes_over_no_id(filled: Quire) -> None:
    theirs = exported(filled)
    before = filled.memories.list(history=True)
    result = filled.memories.import_lines(theirs, at=99, viewer="bob")
    assert result.added == 3, "what bob reads is there already, what he does not see is new to him"
    assert result.unchanged == 2
    assert [one for one in filled.memories.list(history=True) if one.author != "bob"] == before
    mine = [one for one in filled.memories.list(viewer="bob") if one.author == "bob"]
    assert {one.acl for one in mine} == {("user:bob",)}
    again = filled.memories.import_lines(theirs, at=100, viewer="bob")
    assert (again.added, again.changed) == (0, 0)


def test_a_chain_is_carried_over_under_new_ids(filled: Quire, plant: Forest) -> None:
    other = plant("other", {"quire.toml": WORDS_ONLY})
    with other.open() as quire:
        quire.memories.import_lines(exported(filled), at=99, viewer="bob")
        chain = [
            one for one in quire.memories.list(history=True, viewer="bob") if "Ports" in one.content
        ]
        assert [one.supersedes for one in chain] == [None, chain[0].id]
        assert [one.superseded_by for one in chain] == [chain[1].id, None]


def test_an_export_leaves_out_what_is_gone(opened: Quire, plain: Tree) -> None:
    first = opened.memories.add("Old.", at=1).value
    opened.memories.add("New.", at=2, supersedes=first.id)
    opened.purge([plain.root / ".quire" / "memory" / first.id])
    (told,) = [json.loads(one) for one in exported(opened).splitlines()]
    assert told["supersedes"] is None
    assert opened.memories.import_lines(json.dumps(told), at=3).changed == 1


def test_only_the_content_must_be_there(opened: Quire) -> None:
    opened.memories.import_lines('{"content": "Bare."}\n\n', at=77)
    (memory,) = opened.memories.list()
    assert (memory.content, memory.category, memory.importance, memory.created) == (
        "Bare.",
        "fact",
        500,
        77,
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1: not valid JSON"),
        ("\n[1]", "line 2: a memory is an object, not a list"),
        ("{}", "line 1: content: is missing"),
        (line(content=" "), "line 1: content: must not be empty"),
        (line(kind="x"), "line 1: unknown field 'kind'"),
        (line(importance="high"), "line 1: importance: expected a number from 0 to 1, not a text"),
        (
            line(importance=True),
            "line 1: importance: expected a number from 0 to 1, not true or false",
        ),
        (line(importance=2), "line 1: importance: expected a number from 0 to 1, not 2"),
        (line(category="idea"), "line 1: category: unknown category 'idea'"),
        (line(created="yesterday"), "line 1: created: expected a time such as"),
        (line(share="eve"), "line 1: share: expected a list of names, not a text"),
        (line(share=["a b"]), "'a b' is not a principal"),
        (line("short"), "line 1: id: expected 32 digits from 0 to f, not 'short'"),
        (f"{line(A)}\n{line(A)}", "line 2: id: already used in line 1"),
        (
            line(A, supersedes=B),
            f"line 1: supersedes: {B} is neither in this file nor in the store",
        ),
        (line(A, supersedes=A), f"memory {A} would supersede itself"),
        (f"{line(A, supersedes=B)}\n{line(B, supersedes=A)}", "would supersede itself"),
        (
            f"{line(A)}\n{line(B, supersedes=A)}\n{line(C, supersedes=A)}",
            f"memory {A} would be superseded by 2",
        ),
        (f"{line(A)}\n{line(B, supersedes=A, share=['eve'])}", "have different readers"),
        (f"{line(A)}\n{line(B, TOKEN)}", "memory in line 2 is refused: line 1 looks like"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_taken_in(opened: Quire, text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        opened.memories.import_lines(f"{text}\n", at=1)
    assert said in str(refused.value)
    assert opened.memories.list(history=True) == []


def test_the_id_of_something_else_is_not_overwritten(plain: Tree) -> None:
    plain.write("notes.md", "# Notes\n\nA heron.\n")
    plain.index()
    with plain.open() as quire:
        (record,) = quire.documents.list()
        with pytest.raises(InputError, match="is the id of a document"):
            quire.memories.import_lines(line(record.id), at=1)
        quire.access.set_rules([AccessRule("*.md", ("owner",))])
        assert quire.memories.import_lines(line(record.id), at=1, viewer="eve").added == 1
        assert quire.documents.list()[-1] == record, (
            "eve does not see it, and her memory has another id"
        )


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(str.strip),
            st.sampled_from(["fact", "error"]),
            st.integers(0, 1000),
            st.integers(0, 4_000_000_000),
        ),
        max_size=4,
    )
)
def test_any_text_survives_the_round_trip(
    plain: Tree, told: list[tuple[str, str, int, int]]
) -> None:
    with plain.open(space="a") as first, plain.open(space="b") as second:
        for content, category, worth, at in told:
            first.memories.add(
                content, category=category, importance=worth / 1000, at=at, allow_secret=True
            )
        second.memories.import_lines(exported(first), at=1, allow_secret=True)
        assert second.memories.list(history=True) == first.memories.list(history=True)
        for quire in (first, second):
            for memory in quire.memories.list(history=True):
                quire.memories.forget(memory.id)
