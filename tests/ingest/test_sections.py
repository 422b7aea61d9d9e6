"""Sections, and the labels of requirements, features and decisions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.ingest import labels
from quire.ingest.decode import NotText
from quire.ingest.read import build_document
from quire.ingest.types import UnreadableFile

from .reading import SMALL, check_outline, read_entities, read_entity_names, read_text

GUIDE = """\
[![Build](badge.svg)](ci.html)

A *small* guide to `x`, see [there](y.md).

# Guide

- a list
- is passed over

What it is
about.

## Setup

```sh
# not a heading
```

### Linux

Use **apt**.

## Use

| a | b |
|---|---|
| 1 | 2 |
"""


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    whole, guide, setup, linux, use = read_entities("guide.md", GUIDE)
    assert (whole.kind, whole.name, whole.summary) == (
        "document",
        "Guide",
        "A small guide to x, see there.",
    )
    assert {entity.kind for entity in (guide, setup, linux, use)} == {"section"}
    assert [entity.qualified for entity in (guide, setup, linux, use)] == [
        "Guide",
        "Guide > Setup",
        "Guide > Setup > Linux",
        "Guide > Use",
    ]
    assert [entity.parent for entity in (guide, setup, linux, use)] == [0, 1, 2, 1]
    assert guide.summary == "What it is about."
    assert (setup.summary, linux.summary, use.summary) == ("", "Use apt.", "")
    text = GUIDE.encode()
    assert text[setup.start : setup.end].decode().startswith("## Setup")
    assert text[setup.start : setup.end].decode().endswith("Use **apt**.\n\n")
    assert (guide.end, use.end) == (len(text), len(text))
    assert setup.lines == (13, 22)


def test_every_reader_with_headings_gives_the_same_sections() -> None:
    markdown = "# One\n\nFirst *words*.\n\n## Two\n\nMore.\n\n# Three\n"
    rst = "One\n===\n\nFirst *words*.\n\nTwo\n---\n\nMore.\n\nThree\n=====\n"
    html = "<h1>One</h1><p>First <em>words</em>.</p><h2>Two</h2><p>More.</p><h1>Three</h1>"
    sections = [
        [(entity.kind, entity.qualified, entity.summary, entity.parent) for entity in entities[1:]]
        for entities in (
            read_entities("a.md", markdown),
            read_entities("a.rst", rst),
            read_entities("a.html", html),
        )
    ]
    assert sections[0] == [
        ("section", "One", "First words.", 0),
        ("section", "One > Two", "More.", 1),
        ("section", "Three", "", 0),
    ]
    assert sections[0] == sections[1] == sections[2]


def test_an_empty_heading_ends_a_section_but_is_not_one() -> None:
    entities = read_entities("a.md", "# One\n\ntext\n\n#\n\n## Sub\n")
    assert [(entity.name, entity.parent) for entity in entities[1:]] == [("One", 0), ("Sub", 0)]
    assert entities[1].lines == (1, 4)


def test_metadata_provides_the_summary() -> None:
    front_matter = (
        "---\ntitle: T\ndescription: >-\n  Two lines\n  of it.\nsummary: no\n---\n# H\n\nText.\n"
    )
    assert read_entities("a.md", front_matter)[0].summary == "Two lines of it."
    assert read_entities("a.md", "---\nsummary: In short\n---\n\nText.\n")[0].summary == "In short"
    assert read_entities("a.md", "---\ntitle: T\n---\n\nText.\n")[0].summary == "Text."
    page = '<head><meta name="description" content="In  short"></head><p>Text.'
    assert read_entities("a.html", page)[0].summary == "In short"
    assert read_entities("a.txt", "First\nlines.\n\nMore.")[0].summary == "First lines."
    pep = "PEP: 1\nTitle: T\nStatus: Final\n\nAbstract\n========\n\n.. note:: no\n\n:Field: no\n\nYes ``it`` `is <x>`_.\n"
    whole, abstract = read_entities("a.rst", pep)
    assert whole.summary == abstract.summary == "Yes it is."


def test_the_title_section_has_the_summary_of_the_document() -> None:
    whole, title, one = read_entities("a.md", "# T\n\n## One\n\nWords.\n")
    assert whole.summary == title.summary == one.summary == "Words."


def test_a_reference_definition_is_not_part_of_a_summary() -> None:
    (whole, *_) = read_entities("a.md", "# T\n\nSee [it].\n\n[it]: https://example.org/\n")
    assert whole.summary == "See it."


@pytest.mark.parametrize(
    ("heading", "kind", "identifier"),
    [
        ("REQ-12 Passwords are hashed", "requirement", "REQ-12"),
        ("REQ-AUTH-012: Log in", "requirement", "REQ-AUTH-012"),
        ("3.1 FR-3.1 — Export", "requirement", "FR-3.1"),
        ("[NFR-2] Fast", "requirement", "NFR-2"),
        ("US-7", "requirement", "US-7"),
        ("Requirement: Two factors", "requirement", ""),
        ("Requirement 12", "requirement", "Requirement 12"),
        ("Scenario: it works", "requirement", ""),
        ("Feature: Search", "feature", ""),
        ("FEATURE: Search", "feature", ""),
        ("FEAT-3 Search", "feature", "FEAT-3"),
        ("ADR-0012: Use SQLite", "decision", "ADR-0012"),
        ("ADR 12: Use SQLite", "decision", "ADR-12"),
        ("Decision", "decision", ""),
        ("Decision Outcome", "decision", ""),
        ("Decision: use SQLite", "decision", ""),
    ],
)
def test_labeled_headings(heading: str, kind: str, identifier: str) -> None:
    assert labels.parse_heading(heading) == labels.Label(kind, identifier)


@pytest.mark.parametrize(
    "heading",
    [
        "Requirements",
        "Requirements: the list",
        "Feature flags",
        "Feature 3 ways",
        "Decisions we made",
        "Scenario 1",
        "UTF-8 mode",
        "PEP 8",
        "REQ",
        "REQ-",
        "US-7th",
        "PREREQ-1",
        "",
    ],
)
def test_headings_without_a_label(heading: str) -> None:
    assert labels.parse_heading(heading) is None


LISTS = """\
# Needs

