from __future__ import annotations

from quire.core import hashing
from quire.core.types import IngestSettings

from .reading import SMALL, read_chunks, read_text, read_titles

SENTENCE = "Some words about this very subject are here. "
DEFAULT = IngestSettings()


def section(heading: str, sentences: int = 1) -> str:
    return f"{heading}\n\n{SENTENCE * sentences}\n\n"


def test_a_short_document_stays_whole_under_its_first_heading() -> None:
    text = "Intro.\n\n# Title\n\ntext\n\n## Sub\n\nmore\n"
    (chunk,) = read_chunks("a.md", text)
    assert (chunk.title, chunk.text, chunk.lines) == ("Title", text, (1, 9))
    assert read_titles("a.md", "no heading") == [""]


def test_titles_are_heading_paths() -> None:
    text = section("# Guide") + section("## Setup") + section("### Linux") + section("## Use")
    assert read_titles("a.md", text) == [
        "Guide",
        "Guide > Setup",
        "Guide > Setup > Linux",
        "Guide > Use",
    ]


def test_underlined_headings_and_markup_in_headings() -> None:
    text = (
        f"The *real* `title`\n==================\n\n{SENTENCE}\n\n"
        f"[A link](x.md) &amp; more\n-----\n\n{SENTENCE}\n"
    )
    assert read_titles("a.md", text) == ["The real title", "The real title > A link & more"]


def test_headings_in_code_fences_and_comments_are_ignored() -> None:
    text = (
        section("# Real")
        + "```\n# not\n## real\n```\n\n<!--\n# neither\n-->\n\n"
        + section("## Sub")
    )
    assert set(read_titles("a.md", text)) == {"Real", "Real > Sub"}


def test_a_fence_a_table_and_a_list_stay_whole_up_to_twice_the_target() -> None:
    fence = "```python\n" + "x = 1\n" * 15 + "```\n"
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 11
    items = "- item one\n- item two\n" * 6
    for block in (fence, table, items):
        assert SMALL.target < len(block) <= 2 * SMALL.target
        text = section("# T", 3) + block + "\n" + section("# U", 3)
        assert any(block in chunk.text for chunk in read_chunks("a.md", text))


def test_a_long_list_is_split_before_an_item() -> None:
    text = "# List\n\n" + "".join(f"- item {number}\n  goes on here\n" for number in range(30))
    first, *rest = read_chunks("a.md", text)
    assert first.text.startswith("# List\n\n- item 0")
    assert all(chunk.text.startswith("- item") for chunk in rest)


def test_a_heading_stays_with_the_text_below_it() -> None:
    text = section("# One", 5) + "## Two\n\n" + SENTENCE * 5
    assert all(not chunk.text.rstrip().endswith("## Two") for chunk in read_chunks("a.md", text))


def test_headings_without_text_join_the_next_section() -> None:
    text = "# Top\n\n## Middle\n\n" + section("### Low") + section("### Other")
    chunks = read_chunks("a.md", text)
    assert chunks[0].text.startswith("# Top\n\n## Middle\n\n### Low")
    assert [chunk.title for chunk in chunks] == ["Top > Middle > Low", "Top > Middle > Other"]


def test_very_short_sections_join_their_siblings_only() -> None:
    text = (
        section("# Doc")
        + "## A\n\ntiny\n\n## B\n\nsmall\n\n"
        + section("## C")
        + "### D\n\nx\n\n"
        + section("## E")
    )
    texts = {chunk.title: chunk.text for chunk in read_chunks("a.md", text)}
    assert (
        texts["Doc"].startswith("## A\n\ntiny\n\n## B\n\nsmall\n\n## C") or "## A" in texts["Doc"]
    )
    assert "Doc > C > D" in texts  # its next section has another parent
    assert "Doc > E" in texts


def test_a_line_that_introduces_a_list_stays_with_it() -> None:
    items = "- first point of them\n- second point of them\n- third point\n"
    text = section("# T", 2) + "In short:\n\n" + items + "\n" + SENTENCE * 2
    assert any("In short:\n\n" + items in chunk.text for chunk in read_chunks("a.md", text))


def test_links_to_other_files() -> None:
    text = """# Links
[inline](other.md), [up](../top.md#part), [root](/abs.md?raw=1), [code](lib/x.py "title")
[reference][ref], [collapsed], ![image](pic.png), [web](https://example.org/x.md)
[mail](mailto:a@b.c), [anchor](#here), [out](../../../etc/passwd), [self](page.md)
`[not a link](code.md)`, [space](<a b.md>), [escaped](c%20d.md), [twice](other.md), [folder](sub/)
[![badge](b.png)](badge.md)

```
[neither](fence.md)
```

[ref]: ref.md
[collapsed]: deep/collapsed.rst
"""
    document = read_text("docs/page.md", text)
    targets = {
        "docs/other.md": "document",
        "top.md": "document",
        "abs.md": "document",
        "docs/lib/x.py": "code",
        "docs/ref.md": "document",
        "docs/deep/collapsed.rst": "document",
        "docs/a b.md": "document",
        "docs/c d.md": "document",
        "docs/badge.md": "document",
    }
    expected = sorted(hashing.record_id(kind, path) for path, kind in targets.items())
    assert [link.target for link in document.links] == expected
    assert {(link.source, link.kind) for link in document.links} == {(document.record.id, "link")}


def test_the_default_sizes_on_a_real_page() -> None:
    text = "".join(section(f"## Part {number}", 30) for number in range(5))
    for chunk in read_chunks("a.md", text, DEFAULT):
        assert len(chunk.text) <= DEFAULT.target * 5 // 4
        assert chunk.title.startswith("Part ")


def test_the_id_of_a_heading_is_no_part_of_its_title() -> None:
    text = (
        section("# Guide {#guide}")
        + section("## Use it {: #use .wide}")
        + section("## Loops {#each}")
        + section("## A {#set} of things")
    )
    assert read_titles("a.md", text) == [
        "Guide",
        "Guide > Use it",
        "Guide > Loops {#each}",
        "Guide > A {#set} of things",
    ]
