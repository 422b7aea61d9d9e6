"""How values travel to PostgreSQL and back, where they would not arrive as they are.

PostgreSQL refuses NUL in texts, so it is escaped; the escape keeps the order of texts, so that
`ORDER BY` gives the order of SQLite. Whole numbers are always 64 bits, so that a statement has one
plan. Values of metadata are bytes in the order of their kind.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
from psycopg import pq
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import StrBinaryDumper

from quire.core.metadata import EXACT_FLOAT, TEXT

_ESCAPES = str.maketrans({"\0": "\1\1", "\1": "\1\2"})
_INT8, _TEXT, _BYTEA = 20, 25, 17
_INT8_ARRAY, _TEXT_ARRAY, _BYTEA_ARRAY = 1016, 1009, 1001
_ELEMENT = np.dtype([("size", ">i4"), ("value", ">i8")])


def escape(text: str) -> str:
    """Return a text without NUL; two texts are in the same order as before."""
    return text.translate(_ESCAPES) if "\0" in text or "\1" in text else text


def unescape(text: str) -> str:
    """Return the text that was escaped."""
    if "\1" not in text:
        return text
    first, *parts = text.split("\1\1")
    return "\0".join(part.replace("\1\2", "\1") for part in (first, *parts))


class _TextDumper(StrBinaryDumper):
    def dump(self, obj: str) -> Buffer | None:
        return escape(obj).encode()


class _TextLoader(Loader):
    format = pq.Format.BINARY

    def load(self, data: Buffer) -> str:
        return unescape(bytes(data).decode())


class _NumbersDumper(Dumper):
    """An array of numpy as `bigint[]`, without a Python object for each number."""

    format = pq.Format.BINARY
    oid = _INT8_ARRAY

    def dump(self, obj: Any) -> Buffer | None:
        elements = np.empty(obj.size, _ELEMENT)
        elements["size"] = 8
        elements["value"] = obj
        return _array_head(_INT8, obj.size) + elements.tobytes()


class Texts(tuple[str, ...]):
    """Texts that are sent as `text[]`."""

    __slots__ = ()


class Blobs(tuple[bytes, ...]):
    """Bytes that are sent as `bytea[]`."""

    __slots__ = ()


class _TextsDumper(Dumper):
    format = pq.Format.BINARY
    oid = _TEXT_ARRAY

    def dump(self, obj: Texts) -> Buffer | None:
        return _array(_TEXT, [escape(text).encode() for text in obj])


class _BlobsDumper(Dumper):
    format = pq.Format.BINARY
    oid = _BYTEA_ARRAY

    def dump(self, obj: Blobs) -> Buffer | None:
        return _array(_BYTEA, obj)


def _array(oid: int, elements: Sequence[bytes]) -> bytes:
    parts = [struct.pack(">i", len(data)) + data for data in elements]
    return b"".join((_array_head(oid, len(parts)), *parts))


def _array_head(oid: int, size: int) -> bytes:
    # One dimension that begins at 1, without NULL; an empty array has no dimension.
    return struct.pack(">iiiii", 1, 0, oid, size, 1) if size else struct.pack(">iii", 0, 0, oid)


def register(connection: psycopg.Connection[Any]) -> None:
    """Let a connection convert values in these ways."""
    adapters: AdaptersMap = connection.adapters
    adapters.register_dumper(str, _TextDumper)
    adapters.register_dumper(int, Int8BinaryDumper)
    adapters.register_dumper(np.ndarray, _NumbersDumper)
    adapters.register_dumper(Texts, _TextsDumper)
    adapters.register_dumper(Blobs, _BlobsDumper)
    for name in ("text", "varchar", "name"):
        adapters.register_loader(name, _TextLoader)


def encode_scalar(value: str | float) -> bytes:
    """Return a value of metadata as bytes: those of a text, or of a number in its order.

    A number is the float next to it, then what is missing: a whole number may have more digits.
    """
    if isinstance(value, str):
        return value.encode()
    nearest = float(value)
    rest = int(value) - int(nearest) if isinstance(value, int) else 0
    (bits,) = struct.unpack(">Q", struct.pack(">d", nearest + 0.0))
    bits = bits ^ 0xFFFF_FFFF_FFFF_FFFF if bits >> 63 else bits | 1 << 63
    return struct.pack(">QH", bits, rest + (1 << 15))


def decode_scalar(kind: str, data: bytes) -> str | float:
    """Return the value of metadata in bytes; one that is whole is a whole number."""
    if kind == TEXT:
        return data.decode()
    bits, rest = struct.unpack(">QH", data)
    bits = bits ^ (1 << 63) if bits >> 63 else bits ^ 0xFFFF_FFFF_FFFF_FFFF
    (nearest,) = struct.unpack(">d", struct.pack(">Q", bits))
    whole = nearest.is_integer() and abs(nearest) <= EXACT_FLOAT << 10
    return int(nearest) + rest - (1 << 15) if whole else float(nearest)
