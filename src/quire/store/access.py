"""Who may read it?

Access is given to principals: `public`, `user:NAME`, `group:NAME`. A bare name is a user, `@NAME`
a group, `owner` nobody but the owner (who reads everything anyway). Records with the same access
form a class; everything that a viewer is given is computed over the classes that they may read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from quire.errors import InputError
from quire.globs import Globs, is_glob, is_negated
from quire.values import PUBLIC, AccessRule, Viewer

OWNER_ONLY: tuple[str, ...] = ()
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
    if kind not in {"user", "group"} or not _NAME.fullmatch(name) or not name.isprintable():
        raise InputError(
            f"{text!r} is no principal: write `public`, `owner`, `NAME` or `user:NAME`, "
            "`@NAME` or `group:NAME`"
        )
    return f"{kind}:{name}"


def is_name(text: str) -> bool:
    """Tell whether a text can be the name of a user or a group."""
    return bool(_NAME.fullmatch(text)) and text.isprintable()


def access_list(principals: Iterable[str]) -> tuple[str, ...]:
    """Read an access list into its one canonical form; with `public` in it, public is all."""
    named = {read for text in principals if (read := principal(text)) is not None}
    return (PUBLIC,) if PUBLIC in named else tuple(sorted(named))


def canonical(acl: Sequence[str]) -> str:
    """Write an access list as text that is equal exactly if the lists are."""
    return json.dumps(access_list(acl), ensure_ascii=True, separators=(",", ":"))


def parse(text: str) -> tuple[str, ...]:
    """Read what `canonical` wrote."""
    return tuple(json.loads(text))


def deed(actor: str, acl: str) -> str:
    """Write who may know what someone did to a record: they themselves, if they may read it."""
    return json.dumps({"actor": actor, "acl": json.loads(acl)}, sort_keys=True)


def may_read(viewer: Viewer, text: str) -> bool:
    """Tell whether a viewer may read a class, by what `canonical` or `deed` wrote of it."""
    told = json.loads(text)
    if isinstance(told, dict):
        mine = viewer.owner or viewer.name == told["actor"]
        return mine and viewer.may_read(tuple(told["acl"]))
    return viewer.may_read(tuple(told))


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
