"""Receipts are signed; keys are the user's own, and are known again after they were rotated."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from quire import Quire
from quire.config import signing_keys
from quire.core.types import Context
from quire.errors import ConfigError, InputError, MissingExtraError
from quire.indexing import audit, keyring
from quire.receipts import signing
from tests.conftest import Tree
from tests.receipts.conftest import QUERY, as_read

PRIVATE_KEY = bytes(range(32))
PUBLIC_KEY = signing.public_key_of(PRIVATE_KEY)


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the keys of a user who has none yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "quire" / "keys"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_algorithm_is_ed25519() -> None:
    """The first test vector of RFC 8032."""
    private = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    assert signing.public_key_of(private).hex() == (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    )


def test_a_signature_is_outside_the_receipt(receipt: dict[str, Any]) -> None:
    before = as_read(receipt)
    envelope = signing.sign(receipt, PRIVATE_KEY)
    assert receipt == before
    assert signing.sign(receipt, PRIVATE_KEY) == envelope, "the same receipt, the same signature"
    assert envelope["receipt"] == receipt["hash"]


def test_every_byte_of_a_signature_counts(receipt: dict[str, Any]) -> None:
    written = {**receipt, "created": "2026-01-31T00:00:00+00:00"}
    envelope = signing.sign(written, PRIVATE_KEY)
    assert signing.check_signature(written, envelope, key=PUBLIC_KEY).status == "known"
    assert signing.check_signature(written, envelope, own=[PUBLIC_KEY]).status == "yours"
    assert signing.check_signature(written, envelope).status == "foreign"
    for name, value in envelope.items():
        others = (
            [value + 1, str(value), None]
            if isinstance(value, int)
            else [value + "0", value[:-1], value.upper() + "A", None, 5, value[::-1]]
        )
        for other in others:
            if other == value:
                continue
            checked = signing.check_signature(written, {**envelope, name: other}, key=PUBLIC_KEY)
            assert (checked.status, checked.trusted) == ("invalid", False), (name, other)
            assert checked.problem
    for odd in ({}, {"more": 1, **envelope}, {"signature": envelope["signature"]}):
        assert signing.check_signature(written, odd, key=PUBLIC_KEY).problem
    later = {**written, "created": "2027-01-31T00:00:00+00:00"}
    assert "at another time" in signing.check_signature(later, envelope, key=PUBLIC_KEY).problem


def test_a_key_is_made_once_for_its_user_alone(keys: Path, receipt: dict[str, Any]) -> None:
    assert keyring.current_key() is None
    assert not keys.exists()
    first = keyring.sign_receipt(receipt)
    assert keyring.sign_receipt(receipt) == first
    assert (mode(keys), mode(keys / "signing.json")) == (0o700, 0o600)
    assert PRIVATE_KEY.hex() not in json.dumps(first)


def test_two_processes_that_make_the_first_key_have_one(keys: Path) -> None:
    one = keyring.ensure_key()
    other = keyring._new_key()
    assert signing_keys.save_new(other, {"XDG_CONFIG_HOME": str(keys.parents[1])}) == one


def test_rotated_keys_are_still_ones_own(
    keys: Path, kept: Quire, context: Context, receipt: dict[str, Any]
) -> None:
    envelopes = []
    for _ in range(3):
        envelopes.append(kept.sign(receipt))
        keyring.rotate()
    assert len({envelope["key"] for envelope in envelopes}) == 3
    assert len(keyring.retired_keys()) == 3
    assert mode(keys / "retired.json") == 0o600
    assert "private" not in (keys / "retired.json").read_text("utf-8")
    for envelope in envelopes:
        verified = kept.verify(receipt, context.text, signature=envelope)
        assert (verified.signature, verified.key) == ("yours", envelope["key"])


def test_a_key_that_others_can_read_is_refused(keys: Path, receipt: dict[str, Any]) -> None:
    keyring.ensure_key()
    (keys / "signing.json").chmod(0o644)
    with pytest.raises(ConfigError, match="other users could have read or written"):
        keyring.sign_receipt(receipt)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"public": "00"}', '{"public": 5}'])
def test_what_is_no_key_is_refused(keys: Path, receipt: dict[str, Any], text: str) -> None:
    keys.mkdir(parents=True)
    (keys / "signing.json").write_text(text, "utf-8")
    (keys / "signing.json").chmod(0o600)
    with pytest.raises(ConfigError, match="not a signing key"):
        keyring.sign_receipt(receipt)


def test_the_parts_of_a_key_must_belong_together(keys: Path, receipt: dict[str, Any]) -> None:
    keyring.ensure_key()
    file = keys / "signing.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "private": "00" * 32}), "utf-8")
    with pytest.raises(ConfigError, match="do not belong together"):
        keyring.sign_receipt(receipt)


def test_a_named_key_must_have_signed(context: Context, receipt: dict[str, Any]) -> None:
    envelope = signing.sign(receipt, PRIVATE_KEY)
    good = audit.verify_receipt(receipt, context.text, signature=envelope, key=PUBLIC_KEY.hex())
    assert (good.holds, good.binds, good.signature) == (True, True, "known")
    unsigned = audit.verify_receipt(receipt, context.text, key=PUBLIC_KEY)
    assert (unsigned.problems, unsigned.binds) == (("it is not signed",), False)
    other = signing.public_key_of(bytes(32))
    (wrong,) = audit.verify_receipt(receipt, context.text, signature=envelope, key=other)
    assert wrong.startswith("it is signed with the key ")
    (odd,) = audit.verify_receipt(receipt, context.text, signature=envelope, key="00")
    assert "this is not a public key" in odd


def test_unsigned_and_foreign_are_named(kept: Quire, context: Context, receipt: Any) -> None:
    unsigned = kept.verify(receipt, context.text)
    assert (unsigned.holds, unsigned.binds, unsigned.signature) == (True, True, "unsigned")
    assert "who made it: it is not signed" in unsigned.not_checked
    foreign = kept.verify(receipt, context.text, signature=signing.sign(receipt, PRIVATE_KEY))
    assert (foreign.holds, foreign.signature) == (True, "foreign")
    assert any("a key that you do not know" in text for text in foreign.not_checked)


@pytest.mark.parametrize("text", ["", "x", "0" * 63, "0" * 66, "{", "{}", '{"public_key": 5}'])
def test_what_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a public key"):
        signing.parse_public_key(text)


# --- the command line ---------------------------------------------------------------------------


def test_receipts_are_signed_and_verified_on_the_command_line(
    keys: Path, kept_tree: Tree, tmp_path: Path
) -> None:
    file, text = tmp_path / "r.json", tmp_path / "c.txt"
    done = kept_tree.call("assemble", QUERY, "--receipt", str(file))
    assert f"made a key that signs your receipts: {keys / 'signing.json'}" in done.stderr
    text.write_bytes(done.stdout.encode())
    signature = tmp_path / "r.json.sig"
    assert mode(signature) == 0o600
    public = tmp_path / "key.json"
    assert kept_tree.call("key", "export", str(public)).returncode == 0
    digits = json.loads(public.read_text("utf-8"))["public_key"]
    assert kept_tree.call("key", "rotate").returncode == 0
    shown = json.loads(kept_tree.call("key", "show", "--json").stdout)
    assert [key["public_key"] for key in shown["retired"]] == [digits]
    for key in (str(public), digits):
        done = kept_tree.call("verify", str(file), "--key", key, "--no-store")
        assert (done.returncode, done.stdout.splitlines()[0]) == (0, "the receipt holds")
    done = kept_tree.call("verify", str(file), "--context", str(text))
    assert "checked: the signature: it is yours" in done.stdout
    done = kept_tree.call("verify", str(file), "--key", shown["key"]["public_key"])
    assert done.returncode == 1
    assert done.stdout.startswith("it is signed with the key ")
    forged = json.loads(file.read_text("utf-8"))
    forged["created"] = "2020-01-01T00:00:00+00:00"
    file.write_text(json.dumps(forged), "utf-8")
    done = kept_tree.call("verify", str(file), "--json")
    assert (done.returncode, json.loads(done.stdout)["signature"]) == (1, "invalid")
    done = kept_tree.call("assemble", QUERY, "--receipt", str(file), "--no-sign")
    assert not signature.exists(), "a signature of the receipt before it"
    done = kept_tree.call("verify", str(file), "--no-store")
    assert done.stdout.startswith("the receipt agrees with itself, but nothing here shows")
    assert "not checked: who made it: it is not signed" in done.stdout


def test_without_a_place_for_a_key_a_receipt_is_unsigned(
    kept_tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    monkeypatch.setenv("HOME", "")
    monkeypatch.delenv("APPDATA", raising=False)
    done = kept_tree.call("assemble", QUERY, "--receipt", str(tmp_path / "r.json"))
    assert done.returncode == 0
    assert "note: the receipt is not signed: there is no place to keep a signing key" in done.stderr
    assert not (tmp_path / "r.json.sig").exists()
    done = kept_tree.call("key", "rotate")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.fixture
def without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without the extra `signing`."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)


@pytest.mark.usefixtures("without_the_package")
def test_without_the_extra_a_receipt_is_unsigned(
    keys: Path, kept_tree: Tree, tmp_path: Path
) -> None:
    file = tmp_path / "r.json"
    done = kept_tree.call("assemble", QUERY, "--receipt", str(file))
    assert done.returncode == 0
    assert "note: the receipt is not signed: signatures need a package" in done.stderr
    assert "quire-context[signing]" in done.stderr
    assert not keys.exists()
    assert not (tmp_path / "r.json.sig").exists()
    assert kept_tree.call("verify", str(file)).stdout.startswith("the receipt holds")
    done = kept_tree.call("key", "rotate")
    assert done.returncode == 2
    assert "pip install 'quire-context[signing]'" in done.stderr


def test_without_the_extra_no_signature_is_believed(
    receipt: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    envelope = signing.sign(receipt, PRIVATE_KEY)
    request.getfixturevalue("without_the_package")
    with pytest.raises(MissingExtraError):
        signing.check_signature(receipt, envelope, own=[PUBLIC_KEY])
    assert signing.check_signature(receipt, None).status == "unsigned"
