"""Access: every viewer reads what they may, and nothing else."""

from __future__ import annotations

import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER, AccessRule, Event, Filter, Link, Viewer
from quire.errors import InputError

from .answers import Questions, answers_by_viewer, root
from .engines import Engine
from .samples import ALICE, BOB, CAROL, NOBODY, document, fill, put


def readable(store: Store, viewer: Viewer) -> str:
    """Return which records a viewer may read, by every method that returns records or chunks."""
    with store.view(viewer) as view:
        names = [record.id for record in view.listing()]
        by_id = [record.id for record in view.records(["a", "b", "c", "d"])]
        by_chunk = [name for name in "abcd" if view.chunks_of(name)]
        by_word = sorted({hit.path for hit in view.lexical("word", 99).hits})
        by_vector = sorted({hit.path for hit in view.semantic(bytes(8), 99).hits})
        assert names == by_id == by_chunk
        assert [f"{name}.md" for name in names] == by_word == by_vector
        assert view.status().records == len(names)
        return "".join(names)


class TestAccess:
    def test_by_default_everyone_reads_everything(self, store: Store) -> None:
        fill(store, document("a", "word"), document("b", "word"), embed=True)
        for viewer in (OWNER, ALICE, NOBODY):
            assert readable(store, viewer) == "ab"

    def test_a_record_may_have_a_list_of_its_own(self, store: Store) -> None:
        fill(
            store,
            document("a", "word", acl=("public",)),
            document("b", "word", acl=("user:bob", "group:ops")),
            document("c", "word", acl=("group:ops",)),
            document("d", "word", acl=()),
            embed=True,
        )
        assert readable(store, OWNER) == "abcd"
        assert readable(store, BOB) == "ab"
        assert readable(store, CAROL) == "abc"
        assert readable(store, ALICE) == "a"
        assert readable(store, NOBODY) == "a"

    def test_a_link_lets_in_whoever_presents_it(self, store: Store) -> None:
        fill(
            store,
            document("a", "word", acl=("link:x9",)),
            document("b", "word", acl=("bob", "link:x9", "link:y1")),
            document("c", "word", acl=("user:x9", "group:x9")),
            embed=True,
        )
        assert readable(store, NOBODY) == ""
        assert readable(store, BOB) == "b"
        assert readable(store, Viewer("", links=("x9",))) == "ab"
        assert readable(store, Viewer("", links=("link:x9",))) == "ab"
        assert readable(store, Viewer("bob", links=("x",))) == "b"
        assert readable(store, Viewer("carol", links=("nothing", "y1"))) == "b"
        with store.view(Viewer("bob", links=("x9",))) as view:
            assert view.viewer.links == ("x9",)

    def test_what_others_wrote_for_themselves_can_be_left_out(self, store: Store) -> None:
        """Only for the owner is it readable at all without being shared."""
        own, stated = ("user:alice",), ".quire/memory"
        fill(
            store,
            document("a", "word", path=f"{stated}/a", author="alice", acl=own),
            document("b", "word", path=f"{stated}/b", author="alice", acl=("public",)),
            document("c", "word", path=f"{stated}/c", acl=own),
            document("d", "word", path="hr/d.md", author="alice", acl=own),
            document("e", "word", path=f"{stated}/e", author="alice", acl=("alice", "@ops")),
            document("f", "word", path=".quire/value/f", acl=own, links=[("a", "member")]),
            document("g", "word", path=".quire/value/g", acl=own, links=[("c", "member")]),
            document("h", "word", path=".quire/value/h", links=[("b", "member"), ("a", "see")]),
            embed=True,
        )
        expected = {
            OWNER: "bcdgh",
            Viewer("alice", owner=True): "abcdefgh",
            Viewer("zed", groups=("ops",), owner=True): "bcdegh",
            ALICE: "abcdefgh",
            CAROL: "beh",
            NOBODY: "bh",
        }
        where = Filter(shared_only=True)
        for viewer, names in expected.items():
            with store.view(viewer) as view:
                everything = [record.id for record in view.listing()]
                hidden = view.unshared([*"hgfedcba", "nothing"])
                assert hidden == {*everything} - {*names}, viewer
                assert sorted(record.id for record in view.listing(where)) == [*names]
                for hits in (
                    view.lexical("word", 99, where).hits,
                    view.lexical("word", 99, where, reach=1).hits,
                    view.match_all(["word"], 99, where)[0],
                    view.semantic(bytes(8), 99, where).hits,
                ):
                    assert sorted(hit.path.removesuffix(".md")[-1] for hit in hits) == [*names]
                few = view.lexical("word", 1, Filter(kinds=("text",), shared_only=True))
                assert len(few.hits) == 1
                assert view.unshared([]) == frozenset()

    @pytest.mark.parametrize(
        ("written", "kept"),
        [
            (("bob",), ("user:bob",)),
            (("user:bob", "bob"), ("user:bob",)),
            (("@ops", "bob"), ("group:ops", "user:bob")),
            (("bob", "public"), ("public",)),
            (("owner",), ()),
            (("owner", "zed", "ann"), ("user:ann", "user:zed")),
            (("link:x9", "ann", "link:x9"), ("link:x9", "user:ann")),
        ],
    )
    def test_principals_have_one_spelling(
        self, store: Store, written: tuple[str, ...], kept: tuple[str, ...]
    ) -> None:
        fill(store, document("a", "word", acl=kept))
        before = answers_by_viewer(store, Questions(records=("a",)))
        fill(store, document("a", "word", acl=written))
        assert answers_by_viewer(store, Questions(records=("a",))) == before
        with store.view(OWNER) as view:
            assert view.records(["a"])[0].acl == kept
        with store.write() as writer:
            writer.set_rules("config", [AccessRule("x", written)])
        assert store.rules()["config"] == (AccessRule("x", kept),)

    def test_the_last_rule_that_matches_decides(self, store: Store) -> None:
        fill(store, *(document(name, "word") for name in "abc"), embed=True)
        with store.write() as writer:
            writer.set_rules(
                "config",
                [
                    AccessRule("*", ("alice",)),
                    AccessRule("b.*", ("bob", "alice")),
                    AccessRule("c.md", ("owner",)),
                    AccessRule("nothing/", ("public",)),
                ],
            )
        assert readable(store, ALICE) == "ab"
        assert readable(store, BOB) == "b"
        assert readable(store, NOBODY) == ""
        assert readable(store, OWNER) == "abc"

    def test_rules_by_command_have_the_last_word(self, store: Store) -> None:
        fill(store, *(document(name, "word") for name in "ab"), embed=True)
        with store.write() as writer:
            writer.set_rules("command", [AccessRule("a.md", ("bob",))])
            writer.set_rules("config", [AccessRule("*", ("alice",))])
        assert readable(store, BOB) == "a"
        assert readable(store, ALICE) == "b"
        with store.write() as writer:
            writer.set_rules("command", [])
        assert readable(store, BOB) == ""
        assert readable(store, ALICE) == "ab"
        assert store.rules() == {
            "config": (AccessRule("*", ("user:alice",)),),
            "command": (),
        }

    def test_rules_hold_for_what_comes_later(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, document("a", "word"))
            writer.set_rules("config", [AccessRule("*.md", ("bob",))])
            put(writer, document("b", "word"))
        fill(store, document("c", "word"))
        fill(store, *(document(name, "word") for name in "abc"), embed=True)
        assert readable(store, BOB) == "abc"
        assert readable(store, ALICE) == ""

    def test_a_list_of_its_own_comes_before_the_rules(self, store: Store) -> None:
        fill(store, document("a", "word", acl=("bob",)), document("b", "word"), embed=True)
        with store.write() as writer:
            writer.set_rules("config", [AccessRule("*", ("alice",))])
        assert readable(store, BOB) == "a"
        assert readable(store, ALICE) == "b"

    def test_a_list_that_is_taken_away_leaves_the_rules(self, store: Store) -> None:
        fill(store, document("a", "word", acl=("public",)), embed=True)
        fill(store, document("a", "word"))  # who may read it is the same, but no longer its own
        with store.write() as writer:
            writer.set_rules("config", [AccessRule("*", ("bob",))])
        assert readable(store, ALICE) == ""
        assert readable(store, BOB) == "a"

    def test_a_list_that_is_given_stays_whatever_the_rules(self, store: Store) -> None:
        fill(store, document("a", "word"), embed=True)
        fill(store, document("a", "word", acl=("public",)))
        with store.write() as writer:
            writer.set_rules("config", [AccessRule("*", ("bob",))])
        assert readable(store, ALICE) == "a"

    def test_the_default_is_for_what_no_rule_matches(self, store: Store) -> None:
        fill(store, *(document(name, "word") for name in "ab"), embed=True)
        with store.write() as writer:
            writer.set_default(("alice",))
            writer.set_rules("config", [AccessRule("b.md", ("bob",))])
        assert readable(store, ALICE) == "a"
        assert readable(store, BOB) == "b"
        with store.write() as writer:
            writer.set_default(())
        assert readable(store, ALICE) == ""
        assert readable(store, OWNER) == "ab"

    def test_a_renamed_file_falls_under_its_new_rules(self, store: Store) -> None:
        with store.write() as writer:
            writer.set_rules("config", [AccessRule("secret/", ("bob",))])
            put(writer, document("a", "word", path="open/a.md"))
        fill(store, document("a", "word", path="secret/a.md"))
        with store.view(ALICE) as view:
            assert list(view.listing()) == []
        with store.view(BOB) as view:
            assert [chunk.path for chunk in view.chunks_of("a")] == ["secret/a.md"]

    def test_groups_are_read_at_each_view(self, store: Store) -> None:
        fill(
            store,
            document("a", "word", acl=("@dev",)),
            document("b", "word", acl=("@ops",)),
            document("c", "word", acl=("user:dev",)),
            embed=True,
        )
        assert readable(store, ALICE) == ""
        with store.write() as writer:
            writer.set_groups("config", {"dev": ["alice", "bob"], "empty": []})
            writer.set_groups("command", {"ops": ["alice"], "dev": ["carol"]})
        assert readable(store, ALICE) == "ab"
        assert readable(store, BOB) == "a"
        assert readable(store, CAROL) == "ab"
        with store.view(CAROL) as view:
            assert view.viewer == Viewer("carol", ("dev", "ops"))
        with store.write() as writer:
            writer.set_groups("config", {})
        assert readable(store, ALICE) == "b"
        assert store.groups() == {
            "config": {},
            "command": {"dev": ("carol",), "ops": ("alice",)},
        }

    def test_names_of_any_script_and_sign(self, store: Store) -> None:
        for name in ("zoë", "检索", 'q"uote', "back\\slash", "a/b", "o'hara", "user", "public"):
            viewer = Viewer(name)
            fill(store, document("a", "word", acl=(f"user:{name}",)), document("b", "word"))
            with store.write() as writer:
                writer.put_events([Event(name, "view", "a", 1)])
            with store.view(viewer) as view:
                assert [record.id for record in view.listing()] == ["a", "b"]
                assert [event.actor for event in view.events()] == [name]
            with store.view(OWNER) as view:
                assert view.events(actor=name) == [Event(name, "view", "a", 1)]

    def test_rules_and_groups_are_the_owners_state(self, store: Store) -> None:
        fill(store, document("a", "word"))
        plain, mine = root(store), root(store, ALICE)
        with store.write() as writer:
            writer.set_groups("config", {"dev": ["bob"]})
            writer.set_rules("command", [AccessRule("none", ("bob",))])
        assert root(store) != plain
        assert root(store, ALICE) == mine
        with store.write() as writer:
            writer.set_groups("config", {})
            writer.set_rules("command", [])
            writer.set_default(("public",))
        assert root(store) == plain

    def test_moving_to_and_fro_comes_back_to_the_same_state(self, store: Store) -> None:
        fill(
            store,
            document("a", "word", links=[("b", "link")]),
            document("b", "word", "more", acl=("bob",)),
            embed=True,
        )
        questions = Questions(records=("a", "b"))
        before = answers_by_viewer(store, questions)
        for rules in ([AccessRule("a*", ("bob",))], [AccessRule("*", ("owner",))], []):
            with store.write() as writer:
                writer.set_rules("config", rules)
        assert answers_by_viewer(store, questions) == before

    def test_what_may_not_be_read_is_as_if_absent(self, store: Store) -> None:
        secret = document("a", "word", acl=("bob",))
        fill(store, secret, embed=True)
        name = secret.chunks[0].id
        with store.view(ALICE) as view:
            assert view.chunks([name]) == []
            assert view.single_chunks([name]) == frozenset()
            with pytest.raises(InputError) as hidden:
                view.prove(name)
            with pytest.raises(InputError) as absent:
                view.prove("0" * 32)
        assert str(hidden.value) == str(absent.value).replace("0" * 32, name)

    def test_a_bad_filter_is_refused_whatever_is_there(self, engine: Engine) -> None:
        """Otherwise an error would reveal that somebody has something here."""
        store = engine.open()
        for _ in range(2):
            with store.view(ALICE) as view:
                for ask in (
                    lambda: view.lexical("word", 1, Filter(paths=(" ",))),
                    lambda: view.semantic(bytes(8), 1, Filter(paths=(" ",))),
                    lambda: list(view.listing(Filter(paths=(" ",)))),
                ):
                    with pytest.raises(InputError):
                        ask()
            fill(store, document("a", "word", acl=("bob",)), embed=True)
        store.close()

    def test_links_show_only_between_readable_records(self, store: Store) -> None:
        fill(
            store,
            document("a", "word", links=[("b", "link"), ("c", "link")]),
            document("b", "word", acl=("bob",), links=[("a", "link"), ("c", "link")]),
            document("c", "word"),
        )
        ab, ac = Link("a", "b", "link"), Link("a", "c", "link")
        ba, bc = Link("b", "a", "link"), Link("b", "c", "link")
        with store.view(ALICE) as view:
            assert view.links(["a", "b"]) == [ac]
            assert view.links(["a", "b", "c"], back=True) == [ac]
        with store.view(BOB) as view:
            assert view.links(["a", "b"]) == [ab, ac, ba, bc]

    def test_filters_and_statistics_are_those_of_the_reader(self, engine: Engine) -> None:
        store = engine.open()
        mine = [document(f"m{number}", f"word other{number}") for number in range(3)]
        fill(store, *mine, embed=True)
        with store.view(ALICE) as view:
            before = view.lexical("word other1", 9)
        secrets = [
            document(f"s{number}", "word " * 50, acl=("bob",), path=f"m{number}.md")
            for number in range(9)
        ]
        fill(store, *secrets, embed=True)
        with store.view(ALICE) as view:
            assert view.lexical("word other1", 9) == before
        store.close()


