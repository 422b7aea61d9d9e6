"""The table of output formats.

A format is one row of `FORMATS`: a function from passages to text, and one that returns the text of
a single candidate at a level of detail. The returned text is what is counted and hashed, to the
byte. Everything that lists formats (validation, help texts) reads this table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quire.core.types import FULL, Candidate, Frame, Passage, Piece, RenderSpec, Run
from quire.errors import unknown
from quire.rendering import documents, entities, page, situation, workspace_template

Render = Callable[[Sequence[Passage], RenderSpec, Frame], str]
ItemText = Callable[[Candidate, RenderSpec, str], str]
Shortener = Callable[[Candidate, RenderSpec], Callable[[page.Cut], str]]
NO_FRAME = Frame()


@dataclass(frozen=True, slots=True)
class Format:
    """One way to render a context."""

    render: Render
    item_text: ItemText = documents.document_text
    entities: bool = False
    """It names the entities that pieces belong to."""
    sections: bool = False
    """It groups pieces under the titles of sections, so that it needs a recipe with sections."""
    empty: str | None = ""
    """The text of a context without passages; None: `render` makes it."""
    shortener: Shortener | None = None
    """Returns a function that renders a shortened candidate, for formats that word each item."""
    heading: Callable[[Piece], str] | None = None
    """Returns the text that is rendered once for a group of pieces; None: found by rendering."""


def no_heading(_: Piece) -> str:
    """Return no heading: the items of a page have none of their own."""
    return ""


FORMATS: dict[str, Format] = {
    "markers": Format(documents.render_markers, heading=documents.marker_heading),
    "markdown": Format(entities.render_markdown, entities.markdown_text, entities=True),
    "xml": Format(
        entities.render_xml, entities.single_text, entities=True, empty="<context>\n</context>"
    ),
    "plain": Format(entities.render_plain, entities.single_text, entities=True),
    "json": Format(documents.render_json, empty='{"documents":[]}'),
    "page": Format(
        page.render_page,
        page.item_text,
        entities=True,
        sections=True,
        empty=None,
        shortener=page.shortener,
        heading=no_heading,
    ),
    "template": Format(
        workspace_template.render_template,
        sections=True,
        empty=None,
        heading=workspace_template.block_heading,
    ),
    "situation": Format(
        situation.render_situation,
        page.item_text,
        entities=True,
        sections=True,
        empty=None,
        shortener=page.shortener,
        heading=no_heading,
    ),
}
"""Every format by its name, in the order in which help texts list them."""


def render(passages: Sequence[Passage], spec: RenderSpec, frame: Frame = NO_FRAME) -> str:
    """Render passages in the format of a recipe."""
    chosen = get_format(spec)
    if not passages and chosen.empty is not None:
        return chosen.empty
    return chosen.render(passages, spec, frame)


def item_text(candidate: Candidate, spec: RenderSpec, level: str = FULL) -> str:
    """Return the text of a candidate at a level of detail, without headings."""
    return get_format(spec).item_text(candidate, spec, level)


def heading_text(piece: Piece, spec: RenderSpec) -> str:
    """Return the text that is rendered once for the group of a piece, beside its texts."""
    heading = get_format(spec).heading
    if heading is not None:
        return heading(piece)
    chunk = piece.candidate.chunk
    bare = Piece(piece.candidate, 0, "", level=piece.level)
    run = Run((bare,), "", chunk.lines)
    plain = RenderSpec(spec.format, metadata=spec.metadata, content=spec.content)
    return render([Passage(chunk.record_id, chunk.path, (run,))], plain)


def get_format(spec: RenderSpec) -> Format:
    """Return the format that a recipe names."""
    if spec.format not in FORMATS:
        raise unknown("format", spec.format, FORMATS, field="render.format")
    return FORMATS[spec.format]
