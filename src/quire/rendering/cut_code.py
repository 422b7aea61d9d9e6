"""Cutting code: between lines, never within a declaration, with a mark for what is left out."""

from __future__ import annotations

import re

from quire.core.comments import count_leading_comments
from quire.core.signatures import closing_place
from quire.rendering.left_out import left_out, lines_of, margin_of

SIGNATURE_SEARCH = 24
"""So many characters of a signature are searched for in the source, then it is followed."""
MAX_ABOVE = 6
"""Of code that is cut, a longer comment above the declaration is shortened: else the cut would show
nothing but the comment."""
MAX_DECLARED = 3
"""So many lines below a comment are hardly more than a declaration: the comment is shown."""
_BARE = re.compile(r"[\s/*#;!-]*+")
"""A line of a comment without words."""


def shorten_comment(text: str, language: str, room: int = 0) -> str:
    """Return code with the beginning of the comment above it, if that is long.

    Its first paragraph is kept, and what the code below leaves of a number of characters.
    """
    above = count_leading_comments(text)
    lines = text.split("\n")
    comment, below = lines[:above], lines[above:]
    while comment and not comment[-1].strip():
        comment.pop()
    if len(comment) <= MAX_ABOVE or (not room and len(below) <= MAX_DECLARED):
        return text
    end = [comment[-1]] if comment[-1].strip() == "*/" else []
    begin = next((at for at, line in enumerate(comment) if not _BARE.fullmatch(line)), 0)
    bare = (at for at, line in enumerate(comment) if at > begin and _BARE.fullmatch(line))
    keep = min(next(bare, MAX_ABOVE), MAX_ABOVE - 1)
    left = room - len("\n".join(below))
    while keep < len(comment) - len(end) - 1 and len("\n".join(comment[: keep + 1])) <= left:
        keep += 1
    dropped = sum(map(lines_of, comment[keep : len(comment) - len(end)]))
    # Set in: at the margin, a mark within a text is taken for the text's own and escaped.
    mark = left_out(language, dropped, margin_of(comment[keep]) or " ")
    return "\n".join([*comment[:keep], mark, *end, *below])


def whole_lines(text: str, short: str, signature: str) -> str:
    """Return the beginning of code without a line or a declaration that is cut in the middle."""
    if not text.startswith(short):
        return short  # it was put together in another way
    if not text.startswith(f"{short}\n"):
        short = short.rpartition("\n")[0]
    begin, end = find_declaration(text, signature)
    return short if not begin < len(short) < end else text[:begin].rstrip()


def mark_cut(text: str, short: str, language: str, margin: str = "") -> str:
    """Return the beginning of code with a mark for the lines of it that are left out.

    The mark is set in as far as they are, or by a margin.
    """
    lines = text.rstrip("\n").split("\n")
    count = sum(map(lines_of, lines[len(short.split("\n")) if short else 0 :]))
    if count <= 0:
        return short
    rest = text[len(short) :].strip("\n")
    mark = left_out(language, count, margin_of(rest) or margin)
    if text.startswith(short) and len(rest.strip()) <= len(mark.strip()):
        return text  # what is left takes no more room than the mark
    return "\n".join(filter(None, (short, mark)))


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