class TestEvents:
    def test_newest_first_and_each_once(self, store: Store) -> None:
        fill(store, document("a", "x"), document("b", "x"))
        events = [
            Event("bob", "view", "a", 5),
            Event("alice", "view", "b", 5),
            Event("alice", "edit", "a", 5),
            Event("alice", "view", "a", 5),
            Event("alice", "view", "a", 9),
            Event("alice", "view", "b", -1),
        ]
        with store.write() as writer:
            writer.put_events([*events, events[0]])
            writer.put_events(events[:2])
        with store.view(OWNER) as view:
            ordered = [events[at] for at in (4, 2, 3, 1, 0, 5)]
            assert view.events() == ordered
            assert view.events(limit=2) == ordered[:2]
            assert view.events(limit=0) == []
            assert view.events(actor="bob") == [events[0]]
            assert view.events(actor="alice", limit=2) == [events[4], events[2]]
            assert view.events(actor="nobody") == []
            assert view.events(limit=2**70) == ordered

    def test_what_someone_did_is_theirs_to_know(self, store: Store) -> None:
        fill(store, document("a", "x"))
        mine, other = Event("alice", "view", "a", 1), Event("bob", "view", "a", 2)
        with store.write() as writer:
            writer.put_events([mine, other])
        with store.view(ALICE) as view:
            assert view.events() == [mine]
            assert view.events(actor="bob") == []
        with store.view(NOBODY) as view:
            assert view.events() == []
        with store.view(OWNER) as view:
            assert view.events() == [other, mine]

    def test_events_on_what_may_not_be_read_do_not_show(self, store: Store) -> None:
        fill(store, document("a", "x", acl=("bob",)))
        with store.write() as writer:
            writer.put_events([Event("alice", "view", "a", 1)])
        with store.view(ALICE) as view:
            assert view.events() == []

    def test_events_go_with_their_record(self, store: Store) -> None:
        fill(store, document("a", "x"), document("b", "x"))
        with store.view(OWNER) as view:
            before = view.roots()
        fill(store, document("c", "x"))
        with store.write() as writer:
            writer.put_events([Event("alice", "view", "c", 1), Event("bob", "edit", "c", 2)])
        with store.view(OWNER) as view:
            assert len(view.events()) == 2
        with store.write() as writer:
            writer.remove(["c"])
        with store.view(OWNER) as view:
            assert view.events() == []
            assert view.roots() == before

    def test_events_stay_when_their_record_is_replaced(self, store: Store) -> None:
        fill(store, document("a", "x"))
        with store.write() as writer:
            writer.put_events([Event("alice", "view", "a", 1)])
        fill(store, document("a", "y", path="elsewhere.md"))
        with store.view(ALICE) as view:
            assert view.events() == [Event("alice", "view", "a", 1)]
