"""The page of a report, from top to bottom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources

from quire.core.serialize import printable
from quire.core.types import Verification
from quire.pipeline.picture import (
    EXCEEDED,
    FOUND,
    FREE,
    MARKERS,
    PIECES,
    RESERVED,
    Entry,
    Part,
    Picture,
    Share,
    ShownPiece,
)
from quire.pipeline.spans import Span, find_spans
from quire.report.markup import Child, Html, element

COLOURS = 12
"""The stylesheet has so many colours for documents; then they begin again."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
STEP_NOTES: Mapping[str, str] = {
    FOUND: "found by the sources",
    "rank": "among the best",
    "relevance": "likely to help",
    "depth": "near enough to the budget",
    "dedup": "repeat nothing",
    "group": "within the limits of groups",
    "pack": "fit the budget",
    "fit": "fit as they are rendered",
    "render": "are on the page",
}
"""What is true of the candidates that a step lets through."""
_PARTS: Mapping[str, str] = {
    PIECES: "pieces",
    MARKERS: "markers and headings",
    FREE: "free",
    EXCEEDED: "over the budget",
}


def write_report(
    picture: Picture,
    *,
    text: str | None = None,
    texts: Mapping[str, str] | None = None,
    verification: Verification | None = None,
) -> str:
    """Return the report of a context as an HTML file.

    Args:
        picture: What its receipt says.
        text: The text of the context; None: it is not shown.
        texts: The texts of its pieces by the ids of their chunks, as far as they are known.
        verification: What verifying the receipt showed.
    """
    known = texts or {}
    body = (
        _header(picture, verification),
        _budget(picture),
        _flow(picture),
        _pieces(picture, known),
        _context(picture, text, known),
        _candidates(picture),
        _check(picture, verification),
        element("footer", "Written by quire report. This file loads nothing and runs no script."),
    )
    head = (
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"Context: {picture.query[:80]}"),
        element("style", Html(_stylesheet())),
    )
    page = element(
        "html", element("head", *head), element("body", element("main", *body)), lang="en"
    )
    return f"<!doctype html>\n{page}\n"


def _stylesheet() -> str:
    return resources.files("quire.report").joinpath("assets/picture.css").read_text("utf-8")


def _header(picture: Picture, verification: Verification | None) -> Html:
    facts: list[tuple[str, Child]] = [
        ("recipe", picture.recipe),
        ("model", picture.model),
        ("tokens", f"{picture.tokens:,} of {picture.available:,}"),
        (
            "pieces",
            f"{len(picture.pieces)} of {picture.unlisted + len(picture.candidates)} candidates",
        ),
    ]
    if verification is not None:
        facts.append(("receipt", _badge(verification)))
    if picture.created:
        facts.append(("written", picture.created))
    return element(
        "header",
        element("p", "Context report", class_="eyebrow"),
        element("h1", picture.query),
        element(
            "dl",
            *(element("div", element("dt", name), element("dd", value)) for name, value in facts),
            class_="facts",
        ),
        *(element("p", f"failed: {failure}", class_="bad") for failure in picture.failed),
    )


def _badge(verification: Verification) -> Html:
    if verification.problems:
        return element("span", "does not hold", class_="badge bad")
    if verification.holds:
        return element("span", "holds", class_="badge good")
    return element("span", "agrees with itself", class_="badge")


def _section(title: str, *children: Child, about: str = "") -> Html:
    intro = element("p", about, class_="about") if about else None
    return element("section", element("h2", title), intro, *children)


# --- budget --------------------------------------------------------------------------------------


def _budget(picture: Picture) -> Html:
    total = max(1, sum(part.tokens for part in picture.budget))
    segments, at = [], 0.0
    for part in picture.budget:
        width = 100 * part.tokens / total
        segments.append(_segment(at, width, f"part-{part.kind}", _name(part), part.tokens))
        at += width
    listed = [
        element(
            "li",
            element("span", class_=f"swatch part-{part.kind}"),
            f"{_name(part)} ",
            element("b", f"{part.tokens:,}"),
        )
        for part in picture.budget
    ]
    return _section(
        "Budget",
        _bar(segments, f"The window of {picture.total:,} tokens"),
        element("ul", *listed, class_="legend"),
        _shares("By section", picture.sections, "") if picture.sections else None,
        _shares("By document", picture.documents, "coloured"),
        about=f"A window of {picture.total:,} tokens.",
    )


