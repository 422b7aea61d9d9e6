"""What others write, move, link and delete changes no byte of what a viewer gets."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from .comparing import differences, worlds
from .worlds import DEEDS, choose

CASES = int(os.environ.get("QUIRE_WORLDS", "1"))


@pytest.mark.parametrize("pending", [False, True])
def test_all_that_others_can_do(quick_path: Path, *, pending: bool) -> None:
    with worlds(quick_path, pending=pending) as (bare, busy):
        assert differences(bare, busy, list(DEEDS.values())) == []


@pytest.mark.parametrize("seed", range(CASES))
def test_some_of_it_in_any_order(quick_path: Path, seed: int) -> None:
    deeds = choose(Random(seed))
    with worlds(quick_path, pending=bool(seed % 2)) as (bare, busy):
        found = differences(bare, busy, deeds)
    assert found == [], [deed.__name__ for deed in deeds]
