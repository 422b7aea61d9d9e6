"""What do the words of a definition say: its name, its signature, the comment above it?"""

from __future__ import annotations

import re
from inspect import cleandoc

from quire.ingest.types import MAX_TITLE_LENGTH, clean_title

SIGNATURE_LENGTH = 200
LOOKED_AT = 4000
"""Characters of a comment or declaration that are looked at."""

ARGUMENTS = re.compile(r"<[^<>]*>")
OPERATOR = re.compile(r"(?:^|(?<=::))\s*operator\b\s*([^\w.\s][^\w]*|\w.*)", re.DOTALL)
"""Of C++: its signs are no separators."""
SEPARATOR = re.compile(r"::|->|[.\\#]")
SCAFFOLDING = frozenset({"prototype", "module", "exports", "window", "this", "self"})
"""What stands in front of a name without being its owner."""

SIGNATURE_ENDS = ("=>", "{", "=", ":", ";", ",", "; end", " AS", " as")
"""What stands between a declaration and its body."""
LIST_EDGE = re.compile(r"(?<=[(\[]) |,? (?=[)\]])")
"""What a list over several lines leaves at its ends."""

COMMENT_MARK = re.compile(r"[ \t]*(?:/\*+!?|\*+/|\*+(?!\*)|//[/!]*|#+(?![!\[])|--+)[ \t]?")
COMMENT_END = re.compile(r"\s*\*+/\s*$")
DOC_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
LICENCE = re.compile(
    r"copyright|licen[sc]e|spdx-|all rights reserved|permission is hereby granted", re.IGNORECASE
)
PRAGMA = re.compile(
    r"#!|#.*coding[:=]|# frozen_string_literal|/[/*] *(?:eslint|jshint|global |@flow|@ts-)"
    r"|//(?:go:|\s*\+build)|# (?:type|mypy|pylint|ruff|flake8|shellcheck):"
)
DOC_OPENING = re.compile(r"[a-zA-Z]{0,2}(\"\"\"|'''|\"|')\s*")

LAST_WORD = re.compile(r"[\w$]+[?!]?(?=[^\w$]*$)")
SCRIPT_ENDING = re.compile(
    r"\.(?:d\.ts|[cm]?[jt]sx?|rb|php|h|hh|hpp|hxx|sh|bash|json|css|vue)$", re.IGNORECASE
)
GO_VERSION = re.compile(r"/v\d+$")


def name_path(written: str) -> tuple[str, ...]:
    """Split a name into its components: `Cart<T>::total` is `Cart`, `total`."""
    if len(written) <= MAX_TITLE_LENGTH and written.isidentifier():
        return (written,)
    written = written[:LOOKED_AT]
    for _ in range(4):
        shorter = ARGUMENTS.sub("", written)
        if shorter == written:
            break
        written = shorter
    if operator := OPERATOR.search(written):
        before, sign = written[: operator.start()], "".join(operator[1].split())
        owners = [clean_title(part) for part in before.split("::") if part.strip()]
        return (*owners, clean_title(f"operator{sign}"))
    parts = (clean_title(part).strip("'\"`") for part in SEPARATOR.split(written))
    kept = [part for part in parts if part]
    owners = [part for part in kept[:-1] if part not in SCAFFOLDING]
    return (*owners, *kept[-1:])


def signature(declaration: str) -> str:
    """Bring a declaration without its body onto one line of a bounded length."""
    line = " ".join(declaration[:LOOKED_AT].split())
    while line.endswith(SIGNATURE_ENDS):
        tail = max((end for end in SIGNATURE_ENDS if line.endswith(end)), key=len)
        line = line[: -len(tail)].rstrip()
    if "\n" in declaration:
        line = LIST_EDGE.sub("", line)
    if len(line) <= SIGNATURE_LENGTH:
        return line
    return line[: SIGNATURE_LENGTH - 1].rstrip() + "…"


def comment_text(comment: str) -> str:
    """Take the marks off a comment."""
    if not comment:
        return ""
    lines = COMMENT_END.sub("", comment[:LOOKED_AT]).split("\n")
    text = "\n".join(COMMENT_MARK.sub("", line, count=1).rstrip() for line in lines)
    return cleandoc(DOC_TAG.sub("", text)).strip()


def docstring_text(literal: str) -> str:
    """Take the quotes off a docstring, and what follows its first paragraph."""
    opening = DOC_OPENING.match(literal)
    if opening is None:
        return ""
    text = literal[opening.end() : opening.end() + LOOKED_AT]
    if len(literal) <= len(opening[0]) + LOOKED_AT:
        text = text.removesuffix(opening[1])
    return cleandoc(text.lstrip("\n").partition("\n\n")[0])


def is_licence(comment: str) -> bool:
    """Tell whether a comment is a licence's header."""
    return LICENCE.search(comment, 0, LOOKED_AT) is not None


def speaks_of_the_file(comment: str) -> bool:
    """Tell whether a comment is about the file, even if a definition stands below it."""
    return comment.startswith(("#!", "//!", "/*!"))


def is_pragma(comment: str) -> bool:
    """Tell whether a comment speaks to a tool, not to a reader."""
    return PRAGMA.match(comment) is not None


def used_name(written: str) -> str:
    """Give the last component of a name that is used."""
    if written.isidentifier():
        return written
    match = LAST_WORD.search(written[-LOOKED_AT:])
    return match[0] if match else ""


def imported_name(written: str) -> str:
    """Give the last component of a module's name or path, without a file's ending."""
    if written.isidentifier():
        return written
    written = written[-LOOKED_AT:].partition("{")[0].strip("'\"`<>;")
    if "/" in written or SCRIPT_ENDING.search(written):
        path = GO_VERSION.sub("", written).rstrip("/")
        return SCRIPT_ENDING.sub("", path.rpartition("/")[2])
    return used_name(written)
