"""Draw `page.svg`: a context of the sample project beside its receipt."""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

import argparse
import shutil
import tempfile
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

import quire
from quire import Context

HERE = Path(__file__).parent
SAMPLE = HERE.parent / "tests" / "cli" / "sample"
TARGET = HERE / "page.svg"
QUERY = "what happens to a validator that signs two blocks?"
BUDGET = 200
COLUMN = 62
LINE = 17
WIDTH = 940
MIDDLE = 520
STYLE = """
.card { fill: #fff; stroke: #d0d7de } text { font: 12px ui-monospace, monospace; fill: #1f2328 }
.head { font: 600 13px system-ui, sans-serif } .mark { fill: #0550ae } .dim { fill: #656d76 }
.link { stroke: #0550ae; stroke-width: 1; fill: none; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
.card { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 }
.mark { fill: #79c0ff } .dim { fill: #8d96a0 } .link { stroke: #79c0ff } }
"""


def sample_context() -> Context:
    """Assemble a context of the sample project in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "sample")
        shutil.copytree(SAMPLE, project)
        (project / ".quire").mkdir()  # makes it a project of its own
        (project / "quire.toml").write_text('[embed]\nprovider = "none"\n')
        with quire.open(project) as q:
            q.index()
            return q.assemble(QUERY, budget=BUDGET, reserve={})


def page_lines(text: str) -> list[tuple[str, str]]:
    """Wrap the context's text; each line with the style it is drawn in."""
    lines: list[tuple[str, str]] = []
    for line in text.splitlines():
        style = "mark" if line.startswith("[DOC:") else ""
        lines += [(part, style) for part in wrap(line, COLUMN) or [""]]
    return lines


def receipt_lines(receipt: Any, tokens: int, available: int) -> list[tuple[str, str]]:
    """Return what the receipt records, shortened to what a reader looks for."""
    verdicts = [decision["verdict"] for decision in receipt["decisions"]]
    lines = [
        (f"query      {receipt['request']['query'][:34]}...", ""),
        (f"recipe     {receipt['recipe']['name']}", ""),
        (f"tokens     {tokens} of {available} ({receipt['counter']})", ""),
        (f"view root  {receipt['view_root'][:24]}...", "mark"),
        (f"text hash  {receipt['text_hash'][:24]}...", "mark"),
        ("", ""),
        ("sources, each proved under the view root", "dim"),
    ]
    for source in receipt["sources"]:
        first, last = source["lines"]
        lines.append((f"  {source['path']}:{first}-{last}", ""))
    kept = verdicts.count("kept")
    lines += [
        ("", ""),
        (f"decisions  {kept} kept, {len(verdicts) - kept} left out, each with a reason", "dim"),
        ("", ""),
        ("$ quire verify receipt.json", ""),
        ("the receipt holds", "mark"),
        ("$ quire replay receipt.json", ""),
        ("the same context, byte for byte", "mark"),
    ]
    return lines


def draw() -> str:
    """Return the picture as SVG text."""
    context = sample_context()
    left = page_lines(context.text)
    right = receipt_lines(context.receipt, context.tokens, context.available)
    height = max(len(left), len(right)) * LINE + 70
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>A context of {context.tokens} tokens and its receipt</title>",
        f"<style>{STYLE}</style>",
    ]
    for x, width, title, lines in (
        (8, MIDDLE - 28, "context.txt", left),
        (MIDDLE, WIDTH - MIDDLE - 8, "receipt.json", right),
    ):
        parts.append(
            f'<rect class="card" x="{x}" y="8" width="{width}" height="{height - 16}" rx="8"/>'
            f'<text class="head" x="{x + 16}" y="34">{title}</text>'
        )
        for number, (line, style) in enumerate(lines):
            named = f' class="{style}"' if style else ""
            parts.append(
                f'<text{named} x="{x + 16}" y="{60 + number * LINE}" xml:space="preserve">'
                f"{escape(line)}</text>"
            )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    TARGET.write_text(draw(), "utf-8")
