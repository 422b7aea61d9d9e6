"""Every format renders entities exactly as promised, whatever their text contains."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from quire import packing
from quire.core.types import FULL, OUTLINE, SIGNATURE, Candidate, Entity, Piece, RenderSpec
from quire.rendering import heading_text, item_text, render
from quire.rendering.escape import escape_summary
from tests.conftest import Tree
from tests.pipeline.builders import chunk

GOLDEN = Path(__file__).parent / "golden"

TOTAL = Entity(
    "method",
    "total",
    "Cart.total",
    0,
    900,
    (12, 40),
    parent=1,
    signature="def total(self) -> int:",
    summary="Add up what is in the cart.",
)
PARSE = Entity(
    "function", "parse", "parse", 0, 900, (3, 9), parent=0, signature="func parse(s string) Cart"
)
GUIDE = Entity(
    "section", "Paying", "Shop > Paying", 0, 900, (5, 9), parent=0, summary="How to pay."
)
TALK = Entity("message", "ana, turn 2", "ana, turn 2", 0, 900, (2, 2), parent=0)
COMMIT = Entity("commit", "Round prices down", "Round prices down", 0, 90, (0, 0))


def piece(
    entity: Entity,
    text: str,
    path: str,
    score: int,
    spec: RenderSpec,
    *,
    language: str = "",
    level: str = FULL,
) -> Piece:
    one = replace(chunk(text, path), lines=entity.lines)
    candidate = Candidate(one, score, {}, entity, language)
    return Piece(
        candidate, 9, item_text(candidate, spec, level), level=level, group=path + entity.name
    )


def example(spec: RenderSpec) -> list[Piece]:
    code = "def total(self) -> int:\n    return sum(item.price for item in self.items)\n"
    return [
        piece(TALK, "ana (2026-01-02):\nWe decided to round down.\n", "talk.jsonl", 60, spec),
        piece(TOTAL, code, "shop/cart.py", 50, spec, language="python"),
        piece(COMMIT, "Round prices down\n\nshop/cart.py\n", ".git/commit/3f2a", 40, spec),
        piece(GUIDE, "## Paying\n\nHow to pay.\n\nBy card.\n", "docs/shop.md", 30, spec),
        piece(
            PARSE, "func parse(s string) Cart {}\n" + "x" * 600, "cart.go", 20, spec, language="go"
        ),
    ]


def spec_of(name: str, **more: object) -> RenderSpec:
    return replace(
        RenderSpec(format=name, groups=True, cap=500, sources=10),
        **more,  # type: ignore[arg-type]  # whatever a test names
    )


def rendered(pieces: list[Piece], spec: RenderSpec) -> str:
    return render(packing.arrange(pieces, "grouped", "greedy", by_category=spec.groups), spec)


@pytest.mark.parametrize("name", ["markdown", "xml", "plain"])
def test_the_example_is_rendered_as_laid_out(name: str) -> None:
    spec = spec_of(name)
    expected = (GOLDEN / f"entities.{name}.txt").read_bytes().decode()
    assert rendered(example(spec), spec) == expected


@pytest.mark.parametrize("name", ["markdown", "xml", "plain"])
def test_without_groups_all_stand_by_score(name: str) -> None:
    spec = spec_of(name, groups=False, sources=0)
    text = rendered(example(spec), spec)
    names = ["ana, turn 2", "Cart.total", "Round prices down", "Paying", "parse"]
    places = [text.index(each) for each in names]
    assert places == sorted(places)
    assert "Relevant Code" not in text
    assert "---" not in text
    assert "ources" not in text


def test_without_content_markdown_says_what_entities_say_of_themselves() -> None:
    spec = spec_of("markdown", content=False)
    text = rendered(example(spec), spec)
    assert "```" not in text
    assert "Add up what is in the cart." in text
    assert "sum(item.price" not in text


@pytest.mark.parametrize("name", ["markdown", "xml", "plain"])
def test_without_content_what_has_no_summary_still_says_its_text(name: str) -> None:
    spec = spec_of(name, content=False, sources=0)
    note = replace(chunk("Ports are assigned by Ana.\n", ".quire/memory/1"), kind="memory")
    one = Candidate(note, 1, {})
    shown = Piece(one, 1, item_text(one, spec))
    assert "\nPorts are assigned by Ana.\n" in rendered([shown], spec) + "\n"


@pytest.mark.parametrize("name", ["xml", "plain"])
@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("word " * 40, "word"),
        ("one line of text\n" * 12, "text"),
        ("x" * 300, "x"),
    ],
)
def test_a_cap_ends_with_a_line_or_a_word_and_is_marked(name: str, text: str, end: str) -> None:
    spec = spec_of(name, cap=100, sources=0, groups=False)
    bare = replace(PARSE, summary="")
    told = rendered([piece(bare, text, "a.go", 1, spec)], spec).removesuffix(
        "\n</entity>\n</context>"
    )
    assert told.endswith(f"{end}\n...")
    shown = told.removesuffix("\n...").split("\n", 1 if name == "plain" else 2)[-1]
    assert text.startswith(shown)
    assert 60 < len(shown) <= 100
    assert text[len(shown)].isspace() or end == "x"
    described = replace(PARSE, summary=text)
    assert f"{end}\n..." in rendered([piece(described, "x", "a.go", 1, spec)], spec)


@pytest.mark.parametrize("name", ["markdown", "xml", "plain"])
def test_at_most_ten_sources_are_named(name: str) -> None:
    spec = spec_of(name)
    many = [
        piece(replace(PARSE, name=f"f{n}", qualified=f"f{n}"), "x\n", f"{n}.go", 99 - n, spec)
        for n in range(14)
    ]
    footer = rendered(many, spec).lower().rpartition("sources" if name != "xml" else "<sources>")[2]
    assert "f9" in rendered(many, spec).rpartition("f8")[2]
    assert len(re.findall(r"\bf\d+\b", footer if name != "xml" else xml_footer(many, spec))) == 10


def xml_footer(pieces: list[Piece], spec: RenderSpec) -> str:
    return rendered(pieces, spec).partition("<sources>")[2]


def test_a_text_up_to_the_cap_is_whole_and_a_longer_one_is_marked() -> None:
    spec = spec_of("markdown", sources=0)
    exact = rendered([piece(PARSE, "x" * 500, "a.go", 1, spec)], spec)
    assert "x" * 500 in exact
    assert "truncated" not in exact
    longer = rendered([piece(PARSE, "x" * 501, "a.go", 1, spec)], spec)
    assert "x" * 500 + "\n... (truncated)\n```" in longer
    assert "x" * 501 not in longer


def test_a_cap_splits_no_character_that_is_seen_as_one() -> None:
    spec = spec_of("markdown", cap=4, sources=0)
    text = rendered(
        [piece(PARSE, "abc\N{WOMAN}\N{ZERO WIDTH JOINER}\N{WOMAN} rest", "a.go", 1, spec)], spec
    )
    assert "\nabc\n... (truncated)\n" in text


def test_levels_say_less_and_less() -> None:
    for name in ("markdown", "xml", "plain", "markers", "json"):
        spec = spec_of(name, sources=0, groups=False)
        lengths = [
            len(
                rendered(
                    [piece(PARSE, "func parse() {\n" + "x\n" * 90, "a.go", 1, spec, level=level)],
                    spec,
                )
            )
            for level in (FULL, SIGNATURE, OUTLINE)
        ]
        assert lengths[0] > lengths[1] >= lengths[2], name


def test_an_outline_is_a_name_and_a_place() -> None:
    for name, expected in (
        ("markdown", "### parse\n*a.go:3*"),
        (
            "xml",
            '<context>\n<entity name="parse" type="function" file="a.go" line="3" />\n</context>',
        ),
        ("plain", "parse [a.go:3]"),
    ):
        spec = spec_of(name, sources=0, groups=False)
        assert rendered([piece(PARSE, "x", "a.go", 1, spec, level=OUTLINE)], spec) == expected


def test_a_signature_is_rendered_with_its_summary() -> None:
    spec = spec_of("markdown", sources=0, groups=False)
    text = rendered([piece(TOTAL, "x", "a.py", 1, spec, language="python", level=SIGNATURE)], spec)
    assert text == (
        "### Cart.total\n*a.py:12*\n\nAdd up what is in the cart.\n\n"
        "```python\ndef total(self) -> int:\n```"
    )


def test_two_stretches_of_one_entity_stand_together_with_a_gap() -> None:
    spec = RenderSpec(format="markdown")
    first, second = chunk("one\n", "a.py", 0), chunk("two\n", "a.py", 7)
    pieces = [
        Piece(Candidate(one, 1, {}, TOTAL, "python"), 1, one.text, group="total")
        for one in (first, second)
    ]
    assert "```python\none\n# … continues at line 8\ntwo\n```" in rendered(pieces, spec)


def test_the_heading_is_what_an_entity_costs_beside_its_text() -> None:
    spec = spec_of("markdown")
    one = piece(TOTAL, "x", "a.py", 1, spec)
    assert heading_text(one, spec) == "### Cart.total\n*a.py:12*\n\nAdd up what is in the cart."
    assert heading_text(one, RenderSpec()) == "[DOC: a.py]\n"


# --- whatever a text holds -----------------------------------------------------------------------

nasty = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(
            [
                "```",
                "````",
                "~~~",
                "]]>",
                "<!--",
                "</entity>",
                "</context>",
                "&amp;",
                '"',
                "'",
                "\n",
                "---\n",
                "# x",
                "### y\n",
                "<script>",
                "<pre>\n",
                "\r\n",
                "\t",
                "\x00",
                "\x1b",
                "\ufffe",
                "é",
                "検",
                " ",
            ]
        ),
        max_size=12,
    ).map("".join),
)


def any_pieces(spec: RenderSpec) -> st.SearchStrategy[list[Piece]]:
    def make(rows: list[tuple[str, str, str, str, str]]) -> list[Piece]:
        return [
            piece(
                replace(
                    PARSE,
                    kind=kind,
                    name=f"{name}{place}",
                    qualified=f"{name}{place}",
                    summary=summary.strip().split("\n\n")[0].strip(),
                ),
                text or "x",
                f"{path}{place}",
                100 - place,
                spec,
                language="python",
            )
            for place, (kind, name, path, summary, text) in enumerate(rows)
        ]

    kinds = st.sampled_from(["function", "section", "message", "commit"])
    return st.lists(st.tuples(kinds, nasty, nasty, nasty, nasty), min_size=1, max_size=4).map(make)


XML, MARKDOWN = spec_of("xml", cap=0), spec_of("markdown", cap=0, sources=3)
_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def allowed(text: str) -> str:
    return _FORBIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


@settings(max_examples=300, deadline=None)
@given(any_pieces(XML))
def test_xml_parsed_back_gives_the_same_entities(pieces: list[Piece]) -> None:
    root = ET.fromstring(rendered(pieces, XML))
    found = {each.get("name"): each for each in root.iter("entity")}
    assert len(found) == len(pieces)
    for one in pieces:
        entity = one.candidate.entity
        assert entity is not None
        parsed = found[allowed(entity.qualified)]
        assert parsed.get("type") == entity.kind
        if not one.candidate.chunk.path.startswith(".git/"):
            assert parsed.get("file") == allowed(one.candidate.chunk.path)
            assert parsed.get("line") == "3"
        expected = allowed(one.text.strip("\n"))
        assert (parsed.text or "\n\n").removeprefix("\n").removesuffix("\n") == expected
    titles = [section.get("name") for section in root.iter("section")]
    assert len(set(titles)) == len(titles)


@settings(max_examples=300, deadline=None)
@given(any_pieces(MARKDOWN))
def test_markdown_rendered_has_the_same_code_blocks(pieces: list[Piece]) -> None:
    text = rendered(pieces, MARKDOWN)
    tokens = MarkdownIt("commonmark").parse(text)
    fences = [token for token in tokens if token.type in {"fence", "code_block"}]
    ordered = packing.arrange(pieces, "grouped", "greedy", by_category=True)
    expected = [block.first.text for block in ordered if block.first.text.strip("\n")]
    assert [token.content for token in fences] == [as_read(each) for each in expected]
    assert all(token.info == "python" for token in fences)
    titles = [tokens[place + 1].content for place, token in enumerate(tokens) if token.tag == "h2"]
    assert set(titles) <= {
        "",
        "Relevant Code",
        "Related Documentation",
        "Previous Conversations",
        "Other Context",
    }


def test_what_stands_between_a_summary_and_the_text_is_marked() -> None:
    spec = spec_of("markdown")
    entity = replace(GUIDE, end=9000)
    for start, gap in ((30, ""), (400, "\n...")):
        one = piece(entity, "By card.\n", "docs/shop.md", 30, spec)
        moved = replace(one.candidate.chunk, start=start, end=start + 9)
        one = replace(one, candidate=replace(one.candidate, chunk=moved))
        page = render(packing.arrange([one], "grouped", "greedy", by_category=True), spec)
        assert f"\nHow to pay.{gap}\n\nBy card." in page


def test_no_line_of_a_summary_is_code() -> None:
    assert escape_summary("one\n\r\ttwo\r\n    three") == "one\n\ntwo\n    three"


def as_read(text: str) -> str:
    """Return a text as a Markdown reader sees it."""
    lines = (text.strip("\n") + "\n").replace("\r\n", "\n").replace("\r", "\n")
    return lines.replace("\0", "\ufffd")


@pytest.mark.parametrize("kind", ["code", "document", "block.paragraph"])
def test_a_body_on_a_page_that_is_capped_says_so(kind: str) -> None:
    spec = RenderSpec("page", cap=100, content=False)
    for text in ("import one\n" * 40, "import " * 80):
        long = replace(chunk(text, "a.py"), kind=kind)
        told = item_text(Candidate(long, 1, {}), spec)
        assert "import\n..." in told or "one\n..." in told
        short = replace(chunk(text[:95], "a.py"), kind=kind)
        assert "..." not in item_text(Candidate(short, 1, {}), spec)


@pytest.mark.parametrize("form", ["markdown", "xml", "plain", "json", "markers"])
@pytest.mark.parametrize("recipe", ["documents", "workspace"])
def test_what_is_cut_to_fit_fits_in_every_format(tree: Tree, recipe: str, form: str) -> None:
    """The summary of a section must not take the room that its text was cut to."""
    sentences = " ".join(f"Sentence number {n} speaks of the walrus import." for n in range(80))
    tree.write("a.md", f"# Walrus\n\n{sentences}\n")
    tree.index()
    with tree.open() as opened:
        for budget in (80, 120, 150, 200, 400):
            reserve = {"system": 0, "query": 0, "response": 0}
            more: dict[str, Any] = {"reserve": reserve} if recipe == "documents" else {}
            page = opened.assemble(
                "walrus import", recipe=recipe, format=form, budget=budget, overflow="cut", **more
            )
            assert page.truncated
            assert budget * 3 // 4 < page.tokens <= budget
            is_cut = any(source.level == "cut" for source in page.sources)
            is_marked = any(mark in page.text for mark in ("...", "…", '"truncated":true'))
            assert is_marked or not is_cut
