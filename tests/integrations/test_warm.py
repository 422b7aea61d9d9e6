"""The process that hooks ask: the same answers, for the same user alone, and harm to nobody."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from quire.integrations.clients import EVENTS
from quire.integrations.hooks import command, warm, warm_server
from quire.system import runtime
from tests.conftest import TIME_LIMIT
from tests.processes import end_all

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

COMMAND = (sys.executable, "-m", "quire")
PATIENT = ("--timeout", "60")
FILES = {
    "docs/crash.md": "# Crashes\n\nAfter a crash the journal is replayed.\n",
    "docs/plan.md": "# Plan\n\nThe journal is emptied at noon.\n",
    "AGENTS.md": "# Agents\n\nRun make check.\n",
}


@pytest.fixture
def session() -> Iterator[Path]:
    """A runtime folder of the user; paths of sockets must be short, those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="quire-") as name:
        yield Path(name)


@pytest.fixture
def variables(session: Path) -> Iterator[dict[str, str]]:
    """The variables of hooks; all processes that have them are ended after a test."""
    yield {"XDG_RUNTIME_DIR": str(session), "QUIRE_BACKGROUND": "1"}
    end_all(session)


@pytest.fixture
def folder(session: Path) -> Path:
    return session / "quire"


@pytest.fixture
def tree(plant: Forest) -> Tree:
    tree = plant()
    tree.fill(FILES)
    tree.index()
    with tree.open() as opened:
        opened.memories.add("The staging host is named heron.", at=1, importance=0.9)
    return tree


@pytest.fixture
def server(tree: Tree, variables: dict[str, str], folder: Path) -> int:
    """A process that is ready."""
    run(tree, "session-start", {"cwd": str(tree.root)}, variables)
    wait_for(lambda: bool(list(folder.glob("*.sock"))))
    return process_in(folder)


def process_in(folder: Path) -> int:
    (lock,) = folder.glob("hook-*.lock")
    process = runtime.Lock(lock).holder()
    assert process is not None
    return process


def wait_for(reached: Callable[[], bool]) -> None:
    until = time.monotonic() + TIME_LIMIT
    while not reached():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)


