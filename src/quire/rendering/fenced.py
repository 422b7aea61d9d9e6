"""Markdown with blocks of code: it is shown in one fence, not as a fence within another."""

from __future__ import annotations

import json
import re
from textwrap import indent

from quire.core import stored_json
from quire.core.types import Record

_LANGUAGE = re.compile(r"[A-Za-z0-9+#.-]{1,30}")
NOTEBOOK, MARKDOWN = "notebook", "markdown"
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([\w+#-]*)[ \t]*")


def without_fence(text: str, language: str) -> tuple[str, str]:
    """Return Markdown without the fence that it is in, if it is in one, and its language.

    Without an end it is the beginning of a longer block. In what was read of a notebook, code
    between prose is indented instead.
    """
    if language not in {MARKDOWN, NOTEBOOK}:
        return text, language
    blocks = _split(text.strip("\n"))
    codes = [(block, named) for block, named in blocks if named is not None]
    if len(codes) == len(blocks) == 1 and codes[0][0]:
        return codes[0][0], codes[0][1]
    if language == NOTEBOOK and codes:
        shown = [block if named is None else indent(block, "    ") for block, named in blocks]
        return "\n".join(block for block in shown if block), MARKDOWN
    return text, MARKDOWN


def code_language(record: Record | None) -> str:
    """Return the language of a block of code, if it names one."""
    language = None if record is None else _stated_language(record)
    return language if isinstance(language, str) and _LANGUAGE.fullmatch(language) else ""


@stored_json.of_record
def _stated_language(record: Record) -> object:
    stored = record.attrs.get("properties")
    return json.loads(str(stored)).get("language") if stored else None


def _split(text: str) -> list[tuple[str, str | None]]:
    """Split a text into prose (None) and blocks of code with their languages."""
    blocks: list[tuple[str, str | None]] = []
    lines: list[str] = []
    opened: re.Match[str] | None = None
    for line in text.split("\n"):
        mark = _FENCE.fullmatch(line)
        if mark is None or (opened and (mark[2] or not mark[1].startswith(opened[1]))):
            lines.append(line)
            continue
        # A mark without a language that closes nothing ends a block that began above the text.
        inside = opened is not None or not (mark[2] or blocks or not lines)
        if inside or any(each.strip() for each in lines):
            blocks.append(("\n".join(lines), (opened[2] if opened else "") if inside else None))
        lines, opened = [], None if inside else mark
    if opened is not None or any(each.strip() for each in lines):
        blocks.append(("\n".join(lines), None if opened is None else opened[2]))
    return blocks
