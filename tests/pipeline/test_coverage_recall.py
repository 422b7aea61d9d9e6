"""While vectors are being made, answers are found at least as well as by words alone.

A real project (the documents and sources of itsdangerous), questions in the words that people use,
and for each a text of the project that answers it. Which vectors exist is decided by the hashes of
their keys, so that every run has the same ones.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

import quire
from quire.core.types import OWNER
from tests.conftest import Tree
from tests.pages.project import check_out

pytestmark = pytest.mark.model

COVERAGES = (0, 1, 10, 50, 90, 100)
BUDGET = 500
QUESTIONS = {
    "where should I keep the secret key": "read it from an",
    "how do I make a new key": "os.urandom(16).hex()",
    "does the salt have to be random": "unique between contexts, not private",
    "why use different salts": "reuse the token from the activation link",
    "what happens if an attacker learns the key": "change and",
    "replace old keys periodically": "When signing the last (newest) key will be used",
    "is SHA-1 secure enough": "When used as the intermediate, iterated step in HMAC",
    "expire a signature after some seconds": "max_age=5",
    "tokens in a web address": "where you only have a limited set of characters",
    "should I use a signer or a serializer": "you'll want to use a serializer, not a signer",
    "read the payload without checking the signature": "def loads_unsafe",
    "how is the payload compressed": "zlib.compress",
    "error when the token is too old": "class SignatureExpired",
    "compare signatures in constant time": "compare_digest",
    "padding of base64": "def base64_decode",
    "who signed the value and when": "date_signed",
}


@pytest.fixture(scope="module")
def recalls(tmp_path_factory: pytest.TempPathFactory) -> dict[int, set[str]]:
    """Return the questions that are answered, by the percent of vectors that exist."""
    tree = Tree(Path(tmp_path_factory.mktemp("recall")) / "project")
    check_out(tree.root)
    tree.index(embed=True)
    with tree.open() as opened, opened.store.view(OWNER) as view:
        chunks = [chunk for record in view.listing() for chunk in view.chunks_of(record.id)]
        vectors = view.vectors([chunk.id for chunk in chunks])
        by_key = {chunk.vector_key: vectors[chunk.id] for chunk in chunks if chunk.id in vectors}
        name = opened.store.model()
    assert name is not None
    answered: dict[int, set[str]] = {}
    for percent in COVERAGES:
        shutil.copy(tree.store, place := tree.store.with_name(f"{percent}.db"))
        with quire.open(tree.root, store=place) as opened:
            chosen = {key: by_key[key] for key in by_key if _rank(key) < percent}
            with opened.store.write() as writer:
                writer.drop_vectors()
                writer.put_vectors(name, chosen)
            answered[percent] = {
                question
                for question, gold in QUESTIONS.items()
                if gold in opened.assemble(question, budget=BUDGET, reserve={}).text
            }
    return answered


def _rank(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") % 100


def test_words_alone_answer_some_questions(recalls: dict[int, set[str]]) -> None:
    assert len(QUESTIONS) // 3 <= len(recalls[0]) < len(QUESTIONS)


@pytest.mark.parametrize("percent", COVERAGES)
def test_recall_is_never_below_that_of_words(recalls: dict[int, set[str]], percent: int) -> None:
    print(percent, len(recalls[percent]))  # noqa: T201 - measured for whoever looks
    assert len(recalls[percent]) >= len(recalls[0]), recalls[0] - recalls[percent]


def test_with_few_vectors_nothing_is_lost(recalls: dict[int, set[str]]) -> None:
    assert recalls[1] >= recalls[0]
    assert recalls[10] >= recalls[0]
