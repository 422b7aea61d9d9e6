"""Read the history of a git repository.

Runs the `git` command, never the network. The result depends on the repository alone: settings of
the user, replaced objects, attributes of the work tree and the locale have no effect. Whatever
prevents reading the history raises a `NoHistoryError` with the reason.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from quire.core import hashing
from quire.core.frozen import dataclass
from quire.system import platform

READ_BYTES = 1 << 16
BATCH_SIZE = 500
MERGES = "--diff-merges=first-parent"
MAX_TIME = 253_402_300_799
"""The end of the year 9999, taken for any later time (a broken clock)."""
RENAME_LIMIT = 1000
"""Among more files git only detects exact renames."""

USER_VARIABLES = frozenset(
    {
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    }
)
"""The user may set where to search for a repository, and which foreign ones to trust."""

ISOLATION = {
    "GIT_ALLOW_PROTOCOL": "none",  # never fetch what a partial clone lacks
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
HEADER_FIELDS = ("%H", "%P", "%an", "%ct", "%B")
DUBIOUS_OWNERSHIP = re.compile(r"dubious ownership in repository at '(.*)'")


class NoHistoryError(Exception):
    """A history exists but cannot be read; the message says why and what to do."""


class NoCommitError(NoHistoryError):
    """The repository has no commit yet."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with at least one commit, seen from a folder in its work tree."""

    git_dir: str
    folder: str
    """The folder's path in the work tree: empty, or with `/` at its end."""
    head: str
    branch: str
    """The name of the branch that is checked out; empty if none is."""
    boundary: frozenset[str] = frozenset()
    """Commits of a shallow clone without their parents: what they changed is unknown."""

    @property
    def detached(self) -> bool:
        """Whether a commit is checked out, and no branch."""
        return not self.branch

    @property
    def state(self) -> str:
        """An identifier of everything that the history depends on."""
        return hashing.identifier("history", self.head, self.folder, tuple(sorted(self.boundary)))


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one file by a commit, with its path below the folder."""

    path: str
    insertions: int
    deletions: int
    old: str | None = None
    """The path before a rename."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; the changes of a merge are those to its first parent."""

    sha: str
    parents: int
    author: str
    time: int
    """When it was committed, in seconds since 1970 (the author's time may be much earlier)."""
    message: str
    changes: tuple[Change, ...]


def find_repository(root: Path) -> Repository | None:
    """Return the repository that a folder belongs to, or None."""
    if not _has_git_files(root):
        return None
    git_dir, bare, shallow, *rest = _discover(root).split("\n", 5)
    if bare == "true":
        raise NoHistoryError(f"{root} is a bare repository: index a checkout of it")
    if len(rest) < 3:
        raise NoCommitError("the repository has no commit yet")
    head, name, folder = rest
    branch = "" if name == "HEAD" else name.removeprefix("refs/heads/")
    repository = Repository(git_dir, folder.removesuffix("\n"), head, branch)
    if shallow == "true":
        return replace(repository, boundary=_read_boundary(repository))
    return repository


def list_commits(repository: Repository, limit: int | None) -> Iterator[str]:
    """Yield the hashes of the newest commits that change the folder, newest first.

    Without a limit, yield all of them.
    """
    head = repository.head
    if not repository.folder:
        return _list_revisions(
            repository, head, *([] if limit is None else [f"--max-count={limit}"])
        )
    below = _list_revisions(repository, head, "--full-history", "--", repository.folder)
    return islice(_drop_empty_merges(repository, below), limit)


def read_commits(repository: Repository, shas: Iterable[str]) -> Generator[Commit, None, None]:
    """Yield commits in the given order.

    They hold only changes below the folder: a store knows nothing about other files, not even who
    may read them.
    """
    header = f"--format={'%x00'.join(HEADER_FIELDS)}"
    options = ("--always", MERGES, "--numstat", "--encoding=UTF-8", header)
    fields = _diff_tree(repository, shas, "-M", f"-l{RENAME_LIMIT}", *options)
    sha = next(fields, None)
    while sha is not None:
        parents, author, time, message = (next(fields, b"") for _ in HEADER_FIELDS[1:])
        changes: list[Change] = []
        following = next(fields, None)
        while following is not None and b"\t" in following:  # counts have tabs, hashes have none
            insertions, deletions, path = following.removeprefix(b"\n").split(b"\t", 2)
            old = None if path else _decode_path(repository, next(fields, b""))
            new = _decode_path(repository, path or next(fields, b""))
            changes.append(Change(new, _parse_number(insertions), _parse_number(deletions), old))
            following = next(fields, None)
        yield Commit(
            sha=sha.decode(),
            parents=len(parents.split()),
            author=author.decode("utf-8", "replace"),
            time=min(_parse_number(time), MAX_TIME),
            message=message.decode("utf-8", "replace"),
            changes=tuple(changes),
        )
        sha = following


