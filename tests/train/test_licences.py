"""A licence that is stated is looked up in the files of the repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from train.licences import compare, find_licences

MIT = "Permission is hereby granted,\nfree of charge, to any person"


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    home = tmp_path / "owner+name" / "repo"
    home.mkdir(parents=True)
    (home / "MIT-LICENSE").write_text(MIT)
    (home / "readme.md").write_text("Apache License")
    for arguments in (
        ("init", "--quiet"),
        ("add", "."),
        ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "One"),
    ):
        subprocess.run(["git", "-C", str(home), *arguments], check=True)
    return tmp_path


def test_a_licence_is_found_across_lines() -> None:
    assert find_licences(MIT) == {"MIT"}
    assert find_licences("All rights reserved") == set()


def test_what_is_stated_must_stand_in_a_licence_file(mirror: Path) -> None:
    assert compare("owner/name", "MIT", mirror) == ""
    assert "Apache-2.0 is stated" in compare("owner/name", "MIT OR Apache-2.0", mirror)
    assert compare("owner/other", "MIT", mirror) == "is not there"
