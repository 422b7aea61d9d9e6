"""Purging leaves no byte behind."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER, Event, Stamp
from quire.errors import StoreBusyError
from quire.store import open_store

from .answers import Questions, answers_by_viewer
from .processes import working
from .samples import document, fill, put


def marker(random: Random, kind: str) -> str:
    return f"{kind}{random.randbytes(8).hex()}"


class Secrets:
    """Words that occur in one record only, each in another field."""

    PLACES = ("text", "title", "path", "attrs", "author", "link", "verb", "digest", "part", "more")

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.words = {place: marker(random, place) for place in self.PLACES}

    def write(self, store: Store, name: str = "secret", *, embed: bool = True) -> None:
        words = self.words
        record = document(
            name,
            f"alpha {words['text']} fooBar{words['part'].title()}",
            f"beta {words['more']}" * 300,
            path=f"docs/{words['path']}.md",
            title=f"Guide > {words['title']}",
            author=words["author"],
            attrs={"note": words["attrs"]},
            links=[("keep1", words["link"])],
            acl=("bob",),
        )
        with store.write() as writer:
            put(writer, record)
            writer.put_events([Event("alice", words["verb"], name, 1)])
            writer.stamp([Stamp(f"docs/{words['path']}.md", 1, 1, words["digest"], name)])
        if embed:
            fill(store, record, embed=True)

    def remaining(self, path: Path) -> set[str]:
        """Return which of the words are still in the file or beside it, in upper or lower case."""
        files = [path, Path(f"{path}-wal"), Path(f"{path}-shm")]
        data = b"".join(file.read_bytes() for file in files if file.exists()).lower()
        assert data
        return {place for place, word in self.words.items() if word.lower().encode() in data}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def open_filled(path: Path, wait: float = 30) -> Store:
    store = open_store(path, wait=wait)
    fill(store, *(document(f"keep{number}", f"alpha gamma {number}") for number in range(30)))
    return store


QUESTIONS = Questions(records=("keep1", "keep2"), chunks=())


def test_not_a_byte_is_left(path: Path) -> None:
    store, secrets = open_filled(path), Secrets(1)
    before = answers_by_viewer(store, QUESTIONS)
    secrets.write(store)
    assert secrets.remaining(path) == set(Secrets.PLACES)
    assert store.purge(["secret"]) == 1
    assert secrets.remaining(path) == set()
    assert answers_by_viewer(store, QUESTIONS) == before
    assert store.check() == []
    store.close()
    assert secrets.remaining(path) == set()


def test_earlier_versions_are_gone_too(path: Path) -> None:
    """What was replaced long before was still in free pages, merged lists and the log."""
    store = open_filled(path)
    versions = [Secrets(seed) for seed in range(10, 22)]
    for version in versions:
        version.write(store)
    store.merge()
    assert any(version.remaining(path) for version in versions[:-1])
    store.purge(["secret"])
    assert [version.remaining(path) for version in versions] == [set()] * len(versions)
    store.close()


def test_what_was_removed_before_can_be_purged_after(path: Path) -> None:
    store, secrets = open_filled(path), Secrets(2)
    secrets.write(store)
    with store.write() as writer:
        writer.remove(["secret"])
    assert secrets.remaining(path), "removing alone leaves bytes behind"
    assert store.purge(["secret"]) == 0
    assert secrets.remaining(path) == set()
    store.close()


def test_while_another_store_is_open_and_idle(path: Path) -> None:
    store, secrets = open_filled(path), Secrets(3)
    secrets.write(store)
    idle = open_store(path)
    with idle.view(OWNER) as view:
        assert view.lexical(secrets.words["text"], 5).hits
    with working("look", path) as onlooker:
        assert onlooker.line() == "ready"
        onlooker.ask()
        assert store.purge(["secret"]) == 1
        assert secrets.remaining(path) == set()
        onlooker.ask()
    with idle.view(OWNER) as view:
        assert view.lexical(secrets.words["text"], 5).hits == ()
    idle.close()
    store.close()
    assert secrets.remaining(path) == set()


def test_while_another_process_reads(path: Path) -> None:
    store, secrets = open_filled(path, wait=0.3), Secrets(4)
    secrets.write(store)
    with working("hold_view", path) as reader:
        assert reader.line() == "holding 31"
        with pytest.raises(StoreBusyError, match="again"):
            store.purge(["secret"])
        with store.view(OWNER) as view:
            assert view.lexical(secrets.words["text"], 5).hits == (), "it is gone for readers"
        assert reader.ask() == "still 31"
        reader.end()
    assert store.purge(["secret"]) == 0
    assert secrets.remaining(path) == set()
    assert store.check() == []
    store.close()


def test_texts_that_others_hold_stay(path: Path) -> None:
    store = open_filled(path)
    fill(store, document("one", "shared words"), document("two", "shared words"), embed=True)
    store.purge(["one"])
    with store.view(OWNER) as view:
        assert [hit.path for hit in view.lexical("shared", 5).hits] == ["two.md"]
        assert len(view.semantic(bytes(8), 5).hits) == 1
    store.close()


def test_other_spaces_stay(path: Path) -> None:
    store, secrets = open_filled(path), Secrets(5)
    fill(store, document("secret", "alpha of another space"), space="other", embed=True)
    secrets.write(store)
    store.purge(["secret"])
    assert secrets.remaining(path) == set()
    with store.view(OWNER, "other") as view:
        assert view.status().records == 1
        assert len(view.lexical("alpha", 5).hits) == 1
    store.close()


def test_many_at_once(path: Path) -> None:
    store = open_filled(path)
    every = [Secrets(seed) for seed in range(40, 60)]
    for number, secrets in enumerate(every):
        secrets.write(store, f"secret{number}", embed=number % 2 == 0)
    assert store.purge([f"secret{number}" for number in range(20)]) == 20
    assert [secrets.remaining(path) for secrets in every] == [set()] * 20
    store.close()
