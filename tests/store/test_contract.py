"""Every engine passes the conformance suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.core.protocols import Store

from .contract import *  # noqa: F403 - the whole suite is collected here
from .engines import ENGINES, Engine, postgres
from .statements import refuse_those_without_space


@pytest.fixture(params=[*ENGINES, "postgres"])
def engine(
    request: pytest.FixtureRequest, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Engine:
    if request.param == "postgres":
        refuse_those_without_space(monkeypatch)
        return postgres(request.getfixturevalue("database"))
    return ENGINES[request.param](quick_path)


@pytest.fixture
def store(engine: Engine) -> Iterator[Store]:
    opened = engine.open()
    yield opened
    opened.close()
