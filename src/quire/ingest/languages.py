r"""Line patterns of definitions, by language, for code that is read without a grammar.

A pattern matches the beginning of a line. Its group `sig` is the definition's title, or its group
`call` the name of a function without a keyword (`constructor`: the same, in a second place of the
pattern). `\h` stands for spaces and tabs: a pattern never leaves its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

NOT_CALLS = (
    r"(?!(?:if|for|function|foreach|while|switch|catch|return|else|elif|do|new|throw|throws|delete|using"
    r"|lock|await|yield|case|goto|sizeof|assert|synchronized|try|with|match|when|until)\b)"
)
MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|virtual|override|async"
    r"|partial|readonly|unsafe|extern|export|default|declare|open|inline|suspend|data|companion"
    r"|inner|annotation|lateinit|operator|infix|implicit|lazy|case|fileprivate|mutating|indirect"
    r"|convenience|required|native|synchronized|transient|volatile|strictfp|new)\h+)*"
)

PYTHON = r"\h*(?P<sig>(?:async\h+)?(?:def|class)\h+\w+)"
SCRIPT = (
    rf"\h*{MODIFIERS}(?:"
    r"(?P<sig>(?:function\h*\*?|class|interface|enum|namespace|module|type)\h+[\w$.]+"
    r"|(?:(?:const|let|var)\h+[\w$]+|[\w$]+\.[\w$.]+)(?=\h*(?::[^=\n]{0,100})?=\h*(?:async\b\h*)?"
    r"(?:function\b|class\b|\([^\n]*=>\h*[{(]?|\([^)\n]*$|[\w$]+\h*=>))"
    r"|(?:describe|it|test)\((?:'[^'\n]{1,80}'|\"[^\"\n]{1,80}\"|`[^`\n]{1,80}`))"
    rf"|{NOT_CALLS}(?:(?:get|set)\h+)?\*?(?P<call>[\w$#]+)\h*(?:<[^>\n]*>)?"
    r"\((?![^\n]*(?:\bfunction\b|=>))[^;\n]*\)\h*(?::\h*[^;{=\n]+)?\{[^}\n]*$)"
)
GO = r"(?P<sig>func\h+(?:\([^)\n]*\)\h*)?\w+|type\h+\w+)"
RUST = (
    r"\h*(?:pub(?:\([^)\n]*\))?\h+)?(?:default\h+)?"
    r"(?P<sig>(?:(?:const|async|unsafe|extern(?:\h+\"[^\"\n]*\")?)\h+)*(?:fn|struct|enum|trait"
    r"|union|mod|type)\h+\w+|macro_rules!\h*\w+|(?:unsafe\h+)?impl\b[^{;\n]{1,100})"
)
CURLY = (  # Java, C#, Kotlin, Scala, Swift, PHP, Dart, Groovy
    rf"\h*{MODIFIERS}(?:"
    r"(?P<sig>(?:class|interface|@interface|enum|record|struct|namespace|object|trait|extension"
    r"|protocol|actor|fun|func|def|function|init|deinit|subscript|typealias|mixin)\b"
    r"(?:\h+(?:class\h+)?(?:<[^>\n]*>\h*)?&?[\w.`$]+)?)"
    rf"|{NOT_CALLS}(?:[\w<>\[\],.?&@]+\h+){{1,4}}(?P<call>[\w$]+)\h*\([^;=\n]*$"
    rf"|{NOT_CALLS}(?<=\h)(?P<constructor>[A-Z]\w*)\h*\([^;\n]*\)[^;\n]*\{{\h*$)"
)
C = (
    r"\h*(?:"
    r"(?P<sig>(?:typedef\h+)?(?:struct|class|enum(?:\h+class)?|union|namespace)\h+[\w:]+)"
    r"(?=[^;()\n]*(?:\{[^\n]*)?$)"
    rf"|{NOT_CALLS}(?!typedef\b|\#)(?:(?<![ \t])|(?:[\w:*&<>,~\[\]]+\h+){{1,6}})[*&]*"
    r"(?P<call>(?:[\w~]+(?:<[^>\n]*>)?::)*(?:~?\w+|operator\h*[^\s(]{1,3}))\h*\([^;\n]*$)"
)
RUBY = r"\h*(?P<sig>(?:def|class|module)\h+[\w.:?!=<>\[\]]+)"
SHELL = r"\h*(?:(?P<sig>function\h+[\w:.-]+)|(?P<call>[\w:.-]+)\h*\(\))"
SQL = (
    r"(?i:(?P<sig>(?:create|alter|drop|comment\h+on|grant|revoke)\h+[^\n(;]{1,80}"
    r"|(?:insert\h+into|delete\h+from|update)\h+[^\s(;]{1,80}|with\b|select\b|begin\b))"
)
OTHER = (
    rf"\h*{MODIFIERS}(?:local\h+|pub\h+)?"
    r"(?P<sig>(?:def|defp|defmodule|defmacro|fn|func|function|fun|proc|sub|macro|class|struct|enum"
    r"|trait|interface|module|namespace|package|type|message|service|rpc|resource|variable|output"
    r"|data|instance)\h+[\w.:\"'-]+)"
)

HASH_STRINGS = r"#[^\n]*|\"(?:[^\"\\\n]++|\\.)*+\"?|'(?:[^'\\\n]++|\\.)*+'?"
PYTHON_MASK = (
    r"(?P<long>\"\"\"(?:[^\"\\]++|\\.|\"(?!\"\"))*+(?:\"\"\"|\\?\Z)"
    rf"|'''(?:[^'\\]++|\\.|'(?!''))*+(?:'''|\\?\Z))|{HASH_STRINGS}"
)
SLASHES = r"(?P<long>/\*.*?(?:\*/|\Z))|//[^\n]*|\"(?:[^\"\\\n]++|\\.)*+\"?"
C_MASK = rf"{SLASHES}|'(?:[^'\\\n]|\\[^\n]{{1,10}}?)'"
SCRIPT_MASK = (
    r"(?P<long>/\*.*?(?:\*/|\Z)|`(?:[^`\\]++|\\.)*+(?:`|\\?\Z))|//[^\n]*"
    r"|\"(?:[^\"\\\n]++|\\.)*+\"?|'(?:[^'\\\n]++|\\.)*+'?"
)

SQL_MASK = r"(?P<long>/\*.*?(?:\*/|\Z)|'[^']*+(?:'|\Z))|--[^\n]*"

HASH_LEADS = ("#", "@")
SLASH_LEADS = ("//", "/*", "@")
ATTRIBUTE_LEADS = (*SLASH_LEADS, "[", "#[")
MULTI_LINE_LEADS = ("@", "[", "#[")
ANY_LEADS = ("#", "//", "/*", "--", ";;", "@")

# Conditional compilation and labels have no indentation but do not end the function.
C_NEUTRAL = r"\#\h*(?:if|else|elif|endif|pragma|undef|line)|\w+:$"
SQL_CLAUSE = (
    r"(?i:from|where|group|order|having|limit|join|left|right|inner|outer|cross|on|and|or|set"
    r"|values|returning|union|as|then|else|end|using)\b"
)
NEVER = r"(?!)"


@dataclass(frozen=True, slots=True)
class Family:
    """A group of languages whose definitions begin alike."""

    definition: re.Pattern[str]
    mask: re.Pattern[str] | None
    lead: tuple[str, ...]
    neutral: re.Pattern[str]

    def is_leading(self, content: str) -> bool:
        """Return whether a line (a comment, a decorator) belongs to the definition below it."""
        return content.startswith(self.lead)

    def is_neutral(self, content: str) -> bool:
        """Return whether the indentation of a line has no meaning."""
        return self.neutral.match(content) is not None

    def match_title(self, line: str) -> str:
        """Return the title of the definition that begins in a line; empty if there is none."""
        match = self.definition.match(line)
        if match is None:
            return ""
        groups = match.groupdict()
        if groups["sig"]:
            return str(groups["sig"])
        return f"{groups.get('call') or groups.get('constructor')}()"

    def iter_masks(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of strings and comments that may have several lines."""
        if self.mask is None:
            return
        for match in self.mask.finditer(text):
            if match["long"]:
                yield match.span()


