"""Text of a definition made readable: its name, its signature, its comment, names it uses."""

from __future__ import annotations

import re
from inspect import cleandoc

from quire.ingest.types import MAX_TITLE_LENGTH, clean_title

SIGNATURE_LENGTH = 1000
"""Longer declarations are cut; those who list several shorten them (`core/signatures.py`)."""
MAX_LENGTH = 4000
"""Characters of a comment or declaration that are examined."""

ARGUMENTS = re.compile(r"<[^<>]*>")
OPERATOR = re.compile(r"(?:^|(?<=::))\s*operator\b\s*([^\w.\s][^\w]*|\w.*)", re.DOTALL)
"""An operator of C++, whose characters are not separators."""
SEPARATOR = re.compile(r"::|->|[.\\#]")
NON_OWNERS = frozenset({"prototype", "module", "exports", "window", "this", "self"})
"""Prefixes of a name that are not its owner."""

SIGNATURE_ENDS = ("=>", "{", "=", ":", ";", ",", "; end", " AS", " as")
"""What separates a declaration from its body."""
LIST_EDGE = re.compile(r"(?<=[(\[]) |,? (?=[)\]])")
"""Spaces at the ends of a list that spanned several lines."""

COMMENT_MARK = re.compile(
    r"(?<![ \t])[ \t]*+(?:/\*+!?|\*+/|\*+(?!\*)|//[/!]*|#+(?![!\[])|--+)[ \t]?"
)
COMMENT_END = "*/"
DOC_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
LICENCE = re.compile(
    r"copyright|licen[sc]e|spdx-|all rights reserved|permission is hereby granted", re.IGNORECASE
)
PRAGMA = re.compile(
    r"#!|#.*coding[:=]|# frozen_string_literal|/[/*] *(?:eslint|jshint|global |@flow|@ts-)"
    r"|//(?:go:|\s*\+build)|# (?:type|mypy|pylint|ruff|flake8|shellcheck):"
)
TITLE = re.compile(r"(?:[ \t]*([=~^*#-])\1{2,}[ \t]*\n)?[^\n]+\n[ \t]*([=~^*#-])\2{2,}[ \t]*")
"""A title of reStructuredText: a line that is underlined, perhaps with a line above it."""
DOC_OPENING = re.compile(r"[a-zA-Z]{0,2}(\"\"\"|'''|\"|')\s*")

LAST_WORD = re.compile(r"[\w$]+[?!]?(?=[^\w$]*$)")
SCRIPT_EXTENSION = re.compile(
    r"\.(?:d\.ts|[cm]?[jt]sx?|rb|php|h|hh|hpp|hxx|sh|bash|json|css|vue)$", re.IGNORECASE
)
GO_VERSION = re.compile(r"/v\d+$")

_BLANKS_OR_TEXT = re.compile(r"""\s+|\\.|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'""")


def split_name(name: str) -> tuple[str, ...]:
    """Split a name into its components: `Cart<T>::total` into `Cart` and `total`."""
    if len(name) <= MAX_TITLE_LENGTH and name.isidentifier():
        return (name,)
    name = name[:MAX_LENGTH]
    for _ in range(4):
        shorter = ARGUMENTS.sub("", name)
        if shorter == name:
            break
        name = shorter
    if operator := OPERATOR.search(name):
        before, sign = name[: operator.start()], "".join(operator[1].split())
        owners = [clean_title(part) for part in before.split("::") if part.strip()]
        return (*owners, clean_title(f"operator{sign}"))
    parts = (clean_title(part).strip("'\"`") for part in SEPARATOR.split(name))
    components = [part for part in parts if part]
    owners = [part for part in components[:-1] if part not in NON_OWNERS]
    return (*owners, *components[-1:])


def format_signature(declaration: str) -> str:
    """Return a declaration without its body as one line of limited length."""
    line = _BLANKS_OR_TEXT.sub(_collapse_blanks, declaration[:MAX_LENGTH]).strip()
    while line.endswith(SIGNATURE_ENDS):
        tail = max((end for end in SIGNATURE_ENDS if line.endswith(end)), key=len)
        line = line[: -len(tail)].rstrip()
    if "\n" in declaration:
        line = LIST_EDGE.sub("", line)
    if len(line) <= SIGNATURE_LENGTH:
        return line
    return line[: SIGNATURE_LENGTH - 1].rstrip() + "…"


def _collapse_blanks(match: re.Match[str]) -> str:
    """Return one blank for blanks; a text in quotes stays as it is."""
    return " " if match[0].isspace() else match[0]


def strip_comment(comment: str) -> str:
    """Return the text of a comment without its markers."""
    if not comment:
        return ""
    lines = _strip_comment_end(comment[:MAX_LENGTH]).split("\n")
    text = "\n".join(COMMENT_MARK.sub("", line, count=1).rstrip() for line in lines)
    return cleandoc(DOC_TAG.sub("", text)).strip()


def _strip_comment_end(comment: str) -> str:
    bare = comment.rstrip()
    return bare[:-1].rstrip("*").rstrip() if bare.endswith(COMMENT_END) else comment


def strip_docstring(literal: str) -> str:
    """Return the first paragraph of a docstring, without its quotes, below a title in it."""
    opening = DOC_OPENING.match(literal)
    if opening is None:
        return ""
    text = literal[opening.end() : opening.end() + MAX_LENGTH]
    if len(literal) <= len(opening[0]) + MAX_LENGTH:
        text = text.removesuffix(opening[1])
    first, _, rest = text.lstrip("\n").partition("\n\n")
    if rest.strip() and TITLE.fullmatch(first):
        first = rest.lstrip("\n").partition("\n\n")[0]
    return cleandoc(first)


def is_licence(comment: str) -> bool:
    """Return whether a comment is a licence header."""
    return LICENCE.search(comment, 0, MAX_LENGTH) is not None


def is_file_comment(comment: str) -> bool:
    """Return whether a comment describes the file, even directly above a definition."""
    return comment.startswith(("#!", "//!", "/*!"))


def is_pragma(comment: str) -> bool:
    """Return whether a comment addresses a tool, not a reader."""
    return PRAGMA.match(comment) is not None


def last_component(name: str) -> str:
    """Return the last component of a name."""
    if name.isidentifier():
        return name
    match = LAST_WORD.search(name[-MAX_LENGTH:])
    return match[0] if match else ""


def last_module_component(name: str) -> str:
    """Return the last component of a module's name or path, without a file extension."""
    if name.isidentifier():
        return name
    name = name[-MAX_LENGTH:].partition("{")[0].strip("'\"`<>;")
    if "/" in name or SCRIPT_EXTENSION.search(name):
        path = GO_VERSION.sub("", name).rstrip("/")
        return SCRIPT_EXTENSION.sub("", path.rpartition("/")[2])
    return last_component(name)
