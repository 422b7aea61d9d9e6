"""Which grammar reads this file?

One row a language: the wheel that carries its grammar, its query, and what a file of it is. A
language more is a row here, a query, and the wheel in the extra `code`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from quire.ingest.grammar import compiled_queries, scripting_queries


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar that ships in a wheel, and what is looked for in its trees."""

    module: str
    query: str
    root_kind: str = "file"
    """What a file is to the language: a `module`, or just a `file`."""
    entry: str = "language"
    """The wheel's function that gives the grammar."""


GRAMMARS = {
    "python": Grammar("tree_sitter_python", scripting_queries.PYTHON, "module"),
    "typescript": Grammar(
        "tree_sitter_typescript", scripting_queries.TYPESCRIPT, "module", "language_typescript"
    ),
    "tsx": Grammar(
        "tree_sitter_typescript",
        scripting_queries.TYPESCRIPT + scripting_queries.JSX,
        "module",
        "language_tsx",
    ),
    "javascript": Grammar("tree_sitter_javascript", scripting_queries.JAVASCRIPT, "module"),
    "go": Grammar("tree_sitter_go", compiled_queries.GO, "module"),
    "rust": Grammar("tree_sitter_rust", compiled_queries.RUST, "module"),
    "java": Grammar("tree_sitter_java", compiled_queries.JAVA),
    "c": Grammar("tree_sitter_c", compiled_queries.C),
    "cpp": Grammar("tree_sitter_cpp", compiled_queries.CPP),
    "csharp": Grammar("tree_sitter_c_sharp", compiled_queries.CSHARP),
    "ruby": Grammar("tree_sitter_ruby", scripting_queries.RUBY, "module"),
    "php": Grammar("tree_sitter_php", scripting_queries.PHP, "module", "language_php"),
    "kotlin": Grammar("tree_sitter_kotlin", compiled_queries.KOTLIN, "module"),
    "swift": Grammar("tree_sitter_swift", compiled_queries.SWIFT, "module"),
    "scala": Grammar("tree_sitter_scala", compiled_queries.SCALA, "module"),
    "shell": Grammar("tree_sitter_bash", scripting_queries.BASH),
    "sql": Grammar("tree_sitter_sql", scripting_queries.SQL),
}

CPP_HEADER = re.compile(
    r"^[ \t]*(?:class\s+\w+[^;\n]*$|namespace\b|template\s*<|using\s+\w|public:|private:)"
    r"|\w::\w|\boperator\b",
    re.MULTILINE,
)
LOOKED_AT = 50_000
"""Characters of a header by which C is told from C++."""


def grammar_name(language: str, path: str, text: str) -> str | None:
    """Name the grammar that fits a file best; None: there is none for its language."""
    ending = path[path.rfind(".") :].lower()
    if ending == ".tsx":
        return "tsx"
    if ending == ".h" and CPP_HEADER.search(text, 0, LOOKED_AT):
        return "cpp"
    if ending == ".fish":
        return None  # a shell's script, but none that the shell's grammar knows
    return language if language in GRAMMARS else None
