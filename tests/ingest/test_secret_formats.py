"""How many formats of secrets are found, and how often is something else taken for one?"""

from __future__ import annotations

import os
from random import Random

import pytest

from quire.ingest.secrets import find_secret
from quire.ingest.token_formats import TOKENS

from .secret_formats import COMPUTED, TEMPLATES, harmless, secrets

VALUES = int(os.environ.get("QUIRE_SECRETS", "20"))
"""Random values of each format."""
FORMATS = (*TEMPLATES, *COMPUTED)
TABLES = [dict(secrets(Random(seed))) for seed in range(3)]


def told(counts: str) -> None:
    """Say what was counted; `pytest -s` shows it."""
    print(counts)  # noqa: T201 - the figures of docs/reliability.md


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert len(FORMATS) >= 90
    assert len(dict(harmless(Random(1)))) >= 15
    assert len({text for _, text in harmless(Random(1))}) >= 200


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_found(name: str) -> None:
    texts = [table[name] for table in TABLES]
    found = [find_secret(f"first line\n{text}\n") for text in texts]
    assert sum(reason is not None for reason in found) >= 2, texts


def test_nearly_every_value_is_found() -> None:
    """A random value may by chance look like a word that marks an example; few do."""
    random = Random(20260101)
    cases = [case for _ in range(VALUES) for case in secrets(random)]
    missed = [name for name, text in cases if find_secret(text) is None]
    told(f"{len(FORMATS)} formats, {len(cases)} values, {len(missed)} not found")
    assert len(missed) <= len(cases) // 200, sorted(missed)


def test_nothing_else_is_taken_for_a_secret() -> None:
    random = Random(20260102)
    cases = [case for _ in range(VALUES) for case in harmless(random)]
    wrong = [(kind, text[:200], found) for kind, text in cases if (found := find_secret(text))]
    told(f"{len(cases)} texts, {len(wrong)} taken for a secret")
    assert wrong == []


def test_each_pattern_of_the_table_is_used_by_a_format() -> None:
    """A pattern that finds none of the formats is a slip of the pen, or a format without a test."""
    import re

    texts = [text for seed in range(3) for _, text in secrets(Random(seed))]
    unused = [
        (kind, pattern)
        for kind, _, pattern in TOKENS
        if not any(re.search(pattern, text) for text in texts)
    ]
    assert unused == []
