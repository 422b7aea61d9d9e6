"""Metadata: what is known of a record beside its text, as typed values by key.

A value is a text, a whole number, a number, true or false, or a list of texts. A text in the form
of a date (`2026-01-31`) or a moment (`2026-01-31T12:00:00Z`) is one, wherever it comes from, so
that JSON and front matter need no types of their own.

One value has one form: numbers without a fraction are whole numbers, moments are in UTC and in
seconds, and the number that is kept is the one that Python prints, which reads back as the same.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from quire.core.types.records import MetadataValue
from quire.errors import InputError

MAX_KEYS = 64
MAX_KEY_LENGTH = 64
MAX_TEXT_LENGTH = 1000
MAX_ITEMS = 64
MAX_INTEGER = (1 << 63) - 1
EXACT_FLOAT = 1 << 53
"""Above this, numbers with a fraction cannot be told from whole ones."""

TEXT, NUMBER, FLAG, DATE = "text", "number", "flag", "date"
"""The kinds of values; values of different kinds are never equal, and in no order."""
KINDS = (TEXT, NUMBER, FLAG, DATE)

KEY = r"[^\W\d][\w-]*(?:\.[\w-]+)*"
_KEY = re.compile(KEY)
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)
_DAY_LENGTH = len("2026-01-31")
_DAY_SECONDS = 86_400
_INTEGER = re.compile(r"-?\d{1,19}")
_NUMBER = re.compile(r"-?\d{1,300}\.\d{1,300}(?:[eE][+-]?\d{1,3})?")
_FLAGS = {"true": True, "false": False}

Scalar = str | int | float | bool
_SCALARS = (str, int, float)


def check_metadata(metadata: object, *, field: str = "metadata") -> dict[str, MetadataValue]:
    """Return metadata in the one form that it is kept in, by sorted keys; refuse anything else."""
    if not isinstance(metadata, Mapping):
        raise InputError(
            f"expected values by key, not {metadata!r}",
            field=field,
            value=metadata,
            hint='write {"team": "north"}',
        )
    if len(metadata) > MAX_KEYS:
        raise InputError(
            f"has {len(metadata)} keys; at most {MAX_KEYS} are allowed",
            field=field,
            hint="keep what you filter by, and put the rest into the text",
        )
    return {
        key: _check_value(key, metadata[key], field) for key in sorted(map(_check_key, metadata))
    }


def is_key(text: str) -> bool:
    """Return whether a text can be the key of a value."""
    return len(text) <= MAX_KEY_LENGTH and _KEY.fullmatch(text) is not None


def _check_key(key: object) -> str:
    if not isinstance(key, str) or not is_key(key):
        raise InputError(
            f"{key!r} is not a key of metadata",
            field="metadata",
            value=key,
            hint=f"use up to {MAX_KEY_LENGTH} letters, digits, `_`, `-` and `.`, a letter first",
        )
    return key


def _check_value(key: str, value: object, field: str) -> MetadataValue:
    if isinstance(value, list | tuple | set | frozenset):
        return _check_items(key, value, field)
    if isinstance(value, bool | int | float | str | date):
        return check_scalar(value, field=f"{field}.{key}")
    raise InputError(
        f"expected a text, a number, true or false, a date or a list of texts, not {value!r}",
        field=f"{field}.{key}",
        value=value,
        hint="leave out what has no value" if value is None else "put the rest into the text",
    )


def _check_items(key: str, value: Iterable[object], field: str) -> tuple[str, ...]:
    items = sorted(map(str, value)) if isinstance(value, set | frozenset) else list(value)
    if len(items) > MAX_ITEMS or not all(isinstance(item, str) for item in items):
        raise InputError(
            f"expected up to {MAX_ITEMS} texts, not {items!r}"[:200],
            field=f"{field}.{key}",
            value=value,
        )
    checked = (check_scalar(str(item), field=f"{field}.{key}") for item in items)
    return tuple(dict.fromkeys(map(str, checked)))


def check_scalar(value: Scalar | date, *, field: str = "") -> Scalar:
    """Return a single value in the one form that it is kept in."""
    if isinstance(value, date):
        return _format_moment(value) if isinstance(value, datetime) else value.isoformat()
    if not isinstance(value, str):
        return value if isinstance(value, bool) else _check_number(value, field)
    text = _check_text(value, field)
    if _DATE.fullmatch(text) is None:
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:  # the 31st of February is a text
        return text
    return text if len(text) == _DAY_LENGTH else _format_moment(moment)


def _check_number(value: float, field: str) -> int | float:
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise InputError(f"the number {value} is too large", field=field, value=value)
        return value
    if not math.isfinite(value):
        raise InputError(f"expected a number, not {value}", field=field, value=value)
    return int(value) if value.is_integer() and abs(value) < EXACT_FLOAT else value


def _check_text(text: str, field: str) -> str:
    if len(text) > MAX_TEXT_LENGTH:
        raise InputError(
            f"has {len(text)} characters; at most {MAX_TEXT_LENGTH} are allowed",
            field=field,
            hint="put it into the text of the document",
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError("is not valid Unicode", field=field) from error
    return text


def _format_moment(moment: datetime) -> str:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    except OverflowError:  # in the first or last hours of all years
        return moment.replace(tzinfo=None).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def read_value(text: str) -> Scalar:
    """Read a value as people write it: `3`, `2.5`, `true`, `2026-01-31`, `north`, `"3"`."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if text in _FLAGS:
        return _FLAGS[text]
    if _INTEGER.fullmatch(text) and abs(int(text)) <= MAX_INTEGER:
        return int(text)
    if _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return check_scalar(float(text))
    return text


