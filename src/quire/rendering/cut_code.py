"""Cutting code: between lines, never within a declaration, with a mark for what is left out."""

from __future__ import annotations

from quire.core.signatures import closing_place
from quire.rendering.left_out import left_out, lines_of, margin_of

SIGNATURE_SEARCH = 24
"""So many characters of a signature are searched for in the source, then it is followed."""


def whole_lines(text: str, short: str, signature: str) -> str:
    """Return the beginning of code without a line or a declaration that is cut in the middle."""
    if not text.startswith(short):
        return short  # it was put together in another way
    if not text.startswith(f"{short}\n"):
        short = short.rpartition("\n")[0]
    begin, end = find_declaration(text, signature)
    return short if not begin < len(short) < end else text[:begin].rstrip()


def mark_cut(text: str, short: str, language: str) -> str:
    """Return the beginning of code with a mark for the lines of it that are left out."""
    lines = text.rstrip("\n").split("\n")
    count = sum(map(lines_of, lines[len(short.split("\n")) if short else 0 :]))
    if count <= 0:
        return short
    return "\n".join(
        filter(None, (short, left_out(language, count, margin_of(text[len(short) :]))))
    )


def find_declaration(source: str, signature: str) -> tuple[int, int]:
    """Return where a declaration begins and ends in the source, whatever the blanks; else 0, 0."""
    wanted = "".join(signature.rstrip("…").split())
    if not wanted:
        return 0, 0
    found = _search(source, wanted[:SIGNATURE_SEARCH])
    if found is None:
        return 0, 0
    (begin, at), left = found, wanted[SIGNATURE_SEARCH:]
    for char in left:
        while at < len(source) and (source[at].isspace() or source[at] != char):
            if not source[at].isspace() and source[at] != ",":
                return 0, 0
            at += 1
        at += 1
    at = min(at, len(source))
    opened = sum(map(wanted.count, "([{")) - sum(map(wanted.count, ")]}"))
    for _ in range(opened if signature.endswith("…") else 0):
        at = closing_place(source, at) or at  # it was too long to be kept whole
    return begin, at


def _search(source: str, wanted: str) -> tuple[int, int] | None:
    """Return where a text without blanks begins and ends in a source, whatever its blanks.

    A regular expression would have to be compiled for each declaration, which takes far longer.
    """
    begin = source.find(wanted[0])
    while begin >= 0:
        at = begin
        for char in wanted:
            while at < len(source) and source[at].isspace():
                at += 1
            if not source.startswith(char, at):
                break
            at += 1
        else:
            return begin, at
        begin = source.find(wanted[0], begin + 1)
    return None
