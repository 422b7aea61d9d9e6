"""Shared by the tests of the engine: small files, a record of what is read, and the real model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from quire.core.protocols import Embedder
from quire.core.types import EmbedSettings, FileEntry, IngestSettings
from quire.embed.local import LocalEmbedder
from quire.indexing import files
from quire.indexing.project import Project

THREE = {
    "readme.md": "# Harbour\n\nShips rest here at night.\n",
    "docs/guide.md": "# Guide\n\nTie the rope to the bollard.\n",
    "src/crane.py": "def lift(load):\n    return load + 1\n",
}
SENTENCE = "The keeper of the lighthouse counts every ship that passes the cape. "


class Watched:
    """An embedder that counts what it is asked, and can stop in the middle like a user's Ctrl-C."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.texts: list[str] = []
        self.queries: list[str] = []
        self.interrupt_after: int | None = None

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dims(self) -> int:
        return self._inner.dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if self.interrupt_after is not None and len(self.texts) >= self.interrupt_after:
            raise KeyboardInterrupt
        self.texts += texts
        return self._inner.embed(texts)

    def embed_query(self, text: str) -> bytes:
        self.queries.append(text)
        return self._inner.embed_query(text)

    def close(self) -> None:
        """Stay open: the next test goes on with it."""


@pytest.fixture(scope="session")
def loaded() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(EmbedSettings(threads=1))
    yield embedder
    embedder.close()


@pytest.fixture
def model(loaded: LocalEmbedder, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """The shipped model, counted; every engine that is opened in this test uses it."""
    watched = Watched(loaded)
    use(watched, monkeypatch)
    return watched


def use(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every engine use this embedder, unless its settings want none."""
    monkeypatch.setattr(
        Project,
        "embedder",
        lambda project: None if project.config.embed.provider == "none" else embedder,
    )


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths whose bytes were looked at, in order."""
    met: list[str] = []

    def watch(name: str) -> None:
        real = getattr(files, name)

        def watched(file: FileEntry, *settings: IngestSettings) -> object:
            met.append(file.path)
            return real(file, *settings)

        monkeypatch.setattr(files, name, watched)

    watch("read")
    watch("load")
    watch("compute_digest")
    return met
