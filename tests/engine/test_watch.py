"""Does a watched store follow its directory?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from quire.store import open_store
from quire.values import Viewer

if TYPE_CHECKING:
    from tests.conftest import Tree

LIMIT = 60.0
"""Seconds after which a change that is not in the store counts as missed."""


def until(condition: Callable[[], bool], what: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + LIMIT
    while not condition():
        assert process.poll() is None, f"quire watch ended with code {process.returncode}"
        assert time.monotonic() < end, f"not seen within {LIMIT} s: {what}"
        time.sleep(0.02)


def results(text: str) -> list[dict[str, Any]]:
    """Read JSON values that stand one behind the other."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while text[at:].strip():
        value, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        found.append(value)
    return found


class Watching:
    """A `quire watch` that runs, with its output in files."""

    def __init__(self, tree: Tree, log: Path) -> None:
        self._tree = tree
        self._out, self._err = log / "out", log / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [tree.command, "watch", "--no-embed", "--json"],
                cwd=tree.root,
                stdout=out,
                stderr=err,
            )

    def results(self) -> list[dict[str, Any]]:
        return results(self._out.read_text())

    def holds(self, expected: dict[str, str], what: str) -> None:
        until(lambda: self._tree.texts() == expected, what, self.process)

    def shows(self, viewer: str, paths: list[str], what: str) -> None:
        """Look into the file itself: an engine would take up edited rules on its own."""

        def seen() -> bool:
            store = open_store(self._tree.store, create=False)
            try:
                with store.view(Viewer(viewer)) as view:
                    return [record.path for record in view.listing()] == paths
            finally:
                store.close()

        until(seen, what, self.process)

    def interrupt(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(LIMIT), self._err.read_text()


@pytest.fixture
def watching(tree: Tree, tmp_path: Path) -> Iterator[Callable[[], Watching]]:
    begun: list[Watching] = []

    def begin() -> Watching:
        log = tmp_path / f"log{len(begun)}"
        log.mkdir()
        begun.append(Watching(tree, log))
        until(lambda: bool(begun[-1].results()), "the first run", begun[-1].process)
        return begun[-1]

    yield begin
    for one in begun:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def test_a_watched_store_follows_every_change(tree: Tree, watching: Callable[[], Watching]) -> None:
    held = {"a.md": "alpha\n", "b.md": "beta\n", "sub/c.md": "gamma\n"}
    tree.fill(held)
    run = watching()
    assert run.results()[0]["indexed"] == 3

    held["new.md"] = "made at the very moment when watching begins\n"
    (tree.root / "new.md").write_text(held["new.md"])
    run.holds(held, "a new file")

    held["a.md"] = "alpha, edited\n"
    (tree.root / "a.md").write_text(held["a.md"])
    run.holds(held, "an edited file")

    held["moved.md"] = held.pop("b.md")
    (tree.root / "b.md").rename(tree.root / "moved.md")
    run.holds(held, "a renamed file")

    del held["new.md"]
    tree.remove("new.md")
    run.holds(held, "a deleted file")

    held["deep/er/d.md"] = "delta\n"
    tree.write("deep/er/d.md", held["deep/er/d.md"])
    run.holds(held, "a new folder")

    del held["sub/c.md"]
    tree.remove("sub")
    run.holds(held, "a deleted folder")

    (tree.root / os.fsdecode(b"caf\xe9.md")).write_text("a name that is not UTF-8\n")
    os.mkfifo(tree.root / "pipe")
    held["last.md"] = "after what cannot be read\n"
    tree.write("last.md", held["last.md"])
    run.holds(held, "a file after some that cannot be read")

    (tree.root / ".gitignore").write_text("moved.md\n.gitignore\n")
    ignored = held.pop("moved.md")
    run.holds(held, "a file that is now ignored")

    (tree.root / ".gitignore").write_text(".gitignore\n")
    held["moved.md"] = ignored
    run.holds(held, "a file that is no longer ignored")

    code, said = run.interrupt()
    assert code == 130
    assert said.strip() == "quire: interrupted; what was written is kept, run again to go on"
    told = run.results()
    assert len(told) <= 30, "it does not answer its own writes"
    again = tree.index()
    assert (again.indexed, again.removed) == (0, 0)


def test_an_edit_of_the_settings_takes_effect(tree: Tree, watching: Callable[[], Watching]) -> None:
    tree.fill({"a.md": "alpha\n", "b.md": "beta\n"})
    tree.write("quire.toml", '[ingest]\nignore = ["quire.toml"]\n')
    run = watching()
    run.shows("eve", ["a.md", "b.md"], "the first run")

    settings = '[ingest]\nignore = ["quire.toml"]\n[access]\n"a.md" = "owner"\n'
    (tree.root / "quire.toml").write_text(settings)
    run.shows("eve", ["b.md"], "a right that was taken back")

    (tree.root / "b.md").write_text("beta, edited\n")
    run.holds({"a.md": "alpha\n", "b.md": "beta, edited\n"}, "an edit after that")
    run.shows("eve", ["b.md"], "the right stays taken back")

    (tree.root / "quire.toml").write_text('[ingest]\nignore = ["quire.toml", "b.md"]\n')
    run.holds({"a.md": "alpha\n"}, "a file that is now ignored")
    assert run.interrupt()[0] == 130
