"""Documents, viewers and vectors for tests.

Few words, few titles, small numbers: so that ties, repeated words and equal texts are the rule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from quire.core import hashing
from quire.core.protocols import Store, Writer
from quire.core.types import (
    MAIN,
    NO_ATTRS,
    NO_METADATA,
    OWNER,
    Chunk,
    Document,
    Link,
    MetadataValue,
    Outline,
    Record,
    Viewer,
)

DIMS = 8
MODEL = "tiny/8"

WORDS = (
    "alpha",
    "beta",
    "gamma",
    "the",
    "running",
    "runs",
    "execute",
    "fooBar",
    "foo_bar",
    "HTTPServer",
    "http.server",
    "Café",
    "cafe",
    "Straße",
    "检索",
    "検索エンジン",
    "42",
)
TITLES = ("", "Alpha", "Guide > Beta")
KINDS = ("text", "code", "note", "commit")
ALICE = Viewer("alice")
BOB = Viewer("bob")
CAROL = Viewer("carol", ("ops",))
NOBODY = Viewer("")
VIEWERS = (OWNER, ALICE, BOB, CAROL, NOBODY)


def document(
    name: str,
    *texts: str,
    path: str | None = None,
    title: str = "",
    kind: str = "text",
    links: Iterable[tuple[str, str]] = (),
    parent: str | None = None,
    position: int = 0,
    modified: int | None = None,
    author: str | None = None,
    acl: tuple[str, ...] | None = None,
    attrs: Mapping[str, str | int] = NO_ATTRS,
    chunk_kind: str | None = None,
    paths: tuple[str, ...] = (),
    outline: Outline | None = None,
    metadata: Mapping[str, MetadataValue] = NO_METADATA,
    expires: int | None = None,
    origin: str = "",
) -> Document:
    """Return a record with one chunk for each text, in order."""
    path = f"{name}.md" if path is None else path
    record = Record(
        id=name,
        kind=kind,
        path=path,
        title=title,
        parent=parent,
        position=position,
        modified=modified,
        author=author,
        acl=acl,
        attrs=attrs,
        paths=paths,
        metadata=metadata,
        expires=expires,
        origin=origin,
    )
    ends = list(accumulate(len(text.encode("utf-8", "surrogatepass")) for text in texts))
    chunks = tuple(
        Chunk(
            id=hashing.chunk_id(name, sequence, text),
            record_id=name,
            kind=chunk_kind or kind,
            path=path,
            title=title,
            sequence=sequence,
            start=([0, *ends])[sequence],
            end=ends[sequence],
            lines=(sequence + 1, sequence + 1),
            text=text,
        )
        for sequence, text in enumerate(texts)
    )
    ties = tuple(Link(name, target, kind) for target, kind in sorted(set(links)))
    return Document(record, chunks, ties, outline)


def put(writer: Writer, *documents: Document) -> None:
    for each in documents:
        writer.put(each.record, each.chunks, each.links, each.outline)


def fill(store: Store, *documents: Document, space: str = MAIN, embed: bool = False) -> None:
    """Put documents into a store in one transaction, with vectors if `embed` is set."""
    with store.write(space) as writer:
        put(writer, *documents)
        if embed:
            writer.put_vectors(MODEL, vectors_of(documents))


def vector_for(key: str, model: str = MODEL, dims: int = DIMS) -> bytes:
    """Return the vector of a text: small numbers, so that many scores are equal."""
    raw = b""
    while len(raw) < dims:
        raw += hashlib.sha256(f"{model} {key} {len(raw)}".encode()).digest()
    return bytes((byte % 7 - 3) % 256 for byte in raw[:dims])


def vectors_of(
    documents: Iterable[Document], model: str = MODEL, dims: int = DIMS
) -> dict[str, bytes]:
    return {
        chunk.vector_key: vector_for(chunk.vector_key, model, dims)
        for each in documents
        for chunk in each.chunks
    }


def ids(documents: Sequence[Document]) -> list[str]:
    return [chunk.id for each in documents for chunk in each.chunks]
