"""What is in this history?

Asks the `git` command, never the network. What git answers depends on the repository alone:
settings of the user, replaced objects, attributes of the work tree and the language of the machine
take no part. Whatever keeps the history from being read is a `NoHistoryError` that says so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from quire.core import hashing

READ_BYTES = 1 << 16
SLICE = 500
MERGES = "--diff-merges=first-parent"
LAST_TIME = 253_402_300_799
"""The end of the year 9999: what claims to be later (a broken clock) is taken for that."""
RENAME_LIMIT = 1000
"""Among more files than that, git only sees renames that change nothing."""

KEPT_VARIABLES = frozenset(
    {
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    }
)
"""Where a repository is looked for, and which ones of other people are trusted, a user may say."""

SEALED = {
    "GIT_ALLOW_PROTOCOL": "none",  # what a partial clone lacks must not be fetched
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
HEADER = ("%H", "%P", "%an", "%ct", "%B")
DUBIOUS = re.compile(r"dubious ownership in repository at '(.*)'")


class NoHistoryError(Exception):
    """A history that is there cannot be read; says why and what to do."""


class NoCommitError(NoHistoryError):
    """There is a repository, and nothing in it yet."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with at least one commit, seen from a directory inside of its work tree."""

    git_dir: str
    folder: str
    """The directory's place in the work tree: empty, or with `/` at its end."""
    head: str
    detached: bool
    boundary: frozenset[str] = frozenset()
    """Commits of a shallow clone whose parents are not here: what they changed is not known."""

    @property
    def state(self) -> str:
        """Name all that the history depends on."""
        return hashing.identifier("history", self.head, self.folder, tuple(sorted(self.boundary)))


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit did to one file, by its path below the directory."""

    path: str
    insertions: int
    deletions: int
    old: str | None = None
    """The path from which it was moved."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; a merge changes what it brings to its first parent."""

    sha: str
    parents: int
    author: str
    time: int
    """Seconds since 1970 at which it was committed (an author's time may be much older)."""
    message: str
    changes: tuple[Change, ...]


def repository(root: Path) -> Repository | None:
    """Find the repository that a directory belongs to; None: there is none."""
    if not _marked(root):
        return None
    told = _discovered(root)
    git_dir, bare, shallow, *rest = told.split("\n", 5)
    if bare == "true":
        raise NoHistoryError(f"{root} is a bare repository: index a checkout of it")
    if len(rest) < 3:
        raise NoCommitError("there is no commit yet")
    head, name, folder = rest
    found = Repository(git_dir, folder.removesuffix("\n"), head, name == "HEAD")
    return replace(found, boundary=_boundary(found)) if shallow == "true" else found


def newest(found: Repository, limit: int | None) -> Iterator[str]:
    """Name the newest commits that touch the directory, newest first; None: all of them."""
    if not found.folder:
        return _listed(found, found.head, *([] if limit is None else [f"--max-count={limit}"]))
    below = _listed(found, found.head, "--full-history", "--", found.folder)
    return islice(_touching(found, below), limit)


def commits(found: Repository, shas: Iterable[str]) -> Generator[Commit, None, None]:
    """Read commits one by one, in the given order.

    Only what they did below the directory is told: of what lies beside it a store knows nothing,
    not even who may read it.
    """
    shown = f"--format={'%x00'.join(HEADER)}"
    told = ("--always", MERGES, "--numstat", "--encoding=UTF-8", shown)
    fields = _differences(found, shas, "-M", f"-l{RENAME_LIMIT}", *told)
    sha = next(fields, None)
    while sha is not None:
        parents, author, time, message = (next(fields, b"") for _ in HEADER[1:])
        changes: list[Change] = []
        following = next(fields, None)
        while following is not None and b"\t" in following:  # counts have tabs, names have none
            insertions, deletions, path = following.removeprefix(b"\n").split(b"\t", 2)
            old = None if path else _path(found, next(fields, b""))
            new = _path(found, path or next(fields, b""))
            changes.append(Change(new, _number(insertions), _number(deletions), old))
            following = next(fields, None)
        yield Commit(
            sha=sha.decode(),
            parents=len(parents.split()),
            author=author.decode("utf-8", "replace"),
            time=min(_number(time), LAST_TIME),
            message=message.decode("utf-8", "replace"),
            changes=tuple(changes),
        )
        sha = following


