"""The grammar of each language.

One row for each language: the package with its grammar, its query, and what a file is called in
it. A new language is a row here, a query, and the package in the extra `code`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from quire.ingest.grammar import compiled_queries, scripting_queries


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar from a package, and the query for its trees."""

    module: str
    query: str
    root_kind: str = "file"
    """What a file is in the language: a `module`, or just a `file`."""
    entry: str = "language"
    """The function of the package that returns the grammar."""


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
MAX_HEADER_LENGTH = 50_000
"""Characters of a header that are searched for C++."""


def select_grammar(language: str, path: str, text: str) -> str | None:
    """Return the name of the grammar that fits a file best, or None if its language has none."""
    extension = path[path.rfind(".") :].lower()
    if extension == ".tsx":
        return "tsx"
    if extension == ".h" and CPP_HEADER.search(text, 0, MAX_HEADER_LENGTH):
        return "cpp"
    if extension == ".fish":
        return None  # a shell script, but not in the syntax of the shell grammar
    return language if language in GRAMMARS else None
