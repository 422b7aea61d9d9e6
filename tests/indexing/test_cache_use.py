"""How often answers were in a cache is told to the owner, over all processes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from quire.config.user_cache import CacheFile, folder_of
from quire.core.types import CacheUse, HitCount
from quire.indexing import cache_use
from quire.indexing.cache_use import CacheUseLog
from tests.conftest import Tree


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def open_log(folder: Path) -> CacheUseLog:
    store = folder / "store.db"
    return CacheUseLog(CacheFile(folder_of(store, os.environ), store, "use.jsonl", 1 << 20))


def use(hits: int, total: int) -> CacheUse:
    return CacheUse(searches=HitCount(hits, total))


def test_processes_are_summed_up(tmp_path: Path) -> None:
    one, other = open_log(tmp_path), open_log(tmp_path)
    one.save(use(1, 2))
    one.save(use(1, 2))  # nothing new
    other.save(use(5, 6))
    one.save(use(4, 5))
    assert open_log(tmp_path).total(CacheUse()) == use(9, 11)
    assert one.total(use(4, 6)) == use(9, 12)
    assert other.total(use(5, 6)) == use(9, 12)


def test_a_process_that_goes_on_saves_now_and_then(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for number in range(cache_use.SAVE_EVERY):
        log.note(use(0, number))
    assert open_log(tmp_path).total(CacheUse()) == use(0, cache_use.SAVE_EVERY - 1)


def test_many_lines_become_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_use, "MAX_LINES", 5)
    log = open_log(tmp_path)
    for number in range(1, 9):
        log.save(use(number, 2 * number))
    (file,) = tmp_path.rglob("use.jsonl")
    assert file.read_text().count("\n") == 8
    assert log.total(use(8, 16)) == use(8, 16)
    assert file.read_text() == '{"searches":[8,16]}\n'
    log.save(use(9, 17))
    assert log.total(use(9, 17)) == open_log(tmp_path).total(CacheUse()) == use(9, 17)


def test_what_is_no_count_is_passed_over(tmp_path: Path) -> None:
    open_log(tmp_path).save(use(1, 2))
    (file,) = tmp_path.rglob("use.jsonl")
    with file.open("a") as lines:
        lines.write('{"searches":[3,1]}\n{"searches":"x","verdicts":[1,1]}\n{"other":[1,1]}\n')
    total = open_log(tmp_path).total(CacheUse())
    assert total == CacheUse(searches=HitCount(1, 2), verdicts=HitCount(1, 1))


def test_status_tells_the_owner_and_nobody_else(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "project")
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("a.md", "# Tides\n\nThe pilot knows the tide.\n")
    tree.index()
    assert "caches" in tree.call("status").stdout
    assert "not used yet" in tree.call("status").stdout
    with tree.open() as opened:
        for _ in range(4):
            opened.assemble("the tide", budget=2000)
        caches = opened.status().caches
        assert caches is not None
        assert caches.contexts == HitCount(3, 4)
        assert opened.status("vera").caches is None
    told = json.loads(tree.call("status", "--json").stdout)
    assert told["caches"]["contexts"] == {"hits": 3, "total": 4, "rate": 0.75}
    assert "contexts 75.0% of 4" in tree.call("status").stdout
    assert "caches" not in json.loads(tree.call("status", "--json", "--viewer", "vera").stdout)
    assert "caches" not in tree.call("status", "--viewer", "vera").stdout
