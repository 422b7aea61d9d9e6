"""Read a file: its record, chunks, links and outline.

This is the only module of the package that opens files for their content. Everything after the
bytes is a pure function of them and of the path.
"""

from __future__ import annotations

import os
import re
import stat

from quire.core import hashing
from quire.core.languages import with_language
from quire.core.types import (
    Chunk,
    Document,
    FileEntry,
    IngestSettings,
    Record,
    Redaction,
    Skipped,
)
from quire.ingest import plugged
from quire.ingest.decode import NotText, decode_text
from quire.ingest.entities import build_outline, find_source_lines
from quire.ingest.formats import (
    Format,
    compute_record_id,
    detect_format,
    detect_text_format,
    is_binary,
)
from quire.ingest.links import resolve_links
from quire.ingest.plugged import find_reader
from quire.ingest.redact import move_positions, redact, redact_fields
from quire.ingest.roles import ROLE, find_role
from quire.ingest.types import (
    ParsedFile,
    SourceFile,
    UnreadableFile,
    clean_title,
    merge_blank_spans,
)
from quire.ingest.walk import DEFAULTS, describe_size_limit
from quire.system import platform

_OWN_OUTPUT = re.compile(
    r'\{\s{0,9}"version":\s?\d{1,9},\s{0,9}'
    r'(?:"pipeline":\s?\d{1,9},\s{0,9}"request":|"algorithm":\s?"ed25519",\s{0,9}"key":'
    r'|"receipt":\s?"[0-9a-f]{64}",\s{0,9}"(?:excluded|proofs)":)'
)
"""How a receipt begins, its signature, and its parts."""
REDACTED = "redacted"
"""The attribute of a record that counts the secrets taken out of it."""


def read(file: FileEntry, settings: IngestSettings = DEFAULTS) -> tuple[Document, str] | Skipped:
    """Read a file once; return its document and the digest of its bytes, or why it is skipped."""
    data = load(file, settings)
    return data if isinstance(data, Skipped) else parse(file.path, data, settings)


def load(file: FileEntry, settings: IngestSettings = DEFAULTS) -> bytes | Skipped:
    """Return the bytes of a file that may hold text, or why it is skipped."""
    if is_binary(file.path) and find_reader(file.path, settings.without) is None:
        return Skipped(file.path, "binary, by its extension")
    try:
        return read_bytes(file, settings.max_bytes)
    except UnreadableFile as reason:
        return Skipped(file.path, str(reason))


def parse(
    path: str, data: bytes, settings: IngestSettings = DEFAULTS
) -> tuple[Document, str] | Skipped:
    """Return the document of a file's bytes and their digest, or why it is skipped."""
    try:
        document = build_document(path, data, settings)
    except (NotText, UnreadableFile) as reason:
        return Skipped(path, str(reason))
    return document, hashing.digest_bytes(data).hex()


def read_text(
    file: FileEntry, settings: IngestSettings = DEFAULTS
) -> tuple[str, tuple[Redaction, ...]] | Skipped:
    """Return the whole text of a file without its secrets, or why it is skipped."""
    try:
        text = decode_text(read_bytes(file, settings.max_bytes))
        redacted = redact(file.path, text, settings)
    except (NotText, UnreadableFile) as reason:
        return Skipped(file.path, str(reason))
    return redacted.text, redacted.found


def compute_digest(file: FileEntry) -> str | Skipped:
    """Return the digest of a file's bytes, or why it is skipped."""
    try:
        return hashing.digest_bytes(read_bytes(file)).hex()
    except UnreadableFile as reason:
        return Skipped(file.path, str(reason))


def build_document(
    path: str,
    data: bytes,
    settings: IngestSettings,
    *,
    record_id: str = "",
    read_as: tuple[Format, str] | None = None,
) -> Document:
    """Build the record, chunks, links and outline of a file from its bytes.

    Args:
        path: Its path in the space.
        data: Its bytes.
        settings: How files are read and split.
        record_id: The id of its record; empty: as its path says.
        read_as: Its format and language; None: as its path and its first line say.

    Raises:
        NotText: The bytes are not text.
        UnreadableFile: The file cannot be read, or is a list of secrets.
    """
    format_, language = read_as or detect_format(path)
    found: tuple[Redaction, ...] = ()
    reader = find_reader(path, settings.without)
    if reader is not None or format_.binary:
        source = SourceFile("", data, language, path)
    else:
        text = decode_text(data)
        if _OWN_OUTPUT.match(text):
            raise UnreadableFile("written by Quire: a receipt or its signature")
        redacted = redact(path, text, settings)
        found = redacted.found
        format_, language = read_as or detect_text_format(path, redacted.text)
        source = SourceFile(redacted.text, data, language, path)
    parsed = (
        format_.read(source, settings)
        if reader is None
        else plugged.read(reader, data, path, settings)
    )
    if parsed.text != source.text:
        # A reader may make text that was not in the source: a PDF's, a decoded entity.
        redacted = redact(path, parsed.text, settings)
        found += redacted.found
        parsed = redact_fields(path, move_positions(parsed, redacted), settings)
    record = Record(
        # From the path alone, so that a link can name the file without opening it.
        id=record_id or compute_record_id(path),
        kind=parsed.kind or format_.kind,
        path=path,
        title=clean_title(parsed.title) or path.rpartition("/")[2],
        modified=parsed.modified,
        author=parsed.author,
        attrs={
            "language": language,
            ROLE: find_role(path, format_.kind, source.text, settings.roles),
            **parsed.attrs,
            **({REDACTED: len(found)} if found else {}),
        },
        metadata=parsed.metadata,
    )
    chunks = build_chunks(record, parsed)
    return Document(
        with_language(record, chunks),
        chunks,
        resolve_links(record.id, path, parsed.links),
        build_outline(record, parsed),
        found,
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


def read_bytes(file: FileEntry, limit: int | None = None) -> bytes:
    """Return the bytes of a file that was found by a walk, if it still is one."""
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
