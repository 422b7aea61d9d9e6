"""Verdicts are kept between processes, by all that they depend on, for their owner alone."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire.config.user_cache import CacheFile, folder_of
from quire.core.types import HitCount, Verdict
from quire.rules.verdict_file import VerdictFile
from tests.conftest import trust
from tests.serving import Endpoint, Reply, served
from tests.specs.test_2_situation import REFUND, ROOT, answering, open_shop

YES, NO = Verdict(applies=True, reason="yes"), Verdict(applies=False, reason="no")


@pytest.fixture
def judge() -> Iterator[Endpoint]:
    with served(answering()) as server:
        yield server


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kept(home: Path) -> list[Path]:
    return sorted(home.rglob("verdicts-*.jsonl"))


def open_file(folder: Path, max_bytes: int = 1 << 20) -> VerdictFile:
    store = folder / "store.db"
    return VerdictFile(CacheFile(folder_of(store, os.environ), store, "v.jsonl", max_bytes))


# --- by program ----------------------------------------------------------------------------------


def test_another_process_asks_nobody(tmp_path: Path, home: Path, judge: Endpoint) -> None:
    with open_shop(tmp_path / "shop", judge=judge) as shop:
        first = shop.rules.situate(REFUND, "pay/refund.py")
    (file,) = kept(home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "complex" not in file.read_text()  # neither the rule nor the situation is in it
    with quire.open(tmp_path / "shop") as again:
        second = again.rules.situate({**REFUND, "time": 9}, "pay/refund.py")
        caches = again.status().caches
    assert len(judge.questions) == 1
    assert second.text == first.text
    assert caches is not None
    assert caches.verdicts == HitCount(1, 2)


def test_what_a_verdict_depends_on_is_its_key(tmp_path: Path, judge: Endpoint) -> None:
    folder = tmp_path / "shop"
    with open_shop(folder, judge=judge) as shop:
        shop.rules.situate(REFUND, "pay/refund.py")
    judge.usual = answering(applies=False)
    with quire.open(folder) as shop:  # another situation
        assert "### Complexity" not in shop.rules.situate({**REFUND, "intent": "x"}, "pay").text
    assert len(judge.questions) == 2
    (folder / "shop.context.yaml").write_text(ROOT.replace("task is complex", "task is hard"))
    with quire.open(folder) as shop:  # another rule
        shop.index()
        assert "### Complexity" not in shop.rules.situate(REFUND, "pay").text
    assert len(judge.questions) == 3
    settings = (folder / "quire.toml").read_text()
    (folder / "shop.context.yaml").write_text(ROOT)
    (folder / "quire.toml").write_text(settings.replace('model = "m"', 'model = "other"'))
    trust(folder)
    with quire.open(folder) as shop:  # another model
        shop.index()
        assert "### Complexity" not in shop.rules.situate(REFUND, "pay").text
    assert len(judge.questions) == 4


def test_a_replay_takes_what_the_receipt_recorded(tmp_path: Path, judge: Endpoint) -> None:
    with open_shop(tmp_path / "shop", judge=judge) as shop:
        context = shop.rules.situate(REFUND, "pay/refund.py")
    key, _ = next(iter(context.receipt["verdicts"].items()))  # type: ignore[attr-defined]
    (file,) = kept(tmp_path / "cache")
    file.write_text(json.dumps({"key": key, "applies": False, "reason": "forged"}) + "\n")
    with quire.open(tmp_path / "shop") as again:
        replayed, differing = again.replay(context.receipt)
        assert (replayed.text, differing) == (context.text, [])
        assert len(judge.questions) == 1
        again.replay(context.receipt, ask_models=True)
        assert len(judge.questions) == 2


def test_a_failure_is_not_kept(tmp_path: Path, home: Path) -> None:
    with served(answering()) as judge, open_shop(tmp_path / "shop", judge=judge) as shop:
        judge.usual = Reply({}, 500)
        shop.rules.situate(REFUND, "pay/refund.py")
    assert kept(home) == []


def test_purging_deletes_what_reasons_may_quote(
    tmp_path: Path, home: Path, judge: Endpoint
) -> None:
    with open_shop(tmp_path / "shop", judge=judge) as shop:
        shop.rules.situate(REFUND, "pay/refund.py")
        assert kept(home)
        shop.purge([tmp_path / "shop" / "pay"])
    assert kept(home) == []


def test_without_a_cache_folder_all_goes_on(
    tmp_path: Path, judge: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    with open_shop(tmp_path / "shop", judge=judge) as shop:
        shop.rules.situate(REFUND, "pay/refund.py")
        caches = shop.status().caches
    assert caches is not None
    assert caches.verdicts.total == 1


# --- the file ------------------------------------------------------------------------------------


def test_two_processes_see_what_the_other_adds(tmp_path: Path) -> None:
    one, other = open_file(tmp_path), open_file(tmp_path)
    one.save({"a": YES})
    assert other.load() == {"a": YES}
    other.save({"b": NO, "a": YES})
    assert one.load() == {"a": YES, "b": NO}
    assert (folder_of(tmp_path / "store.db", os.environ) or tmp_path).joinpath(
        "v.jsonl"
    ).read_text().count("\n") == 2


def test_the_file_is_bounded_and_keeps_the_newest(tmp_path: Path) -> None:
    file = open_file(tmp_path, 2000)
    for number in range(200):
        file.save({f"{number:032x}": NO})
    loaded = open_file(tmp_path, 2000).load()
    assert 5 < len(loaded) < 40
    assert f"{199:032x}" in loaded


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="a system without permissions")
def test_a_file_that_others_could_write_is_not_believed(tmp_path: Path, home: Path) -> None:
    open_file(tmp_path).save({"a": YES})
    next(home.rglob("v.jsonl")).chmod(0o666)
    assert open_file(tmp_path).load() == {}


def test_lines_that_are_none_are_passed_over(tmp_path: Path, home: Path) -> None:
    open_file(tmp_path).save({"a": YES})
    with next(home.rglob("v.jsonl")).open("a") as file:
        file.write('[1]\n{"key": 1}\n{"key": "x", "applies": null, "reason": ""}\n')
        file.write('{"key": "b", "applies": false, "reason": "no"}\n{"key": "cut')
    assert open_file(tmp_path).load() == {"a": YES, "b": NO}


def test_folders_of_stores_that_are_gone_are_deleted(tmp_path: Path, home: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "store.db").touch()
    open_file(tmp_path / "old").save({"a": YES})
    (tmp_path / "old" / "store.db").unlink()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "store.db").touch()
    open_file(tmp_path / "new").save({"a": YES})
    assert [file.read_text() for file in home.rglob("store")] == [str(tmp_path / "new/store.db")]
