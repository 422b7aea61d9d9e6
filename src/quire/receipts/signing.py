"""Sign receipts, and check their signatures.

A signature is an envelope of its own, a small JSON object that lies beside the receipt
(`FILE.sig`). It is no part of the receipt: two stores, or two users, make the same receipt of the
same request. It covers the hash of the receipt and the time at which it was written. The algorithm
is Ed25519.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from quire.core import hashing
from quire.errors import InputError, MissingExtraError
from quire.receipts.canonical import canonical
from quire.receipts.receipt import receipt_hash

ALGORITHM = "ed25519"
VERSION = 1
KEY_BYTES, SIGNATURE_BYTES = 32, 64
YOURS, KNOWN, FOREIGN = "yours", "known", "foreign"
INVALID, NONE = "invalid", "unsigned"
_FIELDS = {
    "version": int,
    "algorithm": str,
    "key": str,
    "public_key": str,
    "receipt": str,
    "created": str,
    "signature": str,
}

Envelope = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """What the signature of a receipt says."""

    status: str
    """`yours`, `known` (the key that was asked for), `foreign`, `invalid` or `unsigned`."""
    key: str = ""
    """The id of the key."""
    problem: str = ""
    """What is wrong with it."""

    @property
    def trusted(self) -> bool:
        """Whether it is the valid signature of a key that the caller knows."""
        return self.status in {YOURS, KNOWN}

    @property
    def sentence(self) -> str:
        """Describe it."""
        return {
            YOURS: f"the signature: it is yours (key {self.key})",
            KNOWN: f"the signature: it is of the key that you named ({self.key})",
            FOREIGN: f"it is signed with a key that you do not know ({self.key})",
            NONE: "it is not signed",
        }.get(self.status, self.problem)


UNSIGNED = SignatureCheck(NONE)


def key_id(public_key: bytes) -> str:
    """Return the short name of a public key."""
    return hashing.identifier("signing key", public_key)


def make_private_key() -> bytes:
    """Make a new private key."""
    made: bytes = _ed25519().Ed25519PrivateKey.generate().private_bytes_raw()
    return made


def public_key_of(private_key: bytes) -> bytes:
    """Return the public key of a private one."""
    private = _ed25519().Ed25519PrivateKey.from_private_bytes(private_key)
    public: bytes = private.public_key().public_bytes_raw()
    return public


def sign(receipt: Mapping[str, Any], private_key: bytes) -> Envelope:
    """Sign a receipt, with the time that it was written at if it has one."""
    public_key = public_key_of(private_key)
    envelope: Envelope = {
        "version": VERSION,
        "algorithm": ALGORITHM,
        "key": key_id(public_key),
        "public_key": public_key.hex(),
        "receipt": receipt_hash(receipt),
        "created": str(receipt.get("created", "")),
    }
    private = _ed25519().Ed25519PrivateKey.from_private_bytes(private_key)
    signature = private.sign(_message(envelope))
    return {**envelope, "signature": signature.hex()}


def parse_envelope(text: str) -> Envelope:
    """Parse a signature as it was written; refuse what is not one."""
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("this is not a signature: it is not JSON") from error
    if not isinstance(envelope, dict):
        raise InputError("this is not a signature", hint="name the file beside the receipt")
    return envelope


def parse_public_key(text: str) -> bytes:
    """Parse a public key: 64 hexadecimal digits, or what `quire key export` writes."""
    try:
        data = json.loads(text) if text.lstrip().startswith("{") else {"public_key": text.strip()}
        key = bytes.fromhex(data["public_key"])
    except (ValueError, KeyError, TypeError, RecursionError):
        key = b""
    if len(key) != KEY_BYTES:
        raise InputError(
            "this is not a public key",
            field="key",
            value=text[:40],
            hint="name 64 hexadecimal digits, or a file that `quire key export` wrote",
        )
    return key


def check_signature(
    receipt: Mapping[str, Any],
    envelope: Mapping[str, Any] | None,
    *,
    own: Collection[bytes] = (),
    key: bytes | None = None,
) -> SignatureCheck:
    """Check the signature of a receipt.

    Args:
        receipt: The receipt as it was written.
        envelope: Its signature, if it has one.
        own: The public keys of the user, today's and earlier ones.
        key: The public key that must have signed it; None for any.
    """
    if envelope is None:
        missing = "" if key is None else "it is not signed"
        return SignatureCheck(NONE, problem=missing)
    problem = _problem(receipt, envelope)
    if problem:
        return SignatureCheck(INVALID, problem=f"the signature is not valid: {problem}")
    public_key = bytes.fromhex(envelope["public_key"])
    name = key_id(public_key)
    if key is not None:
        if public_key == key:
            return SignatureCheck(KNOWN, name)
        said = f"it is signed with the key {name}, not with {key_id(key)}"
        return SignatureCheck(YOURS if public_key in own else FOREIGN, name, said)
    return SignatureCheck(YOURS if public_key in own else FOREIGN, name)


def _problem(receipt: Mapping[str, Any], envelope: Mapping[str, Any]) -> str:
    """Return what is wrong with a signature; empty if it is valid."""
    if set(envelope) != set(_FIELDS) or not all(
        type(envelope[name]) is kind for name, kind in _FIELDS.items()
    ):
        return "it has other fields"
    if (envelope["version"], envelope["algorithm"]) != (VERSION, ALGORITHM):
        return f"unknown version {envelope['version']} or algorithm {envelope['algorithm']!r:.20}"
    public_key = _from_hex(envelope["public_key"], KEY_BYTES)
    signature = _from_hex(envelope["signature"], SIGNATURE_BYTES)
    checks = {
        "its key is not in its one form": public_key is not None,
        "its signature is not in its one form": signature is not None,
        "it names another key than it has": envelope["key"] == key_id(public_key or b""),
        "nobody with its key signed this": _is_signed(public_key, signature, _message(envelope)),
        "it is of another receipt, or the receipt was altered": (
            envelope["receipt"] == receipt_hash(receipt)
        ),
        "the receipt says that it was written at another time": (
            envelope["created"] == str(receipt.get("created", ""))
        ),
    }
    return next((problem for problem, passed in checks.items() if not passed), "")


def _ed25519() -> ModuleType:
    """Return the module of signatures, which is in an extra: it weighs more than Quire."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MissingExtraError(
            f"signatures need a package that is not installed ({error})",
            hint="pip install 'quire-context[signing]'",
        ) from error
    return ed25519


def _from_hex(text: str, length: int) -> bytes | None:
    """Read bytes that are written in their one form; None otherwise."""
    try:
        data = bytes.fromhex(text)
    except ValueError:
        return None
    return data if len(data) == length and data.hex() == text else None


def _is_signed(public_key: bytes | None, signature: bytes | None, message: bytes) -> bool:
    if public_key is None or signature is None:
        return False
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _message(envelope: Mapping[str, Any]) -> bytes:
    """Return what is signed: everything in the envelope but the signature, under a tag."""
    content = {name: value for name, value in envelope.items() if name != "signature"}
    return f"quire receipt signature\n{canonical(content)}".encode()
