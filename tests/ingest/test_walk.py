from __future__ import annotations

import inspect
import os
import socket
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core.types import FileEntry, IngestSettings, Skipped
from quire.errors import InputError
from quire.ingest import walk
from quire.ingest.walk import MAX_IGNORE_BYTES, MAX_PATTERNS

NOBODY = 65534


def make(root: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def paths(items: Iterable[FileEntry | Skipped]) -> list[str]:
    return [item.path for item in items if isinstance(item, FileEntry)]


def reasons(items: Iterable[FileEntry | Skipped]) -> dict[str, str]:
    return {item.path: item.reason for item in items if isinstance(item, Skipped)}


def test_files_come_in_the_order_of_their_paths_bytes(tmp_path: Path) -> None:
    # A folder sorts by its name with a slash: `a-b` < `a/x` < `a0`.
    make(tmp_path, "a/x", "a-b", "a0", "b/c/d", "b.txt", "Z", "ä", "\U0001d4b3", "\uff5e")
    listed = paths(walk(tmp_path))
    assert listed == sorted(listed, key=lambda path: path.encode())
    assert listed[:4] == ["Z", "a-b", "a/x", "a0"]
    assert len(listed) == 9


def test_what_a_found_file_says(tmp_path: Path) -> None:
    make(tmp_path, "d/f.txt", text="12345")
    os.utime(tmp_path / "d/f.txt", ns=(1, 1_234_567_890_123_456_789))
    (file,) = walk(tmp_path)
    assert file == FileEntry("d/f.txt", str(tmp_path / "d" / "f.txt"), 5, 1_234_567_890_123_456_789)


def test_version_control_and_the_store_are_never_entered(tmp_path: Path) -> None:
    make(
        tmp_path,
        ".git/config",
        ".hg/x",
        ".svn/x",
        ".quire/store.db",
        "sub/.git/HEAD",
        "a",
        ".github/w.yml",
    )
    make(tmp_path, "worktree/.git")
    assert paths(walk(tmp_path)) == [".github/w.yml", "a"]


def test_ignore_files_override_each_other_in_a_stated_order(tmp_path: Path) -> None:
    make(tmp_path, *(f"x/{name}" for name in "abcdef"))
    make(tmp_path, ".git/info/exclude", text="a\nb\nc\nd\n")
    make(tmp_path, ".gitignore", text="!b\nc\n")
    make(tmp_path, ".quireignore", text="!c\ne\n")
    make(tmp_path, "x/.gitignore", text="!d\n")
    settings = IngestSettings(ignore=("/x/f", "*ignore"))
    assert paths(walk(tmp_path, settings=settings)) == ["x/b", "x/c", "x/d"]
    # The settings have the last word, in both directions.
    settings = IngestSettings(ignore=("!a", "!e"))
    assert "x/a" in paths(walk(tmp_path, settings=settings))
    assert "x/e" in paths(walk(tmp_path, settings=settings))


def test_an_ignored_folder_is_not_even_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "node_modules/a/b/c.js", "src/a.js")
    make(tmp_path, ".gitignore", text="node_modules\n")
    opened: list[str] = []
    scandir = os.scandir

    def tracking_scandir(place: str) -> Iterator[os.DirEntry[str]]:
        opened.append(Path(place).name)
        return scandir(place)

    monkeypatch.setattr(os, "scandir", tracking_scandir)
    assert paths(walk(tmp_path)) == [".gitignore", "src/a.js"]
    assert opened == [tmp_path.name, "src"]


