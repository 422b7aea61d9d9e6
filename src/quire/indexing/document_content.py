"""Turn what a caller brings (a text, bytes, messages, an object) into a document.

From the bytes on, it is read as a file is: the same formats, splitters, outlines and redaction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import date
from typing import Any

from quire.core import dates, hashing
from quire.core.metadata import check_metadata, check_scalar
from quire.core.types import Document, IngestSettings, NewDocument
from quire.errors import InputError, unknown
from quire.ingest.decode import NotText
from quire.ingest.formats import (
    FORMAT_TABLE,
    FORMATS_BY_SUFFIX,
    Format,
    compute_record_id,
    detect_format,
)
from quire.ingest.read import build_document
from quire.ingest.redact import redact, redact_metadata, redact_path
from quire.ingest.types import UnreadableFile, clean_title

MAX_PATH_LENGTH = 1000
MAX_FILLED = 1 << 20
"""Characters of a template with its members, unless something else is said."""
MINE = "@"
"""The documents of NAME, who is not the owner, are below `@NAME/`."""
RESERVED = (".quire", ".git")
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800, 253_402_300_799
"""What calendars have: the years 1 to 9999, in seconds since 1970."""
DEFAULT_TYPE = "markdown"
CHAT = "chat"
_BY_NAME: dict[str, tuple[Format, str]] = {}
for _format, _language, _ in FORMAT_TABLE:
    _BY_NAME.setdefault(_format.name, (_format, _language))
for _format, _language, _ in FORMAT_TABLE:
    _BY_NAME.setdefault(_language, (_format, _language))
_BY_NAME[CHAT] = _BY_NAME["json"]
TYPES = tuple(sorted(_BY_NAME))
_PLACE = re.compile(r"\{\{|\}\}|\{([\w.-]+)(\?)?\}|[{}]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False)
_REQUIRED = ("content", "path")
_FIELDS = tuple(item.name for item in fields(NewDocument))


def of_mapping(item: object, place: str) -> NewDocument:
    """Return a document that is given as a mapping; a member that is None is as if it were not."""
    if isinstance(item, NewDocument):
        return item
    if not isinstance(item, Mapping):
        raise InputError(f"expected an object with content and path, not {item!r:.80}", place=place)
    for name in item:
        if name not in _FIELDS:
            raise unknown("field", name, _FIELDS, place=place)
    for name in _REQUIRED:
        if name not in item:
            raise InputError("is missing", field=name, place=place)
    return NewDocument(
        **{name: value for name, value in item.items() if value is not None or name in _REQUIRED}
    )


def check_text(value: object, field: str) -> str:
    """Return a text; refuse anything else."""
    if not isinstance(value, str):
        raise InputError(f"expected a text, not {value!r:.80}", field=field, value=value)
    return value


def check_share(value: Any) -> tuple[str, ...]:
    """Return who may read a document; refuse what is no list of names."""
    is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    names = tuple(value) if is_list else (None,)
    if not all(isinstance(name, str) for name in names):
        raise InputError(
            f"expected a list of names, not {value!r:.80}",
            field="share",
            value=value,
            hint='such as ["ana", "@team"]',
        )
    return names


def check_path(path: object) -> str:
    """Return the path of a document; refuse what could not be that of a file."""
    if not isinstance(path, str) or not path:
        raise InputError("a document needs a path", field="path", value=path, hint="such as crm/42")
    parts = path.split("/")
    reason = ""
    if len(path) > MAX_PATH_LENGTH:
        reason = f"has more than {MAX_PATH_LENGTH} characters"
    elif not path.isprintable():
        reason = "contains characters that cannot be printed"
    elif any(part in ("", ".", "..") for part in parts) or "\\" in path:
        reason = "is not a path such as crm/42"
    elif parts[0] in RESERVED or path.startswith(MINE):
        reason = f"begins with {parts[0] if parts[0] in RESERVED else MINE!r}, which is reserved"
    if reason:
        raise InputError(
            reason,
            field="path",
            value=path,
            hint="name it like a file below the project; a URL can be metadata",
        )
    return path


def stored_path(path: str, author: str | None) -> str:
    """Return the path under which a document is stored: that of others than the owner is theirs."""
    return path if author is None else f"{MINE}{author}/{path}"


def document_id(path: str, author: str | None) -> str:
    """Return the id of a document by its stored path.

    That of the owner's is the one of a file at that path, so that links lead to it. That of others
    is one that no file has: what they put must not depend on which files there are.
    """
    return compute_record_id(path) if author is None else hashing.identifier("put", author, path)


def _refuse_tokens(field: str, name: str, settings: IngestSettings) -> None:
    """Refuse a path or a key with a token in it: it is a name, and cannot be redacted."""
    shown, reason = redact_path(name, settings)
    if reason:
        raise InputError(
            reason.removeprefix("its path ").partition(";")[0],
            field=field,
            value=shown,
            hint="use another name, or allow it by [ingest] allow_secrets",
        )


def build(
    new: NewDocument,
    settings: IngestSettings,
    *,
    author: str | None,
    acl: tuple[str, ...] | None,
    origin: str,
) -> Document:
    """Read a document; `author` is None for the owner."""
    path = stored_path(check_path(new.path), author)
    _refuse_tokens("path", new.path, settings)
    for key in new.metadata or ():
        _refuse_tokens("metadata", str(key), settings)
    data, type_ = _content(new, settings.max_bytes)
    metadata = check_metadata(new.metadata)
    read_as = _read_as(new, type_)
    if len(data) > settings.max_bytes:
        raise InputError(
            f"has {len(data)} bytes; at most {settings.max_bytes} are read",
            field="content",
            place=path,
            hint="split it, or raise [ingest] max_bytes",
        )
    try:
        built = build_document(
            path, data, settings, record_id=document_id(path, author), read_as=read_as
        )
        stated = redact_metadata(path, metadata, settings)
        title, named = (redact(path, text, settings).text for text in (new.title, new.author))
    except (NotText, UnreadableFile) as error:
        raise InputError(f"cannot be read: {error}", field="content", place=new.path) from error
    if not built.chunks:
        raise InputError("the document is empty", field="content", place=new.path)
    if type_ == CHAT and built.record.kind != "conversation":
        raise InputError(
            "is not a conversation",
            field="content",
            place=new.path,
            hint='write messages such as {"role": "user", "content": "..."}',
        )
    modified = moment(new.modified, "modified")
    record = replace(
        built.record,
        title=clean_title(title) or built.record.title,
        author=author if author is not None else (named or built.record.author),
        modified=built.record.modified if modified is None else modified,
        acl=acl,
        metadata=check_metadata({**built.record.metadata, **stated}),
        expires=moment(new.expires, "expires", after=True),
        origin=origin,
    )
    return replace(built, record=record)


def moment(value: int | str | date | None, field: str, *, after: bool = False) -> int | None:
    """Return a date or a moment in seconds; with `after`, a date stands for the end of its day."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        if not FIRST_MOMENT <= value <= LAST_MOMENT:
            raise InputError(
                f"expected seconds since 1970, of a year from 1 to 9999, not {value}",
                field=field,
                value=value,
            )
        return value
    if isinstance(value, date):
        value = str(check_scalar(value))
    if not isinstance(value, str):
        raise InputError(f"expected a date, not {value!r}", field=field, value=value)
    is_day = len(value) <= len("2026-01-31")
    return dates.parse_date(field, value, end=after) + (after and is_day)


