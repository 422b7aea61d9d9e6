"""Results go to standard output alone; progress is shown on a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quire.ingest.formats import FORMAT_TABLE

from .terminal import on_a_terminal

if TYPE_CHECKING:
    from tests.conftest import Tree

NOTES = {f"note{n:03}.md": f"# Note {n}\n\nThe buoy number {n} rings.\n" for n in range(40)}


@pytest.fixture
def indexed(tree: Tree) -> Tree:
    tree.fill(NOTES)
    tree.index()
    return tree


def test_progress_is_shown_on_a_terminal(tree: Tree) -> None:
    tree.fill(NOTES)
    code, shown = on_a_terminal(tree, "index", "--no-embed")
    assert code == 0
    assert "reading files  40  40 chunks, " in shown


@pytest.mark.model
def test_a_bar_with_an_estimate_is_shown_while_vectors_are_made(tree: Tree) -> None:
    tree.fill({name: NOTES[name] for name in sorted(NOTES)[:5]})
    code, shown = on_a_terminal(tree, "index")
    assert code == 0
    assert "computing vectors  [............]  0/5" in shown
    assert "computing vectors  [############]  5/5" in shown


def test_no_bar_is_shown_in_a_pipe(tree: Tree) -> None:
    tree.fill(NOTES)
    done = tree.run("index", "--no-embed")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def test_results_alone_go_to_standard_output(indexed: Tree) -> None:
    done = indexed.run("search", "buoy", "--json")
    assert done.stderr == ""
    assert len(json.loads(done.stdout)["results"]) == 10
    done = indexed.run("search", "buoy", "-k", "1")
    assert done.stdout.startswith("1. note000.md")
    assert "note:" not in done.stdout
    assert done.stderr.startswith("note: semantic search is off")


def test_notes_in_the_same_pipe_begin_on_a_line_of_their_own(indexed: Tree) -> None:
    arguments = "assemble buoy --recipe agent --budget 300"
    alone = indexed.run("-c", f"{indexed.command} {arguments}", command=["bash"])
    assert not alone.stdout.endswith("\n")
    both = indexed.run("-c", f"{indexed.command} {arguments} 2>&1", command=["bash"])
    assert f"{alone.stdout}\n" in both.stdout


@pytest.mark.parametrize("lines", [0, 1])
def test_a_reader_that_has_had_enough_is_no_failure(indexed: Tree, lines: int) -> None:
    """As in `quire search … | head -1`."""
    script = f"{indexed.command} search buoy -k 40 | head -{lines}; echo ${{PIPESTATUS[0]}}"
    done = indexed.run("-c", script, command=["bash"])
    assert done.stderr.startswith("note: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout.splitlines()[-1] == "0"
    assert len(done.stdout.splitlines()) == lines + 1


def test_a_closed_standard_output_is_no_traceback(indexed: Tree) -> None:
    done = indexed.run("-c", f"{indexed.command} status >&-", command=["bash"])
    assert "Traceback" not in done.stderr


def test_a_full_standard_output_is_told(indexed: Tree) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    done = indexed.run("-c", f"{indexed.command} status >/dev/full", command=["bash"])
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_does_not_know_every_character(tree: Tree, encoding: str) -> None:
    tree.write("note.md", "The bell → 鐘 rings\n")
    tree.index()
    done = tree.run("search", "bell", env={"PYTHONIOENCODING": encoding})
    assert done.returncode == 0, done.stderr
    assert "| The bell " in done.stdout
    assert ("\\u2192 \\u9418 rings" in done.stdout) is (encoding == "latin-1")


# --- a fast start ------------------------------------------------------------------------------

HEAVY = {"numpy", "apsw", "onnxruntime", "markdown_it", "rich", "httpx", "Stemmer", "pathspec"}
LOADED = "; import sys; print(sorted({name.partition('.')[0] for name in sys.modules}))"


@pytest.mark.parametrize(
    "script",
    [
        "import quire",
        "import quire.cli.main",
        "from quire.cli.main import main; main(['--help'], standalone_mode=False)",
        "from quire.cli.main import main; main(['index', '--help'], standalone_mode=False)",
    ],
)
def test_what_is_not_needed_is_not_loaded(script: str) -> None:
    # `main` ends the process, so the modules are printed at its end.
    whole = f"import atexit; atexit.register(lambda: exec({LOADED[2:]!r})); {script}"
    done = subprocess.run(
        [sys.executable, "-c", whole], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(eval(done.stdout.splitlines()[-1]))
    assert "quire" in loaded
    assert not loaded & HEAVY


INTERFACES = "cryptography httpx onnxruntime starlette rich mcp"
READERS = " ".join(f"quire.ingest.{format_.module}" for format_, _, _ in FORMAT_TABLE)
STAGES = "quire.store quire.ingest quire.rules quire.pipeline quire.core.types.context"
LATE = f"""{READERS} quire.ingest.grammar.reader quire.ingest.secrets quire.workspace.importers
    quire.memory.postmortems quire.pipeline.picture tree_sitter yaml importlib.metadata"""


@pytest.mark.parametrize(
    ("script", "needless"),
    [
        ("import quire", f"{INTERFACES} {LATE} numpy quire.engine quire.core"),
        (
            "from quire.cli.start import main; sys.argv = ['quire', '--help']; main()",
            f"{INTERFACES} {LATE} {STAGES} numpy quire.engine quire.core.plain",
        ),
        ("import quire; quire.open('.').close()", f"{INTERFACES} {LATE}"),
    ],
)
def test_a_module_is_imported_when_it_is_needed(tree: Tree, script: str, needless: str) -> None:
    whole = f"import atexit, sys; atexit.register(lambda: print(*sorted(sys.modules))); {script}"
    done = tree.run("-c", whole, command=[sys.executable])
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "quire" in loaded
    assert not loaded & {*needless.split()}


def test_a_command_that_embeds_nothing_loads_no_model(indexed: Tree) -> None:
    whole = (
        f"import atexit; atexit.register(lambda: exec({LOADED[2:]!r}));"
        "from quire.cli.main import main; main(['search', 'buoy', '--json'])"
    )
    done = indexed.run("-c", whole, command=[sys.executable])
    loaded = set(eval(done.stdout.splitlines()[-1]))
    assert "numpy" in loaded
    assert not loaded & {"onnxruntime", "splintr", "rich", "httpx", "markdown_it", "watchfiles"}


def test_a_context_goes_into_a_pipe_to_the_byte(tree: Tree) -> None:
    """The bytes that were written are those of the receipt, whatever the encoding."""
    tree.write("e.txt", "mast \x1b[31mred\x1b[0m and 5 € on the mast\n")
    tree.index()
    for more in ({}, {"PYTHONIOENCODING": "latin-1"}):
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("quire")),
                "assemble",
                "mast",
                "--receipt",
                "r.json",
            ],
            cwd=tree.root,
            env={**os.environ, **more},
            capture_output=True,
            check=True,
        )
        assert b"\x1b[31mred" in done.stdout
        (tree.root / "context.txt").write_bytes(done.stdout)
        assert tree.call("verify", "r.json", "--context", "context.txt").returncode == 0
