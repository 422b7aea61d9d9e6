"""Is the licence of each locked package known, written down and permissive?"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def make_licenses() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_licenses", DOCS / "make_licenses.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_is_current(make_licenses: ModuleType) -> None:
    written = (DOCS / "licenses.md").read_text("utf-8")
    assert written == make_licenses.page(), "run `make licenses`"


@pytest.mark.parametrize("lock", ["run", "dev"])
def test_all_licences_are_permissive(make_licenses: ModuleType, lock: str) -> None:
    allowed = make_licenses.PERMISSIVE | make_licenses.PER_FILE
    if lock == "dev":
        allowed |= make_licenses.TESTS_ONLY
    for package in make_licenses.locked(lock):
        expression = make_licenses.license_of(package)
        unknown = set(make_licenses.parts(expression)) - allowed
        assert expression, package
        assert not unknown, f"{package}: {expression}"


def test_what_was_read_by_hand_is_still_needed(make_licenses: ModuleType) -> None:
    assert make_licenses.READ.keys() <= make_licenses.locked("dev").keys()