def run(
    tree: Tree, event: str, payload: Any, variables: dict[str, str], *options: str
) -> tuple[str, str]:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    words = ("hook", event, *PATIENT, *options)
    done = tree.run(*words, stdin=data, command=COMMAND, env=variables)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def asked(process: int) -> float:
    """Return the processor time of a process and of its copies that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


PAYLOADS: list[tuple[str, Any, tuple[str, ...]]] = [
    ("session-start", {}, ()),
    ("session-start", {}, ("--client", "cursor", "--viewer", "bob")),
    ("prompt", {"prompt": "when is the journal replayed, and when emptied?"}, ()),
    ("prompt", {"prompt": "when is the journal replayed?"}, ("--client=codex", "--all-viewers")),
    ("prompt", {"prompt": "yes, go ahead"}, ()),
    ("prompt", {"prompt": "the staging host \ud83d\ude00 \x1b[31m"}, ()),
    ("prompt", {"prompt": "journal"}, ("--store", "/nowhere/at.all")),
    ("prompt", {"prompt": "journal"}, ("--viewer", "two words")),
    ("prompt", {"prompt": "journal"}, ("--space", "nothing")),
    ("post-tool", {"session_id": "s", "tool_input": {"command": "ls"}}, ()),
    ("post-tool", b"this is no JSON", ()),
    ("post-tool", b"", ()),
]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processor times are read from there")
def test_answers_are_the_same_with_and_without_it(
    tree: Tree, server: int, variables: dict[str, str]
) -> None:
    for event, payload, options in PAYLOADS:
        given = payload if isinstance(payload, bytes) else {"cwd": str(tree.root), **payload}
        alone = run(tree, event, given, {"QUIRE_BACKGROUND": "0"}, *options)
        assert run(tree, event, given, variables, *options) == alone
    before = asked(server)
    run(
        tree,
        "prompt",
        {"cwd": str(tree.root), "prompt": "when is the journal replayed?"},
        variables,
    )
    run(tree, "prompt", b"{}", variables)  # the copy before has ended, and is counted
    assert asked(server) > before, "it was asked"


def test_what_counts_is_the_hook_and_not_the_process(
    tree: Tree, plant: Forest, server: int, variables: dict[str, str]
) -> None:
    """Its folder, its variables, and settings and files as they are now."""
    assert server
    other = plant("other")
    other.write("docs/tide.md", "# Tide\n\nThe tide is high at noon.\n")
    other.index()
    answer, _ = run(other, "prompt", {"prompt": "when is the tide high?"}, variables)
    assert "high at noon" in answer
    more = {**variables, "QUIRE_VIEWER": "bob", "QUIRE_STORE": str(tree.store)}
    alone = {**more, "QUIRE_BACKGROUND": "0"}
    ask = {"prompt": "when is the journal replayed?"}
    assert run(other, "prompt", ask, more) == run(other, "prompt", ask, alone)
    other.write("docs/tide.md", "# Tide\n\nThe tide is high at midnight.\n")
    answer, _ = run(other, "prompt", {"prompt": "when is the tide high?"}, variables)
    assert "high at midnight" in answer
    other.write("quire.toml", "[access]\ndefault = 'owner'\n")
    answer, _ = run(other, "prompt", {"prompt": "tide"}, variables, "--viewer", "bob")
    assert "midnight" not in answer


def test_one_that_was_killed_is_replaced(
    tree: Tree, server: int, variables: dict[str, str], folder: Path
) -> None:
    os.kill(server, signal.SIGKILL)
    (lock,) = folder.glob("hook-*.lock")
    wait_for(lambda: runtime.Lock(lock).holder() is None)
    (left,) = folder.glob("*.sock")
    ask = {"cwd": str(tree.root), "prompt": "when is the journal replayed?"}
    answer, note = run(tree, "prompt", ask, variables)
    assert "the journal is replayed" in answer
    assert note == ""
    wait_for(lambda: runtime.Lock(lock).holder() not in {None, server})
    wait_for(lambda: left.exists() and can_connect(left))
    assert run(tree, "prompt", ask, variables)[0] == answer


def can_connect(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(place)) == 0


def test_its_socket_is_for_the_user_alone(server: int, folder: Path) -> None:
    assert server
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for entry in folder.iterdir():
        assert stat.S_IMODE(entry.stat().st_mode) & 0o077 == 0, entry.name


def test_another_user_gets_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = socket.socketpair()
    with one, two:
        assert warm.is_same_user(one)
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert not warm.is_same_user(one)


def test_a_process_that_does_not_answer_costs_no_more_than_the_deadline(
    tree: Tree, variables: dict[str, str], folder: Path
) -> None:
    """And one that hangs up at once costs nothing: the hook answers by itself."""
    runtime.folder(variables)
    code = "from quire.integrations.hooks import warm; print(warm.name_of_installation())"
    environment = {**os.environ, **variables}
    name = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout.strip()
    ask = json.dumps({"cwd": str(tree.root), "prompt": "when is the journal replayed?"}).encode()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / f"{name}.sock"))
        listener.listen()
        stalled = tree.run(
            "hook", "prompt", "--timeout", "0.5", stdin=ask, command=COMMAND, env=variables
        )
        assert stalled.stdout == "{}\n"
        assert stalled.stderr == "quire hook: no answer within 0.5 seconds\n"
        listener.settimeout(TIME_LIMIT)
        listener.accept()[0].close()  # of the hook that gave up

        def hang_up() -> None:
            listener.accept()[0].close()

        hanging_up = threading.Thread(target=hang_up)
        hanging_up.start()
        done = tree.run("hook", "prompt", *PATIENT, stdin=ask, command=COMMAND, env=variables)
        hanging_up.join()
    assert "the journal is replayed" in done.stdout


def test_it_ends_when_quire_changes_or_its_socket_is_gone(
    tree: Tree, server: int, variables: dict[str, str], folder: Path
) -> None:
    (place,) = folder.glob("*.sock")
    (lock,) = folder.glob("hook-*.lock")
    aside = folder / "aside"
    place.rename(aside)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(aside))
        assert connection.recv(1) == b"", "it hangs up"
    wait_for(lambda: runtime.Lock(lock).holder() != server)
    ask = {"cwd": str(tree.root), "prompt": "when is the journal replayed?"}
    assert "the journal is replayed" in run(tree, "prompt", ask, variables)[0]


def test_no_process_is_started_where_its_socket_cannot_be(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = session / ("d" * runtime.MAX_SOCKET_PATH)
    deep.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    monkeypatch.setenv("QUIRE_BACKGROUND", "1")
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process was started"))
    warm.start_server()
    assert warm.meeting_place() is None


def test_it_ends_by_itself(
    session: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", variables["XDG_RUNTIME_DIR"])
    monkeypatch.setattr(warm_server, "IDLE_SECONDS", 0.1)
    monkeypatch.setattr(warm_server, "LOADED", ())
    monkeypatch.setattr(runtime, "detach", lambda: None)
    mask = os.umask(0o022)
    try:
        warm_server.main()
    finally:
        os.umask(mask)
    assert not list(session.rglob("*.sock"))


def test_modules_of_the_project_are_not_loaded_by_it(
    tree: Tree, variables: dict[str, str], folder: Path
) -> None:
    command_line = str(Path(sys.executable).with_name("quire"))
    tree.write("quire.py", "open('taken', 'w')\n")
    tree.write("numpy.py", "open('taken', 'w')\n")
    data = json.dumps({"cwd": str(tree.root)}).encode()
    tree.run("hook", "session-start", *PATIENT, stdin=data, command=[command_line], env=variables)
    wait_for(lambda: bool(list(folder.glob("*.sock"))))
    process = process_in(folder)
    assert Path(f"/proc/{process}/cwd").readlink() == folder
    assert not list(tree.root.rglob("taken"))


def test_both_parsers_know_the_same_words() -> None:
    options = {word for item in command.hook.params for word in item.opts if word.startswith("-")}
    assert options == {*warm.FLAGS, *warm.VALUES}
    assert warm.EVENTS == EVENTS
    names = {*warm.FLAGS.values(), *warm.VALUES.values(), "event"}
    assert {item.name for item in command.hook.params} == names


@pytest.mark.parametrize(
    "words",
    [(), ("prompt", "prompt"), ("dance",), ("prompt", "--timeout"), ("prompt", "--timeout", "x"),
     ("prompt", "--timeout", "601"), ("prompt", "--help"), ("prompt", "--timeout", "nan")],
)  # fmt: skip
def test_what_is_typed_wrongly_is_left_to_the_command(words: tuple[str, ...]) -> None:
    assert warm._parse(words) is None
