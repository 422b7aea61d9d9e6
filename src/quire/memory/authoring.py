"""Writing what a user states into a store: memories, experiences, feedback, blocks.

Whoever writes is the author. What a viewer writes only they may read, what the owner writes falls
under the space's rules, and `share` overrides both. Text that looks like a secret is refused. A
record is changed by its author and the owner alone; a record that the viewer may not read does not
exist for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from quire.config import Config
from quire.config.consents import Consents
from quire.core.protocols import Embedder, Judge, Store, TextWriter, View, Writer
from quire.core.types import Chunk, Coverage, Document, Filter, Record, Viewer
from quire.errors import EmbedError, EndpointError, InputError, MissingExtraError
from quire.store.access import Rules, access_list
from quire.system import retry
from quire.system.clock import now

MAX_EMBEDDED = 32
"""The most chunks that are embedded at once: a second or two of work."""
EMBEDDED_LATER = "found by words now, and by meaning after the next `quire index`"

MIN_ID_LENGTH = 4
"""A prefix of an id must be at least this long."""

ViewerLike = Viewer | str | None


class Disclosures(Protocol):
    """Records which texts are handed out."""

    def disclose(
        self,
        viewer: Viewer,
        what: str,
        *,
        pieces: Iterable[str] = (),
        records: Iterable[str] = (),
    ) -> None:
        """Record that a viewer was handed texts; raise `StoreError` if it cannot be recorded."""


class OpenProject(Protocol):
    """What the services of a domain need of the open project."""

    @property
    def config(self) -> Config:
        """The settings as they were last read."""

    @property
    def store(self) -> Store:
        """The open store."""

    @property
    def consents(self) -> Consents:
        """What the user did with the store, which the store alone cannot vouch for."""

    @property
    def audit(self) -> Disclosures:
        """The log of what is handed out."""

    def embedder(self) -> Embedder | None:
        """Return the configured embedder; None if there is none."""

    def text_writer(self) -> TextWriter | None:
        """Return the configured text writer; None if there is none."""

    def open_judge(self) -> Judge:
        """Open the judge, which the caller closes."""

    def root(self) -> Path:
        """Return the directory that the space's paths are relative to."""

    def access_default(self) -> tuple[str, ...]:
        """Return who may read what no rule matches; empty: the owner alone."""

    def resolve_viewer(self, viewer: ViewerLike) -> Viewer:
        """Return the viewer that an argument means."""

    def view(self, viewer: ViewerLike = None) -> AbstractContextManager[View]:
        """Open a view of what a viewer may read."""

    def settle(self, root: Path) -> None:
        """Make a directory the one that the space is about, and its access rules effective."""


class Authoring:
    """Write transactions of an open project, and what every write needs."""

    def __init__(self, project: OpenProject) -> None:
        self.project = project

    @contextmanager
    def transaction(self, viewer: ViewerLike) -> Iterator[tuple[Writer, View]]:
        """Open the write transaction with a view of the store, which nobody else changes now."""
        project = self.project
        project.settle(project.root())  # before anything is written, the access rules must hold
        author, space = project.resolve_viewer(viewer), project.config.space
        with project.store.write(space) as writer, project.store.view(author, space) as view:
            yield writer, view

    def split(self, text: str) -> Sequence[str]:
        """Split a text into chunks as the settings say."""
        from quire.ingest.text import split_plain_text  # late: for whoever writes

        return split_plain_text(text, self.project.config.ingest)

    def display_name(self, folder: Path) -> str:
        """Name a folder by its path in the project; one outside by its own name."""
        root = self.project.root()
        inside = folder.is_relative_to(root) and folder != root
        name = folder.relative_to(root).as_posix() if inside else folder.name
        return os.fsencode(name).decode("utf-8", "backslashreplace")

    def embed_written(self, viewer: ViewerLike, documents: Iterable[Document]) -> tuple[str, ...]:
        """Embed what was just written if that is cheap; otherwise return a note on when.

        Where other texts have no vectors yet, this one gets none either: alone it would win every
        semantic search. Only what the viewer may read decides, and only its readers get the
        vectors: whether others hold the same text, or something below, must not show.
        """
        project = self.project
        settings, space = project.config.embed, project.config.space
        by_record = {document.record.id: document for document in documents}

        def find_lacking() -> tuple[list[Chunk], Coverage]:
            with project.view(viewer) as view:
                readable = _readable(view, by_record)
                chunks = {chunk.id: chunk for document in readable for chunk in document.chunks}
                lacking = [chunks[name] for name in chunks.keys() - view.vectors([*chunks]).keys()]
                return lacking, view.coverage()

        lacking, coverage = retry.again(find_lacking)
        if not lacking or settings.provider == "none":
            return ()
        alone = coverage.chunks - coverage.vectors == len(lacking)
        if settings.provider != "local" or not alone or len(lacking) > MAX_EMBEDDED:
            return (EMBEDDED_LATER,)
        try:
            embedder = project.embedder()
        except (EmbedError, EndpointError, MissingExtraError) as error:
            return (f"found by words alone: {error}",)
        if embedder is None or project.store.model(space) not in {None, embedder.model}:
            return (EMBEDDED_LATER,)
        texts = {
            chunk.vector_key: _embedding_text(chunk) for chunk in sorted(lacking, key=_position)
        }
        vectors = dict(zip(texts, embedder.embed([*texts.values()]), strict=True))
        model, ids = embedder.model, [chunk.id for chunk in lacking]
        retry.write(project.store, space, lambda writer: writer.put_vectors(model, vectors, ids))
        return ()


