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


def split(*paragraphs: str) -> list[str]:
    return plain_text.split_plain_text(
        "\n".join(f"{paragraph.rstrip()}\n" for paragraph in paragraphs), SETTINGS
    )


@pytest.mark.parametrize("item", ITEMS.values(), ids=list(ITEMS))
def test_a_list_or_a_table_stays_whole_up_to_twice_the_target(item: str) -> None:
    items = "".join(item.format(number) for number in range(1, 19))
    assert SETTINGS.target < len(items) <= 2 * SETTINGS.target
    parts = split(PROSE, PROSE, PROSE, items, PROSE, PROSE, PROSE)
    assert sum(items.rstrip() in part for part in parts) == 1


@pytest.mark.parametrize("item", ITEMS.values(), ids=list(ITEMS))
def test_a_longer_list_is_split_between_its_lines(item: str) -> None:
    items = "".join(item.format(number) for number in range(1, 60))
    parts = [part for part in split(PROSE, PROSE, items) if "well" in part or "road" in part]
    assert len(parts) > 1
    assert all(part.endswith("\n") for part in parts)
    lines = [line for part in parts for line in part.splitlines() if line in items]
    assert "".join(f"{line}\n" for line in lines if line) == items


def test_prose_that_begins_with_a_dash_is_not_a_list() -> None:
    long = "- " + PROSE * 4
    assert all(len(part) <= SETTINGS.target * 5 // 4 for part in split(PROSE, long, PROSE))


def test_a_document_of_one_paragraph_stays_whole() -> None:
    items = "".join(ITEMS["a list"].format(number) for number in range(40))
    assert SETTINGS.whole < len(items) <= SETTINGS.paragraph
    assert split(items) == [items]


@given(st.text(alphabet="-*|1.) ab\n\t", max_size=200))
def test_the_parts_concatenate_to_the_text(text: str) -> None:
    assert (
        "".join(
            plain_text.split_plain_text(
                text, IngestSettings(whole=5, paragraph=5, target=9, join=5)
            )
        )
        == text
    )
