"""An export holds all of a space, as of one moment."""

from __future__ import annotations

import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER, AccessRule, Event, Link, Stamp
from quire.errors import InputError

from .contract_records import FULL
from .samples import MODEL, document, fill, vector_for

STAMP = Stamp("a.md", 1, 2, "d", "a")
EVENTS = (Event("ann", "edit", "a", 1), Event("bob", "view", "gone", 2))


class TestExports:
    def test_it_holds_everything(self, store: Store) -> None:
        document_a = document("a", "alpha", "beta", links=[("gone", "link"), ("full", "link")])
        hidden = document("h", "gamma", acl=("user:ann",))
        with store.write() as writer:
            writer.set_rules("config", [AccessRule("x/**", ("user:ann",))])
            writer.set_groups("command", {"ops": ["bob"]})
            writer.set_default(("user:bob",))
        fill(store, document_a, hidden, FULL)
        with store.write() as writer:
            first = document_a.chunks[0]
            writer.put_vectors(MODEL, {first.vector_key: vector_for("v")})
            writer.put_events(reversed(EVENTS))
            writer.stamp([STAMP])
            writer.set_note("root", "/here")
        with store.view(OWNER) as view, store.export() as export:
            assert export.roots() == view.roots()
            assert export.count().chunks == view.status().chunks
            assert export.count().vectors == 1
            state = export.state()
            entries = list(export.entries())
            assert list(export.places()) == [entry.place for entry in entries]
            assert [entry.record for entry in entries] == list(view.listing())
            assert all(
                list(entry.chunks) == view.chunks_of(entry.record.id)
                and entry.vectors == view.vectors([chunk.id for chunk in entry.chunks])
                and entry.outline == view.outlines([entry.record.id]).get(entry.record.id)
                for entry in entries
            )
            for place, entry in enumerate(entries):
                assert list(export.entries(entry.place)) == entries[place + 1 :]
        by_id = {entry.record.id: entry for entry in entries}
        assert by_id["a"].links == (Link("a", "full", "link"), Link("a", "gone", "link"))
        assert by_id["h"].record.acl == ("user:ann",)
        assert state.events == EVENTS
        assert dict(state.stamps) == {"a.md": STAMP}
        assert dict(state.notes) == {"root": "/here"}
        assert state.rules["config"] == (AccessRule("x/**", ("user:ann",)),)
        assert state.groups == {"config": {}, "command": {"ops": ("bob",)}}
        assert (state.access_default, state.model) == (("user:bob",), MODEL)

    def test_it_shows_the_moment_of_its_opening(self, store: Store) -> None:
        fill(store, *(document(f"{name:03}", "alpha") for name in range(450)))
        with store.export() as export:
            entries = export.entries()
            first = next(entries)
            roots = export.roots()
            with store.write() as writer:
                writer.remove(["300"])
                writer.set_note("late", "x")
            assert len([first, *entries]) == 450
            assert export.roots() == roots
            assert "late" not in export.state().notes
        with store.export() as export:
            assert len(list(export.places())) == 449
            assert export.roots() != roots
        with pytest.raises(InputError, match="closed"):
            export.roots()

    def test_a_space_that_is_not_there_is_empty(self, store: Store) -> None:
        assert store.spaces() == ()
        with store.export("nowhere") as export, store.view(OWNER, "nowhere") as view:
            assert not list(export.entries())
            assert not list(export.places())
            assert export.roots() == view.roots()
            assert export.state().access_default == ("public",)
            assert (export.state().model, export.count().chunks) == (None, 0)
        assert store.spaces() == ()

    def test_spaces_are_listed_by_name(self, store: Store) -> None:
        for name in ("two", "main", "one"):
            fill(store, document("a", "alpha"), space=name)
        assert store.spaces() == ("main", "one", "two")

    def test_a_note_can_be_deleted(self, store: Store) -> None:
        with store.write() as writer:
            writer.set_note("a", "1")
            writer.set_note("b", "2")
            writer.set_note("a", None)
            writer.set_note("absent", None)
        assert (store.note("a"), store.note("b")) == (None, "2")
