"""ARCHITECTURE.md and CONTRIBUTING.md name files; each of them exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "quire"
FILE = re.compile(r"`([\w./*-]+\.(?:py|toml|json|js|css|md))`")
NOT_THERE = {"quire.toml", "dist/quire-context.cdx.json"}
"""A user writes the first, a target of make the second."""


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_are_named_exist(page: str) -> None:
    named = set(FILE.findall((ROOT / page).read_text("utf-8"))) - NOT_THERE
    assert named
    assert {name for name in named if not _exists(name)} == set()


def _exists(name: str) -> bool:
    """Tell whether a path leads to a file from the repository, or from any package of Quire."""
    return any(ROOT.glob(name)) or any(SOURCES.rglob(name))
