"""To which other files does a file point?"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from urllib.parse import unquote

from quire.core.types import Link
from quire.ingest.formats import compute_record_id

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def links_of(record_id: str, path: str, addresses: Iterable[str]) -> tuple[Link, ...]:
    """Turn relative addresses into links between records, sorted and each one once."""
    targets = {target for address in addresses if (target := target_of(path, address))}
    targets.discard(path)
    links = (Link(record_id, compute_record_id(target), "link") for target in targets)
    return tuple(sorted(links, key=lambda link: link.target))


def target_of(path: str, address: str) -> str | None:
    """Resolve an address against the file that holds it; None if it names no file below the root.

    An address that begins with `/` counts from the root.
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
