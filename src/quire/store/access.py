"""Access control: principals, access lists and rules.

Access is granted to principals: `public`, `user:NAME`, `group:NAME`, or `link:TOKEN` (whoever
presents the link). A bare name is a user, `@NAME` a group, and `owner` nobody but the owner, who
reads everything anyway. A record about several paths (a commit) may be read by whoever may read
all of them. Records with the same access form a class; everything that a viewer gets is computed
over the classes that they may read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from quire.core.globs import Globs, is_glob, is_negated
from quire.core.types import BLOCK_PREFIX, PUBLIC, AccessRule, Record, Viewer
from quire.core.types.records import FILE, SHOWN_PARTS, shown_file
from quire.errors import InputError

Acl = tuple[str, ...]
Audience = Acl | tuple[Acl, ...]
"""Who may read: everybody on the list; with several lists, everybody who is on each of them."""

OWNER_ONLY: Acl = ()
OWN_ACCESS = "own"
"""The attribute with the access list that a block has of its own."""
_NAME = re.compile(r"[^\s:,@][^\s:,]*")


def parse_principal(text: str) -> str | None:
    """Return a principal in its canonical form; None stands for the owner."""
    if text == PUBLIC:
        return PUBLIC
    if text == "owner":
        return None
    kind, colon, name = text.partition(":")
    if not colon:
        kind, name = ("group", text[1:]) if text.startswith("@") else ("user", text)
    if kind not in {"user", "group", "link"} or not is_name(name):
        raise InputError(
            f"{text!r} is not a principal",
            value=text,
            hint="write `public`, `owner`, `NAME` or `user:NAME`, `@NAME` or `group:NAME`, "
            "or `link:TOKEN`",
        )
    return f"{kind}:{name}"


def is_name(text: str) -> bool:
    """Return whether a text can be the name of a user or a group."""
    return bool(_NAME.fullmatch(text)) and text.isprintable()


def refuse_string(names: Iterable[str]) -> None:
    """Refuse a string in place of a list: its characters would be taken for names."""
    if isinstance(names, str):
        raise InputError(
            f"expected a list of names, not the string {names!r}",
            value=names,
            hint=f"write [{names!r}]",
        )


def access_list(principals: Iterable[str]) -> Acl:
    """Return an access list in its canonical form: sorted, and `public` alone if it is in it."""
    refuse_string(principals)
    parsed = {name for text in principals if (name := parse_principal(text)) is not None}
    return (PUBLIC,) if PUBLIC in parsed else tuple(sorted(parsed))


def intersect(acls: Iterable[Acl]) -> Audience:
    """Return the audience of those who are on every one of these lists, in canonical form."""
    restrictive = {access_list(acl) for acl in acls} - {(PUBLIC,)}
    if OWNER_ONLY in restrictive:
        return OWNER_ONLY
    lists = tuple(sorted(restrictive))
    return (lists[0] if len(lists) == 1 else lists) if lists else (PUBLIC,)


def canonical(audience: Audience) -> str:
    """Serialize an audience; the texts of two audiences are equal exactly if they are."""
    first = next(iter(audience), "")
    if isinstance(first, tuple):
        return json.dumps({"all": audience}, ensure_ascii=True, separators=(",", ":"))
    acl = access_list(text for text in audience if isinstance(text, str))
    return json.dumps(acl, ensure_ascii=True, separators=(",", ":"))


def canonical_event(actor: str, acl: str) -> str:
    """Serialize the audience of an event: its actor, as long as they may read the record."""
    return json.dumps({"actor": actor, "acl": json.loads(acl)}, sort_keys=True)


def parse_acl(text: str) -> Acl:
    """Parse a single list that `canonical` serialized."""
    return tuple(json.loads(text))


def parse_audience(text: str) -> Audience:
    """Parse an audience that `canonical` serialized."""
    data = json.loads(text)
    return tuple(map(tuple, data["all"])) if isinstance(data, dict) else tuple(data)


def may_read(viewer: Viewer, text: str) -> bool:
    """Return whether a viewer belongs to a serialized audience."""
    return _may_read(viewer, json.loads(text))


def _may_read(viewer: Viewer, audience: Any) -> bool:
    if isinstance(audience, list):
        return viewer.may_read(tuple(audience))
    if "actor" in audience:
        is_actor = viewer.owner or viewer.name == audience["actor"]
        return is_actor and _may_read(viewer, audience["acl"])
    return all(viewer.may_read(tuple(acl)) for acl in audience["all"])


def visible_record(viewer: Viewer, record: Record) -> Record:
    """Return a record as a viewer is shown it: of its access lists only what concerns them."""
    if viewer.owner:
        return record
    # A block without a list of its own has that of its parent, which others may have written.
    inherited = record.kind.startswith(BLOCK_PREFIX) and OWN_ACCESS not in record.attrs
    author = None if inherited else record.author
    attrs = record.attrs
    if OWN_ACCESS in attrs and not (viewer.name and viewer.name == author):
        attrs = {name: value for name, value in attrs.items() if name != OWN_ACCESS}
    if SHOWN_PARTS in attrs and not (viewer.name and viewer.name == record.author):
        shown = shown_file(attrs)
        attrs = {name: attrs[name] for name in attrs if name not in (FILE, SHOWN_PARTS)}
        attrs |= {FILE: shown} if shown else {}
    return replace(record, acl=viewer.shown(record.acl, author), attrs=attrs)


class Rules:
    """The access rules of a space: the last glob that matches a path decides."""

    def __init__(self, rules: Sequence[AccessRule], default: Acl) -> None:
        self._rules = [(matcher((rule.glob,)), access_list(rule.principals)) for rule in rules]
        self._default = access_list(default)

    def acl(self, path: str) -> Acl:
        """Return the access list of a path."""
        for globs, acl in reversed(self._rules):
            if globs.match(path):
                return acl
        return self._default

    def audience(self, record: Record) -> Audience:
        """Return who may read a record: by its own list, else by its path.

        A record about several paths is only for those who may read all of them.
        """
        if not record.paths:
            return self.acl(record.path) if record.acl is None else access_list(record.acl)
        own = [] if record.acl is None else [record.acl]
        return intersect([*own, *map(self.acl, record.paths)])


def check_rule(rule: AccessRule) -> None:
    """Refuse an invalid rule, and one that no file could ever match."""
    matcher((rule.glob,))
    if is_negated(rule.glob):
        raise InputError(
            f"the glob {rule.glob!r} would match no file",
            value=rule.glob,
            hint="name the files that the rule is for (escape a leading ! with \\)",
        )
    access_list(rule.principals)


@lru_cache(maxsize=1024)
def matcher(globs: tuple[str, ...]) -> Globs:
    """Compile globs as in .gitignore: the last one that matches decides."""
    for glob in globs:
        if not is_glob(glob):
            raise InputError(
                f"{glob!r} is not a glob", value=glob, hint="write a pattern as in .gitignore"
            )
    return Globs(globs)
