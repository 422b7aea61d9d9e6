"""Secrets are recognised; what only speaks of them is not.

The tokens here are put together at run time, so that no tool takes this file for a leak.
"""

from __future__ import annotations

import random
import string

import pytest

from quire.core.types import IngestSettings
from quire.ingest import secrets

from .reading import read_text

DICE = random.Random(7)


def noise(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(DICE.choice(letters) for _ in range(length))


BASE64 = "\n".join(noise(64, string.ascii_letters + string.digits + "+/") for _ in range(12))
KEY_WORDS = "PRIVATE" + " KEY"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

SECRETS = {
    "a private key": [
        f"-----BEGIN {KEY_WORDS}-----\n{BASE64}\n-----END {KEY_WORDS}-----\n",
        f"-----BEGIN RSA {KEY_WORDS}-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AA\n\n{BASE64}\n",
        f"-----BEGIN OPENSSH {KEY_WORDS}-----\n{BASE64}\n",
        '{"private_key": "-----BEGIN ' + KEY_WORDS + "-----\\n" + BASE64.replace("\n", "\\n") + '"}',
        f"key = (\n    '-----BEGIN EC {KEY_WORDS}-----\\n'\n    '{BASE64[:64]}'\n)",
    ],
    "an AWS access key": ["aws = " + "AKIA" + noise(16, UPPER), "ASIA" + noise(16, UPPER)],
    "a GitHub token": ["ghp_" + noise(36), "x=gho_" + noise(36), "github_pat_" + noise(22) + "_" + noise(59)],
    "a GitLab token": ["glpat-" + noise(20)],
    "a Slack token": ["xoxb-" + noise(12, "0123456789") + "-" + noise(12, "0123456789") + "-" + noise(24)],
    "an Anthropic key": ["sk-ant-" + "api03-" + noise(90)],
    "an OpenAI key": ["sk-" + noise(20) + "T3Blbk" + "FJ" + noise(20), "sk-proj-" + noise(48)],
    "a Google key": ["AIza" + noise(35)],
    "a Stripe key": ["sk_live_" + noise(24)],
    "a secret given to a name": [
        f'api_key = "{noise(40)}"',
        f"client-secret: {noise(40)}",
        f'{{"access_token": "eyJhbGciOi.{noise(60)}.{noise(40)}"}}',
        f"export AWS_SECRET_ACCESS_KEY={noise(40)}",
        f'SECRET_KEY = "{noise(48)}"',
    ],
}  # fmt: skip

HARMLESS = [
    f"-----BEGIN {KEY_WORDS}-----\n...\n-----END {KEY_WORDS}-----",
    f'if "-----BEGIN {KEY_WORDS}-----" in text:\n    raise ValueError("a private key")',
    f"re.compile(r'-----BEGIN (?:RSA )?{KEY_WORDS}-----')",
    r"TOKEN = re.compile(r'\bghp_[A-Za-z0-9]{36}\b')",
    r"AKIA[0-9A-Z]{16}",
    "AKIAIOSFODNN7EXAMPLE is the example key of the manual",
    "AKIA" + "X" * 16,
    "ghp_" + "x" * 36,
    "Set OPENAI_API_KEY=sk-your-key-here before you start; sk-proj-" + "." * 50,
    'api_key = os.environ["SERVICE_API_KEY_FOR_THE_PRODUCTION_SYSTEM"]',
    "secret_key = settings.security.secret_key_for_the_session_cookies",
    'token_url = "https://accounts.google.com/o/oauth2/token/with/a/long/path1"',
    'commit = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    'api_key = "your-api-key-goes-here-and-it-is-32-long-1234"',
    'access_token: "<paste the token that you were given here please 1>"',
    'auth_token = "00000000000000000000000000000000"',
    "integrity sha512-" + "A1b2" * 22,
    '"ClientToken": "d5c090f5-8a0f-49c7-8281-72c796a21f72"',
    "MLKEM768X25519PrivateKey = rust_openssl.hpke.MLKEM768X25519PrivateKey",
    f'"-----BEGIN RSA {KEY_WORDS}-----\\n{BASE64[:59]}...{BASE64[-7:]}"',
]


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in SECRETS.items() for text in texts]
)
def test_a_secret_is_found_in_its_line_and_never_shown(kind: str, text: str) -> None:
    reason = secrets.find_secret(f"first line\nsecond line\n{text}\nlast line\n")
    assert reason is not None
    assert kind in reason
    line = int(reason.split()[1])
    assert 3 <= line <= 5
    assert not any(
        text[at : at + 8] in reason
        for at in range(len(text) - 8)
        if "private" not in text[at : at + 8]
    )


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_speaks_of_a_secret_is_read(text: str) -> None:
    assert secrets.find_secret(text) is None


def test_the_first_secret_of_a_text_is_named() -> None:
    text = f"\n\nglpat-{noise(20)}\n" + "ghp_" + noise(36)
    assert secrets.find_secret(text) == "line 3 looks like a GitLab token"


def test_a_secret_is_left_out_of_a_file_unless_asked_for() -> None:
    text = "token = ghp_" + noise(36)
    assert read_text("notes.md", text).chunks[0].text == "token = [redacted: a GitHub token]"
    assert read_text("notes.md", text, IngestSettings(secrets=True)).chunks[0].text == text
