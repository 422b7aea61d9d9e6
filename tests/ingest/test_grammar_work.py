"""Whatever a file of code holds: no crash, no byte lost, no work that grows out of bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core.types import Document, IngestSettings
from quire.ingest import grammar
from quire.ingest.decode import NotText, decode_text
from quire.ingest.grammar import parse
from quire.ingest.grammar.languages import GRAMMARS
from quire.ingest.grammar.parse import MAX_LENGTH, MAX_STEP, load_grammar, parse_tree
from quire.ingest.read import build_document
from quire.ingest.types import SourceFile

from .reading import check_outline, get_outline

SOURCES = sorted((Path(__file__).parent / "sources").glob("*.txt"))
CUT = IngestSettings(code_max=200, secrets=True)
SIGNS = [b"{", b"}", b"(", b")", b"<", b">", b'"', b"'", b"`", b"/*", b"*/", b"<<EOF\n", b"#",
         b"\n", b"\t", b"\\", b"$(", b"@", b"=>", b";", "é“".encode(), b"class ", b"def "]  # fmt: skip

edits = st.lists(
    st.tuples(
        st.integers(0, 2000), st.integers(0, 30), st.one_of(st.sampled_from(SIGNS), st.binary())
    ),
    min_size=1,
    max_size=12,
)


def edited(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    for place, length, put in changes:
        at = place % (len(data) + 1)
        data = data[:at] + put + data[at + length :]
    return data


def check(document: Document, text: str) -> None:
    """The chunks are the text, each entity lies in the one around it, in reading order."""
    assert "".join(chunk.text for chunk in document.chunks) == text
    check_outline(document)
    outline = get_outline(document)
    assert all(reference.within < len(outline.entities) for reference in outline.references)


@pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])
@settings(max_examples=60)
@given(changes=edits)
def test_edited_source_loses_nothing(source: Path, changes: list[tuple[int, int, bytes]]) -> None:
    data = edited(source.read_bytes(), changes)
    try:
        text = decode_text(data)
    except NotText:
        return
    check(build_document(source.stem, data, CUT), text)


@pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])
def test_a_file_cut_off_anywhere_loses_nothing(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    for end in range(1, len(text), 61):
        check(build_document(source.stem, text[:end].encode(), CUT), text[:end])


@pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])
def test_parsing_in_steps_gives_the_tree_of_parsing_at_once(source: Path) -> None:
    from tree_sitter import Parser

    name = {".py": "python", ".ts": "typescript", ".tsx": "tsx", ".js": "javascript", ".rs": "rust",
            ".cs": "csharp", ".rb": "ruby", ".kt": "kotlin", ".sh": "shell"}.get(
                Path(source.stem).suffix, Path(source.stem).suffix[1:])  # fmt: skip
    loaded = load_grammar(name)
    assert loaded is not None
    data = source.read_bytes()
    data *= 3 * MAX_STEP // len(data)
    tree = parse_tree(loaded[0], data)
    assert tree is not None
    assert str(tree.root_node) == str(Parser(loaded[0]).parse(data).root_node)


def test_the_same_text_is_read_the_same_twice() -> None:
    for source in SOURCES:
        data = source.read_bytes()
        assert build_document(source.stem, data, CUT) == build_document(source.stem, data, CUT)


@pytest.mark.parametrize("language", GRAMMARS)
@pytest.mark.parametrize("unit", ["case 1: ", "a<", "x => ", '"', "`", "((", "{ ", "/* ", "?? "])
def test_a_text_without_order_is_left_to_its_lines(language: str, unit: str) -> None:
    text = unit * (100_000 // len(unit))
    # What was promised is a bound, not that every grammar gives up on every unit.
    reading = grammar.read(SourceFile(text, b"", language, "a"), CUT)
    assert reading is None or reading.spans[-1].end == len(text)


@pytest.mark.parametrize(
    ("language", "unit"),
    [("typescript", "case 1: "), ("java", "a<"), ("go", "/* "), ("python", "a ? "), ("c", "x => ")],
)
def test_the_parser_is_stopped(language: str, unit: str) -> None:
    loaded = load_grammar(language)
    assert loaded is not None
    assert parse_tree(loaded[0], unit.encode() * (12_000 // len(unit))) is None


@pytest.mark.parametrize("language", ["go", "javascript", "typescript"])
def test_the_parser_is_stopped_by_its_operations(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight thousand characters of arrows took it seven seconds."""
    loaded = load_grammar(language)
    assert loaded is not None
    stopped = []
    monkeypatch.setattr(parse, "_has_many_errors", lambda *_: stopped.append("by errors"))
    assert parse_tree(loaded[0], b"->" * 1500) is None
    assert not stopped, "before it was done"


@pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])
def test_code_needs_few_of_the_operations(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = build_document(source.stem, source.read_bytes(), CUT)
    monkeypatch.setattr(parse, "CALL_LENGTH", 3 * parse.CALL_LENGTH)
    monkeypatch.setattr(parse, "LEAST_CALLS", parse.LEAST_CALLS // 10)
    assert build_document(source.stem, source.read_bytes(), CUT) == document


def test_a_file_that_is_too_long_is_left_to_its_lines() -> None:
    text = "def f():\n    return 1\n\n\n" * (MAX_LENGTH // 23 + 1)
    assert grammar.read(SourceFile(text, b"", "python", "a.py"), CUT) is None
    document = build_document("a.py", text.encode(), IngestSettings())
    assert len(get_outline(document).entities) == 1 + text.count("def ")
    assert "".join(chunk.text for chunk in document.chunks) == text


def test_definitions_nested_without_end() -> None:
    text = (
        "".join(" " * depth + f"def f{depth}():\n" for depth in range(120)) + " " * 120 + "pass\n"
    )
    document = build_document("a.py", text.encode(), CUT)
    check(document, text)
    assert max(entity.qualified.count(".") for entity in get_outline(document).entities) < 20


def test_names_without_end_are_shortened() -> None:
    name = "a" * 100_000
    text = f"class {name}:\n    def {name}(self):\n        return {name}()\n"
    document = build_document("a.py", text.encode(), CUT)
    check(document, text)
    assert max(len(entity.qualified) for entity in get_outline(document).entities) < 300
    assert get_outline(document).references == ()
