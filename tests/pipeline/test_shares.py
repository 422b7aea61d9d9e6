"""Sources, chunks and items say how relevant and how similar they are, on one scale."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire.core.serialize import to_plain
from quire.engine import Quire


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = tmp_path_factory.mktemp("harbour")
    (root / "bell.md").write_text("# Bell\n\nThe harbour bell rings at low tide, twice a day.\n")
    (root / "cake.md").write_text("# Cake\n\nButter and sugar are beaten until they are pale.\n")
    (root / ".quire").mkdir()
    with quire.open(root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize("recipe", ["documents", "entities", "agent"])
def test_they_are_the_same_wherever_they_stand(store: Quire, recipe: str) -> None:
    context = store.assemble("when does the harbour bell ring", recipe=recipe)
    best = max(context.sources, key=lambda source: source.score)
    assert best.path == "bell.md"
    assert best.similarity is not None
    assert 0.3 < best.similarity <= 1
    assert (best.relevance is not None) == (recipe == "agent"), "only recipes with a floor weigh it"
    for source, chunk in zip(context.sources, context.chunks, strict=True):
        assert (chunk.relevance, chunk.similarity) == (source.relevance, source.similarity)
        assert source.similarity is None or source.similarity <= best.similarity
    for source, item in zip(context.sources, context.items, strict=False):
        assert (item.relevance, item.similarity) == (source.relevance, source.similarity)
    written = to_plain(context)
    assert [each["similarity"] for each in written["sources"]] == [
        source.similarity for source in context.sources
    ]
    assert "similarity" not in written["receipt"]["sources"][0], "its decision has the signals"
    assert store.verify(context.receipt, context.text).problems == ()


def test_without_vectors_there_is_no_similarity(store: Quire, tmp_path: Path) -> None:
    (tmp_path / "bell.md").write_text("The harbour bell rings at low tide.\n")
    (tmp_path / ".quire").mkdir()
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        assert {source.similarity for source in opened.assemble("harbour bell").sources} == {None}
