"""Nothing that a viewer may not read changes a byte of what the viewer gets.

The whole output of each command is compared, to the byte: results, scores, counts, roots, notes
and failures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Tree
    from tests.engine.conftest import Watched

OPEN = {
    "a.md": "# Rope\n\nThe red rope ties the small boat to the pier.\n",
    "b.md": "# Boat\n\nA small boat leaves the pier before the sun rises.\n",
    "docs/c.md": "# Pier\n\nThe pier was built of oak and stands in deep water.\n",
    "docs/d.py": "def tie(rope, boat):\n    return f'{rope} {boat}'\n",
}
RULES = """
[ingest]
ignore = ["quire.toml"]
[access]
"secret/**" = ["ann"]
"""
ASKED = (
    ("search", "red rope pier", "--json"),
    ("search", "how do I keep my ship from drifting away?", "--json", "--k", "3"),
    ("search", "pier", "--json", "--path", "docs/*", "--kind", "document"),
    ("search", "gold bullion", "--json", "--exact"),
    ("search", "gold bullion"),
    ("search", "   "),
    ("search", "rope", "--path", ""),
    ("status", "--json"),
    ("status", "--fresh", "--json"),
    ("status",),
    ("search", "rope", "--json", "--kind", "code", "--since", "2020-01-01"),
    ("assemble", "rope", "--json", "--kind", "code", "--prefer-recent", "10"),
    ("search", "rope", "--path", "!docs/*"),
)


def answers(tree: Tree, viewer: str) -> list[tuple[int, str, str]]:
    done = [tree.call(*question, "--viewer", viewer) for question in ASKED]
    done.append(tree.call("access", "check", viewer, "--json"))
    return [(one.returncode, one.stdout, one.stderr) for one in done]


@pytest.mark.model
@pytest.mark.parametrize("embed_first", [False, True], ids=["words", "vectors"])
def test_hidden_files_change_no_byte(tree: Tree, model: Watched, embed_first: bool) -> None:
    tree.fill({**OPEN, "quire.toml": RULES})
    tree.index(embed=embed_first)
    for viewer in ("eve", "nobody-knows-me"):
        expected = answers(tree, viewer)
        owner = tree.call("status", "--json").stdout
        assert [code for code, _, _ in expected] == [0, 0, 0, 0, 0, 2, 2, 0, 2, 0, 0, 0, 2, 0]

        tree.write("secret/one.md", "# Rope\n\nThe red rope hides gold bullion below the pier.\n")
        tree.index()
        assert answers(tree, viewer) == expected, "added"
        assert tree.call("status", "--json").stdout != owner, "the owner does see it"

        for n in range(30):
            tree.write(f"secret/many{n}.md", f"The red rope, the small boat, the pier: {n}.\n")
        tree.write("secret/tool.py", "rope = 1\n")
        tree.write("secret/dated.md", "---\ndate: 2024-05-01\n---\n\nThe red rope again.\n")
        tree.write("secret/one.md", "# Pier\n\nThe gold bullion was moved to another pier.\n")
        tree.index()
        assert answers(tree, viewer) == expected, "changed, and there are many"

        if embed_first:
            tree.index(embed=True)
            assert answers(tree, viewer) == expected, "embedded"

        tree.remove("secret/many7.md")
        tree.index(embed=embed_first)
        with tree.open() as opened:
            opened.purge([tree.root / "secret/many8.md"])
            opened.store.merge()
            assert opened.store.check() == []
        assert answers(tree, viewer) == expected, "removed, purged and merged"

        tree.remove("secret")
        tree.index(embed=embed_first)
        assert answers(tree, viewer) == expected, "all gone"


@pytest.mark.model
def test_vectors_of_hidden_files_alone_are_not_told(tree: Tree, model: Watched) -> None:
    """A store whose only vectors are hidden looks like one without any."""
    tree.fill({**OPEN, "quire.toml": RULES})
    tree.index()
    expected = answers(tree, "eve")
    tree.write("secret/one.md", "# Rope\n\nThe red rope hides gold bullion below the pier.\n")
    tree.index()
    with tree.open() as opened:
        embedder = opened.embedder()
        assert embedder is not None
        for batch in opened.store.missing_vectors():
            hidden = [(key, text) for key, text in batch if "gold bullion" in text]
            made = embedder.embed([text for _, text in hidden])
            with opened.store.write() as writer:
                writer.put_vectors(
                    embedder.model, dict(zip((key for key, _ in hidden), made, strict=True))
                )
        assert opened.status().vectors == 1

    assert answers(tree, "eve") == expected
    assert tree.call("search", "gold", "--json", "--viewer", "ann").stdout != expected[3][1]


def test_what_is_hidden_by_command_is_hidden_alike(tree: Tree) -> None:
    tree.fill(OPEN)
    tree.index()
    tree.call("access", "allow", "secret/**", "owner")
    expected = answers(tree, "eve")
    tree.write("secret/one.md", "# Rope\n\nThe red rope hides gold bullion below the pier.\n")
    tree.index()
    assert answers(tree, "eve") == expected
    tree.call("access", "allow", "secret/**", "@crew")
    tree.call("access", "group", "crew", "ann")
    assert answers(tree, "eve") == expected
    tree.call("access", "group", "crew", "ann", "eve")
    assert answers(tree, "eve") != expected


def test_the_same_text_in_a_hidden_and_an_open_file(tree: Tree) -> None:
    """Shared text is stored once; that must not show either."""
    tree.fill({**OPEN, "quire.toml": RULES})
    tree.index()
    expected = answers(tree, "eve")
    for path, text in OPEN.items():
        tree.write(f"secret/{path}", text)
    tree.index()
    assert answers(tree, "eve") == expected
    tree.remove("secret")
    tree.index()
    assert answers(tree, "eve") == expected
