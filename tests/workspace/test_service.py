"""Blocks are written, moved, shared and deleted, by those who may."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from quire import Block, Event, Quire, QuireError, Viewer
from quire.core.serialize import json_line
from quire.core.types import OWNER

if TYPE_CHECKING:
    from tests.conftest import Tree

PLAN = (
    Block("plan", "page", "The plan", created=5, edited=5),
    Block("goals", "heading", "Goals", "plan", 1),
    Block("rope", "todo", "Buy rope", "goals", 1, {"due": "2026-02-01", "done": False}),
    Block("sail", "todo", "Mend the sail", "goals", 2, links=("nowhere",), mentions=("ann",)),
    Block("note", "paragraph", "Low tide at noon", "plan", 0),
)


@pytest.fixture
def plan(opened: Quire) -> Quire:
    opened.blocks.put(PLAN, at=100)
    return opened


def listed(quire: Quire, viewer: Viewer | str | None = None, under: str | None = None) -> str:
    return " ".join(f"{depth}{one.id}" for depth, one in quire.blocks.tree(under, viewer=viewer))


def content(quire: Quire, viewer: Viewer | str | None = None) -> str:
    return quire.status(viewer).roots.content


def titles(quire: Quire) -> dict[str, str]:
    with quire.store.view(OWNER) as view:
        return {
            record.id: chunk.title
            for record in view.listing()
            for chunk in view.chunks_of(record.id)
        }


# --- writing ---------------------------------------------------------------------------------


def test_they_are_read_in_their_order(plan: Quire) -> None:
    assert listed(plan) == "0plan 1note 1goals 2rope 2sail"
    assert listed(plan, under="goals") == "0goals 1rope 1sail"
    assert [one.id for _, one in plan.blocks.tree(levels=2)] == ["plan", "note", "goals"]
    assert titles(plan) == {
        "plan": "",
        "goals": "The plan",
        "rope": "The plan",
        "sail": "The plan",
        "note": "The plan",
    }


def test_times_are_given_and_kept(plan: Quire) -> None:
    assert plan.blocks.get("plan") == PLAN[0]
    assert plan.blocks.get("rope") == replace(PLAN[2], created=100, edited=100)
    plan.blocks.put([replace(PLAN[2], text="Buy more rope")], at=200)
    rope = plan.blocks.get("rope")
    assert (rope.text, rope.created, rope.edited) == ("Buy more rope", 100, 200)


def test_what_is_as_it_was_is_left_alone(plan: Quire) -> None:
    before = content(plan)
    written = plan.blocks.put(PLAN, at=300)
    assert written.value[2] == plan.blocks.get("rope")
    assert content(plan) == before


def test_all_or_none(plan: Quire) -> None:
    before = content(plan)
    wrong = [Block("new", "paragraph", "x"), Block("new", "paragraph", "y")]
    with pytest.raises(QuireError, match="block new occurs twice"):
        plan.blocks.put(wrong, at=200)
    with pytest.raises(QuireError, match="block 'odd': type: unknown type 'poem'"):
        plan.blocks.put([Block("new", "page"), Block("odd", "poem")], at=200)
    with pytest.raises(QuireError, match="block key is refused: line 1 looks like"):
        plan.blocks.put(
            [Block("key", "code", "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")], at=200
        )
    assert content(plan) == before


def test_one_without_an_id_gets_one(opened: Quire) -> None:
    same = Block("", "paragraph", "Twice")
    first, second = opened.blocks.put([same, same], at=1).value
    assert first.id.startswith("b-")
    assert first.id != second.id
    assert len(opened.blocks.tree()) == 2


def test_edited_with_the_rest_kept(plan: Quire) -> None:
    made = plan.blocks.edit("rope", at=200, properties={"due": None, "done": True, "who": "ann"})
    assert made.value.properties == {"done": True, "who": "ann"}
    assert (made.value.text, made.value.edited) == ("Buy rope", 200)
    plan.blocks.edit("sail", at=201, text="Sew", relations={"crew": ["ann"]}, links=[], mentions=[])
    sail = plan.blocks.get("sail")
    assert (sail.text, sail.relations, sail.links) == ("Sew", {"crew": ("ann",)}, ())
    assert plan.blocks.get("rope") == made.value
    before = content(plan)
    plan.blocks.edit("rope", at=900, text="Buy rope")
    assert content(plan) == before, "an edit that changes nothing is none"
    with pytest.raises(QuireError, match="nothing to edit"):
        plan.blocks.edit("rope", at=1)
    with pytest.raises(QuireError, match="property 'a': expected a finite number, not nan"):
        plan.blocks.edit("rope", at=1, properties={"a": float("nan")})


def test_a_new_title_reaches_all_that_stands_below(plan: Quire) -> None:
    plan.blocks.edit("plan", at=200, text="Plan B")
    assert {title for name, title in titles(plan).items() if name != "plan"} == {"Plan B"}
    assert [one.chunk.record_id for one in plan.search("plan b", k=9).results]


def test_moved_with_all_that_stands_in_it(plan: Quire) -> None:
    plan.blocks.put([Block("log", "page", "Log", position=9)], at=150)
    plan.blocks.move("goals", "log", at=200, position=4)
    assert listed(plan) == "0plan 1note 0log 1goals 2rope 2sail"
    assert titles(plan)["rope"] == "Log"
    plan.blocks.move("rope", None, at=201)
    assert listed(plan) == "0plan 1note 0rope 0log 1goals 2sail"
    assert titles(plan)["rope"] == ""
    with pytest.raises(QuireError, match="block nowhere does not exist; see `quire block tree`"):
        plan.blocks.move("rope", "nowhere", at=1)


def test_circles_are_refused_with_the_chain(plan: Quire) -> None:
    before = content(plan)
    with pytest.raises(QuireError, match=r"plan would .* \(plan in rope in goals in plan\)"):
        plan.blocks.move("plan", "rope", at=200)
    with pytest.raises(QuireError, match=r"\(note in note\)"):
        plan.blocks.move("note", "note", at=200)
    with pytest.raises(QuireError, match=r"\(x in y in x\)|\(y in x in y\)"):
        plan.blocks.put([Block("x", "page", "", "y"), Block("y", "page", "", "x")], at=200)
    plan.blocks.put([Block("x", "page", "X", "later")], at=200)
    with pytest.raises(QuireError, match="would be inside itself"):
        plan.blocks.put([Block("later", "page", "Y", "x")], at=201)
    plan.blocks.delete("x")
    assert content(plan) == before


def test_what_comes_later_is_found_by_its_children(opened: Quire) -> None:
    opened.blocks.put([Block("child", "paragraph", "Early", "parent")], at=1)
    assert listed(opened) == "0child"
    opened.blocks.put([Block("parent", "page", "Late", access=("ann",))], at=2)
    assert listed(opened) == "0parent 1child"
    assert titles(opened)["child"] == "Late"
    assert listed(opened, "bob") == ""
    assert listed(opened, "ann") == "0parent 1child"


# --- taking out, and back ----------------------------------------------------------------------


def test_deleted_and_restored_exactly(plan: Quire) -> None:
    plan.blocks.view("rope", at=120)
    plan.blocks.share("goals", ["ann", "link:t"], at=130)
    plan.blocks.put([Block("apart", "page", "Apart")], at=140)
    before = content(plan)
    everything = plan.blocks.export()
    gone = plan.blocks.delete("plan")
    assert [one.id for one in gone] == ["plan", "note", "goals", "rope", "sail"]
    assert len(gone) == 5
    assert listed(plan) == "0apart"
    assert plan.search("rope").results == ()
    plan.blocks.put(gone.blocks, at=999, events=gone.events)
    assert content(plan) == before
    assert plan.blocks.export() == everything
    assert plan.store.check() == []


def test_restored_as_a_new_writing(plan: Quire) -> None:
    everything = plan.blocks.export()
    gone = plan.blocks.delete("goals")
    plan.blocks.put(gone, at=500)
    assert plan.blocks.export() == everything
    with plan.store.view(OWNER) as view:
        assert view.latest_activity() == 500


def test_only_what_was_done_to_them_is_put_back(plan: Quire) -> None:
    gone = plan.blocks.delete("goals")
    forged = [Event("zed", "view", "note", 7)]
    with pytest.raises(QuireError, match="an event of zed on block note cannot be restored"):
        plan.blocks.put(gone, at=500, events=forged)
    with pytest.raises(QuireError, match="cannot be restored"):
        plan.blocks.put(
            [Block("own", "page", "x")], at=1, viewer="ann", events=[Event("bob", "view", "own", 1)]
        )


# --- who may what ------------------------------------------------------------------------------


def test_readers_follow_the_tree_at_once(plan: Quire) -> None:
    assert listed(plan, "ann") == listed(plan)
    plan.blocks.share("plan", ["@crew"], at=200)
    plan.access.set_groups({"crew": ["ann"]})
    assert listed(plan, "ann") == listed(plan)
    assert listed(plan, "bob") == ""
    plan.blocks.share("goals", ["bob"], at=201)
    assert listed(plan, "ann") == "0plan 1note"
    assert listed(plan, "bob") == "0goals 1rope 1sail"
    assert titles(plan)["goals"] == "", "the page's title is not for bob"
    assert titles(plan)["note"] == "The plan"
    plan.blocks.share("rope", ["public"], at=202)
    assert listed(plan, "zed") == "0rope"
    plan.blocks.share("goals", None, at=203)
    assert listed(plan, "ann") == listed(plan)
    assert listed(plan, "bob") == "0rope"
    plan.access.set_groups({})
    assert listed(plan, "ann") == "0rope"


def test_a_link_opens_what_it_was_given_for(plan: Quire) -> None:
    plan.blocks.share("plan", ["owner"], at=200)
    plan.blocks.share("goals", ["link:s3cret"], at=201)
    guest = Viewer("", links=("s3cret",))
    assert listed(plan, guest) == "0goals 1rope 1sail"
    assert listed(plan, Viewer("", links=("other",))) == ""
    assert [one.chunk.record_id for one in plan.search("rope", viewer=guest).results] == ["rope"]
    assert plan.blocks.view("rope", at=5, viewer=guest).text == "Buy rope"
    plan.blocks.share("goals", None, at=202)
    assert listed(plan, guest) == ""


def test_a_rule_that_hides_a_page_hides_its_title_everywhere(plan: Quire, plain: Tree) -> None:
    assert plain.call("access", "allow", ".quire/block/plan", "hana").returncode == 0
    assert listed(plan, "ann") == ""
    assert plan.search("plan", viewer="ann").results == ()
    assert listed(plan, "hana") == listed(plan)


def test_what_a_viewer_puts_at_the_root_is_theirs(opened: Quire) -> None:
    made = opened.blocks.put([Block("mine", "page", "Diary")], at=1, viewer="ann").value[0]
    assert (made.author, made.access) == ("ann", ("user:ann",))
    opened.blocks.put([Block("day", "paragraph", "Rain", "mine")], at=2, viewer="ann")
    assert opened.blocks.get("day").access is None
    assert listed(opened, "bob") == ""
    opened.blocks.share("mine", ["bob"], at=3, viewer="ann")
    assert listed(opened, "bob") == listed(opened, "ann") == "0mine 1day"
    assert opened.blocks.get("mine", viewer="ann").access == ("user:ann", "user:bob")
    assert opened.blocks.get("mine", viewer="bob").access is None, (
        "with whom else is not bob's to know"
    )
    assert opened.blocks.share("mine", None, at=4, viewer="ann").value.access == ("user:ann",)
    opened.blocks.put([Block("shelf", "page", "Shelf", access=("ann",))], at=5)
    opened.blocks.move("mine", "shelf", at=6, viewer="ann")
    assert opened.blocks.move("mine", None, at=7, viewer="ann").value.access == ("user:ann",)


def test_others_may_add_but_not_change(plan: Quire) -> None:
    plan.blocks.put([Block("reply", "comment", "Which rope?", "rope")], at=200, viewer="bob")
    assert listed(plan, "ann", "rope") == "0rope 1reply"
    refused = "was written by the owner; only its author and the owner may change it"
    for change in (
        lambda: plan.blocks.edit("rope", at=1, text="x", viewer="bob"),
        lambda: plan.blocks.move("rope", None, at=1, viewer="bob"),
        lambda: plan.blocks.share("rope", ["bob"], at=1, viewer="bob"),
        lambda: plan.blocks.delete("rope", viewer="bob"),
        lambda: plan.blocks.put([Block("rope", "page", "x")], at=1, viewer="bob"),
    ):
        with pytest.raises(QuireError, match=refused):
            change()
    with pytest.raises(QuireError, match="without a name cannot write"):
        plan.blocks.put([Block("x", "page", "x")], at=1, viewer=Viewer("", links=("t",)))
    plan.blocks.edit("reply", at=201, text="Which?", viewer="bob")
    plan.blocks.edit("reply", at=202, text="Which one?")
    plan.blocks.delete("reply", viewer="bob")


def test_nobody_deletes_what_others_wrote(plan: Quire) -> None:
    plan.blocks.put([Block("own", "page", "Own", access=("bob",))], at=1, viewer="ann")
    plan.blocks.put([Block("reply", "comment", "Mine", "own")], at=2, viewer="bob")
    with pytest.raises(QuireError, match="its child, block reply was written by bob"):
        plan.blocks.delete("own", viewer="ann")
    plan.blocks.share("reply", ["owner"], at=3)
    assert plan.blocks.get("reply").access == ()
    assert [one.id for one in plan.blocks.delete("own", viewer="ann")] == ["own"]
    assert plan.blocks.get("reply").parent == "own", "what ann may not read stays"


def test_nobody_slips_in_above_what_others_wrote(plan: Quire, plain: Tree) -> None:
    plain.write(
        "quire.toml",
        plain.root.joinpath("quire.toml").read_text() + '[access]\ndefault = "owner"\n',
    )
    plan.blocks.put([Block("orphan", "paragraph", "Secret", "later")], at=200)
    assert listed(plan, "mallory") == ""
    with pytest.raises(QuireError, match="the id later cannot be used; choose another one"):
        plan.blocks.put([Block("later", "page", "Mine")], at=201, viewer="mallory")
    assert listed(plan, "mallory") == ""
    plan.blocks.share("orphan", ["hana"], at=202)
    plan.blocks.put([Block("later", "page", "Mine")], at=203, viewer="mallory")
    assert listed(plan, "mallory") == "0later", "a list of its own is not touched"


def test_an_unreadable_block_is_as_good_as_none(plan: Quire) -> None:
    plan.blocks.share("goals", ["hana"], at=200)

    def told(name: str) -> list[str]:
        errors = []
        for ask in (
            lambda: plan.blocks.get(name, viewer="ann"),
            lambda: plan.blocks.view(name, at=1, viewer="ann"),
            lambda: plan.blocks.tree(name, viewer="ann"),
            lambda: plan.blocks.edit(name, at=1, text="x", viewer="ann"),
            lambda: plan.blocks.move(name, None, at=1, viewer="ann"),
            lambda: plan.blocks.share(name, None, at=1, viewer="ann"),
            lambda: plan.blocks.delete(name, viewer="ann"),
            lambda: plan.blocks.put([Block("n", "list", "x", name)], at=1, viewer="ann"),
        ):
            with pytest.raises(QuireError) as error:
                ask()
            errors.append(str(error.value).replace(name, "ID"))
        return errors

    assert told("rope") == told("absent")
    with pytest.raises(QuireError, match="the id rope cannot be used; choose another one"):
        plan.blocks.put([Block("rope", "page", "x")], at=1, viewer="ann")


def test_the_owner_has_a_name_that_nobody_else_may_have(plan: Quire) -> None:
    for viewer in ("owner", Viewer("owner")):
        with pytest.raises(QuireError, match="'owner' is not a user's name"):
            plan.blocks.tree(viewer=viewer)
    with pytest.raises(QuireError, match="author: 'owner' is not a user"):
        plan.blocks.put([Block("x", "page", "x", author="owner")], at=1)
    with pytest.raises(QuireError, match="author: 'Ann Lee' is not a user"):
        plan.blocks.put([Block("x", "page", "x", author="Ann Lee")], at=1)


# --- what was done -------------------------------------------------------------------------------


def test_what_is_done_is_recorded(opened: Quire) -> None:
    opened.blocks.put([Block("p", "page", "P", access=("ann",), author="ann")], at=10)
    opened.blocks.edit("p", at=20, text="P2", viewer="ann")
    opened.blocks.share("p", ["ann", "bob"], at=30)
    opened.blocks.view("p", at=40, viewer="bob")
    opened.blocks.view("p", at=50)
    with opened.store.view(OWNER) as view:
        assert [(one.actor, one.verb, one.at) for one in view.events()] == [
            ("owner", "view", 50),
            ("bob", "view", 40),
            ("owner", "edit", 30),
            ("ann", "edit", 20),
            ("ann", "edit", 10),
        ]
    with opened.store.view(Viewer("ann")) as view:
        assert {one.actor for one in view.events()} == {"ann"}


# --- in and out as files -------------------------------------------------------------------------


def test_exported_and_imported(plan: Quire) -> None:
    plan.blocks.share("goals", ["ann"], at=200)
    text = "\n".join(json_line(one) for one in plan.blocks.export())
    result = plan.blocks.import_lines(text, at=300)
    assert (result.added, result.changed, result.unchanged) == (0, 0, 5)
    gone = plan.blocks.delete("goals")
    result = plan.blocks.import_lines(text, at=300)
    assert (result.added, result.changed, result.unchanged) == (3, 0, 2)
    assert [one.id for one in gone] == ["goals", "rope", "sail"]
    assert [one.parent for one in plan.blocks.export("goals", viewer="ann")] == [
        None,
        "goals",
        "goals",
    ]
    with pytest.raises(QuireError, match="line 1: not valid JSON"):
        plan.blocks.import_lines("{", at=1)


# --- many, and deep ------------------------------------------------------------------------------


def test_a_tree_of_ten_thousand_levels(opened: Quire) -> None:
    deep = [Block("d0", "page", "Deep")]
    deep += [Block(f"d{n}", "list", f"Level {n}", f"d{n - 1}") for n in range(1, 10_000)]
    opened.blocks.put(reversed(deep), at=1)
    assert opened.blocks.tree("d9990")[-1][0] == 9
    opened.blocks.edit("d9999", at=2, text="The bottom")
    with pytest.raises(QuireError, match="d0 in d9999 in d9998 in … in d2 in d1 in d0"):
        opened.blocks.move("d0", "d9999", at=3)
    opened.blocks.move("d9000", "d5", at=4)
    opened.blocks.share("d9000", ["ann"], at=5)
    assert opened.blocks.tree("d9990", viewer="ann")[-1][1].text == "The bottom"
    with pytest.raises(QuireError, match="block d9990 does not exist"):
        opened.blocks.tree("d9990", viewer="bob")
    assert len(opened.blocks.delete("d9000")) == 1_000
