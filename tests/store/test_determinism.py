"""Nothing but the content decides what a store answers."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from quire.store.index import scoring, vectors

from .digest import digest
from .processes import PATIENCE, environment


def digest_in_process(folder: Path, changes: dict[str, str]) -> str:
    """Return the digest that another process computes."""
    folder.mkdir()
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "store.digest", str(folder)],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
        env=environment(changes),
    )
    return process.stdout.strip()


def dispatched() -> list[str]:
    """Return the CPU features that numpy dispatches on in this process."""
    core = import_module("numpy._core._multiarray_umath")
    features: dict[str, bool] = core.__cpu_features__
    dispatch: list[str] = core.__cpu_dispatch__
    return [name for name in dispatch if features.get(name)]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    return digest_in_process(tmp_path_factory.mktemp("plain") / "store", {"PYTHONHASHSEED": "0"})


@pytest.mark.parametrize("seed", ["1", "2", "3", "4", "random"])
def test_the_order_of_hashes(tmp_path: Path, expected: str, seed: str) -> None:
    assert digest_in_process(tmp_path / "store", {"PYTHONHASHSEED": seed}) == expected


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_number_of_threads(tmp_path: Path, expected: str, threads: str) -> None:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    assert digest_in_process(tmp_path / "store", dict.fromkeys(names, threads)) == expected


def test_the_features_of_the_cpu(tmp_path: Path, expected: str) -> None:
    without = " ".join(dispatched())
    changes = {"NPY_DISABLE_CPU_FEATURES": without, "OPENBLAS_CORETYPE": "Prescott"}
    assert digest_in_process(tmp_path / "store", changes if without else {}) == expected


def test_the_locale_and_the_time_zone(tmp_path: Path, expected: str) -> None:
    changes = {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"}
    assert digest_in_process(tmp_path / "store", changes) == expected


def test_this_very_process(tmp_path: Path, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in (
        (vectors, "SCAN_LIMIT"),
        (vectors, "FIRST_PASS"),
        (vectors, "FIRST_PASS_PER_HIT"),
        (scoring, "PRUNE_FROM"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))  # put back afterwards
    assert digest(tmp_path) == expected
