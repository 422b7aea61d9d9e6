"""A project whose vectors are indexed outside its store: the same contexts, and trust first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import pytest

import quire
from quire import config
from quire.errors import ConfigError
from quire.store.index import vector_index
from tests.conftest import Tree
from tests.store.postgresql import Server, running
from tests.word_model import WordModel

WORDS = ("pilot", "dredger", "harbour", "night", "dawn", "crane", "tide", "the")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.mark.parametrize("seed", range(3))
def test_contexts_and_receipts_are_those_of_a_file(
    tree: Tree, server: Server, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "FEW", 0)
    database = server.create()
    server.run("CREATE EXTENSION vector", database=database)
    random = Random(seed)
    tree.write("quire.toml", '[access]\n"hr/**" = ["alice"]\n')
    for number in range(12):
        folder = random.choice(("", "hr/", "notes/"))
        paragraphs = (" ".join(random.choices(WORDS, k=random.randrange(3, 30))) for _ in range(5))
        tree.write(f"{folder}{number}.md", f"# {number}\n\n" + ".\n\n".join(paragraphs))
    pages: list[list[str]] = []
    settings = {"vectors": {"engine": "pgvector"}}
    for store, chosen in ((None, None), (server.url(database), settings)):
        with quire.open(tree.root, store=store, settings=chosen, embedder=WordModel(16)) as opened:
            opened.index()
            contexts = [
                opened.assemble(f"{one} {other}", budget=300, reserve={}, viewer=viewer)
                for one, other in zip(WORDS, reversed(WORDS), strict=True)
                for viewer in (None, "alice", "bob")
            ]
            assert not any(context.failed for context in contexts)
            pages.append(
                [context.text + json.dumps(context.receipt, sort_keys=True) for context in contexts]
            )
            assert not [one for one in opened.doctor() if one.check == "vectors"]
    assert pages[0] == pages[1]


def test_who_indexes_is_told_that_the_engine_did_not_follow(tree: Tree) -> None:
    tree.write("a.md", "The pilot.\n")
    settings = {"vectors": {"engine": "qdrant://127.0.0.1:9"}}
    with quire.open(tree.root, settings=settings, embedder=WordModel(16)) as opened:
        notes = [note for note in opened.index().notes if "Qdrant" in note]
        assert ["searches scan the store's own vectors" in note for note in notes] == [True]
        assert [result.path for result in opened.search("pilot")] == ["a.md"]
    with quire.open(tree.root, embedder=WordModel(16)) as opened:
        assert not [note for note in opened.index().notes if "Qdrant" in note]


def test_a_project_must_be_trusted_to_send_vectors_away(tree: Tree) -> None:
    tree.write("a.md", "The pilot.\n")
    tree.write("quire.toml", '[vectors]\nengine = "qdrant://me:hunter2@127.0.0.1:9"\n')
    settings = config.load(tree.root)
    assert settings.vectors.engine == ""
    (shown,) = config.propose(tree.root).settings
    assert shown.effect.startswith("sends vectors of this project's texts to qdrant://me@")
    assert "hunter2" not in shown.effect
    tree.trust()
    assert config.load(tree.root).vectors.engine.startswith("qdrant://")


def test_an_engine_that_is_none_is_refused(tree: Tree) -> None:
    tree.write("quire.toml", '[vectors]\nengine = "milvus"\n')
    tree.trust()
    with pytest.raises(ConfigError, match="unknown engine"):
        tree.open()
