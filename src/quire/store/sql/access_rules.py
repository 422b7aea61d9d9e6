"""The tables `rule` and `member`: access rules and groups, and how they take effect.

Rules are part of the owner's state. When they change, every record that they decide over moves to
its new access class in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quire.core import hashing, merkle
from quire.core.types import PUBLIC, AccessRule
from quire.errors import unknown
from quire.store import access
from quire.store.sql import records, rows
from quire.store.sql.connection import Connection
from quire.store.sql.transaction import ORIGINS, Transaction

DEFAULT = (PUBLIC,)


def set_rules(transaction: Transaction, origin: str, rules: Sequence[AccessRule]) -> None:
    """Replace the access rules of one origin, with immediate effect."""
    _check_origin(origin)
    for rule in rules:
        access.check_rule(rule)
    place = (transaction.space.id, origin)
    transaction.connection.execute("DELETE FROM rule WHERE space = ? AND origin = ?", place)
    transaction.connection.executemany(
        "INSERT INTO rule (space, origin, position, glob, acl) VALUES (?, ?, ?, ?, ?)",
        [
            (*place, position, rule.glob, access.canonical(rule.principals))
            for position, rule in enumerate(rules)
        ],
    )
    if _update_setting(transaction, f"rules {origin}"):
        _apply(transaction)


def set_groups(transaction: Transaction, origin: str, groups: Mapping[str, Sequence[str]]) -> None:
    """Replace the groups of one origin."""
    _check_origin(origin)
    for users in groups.values():
        access.refuse_string(users)
    wanted = sorted({(group, user) for group, users in groups.items() for user in users})
    for group, user in wanted:
        access.access_list([f"group:{group}", f"user:{user}"])  # refuses an invalid name
    place = (transaction.space.id, origin)
    transaction.connection.execute("DELETE FROM member WHERE space = ? AND origin = ?", place)
    transaction.connection.executemany(
        'INSERT INTO member (space, origin, name, "user") VALUES (?, ?, ?, ?)',
        [(*place, group, user) for group, user in wanted],
    )
    _update_setting(transaction, f"groups {origin}")


def set_default(transaction: Transaction, acl: tuple[str, ...]) -> None:
    """Set who may read what no rule matches."""
    transaction.space.access_default = access.canonical(acl)
    if _update_setting(transaction, "default"):
        _apply(transaction)


def read_rules(connection: Connection, space: str) -> dict[str, tuple[AccessRule, ...]]:
    """Return the access rules of a space by origin."""
    stored = connection.rows(
        "SELECT r.origin, r.glob, r.acl FROM rule r JOIN space p ON p.id = r.space "
        "WHERE p.name = ? ORDER BY r.position",
        (space,),
    )
    return {
        origin: tuple(
            AccessRule(glob, access.parse_acl(acl)) for of, glob, acl in stored if of == origin
        )
        for origin in ORIGINS
    }


def read_groups(connection: Connection, space: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the groups of a space and their members by origin."""
    stored = connection.rows(
        'SELECT m.origin, m.name, m."user" FROM member m JOIN space p ON p.id = m.space '
        'WHERE p.name = ? ORDER BY m.name, m."user"',
        (space,),
    )
    groups: dict[str, dict[str, tuple[str, ...]]] = {origin: {} for origin in ORIGINS}
    for origin, group, user in stored:
        groups[origin][group] = (*groups[origin].get(group, ()), user)
    return groups


def settings(transaction: Transaction) -> dict[str, hashing.Field]:
    """Return all access settings by name; one that is not set is empty."""
    values: dict[str, hashing.Field] = {}
    for origin in ORIGINS:
        place = (transaction.space.id, origin)
        values[f"rules {origin}"] = tuple(
            transaction.connection.rows(
                "SELECT glob, acl FROM rule WHERE space = ? AND origin = ? ORDER BY position",
                place,
            )
        )
        values[f"groups {origin}"] = tuple(
            transaction.connection.rows(
                'SELECT name, "user" FROM member WHERE space = ? AND origin = ? '
                'ORDER BY name, "user"',
                place,
            )
        )
    acl = access.parse_acl(transaction.space.access_default)
    values["default"] = () if acl == DEFAULT else (acl,)
    return values


def _check_origin(origin: str) -> None:
    if origin not in ORIGINS:
        raise unknown("origin of rules", origin, ORIGINS)


def _update_setting(transaction: Transaction, name: str) -> bool:
    """Update the leaf of a setting in the owner's state; return whether it changed.

    A setting that is empty has no leaf, so that stores without rules have equal roots whatever
    their history.
    """
    value = settings(transaction)[name]
    class_id = transaction.access_class(access.OWNER_ONLY)
    key, content = merkle.setting_leaf(name, value)
    leaf = (content, None) if value else None
    if transaction.trees.leaf(class_id, key) == leaf:
        return False
    if leaf is None:
        transaction.trees.remove(class_id, key)
    else:
        transaction.trees.set(class_id, key, content)
    return True


def _apply(transaction: Transaction) -> None:
    """Move the records that rules decide over to their new access classes."""
    transaction.rules = transaction.read_rules()
    ruled = transaction.connection.rows(
        f"SELECT {rows.RECORD}, r.number, r.class FROM record r "
        "WHERE r.space = ? AND (r.own_acl IS NULL OR r.paths != '[]')",
        (transaction.space.id,),
    )
    for *row, number, class_id in ruled:
        record = rows.record_of(row)
        audience = transaction.rules.audience(record)
        records.move_to_audience(transaction, number, record, audience, class_id)
