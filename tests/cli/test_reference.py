"""Every command has a help text, and the reference is made from it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click
import pytest

if TYPE_CHECKING:
    from tests.conftest import Tree

STORELESS = {
    "quire pack",
    "quire init",
    "quire diff",
    "quire copy",  # which names two
    "quire trust",
    "quire plugins",
    "quire model check",
    "quire model use",
    *(f"quire rules {n}" for n in ("check", "list", "test")),
    *(f"quire key {n}" for n in ("show", "export", "rotate")),
}
PROTOCOL = {"quire mcp", "quire mcp-proxy", "quire hook", "quire serve"}
"""Commands that speak a protocol, for programs alone."""
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def make_cli() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_cli", DOCS / "make_cli.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_what_the_commands_say(make_cli: ModuleType) -> None:
    assert (DOCS / "cli.md").read_text("utf-8") == make_cli.page(), "run `python docs/make_cli.py`"


@pytest.mark.parametrize("environment", [{"COLUMNS": "40"}, {"COLUMNS": "300", "LC_ALL": "C"}])
def test_the_reference_is_the_same_on_every_terminal(environment: dict[str, str]) -> None:
    script = "import make_cli, sys; sys.stdout.buffer.write(make_cli.page().encode())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=DOCS,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.decode() == (DOCS / "cli.md").read_text("utf-8")


def test_every_command_and_option_is_explained(make_cli: ModuleType) -> None:
    from quire.cli.main import main

    names = []
    for name, command, _ in make_cli.commands(main, "quire"):
        names.append(name)
        assert command.help, f"{name} has no help"
        assert command.help.splitlines()[0].rstrip().endswith((".", ":")), name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.name} has no help"
    assert {"quire", "quire index", "quire search", "quire access allow"} <= set(names)


def test_no_summary_is_cut_in_a_list_of_commands(make_cli: ModuleType) -> None:
    from quire.cli.main import main

    for name, command, context in make_cli.commands(main, "quire", width=80):
        if isinstance(command, click.Group):
            listed = command.get_help(context).partition("Show this message and exit.\n")[2]
            assert listed, name
            assert "..." not in listed, name


def test_every_command_takes_what_all_take(make_cli: ModuleType) -> None:
    from quire.cli.main import main

    for name, command, _ in make_cli.commands(main, "quire"):
        if isinstance(command, click.Group):
            continue
        options = {opt for parameter in command.params for opt in parameter.opts}
        assert "--json" in options or name in PROTOCOL, name
        if name not in STORELESS:
            assert {"--store", "--space"} <= options, name


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_needs_no_store_and_goes_to_standard_output(tree: Tree, flag: str) -> None:
    for arguments in ([], ["index"], ["access"], ["access", "allow"]):
        done = tree.call(*arguments, flag)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Usage: ")
    assert not tree.store.exists()


def test_the_version_is_told(tree: Tree) -> None:
    import quire

    assert tree.call("--version").stdout == f"quire, version {quire.__version__}\n"
