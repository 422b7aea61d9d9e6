"""Is not a byte left of what was purged?"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER, Event, Stamp
from quire.errors import StoreBusyError
from quire.store import open_store

from .asking import Questions, seen
from .processes import working
from .samples import document, fill, put


def marker(random: Random, kind: str) -> str:
    return f"{kind}{random.randbytes(8).hex()}"


class Secrets:
    """Words that stand in one record alone, each in a place of its own."""

    PLACES = ("text", "title", "path", "attrs", "author", "link", "verb", "digest", "part", "more")

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.words = {place: marker(random, place) for place in self.PLACES}

    def write(self, store: Store, name: str = "secret", *, embed: bool = True) -> None:
        held = self.words
        made = document(
            name,
            f"alpha {held['text']} fooBar{held['part'].title()}",
            f"beta {held['more']}" * 300,
            path=f"docs/{held['path']}.md",
            title=f"Guide > {held['title']}",
            author=held["author"],
            attrs={"note": held["attrs"]},
            links=[("keep1", held["link"])],
            acl=("bob",),
        )
        with store.write() as writer:
            put(writer, made)
            writer.put_events([Event("alice", held["verb"], name, 1)])
            writer.stamp([Stamp(f"docs/{held['path']}.md", 1, 1, held["digest"], name)])
        if embed:
            fill(store, made, embed=True)

    def found(self, path: Path) -> set[str]:
        """Tell which of the words still stand in the file or beside it, in any case."""
        files = [path, Path(f"{path}-wal"), Path(f"{path}-shm")]
        data = b"".join(file.read_bytes() for file in files if file.exists()).lower()
        assert data
        return {place for place, word in self.words.items() if word.lower().encode() in data}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def begun(path: Path, wait: float = 30) -> Store:
    store = open_store(path, wait=wait)
    fill(store, *(document(f"keep{number}", f"alpha gamma {number}") for number in range(30)))
    return store


ASKED = Questions(records=("keep1", "keep2"), chunks=())


def test_not_a_byte_is_left(path: Path) -> None:
    store, secrets = begun(path), Secrets(1)
    before = seen(store, ASKED)
    secrets.write(store)
    assert secrets.found(path) == set(Secrets.PLACES)
    assert store.purge(["secret"]) == 1
    assert secrets.found(path) == set()
    assert seen(store, ASKED) == before
    assert store.check() == []
    store.close()
    assert secrets.found(path) == set()


def test_earlier_versions_are_gone_too(path: Path) -> None:
    """What was replaced long before still lay in free pages, merged lists and the log."""
    store = begun(path)
    versions = [Secrets(seed) for seed in range(10, 22)]
    for version in versions:
        version.write(store)
    store.merge()
    assert any(version.found(path) for version in versions[:-1])
    store.purge(["secret"])
    assert [version.found(path) for version in versions] == [set()] * len(versions)
    store.close()


def test_what_was_removed_before_can_be_purged_after(path: Path) -> None:
    store, secrets = begun(path), Secrets(2)
    secrets.write(store)
    with store.write() as writer:
        writer.remove(["secret"])
    assert secrets.found(path), "removing alone leaves bytes behind"
    assert store.purge(["secret"]) == 0
    assert secrets.found(path) == set()
    store.close()


def test_while_another_store_is_open_and_idle(path: Path) -> None:
    store, secrets = begun(path), Secrets(3)
    secrets.write(store)
    idle = open_store(path)
    with idle.view(OWNER) as view:
        assert view.lexical(secrets.words["text"], 5).hits
    with working("look", path) as onlooker:
        assert onlooker.line() == "ready"
        onlooker.ask()
        assert store.purge(["secret"]) == 1
        assert secrets.found(path) == set()
        onlooker.ask()
    with idle.view(OWNER) as view:
        assert view.lexical(secrets.words["text"], 5).hits == ()
    idle.close()
    store.close()
    assert secrets.found(path) == set()


def test_while_another_process_reads(path: Path) -> None:
    store, secrets = begun(path, wait=0.3), Secrets(4)
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
    assert secrets.found(path) == set()
    assert store.check() == []
    store.close()


def test_texts_that_others_hold_stay(path: Path) -> None:
    store = begun(path)
    fill(store, document("one", "shared words"), document("two", "shared words"), embed=True)
    store.purge(["one"])
    with store.view(OWNER) as view:
        assert [hit.path for hit in view.lexical("shared", 5).hits] == ["two.md"]
        assert len(view.semantic(bytes(8), 5).hits) == 1
    store.close()


def test_other_spaces_stay(path: Path) -> None:
    store, secrets = begun(path), Secrets(5)
    fill(store, document("secret", "alpha of another space"), space="other", embed=True)
    secrets.write(store)
    store.purge(["secret"])
    assert secrets.found(path) == set()
    with store.view(OWNER, "other") as view:
        assert view.status().records == 1
        assert len(view.lexical("alpha", 5).hits) == 1
    store.close()


def test_many_at_once(path: Path) -> None:
    store = begun(path)
    every = [Secrets(seed) for seed in range(40, 60)]
    for number, secrets in enumerate(every):
        secrets.write(store, f"secret{number}", embed=number % 2 == 0)
    assert store.purge([f"secret{number}" for number in range(20)]) == 20
    assert [secrets.found(path) for secrets in every] == [set()] * 20
    store.close()