def touched(found: Repository, since: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Tell at which times which files were changed, by all commits or those since another one.

    A merge counts only for files that it left as none of its parents had them: what it brings
    together was changed before.
    """
    shas = _listed(found, found.head, *([f"^{since}"] if since else []))
    fields = _differences(found, shas, "-c", "--name-only", "--format=/%ct")
    time, paths, first = 0, list[str](), False
    for field in fields:
        if field.startswith(b"/"):  # no path below a directory begins so: it is a time
            if paths:
                yield time, paths
            time, paths, first = min(_number(field[1:]), LAST_TIME), [], True
        else:
            if field:
                paths.append(_path(found, field.removeprefix(b"\n") if first else field))
            first = False
    if paths:
        yield time, paths


def tracked(found: Repository) -> Iterator[str]:
    """Name the files below the directory that the newest commit holds."""
    below = ["--", found.folder] if found.folder else []
    with _running(found, "ls-tree", "-r", "-z", "--name-only", found.head, *below) as output:
        for field in _fields(output):
            yield _path(found, field)


def is_behind(found: Repository, sha: str) -> bool:
    """Tell whether a commit is part of the newest one's history."""
    done = subprocess.run(  # noqa: S603 - a fixed command, by its place
        _command("merge-base", "--is-ancestor", sha, found.head),
        env=_sealed(found),
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def _marked(root: Path) -> bool:
    """Tell whether there is anything to ask git about: in most directories there is not."""
    if any((folder / ".git").exists() for folder in (root, *root.parents)):
        return True
    return (root / "HEAD").is_file() and (root / "objects").is_dir()


def _discovered(root: Path) -> str:
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in KEPT_VARIABLES
    }
    asked = ("--absolute-git-dir", "--is-bare-repository", "--is-shallow-repository", "HEAD")
    placed = ("--symbolic-full-name", "HEAD", "--show-prefix")
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command, by its place
            _command("rev-parse", *asked, *placed),
            cwd=root,
            env={**own, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise NoHistoryError(f"`git` cannot be run: {error.strerror}") from error
    told = os.fsdecode(done.stdout)
    if told.count("\n") < 3:
        raise NoHistoryError(_refusal(root, done.stderr))
    return told


def _refusal(root: Path, stderr: bytes) -> str:
    said = os.fsdecode(stderr)
    if foreign := DUBIOUS.search(said):
        return (
            f"{foreign[1]} belongs to someone else, and git reads it only if you trust it: "
            f"`git config --global --add safe.directory {foreign[1]}`"
        )
    if "not a git repository" in said:
        return f"what `.git` at or above {root} holds is no repository, or a damaged one"
    return _last_words(said)


def _last_words(said: str) -> str:
    lines = [line.removeprefix("fatal: ") for line in said.splitlines() if line.strip()]
    fatal = [line.removeprefix("fatal: ") for line in said.splitlines() if line.startswith("fatal")]
    return f"git says: {(fatal or lines or ['nothing'])[0]}"


def _boundary(found: Repository) -> frozenset[str]:
    with _running(found, "rev-parse", "--git-path", "shallow") as output:
        place = Path(os.fsdecode(output.read().removesuffix(b"\n")))
    return frozenset(place.read_text("ascii").split()) if place.is_file() else frozenset()


def _listed(found: Repository, *arguments: str) -> Iterator[str]:
    with _running(found, "rev-list", *arguments) as output:
        for line in output:
            sha = line.decode().strip()
            if sha not in found.boundary:
                yield sha


def _touching(found: Repository, shas: Iterator[str]) -> Iterator[str]:
    """Leave out the merges that bring nothing into the directory: they differ elsewhere only."""
    while part := list(islice(shas, SLICE)):
        yield from (
            sha.decode() for sha in _differences(found, part, MERGES, "-s", "--format=%H") if sha
        )


def _differences(found: Repository, shas: Iterable[str], *arguments: str) -> Iterator[bytes]:
    """Compare commits with their parents; gives the fields of git's answer."""
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "-r", "-z", "--root")
    below = ("--", found.folder) if found.folder else ()
    with TemporaryFile() as feed:  # a pipe would have to be filled while the answer is read
        feed.writelines(f"{sha}\n".encode() for sha in shas)
        feed.seek(0)
        asked = ("diff-tree", "--stdin", *plain, *arguments, *below)
        with _running(found, *asked, feed=feed) as output:
            yield from _fields(output)


def _fields(output: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while part := output.read(READ_BYTES):
        *whole, rest = (rest + part).split(b"\0")
        yield from whole


@contextmanager
def _running(
    found: Repository, *arguments: str, feed: IO[bytes] | None = None
) -> Iterator[IO[bytes]]:
    with TemporaryFile() as said:
        try:
            process = subprocess.Popen(  # noqa: S603 - a fixed command, by its place
                _command("--bare", *arguments),
                stdin=subprocess.DEVNULL if feed is None else feed,
                stdout=subprocess.PIPE,
                stderr=said,
                env=_sealed(found),
            )
        except OSError as error:
            raise NoHistoryError(f"`git` cannot be run: {error.strerror}") from error
        with process:
            assert process.stdout is not None, "it was asked for"
            try:
                yield process.stdout
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            said.seek(0)
            raise NoHistoryError(_last_words(os.fsdecode(said.read())))


def _command(*arguments: str) -> list[str]:
    place = shutil.which("git")
    if place is None:
        raise NoHistoryError("the command `git` is not installed")
    return [place, "--no-pager", "-c", f"core.attributesFile={os.devnull}", *arguments]


def _sealed(found: Repository) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**own, **SEALED, "LC_ALL": "C", "GIT_DIR": found.git_dir}


def _path(found: Repository, field: bytes) -> str:
    """Give a path below the directory."""
    field = field.removeprefix(os.fsencode(found.folder))
    # Spelled as a walk spells it: names are UTF-8, other bytes are written out (`\\xff`).
    return field.decode("utf-8", "backslashreplace")


def _number(field: bytes) -> int:
    """Read a count or a time; a binary file has no lines to count, a broken commit no time."""
    return int(field) if field.isdigit() else 0
