"""Shared by the tests of git history: real repositories whose commits have times of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quire
from quire import IndexResult
from quire.core.types import OWNER, Filter, Link, Record

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

LONG_AGO = 1_400_000_000
COMMITS = Filter(kinds=("commit",))

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada Writer",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Carl Keeper",
    "GIT_COMMITTER_EMAIL": "carl@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
}


@pytest.fixture(scope="session", autouse=True)
def _no_git_settings() -> Iterator[None]:
    """Let no setting of the machine's user reach git."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("GIT_"):
                patch.delenv(name)
        for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
            patch.setenv(name, IDENTITY[name])
        yield


class Repository:
    """A repository on disk; `tree` is the project in it, which may be one of its folders."""

    def __init__(self, root: Path, tree: Tree) -> None:
        self.root = root
        self.tree = tree
        self.time = LONG_AGO
        self.git("init", "--quiet", "--initial-branch=main")
        (root / ".git" / "info").mkdir(exist_ok=True)
        (root / ".git" / "info" / "exclude").write_text(".quire\n")

    def git(self, *arguments: str, check: bool = True, stdin: bytes = b"") -> str:
        """Run git; each run happens a minute after the one before."""
        self.time += 60
        dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{self.time} +0000")
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={**os.environ, **IDENTITY, **dates},
            input=stdin,
            capture_output=True,
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files, given by their paths in the repository; None: delete."""
        for path, content in files.items():
            place = self.root / path
            if content is None:
                place.unlink()
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, message: str, files: Mapping[str, str | bytes | None]) -> str:
        """Write files and commit all that changed; gives the commit's name."""
        self.write(files)
        self.git("add", "--all")
        empty = ("--allow-empty", "--allow-empty-message")
        self.git("commit", "--quiet", *empty, f"--message={message}")
        return self.head()

    def raw(self, message: bytes, *, time: str = "1400000000") -> str:
        """Commit the index as no command would do it: bytes that are no text, absurd times."""
        who = f"A <a@example.org> {time} +0000"
        head = self.git("rev-parse", "--verify", "--quiet", "HEAD", check=False)
        parent = f"parent {head}\n" if head else ""
        lines = f"tree {self.git('write-tree')}\n{parent}author {who}\ncommitter {who}\n\n"
        written = ("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
        sha = self.git(*written, stdin=lines.encode() + message)
        self.git("update-ref", "HEAD", sha)
        return sha

    def head(self) -> str:
        """Name the newest commit."""
        return self.git("rev-parse", "HEAD")

    def index(self, *, history: int | None = None) -> IndexResult:
        """Index the project without vectors."""
        with self.tree.open() as opened:
            return opened.index(embed=False, history=history)

    def commits(self, viewer: str | None = None) -> dict[str, Record]:
        """Give the commits in the store by their names."""
        with self.tree.open() as opened:
            found = opened.documents.list(COMMITS, viewer=viewer)
        return {str(record.attrs["sha"]): record for record in found}

    def text(self, sha: str) -> str:
        """Give the text of a commit as the store holds it."""
        return self.tree.texts()[f".git/commit/{sha}"]

    def touched(self, sha: str) -> set[str]:
        """Name the files in the store to which a commit is linked."""
        with self.tree.open() as opened, opened.store.view(OWNER) as view:
            links: list[Link] = view.links([self.commits()[sha].id])
            return {record.path for record in view.records([link.target for link in links])}

    def times(self) -> dict[str, int | None]:
        """Give the times of the files in the store."""
        with self.tree.open() as opened:
            return {
                record.path: record.modified
                for record in opened.documents.list()
                if record.kind != "commit"
            }

    def time_of(self, sha: str) -> int:
        """Tell when something was committed."""
        return int(self.git("show", "--no-patch", "--format=%ct", sha))

    def root_from_scratch(self, *, history: int | None = None) -> str:
        """Index into a new store, and give the hash over all that it then holds."""
        store = self.tree.store.with_name("scratch.db")
        for end in ("", "-wal", "-shm"):
            Path(f"{store}{end}").unlink(missing_ok=True)
        with quire.open(self.tree.root, store=store) as opened:
            opened.index([self.tree.root], embed=False, history=history)
            return opened.status().roots.content


@pytest.fixture
def repository(tree: Tree) -> Repository:
    """A project that is a repository, without any commit."""
    return Repository(tree.root, tree)


@pytest.fixture
def nested(plant: Forest, tmp_path: Path) -> Repository:
    """A project that is a folder of a repository."""
    tree = plant("whole/part")
    return Repository(tmp_path / "whole", tree)
