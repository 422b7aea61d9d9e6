"""One question about files that have no store: gather them in a temporary folder, index, forget.

A source is a folder, an archive (zip, tar) or a git bundle. Of each, the files that an index would
read are copied, so that nothing is written beside them and no setting of theirs counts. With
several sources, each has a folder of its own.
"""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import subprocess  # nosec B404
import tarfile
import zipfile
import zlib
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from quire import config
from quire.config.user_cache import folder_of
from quire.core.globs import Globs
from quire.core.types import FileEntry, IngestSettings, Skipped
from quire.errors import InputError
from quire.ingest import walk
from quire.system import platform

STORE = "store.db"
"""The store that may be made beside the folder."""
MAX_UNPACKED = 4 << 30
MAX_MEMBERS = 500_000
MAX_DEPTH = 100
"""Folders within each other."""
MAX_HEADER = 64 << 10
"""Bytes of what a header of a tar file says of the next member: its path, or properties."""
MAX_HEADERS = 256 << 20
LISTING_BYTES = 1 << 16
BUNDLE_STARTS = (b"# v2 git bundle", b"# v3 git bundle")
CLONE_SECONDS = 300
CLONE_MEMORY = 4 << 30
"""What git may take for a bundle: some bytes can be the difference to a text of terabytes."""
BROKEN = (zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError)
"""What the libraries raise for data that is damaged, or packed in a way they do not know."""
SETTINGS_REASON = "settings of another project do not count here"
SUFFIXES = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar", ".zip", ".bundle")


