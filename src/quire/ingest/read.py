"""What is in this file?

The only place of the room that opens files for their content; everything after the bytes is
a pure function of them and of the path.
"""

from __future__ import annotations

import os
import stat

from quire import platform
from quire.core import hashing
from quire.core.types import Chunk, Document, FoundFile, IngestSettings, Record, Skipped
from quire.ingest import secrets
from quire.ingest.decode import NotText, text_of
from quire.ingest.entities import build_outline, find_source_lines
from quire.ingest.formats import compute_record_id, detect_format, detect_text_format, is_binary
from quire.ingest.links import links_of
from quire.ingest.types import (
    ParsedFile,
    SourceFile,
    UnreadableFile,
    clean_title,
    merge_blank_spans,
)
from quire.ingest.walk import DEFAULTS, too_large


def read(found: FoundFile, settings: IngestSettings = DEFAULTS) -> tuple[Document, str] | Skipped:
    """Read a file once: its document and the digest of its bytes, or why it is left out."""
    if is_binary(found.path):
        return Skipped(found.path, "binary, by its ending")
    try:
        data = _bytes_of(found, settings.max_bytes)
        document = document_of(found.path, data, settings)
    except (NotText, UnreadableFile) as reason:
        return Skipped(found.path, str(reason))
    return document, hashing.digest_bytes(data).hex()


def plain_text(found: FoundFile, settings: IngestSettings = DEFAULTS) -> str | Skipped:
    """Give the text of a file, uncut, or why it is left out."""
    try:
        text = text_of(_bytes_of(found, settings.max_bytes))
    except (NotText, UnreadableFile) as reason:
        return Skipped(found.path, str(reason))
    refusal = None if settings.secrets else secrets.in_text(text)
    return Skipped(found.path, refusal) if refusal else text


def digest_of(found: FoundFile) -> str | Skipped:
    """Give the digest of a file's bytes alone."""
    try:
        return hashing.digest_bytes(_bytes_of(found)).hex()
    except UnreadableFile as reason:
        return Skipped(found.path, str(reason))


def document_of(path: str, data: bytes, settings: IngestSettings) -> Document:
    """Make the record, chunks and links of a file from its bytes; raises NotText, Unreadable."""
    format_, language = detect_format(path)
    kind = format_.kind
    if format_.binary:
        source = SourceFile("", data, language, path)
    else:
        text = text_of(data)
        if not settings.secrets and (reason := secrets.in_text(text)):
            raise UnreadableFile(reason)
        format_, language = detect_text_format(path, text)
        source = SourceFile(text, data, language, path)
    reading = format_.read(source, settings)
    # What a reader brings to light (a PDF's text, an entity decoded) is looked at as well.
    brought_up = "" if settings.secrets or reading.text == source.text else reading.text
    if reason := secrets.in_text(brought_up):
        raise UnreadableFile(reason)
    record = Record(
        # By the path's own kind: a link to it is made without opening it.
        id=compute_record_id(path),
        kind=reading.kind or kind,
        path=path,
        title=clean_title(reading.title) or path.rpartition("/")[2],
        modified=reading.modified,
        author=reading.author,
        attrs={"language": language, **reading.attrs},
    )
    return Document(
        record,
        chunks_of(record, reading),
        links_of(record.id, path, reading.links),
        build_outline(record, reading),
    )


def chunks_of(record: Record, reading: ParsedFile) -> tuple[Chunk, ...]:
    """Make the chunks of a record of the pieces that its reader cut."""
    chunks = []
    offset = 0
    line = 1
    for sequence, piece in enumerate(merge_blank_spans(reading.text, reading.spans)):
        text = reading.text[piece.start : piece.end]
        length = len(text.encode())
        last_line = line + text.count("\n", 0, len(text) - 1)
        chunks.append(
            Chunk(
                id=hashing.chunk_id(record.id, sequence, text),
                record_id=record.id,
                kind=record.kind,
                path=record.path,
                title=piece.title,
                sequence=sequence,
                start=offset,
                end=offset + length,
                lines=(line, last_line)
                if reading.line_map is None
                else find_source_lines(reading.line_map, piece.start, piece.end),
                text=text,
            )
        )
        offset += length
        line = last_line + text.endswith("\n")
    return tuple(chunks)


def _bytes_of(found: FoundFile, limit: int | None = None) -> bytes:
    try:
        # It may have become a pipe or a link since it was found.
        descriptor = platform.open_without_following(found.location)
    except FileNotFoundError as error:
        raise UnreadableFile("vanished before it could be read") from error
    except OSError as error:
        raise UnreadableFile(f"cannot be read: {error.strerror}") from error
    try:
        return _content(descriptor, limit)
    except OSError as error:
        raise UnreadableFile(f"cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def _content(descriptor: int, limit: int | None) -> bytes:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        raise UnreadableFile("not a regular file any more")
    if limit is not None and before.st_size > limit:
        raise UnreadableFile(too_large(before.st_size, limit))
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        data = file.read(before.st_size + 1)
    after = os.fstat(descriptor)
    unchanged = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if len(data) != before.st_size or not unchanged:
        raise UnreadableFile("changed while it was being read; index it again")
    return data
