"""What does a document say about itself before it begins?

Front matter between `---` lines, and the header of mail-like fields that some
reStructuredText documents begin with. Only what is flat is understood: `key: value`, a list
in brackets, a list of `- item` lines, an indented text behind `>` or `|`; everything else is
passed over. Nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from quire.ingest.types import clean_title

FENCE = re.compile(r"---[ \t]*\n")
FENCE_END = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
LONGEST = 20_000
KEY = re.compile(r"([A-Za-z_][\w -]{0,40}?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)\Z")
BLOCK_TEXT = re.compile(r"[|>][+-]?\Z")
ITEM = re.compile(r"[ \t]*-[ \t]+(.+)\Z")
HEADER_LINE = re.compile(r"([A-Z][A-Za-z-]{1,30}):(?:[ \t]+(.*))?\Z")

MODIFIED_KEYS = ("updated", "last_modified", "lastmod", "modified", "date")
AUTHOR = ("author", "authors")
SUMMARY = ("description", "summary", "abstract")
KEPT = ("status", "tags", "type", "category", "categories")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
OFFSET = re.compile(r"[ ]([+-]\d\d):?(\d\d)\Z")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the front matter says, and where it ends."""

    end: int = 0
    title: str = ""
    author: str | None = None
    modified: int | None = None
    summary: str = ""
    attrs: Mapping[str, str] = field(default_factory=dict)


NONE = FrontMatter()


def parse(text: str) -> FrontMatter:
    """Read the front matter between `---` lines at a text's beginning."""
    fields, end = parse_fields(text)
    return _front_matter(end, fields) if end else NONE


def parse_fields(text: str) -> tuple[dict[str, list[str]], int]:
    """Give all fields of a front matter by their keys in small letters, and where it ends."""
    opening = FENCE.match(text)
    closing = opening and FENCE_END.search(text, opening.end(), opening.end() + LONGEST)
    if not opening or not closing:
        return {}, 0
    return _fields(text[opening.end() : closing.start()]), closing.end()


def parse_header(text: str) -> FrontMatter:
    """Read a header of `Name: value` lines that has a title, up to the first blank line."""
    fields, end = parse_header_fields(text)
    return _front_matter(end, fields) if fields.get("title") else NONE


def parse_header_fields(text: str) -> tuple[dict[str, list[str]], int]:
    """Give all fields of such a header by their keys in small letters, and where it ends."""
    end = text.find("\n\n", 0, LONGEST)
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


def _fields(text: str) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    key = ""
    in_block = False
    for line in text.split("\n"):
        if match := KEY.match(line):
            key = match[1].lower().replace("-", "_").replace(" ", "_")
            in_block = bool(BLOCK_TEXT.match((match[2] or "").strip()))
            fields[key] = [] if in_block else _values(match[2] or "")
        elif in_block and line[:1] in (" ", "\t"):
            fields[key] = [" ".join((*fields[key], line.strip()))]
        elif key and (match := ITEM.match(line)):
            fields[key].append(_scalar(match[1]))
        elif line.strip() and not line.startswith("#"):
            key = ""  # something nested: what follows belongs to it
            in_block = False
    return fields


def _values(value: str) -> list[str]:
    value = value.strip()
    if value.startswith("[") and value.endswith("]"):
        return [scalar for item in value[1:-1].split(",") if (scalar := _scalar(item))]
    scalar = _scalar(value)
    return [scalar] if scalar else []


def _scalar(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    value = value.partition(" #")[0].strip()
    return "" if value in ("null", "~") else value


def _front_matter(end: int, fields: dict[str, list[str]]) -> FrontMatter:
    joined = {key: clean_title(", ".join(values)) for key, values in fields.items() if values}
    moments = (parse_timestamp(joined[key]) for key in MODIFIED_KEYS if key in joined)
    return FrontMatter(
        end=end,
        title=joined.get("title", ""),
        author=next((joined[key] for key in AUTHOR if key in joined), None),
        modified=next((moment for moment in moments if moment is not None), None),
        summary=next((" ".join(fields[key]) for key in SUMMARY if fields.get(key)), ""),
        attrs={key: joined[key] for key in KEPT if joined.get(key)},
    )


def parse_timestamp(value: str) -> int | None:
    """Turn an ISO date, or date and time, into seconds since 1970; UTC unless it says else."""
    value = OFFSET.sub(r"\1:\2", value.strip())
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - EPOCH) // timedelta(seconds=1)
    except (ValueError, OverflowError):
        return None
