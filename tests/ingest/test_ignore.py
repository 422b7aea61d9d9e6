"""Ignore files mean what git says they mean: git itself is the judge."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core import globs
from quire.core.types import FileEntry
from quire.ingest import walk

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is the judge")
GIT_ENV = {
    "PATH": os.environ.get("PATH", ""),
    "HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}

NAMES = "a,b,ab,abc,a.b,b.py,é,[x],#c,!d,ba,a-c,-,],aa,aba,~,build,a b"
ATOMS = (
    "a,b,ab,aa,*,**,?,/,[ab],[!a],[^b],[a-c],[]x],[[:alpha:]],[[:bogus:]],[a,\\a,\\*,\\,.,é,#,!"
    ",-,b.py,[a\\-c],[z-a],[--/],***,**/,/**,/**/,[[:x],[é],[\\]],~,build, ,\t,\\ ,\r"
)
WHOLE = "*,!*/,!*,*/,**,/*,!/a,!a/,a/,!b.py,!*.py,*.py,a/**/b,/a/*,!/a/b,#,build/"

patterns = st.one_of(
    st.sampled_from(WHOLE.split(",")),
    st.builds(
        lambda head, body, tail: head + "".join(body) + tail,
        st.sampled_from(["", "", "!", "/"]),
        st.lists(st.sampled_from(ATOMS.split(",")), min_size=1, max_size=4),
        st.sampled_from(["", "", "/", " "]),
    ),
)
paths = st.lists(st.sampled_from(NAMES.split(",")), min_size=1, max_size=4).map("/".join)
ignore_files = st.builds(
    lambda lines, end, bom: bom + end.join(lines),
    st.lists(patterns, min_size=1, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "", "\ufeff"]),
)


def grow(root: Path, files: set[str], ignores: dict[str, str]) -> None:
    for path in sorted(files):
        place = root / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.is_dir():
                place.write_bytes(b"x")
        except (NotADirectoryError, FileExistsError):
            continue
    for folder, text in ignores.items():
        place = root / folder
        if place.is_dir():
            (place / ".gitignore").write_bytes(text.encode())


def listed_by_git(root: Path) -> set[str]:
    assert GIT is not None
    subprocess.run([GIT, "init", "-q", "--template=", "."], cwd=root, env=GIT_ENV, check=True)
    listed = subprocess.run(
        [GIT, "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=root,
        env=GIT_ENV,
        check=True,
        capture_output=True,
    ).stdout
    return {os.fsdecode(path) for path in listed.split(b"\0") if path}


def walk_paths(root: Path) -> set[str]:
    return {file.path for file in walk(root) if isinstance(file, FileEntry)}


@needs_git
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sets(paths, min_size=4, max_size=25),
    st.dictionaries(st.one_of(st.just("."), paths), ignore_files, min_size=1, max_size=4),
)
def test_the_same_files_as_git(files: set[str], ignores: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        grow(root, files, ignores)
        assert walk_paths(root) == listed_by_git(root)


@needs_git
@pytest.mark.parametrize(
    "pattern",
    [
        "a**/b", "/a**/b", "a/**", "a/**/", "**/b", "**/b/", "a/**/b", "a/**/**/b", "**\\/b",
        "a*/b", "*/b", "a//", "/", "//", "!", "\\!d", "\\#c", "a\\ ", "a\\  ", "a \\ ", "[x]",
        "[[]x[]]", "[!a]*", "[[:lower:]]", "[[:alpha:][:punct:]]*", "[[:]", "[::]", "[a-", "[]-a]",
        "[a-a-c]", "[\\]]", "?", "??", "*a*b*", "*.*", ".*", "é", "[é]", "??.py", "b.py/", "*/*/b", "/aa[!z]a/b", "/aa?a/b", "/aa*a/b",
    ],
)  # fmt: skip
def test_single_patterns_as_git_reads_them(tmp_path: Path, pattern: str) -> None:
    files = {"/".join(parts) for parts in [("a", "b"), ("b", "b.py"), ("aa", "a", "b"), ("b", "a", "a b"),
                                          ("ab", "x", "b"), ("a", "x", "y", "b"), ("]", "[x]"), ("-", "é"),
                                          ("!d",), ("#c",), ("a.b", "a-c"), ("ba", "~"), ("a ", "a")]}  # fmt: skip
    grow(tmp_path, files, {".": pattern + "\n"})
    assert walk_paths(tmp_path) == listed_by_git(tmp_path)


def test_the_whitelist_idiom_keeps_folders_open(tmp_path: Path) -> None:
    grow(tmp_path, {"src/deep/a.py", "src/a.txt", "b.py"}, {".": "*\n!*/\n!*.py\n"})
    assert walk_paths(tmp_path) == {"src/deep/a.py", "b.py"}


def test_a_file_cannot_come_back_when_its_folder_is_excluded(tmp_path: Path) -> None:
    grow(tmp_path, {"out/keep.txt", "out/b"}, {".": "out/\n!out/keep.txt\n"})
    assert walk_paths(tmp_path) == {".gitignore"}


def test_a_hostile_pattern_is_matched_in_bounded_time() -> None:
    # With plain backtracking this would take longer than the sun will shine.
    rules = globs.compile_rules([b"*a" * 60 + b"b", b"/" + b"**/a/" * 40 + b"b"])
    assert rules is not None
    assert rules.decide(b"a" * 250, b"a" * 250, folder=False) is None
    deep = b"/".join([b"a"] * 300)
    assert rules.decide(b"a", deep, folder=False) is None
    assert rules.decide(b"b", deep + b"/b", folder=False) is True
