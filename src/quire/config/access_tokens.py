"""The file of access tokens: who may use the HTTP service of a store, as whom, for how long.

It lies in the user's own configuration folder, never beside the store: a store that came with
somebody else's project must not bring a token that they know. Of a token only a hash is kept, so
that whoever reads the file can use none of them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quire.core import hashing
from quire.core.types import OWNER, Viewer
from quire.errors import ConfigError, InputError, unknown
from quire.system import platform
from quire.system.runtime import Lock

FOLDER = "tokens"
VERSION = 1
PREFIX = "quire"
"""Tokens look like `quire_ID_SECRET`, so that scanners of secrets can know them."""
SCOPES = ("read", "write", "admin")
"""What a token allows; each includes those before it."""
READ, WRITE, ADMIN = SCOPES
MAX_LENGTH = 200
"""No header with more characters can hold a token."""
MAX_LABEL = 100
_SECRET_BYTES = 32
_NO_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A token as it is kept: what it allows, and the hash of its secret part."""

    id: str
    digest: str
    scope: str
    created: int
    """Seconds since 1970, as below."""
    viewer: str | None = None
    """Who reads and writes with it; None: the owner."""
    groups: tuple[str, ...] = ()
    expires: int | None = None
    label: str = ""
    former: str = ""
    """The hash of the secret before the last rotation."""
    former_until: int = 0
    chat: bool = False
    """Whether chats may be passed on with it, which the owner's key at the endpoint pays for."""

    @property
    def reader(self) -> Viewer:
        """The viewer that requests with it read as."""
        return OWNER if self.viewer is None else Viewer(self.viewer, self.groups)

    def allows(self, scope: str) -> bool:
        """Tell whether it has a scope."""
        return SCOPES.index(scope) <= SCOPES.index(self.scope)


def default_file(store: Path, space: str, environment: Mapping[str, str]) -> Path:
    """Return the file of the tokens of one space of a store."""
    if environment.get("QUIRE_TOKENS"):
        return Path(environment["QUIRE_TOKENS"])
    above = platform.user_config_folder(environment)
    if above is None:
        raise ConfigError(
            "there is no place to keep access tokens",
            hint="set HOME or XDG_CONFIG_HOME, or name a file in QUIRE_TOKENS",
        )
    name = hashing.identifier("tokens", str(store.absolute()), space)
    return above / "quire" / FOLDER / f"{name}.json"


