"""Outlines, definitions and references, and who may read them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER, AccessRule, Entity, Event, Mention, Outline, Reference
from quire.errors import InputError

from .answers import root
from .engines import Engine
from .samples import ALICE, BOB, NOBODY, document, fill

WHOLE = Entity("module", "cart", "cart", 0, 60, (1, 6), summary="Carts, in \U0001f6d2 words.")
CLASS = Entity("class", "Cart", "Cart", 5, 60, (2, 6), parent=0, signature="class Cart:")
METHOD = Entity(
    "method",
    "total",
    "Cart.total",
    20,
    60,
    (4, 6),
    parent=1,
    signature="def total(self) -> int:",
    summary="Add it all up.",
    decorators=("@property", "@cached"),
    attrs={"turn": 3, "speaker": "Zoë"},
)
SECTION = Entity("section", "total", "total", 30, 40, (5, 5), parent=2)
OUTLINE = Outline(
    (WHOLE, CLASS, METHOD, SECTION),
    (Reference("price", "call", 2, 4), Reference("price", "call", 1), Reference("os", "import", 0)),
)


class TestOutlines:
    def test_an_outline_comes_back_whole(self, engine: Engine) -> None:
        store = engine.open()
        fill(store, document("cart", "x", outline=OUTLINE), document("plain", "x"))
        store.close()
        with engine.open().view(OWNER) as view:
            outlines = view.outlines(["cart", "plain", "absent"])
            assert outlines == {"cart": OUTLINE}
            assert [*outlines] == ["cart"]
            assert outlines.get("plain") is None

    def test_it_is_part_of_the_state(self, store: Store) -> None:
        fill(store, document("cart", "x"))
        roots = [root(store)]
        renamed = replace(OUTLINE, entities=(replace(WHOLE, summary="?"), *OUTLINE.entities[1:]))
        fewer = replace(OUTLINE, references=OUTLINE.references[:1])
        for outline in (OUTLINE, renamed, fewer):
            fill(store, document("cart", "x", outline=outline))
            roots.append(root(store))
        assert len(set(roots)) == 4
        fill(store, document("cart", "x", outline=OUTLINE))
        assert root(store) == roots[1]
        fill(store, document("cart", "x"))
        assert root(store) == roots[0]
        with store.view(OWNER) as view:
            assert view.outlines(["cart"]) == {}
            assert view.definitions(["Cart"]) == []

    def test_names_are_found_where_they_are_defined_and_used(self, store: Store) -> None:
        user = Outline((replace(WHOLE, name="till"),), (Reference("total", "call", 0, 2),))
        fill(
            store,
            document("cart", "x", path="b.py", outline=OUTLINE),
            document("till", "x", path="a.py", outline=user),
        )
        with store.view(OWNER) as view:
            assert view.definitions(["total", "Cart", "nothing", "till"]) == [
                Mention("Cart", "define", "cart", 1),
                Mention("till", "define", "till", 0),
                Mention("total", "define", "cart", 2),
            ], "a section is nothing that others call by its name"
            assert view.references(["total", "price", "os"]) == [
                Mention("os", "import", "cart", 0),
                Mention("price", "call", "cart", 1),
                Mention("price", "call", "cart", 2, 4),
                Mention("total", "call", "till", 0, 2),
            ]

    def test_what_is_removed_is_named_no_more(self, store: Store) -> None:
        fill(store, document("cart", "x", outline=OUTLINE), document("other", "x", outline=OUTLINE))
        with store.write() as writer:
            writer.remove(["cart"])
        with store.view(OWNER) as view:
            assert view.outlines(["cart"]) == {}
            assert [each.record_id for each in view.definitions(["Cart"])] == ["other"]
        assert store.check() == []

    def test_nobody_learns_names_that_they_may_not_read(self, store: Store) -> None:
        fill(store, document("cart", "x", outline=OUTLINE, acl=("alice",)))
        with store.view(BOB) as view:
            assert view.outlines(["cart"]) == {}
            assert view.definitions(["Cart"]) == []
            assert view.references(["price"]) == []
        with store.view(ALICE) as view:
            assert view.outlines(["cart"]) == {"cart": OUTLINE}
            assert len(view.definitions(["Cart"])) == 1

    @pytest.mark.parametrize(
        "outline",
        [
            Outline(()),
            Outline((CLASS,)),
            Outline((WHOLE, replace(CLASS, parent=None))),
            Outline((WHOLE, replace(CLASS, parent=1))),
            Outline((WHOLE, replace(CLASS, parent=-1))),
            Outline((WHOLE, replace(CLASS, end=1))),
            Outline((replace(WHOLE, name="\ud800"),)),
            Outline((WHOLE,), (Reference("x", "call", 1),)),
            Outline((WHOLE,), (Reference("x", "call", -1),)),
            Outline((WHOLE,), (Reference("x", "define", 0),)),
        ],
    )
    def test_what_is_no_outline_is_refused(self, store: Store, outline: Outline) -> None:
        before = root(store)
        record = document("cart", "x").record
        with pytest.raises(InputError), store.write() as writer:
            writer.put(record, (), (), outline)
        assert root(store) == before


class TestPaths:
    """A record about several paths is for those who may read all of them."""

    def test_only_who_may_read_every_path_may_read_it(self, store: Store) -> None:
        with store.write() as writer:
            writer.set_rules(
                "config",
                [AccessRule("hr/", ("alice",)), AccessRule("ops/", ("alice", "bob"))],
            )
        fill(
            store,
            document("open", "x", kind="commit", paths=("a.md", "b.md")),
            document("ops", "x", kind="commit", paths=("a.md", "ops/c.md")),
            document("both", "x", kind="commit", paths=("hr/d.md", "ops/c.md")),
            document("own", "x", kind="commit", paths=("ops/c.md",), acl=("bob",)),
        )
        for viewer, expected in (
            (OWNER, ["both", "open", "ops", "own"]),
            (ALICE, ["both", "open", "ops"]),
            (BOB, ["open", "ops", "own"]),
            (NOBODY, ["open"]),
        ):
            with store.view(viewer) as view:
                assert [record.id for record in view.listing()] == expected
                assert view.status().records == len(expected)
                assert {hit.path for hit in view.lexical("x", 9).hits} == {
                    f"{name}.md" for name in expected
                }

    def test_rules_that_change_take_effect_at_once(self, store: Store) -> None:
        fill(
            store,
            document("commit", "x", paths=("a/x", "b/y")),
            document("own", "x", paths=("a/x",), acl=("alice",)),
        )
        with store.view(NOBODY) as view:
            before = view.roots()
            assert [record.id for record in view.listing()] == ["commit"]
        with store.write() as writer:
            writer.set_rules("command", [AccessRule("a/", ("alice",)), AccessRule("b/", ("bob",))])
        for viewer, expected in ((NOBODY, []), (BOB, []), (ALICE, ["own"])):
            with store.view(viewer) as view:
                assert [record.id for record in view.listing()] == expected
        assert store.check() == []
        with store.write() as writer:
            writer.set_rules("command", [])
        with store.view(NOBODY) as view:
            assert view.roots() == before

    def test_paths_come_back_and_are_part_of_the_state(self, store: Store) -> None:
        fill(store, document("commit", "x"))
        before = root(store)
        fill(store, document("commit", "x", paths=("a", "ü")))
        assert root(store) != before
        with store.view(OWNER) as view:
            assert view.records(["commit"])[0].paths == ("a", "ü")

    def test_what_i_did_to_it_is_mine_while_i_may_read_it(self, store: Store) -> None:
        fill(store, document("commit", "x", paths=("a/x", "b/y")))
        with store.write() as writer:
            writer.put_events([Event("alice", "view", "commit", 4)])
        with store.view(ALICE) as view:
            assert len(view.events()) == 1
        with store.write() as writer:
            writer.set_rules(
                "config", [AccessRule("a/", ("alice", "bob")), AccessRule("b/", ("bob",))]
            )
        with store.view(ALICE) as view:
            assert view.events() == []
        assert store.check() == []


class TestNewest:
    def test_nothing_has_happened_in_an_empty_store(self, store: Store) -> None:
        with store.view(OWNER) as view:
            assert view.latest_activity() is None

    def test_commits_and_events_count_and_claims_do_not(self, store: Store) -> None:
        fill(
            store,
            document("note", "x", modified=999),
            document("first", "x", kind="commit", modified=10),
            document("second", "x", kind="commit", modified=30, acl=("alice",)),
        )
        with store.view(BOB) as view:
            assert view.latest_activity() == 10
        with store.view(ALICE) as view:
            assert view.latest_activity() == 30
        with store.write() as writer:
            writer.put_events([Event("bob", "view", "note", 20), Event("alice", "edit", "note", 5)])
        with store.view(BOB) as view:
            assert view.latest_activity() == 20
        with store.view(ALICE) as view:
            assert view.latest_activity() == 30
