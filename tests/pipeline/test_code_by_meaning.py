"""For source code, meaning counts more than for prose, and `explain` says so."""

from __future__ import annotations

from dataclasses import replace

import quire
from quire.pipeline.recipe import load
from tests.conftest import Tree
from tests.word_model import WordModel

ASKED = "empty the cart"


def test_similar_code_counts_more_than_prose_that_is_as_similar(tree: Tree) -> None:
    tree.write("src/cart.py", 'def clear(cart):\n    """Empty the cart."""\n    cart.clear()\n')
    tree.write("docs/cart.md", "# Cart\n\nHow to empty the cart.\n")
    base = load("documents")
    semantic = base.sources["semantic"]
    plain = replace(semantic, options={"whole": 130, "long": 30})
    without = replace(base, sources={**base.sources, "semantic": plain})
    with quire.open(tree.root, embedder=WordModel(16)) as store:
        store.index()
        more, less = (
            {one.path: one for one in store.assemble(ASKED, recipe=recipe).decisions}
            for recipe in (base, without)
        )
    assert more["src/cart.py"].signals["code"] == 1
    assert "code" not in more["docs/cart.md"].signals
    assert "code" not in less["src/cart.py"].signals
    assert more["src/cart.py"].score > less["src/cart.py"].score
    assert more["docs/cart.md"].score == less["docs/cart.md"].score