def _name(part: Part) -> str:
    return f"reserved for {part.name}" if part.kind == RESERVED else _PARTS[part.kind]


def _bar(segments: Sequence[Html], label: str) -> Html:
    return element(
        "svg",
        *segments,
        class_="bar",
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=label,
    )


def _segment(at: float, width: float, kind: str, name: str, tokens: int) -> Html:
    title = element("title", f"{name}: {tokens:,} tokens")
    return element(
        "g",
        title,
        element("rect", x=f"{at:.3f}", y=0, width=f"{width:.3f}", height=10, class_=kind),
    )


def _shares(title: str, shares: Sequence[Share], kind: str) -> Html:
    most = max((share.tokens for share in shares), default=1) or 1
    rows = []
    for number, share in enumerate(shares):
        colour = f"c{number % COLOURS}" if kind else "part-pieces"
        swatch = element("span", class_=f"swatch {colour}")
        bar = _bar(
            [_segment(0, 100 * share.tokens / most, colour, printable(share.name), share.tokens)],
            f"{share.tokens:,} tokens",
        )
        rows.append(
            element(
                "tr",
                element("th", swatch, printable(share.name), scope="row"),
                element("td", bar, class_="wide"),
                element("td", f"{share.tokens:,}", class_="number"),
                element("td", f"{share.pieces}", class_="number"),
            )
        )
    head = element(
        "tr",
        element("th", title, scope="col"),
        element("th", "share", scope="col", class_="wide"),
        element("th", "tokens", scope="col", class_="number"),
        element("th", "pieces", scope="col", class_="number"),
    )
    return _table(head, rows, title, "shares")


def _table(head: Child, rows: Sequence[Child], label: str, kind: str) -> Html:
    table = element("table", element("thead", head), element("tbody", rows), class_=kind)
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=label)


# --- pipeline ------------------------------------------------------------------------------------


def _flow(picture: Picture) -> Html:
    if picture.unlisted:
        return _section("Pipeline", element("p", _unlisted(picture)))
    stages = []
    for stage in picture.stages:
        lost = element("span", f"-{stage.dropped}", class_="lost") if stage.dropped else None
        stages.append(
            element(
                "li",
                element("span", stage.name, class_="step"),
                element("b", f"{stage.after}"),
                lost,
                element("span", STEP_NOTES.get(stage.name, ""), class_="note"),
            )
        )
    found = ", ".join(f"{name} {count}" for name, count in picture.found_by)
    return _section(
        "Pipeline",
        element("ol", *stages, class_="flow"),
        element("p", f"Signals: {found}.", class_="about") if found else None,
        about="How many candidates each step let through.",
    )


def _unlisted(picture: Picture) -> str:
    return (
        f"{picture.unlisted} candidates were left out. This receipt does not say at which step: "
        "`quire assemble --receipt FILE --parts` writes that beside it."
    )


# --- pieces --------------------------------------------------------------------------------------


def _pieces(picture: Picture, texts: Mapping[str, str]) -> Html:
    if not picture.pieces:
        return _section("Pieces", element("p", "The context has no piece."))
    listed = [_piece(number, piece, texts) for number, piece in enumerate(picture.pieces)]
    return _section(
        "Pieces",
        element("ol", *listed, class_="pieces"),
        about="What is in the context, in reading order, and why.",
    )


def _piece(number: int, piece: ShownPiece, texts: Mapping[str, str]) -> Html:
    entry = piece.entry
    text = texts.get(entry.chunk_id)
    shown = [word for word in (piece.kind, piece.section, piece.level) if word and word != "full"]
    summary = (
        element("span", class_=f"swatch {_colour(entry)}"),
        element("span", place(entry), class_="place"),
        element("span", printable(piece.title), class_="title") if piece.title else None,
        element("span", f"{entry.tokens:,} tokens", class_="number"),
    )
    why = element(
        "p",
        element("b", f"{entry.verdict}: "),
        f"{entry.reason or 'in the context'}; score {entry.score:,}",
        f" ({signals(entry)})" if entry.signals else "",
        f"; {', '.join(shown)}" if shown else "",
        class_="why",
    )
    body = element("pre", text, class_=_colour(entry)) if text is not None else None
    return element(
        "li",
        element("details", element("summary", *summary), body) if body else element("p", *summary),
        why,
        id=f"piece-{number + 1}",
    )


