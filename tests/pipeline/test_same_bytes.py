"""A context is the same in every byte, in every process, thread and repetition."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quire import Quire
from quire.core.types import Context, Options
from tests.conftest import TIME_LIMIT, Tree
from tests.pipeline.conftest import opened
from tests.pipeline.digest import QUERIES, digest, plain, requests

ROOT = Path(__file__).parents[2]


@pytest.fixture
def expected(library: Quire) -> list[str]:
    return [plain(library.assemble(query, **options)) for query, options in requests()]


def test_the_requests_are_worth_comparing(expected: list[str]) -> None:
    assert len(set(expected)) == len(expected)
    assert all(len(text) > 5000 for text in expected)


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_processes_and_hash_seeds(library: Quire, library_tree: Tree, seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.pipeline.digest", str(library_tree.root)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=TIME_LIMIT,
        env={**os.environ, "PYTHONHASHSEED": seed, "TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8"},
    )
    assert done.stdout.strip() == digest(library)


def test_cache_on_or_off(library: Quire, expected: list[str]) -> None:
    for (query, options), text in zip(requests(), expected, strict=True):
        assert plain(library.assemble(query, **options)) == text
    library._contexts._items.clear()
    library._vectors._cache._items.clear()
    for (query, options), text in zip(requests(), expected, strict=True):
        assert plain(library.assemble(query, **options)) == text
        assert library.verify_determinism(query, **options)


def test_another_opening_of_the_same_store(library_tree: Tree, expected: list[str]) -> None:
    with opened(library_tree) as other:
        found = [plain(other.assemble(query, **options)) for query, options in requests()]
    assert found == expected


@pytest.mark.parametrize("fresh", [False, True])
def test_many_threads_over_one_object(library: Quire, expected: list[str], fresh: bool) -> None:
    def assembled(asked: tuple[str, Options]) -> str:
        if fresh:
            library._contexts._items.clear()
        query, options = asked
        return plain(library.assemble(query, **options))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(assembled, [*requests()] * 3))
    assert found == expected * 3


def test_async_equals_sync(library: Quire, expected: list[str]) -> None:
    library._contexts._items.clear()

    async def all_at_once() -> list[Context]:
        return await asyncio.gather(
            *(library.assemble_async(query, **options) for query, options in requests())
        )

    assert [plain(context) for context in asyncio.run(all_at_once())] == expected


def test_async_alone_and_its_errors(library: Quire) -> None:
    context = asyncio.run(library.assemble_async(QUERIES[0], budget=1200))
    assert context == library.assemble(QUERIES[0], budget=1200)

    async def mixed() -> Sequence[Context | BaseException]:
        found: Sequence[Context | BaseException] = await asyncio.gather(
            library.assemble_async(QUERIES[0], budget=1200),
            library.assemble_async(QUERIES[0], budget=-1),
            library.assemble_async("", budget=1200),
            return_exceptions=True,
        )
        return found

    good, negative, empty = asyncio.run(mixed())
    assert good == context
    assert "budget: must be between 1 and" in str(negative)
    assert "the query is empty" in str(empty)


def test_async_does_not_hold_up_the_loop(library: Quire) -> None:
    library._contexts._items.clear()

    async def ticking() -> int:
        ticks = 0
        task = asyncio.create_task(library.assemble_async(QUERIES[1], budget=3000))
        while not task.done():
            ticks += 1
            await asyncio.sleep(0)
        return ticks

    assert asyncio.run(ticking()) > 1


def test_the_history_of_a_store_leaves_no_trace(library: Quire, tmp_path: Path) -> None:
    """The same files, indexed in another order with detours, give the same contexts."""
    files = {record.path: "" for record in library.documents.list()}
    source = library.root()
    other = Tree(tmp_path / "project")
    for number, path in enumerate(sorted(files, reverse=True)):
        other.write(path, "something else for a while\n" if number % 3 else "")
        other.write(f"gone/{number}.md", "quorum vote leader crash validator\n")
    with opened(other) as found:
        found.index()
        other.remove("gone")
        for path in files:
            other.write(path, (source / path).read_bytes())
        found.index()
        assert found.status().roots == library.status().roots
        for query, options in requests():
            assert plain(found.assemble(query, **options)) == plain(
                library.assemble(query, **options)
            )
