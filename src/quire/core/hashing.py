"""How is a value named by its content?

One hash (BLAKE3) and one encoding for everything that is identified or proved: a tag, then
each field with its length before it, so that no two different lists of fields ever give the
same bytes. Nothing here depends on the platform, the locale or the order of a dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from blake3 import blake3

Field: TypeAlias = "str | int | bytes | tuple[Field, ...] | Mapping[str, Field] | None"

DIGEST_BYTES = 32
ID_BYTES = 16
EMPTY = bytes(DIGEST_BYTES)


def digest(tag: str, *fields: Field) -> bytes:
    """Hash a tagged list of fields into 32 bytes."""
    return blake3(_encode((tag, *fields))).digest()


def name(tag: str, *fields: Field) -> str:
    """Hash a tagged list of fields into a short identifier of 32 hexadecimal digits."""
    return digest(tag, *fields)[:ID_BYTES].hex()


def digest_bytes(data: bytes) -> bytes:
    """Hash plain bytes into 32 bytes."""
    return blake3(data).digest()


def text_hash(text: str) -> bytes:
    """Hash a text into 32 bytes."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def record_id(kind: str, path: str) -> str:
    """Name a record by what it is and where it stands."""
    return name("record", kind, path)


def chunk_id(record: str, sequence: int, text: str) -> str:
    """Name a chunk by its record, its place and its text."""
    return name("chunk", record, sequence, text)


def vector_key(title: str, text: str) -> str:
    """Name a vector by the text that it stands for, and by nothing else.

    The path takes no part: a renamed file keeps its vectors.
    """
    return name("vector", title, text)


def _encode(field: Field) -> bytes:
    if field is None:
        return b"n"
    if isinstance(field, bytes):
        return b"b%d:" % len(field) + field
    if isinstance(field, str):
        # `surrogatepass`: a file name that is not UTF-8 still has one name.
        data = field.encode("utf-8", "surrogatepass")
        return b"s%d:" % len(data) + data
    if isinstance(field, int):
        return b"i%d;" % field
    if isinstance(field, Mapping):
        return _listed(b"m", (_encode((key, field[key])) for key in sorted(field)))
    return _listed(b"t", (_encode(item) for item in field))


def _listed(mark: bytes, parts: Iterable[bytes]) -> bytes:
    items = list(parts)
    return mark + b"%d:" % len(items) + b"".join(items)