def place(entry: Entry) -> str:
    """Return where a candidate stands: its path and its lines, if it has any."""
    first, last = entry.lines
    path = printable(entry.path)
    return f"{path}:{first}-{last}" if first else path


def signals(entry: Entry) -> str:
    """Return what spoke for a candidate."""
    return ", ".join(f"{name} {value:,}" for name, value in sorted(entry.signals.items()))


def _colour(entry: Entry) -> str:
    return "" if entry.colour is None else f"c{entry.colour % COLOURS}"


def _context(picture: Picture, text: str | None, texts: Mapping[str, str]) -> Html | None:
    if text is None:
        return None
    known = [texts.get(piece.entry.chunk_id, "") for piece in picture.pieces]
    spans = find_spans(text, known) if any(known) else (Span(text, None),)
    return _section(
        "Context",
        element("pre", *(_span(span, picture) for span in spans), class_="context"),
        about="The text to the byte, coloured by source."
        if any(known)
        else "The text to the byte. No store was at hand to tell its sources apart.",
    )


def _span(span: Span, picture: Picture) -> Html:
    if span.piece is None:
        return element("span", span.text, class_="marker")
    entry = picture.pieces[span.piece].entry
    return element("span", span.text, class_=_colour(entry), title=place(entry))


# --- candidates ----------------------------------------------------------------------------------


def _candidates(picture: Picture) -> Html:
    names = [name for name, _ in picture.found_by]
    groups: list[Child] = []
    for stage in reversed(picture.stages):
        fallen = [
            entry for entry in picture.candidates if not entry.is_in and entry.step == stage.name
        ]
        if fallen:
            title = f"fell at {stage.name}: {len(fallen)}"
            rows = [_candidate(entry, names) for entry in fallen]
            groups.append(
                element("details", element("summary", title), _table(_head(names), rows, title, ""))
            )
    inside = [entry for entry in picture.candidates if entry.is_in]
    rows = [_candidate(entry, names) for entry in inside]
    return _section(
        "Candidates",
        _table(_head(names), rows, "In the context", "") if rows else None,
        *groups,
        about="Every candidate with its signals. Those that fell stand under the step that "
        "dropped them.",
    )


def _head(names: Sequence[str]) -> Html:
    columns = ["candidate", "score", *names, "tokens", "why"]
    kinds = ["", *["number"] * (len(columns) - 2), ""]
    return element(
        "tr",
        *(
            element("th", name, scope="col", class_=kind or None)
            for name, kind in zip(columns, kinds, strict=True)
        ),
    )


def _candidate(entry: Entry, names: Sequence[str]) -> Html:
    values = [entry.score, *(entry.signals.get(name) for name in names), entry.tokens]
    swatch = element("span", class_=f"swatch {_colour(entry)}") if entry.is_in else None
    return element(
        "tr",
        element("th", swatch, place(entry), scope="row"),
        *(
            element("td", "" if value is None else f"{value:,}", class_="number")
            for value in values
        ),
        element("td", f"{entry.verdict}: {entry.reason}"),
    )


# --- proofs --------------------------------------------------------------------------------------


def _check(picture: Picture, verification: Verification | None) -> Html:
    roots = element(
        "dl",
        *(
            element("div", element("dt", name), element("dd", element("code", value)))
            for name, value in picture.roots
        ),
        class_="roots",
    )
    if verification is None:
        return _section("Proof", roots, about="The receipt was not verified.")
    lines = [
        *(("bad", problem) for problem in verification.problems),
        *(("good", f"checked: {each}") for each in verification.checked),
        *(("", f"not checked: {each}") for each in verification.not_checked),
    ]
    listed = element("ul", *(element("li", line, class_=kind or None) for kind, line in lines))
    return _section(
        "Proof",
        element(
            "p", "The receipt ", _badge(verification), f"; signature: {verification.signature}."
        ),
        listed,
        roots,
        about="quire verify checks the receipt again; quire replay runs its request again.",
    )