class TokenFile:
    """The access tokens of one space of a store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp: tuple[int, ...] | None = None
        self._tokens: dict[str, AccessToken] = {}

    def find(self, text: str, at: int) -> AccessToken | None:
        """Return the token that a text is, if it is valid at a time.

        The hash is compared in constant time, also where there is no token of that id.
        """
        parts = text.split("_", 2) if len(text) <= MAX_LENGTH else []
        name, secret = (parts[1], parts[2]) if len(parts) == 3 and parts[0] == PREFIX else ("", "")
        token = self._current().get(name)
        digest = _digest(secret)
        known = (token.digest, token.former or _NO_HASH) if token else (_NO_HASH, _NO_HASH)
        is_current = hmac.compare_digest(digest, known[0])
        is_former = hmac.compare_digest(digest, known[1])
        if token is None or (token.expires is not None and token.expires <= at):
            return None
        return token if is_current or (is_former and at < token.former_until) else None

    def create(
        self,
        *,
        at: int,
        viewer: str | None = None,
        groups: Iterable[str] = (),
        scope: str = READ,
        expires: int | None = None,
        label: str = "",
        chat: bool = False,
    ) -> tuple[AccessToken, str]:
        """Create a token; return it and its text, which is not kept and never shown again."""
        if scope not in SCOPES:
            raise unknown("scope", scope, SCOPES, field="scope")
        if viewer is None and tuple(groups):
            raise InputError(
                "the owner reads everything and is in no group",
                field="groups",
                hint="name a {viewer}, or leave out {groups}",
            )
        if len(label) > MAX_LABEL or not label.isprintable():
            raise InputError(
                f"expected at most {MAX_LABEL} printable characters", field="label", value=label
            )
        if expires is not None and expires <= at:
            raise InputError("this is in the past", field="expires", value=expires)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        token = AccessToken(
            secrets.token_hex(6),
            _digest(secret),
            scope,
            at,
            viewer,
            tuple(groups),
            expires,
            label,
            chat=chat,
        )
        self._change(lambda tokens: {**tokens, token.id: token})
        return token, f"{PREFIX}_{token.id}_{secret}"

    def rotate(self, name: str, *, at: int, grace: int = 0) -> tuple[AccessToken, str]:
        """Give a token another secret; the former one is valid for `grace` seconds more."""
        secret = secrets.token_urlsafe(_SECRET_BYTES)

        def change(tokens: dict[str, AccessToken]) -> dict[str, AccessToken]:
            old = _get(tokens, name)
            former = old.digest if grace else ""
            new = replace(old, digest=_digest(secret), former=former, former_until=at + grace)
            return {**tokens, name: new}

        return self._change(change)[name], f"{PREFIX}_{name}_{secret}"

    def revoke(self, name: str) -> AccessToken:
        """Delete a token: from now on it opens nothing."""
        token = _get(self._current(), name)
        self._change(lambda tokens: {key: each for key, each in tokens.items() if key != name})
        return token

    # --- the file ------------------------------------------------------------------------------

    def _current(self) -> dict[str, AccessToken]:
        """Return the tokens as they are on disk now."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._tokens = None, {}
            return self._tokens
        except OSError as error:
            raise self._unusable(f"cannot be read: {error.strerror or error}") from error
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode, status.st_uid)
        if stamp != self._stamp:
            self._tokens, self._stamp = self._read(), stamp
        return self._tokens

    def _read(self) -> dict[str, AccessToken]:
        try:
            data, status = platform.read_regular(self.path)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unusable(f"cannot be read: {error.strerror or error}") from error
        if platform.is_foreign(status) or platform.is_open_to_others(status):
            raise self._unusable("other users could have read or written it", "run `chmod 600`")
        try:
            tokens = [_parse(item) for item in json.loads(data)["tokens"]]
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            raise self._unusable("this is not a file of tokens", "restore or delete it") from None
        return {token.id: token for token in tokens}

    def _change(
        self, change: Callable[[dict[str, AccessToken]], dict[str, AccessToken]]
    ) -> dict[str, AccessToken]:
        with self._locked():
            tokens = change(self._read())
            data = {"version": VERSION, "tokens": [_fields(token) for token in tokens.values()]}
            platform.replace_file(self.path, f"{json.dumps(data, indent=1)}\n".encode())
        return tokens

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let one process at a time read the file and write it again."""
        lock = Lock(self.path.with_name(f"{self.path.name}.lock"))
        try:
            platform.make_private_folder(self.path.parent)
            lock.acquire(wait=True)
            yield
        except OSError as error:
            raise self._unusable(f"cannot be written: {error.strerror or error}") from error
        finally:
            lock.release()

    def _unusable(self, problem: str, hint: str = "") -> ConfigError:
        return ConfigError(problem, place=str(self.path), hint=hint)

    # Last in the class: below it `list` would no longer mean the type.
    def list(self) -> tuple[AccessToken, ...]:
        """List the tokens, the oldest first."""
        return tuple(sorted(self._current().values(), key=lambda token: (token.created, token.id)))


def _digest(secret: str) -> str:
    """Hash the secret part: it is random and long, so that a slow hash would protect no more."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _get(tokens: Mapping[str, AccessToken], name: str) -> AccessToken:
    if name not in tokens:
        raise InputError(f"no token has the id {name!r}", value=name, hint="see `quire token list`")
    return tokens[name]


def _fields(token: AccessToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "sha256": token.digest,
        "scope": token.scope,
        "created": token.created,
        "viewer": token.viewer,
        "groups": list(token.groups),
        "expires": token.expires,
        "label": token.label,
        "former": token.former,
        "former_until": token.former_until,
        "chat": token.chat,
    }


def _parse(item: Mapping[str, Any]) -> AccessToken:
    if item["scope"] not in SCOPES:
        raise ValueError(item["scope"])
    return AccessToken(
        str(item["id"]),
        str(item["sha256"]),
        item["scope"],
        int(item["created"]),
        None if item.get("viewer") is None else str(item["viewer"]),
        tuple(map(str, item.get("groups", ()))),
        None if item.get("expires") is None else int(item["expires"]),
        str(item.get("label", "")),
        str(item.get("former", "")),
        int(item.get("former_until", 0)),
        item.get("chat") is True,
    )