def _read_as(new: NewDocument, type_: str) -> tuple[Format, str] | None:
    if type_:
        if type_ not in _BY_NAME:
            raise unknown("type", type_, TYPES, field="type")
        return _BY_NAME[type_]
    name = new.path.rpartition("/")[2].lower()
    known = name in FORMATS_BY_SUFFIX or name[name.rfind(".") :] in FORMATS_BY_SUFFIX
    return detect_format(new.path) if known else _BY_NAME[DEFAULT_TYPE]


def _content(new: NewDocument, most: int) -> tuple[bytes, str]:
    """Return the bytes of a document, and its type; what is made of an object has a limit."""
    content, type_ = new.content, new.type
    if isinstance(content, bytes | bytearray | memoryview):
        data = bytes(content)
        return data, type_ or ("pdf" if data.startswith(b"%PDF-") else "")
    if new.template or isinstance(content, Mapping):
        return _from_object(new, most), type_ or ("" if new.template else "json")
    if isinstance(content, str):
        try:
            return content.encode(), type_
        except UnicodeEncodeError as error:
            raise InputError("is not valid Unicode", field="content", place=new.path) from error
    if isinstance(content, Sequence) and content and all(isinstance(m, Mapping) for m in content):
        messages = [_message(new.path, message) for message in content]
        return _json(new.path, messages, most), type_ or CHAT
    raise InputError(
        f"expected a text, bytes, messages or an object, not {content!r:.80}",
        field="content",
        place=new.path,
    )