REQ-1: The first.
Goes on.
REQ-2 — the second.

As is said in
REQ-3 and elsewhere.

- **FR-1** Log in
  - FR-1.1: by name
  - by card
  - FR-1.2 by key
- something else
- [REQ-9: pointed at](other.md)
- [REQ-8] stands here

| id | text |
|----|------|
| NFR-1 | Fast |
| NFR-2 | Small |

```
REQ-7: in code
```

**Decision:** we do
all of it.

We decided to stop.

Decision:

requirement: small letters
"""


def test_labeled_lines() -> None:
    entities = read_entities("needs.md", LISTS)
    assert [(e.kind, e.name, e.attrs.get("id", ""), e.lines) for e in entities[1:]] == [
        ("section", "Needs", "", (1, 34)),
        ("requirement", "REQ-1: The first. Goes on.", "REQ-1", (3, 4)),
        ("requirement", "REQ-2 — the second.", "REQ-2", (5, 6)),
        ("requirement", "FR-1 Log in", "FR-1", (10, 13)),
        ("requirement", "FR-1.1: by name", "FR-1.1", (11, 11)),
        ("requirement", "FR-1.2 by key", "FR-1.2", (13, 13)),
        ("requirement", "[REQ-8] stands here", "REQ-8", (16, 17)),
        ("requirement", "NFR-1 | Fast", "NFR-1", (20, 20)),
        ("requirement", "NFR-2 | Small", "NFR-2", (21, 21)),
        ("decision", "Decision: we do all of it.", "", (27, 29)),
        ("decision", "We decided to stop.", "", (30, 31)),
    ]  # fmt: skip
    assert [e.parent for e in entities[1:]] == [0, 1, 1, 1, 4, 4, 1, 1, 1, 1, 1]
    assert entities[5].qualified == "Needs > FR-1.1"


def test_plain_text_has_requirements_but_no_sections() -> None:
    assert read_entity_names("a.txt", "Words.\n\nREQ-1: Be fast.\n\nMore.") == [
        ("requirement", "REQ-1: Be fast.")
    ]


NYGARD = """\
# 12. Use SQLite

Date: 2024-01-02

## Status

Accepted, see [11](0011.md)

## Context

