"""The titles and items of a Markdown page, by an independent parser."""

from __future__ import annotations

from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token


@dataclass
class Seen:
    """A page as a reader sees it."""

    title: str = ""
    warnings: list[str] = field(default_factory=list)
    sections: dict[str, list[str]] = field(default_factory=dict)
    """The items of each section, by what they begin with."""
    fences: list[tuple[str, str]] = field(default_factory=list)
    rules: int = 0
    footer: str = ""


def seen(markdown: str) -> Seen:
    """Read a page: what stands at the top level, and nothing that only looks like it."""
    page = Seen()
    blocks = MarkdownIt("commonmark").parse(markdown)
    section: list[str] | None = None
    for at, block in enumerate(blocks):
        if block.type == "fence":
            page.fences.append((block.info, block.content))
        assert block.type != "heading_open" or not block.level, "a heading inside something else"
        if block.level:
            continue
        inner = blocks[at + 1].content if at + 1 < len(blocks) else ""
        if block.type == "heading_open":
            section = _headed(page, block.tag, inner)
        elif block.type == "blockquote_open":
            page.warnings.append(blocks[at + 2].content)
        elif block.type == "hr":
            page.rules += 1
            section = None
        elif block.type == "paragraph_open" and section is None:
            page.footer = inner
        elif block.type == "paragraph_open" and _begins_bold(blocks[at + 1]):
            assert section is not None, "an item outside all sections"
            section.append(inner.splitlines()[0])
    return page


def _headed(page: Seen, tag: str, text: str) -> list[str] | None:
    if tag == "h1":
        assert not page.title, "one title"
        page.title = text
        return None
    assert tag == "h2", tag
    return page.sections.setdefault(text, [])


def _begins_bold(inline: Token) -> bool:
    """Tell whether it begins as items do."""
    shown = [child for child in inline.children or [] if child.type != "text" or child.content]
    return bool(shown) and shown[0].type == "strong_open"
