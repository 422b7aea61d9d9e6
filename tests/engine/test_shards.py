"""A project whose store is in shards: its contexts and receipts are those of one store."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

import quire
from quire import Quire
from tests.conftest import Tree

WORDS = ("pilot", "dredger", "harbour", "night", "dawn", "Café", "\x01", "the", "Boote", "Hafen")
VIEWERS = (None, "alice", "bob", "eve")
SEEDS = int(os.environ.get("QUIRE_SHARD_SEEDS", "4"))
RULES = (
    '[embed]\nprovider = "none"\n[ingest]\nignore = ["quire.toml"]\n[access]\n'
    '"hr/**" = ["@hr"]\n"notes/**" = ["bob", "alice"]\n[groups]\nhr = ["alice", "eve"]\n'
)


def plant(tree: Tree, random: Random, number: int) -> None:
    """Write one file of any kind."""
    folder = random.choice(("", "hr/", "notes/"))
    texts = [" ".join(random.choices(WORDS, k=random.randrange(3, 30))) for _ in range(5)]
    if number % 4 == 3:
        names = random.sample(("moor", "steer", "dredge"), 2)
        body = f'    """{texts[0].replace(chr(1), "")}"""\n    return {names[1]}(night)\n'
        tree.write(f"{folder}{number}.py", f"def {names[0]}(night):\n{body}")
    else:
        tree.write(f"{folder}{number}.md", f"# {number}\n\n" + ".\n\n".join(texts))


def answers(opened: Quire) -> list[str]:
    """Return pages and receipts of several recipes, budgets and viewers, and what verify says."""
    found: list[str] = []
    for number, (one, other) in enumerate(zip(WORDS, reversed(WORDS), strict=True)):
        for viewer in VIEWERS:
            context = opened.assemble(
                f"{one} {other} moor",
                budget=(200, 600)[number % 2],
                reserve={},
                viewer=viewer,
                recipe=("agent", "documents", "entities")[number % 3],
            )
            found.append(context.text + json.dumps(context.receipt, sort_keys=True))
            assert opened.verify(context.receipt, context.text, viewer=viewer).holds
        found.append(repr(opened.search(one, k=20)))
    return found + [repr(opened.status(viewer=viewer).roots) for viewer in VIEWERS]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_contexts_and_receipts_are_those_of_one_store(
    tree: Tree, tmp_path: Path, seed: int
) -> None:
    """After deletions, additions under old and new names, and other rules, for every viewer."""
    random = Random(seed)
    places = [tmp_path / "one.db", tmp_path / f"many.{random.choice((2, 3, 5))}.shards"]
    tree.write("quire.toml", RULES)
    for number in range(14):
        plant(tree, random, number)
    for step in range(3):
        pages = []
        for place in places:
            with quire.open(tree.root, store=place) as opened:
                opened.index()
                pages.append(answers(opened))
        assert pages[0] == pages[1]
        assert any("pilot" in page for page in pages[0])
        for path in random.sample(sorted(tree.root.rglob("[0-9]*.*")), 4):
            text = path.read_text("utf-8")
            path.unlink()
            if random.random() < 0.6:  # the same text elsewhere
                tree.write(f"hr/{step}-{path.name}", text)
        plant(tree, random, 100 + step)
        if step == 1:
            tree.write("quire.toml", RULES.replace('"@hr"', '"bob"'))


def test_memories_and_blocks(tree: Tree, tmp_path: Path) -> None:
    """What users write lies in all shards, and what they keep for themselves stays theirs."""
    tree.fill({"a.md": "The pilot sails at dawn.\n", "quire.toml": RULES})
    pages = []
    for place in (tmp_path / "one.db", tmp_path / "many.3.shards"):
        with quire.open(tree.root, store=place) as opened:
            opened.index()
            for number in range(8):
                opened.memories.add(
                    f"The pilot prefers tea number {number}.",
                    at=1_700_000_000 + number,
                    viewer=(None, "alice", "bob")[number % 3],
                )
            pages.append(
                [
                    opened.assemble(
                        "which tea does the pilot prefer", budget=400, reserve={}, viewer=viewer
                    ).text
                    for viewer in VIEWERS
                ]
            )
    assert pages[0] == pages[1]
    assert "tea" in pages[0][0]


def test_commands(tree: Tree, tmp_path: Path) -> None:
    tree.fill({"a.md": "The pilot.\n", "b.md": "The dredger.\n", "quire.toml": RULES})
    place = str(tmp_path / "many.3.shards")
    for command in ("index", "search pilot", "doctor", "purge a.md", "status --json"):
        done = tree.call(*command.split(), "--store", place)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["records"] == 1
    assert not tree.store.exists()


def test_it_is_copied_to_one_file_and_back(tree: Tree, tmp_path: Path) -> None:
    tree.fill({"a.md": "The pilot.\n", "b.md": "The dredger.\n", "quire.toml": RULES})
    places = [str(tmp_path / name) for name in ("many.3.shards", "one.db", "other.5.shards")]
    assert tree.call("index", "--store", places[0]).returncode == 0
    roots = []
    for source, target in pairwise(places):
        done = tree.call("copy", source, target)
        assert done.returncode == 0, done.stderr
    for place in places:
        with quire.open(tree.root, store=place) as opened:
            roots.append(opened.status().roots)
    assert len(set(roots)) == 1


def test_a_backup_is_one_file_and_goes_back(tree: Tree, tmp_path: Path) -> None:
    tree.fill({"a.md": "The pilot.\n", "b.md": "The dredger.\n", "quire.toml": RULES})
    place, file = str(tmp_path / "many.3.shards"), str(tmp_path / "backup.db")
    for command in ("index", f"backup {file}", "purge a.md", f"restore {file} --force"):
        done = tree.call(*command.split(), "--store", place)
        assert done.returncode == 0, done.stderr
    with quire.open(tree.root, store=place) as opened:
        assert [hit.chunk.path for hit in opened.search("pilot", refresh=False)] == ["a.md"]
