"""Names of stores and indexes on a server: URLs, whose passwords nothing may show."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

from quire.errors import InputError

RAY = "ray://"
SCHEMES = ("postgresql://", "postgres://", RAY)
FORMS = (
    "the path of a file",
    "a folder NAME.N.shards",
    "postgresql://USER@HOST:PORT/DATABASE",
    "ray://HOST:PORT/NAME.N.shards",
)
"""How a store is named."""
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://|(postgres(?:ql)?):(?!//)", re.IGNORECASE)
SHARDED = ".shards"
MAX_SHARDS = 256
"""One for each value of the leading byte of a hash."""
QDRANT, QDRANT_TLS = "qdrant", "qdrants"
_CONNINFO = re.compile(
    r"\s*+((?:host|hostaddr|port|user|dbname|password|service)\s*+=)\s*+\S*+\s++[a-z_]{1,20}+\s*+=",
    re.IGNORECASE,
)
"""The other form of a connection string: `host=db password=...`."""
_PASSWORD = re.compile(r"(://[^\s:@/]{0,100}+):[^\s@]{0,300}+@(?:[^\s@/]{0,300}+@)*+")
_USER = re.compile(r"[^?#=&]*")
_SECRETS = frozenset({"password", "sslpassword", "passfile", "options"})


def is_server(text: str) -> bool:
    """Return whether a text names a store on a server rather than a file."""
    return text.lower().startswith(SCHEMES)


def is_sharded(name: str) -> bool:
    """Return whether the name of a folder says that it is a store in shards."""
    return name.endswith(SHARDED)


def shards_in_name(name: str) -> int:
    """Return how many shards the name of a folder asks for (`NAME.4.shards`); 2 if it does not."""
    count = name.removesuffix(SHARDED).rpartition(".")[2]
    return int(count) if count.isdecimal() and len(count) < 4 else 2


def is_ray(text: str) -> bool:
    """Return whether a text names a store whose shards are in a Ray cluster."""
    return text.lower().startswith(RAY)


def parse_ray(url: str) -> tuple[str, str]:
    """Return the address of a cluster (empty: none is named) and the folder of the shards."""
    host, slash, folder = url[len(RAY) :].partition("/")
    if not slash or not is_sharded(folder):
        raise InputError(
            f"{url!r} names no folder of shards",
            value=url,
            hint=f"write {RAY}HOST:PORT/FOLDER/NAME.4{SHARDED}, or {RAY}/FOLDER/NAME.4{SHARDED}",
        )
    return f"{RAY}{host}" if host else "", f"/{folder}"


def unknown_scheme(text: str) -> str:
    """Return the scheme of a URL that no engine opens; empty for a path or a known one.

    Taken for a path, it would be a file in a folder `SCHEME:`.
    """
    if is_server(text):
        return ""
    if match := _CONNINFO.match(text):
        return match[1]
    match = _SCHEME.match(text)
    return match[0] if match else ""


def is_qdrant(text: str) -> bool:
    """Return whether a text names a Qdrant server."""
    return text.lower().startswith((f"{QDRANT}://", f"{QDRANT_TLS}://"))


def public_name(url: str) -> str:
    """Return a URL without its password, for messages and as the name of what is kept locally."""
    if is_ray(url):
        return without_passwords(url)
    scheme = url.partition(":")[0].lower() if is_qdrant(url) else "postgresql"
    # As the driver reads it: a password may hold `#` and `?`, but no slash.
    head, slash, tail = url.partition("://")[2].partition("/")
    user, at, host = head.rpartition("@")
    user = user.partition(":")[0]
    try:
        parts = urlsplit(f"{scheme}://{host}{slash}{tail}")
    except ValueError:  # such as a bracket without its other half
        return f"{scheme}://..."
    shown = [(name, value) for name, value in parse_qsl(parts.query) if name not in _SECRETS]
    query = f"?{urlencode(shown, safe='/')}" if shown else ""
    user = user if _USER.fullmatch(user) else "..."
    return f"{scheme}://{user}{at}{parts.netloc}{parts.path}{query}"


def without_passwords(text: str) -> str:
    """Return a text without the passwords of the addresses in it, whatever their scheme."""
    return _PASSWORD.sub(r"\1@", text)
