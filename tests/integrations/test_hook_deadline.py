"""A hook keeps its deadline, whatever holds the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from quire.integrations.hooks import deadline

LIMIT = 1
HOOK = """
import os, re, sys
import quire.integrations.hooks.command as command

def answer(*_):
    {body}

command._answer = answer
sys.argv = ["quire", "hook", "prompt", "--timeout", "{limit}"]
from quire.cli.start import main
main()
"""
BUSY = 're.match(r"(a+)+$", "a" * 60 + "!")'
"""A call of C code that holds the interpreter's lock for hours."""

needs_fork = pytest.mark.skipif(not deadline.CAN_FORK, reason="the system has no fork")


def hook(body: str) -> list[str]:
    return [sys.executable, "-c", HOOK.format(body=body, limit=LIMIT)]


def run(body: str) -> tuple[subprocess.CompletedProcess[str], float]:
    started = time.monotonic()
    done = subprocess.run(
        hook(body), input="{}", capture_output=True, text=True, timeout=30, check=False
    )
    return done, time.monotonic() - started


@needs_fork
@pytest.mark.parametrize("body", [BUSY, "import time; time.sleep(60)", "sum(range(10**12))"])
def test_it_ends_in_time_with_an_empty_answer(body: str) -> None:
    start_up = run("return {}, ()")[1]
    done, seconds = run(body)
    assert (done.returncode, done.stdout) == (0, "{}\n")
    assert done.stderr == f"quire hook: no answer within {LIMIT} seconds\n"
    assert seconds < start_up + LIMIT + 1


def test_an_answer_and_its_notes_pass_through() -> None:
    done, _ = run('return {"additional_context": "\\u00e9" * 200_000}, ("one", "two")')
    assert done.returncode == 0
    assert done.stdout == '{"additional_context": "' + r"\u00e9" * 200_000 + '"}\n'
    assert done.stderr == "quire hook: one; two\n"


@needs_fork
def test_a_child_that_dies_changes_nothing() -> None:
    done, _ = run("os.kill(os.getpid(), 9)")
    assert (done.returncode, done.stdout) == (0, "{}\n")
    assert done.stderr == "quire hook: it ended without an answer\n"


@needs_fork
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system has no /proc")
def test_nothing_is_left_when_the_hook_is_killed() -> None:
    with subprocess.Popen(hook(BUSY), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        until = time.monotonic() + 20
        while not (names := children.read_text().split()):
            assert time.monotonic() < until
            time.sleep(0.01)
        process.kill()
    until = time.monotonic() + LIMIT + deadline.GRACE + 10
    while _is_running(int(names[0])):
        assert time.monotonic() < until, "the child outlives its deadline"
        time.sleep(0.05)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_without_fork_a_thread_keeps_the_time() -> None:
    body = "import time; time.sleep(60)"
    code = "import quire.integrations.hooks.deadline as d; d.CAN_FORK = False\n"
    done = subprocess.run(
        [sys.executable, "-c", code + HOOK.format(body=body, limit=LIMIT)],
        input="{}",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "{}\n")
    assert "no answer within" in done.stderr
