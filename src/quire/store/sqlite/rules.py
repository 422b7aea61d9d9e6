"""How do access rules take effect?

Rules are rows, and part of the owner's state. When they change, every file record that they
decide over is moved to its new access class in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quire.core import hashing, merkle
from quire.core.types import PUBLIC, AccessRule
from quire.errors import InputError
from quire.store import access
from quire.store.sqlite import records, rows
from quire.store.sqlite.transaction import ORIGINS, Change

DEFAULT = (PUBLIC,)


def set_rules(change: Change, origin: str, rules: Sequence[AccessRule]) -> None:
    """Replace the access rules of one origin, effective now."""
    _known(origin)
    for rule in rules:
        access.check_rule(rule)
    at = (change.space.id, origin)
    change.connection.execute("DELETE FROM rule WHERE space = ? AND origin = ?", at)
    change.connection.executemany(
        "INSERT INTO rule (space, origin, position, glob, acl) VALUES (?, ?, ?, ?, ?)",
        [
            (*at, position, rule.glob, access.canonical(rule.principals))
            for position, rule in enumerate(rules)
        ],
    )
    if _renew(change, f"rules {origin}"):
        _apply(change)


def set_groups(change: Change, origin: str, groups: Mapping[str, Sequence[str]]) -> None:
    """Replace the groups of one origin."""
    _known(origin)
    for users in groups.values():
        access.refuse_text(users)
    wanted = sorted({(group, user) for group, users in groups.items() for user in users})
    for group, user in wanted:
        access.access_list([f"group:{group}", f"user:{user}"])  # refuses what is no name
    at = (change.space.id, origin)
    change.connection.execute("DELETE FROM member WHERE space = ? AND origin = ?", at)
    change.connection.executemany(
        "INSERT INTO member (space, origin, name, user) VALUES (?, ?, ?, ?)",
        [(*at, group, user) for group, user in wanted],
    )
    _renew(change, f"groups {origin}")


def set_default(change: Change, acl: tuple[str, ...]) -> None:
    """Say who may read files that no rule matches."""
    change.space.access_default = access.canonical(acl)
    if _renew(change, "default"):
        _apply(change)


def settings(change: Change) -> dict[str, hashing.Field]:
    """Give all settings that decide who reads what, by name; what is not set is empty."""
    found: dict[str, hashing.Field] = {}
    for origin in ORIGINS:
        at = (change.space.id, origin)
        found[f"rules {origin}"] = tuple(
            change.connection.rows(
                "SELECT glob, acl FROM rule WHERE space = ? AND origin = ? ORDER BY position", at
            )
        )
        found[f"groups {origin}"] = tuple(
            change.connection.rows(
                "SELECT name, user FROM member WHERE space = ? AND origin = ? ORDER BY name, user",
                at,
            )
        )
    acl = access.parse(change.space.access_default)
    found["default"] = () if acl == DEFAULT else (acl,)
    return found


def _known(origin: str) -> None:
    if origin not in ORIGINS:
        raise InputError(f"{origin!r} is no origin of rules; there are {', '.join(ORIGINS)}")


def _renew(change: Change, name: str) -> bool:
    """Make a setting part of the owner's state; tells whether that changed anything.

    What is not set leaves no leaf: a store without rules has one root, however it got there.
    """
    value = settings(change)[name]
    held = change.access_class(access.OWNER_ONLY)
    key, content = merkle.setting_leaf(name, value)
    leaf = (content, None) if value else None
    if change.trees.leaf(held, key) == leaf:
        return False
    if leaf is None:
        change.trees.remove(held, key)
    else:
        change.trees.set(held, key, content)
    return True


def _apply(change: Change) -> None:
    change.rules = change.read_rules()
    found = change.connection.rows(
        f"SELECT {rows.RECORD}, r.number, r.class FROM record r "
        "WHERE r.space = ? AND (r.own_acl IS NULL OR r.paths != '[]')",
        (change.space.id,),
    )
    for *row, number, held in found:
        record = rows.record_of(row)
        records.reclass(change, number, record, change.rules.audience(record), held)
