"""Reader for Jupyter notebooks.

Cells become one Markdown text: prose as it is, code in fences, what a cell printed below it.
Pictures are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from quire.core.types import IngestSettings
from quire.ingest import markdown
from quire.ingest.decode import clean_text
from quire.ingest.types import ParsedFile, SourceFile, UnreadableFile

MAX_OUTPUT = 2000
"""Characters of one output that are kept; the middle of a longer one is left out."""
ESCAPES = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
FENCE = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Read a notebook as Markdown; refuse a damaged one, whose lines would be encoded pictures."""
    try:
        notebook = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UnreadableFile(f"notebook that cannot be read: it is not JSON{where}") from error
    cells = _find_cells(notebook)
    if cells is None:
        raise UnreadableFile("notebook that cannot be read: it has no cells")
    language = _find_language(notebook)
    page = "\n\n".join(part for cell in cells for part in _show_cell(cell, language)) + "\n"
    parsed = markdown.read(
        SourceFile(clean_text(page), b"", source.language, source.path), settings
    )
    return replace(parsed, line_map=())


def _find_cells(notebook: Any) -> list[Any] | None:
    """Return the cells of a notebook; until version 4 they were in worksheets."""
    if not isinstance(notebook, dict):
        return None
    if isinstance(cells := notebook.get("cells"), list):
        return cells
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    inside = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    return [cell for cells in inside if isinstance(cells, list) for cell in cells]


def _show_cell(cell: Any, language: str) -> Iterator[str]:
    if not isinstance(cell, dict):
        return
    content = (_join(cell.get("source")) or _join(cell.get("input"))).strip("\n")
    if cell.get("cell_type") == "code":
        if content.strip():
            yield _fence(content, language)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else []:
            if printed := _show_output(output):
                yield _fence(printed, "text")
    elif content.strip():
        yield content


def _show_output(output: Any) -> str:
    if not isinstance(output, dict):
        return ""
    data = output.get("data")
    if isinstance(data, dict):
        printed = _join(data.get("text/plain"))
    elif output.get("output_type") == "error":
        printed = _join(output.get("traceback")) or _join(output.get("evalue"))
    else:
        printed = _join(output.get("text"))
    printed = ESCAPES.sub("", printed).strip("\n")
    if len(printed) <= MAX_OUTPUT:
        return printed
    half = MAX_OUTPUT // 2
    return f"{printed[:half]}\n...\n{printed[-half:]}"


def _join(lines: Any) -> str:
    """Join a text that is stored as one string or as a list of lines."""
    if isinstance(lines, list):
        return "".join(line for line in lines if isinstance(line, str))
    return lines if isinstance(lines, str) else ""


def _fence(content: str, language: str) -> str:
    longest = max((len(fence) for fence in FENCE.findall(content)), default=2)
    marks = "`" * (longest + 1)
    return f"{marks}{language}\n{content}\n{marks}"


def _find_language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    name = kernel.get("language") if isinstance(kernel, dict) else None
    return name if isinstance(name, str) and name.isalnum() else "python"
