"""How is what someone says written into a store?

Whoever writes is the author. What a viewer writes is theirs to read; what the owner writes falls
under the space's rules; `share` says otherwise. What looks like a secret is refused. What is there
is changed by its author and the owner alone, and what may not be read is not there.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from quire.config import Config
from quire.core.protocols import Embedder, Store, TextWriter, View, Writer
from quire.core.types import Chunk, Document, Filter, Record, Viewer
from quire.errors import EmbedError, EndpointError, InputError, MissingExtraError
from quire.ingest import secrets
from quire.ingest.text import split_plain_text
from quire.store.access import access_list

AT_ONCE = 32
"""At most so many chunks are embedded at once: a second or two."""
LATER = "found by words now, and by meaning after the next `quire index`"

SHORTEST_NAME = 4
"""So much of an id must be given, at least."""

ViewerLike = Viewer | str | None


class Noting(ABC):
    """What all who write into an open store have in common."""

    if TYPE_CHECKING:  # no part of what a caller meets
        config: Config
        store: Store

    @abstractmethod
    def embedder(self) -> Embedder | None:
        """Give the configured embedder, loaded when it is first needed."""

    @abstractmethod
    def _text_writer(self) -> TextWriter | None:
        """Give the model that writes, opened when it is first needed; None: none is set."""

    @abstractmethod
    def root(self) -> Path:
        """Tell which directory the space's paths are relative to."""

    @abstractmethod
    def access_default(self) -> tuple[str, ...]:
        """Tell who may read what no rule matches; nobody named: the owner alone."""

    @abstractmethod
    def _viewer(self, viewer: ViewerLike) -> Viewer: ...

    @abstractmethod
    def _view(self, viewer: ViewerLike = None) -> AbstractContextManager[View]: ...

    @abstractmethod
    def _settle(self, root: Path) -> None: ...

    @contextmanager
    def _noting(self, viewer: ViewerLike) -> Iterator[tuple[Writer, View]]:
        """Open the write transaction, and a view of what is there: nobody else changes it now."""
        self._settle(self.root())  # before anything is written, the rules must hold
        asked, space = self._viewer(viewer), self.config.space
        with self.store.write(space) as writer, self.store.view(asked, space) as view:
            yield writer, view

    def _cut(self, text: str) -> Sequence[str]:
        return split_plain_text(text, self.config.ingest)

    def _spoken_of(self, folder: Path) -> str:
        """Name a folder by its path in the project; one outside by its own name."""
        root = self.root()
        inside = folder.is_relative_to(root) and folder != root
        named = folder.relative_to(root).as_posix() if inside else folder.name
        return os.fsencode(named).decode("utf-8", "backslashreplace")

    def _embed_now(self, viewer: ViewerLike, documents: Iterable[Document]) -> tuple[str, ...]:
        """Give vectors to what was just written, if that is cheap; else say when it gets them.

        Where other texts have none yet, neither gets this one: alone it would win every search by
        meaning. Only what the viewer may read decides: what others hold must not show.
        """
        settings, space = self.config.embed, self.config.space
        chunks = {chunk.id: chunk for each in documents for chunk in each.chunks}
        with self._view(viewer) as view:
            lacking = [chunks[name] for name in chunks.keys() - view.vectors([*chunks]).keys()]
            coverage = view.coverage()
        if not lacking or settings.provider == "none":
            return ()
        alone = coverage.chunks - coverage.vectors == len(lacking)
        if settings.provider != "local" or not alone or len(lacking) > AT_ONCE:
            return (LATER,)
        try:
            embedder = self.embedder()
        except (EmbedError, EndpointError, MissingExtraError) as error:
            return (f"found by words alone: {error}",)
        if embedder is None or self.store.model(space) not in {None, embedder.model}:
            return (LATER,)
        texts = {chunk.vector_key: _embedded(chunk) for chunk in sorted(lacking, key=_place)}
        vectors = dict(zip(texts, embedder.embed([*texts.values()]), strict=True))
        with self.store.write(space) as writer:
            writer.put_vectors(embedder.model, vectors)
        return ()


def put(writer: Writer, documents: Iterable[Document]) -> None:
    """Write documents."""
    for each in documents:
        writer.put(each.record, each.chunks, each.links, each.outline)


def signed(viewer: Viewer, share: Sequence[str]) -> tuple[str | None, tuple[str, ...] | None]:
    """Tell who the author is, and who may read what they write (None: the rules decide)."""
    shared = access_list(share)
    if viewer.owner:
        return None, shared if share else None
    if not viewer.name:
        raise InputError("someone without a name cannot write: name a viewer")
    return viewer.name, access_list((*shared, f"user:{viewer.name}"))


def refuse_secrets(texts: Iterable[tuple[str, str]], *, allow: bool) -> None:
    """Refuse texts, each with what it is, that look as if they held a key or a token."""
    for what, text in texts:
        found = None if allow else secrets.seen_in(text)
        if found is not None:
            raise InputError(
                f"the {what} is refused: {found}; take it out, or keep it all the same with "
                "`allow_secret`"
            )


def meant(view: View, kind: str, name: str, listed_by: str) -> Record:
    """Find what of a kind has an id, or alone an id that begins so; what is hidden is not there."""
    found = [record for record in view.records([name]) if record.kind == kind]
    if not found and len(name) >= SHORTEST_NAME:
        alike = view.listing(Filter(kinds=(kind,)))
        found = [record for record in alike if record.id.startswith(name)]
    if len(found) > 1:
        raise InputError(f"{len(found)} ids begin with {name}: give more of the one that is meant")
    if not found:
        raise InputError(f"there is no {kind} {name}; see `{listed_by}`")
    return found[0]


def refuse_others(viewer: Viewer, what: str, name: str, author: str | None) -> None:
    """Let only the author and the owner change what is there."""
    if not viewer.owner and viewer.name != author:
        raise InputError(
            f"{what} {name} was written by {author or 'the owner'}: only its author and the owner "
            "may change it"
        )


def _place(chunk: Chunk) -> tuple[str, int]:
    return chunk.path, chunk.sequence


def _embedded(chunk: Chunk) -> str:
    """Give the text that a chunk's vector stands for."""
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text
