from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import IngestSettings
from quire.ingest import text as plain_text

SETTINGS = IngestSettings()
PROSE = "Snow lay on the pass until May. Then the carts went up again, slowly. " * 4
ITEMS = {
    "a list": "- Stop number {} has a well. Ask for the key at the inn.\n",
    "a numbered list": "{}. Take the road to the left. It is the longer one.\n",
    "a table": "| stop {} | the well is behind the inn. Ask there. |\n",
}


def cut(*paragraphs: str) -> list[str]:
    return plain_text.split_plain_text(
        "\n".join(f"{each.rstrip()}\n" for each in paragraphs), SETTINGS
    )


@pytest.mark.parametrize("item", ITEMS.values(), ids=list(ITEMS))
def test_a_list_or_a_table_stays_whole_up_to_twice_the_target(item: str) -> None:
    listed = "".join(item.format(number) for number in range(1, 19))
    assert SETTINGS.target < len(listed) <= 2 * SETTINGS.target
    found = cut(PROSE, PROSE, PROSE, listed, PROSE, PROSE, PROSE)
    assert sum(listed.rstrip() in piece for piece in found) == 1


@pytest.mark.parametrize("item", ITEMS.values(), ids=list(ITEMS))
def test_a_longer_one_is_cut_between_its_lines(item: str) -> None:
    listed = "".join(item.format(number) for number in range(1, 60))
    parts = [piece for piece in cut(PROSE, PROSE, listed) if "well" in piece or "road" in piece]
    assert len(parts) > 1
    assert all(part.endswith("\n") for part in parts)
    lines = [line for part in parts for line in part.splitlines() if line in listed]
    assert "".join(f"{line}\n" for line in lines if line) == listed


def test_prose_that_begins_with_a_dash_is_no_list() -> None:
    long = "- " + PROSE * 4
    assert all(len(piece) <= SETTINGS.target * 5 // 4 for piece in cut(PROSE, long, PROSE))


def test_a_document_of_one_paragraph_stays_whole() -> None:
    listed = "".join(ITEMS["a list"].format(number) for number in range(40))
    assert SETTINGS.whole < len(listed) <= SETTINGS.paragraph
    assert cut(listed) == [listed]


@given(st.text(alphabet="-*|1.) ab\n\t", max_size=200))
def test_nothing_is_lost(text: str) -> None:
    assert (
        "".join(
            plain_text.split_plain_text(
                text, IngestSettings(whole=5, paragraph=5, target=9, join=5)
            )
        )
        == text
    )