def _message(path: str, message: Mapping[str, Any]) -> dict[str, Any]:
    for name in ("role", "content"):
        if name not in message:
            raise InputError(f"a message has no {name}: {dict(message)!r:.80}", place=path)
    plain = dict(message)
    at = plain.pop("at", None)
    if at is not None:
        plain["timestamp"] = moment(at, "at")
    return plain


def _from_object(new: NewDocument, most: int) -> bytes:
    if not isinstance(new.content, Mapping):
        raise InputError("needs an object as content", field="template", place=new.path)
    if not new.template:
        return _json(new.path, new.content, most)
    return of_row(new.template, new.content, "template", new.path, most).encode()


def of_row(
    template: str, row: Mapping[str, Any], field: str, place: str, most: int = MAX_FILLED
) -> str:
    """Return a text with the members of an object in the place of their names in braces.

    A short template can name a long member often: more than `most` characters are refused.
    """
    left = most

    def fill(match: re.Match[str]) -> str:
        nonlocal left
        text = write_place(match)
        left -= len(text)
        if left < 0:
            raise _too_large(field, place, most)
        return text

    def write_place(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if not match[1]:
            raise InputError(
                f"{match[0]!r} stands alone",
                field=field,
                value=template,
                hint="write {{ and }} for braces",
            )
        try:
            value = _member(row, match[1])
        except LookupError:
            if match[2]:
                return ""
            raise InputError(
                f"names {{{match[1]}}}, which the object does not have",
                field=field,
                value=template,
                place=place,
                hint=f"write {{{match[1]}?}} for what may be missing",
            ) from None
        if value is None:
            return ""
        return value if isinstance(value, str) else _json(place, value, left).decode().strip()

    return _PLACE.sub(fill, template)


def _member(value: Any, name: str) -> Any:
    """Return a member of an object by its dotted name; raise `LookupError` if it has none."""
    for part in name.split("."):
        if isinstance(value, Sequence) and not isinstance(value, str) and part.isdecimal():
            value = value[int(part)]
        elif isinstance(value, Mapping):
            value = value[part]
        else:
            raise LookupError(part)
    return value


def _json(path: str, value: object, most: int) -> bytes:
    parts: list[str] = []
    left = most
    try:
        for part in _ENCODER.iterencode(value):
            parts.append(part)
            left -= len(part)  # of which most may be what a deep member is indented by
            if left < 0:
                raise _too_large("content", path, most)
        return ("".join(parts) + "\n").encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", field="content", place=path) from error


def _too_large(field: str, place: str, most: int) -> InputError:
    return InputError(
        f"would be a text of more than {most} characters",
        field=field,
        place=place,
        hint="split it, or raise [ingest] max_bytes",
    )
