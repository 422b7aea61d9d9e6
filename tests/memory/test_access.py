"""Nobody learns of what others remember, try or conclude."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from quire import AccessRule, Filter, Quire, Viewer
from quire.core.serialize import to_plain
from quire.errors import InputError

if TYPE_CHECKING:
    from tests.conftest import Forest

from .conftest import WORDS_ONLY

GHAP: dict[str, Any] = {
    "hypothesis": "It is the cache.",
    "action": "Look.",
    "prediction": "It grows.",
}
NOTHING = "0" * 32


def everything(quire: Quire, viewer: str, ids: list[str]) -> str:
    """Ask as a viewer all that can be asked about what was learned; errors are answers, too."""

    def told(ask: Any, *given: Any) -> Any:
        try:
            return to_plain(ask(*given, viewer=viewer))
        except InputError as error:
            return str(error)

    return json.dumps(
        {
            "memories": [to_plain(one) for one in quire.memories.list(history=True, viewer=viewer)],
            "experiences": [to_plain(one) for one in quire.experiences.list(viewer=viewer)],
            "values": [to_plain(one) for one in quire.principles.list(viewer=viewer)],
            "shown": [told(quire.memories.get, name) for name in ids],
            "told": [told(quire.experiences.get, name) for name in ids],
            "found": [
                [one.chunk.text, one.score]
                for one in quire.search("port leak lesson", viewer=viewer).results
            ],
            "listed": [
                one.path
                for one in quire.documents.list(Filter(paths=(".quire/**",)), viewer=viewer)
            ],
            "status": asdict(quire.status(viewer)),
        }
    )


def tried(quire: Quire, number: int, viewer: str | None = None, **more: Any) -> str:
    one = quire.experiences.start(
        f"Leak {number}", domain="debugging", at=number, viewer=viewer, **GHAP, **more
    ).value
    quire.experiences.resolve(
        one.id, "falsified", at=number, lesson=f"Lesson {number}", viewer=viewer
    )
    return one.id


def test_what_others_write_changes_no_byte(plant: Forest) -> None:
    quiet = plant("quiet", {"quire.toml": WORDS_ONLY})
    busy = plant("busy", {"quire.toml": WORDS_ONLY})
    hidden: list[str] = []
    answers: list[str] = []
    for tree in (busy, quiet):
        with tree.open() as quire:
            mine = quire.memories.add("The port is 8080.", at=1, viewer="alice").value.id
            quire.memories.add("The port is public.", at=2)
            tried(quire, 3, "alice")
            if tree is busy:
                theirs = quire.memories.add("The port is 8080.", at=1, viewer="bob").value
                newer = quire.memories.add(
                    "Port 9.", at=2, viewer="bob", supersedes=theirs.id
                ).value
                quire.memories.edit(newer.id, at=3, content="Port 10.", viewer="bob")
                secret = quire.memories.add("The port is secret.", at=4, share=["owner"]).value
                hidden = [theirs.id, newer.id, secret.id, tried(quire, 5, "bob")]
                hidden.append(tried(quire, 6, share=["@ops"]))
                quire.principles.refresh()
            quire.principles.refresh(viewer="alice")
            # Asked in both for the ids of what only one of them holds.
            answers.append(everything(quire, "alice", [mine, NOTHING, *hidden]))
    assert answers[0] == answers[1]


def test_nobody_changes_what_they_may_not_read(plant: Forest) -> None:
    with plant("p", {"quire.toml": WORDS_ONLY}).open() as quire:
        theirs = quire.memories.add("Mine.", at=1, viewer="bob").value.id
        attempt = quire.experiences.start("Mine.", domain="feature", at=1, viewer="bob").value.id
        for name in (theirs, NOTHING):
            said = f"^memory {name} does not exist; see `quire memory list --history`$"
            with pytest.raises(InputError, match=said):
                quire.memories.edit(name, at=2, content="Yours.", viewer="alice")
            with pytest.raises(InputError, match=said):
                quire.memories.forget(name, viewer="alice")
            with pytest.raises(InputError, match=said):
                quire.memories.add("Newer.", at=2, supersedes=name, viewer="alice")
        for name in (attempt, NOTHING):
            said = f"^experience {name} does not exist; see `quire experience list`$"
            with pytest.raises(InputError, match=said):
                quire.experiences.update(name, at=2, goal="Yours.", viewer="alice")
            with pytest.raises(InputError, match=said):
                quire.experiences.resolve(name, "abandoned", at=2, viewer="alice")
        assert [one.content for one in quire.memories.list()] == ["Mine."]
        assert quire.experiences.get(attempt).outcome == "open"


def test_who_reads_may_not_change_it_either_but_the_owner_may(plant: Forest) -> None:
    with plant("p", {"quire.toml": WORDS_ONLY}).open() as quire:
        shared = quire.memories.add("For all.", at=1, viewer="bob", share=["public"]).value.id
        owners = quire.memories.add("The owner's.", at=1, share=["public"]).value.id
        for name, author in ((shared, "bob"), (owners, "the owner")):
            assert quire.memories.get(name, viewer="alice").id == name
            with pytest.raises(InputError, match=f"was written by {author}; only its author"):
                quire.memories.edit(name, at=2, content="Mine.", viewer="alice")
            with pytest.raises(InputError, match="only its author"):
                quire.memories.forget(name, viewer="alice")
            with pytest.raises(InputError, match="only its author"):
                quire.memories.add("Mine.", at=2, supersedes=name, viewer="alice")
        newer = quire.memories.add("The owner knows.", at=3, supersedes=shared).value
        assert (newer.author, newer.acl) == (None, ("public",)), "whoever read the old reads this"
        with pytest.raises(InputError, match="have the same readers; leave out share"):
            quire.memories.add("Hidden.", at=4, supersedes=newer.id, share=["carol"])


@pytest.mark.parametrize(
    ("viewer", "share", "acl", "readers"),
    [
        (None, ["public"], ("public",), ["alice", "bob", "carol"]),
        (None, ["owner"], (), []),
        (None, ["alice", "@crew"], ("group:crew", "user:alice"), ["alice", "carol"]),
        ("alice", [], ("user:alice",), ["alice"]),
        ("alice", ["bob"], ("user:alice", "user:bob"), ["alice", "bob"]),
        ("alice", ["owner"], ("user:alice",), ["alice"]),
        ("alice", ["public"], ("public",), ["alice", "bob", "carol"]),
    ],
)
def test_who_may_read_what_is_written(
    plant: Forest,
    viewer: str | None,
    share: list[str],
    acl: tuple[str, ...] | None,
    readers: list[str],
) -> None:
    with plant("p", {"quire.toml": WORDS_ONLY}).open() as quire:
        quire.access.set_groups({"crew": ["carol"]})
        made = quire.memories.add("Shared?", at=1, viewer=viewer, share=share).value
        quire.experiences.start("Shared?", domain="feature", at=1, viewer=viewer, share=share)
        assert made.acl == acl
        people = ["alice", "bob", "carol"]
        assert [one for one in people if quire.memories.list(viewer=one)] == readers
        assert [one for one in people if quire.experiences.list(viewer=one)] == readers
        assert len(quire.memories.list()) == 1, "the owner reads all"


def test_a_memory_is_its_authors_alone_also_the_owners(plant: Forest) -> None:
    with plant("p", {"quire.toml": WORDS_ONLY}).open() as quire:
        made = quire.memories.add("Mine.", at=1)
        assert (made.value.acl, made.notes) == ((), ())
        quire.memories.import_lines('{"content": "Mine, too."}', at=1)
        assert len(quire.memories.list()) == 2
        assert len(quire.memories.list(shared_only=True)) == 2, "assistants of the owner read them"
        assert quire.memories.list(viewer="alice") == []


def test_the_owner_is_told_once_that_older_memories_are_open(plant: Forest) -> None:
    with plant("p", {"quire.toml": WORDS_ONLY}).open() as quire:
        quire.memories.import_lines('{"content": "Of an older version.", "share": null}', at=1)
        assert len(quire.memories.list(viewer="alice")) == 1
        (told,) = quire.memories.add("Mine.", at=2).notes
        assert told.startswith("only you can read this memory, unless you name others with `share`")
        assert "1 older ones can be read by whoever the access rules allow" in told
        assert quire.memories.add("Mine as well.", at=3).notes == ()


def test_rules_decide_over_what_the_owner_leaves_to_them(plant: Forest) -> None:
    with plant("p", {"quire.toml": WORDS_ONLY}).open() as quire:
        quire.memories.import_lines('{"content": "By the rules.", "share": null}', at=1)
        tried(quire, 2)
        quire.access.set_rules([AccessRule(".quire/memory/**", ("alice",))])
        assert (
            len(quire.memories.list(viewer="alice")),
            len(quire.memories.list(viewer="bob")),
        ) == (1, 0)
        quire.access.set_rules([AccessRule(".quire/experience/debugging/**", ("alice",))])
        assert (
            len(quire.memories.list(viewer="bob")),
            len(quire.experiences.list(viewer="bob")),
        ) == (1, 0)


def test_someone_without_a_name_cannot_write(plant: Forest) -> None:
    with (
        plant("p", {"quire.toml": WORDS_ONLY}).open() as quire,
        pytest.raises(InputError, match="without a name"),
    ):
        quire.memories.add("Whose?", at=1, viewer=Viewer(""))
