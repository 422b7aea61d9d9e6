"""The same promises with the model that comes with Quire."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Tree

pytestmark = pytest.mark.model

FILES = {
    "boats.md": "A ship needs an anchor, a rudder and somebody who knows the tides.\n",
    "bread.md": "Let the dough rest for an hour before it goes into the hot oven.\n",
    "cars.md": "The engine of an automobile turns fuel into motion.\n",
    "notes/sea.md": "Sailors read the waves; the harbour is safe in a storm.\n",
}
QUERY = "vessels on the ocean"


def test_a_context_by_meaning_is_proved_and_replayed_without_the_model(tree: Tree) -> None:
    tree.fill(FILES)
    tree.index(embed=True)
    with tree.open() as found:
        context = found.assemble(QUERY)
        assert not context.failed
        assert not context.notes
        best = max(context.sources, key=lambda source: source.score)
        assert best.path in {"boats.md", "notes/sea.md"}
        assert found.verify(context.receipt, context.text).problems == ()
        assert found.verify_determinism(QUERY)
    (tree.root / "r.json").write_text(json.dumps(context.receipt), "utf-8")
    # Without a model nothing can be asked anew by its meaning; what was asked can be run again.
    tree.write("quire.toml", "[embed]\nprovider = 'none'\n")
    done = tree.run("replay", "r.json")
    assert (done.returncode, done.stdout) == (0, "the same context, byte for byte\n"), done.stderr
    done = tree.run("assemble", QUERY, "--json")
    told = json.loads(done.stdout)
    assert [one["source"] for one in told["failed"]] == ["semantic"]
    assert tree.call("assemble", QUERY).stderr.startswith("FAILED: semantic: ")
