"""Whatever command is killed at whatever moment, the old or the new state holds."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from quire.cli.main import main
from quire.config.access_tokens import TokenFile

from .commands import COMMANDS, ELSEWHERE, READ_ONLY, Command, damage, prepare, state
from .conftest import kills

if TYPE_CHECKING:
    from tests.conftest import Tree
    from tests.crash.conftest import Executioner

KILLS = kills(2, 0.47 / len(COMMANDS))
MAX_TRIES = 20
"""Runs for each kill; some commands are over before they can be hit."""


class Project:
    """A project that is put back before each run."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.ids = prepare(tree)
        self.home = tree.root.parent / "home"
        self.home.mkdir()
        self.copy = tree.root.parent / "copy"
        shutil.copytree(tree.root, self.copy)

    def restore(self, command: Command) -> None:
        shutil.rmtree(self.tree.root)
        shutil.copytree(self.copy, self.tree.root)
        shutil.rmtree(self.home)
        self.home.mkdir(mode=0o700)
        made = command.before(self.tree)
        if isinstance(made, dict):
            self.ids |= made

    def job(self, command: Command) -> dict[str, Any]:
        return {
            "do": "command",
            "root": str(self.tree.root),
            "arguments": [argument.format(**self.ids) for argument in command.arguments],
            "environment": {"XDG_CONFIG_HOME": str(self.home), "HOME": str(self.home)},
        }

    def state(self) -> dict[str, Any]:
        root = self.tree.root
        files = {
            name: root / name
            for name in ("quire.toml", ".mcp.json", ".claude/settings.json", "CLAUDE.md")
        }
        held = state(self.tree, files)
        held["trusted"] = len([path for path in self.home.rglob("*.json") if "trust" in str(path)])
        held["keys"] = self._count_keys()
        held["tokens"] = self._tokens()
        return held

    def _tokens(self) -> list[tuple[str | None, str, bool]]:
        """Return who may read with which scope, and whether the token has a former secret."""
        files = [*(self.home / "quire" / "tokens").glob("*.json")]
        tokens = [token for file in files for token in TokenFile(file).list()]
        return [(token.viewer, token.scope, bool(token.former)) for token in tokens]

    def _count_keys(self) -> tuple[int, int]:
        """Count the keys that sign and that signed before; a part of a file is no JSON."""
        files = [self.home / "quire" / "keys" / name for name in ("signing.json", "retired.json")]
        texts = [file.read_text() if file.is_file() else "" for file in files]
        values = [json.loads(text) if text else {} for text in texts]
        return int(bool(values[0])), len(values[1].get("keys", ()) if values[1] else ())


@pytest.fixture(scope="module")
def project(executioner: Executioner) -> Iterator[Project]:
    import tempfile

    from tests.conftest import Forest as Projects

    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base) as folder:
        yield Project(Projects(Path(folder))("project"))


def run_whole(project: Project, executioner: Executioner, command: Command) -> tuple[float, dict[str, Any]]:  # fmt: skip
    """Run a command to its end; return how long it took and the new state."""
    moments: list[float] = []

    def note(_: int, __: str) -> bool:
        moments.append(time.perf_counter())
        return False

    project.restore(command)
    life = executioner.run(project.job(command), note)
    assert life.code == 0, life
    return moments[-1] - moments[0], project.state()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_old_or_the_new_state_holds(
    name: str, project: Project, executioner: Executioner
) -> None:
    command = COMMANDS[name]
    dice = random.Random(name)
    project.restore(command)
    old = project.state()
    longest, new = run_whole(project, executioner, command)
    assert command.in_steps or old != new, "it changes something"
    killed = inside = tries = 0
    while killed < KILLS and tries < KILLS * MAX_TRIES:
        tries += 1
        project.restore(command)
        life = kill(project, executioner, command, dice, longest)
        assert life.killed or life.code == 0
        killed += life.killed
        inside += life.killed and life.inside
        found = project.state()
        assert found in (old, new) or command.in_steps
        assert found == new or life.killed or command.in_steps
        check_store(project, command)
        if command.in_steps or dice.random() < 0.2:
            finish(project, executioner, command, new)
    print(f"{name}: {killed} kills, {inside} inside a transaction", flush=True)  # noqa: T201 - counts of a soak
    assert killed == KILLS


def kill(project: Project, executioner: Executioner, command: Command, dice: random.Random, longest: float) -> Any:  # fmt: skip
    """Run a command and kill it: in a transaction, as it is committed, or at any time."""
    aim = dice.choice(("enter", "commit", "begin")) if command.store else "begin"
    delay = dice.uniform(0, 0.004 if aim != "begin" else longest)
    return executioner.run(project.job(command), lambda _, event: event == aim, delay)


def check_store(project: Project, command: Command) -> None:
    """A store that was killed is whole; one that was damaged before is so after a repair."""
    with project.tree.open() as opened:
        if command.before is damage:
            opened.store.check(repair=True)
        assert opened.store.check() == []


def finish(project: Project, executioner: Executioner, command: Command, new: dict[str, Any]) -> None:  # fmt: skip
    """The same command, run again, does what it did not do."""
    if project.state() == new:
        return
    assert executioner.run(project.job(command)).code == 0
    assert project.state() == new


def test_every_command_is_here() -> None:
    """A new command must be killed, too, or be known to write nothing."""

    def names(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                yield from names(inner, (*path, name))
        else:
            yield " ".join(path)

    variants = (" supersedes", " again", " prune", " drop")
    plain = {name.removesuffix(next(filter(name.endswith, variants), "")) for name in COMMANDS}
    known = plain | READ_ONLY | ELSEWHERE.keys()
    assert set(names(main)) == known
