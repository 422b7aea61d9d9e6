"""Can it be interrupted, or started twice, and still end as if nothing had happened?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quire.core.types import OWNER, Status
from quire.errors import QuireError
from quire.store import open_store
from tests.conftest import interruptible

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

NOTES = 600
"""So many that they are not all embedded when the first vectors are seen."""
LIMIT = 90.0
INTERRUPTED = "quire: interrupted; finished work is kept, run the command again to continue"


def status(tree: Tree) -> Status | None:
    """Look into a store that another process may be making just now."""
    if not tree.store.exists():
        return None
    try:
        store = open_store(tree.store, create=False)
    except QuireError:
        return None
    try:
        with store.view(OWNER) as view:
            return view.status()
    finally:
        store.close()


def started(tree: Tree, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [tree.command, *arguments],
        cwd=tree.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=interruptible(),
    )


def test_ctrl_c_while_reading(tree: Tree, plant: Forest) -> None:
    notes = {
        f"part{n % 20}/note{n}.md": f"# Note {n}\n\n{'The bell rings. ' * 40}{n}\n"
        for n in range(1500)
    }
    tree.fill(notes)
    process = started(tree, "index", "--no-embed")
    end = time.monotonic() + LIMIT
    while (seen := status(tree)) is None or not seen.records:
        assert process.poll() is None, "it ended before it could be interrupted"
        assert time.monotonic() < end
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT)

    assert process.returncode == 130
    assert out == ""
    assert err.strip() == INTERRUPTED
    with tree.open() as opened:
        assert opened.store.check() == []
        kept = opened.status().records
    assert 0 < kept < len(notes)

    done = json.loads(tree.run("index", "--no-embed", "--json").stdout)
    assert (done["indexed"], done["unchanged"]) == (len(notes) - kept, kept)
    other = plant("undisturbed", notes)
    assert done["state_root"] == other.index().state_root


@pytest.mark.model
def test_ctrl_c_while_embedding(tree: Tree) -> None:
    tree.fill({f"note{n}.md": f"# Note {n}\n\n{'The bell rings. ' * 9}{n}\n" for n in range(NOTES)})
    process = started(tree, "index")
    end = time.monotonic() + LIMIT
    while (seen := status(tree)) is None or not seen.vectors:
        assert process.poll() is None, "it ended before it could be interrupted"
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT)

    assert process.returncode == 130
    assert err.strip() == INTERRUPTED
    interrupted = status(tree)
    assert interrupted is not None
    assert interrupted.chunks == NOTES
    assert 0 < interrupted.missing_vectors < NOTES

    done = json.loads(tree.run("index", "--json").stdout)
    assert done["indexed"] == 0
    assert (done["vectors"], done["missing_vectors"]) == (interrupted.missing_vectors, 0)


def test_the_terminal_is_left_as_it_was(tree: Tree) -> None:
    """An interrupt while progress is shown: its line is gone, and nothing else was switched."""
    import pty

    tree.fill({f"note{n}.md": f"# Note {n}\n\n{'The bell rings. ' * 40}\n" for n in range(1500)})
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [tree.command, "index", "--no-embed"],
        cwd=tree.root,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**interruptible(), "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(slave)
    shown = b""
    while b"reading files" not in shown:
        shown += os.read(master, 65536)
    process.send_signal(signal.SIGINT)
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(master)
    assert process.wait(LIMIT) == 130
    assert b"\x1b" not in shown
    progress, _, _ = shown.partition(INTERRUPTED.encode())
    assert progress != shown, "it says that it was interrupted"
    assert progress.rstrip(b"\r\n").rpartition(b"\r")[2].strip() == b""


def test_two_at_the_same_time(tree: Tree, plant: Forest) -> None:
    notes = {f"note{n}.md": f"# Note {n}\n\n{'The bell rings. ' * 20}{n}\n" for n in range(550)}
    tree.fill(notes)
    both = [started(tree, "index", "--no-embed", "--json") for _ in range(2)]
    told = []
    for process in both:
        out, err = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, err
        assert err == ""
        told.append(json.loads(out))

    other = plant("alone", notes)
    alone = other.index()
    assert {one["state_root"] for one in told} == {alone.state_root}
    with tree.open() as opened:
        assert opened.store.check() == []
        assert opened.status().records == 550
        assert opened.search("bell") == other.open().search("bell")


def test_many_readers_while_one_writes(tree: Tree) -> None:
    """Each answer is of one moment: all of a write is in it, or nothing."""
    tree.fill({f"note{n}.md": f"# Note {n}\n\nThe bell rings {n}.\n" for n in range(20)})
    tree.index()
    process = started(tree, "watch", "--no-embed")
    try:
        seen: set[str] = set()
        for turn in range(2000):
            if turn >= 30 and len(seen) > 1:
                break  # the other one has written while this one read
            for n in range(3):
                Path(tree.root, f"note{n}.md").write_text(f"# Note {n}\n\nThe gong {turn}.\n")
            with tree.open() as opened:
                answer = opened.search("bell gong", k=50)
                again = opened.search("bell gong", k=50)
                assert len({one.chunk.path for one in answer.results}) == 20
                if answer.state_root == again.state_root:
                    assert answer == again
                seen.add(answer.state_root)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    tree.index()
    with tree.open() as opened:
        assert opened.store.check() == []
