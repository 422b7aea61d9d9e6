"""The user's signing key: make it on first use, rotate it, sign with it, know it again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quire.config import signing_keys
from quire.config.places import unreadable_folder
from quire.config.signing_keys import SigningKey
from quire.errors import ConfigError
from quire.receipts import signing
from quire.system.clock import now

__all__ = ["SigningKey"]


def key_file() -> Path | None:
    """Return the file of today's key; None: the user has no configuration folder."""
    folder = signing_keys.folder(os.environ)
    return None if folder is None else folder / signing_keys.CURRENT


def current_key() -> SigningKey | None:
    """Return today's key, if there is one."""
    return signing_keys.current(os.environ)


def retired_keys() -> list[SigningKey]:
    """List the keys that were rotated, the oldest first."""
    return signing_keys.retired(os.environ)


def ensure_key() -> SigningKey:
    """Return today's key, and make one if there is none."""
    key = current_key()
    return key if key is not None else signing_keys.save_new(_new_key(), os.environ)


def rotate() -> SigningKey:
    """Replace the key by a new one; what was signed with the old one still is one's own."""
    key = _new_key()
    signing_keys.replace_current(key, os.environ, now())
    return key


def own_public_keys() -> list[bytes]:
    """List the user's public keys, today's and earlier ones; none if they cannot be looked at."""
    if unreadable_folder(os.environ) is not None:
        return []
    key = current_key()
    return [each.public for each in (*([] if key is None else [key]), *retired_keys())]


def key_id(key: SigningKey) -> str:
    """Return the short name of a key."""
    return signing.key_id(key.public)


def sign_receipt(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Sign a receipt with the user's key, which is made on first use."""
    key = ensure_key()
    if len(key.private) != signing.KEY_BYTES or signing.public_key_of(key.private) != key.public:
        raise ConfigError(
            "the two parts of the signing key do not belong together",
            place=str(key_file()),
            hint="restore it, or run `quire key rotate`",
        )
    return signing.sign(receipt, key.private)


def parse_public_key(text: str) -> bytes:
    """Parse a public key: 64 hexadecimal digits, or what `quire key export` writes."""
    return signing.parse_public_key(text)


def parse_signature(text: str) -> dict[str, Any]:
    """Parse a signature; raise `InputError` if it is not one."""
    return signing.parse_envelope(text)


def _new_key() -> SigningKey:
    private = signing.make_private_key()
    return SigningKey(signing.public_key_of(private), now(), private)
