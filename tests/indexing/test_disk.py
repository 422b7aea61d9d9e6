"""What is kept on disk beside the texts has limits, and is pruned by what writes it."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from quire.core.types import ALL, OWNER, Viewer
from quire.receipts import access_log
from quire.receipts.access_log import LogFile
from quire.system import platform
from tests.conftest import Tree

from .test_branches import Counted, embedder, index

__all__ = ["embedder"]

VERA = Viewer("vera")


def write_notes(tree: Tree, numbers: range) -> None:
    for number in numbers:
        tree.write(f"{number}.md", f"Note number {number}.\n")


def remove_notes(tree: Tree, numbers: range) -> None:
    for number in numbers:
        (tree.root / f"{number}.md").unlink()


def test_index_prunes_the_older_half_of_too_many_old_vectors(
    tree: Tree, embedder: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUIRE_EMBED_KEEP", "6")
    for number in range(10):
        write_notes(tree, range(number, number + 1))
        index(tree)
    embedder.take()
    with tree.open() as opened:
        remove_notes(tree, range(6))
        opened.index()
        disk = opened.status().disk
        assert disk is not None
        assert disk.old_vectors == 6, "as many as are kept"
        remove_notes(tree, range(6, 7))
        opened.index()
        disk = opened.status().disk
        assert disk is not None
        assert disk.old_vectors == 3
        assert opened.status("vera").disk is None
        write_notes(tree, range(7))
        assert opened.index().vectors == 4
        assert sorted(embedder.take()) == [f"Note number {number}.\n" for number in range(4)]
        assert opened.doctor() == []


def test_all_old_vectors_may_be_kept(
    tree: Tree, embedder: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUIRE_EMBED_KEEP", "all")
    write_notes(tree, range(5))
    index(tree)
    remove_notes(tree, range(4))
    index(tree)
    with tree.open() as opened:
        assert opened.store.old_vectors() == 4


def test_doctor_prunes_on_request(tree: Tree, embedder: Counted) -> None:
    write_notes(tree, range(200))
    index(tree)
    remove_notes(tree, range(1, 200))
    index(tree)
    with tree.open() as opened:
        before = opened.status()
        assert opened.doctor() == []
        assert opened.store.old_vectors() == 199
        (done,) = opened.doctor(prune=True)
        assert (done.check, done.repaired) == ("disk", True)
        assert done.detail.startswith("199 vectors of texts that are gone were deleted")
        after = opened.status()
        assert after.roots == before.roots
        assert after.bytes < before.bytes
        assert opened.store.old_vectors() == 0
        assert [found.path for found in opened.search("note", viewer=OWNER)] == ["0.md"]
    told = json.loads(tree.call("doctor", "--prune", "--json").stdout)
    assert [problem["check"] for problem in told["problems"]] == ["disk"]


# --- the log of what was handed out --------------------------------------------------------------


def write_lines(log: LogFile, first: int, last: int) -> None:
    for at in range(first, last):
        access_log.write_disclosure(log, VERA, "search", at, pieces=["piece"], records=["record"])


def times(log: LogFile) -> list[int]:
    return [int(entry["at"]) for entry in access_log.read(log)]


@pytest.mark.parametrize("outside", [False, True])
def test_a_log_keeps_its_limit_and_the_newest_lines(tmp_path: Path, outside: bool) -> None:
    root = tmp_path / "project"
    root.mkdir()
    name = str(tmp_path / "log.jsonl") if outside else "log/given.jsonl"
    log = LogFile(root, name, outside=outside, max_bytes=2_000)
    write_lines(log, 0, 100)
    kept = times(log)
    assert kept == list(range(kept[0], 100)), "the oldest are gone, none of the others"
    assert 0 < kept[0] < 95
    assert 1_000 <= access_log.count_bytes(log) <= 2_000 + 100


def test_a_log_without_a_limit_keeps_everything(tmp_path: Path) -> None:
    log = LogFile(tmp_path, "log.jsonl", max_bytes=ALL)
    write_lines(log, 0, 200)
    assert times(log) == list(range(200))
    assert not (tmp_path / "log.jsonl.old").exists()


def test_what_has_the_name_of_an_older_log_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "log.jsonl.old"
    mine.write_text("My own notes.\n")
    log = LogFile(tmp_path, "log.jsonl", max_bytes=1_000)
    write_lines(log, 0, 50)
    assert mine.read_text() == "My own notes.\n"
    assert times(log) == list(range(50)), "then the log goes on"


def test_a_link_in_the_place_of_an_older_log_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text('{"at":1}\n')
    root = tmp_path / "project"
    root.mkdir()
    (root / "log.jsonl.old").symlink_to(target)
    log = LogFile(root, "log.jsonl", max_bytes=1_000)
    write_lines(log, 0, 50)
    assert target.read_text() == '{"at":1}\n'


def test_a_kill_between_renaming_and_writing_loses_no_line(tmp_path: Path) -> None:
    log = LogFile(tmp_path, "log.jsonl", max_bytes=10_000)
    write_lines(log, 0, 20)
    assert platform.rename_large(log.path, log.old, 1)
    assert times(log) == list(range(20))
    write_lines(log, 20, 25)
    assert times(log) == list(range(25))


def _write_many(root: Path, first: int) -> None:
    write_lines(LogFile(root, "log.jsonl", max_bytes=40_000), first, first + 300)


def test_processes_that_write_at_the_same_time_lose_no_new_line(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_write_many, args=(tmp_path, 1_000 * number)) for number in (1, 2, 3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(worker.exitcode == 0 for worker in workers)
    log = LogFile(tmp_path, "log.jsonl", max_bytes=40_000)
    kept = times(log)
    for number in (1, 2, 3):
        mine = [at for at in kept if at // 1_000 == number]
        assert mine == list(range(1_000 * number + 300 - len(mine), 1_000 * number + 300))
    assert len(kept) >= 20_000 // 90


def test_the_limit_of_the_log_is_the_users(tree: Tree) -> None:
    """A project must not shorten the log that its user keeps."""
    tree.write("quire.toml", '[embed]\nprovider = "none"\n[audit]\nmax_bytes = 1\n')
    with tree.open() as opened:
        assert opened.config.audit.max_bytes == 256 * 1024 * 1024
        assert any("max_bytes" in note for note in opened.config.notes)
