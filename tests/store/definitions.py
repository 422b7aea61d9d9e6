"""The definitions that engines must match: scores, hashes, access and validation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pathspec import GitIgnoreSpec

from quire.core import conditions, hashing, merkle, metadata
from quire.core.types import AccessRule, Chunk, Filter, Link, Outline, Record, Viewer, Wording
from quire.errors import InputError

Acl = tuple[str, ...]
Leaves = dict[bytes, bytes]

ORIGINS = ("config", "command")
PUBLIC: Acl = ("public",)
OWNER_ONLY: Acl = ()
EMPTY = bytes(32)
MAX_INTEGER = 2**63 - 1


# --- who may read ------------------------------------------------------------------------------


def parse_principal(text: str) -> str | None:
    """Return a principal in canonical form; None is the owner."""
    if text == "public":
        return text
    if text == "owner":
        return None
    if text.startswith("@"):
        text = "group:" + text[1:]
    if ":" not in text:
        text = "user:" + text
    kind, name = text.split(":", 1)
    if kind not in ("user", "group", "link") or not re.fullmatch(r"[^\s:,@][^\s:,]*", name):
        raise InputError(f"{text!r} is not a principal")
    if not name.isprintable():
        raise InputError(f"{text!r} is not a principal")
    return text


def access_list(principals: Iterable[str]) -> Acl:
    named = [parse_principal(text) for text in principals]
    if "public" in named:
        return PUBLIC
    return tuple(sorted({name for name in named if name is not None}))


def intersect(acls: Iterable[Acl]) -> Acl | tuple[Acl, ...]:
    """Return the audience of those who are on all of the lists."""
    lists = sorted({acl for acl in acls if acl != PUBLIC})
    if OWNER_ONLY in lists:
        return OWNER_ONLY
    if not lists:
        return PUBLIC
    return lists[0] if len(lists) == 1 else tuple(lists)


def may_read(viewer: Viewer, audience: Acl | tuple[Acl, ...]) -> bool:
    if audience and isinstance(audience[0], tuple):
        return all(viewer.may_read(acl) for acl in audience if isinstance(acl, tuple))
    return viewer.may_read(tuple(name for name in audience if isinstance(name, str)))


@lru_cache(maxsize=4096)
def matches(glob: str, path: str) -> bool:
    """Return whether a glob (not negated) matches a path."""
    return bool(GitIgnoreSpec.from_lines([glob]).match_file(path))


def check_glob(glob: str) -> None:
    if not glob.strip() or "\0" in glob:
        raise InputError(f"{glob!r} is not a glob")
    try:
        GitIgnoreSpec.from_lines([glob])
    except ValueError as error:
        raise InputError(f"{glob!r} is not a glob") from error


def check_rule(rule: AccessRule) -> None:
    check_glob(rule.glob)
    check_texts(rule.glob)
    if rule.glob.startswith(("!", "#")):
        raise InputError(f"{rule.glob!r} never matches")


def matches_filter(where: Filter, kind: str, path: str, record: Record) -> bool:
    """Return whether a chunk passes a filter."""
    modified = record.modified
    if where.kinds and kind not in where.kinds:
        return False
    moment, expires = where.alive_at, record.expires
    if moment is not None and expires is not None and expires <= moment:
        return False
    if where.where and not conditions.holds(conditions.parse(where.where), record.metadata):
        return False
    if where.paths:
        verdict = False
        for glob in where.paths:
            negated = glob.startswith("!")
            if matches(glob[1:] if negated else glob, path):
                verdict = not negated
        if not verdict:
            return False
    if where.since is not None and (modified is None or modified < where.since):
        return False
    return where.until is None or (modified is not None and modified <= where.until)


def check_filter(where: Filter) -> None:
    check_texts(*where.kinds)
    for glob in where.paths:
        check_glob(glob)
    if where.where:
        conditions.parse(where.where)


# --- how well words match ----------------------------------------------------------------------


@lru_cache(maxsize=4096)
def idf(chunks: int, holding: int) -> int:
    """Return floor(4096 * log2(a / b)): the largest r with 2**r <= (a / b)**4096."""
    a, b = 2 * chunks + 2, 2 * holding + 1
    return (a**4096 // b**4096).bit_length() - 1 if a > b else 0


def weight(times: int, length: int, query_count: int, idf_value: int, average: int) -> int:
    """Return what a word adds to the score of a chunk; k1 = 1.2, b = 0.75, in 1/1024."""
    norm = min((307 * average + 922 * 16 * length) // average, 2**30)
    times = min(times, 255)
    lifted = times * 2253 * 1024 // (times * 1024 + norm)
    return lifted * min(query_count, 4) * idf_value >> 8


# --- how near vectors are ----------------------------------------------------------------------


@lru_cache(maxsize=65536)
def numbers(vector: bytes) -> tuple[int, ...]:
    return tuple(byte - 256 if byte > 127 else byte for byte in vector)


def dot(left: bytes, right: bytes) -> int:
    return sum(a * b for a, b in zip(numbers(left), numbers(right), strict=True))


@lru_cache(maxsize=4096)
def code(vector: bytes) -> tuple[bool, ...]:
    """Return the signs of a vector after fixed flips and a Walsh-Hadamard transform."""
    span = 64
    while span < len(vector):
        span *= 2
    flips: list[int] = []
    for part in range(-(-span // 256)):
        for byte in hashing.digest("flips", part):
            flips += [1 if byte >> bit & 1 else -1 for bit in range(7, -1, -1)]
    padded = [*numbers(vector), *[0] * (span - len(vector))]
    flipped = [a * b for a, b in zip(padded, flips, strict=False)]
    return tuple(
        sum(-value if (row & at).bit_count() & 1 else value for at, value in enumerate(flipped)) > 0
        for row in range(span)
    )


def distance(left: bytes, right: bytes) -> int:
    return sum(a != b for a, b in zip(code(left), code(right), strict=True))


# --- what stands for it all --------------------------------------------------------------------


def blake(data: bytes) -> bytes:
    return hashing.digest_bytes(data)


@dataclass(frozen=True)
class Tree:
    """The Merkle tree of one access class, computed from its leaves."""

    leaves: Leaves

    def bucket(self, place: int) -> list[tuple[bytes, bytes]]:
        return sorted(pair for pair in self.leaves.items() if merkle.bucket_of(pair[0]) == place)

    @cached_property
    def buckets(self) -> dict[int, bytes]:
        places = sorted({merkle.bucket_of(key) for key in self.leaves})
        return {
            place: blake(b"bucket" + b"".join(key + value for key, value in self.bucket(place)))
            for place in places
        }

    @cached_property
    def nodes(self) -> dict[int, bytes]:
        nodes: dict[int, bytearray] = {}
        for place, value in self.buckets.items():
            node = nodes.setdefault(place // 256, bytearray(256 * 32))
            node[place % 256 * 32 : place % 256 * 32 + 32] = value
        return {place: blake(b"node" + bytes(node)) for place, node in nodes.items()}

    @cached_property
    def root(self) -> bytes:
        nodes = self.nodes
        if not nodes:
            return EMPTY
        return blake(b"node" + b"".join(nodes.get(place, EMPTY) for place in range(256)))


# --- what is refused -------------------------------------------------------------------------


def check_reach(audience: int) -> None:
    if audience not in range(4):
        raise InputError("a reach goes from 0 to 3")


def check_wording(wording: Wording) -> None:
    if not (wording.common in range(101) and wording.related in range(101)):
        raise InputError("a percentage goes from 0 to 100")


def check_k(k: int) -> None:
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}")


def check_key(key: str) -> None:
    if not re.fullmatch(r"[0-9a-f]{32}", key):
        raise InputError(f"{key!r} is no key of a vector")


def check_vector(name: str, vector: bytes, dims: int) -> None:
    if len(vector) != dims or not dims:
        raise InputError(f"{name}: {len(vector)} numbers, {dims} were expected")
    if dot(vector, vector) >= 2**24:
        raise InputError(f"{name}: scale the vector down")


def check_origin(origin: str) -> None:
    if origin not in ORIGINS:
        raise InputError(f"{origin!r} is not an origin of rules")


def check_texts(*texts: str | None) -> None:
    for text in texts:
        try:
            (text or "").encode()
        except UnicodeEncodeError as error:
            raise InputError("the text contains half of a surrogate pair") from error


def check_numbers(*values: str | int | None) -> None:
    for number in values:
        if isinstance(number, int) and abs(number) > MAX_INTEGER:
            raise InputError(f"{number} is too large")


def check_document(record: Record, chunks: Sequence[Chunk], links: Sequence[Link]) -> None:
    if not record.id or "\0" in record.id or "\0" in record.path:
        raise InputError("a record needs an id and a path without NUL")
    check_texts(record.id, record.kind, record.path, record.title, record.parent, record.author)
    check_texts(*record.paths)
    check_texts(*record.attrs, *(text for text in record.attrs.values() if isinstance(text, str)))
    check_numbers(record.position, record.modified, record.expires)
    check_texts(record.origin)
    if metadata.check_metadata(record.metadata) != record.metadata:
        raise InputError("metadata in another form")
    for chunk in chunks:
        if (chunk.record_id, chunk.path) != (record.id, record.path):
            raise InputError(f"chunk {chunk.id} belongs elsewhere")
        if chunk.id != hashing.chunk_id(record.id, chunk.sequence, chunk.text):
            raise InputError(f"chunk {chunk.id} is not named by its text")
        check_texts(chunk.kind, chunk.title, chunk.text)
        check_numbers(chunk.sequence, chunk.start, chunk.end, *chunk.lines)
    if len({chunk.id for chunk in chunks}) != len(chunks):
        raise InputError("two chunks have the same id")
    for link in links:
        if link.source != record.id:
            raise InputError(f"a link from {link.source} belongs elsewhere")
        check_texts(link.target, link.kind)


def check_outline(outline: Outline | None) -> None:
    if outline is None:
        return
    if not outline.entities or outline.entities[0].parent is not None:
        raise InputError("an outline begins with the whole")
    for place, entity in enumerate(outline.entities):
        check_texts(entity.kind, entity.name, entity.qualified, entity.signature, entity.summary)
        check_texts(*entity.decorators, *entity.attrs)
        check_texts(*(text for text in entity.attrs.values() if isinstance(text, str)))
        check_numbers(entity.start, entity.end, *entity.lines, *entity.attrs.values())
        if not 0 <= entity.start <= entity.end:
            raise InputError("an entity ends after its beginning")
        if place and (entity.parent is None or not 0 <= entity.parent < place):
            raise InputError("an entity lies in one before it")
    for use in outline.references:
        check_texts(use.name, use.kind)
        check_numbers(use.count)
        if use.kind == "define" or not 0 <= use.within < len(outline.entities):
            raise InputError("a name is used by an entity")