def effective_rules(project: OpenProject) -> Rules:
    """Return the access rules of the space, which decide over what has no list of its own."""
    by_origin = project.store.rules(project.config.space)
    rules = [rule for rules in by_origin.values() for rule in rules]
    return Rules(rules, project.access_default())


def moment(at: int | None) -> int:
    """Return a time that was passed, or now; services ask, so that the domains need no clock."""
    if at is None:
        return now()
    if isinstance(at, bool) or not isinstance(at, int):
        raise InputError(f"expected seconds since 1970, not {at!r:.80}", field="at", value=at)
    return at


def put_documents(writer: Writer, documents: Iterable[Document]) -> None:
    """Write documents."""
    for document in documents:
        writer.put(document.record, document.chunks, document.links, document.outline)


def sign(
    viewer: Viewer, share: Sequence[str], *, private: bool = False
) -> tuple[str | None, tuple[str, ...] | None]:
    """Return the author of what a viewer writes, and who may read it (None: the rules decide).

    What the owner does not share, the rules decide over; with `private` it is theirs alone, as that
    of other viewers always is.
    """
    shared = access_list(share)
    if viewer.owner:
        return None, shared if share or private else None
    if not viewer.name:
        raise InputError("a viewer without a name cannot write", hint="name a {viewer}")
    return viewer.name, access_list((*shared, f"user:{viewer.name}"))


def refuse_secrets(texts: Iterable[tuple[str, str]], *, allow: bool) -> None:
    """Refuse texts, each with its name, that look as if they held a key or a token."""
    from quire.ingest import secrets  # late: it has many patterns

    for what, text in texts:
        secret = None if allow else secrets.find_secret(text)
        if secret is not None:
            name = what.partition(" ")[0] if secrets.find_secret(what) else what
            raise InputError(
                f"the {name} is refused: {secret}",
                hint="take it out, or store it anyway with {allow_secret}",
            )


def find_record(view: View, kind: str, name: str, listed_by: str) -> Record:
    """Find the readable record of a kind by its id, or by a prefix of it that no other has."""
    records = [record for record in view.records([name]) if record.kind == kind]
    if not records and len(name) >= MIN_ID_LENGTH:
        same_kind = view.listing(Filter(kinds=(kind,)))
        records = [record for record in same_kind if record.id.startswith(name)]
    if len(records) > 1:
        raise InputError(
            f"{len(records)} ids begin with {name}", value=name, hint="give more of the id"
        )
    if not records:
        raise missing_record(kind, name, listed_by)
    return records[0]


def missing_record(kind: str, name: str, listed_by: str) -> InputError:
    """Return the error for a record that does not exist, or that nobody here may know of."""
    return InputError(f"{kind} {name} does not exist", value=name, hint=f"see `{listed_by}`")


def refuse_others(viewer: Viewer, what: str, name: str, author: str | None) -> None:
    """Refuse a change by anyone but the author and the owner."""
    if not viewer.owner and viewer.name != author:
        raise InputError(
            f"{what} {name} was written by {author or 'the owner'}; only its author and the owner "
            "may change it",
            value=name,
        )


def _readable(view: View, by_record: Mapping[str, Document]) -> list[Document]:
    """Return those of some documents, by the ids of their records, that the viewer may read."""
    return [by_record[record.id] for record in view.records([*by_record])]


def _position(chunk: Chunk) -> tuple[str, int]:
    return chunk.path, chunk.sequence


def _embedding_text(chunk: Chunk) -> str:
    """Return the text that a chunk's vector is made from."""
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text
