"""Validation of blocks.

Blocks come from files and from programs; both are checked here, before anything is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from quire.core import chunking
from quire.core.types.blocks import TYPES, Block, Property
from quire.errors import InputError, unknown

ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:~-]{0,127}")
FILE_ID = re.compile(r"[0-9a-f]{32}")
"""The ids of files, commits and memories, which no block may take."""
MAX_NAME_LENGTH = 256
MAX_FILE_LENGTH = 4096
MAX_ENTRIES = 1000
"""The most properties, relations, links or mentions of one block."""


def normalize(block: Block) -> Block:
    """Return a block in its canonical form; raise `InputError` if it is invalid."""
    if block.id:
        check_id("id", block.id)
    if block.parent is not None:
        check_id("parent", block.parent)
    if block.type not in TYPES:
        raise unknown("type", block.type, TYPES, field="type")
    chunking.check_length("text", block.text)
    if not isinstance(block.file, str) or len(block.file) > MAX_FILE_LENGTH:
        raise InputError("is not the path of a file", field="file", value=block.file)
    for field, names in (("links", block.links), ("mentions", block.mentions)):
        check_names(field, names)
    for field, table in (("properties", block.properties), ("relations", block.relations)):
        check_names(field, table)
    for name, ids in block.relations.items():
        check_names(f"relation {name!r}", ids)
    properties = {name: parse_property(name, value) for name, value in block.properties.items()}
    return replace(
        block,
        properties={name: value for name, value in properties.items() if value is not None},
        relations={name: _unique(ids) for name, ids in block.relations.items() if ids},
        links=_unique(block.links),
        mentions=_unique(block.mentions),
    )


def check_id(field: str, name: str) -> None:
    """Raise `InputError` for a name that cannot be the id of a block."""
    if not ID.fullmatch(name) or FILE_ID.fullmatch(name):
        raise InputError(
            f"{name!r} is not an id",
            field=field,
            value=name,
            hint="use up to 128 letters, digits and `._:~-`, a letter or a digit first, but not 32 "
            "digits from 0 to f, which are the ids of files",
        )


def check_names(field: str, names: Iterable[str]) -> None:
    """Raise `InputError` for names that are empty, too long or too many."""
    if isinstance(names, str):  # its letters would be taken for names
        raise InputError(f"expected a list, as in [{names!r}]", field=field, value=names)
    listed = list(names)
    if len(listed) > MAX_ENTRIES:
        raise InputError(
            f"at most {MAX_ENTRIES} for one block, not {len(listed)}",
            field=field,
            value=len(listed),
        )
    for name in listed:
        if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME_LENGTH:
            raise InputError(
                f"{name!r} is not a name of up to {MAX_NAME_LENGTH} characters",
                field=field,
                value=name,
            )


def parse_property(name: str, value: Any) -> Property | None:
    """Return the value of a property in its canonical form; None: it has none."""
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(
            f"expected a finite number, not {value}", field=f"property {name!r}", value=value
        )
    if value is None or isinstance(value, str | int | float):
        return value
    raise InputError(
        "expected a text, a number, true, false or a list of texts",
        field=f"property {name!r}",
        value=value,
    )


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
