"""What do tests of the whole share? A project on disk, and a machine without settings."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import settings

import quire
from quire import IndexResult, Quire
from quire.core.types import OWNER

COMMAND = str(Path(sys.executable).with_name("quire"))
LONG_AGO = 1_500_000_000
# A busy machine is no defect, and one commit has one result: new random cases are for `make soak`.
settings.register_profile("quire", deadline=None, derandomize="QUIRE_RANDOM" not in os.environ)
settings.load_profile("quire")
# Started in the background by a shell, this process ignores Ctrl-C, and so would all it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

TIME_LIMIT = 120
"""Seconds that no command of a test may take, however busy the machine is."""


def interruptible() -> dict[str, str]:
    """Give the variables for a process that will be interrupted: it is not measured.

    An interrupt inside coverage's own tracing leaves its lock taken, and the process hangs.
    """
    return {name: told for name, told in os.environ.items() if not name.startswith("COVERAGE_")}


@pytest.fixture(scope="session", autouse=True)
def _no_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let neither the user's own settings nor variables of the shell reach a test."""
    with pytest.MonkeyPatch.context() as patch:
        sections = (
            "INGEST",
            "EMBED",
            "RERANK",
            "LEARN",
            "JUDGE",
            "WRITER",
            "AUDIT",
            "CHAT",
            "PLUGINS",
        )
        for name in os.environ:
            if name.startswith(tuple(f"QUIRE_{section}_" for section in sections)):
                patch.delenv(name)
        patch.delenv("QUIRE_PLUGINS", raising=False)
        for name in ("QUIRE_STORE", "QUIRE_SPACE", "QUIRE_VIEWER", "QUIRE_CONFIG"):
            patch.delenv(name, raising=False)
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("XDG_RUNTIME_DIR", raising=False)
        patch.setenv("QUIRE_BACKGROUND", "0")
        yield


def trust(folder: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Trust a project as it is now, as `quire trust --yes` does."""
    from quire import config
    from quire.config.trust import TrustRecord, save

    proposal = config.propose(folder, environment=environment)
    save(TrustRecord(str(proposal.root), proposal.fingerprint, LONG_AGO), environment)


class Tree:
    """A project on disk whose files have times that are long past and never the same."""

    command = COMMAND

    def __init__(self, root: Path) -> None:
        self.root = root
        self._ticks = LONG_AGO
        root.mkdir(parents=True)
        (root / ".quire").mkdir()  # so that it is a project, whatever lies above it

    def trust(self) -> None:
        """Trust it as it is now."""
        trust(self.root)

    @property
    def store(self) -> Path:
        """Where its store is by default."""
        return self.root / ".quire" / "store.db"

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file; its time differs from that of every other write."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        self._ticks += 1
        os.utime(place, (self._ticks, self._ticks))
        return place

    def fill(self, files: Mapping[str, str | bytes]) -> None:
        """Write many files."""
        for path, content in files.items():
            self.write(path, content)

    def remove(self, path: str) -> None:
        """Delete a file or a folder."""
        place = self.root / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()

    def index(self, *paths: str, embed: bool = False, reembed: bool = False) -> IndexResult:
        """Index some of its paths, or all, as a program would."""
        with self.open() as opened:
            places = [self.root / path for path in paths]
            return opened.index(places, embed=embed, reembed=reembed)

    def open(self, *, space: str | None = None, viewer: str | None = None) -> Quire:
        """Open its store."""
        return quire.open(self.root, space=space, viewer=viewer)

    def paths(self, viewer: str | None = None) -> list[str]:
        """Tell which files are in its store."""
        with self.open() as opened:
            return [record.path for record in opened.documents.list(viewer=viewer)]

    def texts(self) -> dict[str, str]:
        """Give the text of every file as the store holds it."""
        with self.open() as opened, opened.store.view(OWNER) as view:
            return {
                record.path: "".join(chunk.text for chunk in view.chunks_of(record.id))
                for record in view.listing()
            }

    def found(self, query: str, viewer: str | None = None) -> list[str]:
        """Tell in which files a search finds something."""
        with self.open() as opened:
            return [one.chunk.path for one in opened.search(query, viewer=viewer).results]

    def content_root(self) -> str:
        """Tell the hash over all content in its store."""
        with self.open() as opened:
            return opened.status().roots.content

    def call(self, *arguments: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
        """Run the command `quire` in this very process, which is faster."""
        from quire.cli.main import main

        with chdir(self.root):
            done = CliRunner().invoke(main, arguments, input=stdin)
        if not isinstance(done.exception, SystemExit | None):
            raise done.exception
        return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    def run(
        self,
        *arguments: str,
        stdin: str | bytes = b"",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        command: Sequence[str] = (COMMAND,),
    ) -> subprocess.CompletedProcess[str]:
        """Run the command `quire` in a process of its own."""
        done = subprocess.run(
            [*command, *arguments],
            input=stdin if isinstance(stdin, bytes) else stdin.encode(),
            capture_output=True,
            cwd=cwd or self.root,
            env={**os.environ, **(env or {})},
            timeout=TIME_LIMIT,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )


class Forest:
    """Makes projects beside each other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(
        self, name: str = "project", files: Mapping[str, str | bytes] | None = None
    ) -> Tree:
        """Make a project of this name with these files."""
        tree = Tree(self._folder / name)
        tree.fill(files or {})
        return tree


@pytest.fixture
def plant(tmp_path: Path) -> Forest:
    """Make as many projects as a test wants."""
    return Forest(tmp_path)


@pytest.fixture
def tree(plant: Forest) -> Tree:
    """A project without any file."""
    return plant()
