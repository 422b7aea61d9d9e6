"""A store whose file was damaged answers as before, says what it is without, or refuses in words.

`QUIRE_ROT` says how many files are damaged; `QUIRE_ROT_FIRST` with which number they begin.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from quire.errors import NoStoreError, QuireError, StoreDamagedError, StoreVersionError
from quire.indexing.project import Project
from tests.conftest import Tree
from tests.word_model import WordModel

from .world import Answer, ask, build, damage

CASES = int(os.environ.get("QUIRE_ROT", "500"))
FIRST = int(os.environ.get("QUIRE_ROT_FIRST", "0"))
REPAIR_ONE_IN = 25
REFUSALS = (StoreDamagedError, StoreVersionError, NoStoreError)
SAME, LESS, REFUSED = "the same answer", "less, and said so", "refused in words"


@pytest.fixture(scope="module")
def tree() -> Iterator[Tree]:
    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK) else None
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(dir=base) as folder:
        patch.setattr(Project, "embedder", lambda _: WordModel(32))
        yield build(Path(folder) / "project")


def judge(name: str, expected: Answer, answer: Answer | QuireError) -> str:
    """Return what kind of answer this is; fail if it is another one in silence."""
    if isinstance(answer, QuireError):
        assert isinstance(answer, REFUSALS), (name, repr(answer))
        assert answer.hint, (name, repr(answer))
        return REFUSED
    if answer == expected:
        return SAME
    said = [text for text in answer.said if text not in expected.said]
    assert any("damaged" in text for text in said), (name, answer, expected)
    return LESS


def rot(
    tree: Tree, data: bytes, seed: int, expected: dict[str, Answer | QuireError]
) -> Counter[str]:
    """Damage the file once, ask everything, and count the answers."""
    for file in tree.store.parent.glob("store.db*"):
        file.unlink()
    tree.store.write_bytes(damage(data, Random(f"rot {seed}")))
    answers = ask(tree.root)
    if "open" in answers:
        return Counter({f"opening {judge('open', Answer(0, {}), answers['open'])}": 1})
    counts: Counter[str] = Counter()
    texts = pieces(expected)
    for name, answer in answers.items():
        wanted = expected[name]
        assert isinstance(wanted, Answer), name
        counts[judge(name, wanted, answer)] += 1
        if isinstance(answer, Answer):
            assert answer.pieces.items() <= texts.items(), "a text that is not as it was written"
    return counts


def pieces(answers: dict[str, Answer | QuireError]) -> dict[str, str]:
    """Return all texts and paths in some answers by the ids of their chunks."""
    return {
        chunk_id: text
        for answer in answers.values()
        if isinstance(answer, Answer)
        for chunk_id, text in answer.pieces.items()
    }


@pytest.fixture
def expected(tree: Tree, data: bytes) -> dict[str, Answer | QuireError]:
    for file in tree.store.parent.glob("store.db*"):
        file.unlink()
    tree.store.write_bytes(data)
    answers = ask(tree.root)
    assert all(isinstance(answer, Answer) for answer in answers.values()), answers
    return answers


@pytest.fixture(scope="module")
def data(tree: Tree) -> bytes:
    return tree.store.read_bytes()


def test_no_damage_changes_an_answer_in_silence(
    tree: Tree, data: bytes, expected: dict[str, Answer | QuireError]
) -> None:
    counts: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + CASES):
        try:
            counts += rot(tree, data, seed, expected)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    said = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{CASES} damaged files of {len(data):,} bytes: {said}", flush=True)  # noqa: T201 - counts of a soak
    assert counts[SAME]
    assert counts[REFUSED]


def test_a_repair_keeps_what_can_be_read_and_names_the_rest(
    tree: Tree, data: bytes, expected: dict[str, Answer | QuireError]
) -> None:
    counts: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + CASES // REPAIR_ONE_IN):
        try:
            counts[repair(tree, data, seed, expected)] += 1
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
    said = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{CASES // REPAIR_ONE_IN} repairs: {said}", flush=True)  # noqa: T201 - counts of a soak
    assert counts["as before"]


def repair(tree: Tree, data: bytes, seed: int, expected: dict[str, Answer | QuireError]) -> str:
    """Damage the file once and repair it; return how that went."""
    for file in tree.store.parent.glob("store.db*"):
        file.unlink()
    tree.store.write_bytes(damage(data, Random(f"rot {seed}")))
    try:
        opened = tree.open()
    except REFUSALS:
        return "refused at opening"
    with opened:
        found = opened.doctor()
        problems = opened.doctor(repair=True)
        assert bool(found) == bool(problems)
        if any(problem.check == "access" for problem in problems):
            assert not any(problem.repaired for problem in problems)
            return "refused, since access rules are lost"
        assert opened.doctor() == []
        assert not list(tree.store.parent.glob("*recovered*"))
    answers = ask(tree.root)
    for name, answer in answers.items():
        assert isinstance(answer, Answer), (name, answer)
        assert answer.pieces.items() <= pieces(expected).items()
    if answers == expected:
        return "as before"
    assert any(not problem.repaired for problem in problems), (problems, answers)
    return "less, and said so"