def kind_of(value: Scalar) -> str:
    """Return the kind of a single value."""
    if isinstance(value, bool):
        return FLAG
    if isinstance(value, int | float):
        return NUMBER
    return DATE if is_date(value) else TEXT


def is_date(text: str) -> bool:
    """Return whether a checked text is a date or a moment."""
    if _DATE.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def seconds_of(text: str) -> tuple[int, int]:
    """Return the first and the last second of a date, or that of a moment twice."""
    moment = datetime.fromisoformat(text)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    start = int((aware - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    return start, start + (_DAY_SECONDS - 1 if len(text) == _DAY_LENGTH else 0)


def show(kind: str, value: str | float) -> Scalar:
    """Return a value of `entries` as it is written."""
    if kind == FLAG:
        return bool(value)
    if kind != DATE:
        return value
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(value))
    is_day = int(value) % _DAY_SECONDS == 0
    return moment.date().isoformat() if is_day else _format_moment(moment)


def entries(metadata: Mapping[str, MetadataValue]) -> Iterator[tuple[str, str, str | int | float]]:
    """Yield key, kind and comparable value of all values, once each; a list has one per item."""
    for key in sorted(metadata):
        value = metadata[key]
        if value == ():
            yield key, FLAG, -1  # which nothing equals: an empty list is there all the same
        for item in value if isinstance(value, tuple) else (value,):
            kind = kind_of(item)
            if kind == DATE:
                yield key, kind, seconds_of(str(item))[0]
            else:
                yield key, kind, int(item) if isinstance(item, bool) else item


# `json.dumps` would make an encoder for each.
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def encode(metadata: Mapping[str, MetadataValue]) -> str:
    """Serialize metadata; the texts of two are equal exactly if they are."""
    return _encode(dict(metadata))


def decode(text: str) -> dict[str, MetadataValue]:
    """Return the metadata that `encode` serialized; raise an error if it is something else."""
    values = json.loads(text)
    if not isinstance(values, dict):
        raise TypeError("expected an object")
    return {key: _decode_value(value) for key, value in values.items()}


def _decode_value(value: Any) -> MetadataValue:
    if isinstance(value, list) and all(isinstance(item, _SCALARS) for item in value):
        return tuple(value)
    if isinstance(value, _SCALARS):
        return value
    raise TypeError("expected a text, a number, a truth value or a list of them")
