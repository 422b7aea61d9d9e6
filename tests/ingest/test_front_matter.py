from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.ingest import front_matter
from quire.ingest.front_matter import parse_timestamp

from .reading import read_text

PAGE = """---
title: "Why we moved: a report"
date: 2024-03-01
updated: 2024-05-06T07:08:09Z
author: [Ada Lovelace, 'Charles Babbage']
tags:
  - engines
  - history   # and more
status: draft
nested:
  title: not this one
description: |
---
# Heading

Text.
"""


def test_front_matter_describes_the_record_and_stays_in_the_text() -> None:
    document = read_text("page.md", PAGE)
    record = document.record
    assert record.title == "Why we moved: a report"
    assert record.modified == 1714979289
    assert record.author == "Ada Lovelace, Charles Babbage"
    assert record.attrs == {
        "language": "markdown",
        "role": "documentation",
        "tags": "engines, history",
        "status": "draft",
    }
    assert "".join(chunk.text for chunk in document.chunks) == PAGE
    assert record.acl is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("1970-01-02", 86400),
        ("2024-05-06T07:08:09Z", 1714979289),
        ("2024-05-06 07:08:09", 1714979289),
        ("2024-05-06T09:08:09+02:00", 1714979289),
        ("2024-05-06 09:08:09 +0200", 1714979289),
        ("2024-05-06T07:08:09.999Z", 1714979289),
        ("1969-12-31", -86400),
        ("0001-01-01T00:00:00+23:59", -62135683140),
        ("yesterday", None),
        ("2024-13-01", None),
        ("", None),
    ],
)
def test_dates_are_seconds_utc(value: str, seconds: int | None) -> None:
    assert parse_timestamp(value) == seconds


def test_a_rule_at_the_top_is_not_front_matter() -> None:
    assert read_text("a.md", "---\n\n# Real title\n").record.title == "Real title"
    assert read_text("a.md", "---\n").record.title == "a.md"
    assert read_text("a.md", "--- \ntitle: x\n--- \n").record.title == "x"
    assert front_matter.parse("text\n---\ntitle: x\n---\n") == front_matter.EMPTY


def test_header_fields_of_restructured_text() -> None:
    text = "PEP: 8\nTitle: Style Guide\nAuthor: Guido,\n        Barry\nStatus: Active\n\nIntro\n=====\n\nx\n"
    record = read_text("pep.rst", text).record
    assert (record.title, record.author) == ("Style Guide", "Guido, Barry")
    assert record.attrs["status"] == "Active"
    assert (
        read_text("a.rst", "Note: this is prose.\nAnd goes on.\n\nTitle: no\n").record.title
        == "a.rst"
    )


@given(st.text(max_size=300))
def test_any_text_may_be_front_matter(text: str) -> None:
    matter = front_matter.parse(f"---\n{text}\n---\n")
    assert 0 <= matter.end <= len(text) + 10
    front_matter.parse_header(text)
