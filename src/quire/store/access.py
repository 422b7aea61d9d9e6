"""Who may read it?

Access is given to principals: `public`, `user:NAME`, `group:NAME`, `link:TOKEN` (whoever presents
the link). A bare name is a user, `@NAME` a group, `owner` nobody but the owner (who reads
everything anyway). What tells of several paths (a
commit) may be read by whoever may read them all. Records with the same access form a class;
everything that a viewer is given is computed over the classes that they may read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from quire.core.globs import Globs, is_glob, is_negated
from quire.core.types import PUBLIC, AccessRule, Record, Viewer
from quire.errors import InputError

Acl = tuple[str, ...]
Audience = Acl | tuple[Acl, ...]
"""Who may read: whoever is on the list; of several lists, whoever is on each of them."""

OWNER_ONLY: Acl = ()
_NAME = re.compile(r"[^\s:,@][^\s:,]*")


def principal(text: str) -> str | None:
    """Read one principal; None stands for the owner, who needs no mention."""
    if text == PUBLIC:
        return PUBLIC
    if text == "owner":
        return None
    kind, colon, name = text.partition(":")
    if not colon:
        kind, name = ("group", text[1:]) if text.startswith("@") else ("user", text)
    if kind not in {"user", "group", "link"} or not _NAME.fullmatch(name) or not name.isprintable():
        raise InputError(
            f"{text!r} is no principal: write `public`, `owner`, `NAME` or `user:NAME`, "
            "`@NAME` or `group:NAME`, `link:TOKEN`"
        )
    return f"{kind}:{name}"


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of a user or a group."""
    return bool(_NAME.fullmatch(text)) and text.isprintable()


def refuse_text(names: Iterable[str]) -> None:
    """Refuse a text in place of a list: its letters would be taken for names."""
    if isinstance(names, str):
        raise InputError(f"{names!r} is a text: give a list of names, as in [{names!r}]")


def access_list(principals: Iterable[str]) -> tuple[str, ...]:
    """Read an access list into its one canonical form; with `public` in it, public is all."""
    refuse_text(principals)
    named = {read for text in principals if (read := principal(text)) is not None}
    return (PUBLIC,) if PUBLIC in named else tuple(sorted(named))


def joint(acls: Iterable[Acl]) -> Audience:
    """Give access to those who are on every one of these lists, in its one canonical form."""
    asked = {access_list(acl) for acl in acls} - {(PUBLIC,)}
    if OWNER_ONLY in asked:
        return OWNER_ONLY
    lists = tuple(sorted(asked))
    return (lists[0] if len(lists) == 1 else lists) if lists else (PUBLIC,)


def canonical(reach: Audience) -> str:
    """Write who may read as text that is equal exactly if they are the same lists."""
    first = next(iter(reach), "")
    if isinstance(first, tuple):
        return json.dumps({"all": reach}, ensure_ascii=True, separators=(",", ":"))
    plain = access_list(text for text in reach if isinstance(text, str))
    return json.dumps(plain, ensure_ascii=True, separators=(",", ":"))


def parse(text: str) -> tuple[str, ...]:
    """Read what `canonical` wrote of one list."""
    return tuple(json.loads(text))


def deed(actor: str, acl: str) -> str:
    """Write who may know what someone did to a record: they themselves, if they may read it."""
    return json.dumps({"actor": actor, "acl": json.loads(acl)}, sort_keys=True)


def may_read(viewer: Viewer, text: str) -> bool:
    """Tell whether a viewer may read a class, by what `canonical` or `deed` wrote of it."""
    return _may_read(viewer, json.loads(text))


def _may_read(viewer: Viewer, told: Any) -> bool:
    if isinstance(told, list):
        return viewer.may_read(tuple(told))
    if "actor" in told:
        mine = viewer.owner or viewer.name == told["actor"]
        return mine and _may_read(viewer, told["acl"])
    return all(viewer.may_read(tuple(acl)) for acl in told["all"])


class Rules:
    """The access rules of a space in force: the last glob that matches a path decides."""

    def __init__(self, rules: Sequence[AccessRule], default: tuple[str, ...]) -> None:
        self._rules = [(matcher((rule.glob,)), access_list(rule.principals)) for rule in rules]
        self._default = access_list(default)

    def acl(self, path: str) -> tuple[str, ...]:
        """Tell who may read a path."""
        for spec, acl in reversed(self._rules):
            if spec.match(path):
                return acl
        return self._default

    def audience(self, record: Record) -> Audience:
        """Tell who may read a record: by its own list, else by its path, or by all that it names.

        Who may not read one of the paths that it tells of may not read it.
        """
        if not record.paths:
            return self.acl(record.path) if record.acl is None else access_list(record.acl)
        own = [] if record.acl is None else [record.acl]
        return joint([*own, *map(self.acl, record.paths)])


def check_rule(rule: AccessRule) -> None:
    """Refuse a rule that is none, or that no file could ever match."""
    matcher((rule.glob,))
    if is_negated(rule.glob):
        raise InputError(
            f"{rule.glob!r} would match no file: name the files that the rule is for "
            "(a name that begins with ! is written with \\ before it)"
        )
    access_list(rule.principals)


@lru_cache(maxsize=1024)
def matcher(globs: tuple[str, ...]) -> Globs:
    """Compile globs (as in .gitignore; the last that matches decides) or say which is wrong."""
    for glob in globs:
        if not is_glob(glob):
            raise InputError(f"{glob!r} is no glob: write a pattern as in .gitignore")
    return Globs(globs)


def members(groups: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, tuple[str, ...]]:
    """Fold group tables into one: each user with all groups, in the order of their names."""
    found: dict[str, set[str]] = {}
    for table in groups:
        for group, names in table.items():
            for name in names:
                found.setdefault(name, set()).add(group)
    return {name: tuple(sorted(held)) for name, held in found.items()}
