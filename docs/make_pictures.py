"""Draw `pipeline.svg` from the list of steps, `growth.svg` from figures of `performance.md`."""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from inspect import getdoc
from pathlib import Path
from textwrap import wrap

from quire.pipeline.steps import STEPS

HERE = Path(__file__).parent
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 } .dim { fill: #656d76 }
.head { font: 600 13px ui-monospace, monospace; fill: #0550ae }
.title { font-weight: 600; font-size: 13px }
.card { fill: #fff; stroke: #d0d7de } .line { stroke: #656d76; fill: none }
.grid { stroke: #d0d7de }
.a { stroke: #0550ae; fill: none; stroke-width: 2 }
.b { stroke: #bc4c00; fill: none; stroke-width: 2 }
.dot-a { fill: #0550ae } .dot-b { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .dim { fill: #8d96a0 } .head { fill: #79c0ff }
.card { fill: #0d1117; stroke: #30363d }
.line { stroke: #8d96a0 } .grid { stroke: #30363d } .a { stroke: #79c0ff } .b { stroke: #f0883e }
.dot-a { fill: #79c0ff } .dot-b { fill: #f0883e } }
"""
COLUMNS = 2
CARD = (330, 84)
GAP = 28
FIRST = ("retrieve", "Search each source for what the viewer may read, and collect candidates.")
LAST = (
    "receipt",
    "Record the request, the sources with proofs, and a reason for every decision.",
)

HEADER = "| Quire, 200 queries each |"
ROWS = ("vector cached", "query embedded")
CHART = (520, 260)
LEFT, TOP = 60, 60


def svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """Return a picture whose colours follow the reader's."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    return "\n".join(
        [head, f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", *parts, "</svg>", ""]
    )


def text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    """Return a line of text."""
    named = f' class="{style}"' if style else ""
    return f'<text{named} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'


def draw_pipeline() -> str:
    """Return the steps of the pipeline, each with the first sentence of its description."""
    steps = [(name, (getdoc(step) or "").splitlines()[0]) for name, step in STEPS]
    cards = [FIRST, *steps, LAST]
    width, height = CARD
    parts = []
    for at, (name, does) in enumerate(cards):
        row, column = divmod(at, COLUMNS)
        x, y = 8 + column * (width + GAP), 8 + row * (height + GAP)
        parts.append(
            f'<rect class="card" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>'
        )
        parts.append(text(x + 14, y + 26, f"{at + 1}. {name}", "head"))
        parts += [
            text(x + 14, y + 46 + 16 * line, words) for line, words in enumerate(wrap(does, 50))
        ]
        if at + 1 < len(cards) and column + 1 < COLUMNS:
            middle = y + height // 2
            path = f"M{x + width + 5} {middle}h{GAP - 10}m-5 -4l5 4l-5 4"
            parts.append(f'<path class="line" d="{path}"/>')
    rows = math.ceil(len(cards) / COLUMNS)
    whole = (16 + COLUMNS * (width + GAP) - GAP, 16 + rows * (height + GAP) - GAP)
    return svg(*whole, "The steps from a query to a context and its receipt", parts)


def read_growth(page: str) -> tuple[str, list[int], Mapping[str, list[int]]]:
    """Return the commit, the sizes and the CPU milliseconds by row, of the last such table."""
    start = page.rindex(HEADER)
    commit = re.findall(r"commit ([0-9a-f]{7})", page[:start])[-1]
    header, _, *rows = page[start:].partition("\n\n")[0].splitlines()
    sizes = [int(cell.replace(",", "")) for cell in re.findall(r"\d[\d,]*(?= \|)", header)]
    figures = {
        name: [int(ms) for ms in re.findall(r"\((\d+)\)", row)]
        for name in ROWS
        for row in rows
        if row.startswith(f"| {name}")
    }
    return commit, sizes, figures


def draw_growth() -> str:
    """Return what a context costs, by the size of the store."""
    page = (HERE / "performance.md").read_text("utf-8")
    commit, sizes, figures = read_growth(page)
    width, height = CHART
    highest = 20 * math.ceil(max(map(max, figures.values())) / 20)
    low, high = math.log10(sizes[0]), math.log10(sizes[-1])

    def at_x(size: int) -> float:
        return LEFT + width * (math.log10(size) - low) / (high - low)

    def at_y(ms: int) -> float:
        return TOP + height * (1 - ms / highest)

    title = "CPU time of one context, by chunks in the store"
    parts = [
        text(LEFT, 24, title, "title"),
        text(LEFT, 42, f"milliseconds, median of 200 queries, commit {commit}", "dim"),
    ]
    for ms in range(0, highest + 1, 20):
        y = at_y(ms)
        parts.append(f'<path class="grid" d="M{LEFT} {y:g}h{width}"/>')
        parts.append(text(LEFT - 8, y + 4, str(ms), "dim", "end"))
    parts += [text(at_x(size), TOP + height + 20, f"{size:,}", "dim", "middle") for size in sizes]
    for style, (name, values) in zip("ba", figures.items(), strict=True):
        points = [(at_x(size), at_y(ms)) for size, ms in zip(sizes, values, strict=True)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="{style}" points="{line}"/>')
        for (x, y), ms in zip(points, values, strict=True):
            parts.append(f'<circle class="dot-{style}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>')
            parts.append(text(x + 12, y + (-10 if style == "a" else 20), str(ms), "", "middle"))
        parts.append(text(LEFT + width + 14, points[-1][1] + 4, name))
    return svg(LEFT + width + 130, TOP + height + 36, title, parts)


PICTURES = {"pipeline.svg": draw_pipeline, "growth.svg": draw_growth}


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    for picture, draw in PICTURES.items():
        (HERE / picture).write_text(draw(), "utf-8")
