"""Reading a file takes time linear in its length, whatever its content."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from quire.core.types import IngestSettings
from quire.ingest.read import build_document
from quire.ingest.types import UnreadableFile

DEFAULT = IngestSettings()
SMALL, LARGE = 5_000, 20_000
FACTOR = 6  # for four times the text; the longer text may go to another reader

HOSTILE = {
    "one word": "x",
    "one line": "lorem ipsum ",
    "one line of data": '{"a":[1,2,3],"b":"c d"},',
    "sentences": "Lorem ipsum dolor. ",
    "white space": " ",
    "blank lines": "\n",
    "short lines": "ab\n",
    "definitions": "def f():\n    pass\n",
    "open strings": "'''\"\"\"`",
    "open comments": "/* ",
    "open tags": "<a ",
    "nested tags": "<p><i>x",
    "open brackets": "[(<",
    "joined graphemes": "\U0001f468\u200d",
    "marks": "\u0301",
    "flags": "\U0001f1e6",
    "assignments": "api_key=a1",
    "headings": "# a\n",
    "underlined": "abc\n---\n",
    "list": "- a\n",
    "decorators": "@a(\n",
    "roles": ":doc:`",
    "cases": "case 1: ",
    "generics": "a<",
    "arrows": "x => ",
    "nested calls": "f(",
    "nested blocks": "if (a) {",
    "quotes": '"',
    "requirements": "- REQ-1: a\n",
    "deeper requirements": " - REQ-1: a\n  - b\n",
    "decisions": "We decided *a* [b](c)\n\n",
    "sections": "# a\n*b* [c](d) `e\n",
    "scenarios": "@a\nScenario: b\n",
}


def work(run: Callable[[], object]) -> int:
    """Count function calls, including those of functions written in C."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        run()
    except UnreadableFile:
        pass
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    "ending", [".txt", ".md", ".rst", ".html", ".json", ".feature", ".py", ".js", ".c", ".sql"]
)
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_work_is_linear_in_the_length(unit: str, ending: str) -> None:
    path = f"a{ending}"
    build_document(path, b"warm up", DEFAULT)

    def run(length: int) -> int:
        data = (unit * (length // len(unit))).encode()
        return work(lambda: build_document(path, data, DEFAULT))

    run(LARGE)  # compiles the patterns that are compiled lazily
    assert run(LARGE) <= FACTOR * run(SMALL) + 500


@pytest.mark.parametrize("path", ["data.json", "notes.txt"])
def test_sixteen_megabytes_in_one_line(path: str) -> None:
    unit = '{"key": "some words, and more"},'
    data = (unit * (DEFAULT.max_bytes // len(unit))).encode()
    document = build_document(path, data, DEFAULT)
    assert document.chunks[-1].end == len(data)
    assert max(len(chunk.text) for chunk in document.chunks) <= 2 * DEFAULT.code_max
