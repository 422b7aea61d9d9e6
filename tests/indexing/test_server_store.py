"""A project whose store is on a PostgreSQL server, from the command line and from Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import quire
from quire import config
from quire.errors import InputError, NoStoreError
from tests.conftest import Tree
from tests.store.postgresql import Server, running

PASSWORD = "hunter2"
WORDS_ONLY = '[embed]\nprovider = "none"\n'
RECIPES = ("documents", "entities", "agent", "situation", "workspace")
WORDS = ("pilot", "dredger", "harbour", "night", "dawn", "Café", "\x01", "the")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.fixture
def url(server: Server) -> str:
    """The URL of a new database, with a password."""
    return server.url(server.create()).replace("quire_test@", f"quire_test:{PASSWORD}@")


@pytest.mark.parametrize("seed", range(3))
def test_contexts_and_receipts_are_those_of_a_file(tree: Tree, url: str, seed: int) -> None:
    random = Random(seed)
    tree.write("quire.toml", f'{WORDS_ONLY}[access]\n"hr/**" = ["alice"]\n')
    for number in range(12):
        folder = random.choice(("", "hr/", "notes/"))
        paragraphs = (" ".join(random.choices(WORDS, k=random.randrange(3, 30))) for _ in range(5))
        tree.write(f"{folder}{number}.md", f"# {number}\n\n" + ".\n\n".join(paragraphs))
    pages: list[list[str]] = []
    for store in (None, url):
        with quire.open(tree.root, store=store) as opened:
            opened.index()
            contexts = [
                opened.assemble(
                    f"{one} {other}",
                    budget=300,
                    reserve={},
                    viewer=viewer,
                    recipe=RECIPES[number % len(RECIPES)],
                )
                for number, (one, other) in enumerate(zip(WORDS, reversed(WORDS), strict=True))
                for viewer in (None, "alice", "bob")
            ]
            pages.append(
                [context.text + json.dumps(context.receipt, sort_keys=True) for context in contexts]
            )
    assert pages[0] == pages[1]
    assert PASSWORD not in "".join(pages[1])


def test_a_project_must_be_trusted_to_name_a_server(tree: Tree, url: str) -> None:
    tree.write("a.md", "The pilot.\n")
    tree.write("quire.toml", f'store = "{url}"\n{WORDS_ONLY}')
    settings = config.load(tree.root)
    assert not settings.server
    assert "store" in settings.notes[0]
    assert PASSWORD not in repr(settings)
    with pytest.raises(NoStoreError, match=r"store\.db"):
        quire.open(tree.root, create=False)
    shown = config.propose(tree.root).settings
    assert [setting.key for setting in shown] == ["store"]
    assert "server" in shown[0].effect
    assert PASSWORD not in repr(shown)
    tree.trust()
    with tree.open() as opened:
        opened.index()
        assert opened.config.server == url
        assert PASSWORD not in repr(opened.config)
        assert opened.search("pilot")
    assert not tree.store.exists()


def test_commands_show_no_password(tree: Tree, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.fill({"a.md": "The pilot.\n", "quire.toml": WORDS_ONLY})
    monkeypatch.setenv("QUIRE_STORE", url)
    commands = ("index", "status --json", "doctor", "search pilot", "trust --list", "purge a.md")
    done = [tree.call(*command.split()) for command in commands]
    assert PASSWORD not in repr(done)
    assert json.loads(done[1].stdout)["records"] == 1
    assert "log of the server" in done[-1].stderr


def test_nothing_runs_in_the_background_on_a_server(tree: Tree, url: str) -> None:
    from quire.cli import jobs

    tree.fill({"a.md": "The pilot.\n", "quire.toml": WORDS_ONLY})
    with quire.open(tree.root, store=url) as opened:
        opened.index()
        with pytest.raises(InputError, match="background"):
            jobs.start_watch(opened, (), embed=False, as_json=False)


def test_a_server_knows_which_directory_it_is_about(tree: Tree, url: str, tmp_path: Path) -> None:
    tree.fill({"a.md": "The pilot.\n", "quire.toml": WORDS_ONLY})
    with quire.open(tree.root, store=url) as opened:
        opened.index()
    other = tmp_path / "other"
    (other / ".quire").mkdir(parents=True)
    with quire.open(other, store=url) as opened:
        assert opened.root() == tree.root
