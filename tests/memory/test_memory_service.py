"""Memories are stored, found, corrected and forgotten."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire import Filter, Quire
from quire.core.serialize import json_line
from quire.core.types import OWNER, Memory
from quire.errors import ConfigError, InputError
from quire.memory import memories

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

CURRENT = Filter(kinds=("memory",))
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def exported(quire: Quire) -> str:
    return "\n".join(json_line(one) for one in quire.memories.export())


def current(quire: Quire, query: str) -> list[str]:
    return [one.chunk.text for one in quire.search(query, where=CURRENT).results]


def test_a_memory_is_a_record_with_one_chunk(opened: Quire) -> None:
    made = opened.memories.add(
        "The staging host is named heron.", at=1_700_000_000, category="decision", importance=0.8
    ).value
    with opened.store.view(OWNER) as view:
        (record,) = view.listing()
        (chunk,) = view.chunks_of(record.id)
    assert (record.id, record.kind, record.path) == (made.id, "memory", f".quire/memory/{made.id}")
    assert record.attrs == {"category": "decision", "importance": 800}
    assert (record.modified, record.author, record.acl) == (1_700_000_000, None, ())
    assert (chunk.kind, chunk.text, chunk.title) == ("memory", made.content, "")
    assert opened.memories.get(made.id) == made
    assert current(opened, "staging host") == [made.content]


def test_a_long_memory_is_cut_like_prose_and_given_back_whole(opened: Quire) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "It says a little. " * 20 for number in range(9))
    made = opened.memories.add(text, at=1).value
    with opened.store.view(OWNER) as view:
        chunks = view.chunks_of(made.id)
    assert len(chunks) > 3
    assert all(chunk.kind == "memory" for chunk in chunks)
    assert opened.memories.get(made.id).content == text.strip()
    with pytest.raises(InputError, match="at most 65536 characters, not 65537"):
        opened.memories.add("x" * 65_537, at=1)


def test_the_same_at_the_same_moment_is_one_memory(opened: Quire) -> None:
    first = opened.memories.add("Tabs, not spaces.", at=5, category="preference")
    again = opened.memories.add("Tabs, not spaces.", at=5, category="preference")
    assert again.value == first.value
    assert again.notes == ("this is remembered already",)
    assert opened.memories.list() == [first.value]


def test_the_same_again_strengthens_the_one_that_is_there(opened: Quire) -> None:
    first = opened.memories.add("Tabs, not spaces.", at=5, category="preference").value
    with opened.store.view(OWNER) as view:
        chunks = view.chunks_of(first.id)
    later = opened.memories.add("Tabs,  not\nspaces.", at=60, category="preference")
    assert later.notes == ("this was remembered before: 2 times now",)
    assert later.value == replace(first, count=2, repeated=60, importance=550)
    assert opened.memories.list() == [later.value] == [opened.memories.get(first.id)]
    with opened.store.view(OWNER) as view:
        assert view.chunks_of(first.id) == chunks, "the text stays as it was"
    again = opened.memories.add("Tabs,  not\nspaces.", at=60, category="preference")
    assert (again.value, again.notes) == (later.value, ("this is remembered already",))
    given = opened.memories.add("Tabs, not spaces.", at=70, category="preference", importance=0.9)
    assert (given.value.importance, given.value.count, given.value.repeated) == (910, 3, 70)
    for at in range(100, 160):
        last = opened.memories.add("Tabs, not spaces.", at=at, category="preference").value
    assert 990 < last.importance < 1000, "it never reaches 1 by itself"
    context = opened.assemble("tabs or spaces", recipe="agent")
    assert ", 63 times, last 1970-01-01*" in context.text
    assert opened.verify(dict(context.receipt), context.text).binds
    assert opened.memories.import_lines(exported(opened), at=999).unchanged == 1
    assert opened.memories.edit(first.id, content="Spaces.", at=1000).value.count == 63


@pytest.mark.parametrize(
    "other",
    [
        {"content": "Tabs, not space."},
        {"category": "decision"},
        {"share": ["bob"]},
        {"viewer": "bob"},
    ],
)
def test_what_differs_is_another_memory(opened: Quire, other: dict[str, Any]) -> None:
    first = opened.memories.add("Tabs, not spaces.", at=5).value
    made = opened.memories.add(other.pop("content", first.content), at=6, **other)
    assert (made.value.id != first.id, made.value.count, made.notes) == (True, 1, ())
    assert len(opened.memories.list()) == 2


def test_a_superseded_memory_is_not_strengthened(opened: Quire) -> None:
    first = opened.memories.add("Tea.", at=1).value
    opened.memories.add("Coffee.", at=2, supersedes=first.id)
    again = opened.memories.add("Tea.", at=3).value
    assert again.id != first.id
    assert opened.memories.get(first.id).count == 1


def test_a_memory_said_twice_in_older_stores_is_strengthened_once(opened: Quire) -> None:
    lines = [json.dumps({"content": "Tea.", "created": f"2026-01-0{day}"}) for day in (1, 2)]
    opened.memories.import_lines("\n".join(lines), at=1)
    oldest, other = opened.memories.list()
    again = opened.memories.add("Tea.", at=1_800_000_000).value
    assert again.id == oldest.id
    assert opened.memories.list() == [again, other]


def test_what_is_superseded_is_history_and_never_current(opened: Quire) -> None:
    first = opened.memories.add("The port is 8080.", at=1).value
    second = opened.memories.add("The port is 9090.", at=2, supersedes=first.id).value
    third = opened.memories.add("The port is 7070.", at=3, supersedes=second.id).value
    assert [one.id for one in opened.memories.list()] == [third.id]
    assert [one.superseded_by for one in opened.memories.list(history=True)] == [
        second.id,
        third.id,
        None,
    ]
    assert current(opened, "port") == ["The port is 7070."]
    shown = {one.chunk.text: one.chunk for one in opened.search("port").results}
    assert shown["The port is 8080."].kind == "memory.old"
    assert shown["The port is 8080."].title == "superseded"
    with opened.store.view(OWNER) as view:
        links = view.links([second.id, third.id])
    assert [(link.source, link.target, link.kind) for link in links] == [
        (second.id, first.id, "supersedes"),
        (third.id, second.id, "supersedes"),
    ]
    assert opened.doctor() == []


def test_history_is_not_rewritten(opened: Quire) -> None:
    first = opened.memories.add("The port is 8080.", at=1).value
    second = opened.memories.add("The port is 9090.", at=2, supersedes=first.id).value
    said = f"{first.id} is superseded by {second.id}"
    with pytest.raises(InputError, match=said):
        opened.memories.add("The port is 1.", at=3, supersedes=first.id)
    with pytest.raises(InputError, match=said):
        opened.memories.edit(first.id, at=3, content="The port is 2.")
    assert len(opened.memories.list(history=True)) == 2


def test_forgetting_the_newest_makes_the_one_before_it_current_again(opened: Quire) -> None:
    first = opened.memories.add("The port is 8080.", at=1).value
    second = opened.memories.add("The port is 9090.", at=2, supersedes=first.id).value
    forgotten = opened.memories.forget(second.id)
    assert forgotten.value == second
    assert forgotten.notes == (f"memory {first.id} is current again",)
    assert opened.memories.list(history=True) == [first]
    assert current(opened, "port") == ["The port is 8080."]


def test_forgetting_one_in_the_middle_closes_the_chain(opened: Quire) -> None:
    names: list[str] = []
    for number in range(5):
        older = names[-1] if names else None
        names.append(opened.memories.add(f"Rule {number}.", at=number, supersedes=older).value.id)
    assert opened.memories.forget(names[2]).notes == ()
    del names[2]
    listed = opened.memories.list(history=True)
    assert [one.id for one in listed] == names
    assert [one.supersedes for one in listed] == [None, *names[:-1]]
    assert [one.superseded_by for one in listed] == [*names[1:], None]
    assert [one.id for one in opened.memories.list()] == [names[-1]]


def test_an_edit_keeps_id_and_time(opened: Quire) -> None:
    made = opened.memories.add("The port is 8O80.", at=10).value
    changed = opened.memories.edit(made.id, at=20, content="The port is 8080.", importance=1).value
    assert (changed.id, changed.created, changed.edited) == (made.id, 10, 20)
    assert (changed.content, changed.category, changed.importance) == (
        "The port is 8080.",
        "fact",
        1000,
    )
    assert opened.memories.get(made.id) == changed
    assert current(opened, "8080") == ["The port is 8080."]
    assert current(opened, "8O80") == []
    with pytest.raises(InputError, match="nothing to edit"):
        opened.memories.edit(made.id, at=21)


def test_indexing_leaves_memories_alone(plain: Tree) -> None:
    plain.write("notes.md", "# Notes\n\nA heron stands in the shallows.\n")
    with plain.open() as quire:
        made = quire.memories.add("The heron is the staging host.", at=1).value
        quire.experiences.start("find the heron", domain="debugging", at=1)
        result = quire.index()
        assert (result.indexed, result.removed) == (1, 0)
        plain.remove("notes.md")
        assert quire.index().removed == 1
        assert [one.id for one in quire.memories.list()] == [made.id]
        assert len(quire.experiences.list()) == 1
        assert quire.purge([plain.root / ".quire" / "memory" / made.id]) == [
            f".quire/memory/{made.id}"
        ]
        assert quire.memories.list() == []
    assert b"staging host" not in plain.store.read_bytes()


def test_the_rules_of_the_settings_hold_from_the_first_memory_on(plant: Forest) -> None:
    tree = plant(
        "closed", {"quire.toml": '[embed]\nprovider = "none"\n[access]\ndefault = "owner"'}
    )
    with tree.open() as quire:
        quire.memories.add("For nobody else.", at=1)
        assert quire.memories.list(viewer="eve") == []
        assert len(quire.memories.list()) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"content": "  \n"}, "memory: must not be empty"),
        (
            {"category": "idea"},
            "unknown category 'idea'; choose from fact, preference, decision, error",
        ),
        ({"importance": 1.5}, "importance: expected a number from 0 to 1, not 1.5"),
        ({"importance": float("nan")}, "importance: expected a number from 0 to 1, not nan"),
        ({"importance": 10**400}, "importance: expected a number from 0 to 1, not 1000"),
        ({"supersedes": "0" * 32}, "memory 0000.* does not exist"),
        ({"share": ["a b"]}, "'a b' is not a principal"),
        ({"content": f"the token is {TOKEN}"}, "line 1 looks like a GitHub token"),
        ({"content": "half \ud800"}, "surrogate"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    opened: Quire, change: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        opened.memories.add(**{"content": "Something.", "at": 1, **change})  # type: ignore[arg-type]
    assert opened.memories.list(history=True) == []


def test_the_beginning_of_an_id_will_do_if_no_other_begins_so(opened: Quire) -> None:
    kept = {
        one.id: one
        for one in (opened.memories.add(f"Fact {n}.", at=n, viewer="ann").value for n in range(40))
    }
    for name, one in kept.items():
        short = next(
            name[:size]
            for size in range(4, 32)
            if sum(k.startswith(name[:size]) for k in kept) == 1
        )
        assert opened.memories.get(short, viewer="ann") == one
        with pytest.raises(InputError, match=r"memory .* does not exist"):
            opened.memories.get(short, viewer="bob")
    first = min(kept)
    with pytest.raises(InputError, match=f"memory {first[:3]} does not exist;"):
        opened.memories.get(first[:3], viewer="ann")
    newer = opened.memories.add("Newer.", at=99, supersedes=first[:12], viewer="ann").value
    assert newer.supersedes == first
    assert opened.memories.get(first, viewer="ann").superseded_by == newer.id
    assert opened.memories.forget(newer.id[:12], viewer="ann").value == newer
    assert opened.memories.get(first, viewer="ann").superseded_by is None
    tried = opened.experiences.start("Try.", at=1, domain="debugging", viewer="ann").value
    assert opened.experiences.get(tried.id[:10], viewer="ann") == tried


def test_two_ids_that_begin_alike_are_not_guessed_at(opened: Quire) -> None:
    begun: dict[str, int] = {}
    for number in range(2000):
        made = memories.make_memory(
            f"Fact {number}.",
            category="fact",
            importance=500,
            created=number,
            author=None,
            acl=(),
        )
        other = begun.setdefault(made.id[:4], number)
        if other != number:
            break
    for each in (number, other):
        kept = opened.memories.add(f"Fact {each}.", at=each).value
        assert kept.id.startswith(made.id[:4])
    with pytest.raises(InputError, match=f"2 ids begin with {made.id[:4]}; give more of the id"):
        opened.memories.get(made.id[:4])


def test_a_secret_is_kept_only_on_purpose(opened: Quire) -> None:
    text = f"the token is {TOKEN}"
    with pytest.raises(InputError) as refused:
        opened.memories.add(text, at=1)
    assert TOKEN not in str(refused.value)
    assert opened.memories.add(text, at=1, allow_secret=True).value.content == text
    made = opened.memories.add("no token", at=2).value
    with pytest.raises(InputError, match="GitHub token"):
        opened.memories.edit(made.id, at=3, content=text)


def test_settings_add_categories(plant: Forest) -> None:
    tree = plant(
        "own", {"quire.toml": '[embed]\nprovider = "none"\n[learn]\ncategories = ["habit"]'}
    )
    with tree.open() as quire:
        assert quire.memories.add("Stretch.", at=1, category="habit").value.category == "habit"
        tree.write("quire.toml", '[learn]\ncategories = ["a/b"]')
        with pytest.raises(ConfigError, match="'a/b' is not a name"):
            quire.memories.list(category="fact")


# --- chains ------------------------------------------------------------------------------------


def plain_memory(name: str, supersedes: str | None) -> Memory:
    return Memory(name, name, "fact", 500, 0, supersedes=supersedes)


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([None, *"abcdef"]), min_size=1))
def test_chains_are_accepted_and_nothing_else(older: dict[str, str | None]) -> None:
    found = {name: plain_memory(name, target) for name, target in older.items()}
    targets = [target for target in older.values() if target]
    forked = len(targets) != len(set(targets))
    circular = any(_returns(name, older) for name in older)
    if forked or circular:
        with pytest.raises(InputError, match=r"would be superseded|would supersede itself"):
            memories.link_chains(found)
        return
    chained = memories.link_chains(found)
    for name, memory in chained.items():
        newer = [one for one, target in older.items() if target == name]
        assert memory.superseded_by == (newer[0] if newer else None)
    for name in older:
        left = memories.remove_from_chain(chained, name)
        assert set(left) == set(older) - {name}
        assert memories.link_chains(left) == left, "what is left is a set of chains again"


def _returns(start: str, older: dict[str, str | None]) -> bool:
    name = older[start]
    for _ in older:
        if name == start:
            return True
        name = older.get(name) if name else None
    return False


@pytest.mark.parametrize("at", ["yesterday", 1.5, True])
def test_a_time_that_is_none_is_refused(opened: Quire, at: Any) -> None:
    with pytest.raises(InputError, match="expected seconds since 1970, not") as raised:
        opened.memories.add("The ledger runs on port 5433.", at=at)
    assert raised.value.field == "at"
    assert opened.memories.list() == []