@contextmanager
def gather(
    sources: Sequence[str], *, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> Iterator[tuple[Path, list[Skipped]]]:
    """Copy the files of sources into a folder that lasts as long as the context.

    Args:
        sources: Folders, archives or git bundles.
        include: Globs of the files to take; all if there are none.
        exclude: Globs of files to leave out.
    """
    wanted = Globs(include) if include else None
    settings = IngestSettings(ignore=tuple(exclude))
    with TemporaryDirectory(prefix="quire-pack-") as home:
        target = Path(home, "files")
        (target / ".quire").mkdir(parents=True)  # the root, whatever is above
        skipped: list[Skipped] = []
        for number, (source, name) in enumerate(zip(sources, _names(sources), strict=True)):
            folder = _open_source(Path(source), Path(home, f"source{number}"))
            for file in walk(folder, ("",), settings):
                path = f"{name}/{file.path}" if name else file.path
                chosen = wanted is None or wanted.match(file.path)
                if isinstance(file, Skipped):
                    if not chosen:
                        continue
                    skipped.append(Skipped(path, file.reason))
                elif path == config.FILE:
                    skipped.append(Skipped(path, SETTINGS_REASON))
                elif chosen:
                    _copy(replace(file, path=path), target / path, skipped)
        try:
            yield target, skipped
        finally:
            kept = folder_of(target.parent / STORE, os.environ)
            if kept is not None:
                shutil.rmtree(kept, ignore_errors=True)


def _names(sources: Sequence[str]) -> list[str]:
    """Return a name for each source; none if there is only one."""
    if len(sources) == 1:
        return [""]
    names: list[str] = []
    for source in sources:
        base = Path(os.path.abspath(source)).name or "root"  # noqa: PTH100 - of `.` and `..`, too
        base = next((base.removesuffix(end) for end in SUFFIXES if base.endswith(end)), base)
        name, number = base, 1
        while name in names:
            number += 1
            name = f"{base}-{number}"
        names.append(name)
    return names


def _copy(file: FileEntry, target: Path, skipped: list[Skipped]) -> None:
    try:
        data, _ = platform.read_regular(Path(file.location))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        skipped.append(Skipped(file.path, f"cannot be read: {reason}"))


def _open_source(source: Path, target: Path) -> Path:
    """Return a folder with the files of a source."""
    if source.is_dir():
        return source
    if not source.is_file():
        raise InputError(
            f"{source} does not exist", value=str(source), hint="name a folder or an archive"
        )
    with source.open("rb") as stream:
        start = stream.read(len(BUNDLE_STARTS[0]))
    if start in BUNDLE_STARTS:
        return _clone(source, target)
    try:
        if zipfile.is_zipfile(source):
            _unzip(source, target)
        elif _is_tar(source):
            _untar(source, target)
        else:
            raise InputError(
                f"{source} is not a folder, an archive or a git bundle",
                value=str(source),
                hint="archives are zip and tar files; `git bundle create` makes a bundle",
            )
    except (*BROKEN, tarfile.TarError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise InputError(f"cannot be unpacked: {error}", place=str(source)) from error
    inside = list(target.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else target


def _unzip(source: Path, target: Path) -> None:
    with zipfile.ZipFile(source) as archive:
        members = archive.infolist()
        _check_size(source, len(members), sum(item.file_size for item in members))
        folders = _Folders(source)
        for item in members:
            folders.add(item.filename)
        if any(item.flag_bits & 1 for item in members):
            raise InputError("the archive is encrypted", place=str(source))
        target.mkdir()
        # Links stay out; `extract` puts absolute and upward paths below the target.
        for item in members:
            if not stat.S_ISLNK(item.external_attr >> 16):
                archive.extract(item, target)


class _Archive(tarfile.TarFile):
    """A tar file whose headers take little memory: see `_Member`."""

    headers = 0
    """The bytes of those that came before the headers of members themselves."""


class _Member(tarfile.TarInfo):
    """A member of a tar file.

    Python reads what a header says of the next member whole, keeps it for each that follows, and
    reads where a file has holes without an end: some megabytes can take all memory there is.
    """

    def _proc_member(self, archive: _Archive) -> Any:
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise _refuse("a file with holes")
        if self.type in EXTENDED:
            archive.headers += self.size
            if self.size > MAX_HEADER or archive.headers > MAX_HEADERS:
                raise _refuse(f"headers of more than {MAX_HEADER >> 10} KiB, or too many")
        member = super()._proc_member(archive)  # type: ignore[misc]  # made to be overridden
        member.pax_headers = {}  # what they say is a member of its own by now
        if self.type == tarfile.XGLTYPE:
            archive.pax_headers = {}
        return member

    def _proc_gnusparse_10(self, *_: object) -> NoReturn:
        raise _refuse("a file with holes")


EXTENDED = frozenset(
    {
        *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
        *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    }
)
"""Types of headers that tell more of the next member, or of all of them."""


def _refuse(what: str) -> InputError:
    return InputError(
        f"the archive holds {what}, which is not read",
        hint="unpack what you want to ask about, and name that folder",
    )


def _open_tar(source: Path) -> tarfile.TarFile:
    return _Archive.open(source, tarinfo=_Member)


def _is_tar(source: Path) -> bool:
    try:
        _open_tar(source).close()
    except tarfile.TarError:
        return False
    return True


def _untar(source: Path, target: Path) -> None:
    with _open_tar(source) as archive:
        size = 0
        plain: set[str] = set()
        folders = _Folders(source)
        for count, member in enumerate(archive, 1):
            size += member.size
            _check_size(source, count, size)
            folders.add(member.name)
            if member.isreg():
                plain.add(member.name)
        target.mkdir()
        keep = partial(_keep_inside, plain)
        archive.extractall(target, filter=keep)  # nosec B202  # noqa: S202 - see the filter


def _keep_inside(
    plain: Container[str], member: tarfile.TarInfo, target: str
) -> tarfile.TarInfo | None:
    """Leave out devices, names that lead outside, and links, but for other names of a file.

    Python's own filter is not enough: in many of its versions a chain of links whose path is too
    long for the system leads outside (CVE-2025-4517). No link, no chain.
    """
    if member.issym() or (member.islnk() and member.linkname not in plain):
        return None
    try:
        return tarfile.data_filter(member, target)
    except tarfile.FilterError:
        return None


class _Folders:
    """Counts the folders of an archive, each of which is made: a name can stand for thousands."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._known: set[int] = set()

    def add(self, name: str) -> None:
        """Add the folders above a member."""
        if name.count("/") > MAX_DEPTH:
            raise InputError(
                f"the archive holds folders more than {MAX_DEPTH} deep", place=str(self._source)
            )
        while name := name.rpartition("/")[0]:
            key = hash(name)
            if key in self._known:
                break
            self._known.add(key)
        _check_size(self._source, len(self._known), 0)


def _check_size(source: Path, members: int, size: int) -> None:
    if members > MAX_MEMBERS or size > MAX_UNPACKED:
        raise InputError(
            f"the archive holds more than {MAX_MEMBERS:,} files or {MAX_UNPACKED >> 30} GiB",
            place=str(source),
            hint="unpack what you want to ask about, and name that folder",
        )


def _clone(source: Path, target: Path) -> Path:
    """Unpack a git bundle, once it is known how much it holds: some bytes can hold all files."""
    git = _Git(source)
    git.run("clone", "--no-checkout", "--template=", "--quiet", "--", str(source.resolve()), target)
    if _measure(git, source, target):
        git.run("-C", target, "reset", "--hard", "--quiet")
    return target


def _measure(git: _Git, source: Path, target: Path) -> bool:
    """Refuse a commit of too many or too large files; return whether there is a commit at all."""
    listing = ("-C", target, "ls-tree", "-r", "-t", "-l", "-z", "HEAD")
    size, rest, folders = 0, b"", _Folders(source)
    count = 0
    with git.start(*listing) as process:
        assert process.stdout is not None, "it is a pipe"
        try:
            while block := process.stdout.read(LISTING_BYTES):
                *entries, rest = (rest + block).split(b"\0")
                for entry in entries:
                    facts, _, name = entry.partition(b"\t")
                    length = facts.rpartition(b" ")[2]
                    size += int(length) if length.isdigit() else 0
                    folders.add(os.fsdecode(name))
                count += len(entries)
                _check_size(source, count, size)
        except BaseException:
            process.kill()
            raise
    return process.returncode == 0


class _Git:
    """Runs git on a bundle, with nothing of the user's settings and with limits."""

    def __init__(self, source: Path) -> None:
        self._source = source
        program = platform.find_program("git")
        if program is None:
            raise InputError("a git bundle needs git, which is not installed", place=str(source))
        settings = (
            "core.hooksPath=/dev/null",
            "core.symlinks=false",
            "core.packedGitWindowSize=32m",
            "core.packedGitLimit=256m",
        )
        self._command = [program, *(word for each in settings for word in ("-c", each))]
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            # Attributes in a bundle choose filters: no program of the user's own is run on its
            # files.
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }

    def start(
        self, *arguments: str | Path, errors: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """Start a command whose output is read."""
        limit = partial(platform.limit_memory, CLONE_MEMORY) if os.name == "posix" else None
        return subprocess.Popen(  # nosec B603  # noqa: S603 - a fixed command, by its path
            [*self._command, *map(str, arguments)],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            preexec_fn=limit,  # noqa: PLW1509 - no other thread runs yet
        )

    def run(self, *arguments: str | Path) -> None:
        """Run a command to its end."""
        process = self.start(*arguments, errors=subprocess.PIPE)
        try:
            _, said = process.communicate(timeout=CLONE_SECONDS)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.communicate()
            raise InputError(
                "git needs too long to read the bundle", place=str(self._source)
            ) from error
        if process.returncode:
            lines = said.decode("utf-8", "replace").strip().splitlines()
            raise InputError(
                f"git cannot read the bundle: {lines[-1] if lines else 'it says nothing'}",
                place=str(self._source),
            )
