"""Feedback moves the ranking of its author a little, and of nobody else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire import Filter, Quire
from quire.core.types import OWNER, Viewer
from quire.errors import InputError
from quire.memory import feedback
from tests.conftest import Tree
from tests.recipes.digest import plain

QUERY = "heron login host"
TEXTS = [f"The heron login host number {number} is up." for number in range(5)]


@pytest.fixture
def noted(wordy: Tree) -> Iterator[Quire]:
    with wordy.open() as quire:
        for number, text in enumerate(TEXTS):
            quire.memories.add(text, at=number, share=["public"])
        yield quire


def page(quire: Quire, viewer: str | None = None, **more: Any) -> Any:
    return quire.assemble(QUERY, recipe="agent", viewer=viewer, **more)


def order(quire: Quire, viewer: str | None = None, **more: Any) -> list[str]:
    return [item.record_id for item in page(quire, viewer, **more).items]


def signals(quire: Quire, name: str, viewer: str | None = None, **more: Any) -> dict[str, int]:
    made = page(quire, viewer, **more)
    (chunk,) = [item.chunk_id for item in made.items if item.record_id == name]
    return next(dict(one.signals) for one in made.decisions if one.chunk_id == chunk)


def test_it_moves_its_author_alone(noted: Quire) -> None:
    before = {viewer: order(noted, viewer) for viewer in (None, "alice", "bob")}
    assert len({tuple(found) for found in before.values()}) == 1
    last = before["alice"][-1]
    bob, owner = plain(page(noted, "bob")), order(noted)
    made = noted.feedback.add(
        page(noted, "alice").receipt, at=1, useful=[last], viewer="alice"
    ).value
    assert (made.author, made.useful, made.useless, made.shared) == ("alice", (last,), (), False)
    assert order(noted, "alice")[0] == last
    assert plain(page(noted, "bob")) == bob, "to the byte"
    assert order(noted) == owner, "the owner may read it, but it is not theirs"
    assert "feedback" not in signals(noted, last)
    assert signals(noted, last, "alice")["feedback"] == 250


def test_useless_pieces_fall(noted: Quire) -> None:
    first = order(noted)[0]
    score = {item.record_id: item.score for item in page(noted).items}
    noted.feedback.add(page(noted).receipt, at=1, useless=[first])
    assert order(noted)[-1] == first
    after = {item.record_id: item.score for item in page(noted).items}
    assert score[first] > after[first] >= score[first] * 95 // 100
    assert {name: after[name] for name in after if name != first} == {
        name: score[name] for name in score if name != first
    }


def test_it_is_bounded_however_often_it_is_said(noted: Quire) -> None:
    last = order(noted)[-1]
    score = {item.record_id: item.score for item in page(noted).items}
    for at in range(9):
        noted.feedback.add(page(noted).receipt, at=at, useful=[last])
    assert signals(noted, last)["feedback"] == 1000
    after = {item.record_id: item.score for item in page(noted).items}
    assert after[last] <= score[last] * 110 // 100


def test_it_is_shared_on_purpose(noted: Quire) -> None:
    last = order(noted)[-1]
    receipt = page(noted, "alice").receipt
    noted.feedback.add(receipt, at=1, useful=[last], share=["bob"], viewer="alice")
    assert order(noted, "alice")[0] == order(noted, "bob")[0] == last
    assert order(noted, "carol")[-1] == last
    assert order(noted)[-1] == last, "shared with bob, not with the owner"
    noted.feedback.add(receipt, at=2, useful=[last], share=["public"], viewer="alice")
    assert order(noted, "carol")[0] == order(noted)[0] == last
    assert [one.shared for one in noted.feedback.list(viewer="carol")] == [True]


def test_the_owners_is_the_owners_unless_shared(noted: Quire) -> None:
    last = order(noted)[-1]
    bob = plain(page(noted, "bob"))
    noted.feedback.add(page(noted).receipt, at=1, useful=[last])
    assert order(noted)[0] == last
    assert plain(page(noted, "bob")) == bob
    assert noted.feedback.list(viewer="bob") == []
    noted.feedback.add(page(noted).receipt, at=2, useful=[last], share=["@team", "bob"])
    assert order(noted, "bob")[0] == last


def test_it_can_be_switched_off(noted: Quire, wordy: Tree) -> None:
    before = page(noted)
    last = before.items[-1].record_id
    noted.feedback.add(before.receipt, at=1, useful=[last])
    assert page(noted).text != before.text
    off = page(noted, feedback=0)
    assert off.text == before.text
    assert all("feedback" not in one.signals for one in off.decisions)
    own = wordy.write("own.toml", 'extends = "agent"\n[rank]\nfeedback = 0\n')
    assert noted.assemble(QUERY, recipe=str(own)).text == before.text
    with pytest.raises(InputError, match=r"feedback: must be between 0 and 100, not 101"):
        page(noted, feedback=101)
    done = wordy.call("assemble", QUERY, "--recipe", "agent", "--feedback", "0")
    assert done.stdout == before.text


def test_it_is_taken_back(noted: Quire) -> None:
    before = page(noted, "alice")
    last = before.items[-1].record_id
    made = noted.feedback.add(before.receipt, at=1, useful=[last], viewer="alice").value
    for viewer, told in (
        ("bob", "feedback .* does not exist"),
        ("carol", "feedback .* does not exist"),
    ):
        with pytest.raises(InputError, match=told):
            noted.feedback.forget(made.id, viewer=viewer)
    noted.feedback.forget(made.id, viewer="alice")
    assert plain(page(noted, "alice")) == plain(before)
    assert noted.feedback.list(viewer="alice") == []
    with pytest.raises(InputError, match="--list"):
        noted.feedback.forget(made.id, viewer="alice")
    shared = noted.feedback.add(
        before.receipt, at=2, useful=[last], share=["bob"], viewer="alice"
    ).value
    with pytest.raises(InputError, match="written by alice; only its author and the owner"):
        noted.feedback.forget(shared.id, viewer="bob")
    noted.feedback.forget(shared.id)
    memory = order(noted)[0]
    with pytest.raises(InputError, match=r"feedback .* does not exist"):
        noted.feedback.forget(memory)


def test_unknown_and_contradicting_pieces_are_refused(noted: Quire) -> None:
    receipt = page(noted).receipt
    name = order(noted)[0]
    root = noted.status().roots
    for given_, told in (
        (
            {"useful": ["nothing"]},
            "useful: 'nothing' is not in this context; choose from .quire/memory",
        ),
        ({"useful": [name], "useless": [name]}, "both useful and useless"),
        ({}, "no chunk is named"),
        ({"useless": [""]}, "useless: .* is not in this context"),
        ({"useful": [name[:3]]}, "useful: .* is not in this context"),
    ):
        with pytest.raises(InputError, match=told):
            noted.feedback.add(receipt, at=1, **given_)  # type: ignore[arg-type]
    for wrong in ({}, {"version": 1}, {**receipt, "sources": 3}):
        with pytest.raises(InputError):
            noted.feedback.add(wrong, at=1, useful=[name])
    with pytest.raises(InputError, match="without a name"):
        noted.feedback.add(receipt, at=1, useful=[name], viewer=Viewer(""))
    assert noted.status().roots == root, "nothing was written"


def test_pieces_are_named_by_record_path_or_the_beginning_of_an_id(noted: Quire) -> None:
    made = page(noted)
    first, second, third = made.sources[:3]
    told = noted.feedback.add(
        made.receipt, at=1, useful=[first.record_id, second.path, third.chunk_id[:8]]
    ).value
    assert set(told.useful) == {first.record_id, second.record_id, third.record_id}


def test_a_receipt_of_another_store_is_refused(noted: Quire, tmp_path: Any) -> None:
    """Its pieces are not here: an opinion on them would move nothing, ever."""
    other = Tree(tmp_path / "other")
    other.write("quire.toml", '[embed]\nprovider = "none"\n')
    with other.open() as elsewhere:
        elsewhere.memories.add("Another heron login host.", at=1)
        foreign = page(elsewhere).receipt
        name = order(elsewhere)[0]
    with pytest.raises(InputError, match="this viewer may not read it; the receipt"):
        noted.feedback.add(foreign, at=1, useful=[name])


def test_what_may_not_be_read_cannot_be_judged(noted: Quire) -> None:
    hidden = noted.memories.add("Heron login host of the owner alone.", at=9, share=["alice"]).value
    receipt = page(noted).receipt
    with pytest.raises(InputError, match="this viewer may not read it; the receipt"):
        noted.feedback.add(receipt, at=1, useful=[hidden.id], viewer="bob")
    noted.feedback.add(receipt, at=1, useful=[hidden.id], viewer="alice")


def test_it_is_part_of_the_state_and_replayed(noted: Quire) -> None:
    before = page(noted)
    root = noted.status().roots
    noted.feedback.add(before.receipt, at=1, useful=[before.items[-1].record_id])
    assert noted.status().roots != root
    after = page(noted)
    assert noted.replay(after.receipt)[1] == []
    assert noted.verify_determinism(QUERY, recipe="agent")
    assert any("view_root" in told for told in noted.replay(before.receipt)[1])
    with noted.store.view(OWNER) as view:
        (kept,) = view.listing(Filter(kinds=("feedback",)))
        assert view.chunks_of(kept.id) == [], "it has no text that could be found"
    assert noted.search("useful").results == ()
    assert noted.doctor() == []


def test_it_moves_search_and_documents_as_well(wordy: Tree) -> None:
    for name in "abc":
        wordy.write(f"{name}.md", f"The heron login host {name}.\n")
    wordy.index()
    with wordy.open() as quire:
        first, *_, last = quire.assemble(QUERY).sources
        quire.feedback.add(quire.assemble(QUERY).receipt, at=1, useful=[last.path])
        assert quire.assemble(QUERY).sources[0].path == last.path != first.path
        assert quire.search(QUERY).results[0].chunk.path == last.path
        told = wordy.call("explain", QUERY).stdout
        assert "feedback 250" in told


def test_a_text_in_place_of_a_list_is_refused(noted: Quire) -> None:
    receipt = noted.agent.assemble_context(QUERY).receipt
    with pytest.raises(InputError, match="expected a list of names, not the string 'abc'"):
        noted.feedback.add(receipt, at=1, useful="abc")


def test_the_command_line(noted: Quire, wordy: Tree) -> None:
    file = str(wordy.root / ".quire" / "page.json")
    assert wordy.call("assemble", QUERY, "--recipe", "agent", "--receipt", file).returncode == 0
    name = order(noted)[-1]
    done = wordy.call("feedback", file, "--useful", name)
    assert done.returncode == 0
    assert "1 useful, 0 useless" in done.stdout
    listed = json.loads(wordy.call("feedback", "--list", "--json").stdout)["feedback"]
    assert [one["useful"] for one in listed] == [[name]]
    assert wordy.call("feedback", "--forget", listed[0]["id"]).stdout == (
        f"forgot {listed[0]['id']}\n"
    )
    assert "no feedback yet" in wordy.call("feedback", "--list").stderr
    wordy.call("feedback", file, "--useful", name)
    (again,) = json.loads(wordy.call("feedback", "--list", "--json").stdout)["feedback"]
    done = wordy.call("feedback", "--forget", again["id"], "--json")
    assert json.loads(done.stdout) == {"forgotten": again["id"]}
    for words in ((), (file, "--list"), (file,), (file, "--useful", "x")):
        done = wordy.call("feedback", *words)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith("quire: ")


NAMES = st.sampled_from("abcdef")


@given(
    st.lists(
        st.tuples(
            st.frozensets(NAMES, max_size=3),
            st.frozensets(NAMES, max_size=3),
            st.sampled_from([None, "alice", "bob"]),
            st.sampled_from([(), ("user:bob",), ("public",)]),
        ),
        max_size=12,
    ),
    st.randoms(use_true_random=False),
)
def test_the_tally_is_bounded_and_knows_no_order(told: list[Any], shuffle: Any) -> None:
    records = []
    for at, (useful, useless, author, share) in enumerate(told):
        own = () if author is None else (f"user:{author}",)
        made = feedback.make_feedback(
            sorted(useful),
            sorted(useless - useful),
            "r",
            at=at,
            author=author,
            acl=tuple(sorted({*own, *share})),
            shared=bool(share),
        )
        assert feedback.from_record(feedback.to_document(made).record) == made
        records.append(feedback.to_document(made).record)
    for viewer in (OWNER, Viewer("alice"), Viewer("bob"), Viewer("carol")):
        seen = [record for record in records if viewer.may_read(record.acl or ())]
        expected = feedback.tally(seen, viewer)
        shuffle.shuffle(seen)
        assert feedback.tally(seen, viewer) == expected
        assert all(-1000 <= value <= 1000 and value for value in expected.values())
        if viewer == Viewer("carol"):
            public = [record for record in seen if "public" in (record.acl or ())]
            assert feedback.tally(public, viewer) == expected
