"""Marks for code that is left out: a comment of its language that says how much is missing.

Three dots would read like a body in Python, and like a spread in JavaScript.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_STYLES: Mapping[str, str] = {
    "# {}": "python shell ruby perl r julia elixir nim nix make docker cmake terraform graphql "
    "yaml toml ini powershell gherkin",
    "// {}": "javascript typescript go rust java kotlin scala groovy swift dart csharp fsharp c "
    "cpp objective-c cuda php protobuf thrift solidity zig json",
    "-- {}": "sql lua haskell",
    ";; {}": "clojure lisp",
    "; {}": "assembly",
    "% {}": "erlang",
    "! {}": "fortran",
    "/* {} */": "css",
    "(* {} *)": "ocaml",
    '" {}': "vim",
    ":: {}": "batch",
    "<!-- {} -->": "vue svelte template html xml",
}
_STYLE_OF = {language: style for style, names in _STYLES.items() for language in names.split()}


_LEFT_OUT = re.compile(r"\W*… (\d+) lines? left out\W*")
_CONTINUED = re.compile(r".*… (?:continues at line \d+(?: in a docstring)?|lines left out)\W*")
_END_OF_DOCSTRING = re.compile(r"^[ \t]*(\"\"\"|''')[ \t]*$", re.MULTILINE)
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)\b", re.MULTILINE)


def left_out(language: str, lines: int, margin: str = "") -> str:
    """Return the line that stands for so many lines of code."""
    return comment(language, f"… {lines} line{'' if lines == 1 else 's'} left out", margin)


def lines_of(line: str) -> int:
    """Return how many lines of code a line of an item stands for: a mark for those it counts."""
    if (mark := _LEFT_OUT.fullmatch(line.strip())) is not None:
        return int(mark[1])
    return 0 if _CONTINUED.fullmatch(line.strip()) else 1


def is_left_out(line: str) -> bool:
    """Tell whether a line of an item is a mark that counts lines of code."""
    return _LEFT_OUT.fullmatch(line.strip()) is not None


def continued(line: int, text: str = "") -> str:
    """Return what stands for the code before a line of the file; 0: it has no lines.

    A text of Python that begins in a docstring is told apart: its first quotes end it.
    """
    if not line:
        return "… lines left out"
    return f"… continues at line {line}{' in a docstring' if _begins_in_docstring(text) else ''}"


def _begins_in_docstring(text: str) -> bool:
    end = _END_OF_DOCSTRING.search(text)
    if end is None or end[1] in text[: end.start(1)] or _DEFINITION.search(text, 0, end.start()):
        return False
    return text.count(end[1]) % 2 == 1


def comment(language: str, text: str, margin: str = "") -> str:
    """Return a text as a comment of a language; of one that is not known, the text itself."""
    return margin + _STYLE_OF.get(language, "{}").format(text)


def margin_of(text: str) -> str:
    """Return the blanks before the first line of a text that has something in it."""
    line = next((line for line in text.split("\n") if line.strip()), "")
    return line[: len(line) - len(line.lstrip())]
