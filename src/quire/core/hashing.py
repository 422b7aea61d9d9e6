"""Content hashes: how values are identified and proved.

There is one hash function (BLAKE3) and one encoding for everything that is identified or proved:
a tag, then each field preceded by its length, so that no two different lists of fields encode to
the same bytes. Nothing here depends on the platform, the locale or the order of a dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from blake3 import blake3

Field: TypeAlias = "str | int | bytes | tuple[Field, ...] | Mapping[str, Field] | None"

DIGEST_BYTES = 32
ID_BYTES = 16
_CHUNK_ID = b"t4:s5:chunks%d:%bi%d;s%d:%b"
_VECTOR_KEY = b"t3:s6:vectors%d:%bs%d:%b"
"""What `identifier` would hash, written at once: every chunk that is written has both."""
EMPTY = bytes(DIGEST_BYTES)
"""The hash of an empty tree or subtree."""


def digest(tag: str, *fields: Field) -> bytes:
    """Hash a tagged list of fields into 32 bytes."""
    return blake3(_encode((tag, *fields))).digest()


def identifier(tag: str, *fields: Field) -> str:
    """Hash a tagged list of fields into a short identifier of 32 hexadecimal digits."""
    return digest(tag, *fields)[:ID_BYTES].hex()


def digest_bytes(data: bytes) -> bytes:
    """Hash plain bytes into 32 bytes."""
    return blake3(data).digest()


def text_hash(text: str) -> bytes:
    """Hash a text into 32 bytes."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def record_id(kind: str, path: str) -> str:
    """Return the id of a record: a hash of its kind and its path."""
    return identifier("record", kind, path)


def chunk_id(record: str, sequence: int, text: str) -> str:
    """Return the id of a chunk: a hash of its record, its position and its text."""
    owner, data = _encode_text(record), _encode_text(text)
    code = _CHUNK_ID % (len(owner), owner, sequence, len(data), data)
    return digest_bytes(code)[:ID_BYTES].hex()


def vector_key(title: str, text: str) -> str:
    """Return the key of a vector: a hash of the embedded text alone.

    The path is not part of it, so that a renamed file keeps its vectors.
    """
    heading, data = _encode_text(title), _encode_text(text)
    code = _VECTOR_KEY % (len(heading), heading, len(data), data)
    return digest_bytes(code)[:ID_BYTES].hex()


def _encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _encode(fields: tuple[Field, ...]) -> bytes:
    parts: list[bytes] = []
    _add_items(parts, fields)
    return b"".join(parts)


def _add_items(parts: list[bytes], items: tuple[Field, ...]) -> None:
    """Add the code of a list of fields; in one loop, because every chunk that is read is hashed."""
    parts.append(b"t%d:" % len(items))
    for item in items:
        if isinstance(item, str):
            # `surrogatepass`: a file name that is not valid UTF-8 has an identifier, too.
            data = item.encode("utf-8", "surrogatepass")
            parts += (b"s%d:" % len(data), data)
        elif isinstance(item, bytes):
            parts += (b"b%d:" % len(item), item)
        elif isinstance(item, int):
            parts.append(b"i%d;" % item)
        elif item is None:
            parts.append(b"n")
        elif isinstance(item, Mapping):
            parts.append(b"m%d:" % len(item))
            for key in sorted(item):
                _add_items(parts, (key, item[key]))
        else:
            _add_items(parts, item)
