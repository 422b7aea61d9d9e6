"""Paths that a user names."""

from __future__ import annotations

from pathlib import Path

import pytest

from quire.errors import InputError
from quire.ingest.paths import resolve_paths


def test_what_can_be_no_name_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a path; check the name"):
        resolve_paths(tmp_path, ["\ud800"], must_exist=False)
