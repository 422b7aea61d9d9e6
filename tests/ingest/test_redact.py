"""Secrets leave a text, and nothing else does."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import FileEntry, IngestSettings, Skipped
from quire.ingest import read
from quire.ingest.redact import FINGERPRINT, MAX_REDACTIONS, redact
from quire.ingest.secrets import find_secrets
from quire.ingest.types import UnreadableFile

from .reading import check_outline, read_text
from .secret_formats import secrets

DEFAULTS = IngestSettings()
TOKEN = "ghp_" + "Ab3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
OTHER = "glpat-" + "Zq8Xw7Vc6Bn5Mk4Lj3Hg"
KEY_WORDS = "PRIVATE" + " KEY"
BODY = "MIIEpAIBAAKCAQEAx7Vb9Qm2Lz4kP0sT8uWyE3rN6cHjF5gD1aKiOoXvBnMlQwEr"
KEY = f"-----BEGIN RSA {KEY_WORDS}-----\n{BODY}\n{BODY}\nshort==\n-----END RSA {KEY_WORDS}-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"token = {TOKEN} # mine", "token = [redacted: a GitHub token] # mine"),
        (f"{OTHER}\n{TOKEN}\n", "[redacted: a GitLab token]\n[redacted: a GitHub token]\n"),
        (f"a\n{KEY}\nb. c", "a\n[redacted: a private key]\n\n\n\n\nb. c"),
        (f"{KEY}\n{KEY}", "[redacted: a private key]\n\n\n\n\n[redacted: a private key]\n\n\n\n"),
        (
            f"-----BEGIN {KEY_WORDS}-----\n{BODY}\n{BODY}\nThen restart the server.",
            "[redacted: a private key]\n\n\nThen restart the server.",
        ),
        (
            "db = postgres://app:h7Gf_92kslQ@db.internal:5432/main",
            "db = postgres://app:[redacted: a password in an address]@db.internal:5432/main",
        ),
        (
            'SECRET_KEY = "192b9bdd22ab9ed4d12e236c78afcb9a393ec15f71bbf5dc987d54727823bcbf"\n',
            'SECRET_KEY = "[redacted: a secret given to a name]"\n',
        ),
    ],
)
def test_a_secret_is_replaced_by_a_mark_and_the_rest_stays(text: str, expected: str) -> None:
    redacted = redact("notes.md", text, DEFAULTS)
    assert redacted.text == expected
    assert redacted.text.count("\n") == text.count("\n")
    assert [found.line for found in redacted.found] == [
        text.count("\n", 0, secret.start) + 1 for secret in redacted.secrets
    ]


@given(st.integers(0, 10_000), st.lists(st.integers(0, 80), min_size=1, max_size=4))
def test_no_secret_is_left_and_every_other_line_is(seed: int, picked: list[int]) -> None:
    table = [text for _, text in secrets(Random(seed))]
    lines = [f"Line {n} says what it says.\n" for n in range(len(picked) + 1)]
    parts = [table[n % len(table)].strip("\n") + "\n" for n in picked]
    text = lines[0] + "".join(part + line for part, line in zip(parts, lines[1:], strict=True))
    redacted = redact("notes.md", text, DEFAULTS)
    assert find_secrets(redacted.text) == []
    assert redacted.text.count("\n") == text.count("\n")
    assert [line for line in redacted.text.splitlines(keepends=True) if line in lines] == lines
    for secret in redacted.secrets:
        assert text[secret.start : secret.end] not in redacted.text


def test_a_document_is_read_without_its_secrets() -> None:
    document = read_text("docs/config.md", f"# Keys\n\nUse `{TOKEN}`.\n\n# Hosts\n\nTwo hosts.\n")
    assert "".join(chunk.text for chunk in document.chunks) == (
        "# Keys\n\nUse `[redacted: a GitHub token]`.\n\n# Hosts\n\nTwo hosts.\n"
    )
    assert document.record.attrs["redacted"] == 1
    assert [(found.path, found.line, found.kind) for found in document.redacted] == [
        ("docs/config.md", 3, "a GitHub token")
    ]
    assert TOKEN not in repr(document)


def test_secrets_that_appear_only_when_a_page_is_read() -> None:
    """Entities of HTML hide a token from whoever looks at the source alone."""
    hidden = TOKEN.replace("_", "&#95;")
    page = f"<h1>Keys of {hidden}</h1><p>Use {hidden} here.</p><h2>Hosts</h2><p>Two.</p>"
    document = read_text("page.html", page)
    text = "".join(chunk.text for chunk in document.chunks)
    assert TOKEN not in repr(document)
    assert text.count("[redacted: a GitHub token]") == 2
    assert "here." in text
    assert "Two." in text
    check_outline(document)


def test_what_the_user_allows_stays() -> None:
    text = f"one {TOKEN}\ntwo {OTHER}\n"
    first, second = redact("docs/a.md", text, DEFAULTS).found
    by_fingerprint = IngestSettings(allow_secrets=(FINGERPRINT + first.fingerprint,))
    assert redact("docs/a.md", text, by_fingerprint).text == text.replace(
        OTHER, "[redacted: a GitLab token]"
    )
    by_path = IngestSettings(allow_secrets=("docs/**",))
    assert redact("docs/a.md", text, by_path).text == text
    assert redact("src/a.md", text, by_path).found != ()
    assert redact("src/a.md", text, IngestSettings(secrets=True)).text == text
    assert first.fingerprint != second.fingerprint


def test_a_list_of_secrets_is_skipped() -> None:
    random = Random(5)
    letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    many = "\n".join(
        "ghp_" + "".join(random.choice(letters) for _ in range(36))
        for _ in range(MAX_REDACTIONS * 2)
    )
    with pytest.raises(UnreadableFile, match="secrets, the first is a GitHub token"):
        redact("dump.txt", many, DEFAULTS)


def test_the_digest_is_that_of_the_file_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text(f"Use {TOKEN}.\n")
    entry = FileEntry("a.md", str(file), file.stat().st_size, 0)
    plain, redacted = read(entry, IngestSettings(secrets=True)), read(entry)
    assert not isinstance(plain, Skipped)
    assert not isinstance(redacted, Skipped)
    assert plain[1] == redacted[1]


def test_a_secret_in_a_title_is_no_title() -> None:
    hidden = "&#103;" + TOKEN[1:]
    page = f"<html><head><title>Keys {hidden}</title></head><body><p>None here.</p></body></html>"
    document = read_text("page.html", page)
    assert TOKEN not in repr(document)
    assert "[redacted: a GitHub token]" in document.record.title
