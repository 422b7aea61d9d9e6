"""Nothing that a source contains steers a terminal; into a pipe it goes to the byte."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Tree

from .terminal import on_a_terminal

TITLE = "\x1b]0;owned\x07"
REVERSED = "\u202egnp"
TEXT = f"buoy {TITLE} red\x1b[31m {REVERSED} \x9b2J back\rover \x08 \u2066x\u2069 \u2028 tab\there"
NAME = f"no\x1b[2Jte{REVERSED}.md"
STYLES = re.compile("\x1b\\[[01]m")
"""The command's own bold type."""
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A project in which everything tries to steer the terminal."""
    tree = Tree(Path(tmp_path_factory.mktemp("terminal")) / "project")
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write(NAME, f"# Head {TEXT}\n\n{TEXT}\n")
    tree.write("crlf.md", "The buoy\r\nrings\r\n")
    tree.write("code.py", f'def buoy(x="{TITLE}"):\n    """{TEXT}"""\n')
    tree.write("CLAUDE.md", f"# Rules {TEXT}\n\n{TEXT}\n")
    tree.write("big.md", "x" * 10)
    tree.index()
    with tree.open() as quire:
        quire.memories.add(TEXT, at=1)
        one = quire.experiences.start(TEXT, domain="debugging", hypothesis=TEXT, at=2).value
        quire.experiences.resolve(one.id, "falsified", at=3, result=TEXT, lesson=TEXT)
    return tree


def shown_on_a_terminal(tree: Tree, *arguments: str) -> str:
    """Run a command all of whose streams are a terminal, and return what that was sent."""
    code, sent = on_a_terminal(tree, *arguments, stdout=True)
    assert code in {0, 1}, sent
    # A terminal ends each line in both characters.
    return sent.replace("\r\n", "\n").replace("\r\n", "\n")


COMMANDS = [
    ("assemble", "buoy"),
    ("assemble", "buoy", "--metadata"),
    ("assemble", "buoy", "--recipe", "entities"),
    ("assemble", "buoy", "--recipe", "entities", "--format", "plain"),
    ("assemble", "buoy", "--format", "json"),
    ("assemble", "buoy", "--recipe", "agent"),
    ("assemble", "buoy", "--recipe", "workspace"),
    ("assemble", "buoy", "--recipe", "situation", "--situation", '{"tool": "x"}'),
    ("assemble", "buoy", "--json"),
    ("premortem", "debugging"),
    ("search", "buoy"),
    ("explain", "buoy"),
    ("why-not", "buoy", "big.md"),
    ("map",),
    ("memory", "list"),
    ("memory", "export"),
    ("experience", "list"),
    ("rules", "list"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_terminal_is_not_steered(harbour: Tree, arguments: tuple[str, ...]) -> None:
    sent = STYLES.sub("", shown_on_a_terminal(harbour, *arguments))
    found = HIDDEN.search(sent)
    assert found is None, sent[max(0, found.start() - 40) : found.end() + 40]
    if arguments[0] in {"assemble", "premortem", "search", "memory"}:
        assert "\\x1b" in sent or "\\u001b" in sent
        assert "\\u202e" in sent


def test_a_file_with_windows_line_ends_looks_as_usual(harbour: Tree) -> None:
    assert "The buoy\nrings\n" in shown_on_a_terminal(harbour, "assemble", "rings")


@pytest.mark.parametrize("recipe", ["documents", "agent"])
def test_a_pipe_is_sent_every_byte(harbour: Tree, recipe: str) -> None:
    arguments = [harbour.command, "assemble", "buoy", "--recipe", recipe]
    piped = subprocess.run(arguments, cwd=harbour.root, capture_output=True, check=True).stdout
    with harbour.open() as quire:
        assert piped.decode() == quire.assemble("buoy", recipe=recipe).text
    assert TITLE.encode() in piped, "texts are quoted as they are"
    # Names are not texts.
    assert NAME.encode() not in piped


def test_only_one_module_prints() -> None:
    import quire.cli

    folder = Path(quire.cli.__file__).parent
    printing = {
        file.name
        for file in folder.glob("*.py")
        if re.search(
            r"\bclick\.echo\((?!err=True\))|\bprint\(|sys\.stdout\.write", file.read_text()
        )
    }
    assert printing == {"output.py", "background.py"}, "what runs in the background has a log"
