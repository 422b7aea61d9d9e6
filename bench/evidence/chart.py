"""How does evidence grow with tokens, drawn?

One panel a task, one line a system; a plain SVG that needs nothing to be made and follows the
reader's light or dark setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log2

from bench.evidence.measure import Figure

PANEL = (270, 210)
MARGIN = (44, 34)
COLUMNS = 3
OURS = "quire"
COLOURS = ("#8a8f98", "#c98a3d", "#5b8dbd", "#7a9f5a", "#b06a9b", "#6fa8a3", "#a3785c", "#9a9a5a")
STYLE = """
text { font: 11px system-ui, sans-serif; fill: #333 }
.title { font-weight: 600 } .grid { stroke: #bbb; stroke-width: .5 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .grid { stroke: #555 } }
"""


def drawn(figures: Sequence[Figure], about: str) -> str:
    """Draw evidence against tokens, a panel for each task and kind of gold."""
    panels = sorted({(one.task, one.gold) for one in figures})
    systems = sorted({one.system for one in figures} - {OURS})
    colour = dict(zip(systems, COLOURS * len(systems), strict=False)) | {OURS: "#d1345b"}
    width = COLUMNS * (PANEL[0] + MARGIN[0]) + MARGIN[0]
    rows = -(-len(panels) // COLUMNS)
    height = rows * (PANEL[1] + 2 * MARGIN[1]) + 56
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(about)}</title><style>{STYLE}</style>",
    ]
    for place, (task, gold) in enumerate(panels):
        left = MARGIN[0] + (place % COLUMNS) * (PANEL[0] + MARGIN[0])
        above = MARGIN[1] + (place // COLUMNS) * (PANEL[1] + 2 * MARGIN[1])
        mine = [one for one in figures if (one.task, one.gold) == (task, gold)]
        parts.append(f'<g transform="translate({left} {above})">')
        parts += _panel(f"{task}: {gold}", mine, colour)
        parts.append("</g>")
    parts += _legend([OURS, *systems], colour, height - 40)
    parts.append(f'<text x="{MARGIN[0]}" y="{height - 8}">{escape(about)}</text></svg>\n')
    return "\n".join(parts)


def _panel(title: str, figures: Sequence[Figure], colour: dict[str, str]) -> list[str]:
    budgets = sorted({one.budget for one in figures})
    low, high = log2(budgets[0]), log2(budgets[-1])
    least = min(0.9, min(one.recall for one in figures) // 0.1 * 0.1)
    span = (high - low) or 1.0

    def at(budget: int, recall: float) -> tuple[float, float]:
        x = (log2(budget) - low) / span * PANEL[0]
        return round(x, 1), round(PANEL[1] * (1 - (recall - least) / (1 - least)), 1)

    parts = [f'<text class="title" x="0" y="-12">{escape(title)}</text>']
    for step in range(5):
        share = least + (1 - least) * step / 4
        _, y = at(budgets[0], share)
        parts.append(f'<line class="grid" x1="0" x2="{PANEL[0]}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="-6" y="{y + 4}" text-anchor="end">{share:.2f}</text>')
    for budget in budgets:
        x, _ = at(budget, least)
        parts.append(f'<text x="{x}" y="{PANEL[1] + 16}" text-anchor="middle">{budget}</text>')
    for system in sorted({one.system for one in figures}, key=lambda name: (name == OURS, name)):
        points = [
            at(one.budget, one.recall)
            for one in sorted(figures, key=lambda one: one.budget)
            if one.system == system
        ]
        way = " ".join(f"{x},{y}" for x, y in points)
        stroke = f'stroke="{colour[system]}" stroke-width="{3 if system == OURS else 1.5}"'
        parts.append(f'<polyline fill="none" {stroke} points="{way}"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="2.5" fill="{colour[system]}"/>' for x, y in points]
    return parts


def _legend(systems: Sequence[str], colour: dict[str, str], y: int) -> list[str]:
    parts, x = [], MARGIN[0]
    for system in systems:
        parts.append(f'<rect x="{x}" y="{y}" width="14" height="4" fill="{colour[system]}"/>')
        parts.append(f'<text x="{x + 19}" y="{y + 6}">{escape(system)}</text>')
        x += 34 + 7 * len(system)
    return parts
