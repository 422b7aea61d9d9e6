"""The table of output formats.

A format is one row of `FORMATS`: a function from passages to text, and one that returns the text of
a single candidate at a level of detail. The returned text is what is counted and hashed, to the
byte. Everything that lists formats (validation, help texts) reads this table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from quire.core.types import FULL, Candidate, Frame, Passage, Piece, RenderSpec, Run
from quire.errors import unknown
from quire.rendering import documents, entities, entity_text, page, situation, workspace_template
from quire.rendering.names import imported_from
from quire.rendering.plugged import find_render
from quire.rendering.stale import describe_missing

Render = Callable[[Sequence[Passage], RenderSpec, Frame], str]
ItemText = Callable[[Candidate, RenderSpec, str], str]
Shortener = Callable[[Candidate, RenderSpec], Callable[[page.Cut], str]]
PageFrame = Callable[[Collection[str], Sequence[Passage], RenderSpec], tuple[list[str], str]]
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
    excerpt: Callable[[Candidate, RenderSpec], Callable[[page.CutCode], str]] | None = None
    """Returns a function that renders a part of the code of a candidate, for the same formats."""
    frame: PageFrame | None = None
    """Returns what a page has beside its entities, if their texts have `BETWEEN` behind them."""
    heading: Callable[[Piece, RenderSpec], str] | None = None
    """Returns the text that is rendered once for a group of pieces; None: found by rendering."""
    joins_pages: bool = True
    """Blocks of one page stand together; False: it groups them itself."""
    reads: tuple[str, ...] = ("cap",)
    """The settings of `[render]` that options may change and that it looks at."""


def no_heading(_: Piece, __: RenderSpec) -> str:
    """Return no heading: the items of a page have none of their own."""
    return ""


def _marker(piece: Piece, _: RenderSpec) -> str:
    return documents.marker_heading(piece)


def _block_heading(piece: Piece, _: RenderSpec) -> str:
    return workspace_template.block_heading(piece)


DOCUMENT_SETTINGS = ("cap", "metadata")
ENTITY_SETTINGS = ("cap", "content", "groups", "sources")
FORMATS: dict[str, Format] = {
    "markers": Format(documents.render_markers, heading=_marker, reads=DOCUMENT_SETTINGS),
    "markdown": Format(
        entities.render_markdown,
        entity_text.markdown_text,
        entities=True,
        frame=entities.markdown_frame,
        heading=entities.markdown_heading,
        reads=ENTITY_SETTINGS,
    ),
    "xml": Format(
        entities.render_xml,
        entity_text.single_text,
        entities=True,
        empty="<context>\n</context>",
        reads=ENTITY_SETTINGS,
    ),
    "plain": Format(
        entities.render_plain, entity_text.single_text, entities=True, reads=ENTITY_SETTINGS
    ),
    "json": Format(documents.render_json, empty='{"documents":[]}', reads=DOCUMENT_SETTINGS),
    "page": Format(
        page.render_page,
        page.item_text,
        entities=True,
        sections=True,
        empty=None,
        shortener=page.shortener,
        excerpt=page.excerpt,
        heading=no_heading,
        reads=("cap", "content"),
    ),
    "template": Format(
        workspace_template.render_template,
        sections=True,
        empty=None,
        heading=_block_heading,
        joins_pages=False,
    ),
    "situation": Format(
        situation.render_situation,
        page.item_text,
        entities=True,
        sections=True,
        empty=None,
        shortener=page.shortener,
        excerpt=page.excerpt,
        heading=no_heading,
        reads=("cap", "content"),
    ),
}
"""Every format by its name, in the order in which help texts list them."""


def render(passages: Sequence[Passage], spec: RenderSpec, frame: Frame = NO_FRAME) -> str:
    """Render passages in the format of a recipe."""
    chosen = get_format(spec)
    if not passages and chosen.empty is not None:
        return chosen.empty
    if frame.stale:
        passages, frame = _mark_stale(passages, frame, chosen)
    return chosen.render(passages, spec, frame)


def _mark_stale(
    passages: Sequence[Passage], frame: Frame, chosen: Format
) -> tuple[Sequence[Passage], Frame]:
    """Mark the passages of files that have changed; a page with sections names them at its top."""
    states = dict(frame.stale)
    marked = [replace(passage, stale=states.get(passage.path, "")) for passage in passages]
    if not chosen.sections:
        return marked, frame
    stale = {(_file_name(each), each.stale) for each in marked if each.stale}
    missing = (describe_missing(name, state) for name, state in sorted(stale))
    return marked, replace(frame, warnings=(*frame.warnings, *missing))


def _file_name(passage: Passage) -> str:
    """Return the path of the file that a passage is from, an imported one as well."""
    return imported_from(passage.first.candidate.record, with_line=False) or passage.path


def item_text(candidate: Candidate, spec: RenderSpec, level: str = FULL) -> str:
    """Return the text of a candidate at a level of detail, without headings."""
    return get_format(spec).item_text(candidate, spec, level)


def whole_text(candidate: Candidate, spec: RenderSpec) -> str:
    """Return the text that a part of a candidate is chosen from when it is too long."""
    form = get_format(spec)
    if form.entities and not form.sections and spec.content and candidate.context is None:
        return entity_text.full_text(candidate)
    return form.item_text(candidate, replace(spec, cap=0), FULL)


def heading_text(piece: Piece, spec: RenderSpec) -> str:
    """Return the text that is rendered once for the group of a piece, beside its texts."""
    heading = get_format(spec).heading
    if heading is not None:
        return heading(piece, spec)
    chunk = piece.candidate.chunk
    bare = Piece(piece.candidate, 0, "", level=piece.level)
    run = Run((bare,), "", chunk.lines)
    plain = RenderSpec(spec.format, metadata=spec.metadata, content=spec.content)
    return render([Passage(chunk.record_id, chunk.path, (run,))], plain)


def get_format(spec: RenderSpec) -> Format:
    """Return the format that a recipe names."""
    if spec.format in FORMATS:
        return FORMATS[spec.format]
    plugged = find_render(spec.format)
    if plugged is None:
        raise unknown("format", spec.format, FORMATS, field="render.format")
    return Format(plugged, reads=("cap",))
