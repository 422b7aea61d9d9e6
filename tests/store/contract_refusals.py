"""Invalid input is refused with an error, and leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from quire.core import hashing
from quire.core.protocols import Store, View, Writer
from quire.core.types import OWNER, AccessRule, Document, Event, Filter, Link
from quire.errors import InputError

from .answers import Questions, answers_by_viewer
from .samples import MODEL, document, fill, put

HALF = "\ud800"
GOOD = document("good", "alpha", "beta", title="T", links=[("x", "link")], attrs={"k": "v"})


def with_chunk(**changes: object) -> Document:
    first = replace(GOOD.chunks[0], **changes)  # type: ignore[arg-type]  # whatever the test names
    return replace(GOOD, chunks=(first, GOOD.chunks[1]))


def with_record(**changes: object) -> Document:
    return replace(GOOD, record=replace(GOOD.record, **changes))  # type: ignore[arg-type]  # as above


def with_text(text: str) -> Document:
    return with_chunk(id=hashing.chunk_id("good", 0, text), text=text)


BAD_DOCUMENTS: dict[str, Document] = {
    "an empty id": document("", "alpha"),
    "NUL in the id": document("a\0b", "alpha"),
    "NUL in the path": document("a", "alpha", path="a\0b.md"),
    "half a surrogate pair in the id": document(HALF, "alpha"),
    "half a surrogate pair in the path": document("a", "alpha", path=f"{HALF}.md"),
    "half a surrogate pair in the kind": with_record(kind=HALF),
    "half a surrogate pair in the title": with_record(title=HALF),
    "half a surrogate pair in the parent": with_record(parent=HALF),
    "half a surrogate pair in the author": with_record(author=HALF),
    "half a surrogate pair in a name of an attribute": with_record(attrs={HALF: "x"}),
    "half a surrogate pair in an attribute": with_record(attrs={"x": HALF}),
    "a position that is too large": with_record(position=2**63),
    "a time that is too large": with_record(modified=-(2**63) - 1),
    "not a principal": with_record(acl=("bob smith",)),
    "an empty principal": with_record(acl=("",)),
    "an unknown kind of principal": with_record(acl=("role:admin",)),
    "half a surrogate pair in a principal": with_record(acl=(HALF,)),
    "NUL in a principal": with_record(acl=("user:a\0",)),
    "a chunk's id that is no id": with_chunk(id="xyz"),
    "a chunk's id in capitals": with_chunk(id=GOOD.chunks[0].id.upper()),
    "a chunk's id that is too short": with_chunk(id=GOOD.chunks[0].id[:-1]),
    "an id that does not follow from the text": with_chunk(id="0" * 32),
    "the id of another record's chunk": with_chunk(id=document("known", "old").chunks[0].id),
    "a text that the id does not follow from": with_chunk(text="other"),
    "a chunk of another record": with_chunk(record_id="known"),
    "a chunk of another path": with_chunk(path="elsewhere.md"),
    "the same chunk twice": replace(GOOD, chunks=GOOD.chunks * 2),
    "half a surrogate pair in a text": with_text(f"alpha {HALF}"),
    "half a surrogate pair in a heading": with_chunk(title=HALF),
    "half a surrogate pair in the kind of a chunk": with_chunk(kind=HALF),
    "a place that is too large": with_chunk(start=2**63),
    "a line that is too large": with_chunk(lines=(1, 2**70)),
    "a link of another record": replace(GOOD, links=(Link("known", "good", "link"),)),
    "half a surrogate pair in a link": replace(GOOD, links=(Link("good", HALF, "link"),)),
}


def put_too_long(writer: Writer) -> None:
    writer.drop_vectors()
    writer.put_vectors("m", {"0" * 32: b"\x80" * 1024})


def put_two_lengths(writer: Writer) -> None:
    writer.drop_vectors()
    writer.put_vectors("m", {"0" * 32: b"\1", "1" * 32: b"\1\2"})


def put_no_numbers(writer: Writer) -> None:
    writer.drop_vectors()
    writer.put_vectors("m", {"0" * 32: b""})


BAD_WRITES: dict[str, Callable[[Writer], object]] = {
    "vectors of two lengths": put_two_lengths,
    "a vector of another length": lambda w: w.put_vectors(MODEL, {"0" * 32: b"\1"}),
    "a vector without numbers": put_no_numbers,
    "a key that is no key": lambda w: w.put_vectors(MODEL, {"key": bytes(8)}),
    "a key that is too short": lambda w: w.put_vectors(MODEL, {"00": bytes(8)}),
    "a vector that is too long": put_too_long,
    "an event of nobody": lambda w: w.put_events([Event("", "view", "known", 1)]),
    "an event of no name": lambda w: w.put_events([Event("a b", "view", "known", 1)]),
    "half a surrogate pair in an event": lambda w: w.put_events([Event("a", HALF, "known", 1)]),
    "an event too far away": lambda w: w.put_events([Event("a", "view", "known", 2**63)]),
    "half a surrogate pair to be dated": lambda w: w.set_modified({HALF: 1}),
    "a date too far away": lambda w: w.set_modified({"known": 2**63}),
    "rules of an unknown origin": lambda w: w.set_rules("elsewhere", []),
    "groups of an unknown origin": lambda w: w.set_groups("elsewhere", {}),
    "a rule without a glob": lambda w: w.set_rules("config", [AccessRule(" ", ("bob",))]),
    "a rule with NUL": lambda w: w.set_rules("config", [AccessRule("a\0", ("bob",))]),
    "a rule with a bad glob": lambda w: w.set_rules("config", [AccessRule("a/***/\\", ("bob",))]),
    "a rule that never matches": lambda w: w.set_rules("config", [AccessRule("!a", ("bob",))]),
    "a rule that is a comment": lambda w: w.set_rules("config", [AccessRule("#a", ("bob",))]),
    "a rule for no principal": lambda w: w.set_rules("command", [AccessRule("a", ("a:b",))]),
    "half a surrogate pair in a rule": lambda w: w.set_rules("command", [AccessRule(HALF, ())]),
    "a default for no principal": lambda w: w.set_default(("a b",)),
    "a group of no name": lambda w: w.set_groups("config", {"a b": ["bob"]}),
    "a member of no name": lambda w: w.set_groups("config", {"dev": ["bob", "user:carol"]}),
    "half a surrogate pair in a note": lambda w: w.set_note("key", HALF),
}

BAD_QUESTIONS: dict[str, Callable[[View], object]] = {
    "no results": lambda v: v.lexical("alpha", 0),
    "less than none": lambda v: v.semantic(bytes(8), -5),
    "a vector of another length": lambda v: v.semantic(bytes(7), 5),
    "an empty vector": lambda v: v.semantic(b"", 5),
    "a glob that is none": lambda v: v.lexical("alpha", 5, Filter(paths=("",))),
    "a glob with NUL": lambda v: v.lexical("alpha", 5, Filter(paths=("a\0",))),
    "a glob that is none, by vector": lambda v: v.semantic(bytes(8), 5, Filter(paths=("",))),
    "a glob that is none, listed": lambda v: list(v.listing(Filter(paths=("",)))),
    "a proof of nothing": lambda v: v.prove("0" * 32),
    "proofs of nothing": lambda v: v.prove_all(["0" * 32]),
    "a proof of no id": lambda v: v.prove("nonsense"),
}

UNKEEPABLE: dict[str, Callable[[View], object]] = {
    "half a surrogate pair as record": lambda v: v.records([HALF]),
    "half a surrogate pair as record of chunks": lambda v: v.chunks_of(HALF),
    "half a surrogate pair as end of a link": lambda v: v.links([HALF], back=True),
    "half a surrogate pair as actor": lambda v: v.events(actor=HALF),
    "half a surrogate pair as kind": lambda v: v.lexical("alpha", 1, Filter(kinds=(HALF,))),
}

ODD_QUESTIONS: dict[str, Callable[[View], object]] = {
    "half a surrogate pair in a question": lambda v: v.lexical(f"alpha{HALF}beta", 5).hits[0].path,
    "NUL in a question": lambda v: v.lexical("alpha\0beta", 5).hits[0].path,
    "half a surrogate pair as chunk": lambda v: v.chunks([HALF]) or "known.md",
}


QUESTIONS = Questions(records=("known", "good"), chunks=tuple(chunk.id for chunk in GOOD.chunks))


class TestRefusals:
    @pytest.fixture
    def filled(self, store: Store) -> Store:
        known = document("known", "old", "alpha beta")
        fill(store, known, embed=True)
        with store.write() as writer:
            writer.set_rules("config", [AccessRule("secret", ("bob",))])
            writer.set_groups("command", {"dev": ["bob"]})
        return store

    @pytest.mark.parametrize("name", BAD_DOCUMENTS)
    def test_a_bad_document(self, filled: Store, name: str) -> None:
        before = answers_by_viewer(filled, QUESTIONS)
        with pytest.raises(InputError), filled.write() as writer:
            put(writer, document("another", "alpha"), BAD_DOCUMENTS[name])
        assert answers_by_viewer(filled, QUESTIONS) == before

    @pytest.mark.parametrize("name", BAD_DOCUMENTS)
    def test_a_bad_document_passed_over_leaves_the_rest_whole(
        self, filled: Store, name: str
    ) -> None:
        with filled.write() as writer:
            with pytest.raises(InputError):
                put(writer, BAD_DOCUMENTS[name])
            put(writer, document("another", "alpha"))
        with filled.view(OWNER) as view:
            assert [record.id for record in view.listing()] == ["another", "known"]
        assert filled.check() == []
        fill(filled, GOOD)
        assert filled.check() == []

    @pytest.mark.parametrize("name", BAD_WRITES)
    def test_a_bad_write(self, filled: Store, name: str) -> None:
        before = answers_by_viewer(filled, QUESTIONS)

        def attempt() -> None:
            with filled.write() as writer:
                put(writer, GOOD)
                BAD_WRITES[name](writer)

        with pytest.raises(InputError):
            attempt()
        assert answers_by_viewer(filled, QUESTIONS) == before
        assert filled.check() == []

    @pytest.mark.parametrize("name", BAD_QUESTIONS)
    def test_a_bad_question(self, filled: Store, name: str) -> None:
        with filled.view(OWNER) as view:
            with pytest.raises(InputError):
                BAD_QUESTIONS[name](view)
            assert view.lexical("alpha", 5).hits, "the view still answers"

    @pytest.mark.parametrize("name", ODD_QUESTIONS)
    def test_an_odd_question(self, filled: Store, name: str) -> None:
        with filled.view(OWNER) as view:
            assert ODD_QUESTIONS[name](view) == "known.md"

    @pytest.mark.parametrize("name", UNKEEPABLE)
    def test_a_question_about_what_cannot_be_there(self, filled: Store, name: str) -> None:
        def attempt() -> None:
            with filled.view(OWNER) as view:
                UNKEEPABLE[name](view)

        with pytest.raises(InputError):
            attempt()

    def test_a_question_that_is_too_long_a_vector(self, store: Store) -> None:
        sample = document("a", "alpha")
        fill(store, sample)
        with store.write() as writer:
            writer.put_vectors("wide", {sample.chunks[0].vector_key: b"\1" * 2000})
        with store.view(OWNER) as view:
            with pytest.raises(InputError):
                view.semantic(b"\x7f" * 2000, 5)
            assert view.semantic(b"\x50" * 2000, 5).hits[0].score == 2000 * 0x50

    @pytest.mark.parametrize("name", ["", "a\nb", "x" * 201, HALF, "a\0b"])
    def test_a_bad_name_for_a_space(self, store: Store, name: str) -> None:
        with pytest.raises(InputError), store.write(name):
            pass