FAMILIES = {
    # language: definitions, strings and comments, lines that lead a definition, neutral lines
    "python": (PYTHON, PYTHON_MASK, HASH_LEADS, NEVER),
    "javascript": (SCRIPT, SCRIPT_MASK, SLASH_LEADS, NEVER),
    "go": (GO, SCRIPT_MASK, SLASH_LEADS, r"\w+:$"),
    "rust": (RUST, C_MASK, ATTRIBUTE_LEADS, NEVER),
    "java": (CURLY, C_MASK, ATTRIBUTE_LEADS, C_NEUTRAL),
    "c": (C, C_MASK, (*ATTRIBUTE_LEADS, "template<", "template <"), C_NEUTRAL),
    "ruby": (RUBY, None, HASH_LEADS, NEVER),
    "shell": (SHELL, None, HASH_LEADS, NEVER),
    "sql": (SQL, SQL_MASK, ("--", "/*"), SQL_CLAUSE),
    "other": (OTHER, None, ANY_LEADS, NEVER),
}
ALIASES = {
    "cython": "python",
    "typescript": "javascript",
    "vue": "javascript",
    "svelte": "javascript",
    "csharp": "java",
    "kotlin": "java",
    "scala": "java",
    "swift": "java",
    "php": "java",
    "dart": "java",
    "groovy": "java",
    "cpp": "c",
    "objective-c": "c",
    "cuda": "c",
}


@cache
def get_family(language: str) -> Family:
    """Return the family of a language."""
    language = ALIASES.get(language, language)
    definition, mask, lead, neutral = FAMILIES.get(language, FAMILIES["other"])
    return Family(
        re.compile(definition.replace(r"\h", "[ \\t]")),
        re.compile(mask, re.DOTALL) if mask else None,
        lead,
        re.compile(neutral.replace(r"\h", "[ \\t]")),
    )
