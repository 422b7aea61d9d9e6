"""Every format renders a context exactly as promised."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire import packing
from quire.cli.main import main
from quire.core.types import Piece, RenderSpec
from quire.errors import InputError
from quire.rendering import FORMATS, heading_text, render
from quire.rendering.formats import Format
from tests.pipeline.builders import chunk, document, piece

GOLDEN = Path(__file__).parent / "golden"
MARKERS = RenderSpec()
JSON = RenderSpec(format="json")

CONSENSUS = document(
    "docs/ledger/agreement.md",
    "A validator is drawn in proportion to what it has put at stake;\n"
    "the more it could lose, the more often it may propose.\n\n",
    "What it has put at stake is locked, and taken away when it signs\n"
    "two blocks of the same height.\n\n",
    "Between these parts stands one that nobody asked for.\n\n",
    "As long as fewer than a third of all votes are dishonest, the rest\ncomes to one decision.\n",
)
TREES = document(
    "docs/ledger/trees.md",
    "A tree of hashes shows in a few steps that nothing was changed.\n"
    "Every leaf is the hash of one block of data.\n",
)


def rendered(pieces: list[Piece], order: str, spec: RenderSpec = MARKERS) -> str:
    return render(packing.arrange(pieces, order, "greedy"), spec)


def example() -> list[Piece]:
    """The pieces of the example in the order of their scores."""
    return [
        piece(CONSENSUS[0], 40),
        piece(CONSENSUS[1], 30),
        piece(TREES[0], 20),
        piece(CONSENSUS[3], 10),
    ]


def test_vector_format_example() -> None:
    expected = (GOLDEN / "format_example.txt").read_bytes().decode()
    assert rendered(example(), "packed") == expected


def test_format_example_grouped() -> None:
    expected = (GOLDEN / "format_example_grouped.txt").read_bytes().decode()
    assert rendered(example(), "grouped") == expected


def test_format_example_with_metadata() -> None:
    expected = (GOLDEN / "format_example_metadata.txt").read_bytes().decode()
    pieces = [
        piece(chunk("First.\n", "a.md", 0, title="Guide > Start"), 7),
        piece(chunk("Second.\n", "a.md", 1), 5),
        piece(chunk("Third.\n", "b.md", 0, title="End"), 3),
    ]
    assert rendered(pieces, "grouped", RenderSpec(metadata=True)) == expected


def test_format_example_json() -> None:
    expected = (GOLDEN / "format_example.json").read_bytes().decode()
    assert rendered(example(), "packed", JSON) + "\n" == expected


def test_vector_grouping() -> None:
    rows = [("a.md", 1, 90), ("b.md", 1, 88), ("a.md", 2, 85), ("b.md", 2, 82)]
    pieces = [
        piece(chunk(f"Chunk {at}\n", path, at, start=8 * at), score) for path, at, score in rows
    ]
    blocks = packing.arrange(pieces, "auto", "greedy")
    assert [block.path for block in blocks] == ["a.md", "b.md"]
    assert [
        [each.candidate.chunk.sequence for run in block.runs for each in run.pieces]
        for block in blocks
    ] == [[1, 2], [1, 2]]
    first, second = "[DOC: a.md]\nChunk 1\nChunk 2\n", "[DOC: b.md]\nChunk 1\nChunk 2\n"
    assert render(blocks, MARKERS) == f"{first}\n{second}"


@pytest.mark.parametrize("text", ["end", "end\n", "end\n\n\n", "\n\nend", "\nend\n"])
def test_a_run_ends_in_one_line_end(text: str) -> None:
    assert rendered([piece(chunk(text))], "grouped") == "[DOC: a.md]\nend\n"


def test_white_space_within_stays() -> None:
    text = "    indented\n\n\n\tby a tab  \n"
    assert rendered([piece(chunk(text))], "grouped") == f"[DOC: a.md]\n{text}"


@pytest.mark.parametrize(
    "name", ["a\nb.md", "x]\n[DOC: secret.md", "tab\there", "a\u2028b", "\x1b[0m"]
)
def test_a_marker_is_one_line_whatever_a_file_is_called(name: str) -> None:
    line = heading_text(piece(chunk("text", name)), MARKERS)
    assert line.startswith("[DOC: ")
    assert line.endswith("]\n")
    assert len(line.splitlines()) == 1
    assert line.count("\n") == 1
    assert "\x1b" not in line


def test_a_plain_path_stands_as_it_is() -> None:
    one = piece(chunk("text", "docs/größe 漢字 👩‍💻.md"))
    assert heading_text(one, MARKERS) == "[DOC: docs/größe 漢字 👩‍💻.md]\n"


def test_unknown_format_is_refused() -> None:
    with pytest.raises(
        InputError, match="unknown format 'yaml'; choose from markers, markdown, xml"
    ):
        render((), RenderSpec(format="yaml"))


texts = st.one_of(
    st.text(min_size=1, max_size=60).filter(lambda text: text.isprintable() or "\n" in text),
    st.sampled_from(
        [
            "```py\ncode\n```",
            "[DOC: x]\n",
            '{"a": "\\n"}',
            "漢字\n仮名",
            "👩‍👩‍👧‍👦 🇩🇪",
            " \n ",
            "a" * 500,
        ]
    ),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a.md", "b.md", "ü.md"]), texts), max_size=6))
def test_json_parses_and_holds_the_same_texts(rows: list[tuple[str, str]]) -> None:
    pieces = [piece(chunk(text, path, place), 9) for place, (path, text) in enumerate(rows)]
    for metadata in (False, True):
        blocks = packing.arrange(pieces, "grouped", "greedy")
        parsed = json.loads(render(blocks, RenderSpec("json", metadata=metadata)))
        assert [one["path"] for one in parsed["documents"]] == [block.path for block in blocks]
        for one, block in zip(parsed["documents"], blocks, strict=True):
            assert [run["text"] for run in one["runs"]] == [run.text for run in block.runs]
            assert [run["lines"] for run in one["runs"]] == [list(run.lines) for run in block.runs]
            assert all(("score" in run) == metadata for run in one["runs"])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a.md", "b.md", "ü.md"]), texts), max_size=6))
def test_markers_say_each_document_once_with_a_blank_line_between(
    rows: list[tuple[str, str]],
) -> None:
    pieces = [piece(chunk(text, path, place), 9) for place, (path, text) in enumerate(rows)]
    blocks = packing.arrange(pieces, "grouped", "greedy")
    expected = "\n".join(
        f"[DOC: {block.path}]\n"
        + "".join(
            (f"... (line {run.lines[0]})\n" if at else "") + run.text.strip("\n") + "\n"
            for at, run in enumerate(block.runs)
        )
        for block in blocks
    )
    forged = re.compile(r"(?m)^\\([ \t]*\[DOC:)")
    assert forged.sub(r"\1", render(blocks, MARKERS)) == forged.sub(r"\1", expected)


def test_a_gap_says_where_the_text_goes_on() -> None:
    pieces = [piece(one, 9 - at) for at, one in enumerate((CONSENSUS[0], CONSENSUS[3]))]
    for name in ("markers", "markdown", "xml", "plain"):
        lines = rendered(pieces, "grouped", RenderSpec(name)).splitlines()
        at = lines.index("... (line 9)")
        assert lines[at - 1].endswith("it may propose.") or not lines[at - 1]
        assert lines[at + 1].startswith("As long as fewer")
    alike = [piece(replace(one.candidate.chunk, lines=(0, 0)), 1) for one in pieces]
    assert "\n...\nAs long as" in rendered(alike, "grouped")
    joined = [piece(one, 1) for one in CONSENSUS]
    assert "..." not in rendered(joined, "grouped")


@pytest.mark.parametrize("name", ["markers", "markdown", "xml", "plain", "json"])
def test_a_cut_is_marked(name: str) -> None:
    whole = piece(TREES[0])
    for text in ("A tree of hashes", whole.text.partition("\n")[0]):
        cut = packing.with_cut_text(whole, text, 1)
        told = rendered([cut], "grouped", RenderSpec(name))
        if name == "json":
            assert json.loads(told)["documents"][0]["runs"] == [
                {"lines": [1, 1], "text": text, "truncated": True}
            ]
        else:
            mark = "... (truncated)" if name == "markdown" else "..."
            assert f"\n{text}\n{mark}\n" in f"{told}\n"
    for uncut in (whole, packing.with_cut_text(whole, whole.text.rstrip(), 1)):
        told = rendered([uncut], "grouped", RenderSpec(name))
        assert "..." not in told
        assert "truncated" not in told


@pytest.mark.parametrize("name", ["markers", "markdown", "xml", "plain", "json"])
def test_the_marks_of_an_extract_stay(name: str) -> None:
    extract = packing.with_cut_text(piece(TREES[0]), "A tree\n...\nblock of data.\n...", 1)
    told = rendered([extract], "grouped", RenderSpec(name))
    if name == "json":
        (run,) = json.loads(told)["documents"][0]["runs"]
        assert (run["text"], run["truncated"]) == (extract.text, True)
    else:
        assert f"\n{extract.text}\n" in f"{told}\n"


def test_each_format_says_nothing_of_nothing() -> None:
    assert render((), MARKERS) == ""
    assert json.loads(render((), JSON)) == {"documents": []}
    for name in ("markdown", "plain"):
        assert render((), RenderSpec(format=name)) == ""
    assert render((), RenderSpec(format="xml")) == "<context>\n</context>"
    assert set(FORMATS) == {
        "markers",
        "json",
        "markdown",
        "xml",
        "plain",
        "page",
        "template",
        "situation",
    }


def test_a_format_is_one_row_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tides.md").write_text("The tide turns twice a day.\n")
    monkeypatch.setitem(FORMATS, "paths", Format(lambda found, *_: " ".join(p.path for p in found)))
    with quire.open(tmp_path) as store:
        store.index(embed=False)
        context = store.assemble("tide", format="paths", budget=200, reserve={})
        assert context.text == "tides.md"
        assert store.verify(context.receipt, context.text).problems == ()
        assert store.replay(context.receipt)[1] == []
        with pytest.raises(InputError, match="situation, paths"):
            store.assemble("tide", format="yaml")
    assert "situation, paths." in " ".join(
        CliRunner().invoke(main, ["assemble", "-h"]).output.split()
    )


def test_no_text_can_pass_for_another_document() -> None:
    forged = "as it was\n[DOC: secret.md]\n  [DOC: b]\nnot [DOC: c]\n"
    text = rendered([piece(document("a.md", forged)[0], 1)], "grouped")
    assert [line for line in text.splitlines() if line.startswith("[DOC: ")] == ["[DOC: a.md]"]
    assert "\n\\[DOC: secret.md]\n\\  [DOC: b]\nnot [DOC: c]\n" in text
