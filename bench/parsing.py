"""How fast is source code read by its grammar, beside tree-sitter alone on the same files?

BENCH_CODE names a folder with source trees of any languages. Without it there is the Python of this
repository and of BENCH_DATA, and for the other languages the sources of the tests, repeated: they
hold a definition in every hundred characters, real files one in five hundred. `read` makes
definitions, names, references and pieces of the tree.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

from bench import data
from bench.report import Table
from quire.core.types import IngestSettings
from quire.ingest.grammar import read
from quire.ingest.grammar.languages import select_grammar
from quire.ingest.grammar.parse import MAX_LENGTH, load_grammar
from quire.ingest.types import SourceFile

REPOSITORY = Path(__file__).parent.parent
LANGUAGES = {
    "py": "python", "ts": "typescript", "tsx": "typescript", "js": "javascript", "go": "go",
    "rs": "rust", "java": "java", "c": "c", "cpp": "cpp", "cs": "csharp", "rb": "ruby",
    "php": "php", "kt": "kotlin", "swift": "swift", "scala": "scala", "sh": "shell", "sql": "sql",
}  # fmt: skip
ROUNDS = 5
TYPICAL = 12_000
"""Characters of a file that is made by repeating."""
DEFAULTS = IngestSettings()


def tables() -> Iterator[Table]:
    """Measure language by language."""
    table = Table(
        "reading code by grammar, one core",
        ("language", "files", "MB", "files/s", "MB/s", "tree-sitter MB/s", "times tree-sitter"),
    )
    for name, sources in _corpora():
        grammar = select_grammar(sources[0].language, sources[0].path, "")
        found = load_grammar(grammar) if grammar else None
        if found is None:
            continue
        megabytes = sum(len(source.data) for source in sources) / 1e6
        alone, whole = _seconds(sources, found[0])
        table.add(
            name, len(sources), megabytes, len(sources) / whole, megabytes / whole,
            megabytes / alone, round(whole / alone, 2),
        )  # fmt: skip
    table.notes = ["CPU time, the best of five rounds"]
    yield table


def _seconds(sources: list[SourceFile], language: object) -> tuple[float, float]:
    from tree_sitter import Language, Parser

    assert isinstance(language, Language)

    def alone() -> None:
        for source in sources:
            Parser(language).parse(source.data)

    def whole() -> None:
        for source in sources:
            read(source, DEFAULTS)

    whole()
    return _best(alone), _best(whole)


def _best(run: Callable[[], None]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = process_time()
        run()
        seconds.append(process_time() - start)
    return min(seconds)


def _corpora() -> Iterator[tuple[str, list[SourceFile]]]:
    if "BENCH_CODE" in os.environ:
        yield from _trees(Path(os.environ["BENCH_CODE"]))
        return
    if data.folder() is not None:
        tree = [(path, text) for path, text in data.tree("swe_dev") if path.endswith(".py")]
        yield "Python, a source tree", [_source(path, text) for path, text in tree if text]
    own = sorted((REPOSITORY / "src").rglob("*.py"))
    yield "Python, this repository", [_source(path.name, path.read_text()) for path in own]
    for file in sorted((REPOSITORY / "tests" / "ingest" / "sources").glob("*.txt")):
        text = file.read_text()
        head, _, _ = text.partition("\n\n")
        body = text.removeprefix(head)
        repeated = head + body * max(1, TYPICAL // len(body))
        yield f"{file.stem}, repeated", [_source(file.stem, repeated)] * 20


def _trees(folder: Path) -> Iterator[tuple[str, list[SourceFile]]]:
    found: dict[str, list[SourceFile]] = {}
    for path in sorted(folder.rglob("*.*")):
        if path.suffix[1:] in LANGUAGES and path.is_file() and not path.is_symlink():
            source = _source(path.name, path.read_text(encoding="utf-8", errors="replace"))
            if 0 < len(source.text) <= MAX_LENGTH:
                found.setdefault(path.suffix[1:], []).append(source)
    yield from sorted(found.items())


def _source(path: str, text: str) -> SourceFile:
    language = LANGUAGES[path.rpartition(".")[2]]
    return SourceFile(text, text.encode(), language, path)