def test_a_symbolic_link_is_listed_and_never_followed(tmp_path: Path) -> None:
    make(tmp_path, "a/b.txt")
    (tmp_path / "a/loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "file").symlink_to("a/b.txt")
    (tmp_path / "dangling").symlink_to("nowhere")
    items = list(walk(tmp_path))
    assert paths(items) == ["a/b.txt"]
    assert reasons(items) == dict.fromkeys(
        ["a/loop", "dangling", "file"], "symbolic link, not followed"
    )


def test_pipes_and_sockets_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # a socket's address is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert set(reasons(walk(tmp_path))) == {"pipe", "socket"}


def test_a_large_file_is_listed_with_the_setting_that_limits_it(tmp_path: Path) -> None:
    make(tmp_path, "small", text="12345")
    make(tmp_path, "large", text="123456")
    items = list(walk(tmp_path, settings=IngestSettings(max_bytes=5)))
    assert paths(items) == ["small"]
    assert reasons(items) == {"large": "6 bytes, over the limit of 5 ([ingest] max_bytes)"}


def test_files_named_like_secrets_are_listed(tmp_path: Path) -> None:
    secret = [".env", ".env.production", "server.key", "a.pem", "id_rsa", ".netrc", ".npmrc", ".pypirc",
              "credentials", "x.p12", "x.pfx", "x.kdbx", "x.jks", ".htpasswd", "secrets.yml", "SECRETS.YAML"]  # fmt: skip
    harmless = [".env.example", ".env.sample", ".env.template", ".env.local.example", "id_rsa.pub",
                "keys.py", "environment", "secrets.py", "credentials.md", "keyboard.txt", "secret.md"]  # fmt: skip
    make(tmp_path, *secret, *harmless)
    items = list(walk(tmp_path))
    assert set(reasons(items)) == set(secret)
    assert set(paths(items)) == set(harmless)
    assert all("[ingest] secrets = true" in reason for reason in reasons(items).values())
    assert len(paths(walk(tmp_path, settings=IngestSettings(secrets=True)))) == len(
        secret + harmless
    )


def test_a_name_that_is_not_utf8_is_listed_readably(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("x")
        (tmp_path / os.fsdecode(b"d\xff")).mkdir()
    except OSError:
        pytest.skip("this file system knows UTF-8 only")
    make(tmp_path, os.fsdecode(b"d\xff/inner"), "z")
    items = list(walk(tmp_path))
    assert paths(items) == ["z"]
    assert list(reasons(items)) == ["caf\\xe9.txt", "d\\xff"]
    assert all(item.path.encode() for item in items)


def test_names_do_not_depend_on_the_locale(tmp_path: Path) -> None:
    make(tmp_path, "grün/ñ.txt")
    program = (
        "import sys; from pathlib import Path; from quire.ingest import read, walk;"
        "print([(ascii(f.path), read(f)[0].chunks[0].text) for f in walk(Path(sys.argv[1]))])"
    )
    plain = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([(ascii("grün/ñ.txt"), "x")])


def test_two_normal_forms_are_two_files(tmp_path: Path) -> None:
    composed, decomposed = (
        unicodedata.normalize("NFC", "é.txt"),
        unicodedata.normalize("NFD", "é.txt"),
    )
    make(tmp_path, composed, decomposed)
    assert set(paths(walk(tmp_path))) == {composed, decomposed}


@contextmanager
def as_nobody() -> Iterator[None]:
    if not hasattr(os, "geteuid") or os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_what_may_not_be_read_is_listed_and_the_rest_still_found() -> None:
    with tempfile.TemporaryDirectory() as folder:  # its parents are open to everyone
        root = Path(folder)
        make(root, "a/x", "b", "c", "d/.gitignore", "d/e")
        root.chmod(0o755)
        for closed in ("a", "b", "d/.gitignore"):
            (root / closed).chmod(0)
        with as_nobody():
            items = list(walk(root))
        (root / "a").chmod(0o700)
    assert paths(items) == ["c", "d/e"]
    assert reasons(items) == {
        "a": "folder cannot be read: Permission denied",
        "b": "cannot be read: permission denied",
        "d/.gitignore": "cannot be read, so its patterns do not apply: Permission denied",
    }


def test_an_ignore_file_that_would_take_for_ever_is_listed(tmp_path: Path) -> None:
    make(tmp_path, "a", "d/e/f")
    (tmp_path / ".gitignore").write_bytes(b"a\n" * (MAX_IGNORE_BYTES // 2 + 1))
    for folder in ("d", "d/e"):
        lines = b"".join(b"%d\n" % at for at in range(MAX_PATTERNS // 2 + 1))
        (tmp_path / folder / ".gitignore").write_bytes(lines + b"f\n" * (folder == "d/e"))
    items = list(walk(tmp_path))
    assert paths(items) == ["a", "d/.gitignore", "d/e/f"]
    assert reasons(items) == {
        ".gitignore": "cannot be read, so its patterns do not apply: larger than 262144 bytes",
        "d/e/.gitignore": "cannot be read, so its patterns do not apply: with those above it "
        "there are more than 50,000 patterns",
    }


def test_a_root_that_is_none_is_the_callers_mistake(tmp_path: Path) -> None:
    make(tmp_path, "file")
    for place in ("nowhere", "file"):
        with pytest.raises(InputError, match="is not a folder"):
            walk(tmp_path / place)


@pytest.mark.parametrize("path", ["../x", "..", "/etc", "a/../../b"])
def test_a_walk_does_not_leave_its_root(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match="is outside of the folder"):
        walk(tmp_path, under=[path])


def test_a_tree_deeper_than_pythons_stack(tmp_path: Path) -> None:
    make(tmp_path, "d/" * 150 + "z")
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        listed = paths(walk(tmp_path))
    finally:
        sys.setrecursionlimit(usual)
    assert listed == ["d/" * 150 + "z"]


NAMES = st.sampled_from(["a", "b", "ab", "a.b", "é", "c d"])
TREE = st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), max_size=15)


@settings(max_examples=60, deadline=None)
@given(
    TREE,
    st.lists(st.lists(NAMES, max_size=3).map("/".join), max_size=3),
    st.sampled_from(["", "a", "b/", "/a/b", "!a"]),
)
def test_a_part_of_the_tree_is_a_part_of_the_walk(
    tree: set[str], under: list[str], pattern: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path in sorted(tree):
            try:
                make(root, path)
            except OSError:
                continue
        make(root, ".gitignore", text=f"ab\n{pattern}\n")
        everything = list(walk(root))
        expected = [
            item
            for item in everything
            if any(
                not part or item.path == part or item.path.startswith(f"{part}/") for part in under
            )
        ]
        assert list(walk(root, under)) == expected
        assert list(walk(root, [f"./{part}/" for part in under])) == expected
        assert paths(everything) == sorted(paths(everything), key=str.encode)