def list_changes(
    repository: Repository, since: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the time and the changed files of all commits, or of those since another one.

    A merge counts only for files that differ from all of its parents: its other files were
    changed before.
    """
    shas = _list_revisions(repository, repository.head, *([f"^{since}"] if since else []))
    fields = _diff_tree(repository, shas, "-c", "--name-only", "--format=/%ct")
    time, paths, first = 0, list[str](), False
    for field in fields:
        if field.startswith(b"/"):  # a time: no path below a folder begins with a slash
            if paths:
                yield time, paths
            time, paths, first = min(_parse_number(field[1:]), MAX_TIME), [], True
        else:
            if field:
                paths.append(
                    _decode_path(repository, field.removeprefix(b"\n") if first else field)
                )
            first = False
    if paths:
        yield time, paths


def list_files(repository: Repository) -> Iterator[str]:
    """Yield the files below the folder in the newest commit."""
    below = ["--", repository.folder] if repository.folder else []
    arguments = ("ls-tree", "-r", "-z", "--name-only", repository.head, *below)
    with _run(repository, *arguments) as output:
        for field in _split_fields(output):
            yield _decode_path(repository, field)


def is_ancestor(repository: Repository, sha: str) -> bool:
    """Return whether a commit is part of the newest one's history."""
    completed = subprocess.run(  # nosec B603  # noqa: S603 - a fixed command, by its path
        _build_command("merge-base", "--is-ancestor", sha, repository.head),
        env=_build_environment(repository),
        capture_output=True,
        check=False,
    )
    return completed.returncode == 0


def _has_git_files(root: Path) -> bool:
    """Return whether git needs to be run at all: in most folders it does not."""
    if any((folder / ".git").exists() for folder in (root, *root.parents)):
        return True
    return (root / "HEAD").is_file() and (root / "objects").is_dir()


def _discover(root: Path) -> str:
    """Run `git rev-parse` in a folder; return its output."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in USER_VARIABLES
    }
    facts = ("--absolute-git-dir", "--is-bare-repository", "--is-shallow-repository", "HEAD")
    position = ("--symbolic-full-name", "HEAD", "--show-prefix")
    try:
        completed = subprocess.run(  # nosec B603  # noqa: S603 - a fixed command, by its path
            _build_command("rev-parse", *facts, *position),
            cwd=root,
            env={**inherited, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise NoHistoryError(f"`git` cannot be run: {error.strerror}") from error
    output = os.fsdecode(completed.stdout)
    if output.count("\n") < 3:
        raise NoHistoryError(_explain_failure(root, os.fsdecode(completed.stderr)))
    return output


def _explain_failure(root: Path, stderr: str) -> str:
    if foreign := DUBIOUS_OWNERSHIP.search(stderr):
        return (
            f"{foreign[1]} belongs to someone else, and git reads it only if you trust it: "
            f"`git config --global --add safe.directory {foreign[1]}`"
        )
    if "not a git repository" in stderr:
        return f"`.git` at or above {root} is not a repository, or it is damaged"
    return _quote_failure(stderr)


def _quote_failure(stderr: str) -> str:
    lines = [line.removeprefix("fatal: ") for line in stderr.splitlines() if line.strip()]
    fatal = [
        line.removeprefix("fatal: ") for line in stderr.splitlines() if line.startswith("fatal")
    ]
    return f"git says: {(fatal or lines or ['nothing'])[0]}"


def _read_boundary(repository: Repository) -> frozenset[str]:
    with _run(repository, "rev-parse", "--git-path", "shallow") as output:
        file = Path(os.fsdecode(output.read().removesuffix(b"\n")))
    return frozenset(file.read_text("ascii").split()) if file.is_file() else frozenset()


def _list_revisions(repository: Repository, *arguments: str) -> Iterator[str]:
    with _run(repository, "rev-list", *arguments) as output:
        for line in output:
            sha = line.decode().strip()
            if sha not in repository.boundary:
                yield sha


def _drop_empty_merges(repository: Repository, shas: Iterator[str]) -> Iterator[str]:
    """Leave out the merges that change nothing in the folder."""
    while batch := list(islice(shas, BATCH_SIZE)):
        fields = _diff_tree(repository, batch, MERGES, "-s", "--format=%H")
        yield from (sha.decode() for sha in fields if sha)


def _diff_tree(repository: Repository, shas: Iterable[str], *arguments: str) -> Iterator[bytes]:
    """Compare commits with their parents; yield the fields of git's output."""
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "-r", "-z", "--root")
    below = ("--", repository.folder) if repository.folder else ()
    with TemporaryFile() as stdin:  # a pipe would have to be filled while the output is read
        stdin.writelines(f"{sha}\n".encode() for sha in shas)
        stdin.seek(0)
        command = ("diff-tree", "--stdin", *plain, *arguments, *below)
        with _run(repository, *command, stdin=stdin) as output:
            yield from _split_fields(output)


def _split_fields(output: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while block := output.read(READ_BYTES):
        *whole, rest = (rest + block).split(b"\0")
        yield from whole


@contextmanager
def _run(
    repository: Repository, *arguments: str, stdin: IO[bytes] | None = None
) -> Iterator[IO[bytes]]:
    """Run a git command and give its output; raise NoHistoryError if it fails."""
    with TemporaryFile() as stderr:
        try:
            process = subprocess.Popen(  # nosec B603  # noqa: S603 - a fixed command, by its path
                _build_command("--bare", *arguments),
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=_build_environment(repository),
            )
        except OSError as error:
            raise NoHistoryError(f"`git` cannot be run: {error.strerror}") from error
        with process:
            assert process.stdout is not None, "it is a pipe"
            try:
                yield process.stdout
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            stderr.seek(0)
            raise NoHistoryError(_quote_failure(os.fsdecode(stderr.read())))


def _build_command(*arguments: str) -> list[str]:
    program = platform.find_program("git")
    if program is None:
        raise NoHistoryError("the command `git` is not installed")
    return [program, "--no-pager", "-c", f"core.attributesFile={os.devnull}", *arguments]


def _build_environment(repository: Repository) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**inherited, **ISOLATION, "LC_ALL": "C", "GIT_DIR": repository.git_dir}


def _decode_path(repository: Repository, field: bytes) -> str:
    """Return a path relative to the folder."""
    field = field.removeprefix(os.fsencode(repository.folder))
    # Spelled as in a walk: names are UTF-8, other bytes are escaped (`\\xff`).
    return field.decode("utf-8", "backslashreplace")


def _parse_number(field: bytes) -> int:
    """Parse a count or a time; 0 for a binary file without lines or a commit without a time."""
    return int(field) if field.isdigit() else 0
