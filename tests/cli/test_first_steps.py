"""What a new user meets: nothing is left behind, lost or promised in vain."""

from __future__ import annotations

import contextlib
import dis
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from functools import lru_cache
from itertools import count, pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import click
import pytest

from quire.cli import progress
from tests.conftest import Tree
from tests.unprivileged import NOBODY, as_other_user

FILES: dict[str, str | bytes] = {"plan.md": "# Plan\n\nThe quorum needs three votes.\n"}


@pytest.fixture
def bare(tmp_path: Path) -> Tree:
    """A project that no store was ever made for."""
    tree = Tree(tmp_path / "bare")
    (tree.root / ".quire").rmdir()
    (tree.root / ".git").mkdir()
    return tree


@pytest.mark.parametrize(
    "arguments",
    [("index", "/nowhere"), ("index", "/"), ("index", "--history", "some"), ("watch", "/nowhere")],
)
def test_an_index_that_is_refused_leaves_nothing(bare: Tree, arguments: tuple[str, ...]) -> None:
    done = bare.call(*arguments)
    assert done.returncode == 2, done.stderr
    assert [place.name for place in bare.root.iterdir()] == [".git"]


def test_an_index_that_finds_no_file_says_so(bare: Tree) -> None:
    empty = bare.call("index")
    assert (empty.returncode, "the store is empty" in empty.stderr) == (0, True)
    bare.write("plan.md", FILES["plan.md"])
    assert "the store is empty" not in bare.call("index", "--no-embed").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "quorum", "--space", "a", "--space", "b"),
        ("assemble", "quorum", "--budget", "900", "--budget=800"),
        ("memory", "list", "--store", "a.db", "--store", "b.db"),
        ("search", "quorum", "-k", "1", "--k", "2"),
    ],
)
def test_an_option_with_one_value_is_given_once(tree: Tree, arguments: tuple[str, ...]) -> None:
    done = tree.call(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is given twice; leave out all but one" in done.stderr


def test_options_with_several_values_are_repeated(tree: Tree) -> None:
    tree.fill(FILES)
    tree.index()
    done = tree.call("remember", "Votes are public.", "--share", "ann", "--share", "bob")
    assert done.returncode == 0, done.stderr


def test_settings_and_receipts_are_not_indexed(tree: Tree) -> None:
    tree.fill(FILES)
    tree.index()
    assert tree.call("init").returncode == 0
    assert tree.call("assemble", "quorum", "--receipt", "r.json").returncode == 0
    assert (tree.root / "r.json.sig").exists()
    tree.write("other.json", '{"version": 1, "name": "quorum"}')
    result = tree.index()
    assert tree.paths() == ["other.json", "plan.md"]
    reason = "written by Quire: a receipt or its signature"
    assert [(item.path, item.reason) for item in result.skipped] == [
        ("r.json", reason),
        ("r.json.sig", reason),
    ]


def test_a_budget_says_what_it_keeps_free(tree: Tree) -> None:
    tree.fill(FILES)
    tree.index()
    done = tree.call("assemble", "quorum", "--budget", "2000")
    reserved = "(2000 less system 200, query 100, response 500: see --reserve)"
    assert f" of 1200 tokens {reserved}, 1 piece" in done.stderr
    assert f" of 1200 tokens {reserved};" in tree.call("explain", "quorum", "--budget=2000").stderr
    done = tree.call("assemble", "quorum", "--budget", "2000", "--reserve", "none")
    assert " of 2000 tokens, 1 piece" in done.stderr
    assert "nothing is reserved" in " ".join(tree.call("eval", "--help").stdout.split())


def test_quiet_prints_results_and_errors_alone(tree: Tree) -> None:
    tree.fill(FILES)
    assert tree.call("index", "--no-embed", "--quiet").stdout == ""
    done = tree.call("assemble", "quorum", "-q")
    assert done.stderr == ""
    assert "three votes" in done.stdout
    done = tree.call("search", "quorum", "-q", "--space", "none")
    assert done.stderr.startswith("quire: ")
    tree.write("quire.toml", '[embed]\nprovider = "http"\nurl = "http://127.0.0.1:9/v1"\n')
    tree.trust()
    assert tree.call("status", "-q").stderr == ""


def test_progress_without_a_total_shows_a_count_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from quire.core.types import Progress

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress.show_progress() as report:
        report(Progress("read", 214, None))
        report(Progress("embed", 3, 8))
    shown = capsys.readouterr().err
    assert "/?" not in shown
    assert "reading files  214" in shown
    assert "computing vectors  [####........]  3/8" in shown
    assert progress.format_count(214, None) == "214"


def test_the_line_of_progress_says_how_long_the_rest_takes() -> None:
    assert progress.format_left(10, 40, 20.0) == "1:00 left"
    assert progress.format_left(1, 1001, 6.0) == "1:40:00 left"
    assert progress.format_left(0, 40, 20.0) == progress.format_left(40, 40, 20.0) == ""
    assert progress.format_left(10, None, 20.0) == ""


def test_what_is_written_meanwhile_stands_above_the_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from quire.core.types import Progress

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress.show_progress() as report:
        report(Progress("read", 1, 2))
        click.echo("note: one file is not text", err=True)
        report(Progress("embed", 1, 2))
    lines = [each.rpartition("\r")[2] for each in capsys.readouterr().err.split("\n")]
    assert lines == ["note: one file is not text", ""]  # the rest is written over


@lru_cache
def calls_before(code: CodeType) -> frozenset[int]:
    """The instructions behind a call, which is where Python looks whether a signal has come."""
    instructions = list(dis.get_instructions(code))
    return frozenset(
        later.offset
        for call, later in pairwise(instructions)
        if call.opname in {"CALL", "CALL_FUNCTION_EX", "CALL_KW"}
    )


def test_an_interrupt_takes_progress_away_wherever_it_comes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Real ones come a moment after the first text is shown, which a process rarely meets."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    terminal, tracing = sys.stderr, sys.gettrace()
    shown = 0
    for place in count(1):
        met = 0

        def interrupt(frame: FrameType, event: str, _: object, place: int = place) -> Any:
            nonlocal met
            if frame.f_code.co_filename not in {progress.__file__, contextlib.__file__}:
                return None
            frame.f_trace_opcodes = True
            if event == "opcode" and frame.f_lasti in calls_before(frame.f_code):
                met += 1
                if met == place:
                    raise KeyboardInterrupt
            return interrupt

        sys.settrace(interrupt)
        try:
            with progress.show_progress():
                sys.settrace(tracing)
                break  # all places were tried
        except KeyboardInterrupt:
            sys.settrace(tracing)
            text = capsys.readouterr().err
            shown += "reading files" in text
            assert text.rpartition("\r")[2].strip() == ""
            assert sys.stderr is terminal
    assert shown >= 2, "places behind the text were among them"


def test_progress_shows_chunks_a_second_and_the_share_of_a_worker(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from quire.core.types import Progress

    assert progress.format_rate(0, 2.0, 4) == progress.format_rate(5, None, 4) == ""
    assert progress.format_rate(600, 2.0, 1) == "600 chunks, 300/s"
    assert progress.format_rate(600, 2.0, 4) == "600 chunks, 300/s (75/s a worker)"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress.show_progress() as report:
        report(Progress("read", 214, None, chunks=900, workers=2))
    assert "a worker)" in capsys.readouterr().err


def test_every_stage_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    from quire.core.types import Progress

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress.show_progress("copy") as report:
        for stage in ("history", "read", "put", "embed", "ask", "backup", "check", "copy"):
            report(Progress(stage, 1))


def test_install_needs_a_server_that_can_start(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "quire.cli.mcp.find_spec", lambda name: None if name == "mcp" else found(name)
    )
    done = tree.call("install", "claude-code", "--yes")
    assert done.returncode == 2
    assert "the MCP server needs packages that are not installed" in done.stderr
    assert "pip install 'quire-context[mcp]'" in done.stderr
    assert not (tree.root / ".mcp.json").exists()
    assert tree.call("install", "claude-code", "--yes", "--command", "other").returncode == 0
    assert tree.call("install", "claude-code", "--yes", "--uninstall").returncode == 0


def test_doctor_does_not_advise_doctor(tree: Tree) -> None:
    tree.fill(FILES)
    tree.index()
    data = bytearray(tree.store.read_bytes())
    for place in range(4096 * 3, len(data), 37):
        data[place] ^= 255
    tree.store.write_bytes(data)
    for more in ((), ("--repair",)):
        done = tree.call("doctor", *more)
        assert done.returncode == 1
        assert "restore a backup" in done.stderr
        assert "quire doctor" not in done.stderr
    assert "quire doctor" in tree.call("search", "quorum").stderr


def test_a_settings_folder_that_cannot_be_read_is_told_and_passed_over() -> None:
    folder = Path(tempfile.mkdtemp(prefix="quire-home-"))
    folder.chmod(0o777)
    tree = Tree(folder / "project")
    home = folder / "home" / ".config" / "quire"
    home.mkdir(parents=True)
    tree.fill(FILES)
    tree.index()

    def search() -> tuple[int, str, str]:
        os.environ.update(HOME=str(folder / "home"), QUIRE_EMBED_PROVIDER="none")
        os.environ.pop("XDG_CONFIG_HOME", None)
        found = tree.call("search", "quorum", "--json")
        made = tree.call("assemble", "quorum", "--receipt", str(tree.root / "r.json"))
        checked = tree.call("verify", str(tree.root / "r.json"))
        codes = found.returncode + made.returncode + checked.returncode
        return codes, json.loads(found.stdout)["results"][0]["path"], made.stderr

    saved = dict(os.environ)
    try:
        search()
        if os.geteuid() == 0:
            for place in (tree.root, *tree.root.rglob("*")):
                os.chown(place, NOBODY, NOBODY)
        home.chmod(0)
        code, path, said = as_other_user(search)
    finally:
        os.environ.clear()
        os.environ.update(saved)
        home.chmod(0o700)
        shutil.rmtree(folder)
    assert (code, path) == (0, "plan.md")
    assert f"{home} cannot be read, so no settings of yours count" in said


def test_json_of_a_context_has_each_text_once(tree: Tree) -> None:
    tree.fill({f"note{number}.md": f"The tide of day {number}. " * 40 for number in range(12)})
    tree.index()
    asked = ("assemble", "the tide of the day", "--budget", "400", "--reserve", "none", "--json")
    small = json.loads(tree.call(*asked).stdout)
    promised = (
        *("text", "tokens", "content_tokens", "available", "truncated", "limit_exceeded"),
        *("sources", "decisions", "failed", "receipt"),
    )
    assert {*promised} <= small.keys()
    included = {source["chunk_id"] for source in small["sources"]}
    assert {each["chunk_id"] for each in small["decisions"]} > included, "what fell is told, too"
    assert "chunks" not in small
    assert small["omitted"] > 0
    whole = json.loads(tree.call(*asked, "--parts").stdout)
    assert [chunk["text"] for chunk in whole["chunks"]]
    assert small["receipt"] == whole["receipt"]


def test_no_line_of_the_help_is_cut(tree: Tree) -> None:
    lines = tree.call("--help").stdout.splitlines()
    assert [line for line in lines[1:] if line.endswith("...")] == []
