"""Read a file: its record, chunks, links and outline.

This is the only module of the package that opens files for their content. Everything after the
bytes is a pure function of them and of the path.
"""

from __future__ import annotations

import os
import stat

from quire.core import hashing
from quire.core.types import Chunk, Document, FileEntry, IngestSettings, Record, Skipped
from quire.ingest import secrets
from quire.ingest.decode import NotText, decode_text
from quire.ingest.entities import build_outline, find_source_lines
from quire.ingest.formats import compute_record_id, detect_format, detect_text_format, is_binary
from quire.ingest.links import resolve_links
from quire.ingest.types import (
    ParsedFile,
    SourceFile,
    UnreadableFile,
    clean_title,
    merge_blank_spans,
)
from quire.ingest.walk import DEFAULTS, describe_size_limit
from quire.system import platform


def read(file: FileEntry, settings: IngestSettings = DEFAULTS) -> tuple[Document, str] | Skipped:
    """Read a file once; return its document and the digest of its bytes, or why it is skipped."""
    if is_binary(file.path):
        return Skipped(file.path, "binary, by its extension")
    try:
        data = _read_bytes(file, settings.max_bytes)
        document = build_document(file.path, data, settings)
    except (NotText, UnreadableFile) as reason:
        return Skipped(file.path, str(reason))
    return document, hashing.digest_bytes(data).hex()


def read_text(file: FileEntry, settings: IngestSettings = DEFAULTS) -> str | Skipped:
    """Return the whole text of a file, or why it is skipped."""
    try:
        text = decode_text(_read_bytes(file, settings.max_bytes))
    except (NotText, UnreadableFile) as reason:
        return Skipped(file.path, str(reason))
    refusal = None if settings.secrets else secrets.check_text(text)
    return Skipped(file.path, refusal) if refusal else text


def compute_digest(file: FileEntry) -> str | Skipped:
    """Return the digest of a file's bytes, or why it is skipped."""
    try:
        return hashing.digest_bytes(_read_bytes(file)).hex()
    except UnreadableFile as reason:
        return Skipped(file.path, str(reason))


def build_document(path: str, data: bytes, settings: IngestSettings) -> Document:
    """Build the record, chunks, links and outline of a file from its bytes.

    Raises:
        NotText: The bytes are not text.
        UnreadableFile: The file cannot be read, or holds a secret.
    """
    format_, language = detect_format(path)
    kind = format_.kind
    if format_.binary:
        source = SourceFile("", data, language, path)
    else:
        text = decode_text(data)
        if not settings.secrets and (reason := secrets.check_text(text)):
            raise UnreadableFile(reason)
        format_, language = detect_text_format(path, text)
        source = SourceFile(text, data, language, path)
    parsed = format_.read(source, settings)
    # A reader may produce text that was not in the source: a PDF's, a decoded entity.
    new_text = "" if settings.secrets or parsed.text == source.text else parsed.text
    if reason := secrets.check_text(new_text):
        raise UnreadableFile(reason)
    record = Record(
        # From the path alone, so that a link can name the file without opening it.
        id=compute_record_id(path),
        kind=parsed.kind or kind,
        path=path,
        title=clean_title(parsed.title) or path.rpartition("/")[2],
        modified=parsed.modified,
        author=parsed.author,
        attrs={"language": language, **parsed.attrs},
    )
    return Document(
        record,
        build_chunks(record, parsed),
        resolve_links(record.id, path, parsed.links),
        build_outline(record, parsed),
    )


def build_chunks(record: Record, parsed: ParsedFile) -> tuple[Chunk, ...]:
    """Build the chunks of a record from the spans of its text."""
    chunks = []
    offset = 0
    line = 1
    for sequence, span in enumerate(merge_blank_spans(parsed.text, parsed.spans)):
        text = parsed.text[span.start : span.end]
        length = len(text.encode())
        last_line = line + text.count("\n", 0, len(text) - 1)
        chunks.append(
            Chunk(
                id=hashing.chunk_id(record.id, sequence, text),
                record_id=record.id,
                kind=record.kind,
                path=record.path,
                title=span.title,
                sequence=sequence,
                start=offset,
                end=offset + length,
                lines=(line, last_line)
                if parsed.line_map is None
                else find_source_lines(parsed.line_map, span.start, span.end),
                text=text,
            )
        )
        offset += length
        line = last_line + text.endswith("\n")
    return tuple(chunks)


def _read_bytes(file: FileEntry, limit: int | None = None) -> bytes:
    try:
        # The file may have become a pipe or a link since the walk.
        descriptor = platform.open_without_following(file.location)
    except FileNotFoundError as error:
        raise UnreadableFile("vanished before it could be read") from error
    except OSError as error:
        raise UnreadableFile(f"cannot be read: {error.strerror}") from error
    try:
        return _read_descriptor(descriptor, limit)
    except OSError as error:
        raise UnreadableFile(f"cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def _read_descriptor(descriptor: int, limit: int | None) -> bytes:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        raise UnreadableFile("not a regular file any more")
    if limit is not None and before.st_size > limit:
        raise UnreadableFile(describe_size_limit(before.st_size, limit))
    with os.fdopen(descriptor, "rb", closefd=False) as stream:
        data = stream.read(before.st_size + 1)
    after = os.fstat(descriptor)
    unchanged = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if len(data) != before.st_size or not unchanged:
        raise UnreadableFile("changed while it was being read; index it again")
    return data
