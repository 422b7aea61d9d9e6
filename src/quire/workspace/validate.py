"""Is this a block at all?

Blocks come from files and from programs; both are looked at here, before anything is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from quire.core import chunking
from quire.core.types.blocks import TYPES, Block, Property
from quire.errors import InputError

ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:~-]{0,127}")
OTHERS_ID = re.compile(r"[0-9a-f]{32}")
"""So are files, commits and memories named: no block may come to stand in their place."""
LONGEST_NAME = 256
MOST = 1000
"""So many properties, relations, links or mentions are enough for one block."""


def checked(block: Block) -> Block:
    """Give a block in its one form, or say what is wrong with it."""
    if block.id:
        check_id("id", block.id)
    if block.parent is not None:
        check_id("parent", block.parent)
    if block.type not in TYPES:
        raise InputError(f"there is no type {block.type!r}: there are {', '.join(TYPES)}")
    chunking.check_length("text", block.text)
    for what, names in (("links", block.links), ("mentions", block.mentions)):
        check_names(what, names)
    for what, table in (("properties", block.properties), ("relations", block.relations)):
        check_names(what, table)
    for name, ids in block.relations.items():
        check_names(f"relation {name!r}", ids)
    held = {name: property_of(name, value) for name, value in block.properties.items()}
    return replace(
        block,
        properties={name: value for name, value in held.items() if value is not None},
        relations={name: _once(ids) for name, ids in block.relations.items() if ids},
        links=_once(block.links),
        mentions=_once(block.mentions),
    )


def check_id(what: str, name: str) -> None:
    """Refuse what cannot be the id of a block."""
    if not ID.fullmatch(name) or OTHERS_ID.fullmatch(name):
        raise InputError(
            f"{what} is {name!r}: an id has up to 128 letters, digits and `._:~-`, begins with a "
            "letter or a digit, and is not 32 digits from 0 to f (files are named so)"
        )


def check_names(what: str, names: Iterable[str]) -> None:
    """Refuse names that are empty, too long or too many."""
    if isinstance(names, str):  # its letters would be taken for names
        raise InputError(f"{what} is {names!r}: give a list, as in [{names!r}]")
    listed = list(names)
    if len(listed) > MOST:
        raise InputError(f"{len(listed)} {what}: at most {MOST} for one block")
    for name in listed:
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
            raise InputError(f"{what}: {name!r} is no name of up to {LONGEST_NAME} characters")


def property_of(name: str, value: Any) -> Property | None:
    """Read the value of a property; None: it has none."""
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return tuple(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"the property {name!r} is {value}: give a number that there is")
    if value is None or isinstance(value, str | int | float):
        return value
    raise InputError(f"the property {name!r} is neither a text, a number, true, false nor texts")


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
