"""A watched store follows its directory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import quire
from quire.core.types import Failure, IndexResult, Viewer
from quire.errors import ConfigError, InputError
from quire.indexing import files, project
from quire.store import open_store
from tests.conftest import interruptible

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

    def __init__(self, tree: Tree, log: Path, *arguments: str) -> None:
        self._tree = tree
        self._out, self._err = log / "out", log / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [tree.command, "watch", "--json", *arguments],
                cwd=tree.root,
                stdout=out,
                stderr=err,
                env=interruptible(),
            )

    def results(self) -> list[dict[str, Any]]:
        return results(self._out.read_text())

    def said(self) -> str:
        return self._err.read_text()

    def tells(self, words: str) -> None:
        until(lambda: words in self.said(), words, self.process)

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
def watching(tree: Tree, tmp_path: Path) -> Iterator[Callable[..., Watching]]:
    begun: list[Watching] = []

    def begin(*arguments: str) -> Watching:
        log = tmp_path / f"log{len(begun)}"
        log.mkdir()
        begun.append(run := Watching(tree, log, *(arguments or ("--no-embed",))))
        until(lambda: bool(run.results() or run.said()), "the first run", run.process)
        return run

    yield begin
    for one in begun:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def test_a_watched_store_follows_every_change(
    tree: Tree, watching: Callable[..., Watching]
) -> None:
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
    assert (
        said.strip()
        == "quire: interrupted; finished work is kept, run the command again to continue"
    )
    told = run.results()
    assert len(told) <= 30, "it does not answer its own writes"
    again = tree.index()
    assert (again.indexed, again.removed) == (0, 0)


def test_an_edit_of_the_settings_takes_effect(
    tree: Tree, watching: Callable[..., Watching]
) -> None:
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


# --- what fails for a while --------------------------------------------------------------------


class Endpoint(ThreadingHTTPServer):
    """An endpoint that embeds, or is out of order."""

    daemon_threads = True
    working = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Answer(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        data = [{"index": at, "embedding": [0.1, 0.2]} for at in range(len(asked["input"]))]
        self.send_response(200 if self.server.working else 400)
        self.end_headers()
        self.wfile.write(json.dumps({"data": data}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_endpoint_that_fails_for_a_while_does_not_end_it(
    tree: Tree, watching: Callable[..., Watching], endpoint: Endpoint
) -> None:
    tree.write("a.md", "alpha\n")
    tree.write(
        "quire.toml",
        f'[ingest]\nignore = ["quire.toml"]\n[embed]\nprovider = "http"\n'
        f'url = "{endpoint.url}"\nmodel = "m"\nretries = 0\n',
    )
    tree.trust()
    run = watching("--space", "main")
    run.tells("FAILED: ")
    assert f"{endpoint.url}/embeddings: status 400" in run.said()
    assert "trying again at the next change" in run.said()
    run.holds({"a.md": "alpha\n"}, "the words, which need no endpoint")

    endpoint.working = True
    (tree.root / "b.md").write_text("beta\n")
    until(lambda: bool(run.results()), "a run that is done", run.process)
    assert [result["missing_vectors"] for result in run.results()][-1] == 0

    endpoint.working = False
    (tree.root / "c.md").write_text("gamma\n")
    until(lambda: run.said().count("status 400") >= 2, "another failure", run.process)
    endpoint.working = True
    (tree.root / "a.md").write_text("alpha, edited\n")
    held = {"a.md": "alpha, edited\n", "b.md": "beta\n", "c.md": "gamma\n"}
    run.holds(held, "an edit after that")
    until(lambda: run.results()[-1]["chunks"] == 3, "the result of it", run.process)
    assert run.results()[-1]["missing_vectors"] == 0
    assert "Traceback" not in run.said()


def test_broken_settings_do_not_end_it(tree: Tree, watching: Callable[..., Watching]) -> None:
    tree.fill({"a.md": "alpha\n", "quire.toml": '[ingest]\nignore = ["quire.toml"]\n'})
    run = watching()
    (tree.root / "quire.toml").write_text("[ingest\n")
    run.tells(f"FAILED: {tree.root / 'quire.toml'}: not valid TOML")
    told = run.said().count("FAILED")
    (tree.root / "b.md").write_text("beta\n")
    until(lambda: run.said().count("FAILED") > told, "another try", run.process)

    (tree.root / "quire.toml").write_text('[ingest]\nignore = ["quire.toml"]\n')
    run.holds({"a.md": "alpha\n", "b.md": "beta\n"}, "what changed meanwhile")
    assert run.interrupt()[0] == 130


def test_what_a_failed_run_missed_is_made_up_for(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill({"a.md": "alpha\n", "b.md": "beta\n", "c.md": "gamma\n"})
    tree.index()
    with tree.open() as other:
        monkeypatch.setattr(project, "open_store", partial(open_store, wait=0.1))
        monkeypatch.setattr(
            files, "watch_changes", lambda root, _: iter([[root / f"{name}.md"] for name in "abc"])
        )
        with tree.open() as opened:
            results = opened.watch(embed=False)
            assert isinstance(next(results), IndexResult)
            for name in "abc":
                tree.write(f"{name}.md", "edited\n")
            with other.store.write():
                for _ in "ab":
                    failure = next(results)
                    assert isinstance(failure, Failure)
                    assert "another process is writing to this store" in failure.reason
            result = next(results)
            assert isinstance(result, IndexResult)
            assert (result.indexed, list(results)) == (3, [])


def test_what_is_wrong_from_the_start_ends_it(tree: Tree) -> None:
    tree.write("quire.toml", "[embed]\nprovider = 'cloud'\n")
    with tree.open() as opened, pytest.raises(ConfigError, match="'cloud'"):
        next(opened.watch())
    with tree.open() as opened, pytest.raises(InputError, match="does not exist"):
        next(opened.watch([tree.root / "nothing"]))


def test_rules_that_were_refused_are_refused_again(tree: Tree) -> None:
    tree.fill({"a.md": "alpha\n", "quire.toml": ""})
    tree.index()
    with quire.open(tree.root) as opened:
        tree.write("quire.toml", '[access]\n"a.md" = "two words"\n')
        for _ in range(2):
            with pytest.raises(ConfigError, match="not a principal"):
                opened.search("alpha", viewer="eve")
        tree.write("quire.toml", '[access]\n"a.md" = "owner"\n')
        assert opened.search("alpha", viewer="eve").results == ()
