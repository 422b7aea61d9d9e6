"""Pages with next to nothing in them, and pages of pieces of markup, are imported."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.workspace.importers import links
from quire.workspace.importers.build_tree import build_tree
from quire.workspace.importers.discover import FORMATS, Texts, build_folder
from quire.workspace.importers.markdown import COMMENT, parse_page
from quire.workspace.importers.outline import without_code

PIECES = [
    *(
        "# T",
        "Title\n=====",
        "\n",
        "\n\n",
        "---\n",
        "title: x\n",
        "Title: x\n",
        ":: \n",
        ".. x::\n",
    ),
    *(
        "- [ ] a",
        "- a",
        "  - b",
        "> [!note]",
        "> q",
        "![a](b)",
        "![[a|b]]",
        "[[",
        "]]",
        "`",
        "```\n",
    ),
    *(
        "<!-- a -->",
        "<!--",
        "|a|b|\n|-|-|\n",
        "^x",
        "#tag",
        "📅 2026-01-02",
        ":pep:`8`",
        "    code",
        "x",
    ),
]
PAGES = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def imported(page_format: str, texts: dict[str, str]) -> int:
    folder, _ = build_folder("t", page_format, Texts(texts, tuple(texts), ()))
    return len(build_tree(folder, lambda page, part: f"{page}|{part}").blocks)


@pytest.mark.parametrize("path", ["a.rst", "a.md", "folder/a.markdown"])
@pytest.mark.parametrize(
    "text",
    [
        *("", "\n", " ", "Title\n=====\n", "=====\nTitle\n=====\n", "# Title", "# Title\n", "#\n"),
        *("---\ntitle: x\n---\n", "---\n---\n", "Title: x\n\n", "Title: x\nAuthor: y\n\n", "---\n"),
    ],
)
@pytest.mark.parametrize("page_format", FORMATS)
def test_a_page_with_only_a_title(page_format: str, text: str, path: str) -> None:
    assert imported(page_format, {path: text}) >= 1


@settings(max_examples=150, deadline=None)
@given(page_format=st.sampled_from(FORMATS), rst=PAGES, markdown=PAGES, table=PAGES)
def test_any_page_is_imported(page_format: str, rst: str, markdown: str, table: str) -> None:
    texts = {"a.rst": rst, "b.md": markdown, "c.csv": table, "c/d.md": markdown}
    assert imported(page_format, texts) >= 3


def test_only_comments_are_left_out() -> None:
    assert COMMENT.match("<!-- a -->\n<!-- b -->\n")
    assert not COMMENT.match("<!-- a --> text <!-- b -->")
    page = parse_page("a.md", "<!-- a -->\n\n<!-- a --> text <!-- b -->\n")
    assert [part.text for part in page.parts] == ["<!-- a --> text <!-- b -->"]


CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)>\s]+)>?[^)]*\)")


@settings(max_examples=500, deadline=None)
@given(st.text("`a \n", max_size=30))
def test_code_spans_are_what_the_expression_says(text: str) -> None:
    assert without_code(text) == CODE_SPAN.sub(" ", text)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.sampled_from(["[", "]", "(", ")", "](", "<", ">", "a", " ", "[a](b)"])).map("".join)
)
def test_links_are_what_the_expression_says(text: str) -> None:
    assert list(links._markdown_links(text)) == LINK.findall(text)