Words.

## Decision

One *file* is enough.

More of it.
"""


def test_a_decision_record_is_a_decision_as_a_whole() -> None:
    document = read_text("docs/ADR/0012-use-sqlite.md", NYGARD)
    assert document.outline is not None
    whole, *sections = document.outline.entities
    assert (whole.kind, whole.name, whole.summary) == (
        "decision",
        "12. Use SQLite",
        "One file is enough.",
    )
    assert document.record.kind == "document"
    assert document.record.attrs["status"] == "Accepted, see 11"
    assert document.record.attrs["id"] == "ADR-12"
    title, *others = sections
    assert (title.kind, title.summary, title.attrs) == (
        "decision",
        whole.summary,
        {"id": "ADR-12"},
    )
    assert {section.kind for section in others} == {"section"}


def test_outside_a_decision_folder_only_the_section_is_a_decision() -> None:
    entities = read_entities("notes/sqlite.md", NYGARD)
    assert entities[0].kind == "document"
    assert [entity.name for entity in entities if entity.kind == "decision"] == ["Decision"]


def test_a_title_with_an_identifier_makes_a_decision_record_anywhere() -> None:
    madr = "---\nstatus: proposed\n---\n# ADR-7: Use SQLite\n\n* Status: rejected\n\n## Decision Outcome\n\nYes.\n"
    document = read_text("a.md", madr)
    assert document.outline is not None
    assert document.outline.entities[0].kind == "decision"
    assert document.record.attrs["status"] == "proposed"
    assert document.record.attrs["id"] == "ADR-7"
    without = read_text("a.md", madr.partition("---\n# ")[2].join(("# ", "")))
    assert without.record.attrs["status"] == "rejected"


FEATURE = '''\
# language: en
@search
Feature: Search
  People find
  what they wrote.

  Background:
    Given a store

  @fast
  Scenario: one word
    When I search for "a"
    Then I find it
      """
      Scenario: not this one
      """

  Scenario Outline: many words
    When I search for <word>

    Examples:
      | word |
      | a    |
'''


def test_gherkin_features_and_scenarios() -> None:
    whole, feature, background, one, many = read_entities("a.feature", FEATURE)
    assert (whole.kind, whole.name, whole.summary) == (
        "document",
        "Feature: Search",
        "People find what they wrote.",
    )
    assert (feature.kind, feature.summary, feature.parent) == ("feature", whole.summary, 0)
    assert (background.kind, background.name, background.parent) == ("section", "Background", 1)
    assert (one.kind, one.name, one.lines, one.parent) == (
        "requirement",
        "Scenario: one word",
        (10, 17),
        1,
    )
    assert one.summary.startswith('When I search for "a" Then I find it')
    assert many.name == "Scenario Outline: many words"
    assert read_entities("b.feature", "no keyword\n")[0].summary == "no keyword"


LINES = st.sampled_from(
    [
        "# Heading", "## Sub", "### REQ-1: deep", "#", "Title", "=====", "-----", "- FR-1: item", "  - FR-1.1 nested",
        "    - FR-2 deeper", "- x", "1. US-1 one", "```", "    code", "| REQ-3 | b |", "|---|---|", "> Decision: quote", "---",
        "Decision: yes", "We decided to", "Decision:", "REQ-4 in a line", "", "", " ", "\t", "Words. More!", "漢字。仮名",
        "e\u0301", ".. note::", "::", ":field: x", "<h1>H</h1>", "<p>REQ-5: p", "<ul><li>REQ-6 x", "@tag", "Feature: f",
        "  Scenario: s", "  Rule: r", '"""', "[a]: x", "[REQ-7] b", "**ADR 3:** c", "\u2028", "\x0b",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.lists(LINES, max_size=20).map("\n".join), st.text(max_size=80)),
    st.sampled_from(["a.md", "adr/a.md", "a.rst", "a.html", "a.txt", "a.feature"]),
)
def test_outlines_of_any_text_are_consistent(text: str, path: str) -> None:
    try:
        document = build_document(path, text.encode("utf-8", "replace"), SMALL)
    except (NotText, UnreadableFile):
        return
    check_outline(document)
    assert document == build_document(path, text.encode("utf-8", "replace"), SMALL)
