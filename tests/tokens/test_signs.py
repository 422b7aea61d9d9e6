"""Texts are divided between graphemes only."""

from __future__ import annotations

import unicodedata

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core.graphemes import is_boundary, last_boundary

CLINGING = (
    [chr(n) for n in (0x200B, 0x200C, 0x200D, 0x0D, 0x0A, 0xAD, 0x600, 0x6DD, 0xD4E, 0x111C2)]
    + [chr(n) for span in ((0x300, 0x305), (0x900, 0x950), (0xD00, 0xD50)) for n in range(*span)]
    + [
        chr(n)
        for span in ((0x1100, 0x1103), (0x1161, 0x1163), (0x11A8, 0x11AA))
        for n in range(*span)
    ]
    + list("가각🇩🇪👩👍🏽❤️⃣a1 \u0e01\u0e33\u1039\u1000\u17d2\u1780\U000e0067\U000e007f")
)
known = st.characters(exclude_categories=("Cs", "Cn", "Co")).filter(
    lambda sign: unicodedata.category(sign) != "Cn"
)


@settings(max_examples=1500, deadline=None)
@given(
    text=st.one_of(
        st.text(st.sampled_from(CLINGING), max_size=12),
        st.text(known, max_size=12),
        st.lists(st.one_of(st.sampled_from(CLINGING), known), max_size=12).map("".join),
    )
)
def test_no_cut_within_a_sign(text: str) -> None:
    ends = {match.end() for match in regex.finditer(r"\X", text)} | {0}
    cuts = {at for at in range(len(text) + 1) if is_boundary(text, at)}
    assert cuts <= ends
    assert {0, len(text)} <= cuts
    for at in range(len(text) + 3):
        assert last_boundary(text, at) == max(cut for cut in cuts if cut <= at)


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("abc", [0, 1, 2, 3]),
        ("a\r\nb", [0, 1, 3, 4]),
        ("e\u0301e", [0, 2, 3]),
        ("🇩🇪🇫🇷", [0, 2, 4]),
        ("👩‍👩‍👧x", [0, 5, 6]),
        ("中文", [0, 1, 2]),
        ("각\u11a8가", [0, 2, 3]),
        ("क्षा", [0, 4]),
        ("", [0]),
    ],
)
def test_signs_that_readers_know(text: str, cuts: list[int]) -> None:
    assert [at for at in range(len(text) + 1) if is_boundary(text, at)] == cuts
