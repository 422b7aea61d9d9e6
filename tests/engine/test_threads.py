"""Several threads may use one open store: models are loaded once, whoever asks first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from quire.indexing import project

if TYPE_CHECKING:
    from tests.conftest import Tree

THREADS = 8


class Model:
    """Something that can be closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def slow_opener(opened: list[Model]) -> Callable[..., Model]:
    """Give what loads a model, slowly enough that every thread asks before the first is done."""

    def load(*_: object) -> Model:
        time.sleep(0.1)
        opened.append(Model())
        return opened[-1]

    return load


@pytest.mark.parametrize(
    ("opener", "ask"), [("open_embedder", "embedder"), ("open_writer", "text_writer")]
)
def test_threads_that_ask_at_the_same_time_share_one_model(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, opener: str, ask: str
) -> None:
    loaded: list[Model] = []
    monkeypatch.setattr(project, opener, slow_opener(loaded))
    together = threading.Barrier(THREADS)

    with tree.open() as quire, ThreadPoolExecutor(THREADS) as pool:

        def run(_: int) -> Any:
            together.wait()
            return getattr(quire._project, ask)()

        models = list(pool.map(run, range(THREADS)))
    assert len(loaded) == 1
    assert all(model is loaded[0] for model in models)
    assert loaded[0].closed == 1
