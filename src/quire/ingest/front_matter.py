"""Parsing of the metadata at the beginning of a document.

Handles front matter between `---` lines, and the header of mail-like fields that some
reStructuredText documents begin with. Only flat values are parsed: `key: value`, a list in
brackets, a list of `- item` lines, an indented text after `>` or `|`. Everything else is ignored
and nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from quire.core.metadata import MAX_KEYS, Scalar, check_metadata, is_key, read_value
from quire.core.types import NO_METADATA, MetadataValue
from quire.errors import InputError
from quire.ingest.types import clean_title

FENCE = re.compile(r"---[ \t]*\n")
CLOSING_FENCE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
MAX_LENGTH = 20_000
"""Characters that are searched for the end of the metadata."""
KEY = re.compile(r"([A-Za-z_][\w -]{0,40}?)[ \t]*+:(?:[ \t]++(.*))?\Z")
BLOCK_SCALAR = re.compile(r"[|>][+-]?\Z")
ITEM = re.compile(r"[ \t]*+-[ \t](.+)\Z")
HEADER_LINE = re.compile(r"([A-Z][A-Za-z-]{1,30}):(?:[ \t]++(.*))?\Z")

MODIFIED_KEYS = ("updated", "last_modified", "lastmod", "modified", "date")
AUTHOR_KEYS = ("author", "authors")
SUMMARY_KEYS = ("description", "summary", "abstract")
ATTRIBUTE_KEYS = ("status", "tags", "type", "category", "categories")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UTC_OFFSET = re.compile(r"[ ]([+-]\d\d):?(\d\d)\Z")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata of a document, and where it ends in the text."""

    end: int = 0
    title: str = ""
    author: str | None = None
    modified: int | None = None
    summary: str = ""
    attrs: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, MetadataValue] = field(default_factory=lambda: NO_METADATA)
    """All its values by key, but for the title; what is too long, or too much, is left out."""


EMPTY = FrontMatter()


def parse(text: str) -> FrontMatter:
    """Parse the front matter between `---` lines at the beginning of a text."""
    fields, end = parse_fields(text)
    if not end:
        return EMPTY
    matter = _build_front_matter(end, fields)
    typed, _ = parse_fields(text, read_value)
    return replace(matter, metadata=_build_metadata(fields, typed))


def parse_fields(
    text: str, read_scalar: Callable[[str], Scalar] | None = None
) -> tuple[dict[str, list[Any]], int]:
    """Return the fields of a front matter by lower-case key, and where it ends; 0: none."""
    opening = FENCE.match(text)
    closing = opening and CLOSING_FENCE.search(text, opening.end(), opening.end() + MAX_LENGTH)
    if not opening or not closing:
        return {}, 0
    scalar = _parse_scalar if read_scalar is None else _typed(read_scalar)
    return _parse_lines(text[opening.end() : closing.start()], scalar), closing.end()


def _typed(read_scalar: Callable[[str], Scalar]) -> Callable[[str], Scalar]:
    """Return a reader of scalars that keeps what is in quotes a text."""

    def read(value: str) -> Scalar:
        text = _parse_scalar(value)
        return text if value.strip()[:1] in ("'", '"') else read_scalar(text)

    return read


def _build_metadata(
    fields: Mapping[str, list[str]], typed: Mapping[str, list[Scalar]]
) -> dict[str, MetadataValue]:
    """Return the values of a front matter as metadata."""
    metadata: dict[str, MetadataValue] = {}
    for key in sorted(fields):
        name = key.replace(" ", "_")
        values = fields[key]
        if not values or key == "title" or not is_key(name) or len(metadata) >= MAX_KEYS:
            continue
        value = typed[key][0] if len(values) == 1 else tuple(values)
        with suppress(InputError):  # a description may be longer than a value
            metadata |= check_metadata({name: value})
    return metadata


def parse_header(text: str) -> FrontMatter:
    """Parse a header of `Name: value` lines that has a title, up to the first blank line."""
    fields, end = parse_header_fields(text)
    return _build_front_matter(end, fields) if fields.get("title") else EMPTY


def parse_header_fields(text: str) -> tuple[dict[str, list[str]], int]:
    """Return the fields of such a header by lower-case key, and where it ends; 0: none."""
    end = text.find("\n\n", 0, MAX_LENGTH)
    fields: dict[str, list[str]] = {}
    key = ""
    for line in text[: max(0, end)].split("\n"):
        match = HEADER_LINE.match(line)
        if match:
            key = match[1].lower()
            fields[key] = [match[2] or ""]
        elif key and line[:1] in (" ", "\t"):
            fields[key][0] += " " + line.strip()
        else:
            return {}, 0
    return fields, end + 2


def _parse_lines(text: str, scalar: Callable[[str], Scalar]) -> dict[str, list[Any]]:
    fields: dict[str, list[Any]] = {}
    key = ""
    in_block = False
    for line in text.split("\n"):
        if match := KEY.match(line):
            key = match[1].lower().replace("-", "_").replace(" ", "_")
            in_block = bool(BLOCK_SCALAR.match((match[2] or "").strip()))
            fields[key] = [] if in_block else _parse_values(match[2] or "", scalar)
        elif in_block and line[:1] in (" ", "\t"):
            fields[key] = [" ".join((*fields[key], line.strip()))]
        elif key and (match := ITEM.match(line)):
            fields[key].append(scalar(match[1]))
        elif line.strip() and not line.startswith("#"):
            key = ""  # a nested value, which the following lines belong to
            in_block = False
    return fields


def _parse_values(value: str, scalar: Callable[[str], Scalar]) -> list[Scalar]:
    value = value.strip()
    if value.startswith("[") and value.endswith("]"):
        return [found for item in value[1:-1].split(",") if (found := scalar(item)) != ""]
    found = scalar(value)
    return [] if found == "" else [found]


def _parse_scalar(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    value = value.partition(" #")[0].strip()
    return "" if value in ("null", "~") else value


def _build_front_matter(end: int, fields: dict[str, list[str]]) -> FrontMatter:
    joined = {key: clean_title(", ".join(values)) for key, values in fields.items() if values}
    timestamps = (parse_timestamp(joined[key]) for key in MODIFIED_KEYS if key in joined)
    return FrontMatter(
        end=end,
        title=joined.get("title", ""),
        author=next((joined[key] for key in AUTHOR_KEYS if key in joined), None),
        modified=next((time for time in timestamps if time is not None), None),
        summary=next((" ".join(fields[key]) for key in SUMMARY_KEYS if fields.get(key)), ""),
        attrs={key: joined[key] for key in ATTRIBUTE_KEYS if joined.get(key)},
    )


def parse_timestamp(value: str) -> int | None:
    """Return an ISO date, or date and time, in seconds since 1970; UTC if it has no time zone.

    Return None if the value is not a date.
    """
    value = UTC_OFFSET.sub(r"\1:\2", value.strip())
    try:
        timestamp = datetime.fromisoformat(value)
        if timestamp.tzinfo is None:
            timestamp = timestamp.replace(tzinfo=UTC)
        return (timestamp - EPOCH) // timedelta(seconds=1)
    except (ValueError, OverflowError):
        return None
