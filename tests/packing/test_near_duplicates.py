"""Near duplicates are dropped; a number, a name, a negation or another word keeps texts apart."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core.types import Candidate, Chunk
from quire.packing import dedup, dedup_near
from quire.packing.differences import says_all
from tests.packing.pairs import HELD_BACK, TUNED, Pair, contradictions, near_duplicates

TEXT = (
    "The session cache keeps every session for one hour after its last use. When memory runs "
    "short, the sessions that were used least are dropped first. A login that finds no session "
    "asks the database, which is slow in the morning. Operators see the size of the cache on the "
    "board beside the door."
)
SHORT = "The staging host of the session cache is named heron and stands in the cellar."
FILLERS = ("of course", "as usual", "in short")


def candidate(number: int, text: str, record: str = "") -> Candidate:
    chunk = Chunk(
        f"{number:032x}", record or f"r{number}", "memory", f"p{number}", "", 0, 0, 0, (0, 0), text
    )
    return Candidate(chunk, 1000 - number, {})


def merged(one: str, other: str, *, record: str = "") -> bool:
    """Tell whether the second of two texts is dropped, as on a page."""
    kept, dropped = dedup(
        [candidate(0, one, record), candidate(1, other, record)], 0.9, within=False
    )
    kept, similar = dedup_near(kept, 0.9)
    assert len(kept) + len(dropped) + len(similar) == 2
    return bool(dropped or similar)


def planted(rng: Random, text: str) -> list[str]:
    """Return near duplicates of a text."""
    sentences = re.split(r"(?<=\.) ", text)
    rng.shuffle(sentences)
    return [
        f"{rng.choice(FILLERS).capitalize()}, {text}",
        " ".join(sentences),
        text.upper(),
        text.lower(),
        re.sub(" ", lambda _: rng.choice([" ", "\n", "  ", "\t"]), text),
        " ".join(sentences).lower(),
        text + " So it is.",
    ]


@pytest.mark.parametrize("text", [TEXT, SHORT])
def test_fillers_moves_case_and_white_space_make_nothing_new(text: str) -> None:
    rng = Random(5)
    tried = [one for _ in range(40) for one in planted(rng, text)]
    found = sum(merged(text, one) for one in tried)
    assert found > len(tried) * 9 // 10


@pytest.mark.parametrize("half", [TUNED, HELD_BACK])
def test_no_contradiction_is_a_duplicate(half: int) -> None:
    """Neither on a page (0.9, in any order) nor among documents (0.8)."""
    pairs = contradictions(half)
    assert len(pairs) == 100
    for pair in pairs:
        for one, other in ((pair.one, pair.other), (pair.other, pair.one)):
            assert not merged(one, other), pair
            assert not dedup([candidate(0, one), candidate(1, other)], 0.8)[1], pair


def test_near_duplicates_are_found() -> None:
    """At least 400 of 420; a word in place of another is what is missed: it may mean another."""
    missed: list[Pair] = []
    for half in (TUNED, HELD_BACK):
        pairs = near_duplicates(half)
        assert len(pairs) == 210
        missed += [pair for pair in pairs if not merged(pair.one, pair.other)]
    assert {pair.rule for pair in missed} <= {"rewording"}
    assert len(missed) <= 20


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SHORT, SHORT.replace("is named", "is not named")),
        (SHORT + " Its port is 8080.", SHORT + " Its port is 9090."),
        (SHORT + " Call open_session.", SHORT + " Call close_session."),
        (SHORT + " Call openSession.", SHORT + " Call closeSession."),
        (SHORT + " Logins wait.", SHORT + " Logins don't wait."),
        (SHORT, "The production host of the payment queue is called crane, up in the attic."),
        ("one two three", "one two four"),
        (SHORT + " It is 80.", SHORT + " It is 8080."),
        (SHORT + " Do not stop it at night.", SHORT + " Stop it at night."),
        (SHORT + " The reader calls the writer.", SHORT + " The writer calls the reader."),
        (SHORT + " The margin is -5.", SHORT + " The margin is 5."),
        (SHORT + " It costs 5 $.", SHORT + " It costs 5 €."),
        (SHORT + " It holds, except on Sundays.", SHORT + " It holds."),
        ("", "?"),
    ],
)
def test_a_number_a_name_or_a_denial_makes_a_difference(one: str, other: str) -> None:
    assert not merged(one, other)
    assert not merged(other, one)


def test_two_functions_of_a_file_are_two() -> None:
    code = "def get():\n    '''Give the value of the session from the cache, or of the store.'''\n"
    assert merged(code + "#", code + "# so!")
    assert not merged(code + "#", code + "# so!", record="same")


def test_the_better_one_stays_and_is_named() -> None:
    kept, dropped = dedup_near(
        [candidate(0, TEXT), candidate(1, SHORT), candidate(2, TEXT.upper())], 0.9
    )
    assert [one.chunk.path for one in kept] == ["p0", "p1"]
    assert [(one.candidate.chunk.path, one.of.chunk.path, one.percent) for one in dropped] == [
        ("p2", "p0", 100)
    ]


WORDS = st.lists(st.sampled_from(["not", "7", "x_y", *"abcdefgh"]), max_size=14).map(" ".join)


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=12), st.sampled_from([0.0, 0.5, 0.8, 0.9, 1.0]))
def test_what_is_found_by_index_is_what_comparing_all_finds(
    texts: list[str], threshold: float
) -> None:
    """Compare with the definition: no better text with the same decisive words shares more."""
    kept, dropped = dedup_near([candidate(at, text) for at, text in enumerate(texts)], threshold)
    stay: list[str] = []
    for text in texts:
        own = text.split()
        marks = sorted(word for word in own if word in {"not", "7", "x_y"})
        shares = [
            2
            * sum(min(own.count(word), other.count(word)) for word in set(own))
            / (len(own) + len(other))
            for other in (each.split() for each in stay)
            if marks == sorted(word for word in other if word in {"not", "7", "x_y"})
            and own
            and says_all(" ".join(other), text)
        ]
        if not any(share > threshold for share in shares):
            stay.append(text)
    assert [one.chunk.text for one in kept] == stay
    assert len(kept) + len(dropped) == len(texts)
