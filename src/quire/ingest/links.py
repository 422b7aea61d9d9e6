"""Resolve the links of a file to other files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from urllib.parse import unquote

from quire.core.types import Link
from quire.ingest.formats import compute_record_id

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def resolve_links(record_id: str, path: str, addresses: Iterable[str]) -> tuple[Link, ...]:
    """Return the links from a file to others, sorted and without duplicates."""
    targets = {target for address in addresses if (target := resolve_target(path, address))}
    targets.discard(path)
    links = (Link(record_id, compute_record_id(target), "link") for target in targets)
    return tuple(sorted(links, key=lambda link: link.target))


def resolve_target(path: str, address: str) -> str | None:
    """Resolve an address relative to its file; return None if it names no file below the root.

    An address that begins with `/` is relative to the root.
    """
    address = address.strip()
    if SCHEME.match(address) or address.startswith(("//", "\\")):
        return None
    file = unquote(re.split("[?#]", address, maxsplit=1)[0], errors="replace")
    if not file or file.endswith("/") or "\0" in file:
        return None
    folder = "" if file.startswith("/") else posixpath.dirname(path)
    target = posixpath.normpath(posixpath.join(folder, file.lstrip("/")))
    return None if target in (".", "..") or target.startswith("../") else target
