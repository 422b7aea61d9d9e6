"""Code enters a page by the definition that the query is about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import quire
from quire.core.types import OWNER, Chunk, Entity, Unit
from quire.engine import Quire
from quire.pipeline import units
from quire.pipeline.candidates import NO_BODY
from quire.pipeline.preamble import is_preamble
from quire.pipeline.units import find_unit
from tests.conftest import Tree

SIGNER = '''\
# Copyright 2026 by nobody. All rights reserved.
"""Signing of texts, and whatever else a header says."""

from __future__ import annotations

import hashlib
from typing import (
    Any,
    TYPE_CHECKING,
)

SEPARATOR = b"."


def encode(value: str) -> bytes:
    """Encode a text."""
    return value.encode()


def decode(value: bytes) -> str:
    """Decode bytes."""
    return value.decode()


class Signer:
    """Signs texts with a key."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    # Joined by a dot.
    def sign(self, value: str) -> bytes:
        """Return a text with its signature."""
        return encode(value) + SEPARATOR + self.signature(value)

    def unsign(self, value: bytes) -> str:
        """Return a text without its signature, if that holds."""
        text, _, found = value.rpartition(SEPARATOR)
        return decode(text)

    @property
    def name(self) -> str:
        return "signer"
'''


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = Path(tmp_path_factory.mktemp("units"))
    (root / "signer.py").write_text(SIGNER)
    (root / "empty.py").write_text('"""Only a docstring."""\n\nimport os\n\nLIMIT = 3\n')
    (root / "notes.md").write_text("# Notes\n\nThe signer unsigns and signs.\n")
    with quire.open(root) as opened:
        opened.index(embed=False)
        yield opened


def unit_of(store: Quire, query: str, path: str = "signer.py") -> Unit:
    with store.store.view(OWNER) as view:
        (record,) = [record for record in view.listing() if record.path == path]
        outline = view.outlines([record.id])[record.id]
        (chunk,) = view.chunks_of(record.id)
        return find_unit(outline, chunk, query)


def line_of(text: str, source: str = SIGNER) -> int:
    return source[: source.index(text)].count("\n") + 1


@pytest.mark.parametrize(
    ("query", "name", "first"),
    [
        ("Signer.unsign signer.py", "Signer.unsign", "def unsign"),
        ("decode", "decode", "def decode"),
        ("how does sign() work", "Signer.sign", "def sign"),
        ("the name of a signer", "Signer.name", "@property"),
        ("class Signer", "Signer", "class Signer"),
        ("what joins a text with its signature by a separator", "Signer.sign", "def sign"),
    ],
)
def test_a_unit_is_the_definition_that_a_query_is_about(
    store: Quire, query: str, name: str, first: str
) -> None:
    unit = unit_of(store, query)
    assert unit.entity.qualified == name
    assert unit.line == line_of(first)
    assert first in unit.text


def test_a_class_is_shown_by_its_declarations_and_matching_methods_whole(store: Quire) -> None:
    unit = unit_of(store, "Signer.sign and Signer.unsign")
    assert unit.entity.qualified == "Signer"
    assert "return encode(value) + SEPARATOR" in unit.outline
    assert "text, _, found" in unit.outline
    assert "def __init__(self, key: bytes) -> None" in unit.outline
    assert "self.key = key" not in unit.outline


def test_a_header_never_stands_for_a_module(store: Quire) -> None:
    unit = unit_of(store, "zebra")
    assert unit.entity.kind == "module"
    assert "def encode(value: str) -> bytes" in unit.text
    for word in ("Copyright", "import", "whatever else"):
        assert word not in unit.text
    bare = unit_of(store, "zebra", "empty.py")
    assert (bare.text, bare.line) == ("LIMIT = 3", 5)


@pytest.mark.parametrize("recipe", ["agent", "entities"])
def test_pages_name_definitions_and_are_verified(store: Quire, recipe: str) -> None:
    for name in ("encode", "decode", "Signer.sign", "Signer.unsign", "Signer"):
        page = store.assemble(f"{name} signer.py", recipe=recipe)
        found = [(source.name, source.line) for source in page.sources]
        line = line_of(("class " if name == "Signer" else "def ") + name.rpartition(".")[2])
        assert (name, line) in found
        assert store.verify(page.receipt, page.text).problems == ()
        assert store.replay(page.receipt)[1] == []
        if recipe == "agent":
            items = [item.about for item in page.items if item.kind == "code"]
            assert (name, line) in [(one["qualified_name"], one["start_line"]) for one in items]


def test_a_definition_that_is_guessed_is_shown_with_the_lines_around_it(store: Quire) -> None:
    page = store.assemble("whose signature holds", recipe="agent", types=["code"]).text
    assert "def unsign(self" in page
    assert "# Joined by a dot." in page
    named = store.assemble("Signer.unsign", recipe="agent", types=["code"]).text
    assert "**Method** `Signer.unsign`" in named
    assert "# Joined by a dot." not in named
    assert '\ndef unsign(self, value: bytes) -> str:\n    """Return a text without' in named


# --- a definition of which the chunk holds a part ------------------------------------------------

BODY = "".join(f"        step_{number} = {number}\n" for number in range(200))
RETRY = f'''\
class Retry:
    """Whether a request may be sent again."""

    def wait(self) -> int:
        return 1

    def increment(
        self,
        method: str,
        url: str,
    ) -> "Retry":
        """Count a failure."""
{BODY}        if method == "read error":
            raise MaxRetryError(url)
        return self

    def close(self) -> None:
        pass


def simple(url: str) -> str:
    return url


def other(url: str) -> str:
    return url
'''
QUESTION = "How does Retry decide whether a request may be retried after a read error?"


@pytest.fixture(scope="module")
def long_class(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = Path(tmp_path_factory.mktemp("parts"))
    (root / "retry.py").write_text(RETRY)
    with quire.open(root) as opened:
        opened.index(embed=False)
        yield opened


def units_of(store: Quire, query: str) -> list[tuple[Chunk, Unit]]:
    with store.store.view(OWNER) as view:
        (record,) = view.listing()
        outline = view.outlines([record.id])[record.id]
        return [(chunk, find_unit(outline, chunk, query)) for chunk in view.chunks_of(record.id)]


def test_the_method_in_the_chunk_comes_before_the_class_that_begins_elsewhere(
    long_class: Quire,
) -> None:
    found = units_of(long_class, QUESTION)
    assert found[0][1].entity.qualified == "Retry", "here it begins"
    parts = [(chunk, unit) for chunk, unit in found if "step_150" in chunk.text]
    for chunk, unit in parts:
        assert unit.entity.qualified == "Retry.increment"
        assert unit.source.startswith(
            f'def increment(self, method: str, url: str) -> "Retry":\n'
            f"    # … continues at line {chunk.lines[0]}\n    step_"
        )
    assert parts


def test_a_label_is_true_of_the_lines_below_it(long_class: Quire) -> None:
    page = long_class.assemble(QUESTION, recipe="agent", budget=6000)
    lines = RETRY.split("\n")
    labels = re.findall(
        r"\*\*(\w+)\*\* ([^\n]*) \(lines (\d+)–(\d+)\) in `retry.py:(\d+)`\n```python\n(.*?)\n```",  # noqa: RUF001
        page.text,
        re.DOTALL,
    )
    assert labels
    for _, names, first, last, place, text in labels:
        shown = [line.strip() for line in text.split("\n") if line.strip()]
        shown = shown[2:] if "continues at line" in shown[1] else shown
        shown = [line for line in shown if "left out" not in line]
        assert shown == [line.strip() for line in lines[int(first) - 1 : int(last)] if line.strip()]
        name = re.findall(r"`(.*?)`", names)[0].rpartition(".")[2]
        assert re.search(rf"(?:def|class) {name}\b", "\n".join(lines[int(place) - 1 :][:6]))
    assert long_class.verify(page.receipt, page.text).problems == ()


def test_what_goes_on_in_the_next_chunk_is_marked_and_counted(long_class: Quire) -> None:
    found = units_of(long_class, "Retry.increment")
    chunk, unit = next((c, u) for c, u in found if "def increment" in c.text)
    assert unit.entity.qualified == "Retry.increment"
    left = unit.entity.lines[1] - chunk.lines[1]
    assert unit.source.endswith(f"\n    # … {left} lines left out")
    assert unit.line == RETRY[: RETRY.index("    def increment")].count("\n") + 1


def test_several_definitions_that_no_word_singles_out_are_all_named(store: Quire) -> None:
    unit = unit_of(store, "zebra")
    assert [each.qualified for each in unit.others] == ["encode", "decode", "Signer"]
    page = store.assemble("key of whatever separator", recipe="agent", types=["code"]).text
    first, last = line_of("SEPARATOR = "), SIGNER.count("\n")
    assert (
        f"**Definitions** `encode`, `decode`, `Signer` (lines {first}–{last}) in `signer.py:{first}`"  # noqa: RUF001
        in page
    )


def test_a_part_of_a_path_does_not_hide_a_name(store: Quire) -> None:
    assert unit_of(store, "decode designer.py").entity.qualified == "decode"


RESPONSE = """class Response:
    def release(self):
        self.pool.put(self.socket)

    def drain(self):
        \"\"\"Discard what is left: unread bytes stop the connection from being used again.\"\"\"
        self.body.read_all()

    @property
    def data(self):
        return self.body.read()

    @property
    def connection(self):
        return self.socket
"""


@pytest.fixture(scope="module")
def response(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = Path(tmp_path_factory.mktemp("response"))
    (root / "response.py").write_text(RESPONSE)
    with quire.open(root) as opened:
        opened.index(embed=False)
        yield opened


def test_words_of_a_sentence_name_no_definition_where_another_shares_more(
    response: Quire,
) -> None:
    asked = "Why does unread data stop a connection from being used again?"
    assert "unread bytes stop" in unit_of(response, asked, "response.py").source
    assert "unread bytes stop" in response.assemble(asked, recipe="agent", types=["code"]).text
    for marked in (
        "what is `data` good for, and when is it read again?",
        "when is data() called if the body is read again?",
        "data of the connection",
        "data connection",
    ):
        assert "unread bytes" not in unit_of(response, marked, "response.py").source, marked


def test_names_to_export_are_a_preamble() -> None:
    def chunk(text: str, start: int = 0) -> Chunk:
        lines = (1, text.count("\n") + 1)
        return Chunk("c", "r", "code", "a.py", "", 0, start, start + len(text), lines, text)

    assert is_preamble(chunk('from a import b\n\n__all__ = [\n    "b",\n]\n'))
    assert is_preamble(chunk("# Copyright.\nimport a\n"))
    assert not is_preamble(chunk('"""What it does."""\n\nimport a\n'))
    assert not is_preamble(chunk("# Why it does so.\n", start=9))
    assert not is_preamble(chunk('__all__ = ["b"]\n\nLIMIT = 3\n'))
    assert not is_preamble(chunk("# What follows.\nLIMIT = 3\n", start=9))
    assert is_preamble(
        chunk("'use strict';\n\n/** Module dependencies. */\n\nvar a = require('a')\n")
    )
    assert is_preamble(chunk("/** Expose it. */\n\nexports.Route = Router.Route;\n", start=9))
    assert is_preamble(chunk("exports = module.exports = create;\nexport * from './a'\n", start=9))
    assert not is_preamble(chunk("exports.etag = generate({ weak: false })\n", start=9))
    assert not is_preamble(chunk("exports.pay = function pay() {}\n", start=9))


class Counted(int):
    """A number that counts how often it is compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) < int(other)

    def __le__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) <= int(other)


def test_many_definitions_are_compared_in_time_that_grows_with_their_number() -> None:
    def work(count: int) -> int:
        named = [
            Entity("function", "f", "f", Counted(10 * at), Counted(10 * at + 5), (1, 1))
            for at in range(count)
        ]
        Counted.compared = 0
        assert units._innermost(named) == named
        return Counted.compared

    assert work(4000) < 3 * work(2000)


def test_of_definitions_inside_each_other_the_inner_ones_are_meant() -> None:
    spans = [(0, 90), (10, 40), (10, 40), (20, 30), (50, 60)]
    made = [Entity("class", "f", str(at), *span, (1, 1)) for at, span in enumerate(spans)]
    assert [each.qualified for each in units._innermost(made)] == ["3", "4"]


def test_a_list_of_names_is_no_item_unless_it_is_asked_for(tmp_path: Path) -> None:
    names = "".join(f"    'pool_{number}',\n" for number in range(60))
    (tmp_path / "pool.py").write_text(f"from a import b\n\n__all__ = [\n{names}]\n")
    (tmp_path / "b.py").write_text("def pool_3(size):\n    return size\n")
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        for recipe in ("agent", "entities"):
            page = opened.assemble("what does pool_3 do", recipe=recipe)
            assert "pool_4" not in page.text
            assert "def pool_3" in page.text
            (lost,) = [one for one in page.decisions if one.path == "pool.py"]
            assert (lost.step, lost.verdict) == ("relevance", "dropped")
            assert "only imports" in lost.reason
            assert (
                "pool_4" in opened.assemble("what pool_3 does pool.py export", recipe=recipe).text
            )
        (told,) = opened.why_not("what does pool_3 do", "pool.py", recipe="agent")
        assert (told.step, "only imports" in told.reason) == ("relevance", True)
        assert "pool_4" in opened.assemble("what does pool_3 do", recipe="documents").text


@pytest.mark.parametrize(
    "heading",
    [
        '## Release notes\n<a id="notes"></a>\n\n',
        "(notes)=\n# Release notes\n\n```{currentmodule} shop\n```\n\n",
        "# Release notes\n\n```{eval-rst}\n.. autofunction:: release\n   :members:\n```\n\n",
    ],
)
def test_a_heading_alone_is_no_item_unless_its_file_is_named(tmp_path: Path, heading: str) -> None:
    (tmp_path / "notes.md").write_text(heading)
    (tmp_path / "guide.md").write_text("# Guide\n\nWrite the notes of a release by hand.\n")
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        for recipe in ("agent", "entities"):
            page = opened.assemble("release notes", recipe=recipe)
            assert {one.path for one in page.sources} == {"guide.md"}
            (lost,) = [one for one in page.decisions if one.path == "notes.md"]
            assert (lost.step, "a heading" in lost.reason) == ("relevance", True)
            named = opened.assemble("release notes in notes.md", recipe=recipe)
            assert "notes.md" in {one.path for one in named.sources}
        (tmp_path / "guide.md").unlink()
        opened.index(embed=False)
        page = opened.assemble("release notes", recipe="entities")
        assert "Release notes" in page.text, "better than nothing"


def test_a_heading_with_a_sentence_is_an_item() -> None:
    for text in ("# A\n\nSo.\n", "```{note} Use the other one.\n```\n", "A\n---\n- b\n", "x\n"):
        assert NO_BODY.fullmatch(text) is None
    for text in ("A\n===\n\n.. _a:\n", "# A\n<!-- lint -->\n", ".. toctree::\n   :depth: 2\n"):
        assert NO_BODY.fullmatch(text) is not None


def test_overloads_are_one_line_of_an_outline_and_a_bare_class_is_its_outline(
    tmp_path: Path,
) -> None:
    lines = "".join(f"    field_{number}: int = {number}\n" for number in range(150))
    (tmp_path / "shop.py").write_text(
        f"class Shop:\n{lines}\n    @typing.overload\n    def pay(self, one: int) -> int: ...\n"
        "    @typing.overload\n    def pay(self, one: str) -> str: ...\n"
        "    def pay(self, one):\n        return one\n"
    )
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        (_, unit), *_ = units_of(opened, "Shop")
    assert unit.outline == "class Shop\n    def pay(self, one)"
    assert unit.source == unit.outline or "field_1" in unit.source


def test_a_class_that_begins_in_a_chunk_is_named_above_its_members(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        'class Shop:\n    """Sells parcels."""\n\n    limit = 3\n\n'
        "    def weigh(self):\n        return self.scale.weight\n\n"
        "    def label(self):\n        return self.printer.sticker\n"
    )
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        ((_, unit),) = units_of(opened, "how many parcels are sold")
        page = opened.assemble("how many parcels are sold", recipe="agent").text
    assert [each.qualified for each in unit.others or (unit.entity,)] == ["Shop"]
    assert "**Class** `Shop`" in page


@pytest.mark.parametrize("recipe", ["agent", "entities"])
def test_json_shows_definitions_with_their_names_and_lines(store: Quire, recipe: str) -> None:
    page = store.assemble("decode", recipe=recipe, format="json")
    (document,) = json.loads(page.text)["documents"]
    (run,) = [run for run in document["runs"] if run["name"] == "decode"]
    first, last = run["lines"]
    assert run["kind"] == "function"
    assert "level" not in run
    assert "truncated" not in run
    assert run["text"].split() == "\n".join(SIGNER.split("\n")[first - 1 : last]).split()
    assert store.verify(page.receipt, page.text).problems == ()
    plain = json.loads(store.assemble("decode", recipe="documents", format="json").text)
    assert all("name" not in run for one in plain["documents"] for run in one["runs"])


def test_json_of_definitions_says_less_by_their_declarations(long_class: Quire) -> None:
    page = long_class.assemble("Retry.increment", recipe="agent", format="json", budget=150)
    runs = [run for one in json.loads(page.text)["documents"] for run in one["runs"]]
    assert runs
    for run in runs:
        assert run["name"].startswith("Retry")
        assert run.get("level", "full") != "full" or run.get("truncated") or run["text"] in RETRY
    assert long_class.verify(page.receipt, page.text).problems == ()


def test_several_definitions_that_a_query_names_are_shown_by_their_lines(store: Quire) -> None:
    unit = unit_of(store, "compare encode and decode")
    assert [each.qualified for each in unit.others] == ["encode", "decode"]
    assert "def encode" in unit.source
    assert "def decode" in unit.source
    assert "class Signer" not in unit.source
    page = store.assemble("compare encode and decode", recipe="agent", types=["code"])
    first, last = unit.lines
    label = f"**Functions** `encode`, `decode` (lines {first}–{last}) in `signer.py:{first}`"  # noqa: RUF001
    assert label in page.text
    assert store.verify(page.receipt, page.text).binds
    apart = unit_of(store, "is encode called by unsign")
    assert [each.qualified for each in apart.others] == ["encode", "Signer.unsign"]
    between = SIGNER[SIGNER.index("def decode") : SIGNER.index("    def unsign")].strip()
    assert f"\n# … {between.count(chr(10)) + 1} lines left out\n" in apart.source


IMPORTS = "".join(
    f"from transport.pool_{number} import Connection{number}\n" for number in range(40)
)
ADAPTERS = f'''# Copyright 2026 by nobody.

"""
adapters
~~~~~~~~

Transport adapters, which keep connections and check their timeout.
"""

from __future__ import annotations

{IMPORTS}

def send(
    request: str,
    timeout: float = 1.0,
) -> str:
    """Send a request."""
{"".join(f"    request += transport_{number}(request, timeout)" + chr(10) for number in range(60))}    return request
'''


@pytest.fixture(scope="module")
def adapters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = Path(tmp_path_factory.mktemp("adapters"))
    (root / "adapters.py").write_text(ADAPTERS)
    with quire.open(root) as opened:
        opened.index(embed=False)
        yield opened


def test_a_docstring_stands_for_a_module_without_its_imports(adapters: Quire) -> None:
    page = adapters.assemble("Which transport adapters keep connections?", recipe="agent")
    assert "Transport adapters, which keep connections" in page.text
    assert "import Connection3\n" not in page.text
    assert "Copyright" not in page.text
    assert "**Module** `adapters.py` (lines 3–8) in `adapters.py:3`" in page.text  # noqa: RUF001
    (module,) = [item for item in page.items if item.about["start_line"] == 3]
    assert module.about["end_line"] == 8
    assert adapters.verify(page.receipt, page.text).problems == ()


def test_the_mark_below_a_declaration_stands_where_the_body_does(adapters: Quire) -> None:
    """At the margin it would be taken for a line of the file, and escaped."""
    start, end = ADAPTERS.index("def send("), ADAPTERS.index('    """Send')
    with adapters.store.view(OWNER) as view:
        (record,) = view.listing()
        outline = view.outlines([record.id])[record.id]
        chunk = replace(
            view.chunks_of(record.id)[-1],
            start=start,
            end=end,
            lines=(line_of("def send(", ADAPTERS), line_of(") -> str:", ADAPTERS)),
            text=ADAPTERS[start:end],
        )
    assert find_unit(outline, chunk, "send").text.split("\n")[-2:] == [
        ") -> str:",
        "    # … 62 lines left out",
    ]


def test_the_parts_of_a_function_are_one_item(adapters: Quire) -> None:
    page = adapters.assemble("send the request to transport", recipe="agent", budget=6000)
    parts = [source for source in page.sources if source.name == "send"]
    assert len(parts) > 1, "it is longer than a chunk"
    start = ADAPTERS.index("def send(")
    assert f"**Function** `send` in `adapters.py:54`\n```python\n{ADAPTERS[start:]}```" in page.text
    assert page.text.count("`send`") == 1
    assert adapters.verify(page.receipt, page.text).problems == ()
    assert adapters.replay(page.receipt)[1] == []


def test_lines_between_the_parts_of_a_function_are_marked(tmp_path: Path) -> None:
    words = {10: "anchor", 60: "winch", 110: "mooring"}
    lines = [
        f"    {words.get(at, 'nothing')}_of({at}, 'and so on, and so on')" for at in range(130)
    ]
    (tmp_path / "quire.toml").write_text('[embed]\nprovider = "none"\n')
    (tmp_path / "quay.py").write_text("def land(ship):\n" + "\n".join(lines) + "\n")
    with quire.open(tmp_path) as opened:
        opened.index()
        page = opened.assemble("anchor and mooring", recipe="agent", budget=4000)
        assert opened.verify(page.receipt, page.text).problems == ()
    assert page.text.count("**Function** `land`") == 1
    first, _, rest = page.text.partition("    # … continues at line ")
    line, _, rest = rest.partition("\n")
    assert rest.startswith(lines[int(line) - 2])
    assert "anchor_of(10" in first
    assert "mooring_of(110" in rest
    assert "winch" not in page.text


def test_a_class_of_which_a_chunk_holds_one_line_is_shown_by_its_declarations(
    store: Quire,
) -> None:
    start = SIGNER.index("class Signer")
    end = SIGNER.index('    """Signs')
    with store.store.view(OWNER) as view:
        (record,) = [record for record in view.listing() if record.path == "signer.py"]
        outline = view.outlines([record.id])[record.id]
        (whole,) = view.chunks_of(record.id)
    line = line_of("class Signer")
    chunk = replace(whole, start=start, end=end, lines=(line, line), text=SIGNER[start:end])
    unit = find_unit(outline, chunk, "zebra")
    assert "def sign(self, value: str) -> bytes" in unit.source
    assert unit.lines == (0, 0)


def test_a_function_is_shown_and_not_what_it_defines_for_itself(tmp_path: Path) -> None:
    source = (
        "def retry(call):\n    attempts = 3\n\n    def inner(pause):\n"
        "        return call(pause)  # after a backoff\n\n    return inner\n\n\n"
        "def plain(value):\n    return value\n"
    )
    (tmp_path / "retry.py").write_text(source)
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        assert unit_of(opened, "where is the backoff", "retry.py").entity.qualified == "retry"
        assert unit_of(opened, "the value", "retry.py").entity.qualified == "plain"
        named = unit_of(opened, "what does retry.inner do", "retry.py")
        assert named.entity.qualified == "retry.inner"


def test_a_part_of_a_module_is_not_shown_by_the_docstring_of_the_module(tmp_path: Path) -> None:
    lines = "".join(f"SETTING_{number} = {number}  # of the pager\n" for number in range(150))
    doc = "This module holds settings, and whatever else the terminal needs to know of them."
    (tmp_path / "settings.py").write_text(f'"""{doc}"""\n\n{lines}PAGER_DELAY = 1\n')
    (tmp_path / "other.py").write_text("def show(pager_delay):\n    return pager_delay\n")
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        for budget in range(60, 400, 20):
            page = opened.assemble(
                "PAGER_DELAY", recipe="entities", budget=budget, allow_empty=True
            )
            assert doc not in page.text or "SETTING_" in page.text


def test_a_bare_declaration_takes_no_place(tmp_path: Path) -> None:
    body = "".join(f"    value = cart.add({number}, value)\n" for number in range(40))
    (tmp_path / "shop.py").write_text(
        f"def fill(cart, value):\n{body}\n\n"
        f"def fill_typed(cart: Cart, value: int = 0, limit: int = 9) -> Cart:\n{body}"
    )
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        declared = False
        for budget in range(60, 400, 20):
            page = opened.assemble(
                "how does it fill a cart", recipe="entities", budget=budget, allow_empty=True
            )
            assert "def fill(cart, value)\n```" not in page.text
            declared |= "limit: int = 9) -> Cart\n```" in page.text
    assert declared, "types and defaults say something"


BUILDER = '''\
class Builder:
    """Puts methods on a class."""

    def forget(self):
        self.methods["hash"] = None
        return self

    def add_hash(self):
        script = make_script(self.cls)
        self.methods["hash"] = script
        self.scripts.append(script)
        self.count += 1
        self.names.append("hash")
        self.done = True
        self.log("a hash is added")
        return self
'''.replace("        self.done", "        self.count += 1\n" * 20 + "        self.done")


def test_lines_of_two_methods_are_not_under_the_name_of_the_longer_one(tmp_path: Path) -> None:
    (tmp_path / "builder.py").write_text(BUILDER)
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        with opened.store.view(OWNER) as view:
            (record,) = view.listing()
            outline = view.outlines([record.id])[record.id]
            (chunk,) = view.chunks_of(record.id)
    start = BUILDER.index("    def forget")
    methods = replace(
        chunk, start=start, lines=(line_of("    def forget", BUILDER), 36), text=BUILDER[start:]
    )
    unit = find_unit(outline, methods, "where does it say whether there is a hash")
    assert [each.qualified for each in unit.others] == ["Builder.forget", "Builder.add_hash"]
    assert unit.source.startswith("def forget(self):")


BANK = """\
'use strict';

var db = require('db')

/**
 * Open the bank.
 */

bank.open = function open(hour) {
  return hour >= 9;
};

/**
 * Pay an amount to somebody, and remember who asked for it.
 * Whoever pays twice is told so.
 */

bank.pay = function pay(amount) {
  return db.pay(amount);
};
"""


def test_a_documentation_comment_above_a_blank_line_belongs_to_what_it_documents(
    tree: Tree,
) -> None:
    tree.write("bank.js", BANK)
    with tree.open() as opened:
        opened.index(embed=False)
        page = opened.assemble("who pays twice?", recipe="agent")
    assert "**Method** `bank.pay` in `bank.js:18`\n```javascript\n/**\n * Pay an" in page.text
    assert "Pay an amount" not in page.text.partition("`bank.pay`")[0]


@pytest.mark.parametrize("filler", [1, 60, 120])
def test_a_definition_is_declared_once_above_its_lines(tree: Tree, filler: int) -> None:
    """However its comment and its body are divided into chunks."""
    comment = "".join(f" * Line {n} of what is said about the ledger.\n" for n in range(filler))
    body = "".join(f"  ledger.write(amount, {n});\n" for n in range(40))
    function = f"bank.book = function book(amount) {{\n{body}}};\n"
    tree.write("bank.js", f"'use strict';\nvar x = 1;\n\n/**\n{comment} */\n\n{function}")
    with tree.open() as opened:
        opened.index(embed=False)
        page = opened.assemble("how does the ledger book an amount?", recipe="agent", budget=6000)
    assert page.text.count("bank.book = function book(amount)") == 1
    assert f"in `bank.js:{filler + 7}`" in page.text, "the line of its declaration"


def test_lines_of_a_class_that_begins_elsewhere_stand_below_its_declaration(tree: Tree) -> None:
    said = "".join(f"    Paragraph {n} says what a keeper is for.\n\n" for n in range(60))
    fields = "".join(f"    lock_{n}: str = 'the walrus of level {n}'\n" for n in range(9))
    tree.write("zoo.py", f'class Keeper:\n    """Keeps.\n\n{said}    """\n\n{fields}')
    with tree.open() as opened:
        opened.index(embed=False)
        whole = opened.assemble("which lock has the walrus of level 8?", recipe="agent")
        less = opened.assemble(
            "which lock has the walrus of level 8?", recipe="agent", budget=200, allow_empty=True
        )
        for page in (whole, less):
            assert opened.verify(page.receipt, page.text).problems == ()
            assert "in a docstring\n    # … " not in page.text, "nothing but marks is no item"
    shown = whole.text.partition("```python\n")[2]
    assert shown.startswith("class Keeper:\n    # … continues at line ")
    assert "\n    lock_8: str" in shown


def java_class(comment: str, body: int) -> str:
    """A class whose method has an annotation, a comment and a body of so many lines."""
    lines = "".join(f"    ledger.write(account, amount{n});\n" for n in range(body))
    return (
        f"public class Bank {{\n  /**\n{comment}   */\n  @CanIgnoreReturnValue\n"
        f"  public Bank deposit(Account account) {{\n{lines}    return this;\n  }}\n}}\n"
    )


@pytest.mark.parametrize("filler", range(24, 54, 3))
def test_a_method_below_its_annotation_is_declared_once(tree: Tree, filler: int) -> None:
    """A chunk may begin between the two, or within the comment above."""
    comment = "".join(f"   * Line {n} of what is said about it.\n" for n in range(filler))
    tree.write("Bank.java", java_class(comment, 30))
    with tree.open() as opened:
        opened.index(embed=False)
        page = opened.assemble("ledger amount29", recipe="agent", budget=9000)
        assert opened.verify(page.receipt, page.text).problems == ()
    assert page.text.count("public Bank deposit(Account account)") == 1


@pytest.mark.parametrize("filler", range(30, 80, 6))
def test_lines_of_a_part_of_a_method_keep_their_places_to_each_other(
    tree: Tree, filler: int
) -> None:
    """The first one, within a comment, stands further to the right than the last one."""
    comment = "".join(f"   * Line {n} of what is said about it.\n" for n in range(filler))
    tree.write("Bank.java", java_class(comment, 30))
    with tree.open() as opened:
        opened.index(embed=False)
        page = opened.assemble("ledger amount29", recipe="agent", budget=9000)
    shown = page.text.partition("```java\n")[2].partition("\n```")[0].split("\n")
    source = java_class(comment, 30).split("\n")
    margins = {
        len(line) - len(mine)
        for mine in shown
        for line in source
        if line.strip() == mine.strip() and line.strip()[-1:] in {".", ";", "{"}
    }
    assert len(margins) == 1


def test_a_long_comment_above_a_class_is_marked_and_ends_with_its_declaration(tree: Tree) -> None:
    comment = "".join(f" * Line {n} of what is said about the ledger.\n" for n in range(300))
    fields = "".join(f"  private int amount{n};\n" for n in range(80))
    tree.write(
        "Ledger.java", f"/**\n * The walrus.\n{comment} */\npublic class Ledger {{\n{fields}}}\n"
    )
    with tree.open() as opened:
        opened.index(embed=False)
        page = opened.assemble("walrus", recipe="agent", budget=3000)
        assert opened.verify(page.receipt, page.text).problems == ()
    item = page.text.partition(" in `Ledger.java:304`\n```java\n")[2].partition("\n```")[0]
    assert item.split("\n")[-2:] == ["public class Ledger", "    // … 81 lines left out"]
    assert re.search(r"\n // … \d+ lines left out\npublic class", item)


def test_a_module_around_one_class_is_named_by_the_class(tree: Tree) -> None:
    tree.write(
        "lib/hijacking.rb",
        "module Rack\n  module Protection\n    class Hijacking < Base\n"
        "      default_reaction :drop_session\n\n"
        "      def accepts?(env)\n        session(env)[:agent] == env['agent']\n      end\n\n"
        "      def encode(value)\n        value.to_s.downcase\n      end\n    end\n  end\nend\n",
    )
    with tree.open() as opened:
        opened.index(embed=False)
        page = opened.assemble("how are sessions dropped", recipe="agent")
    assert "**Class** `Rack.Protection.Hijacking` (lines 1–15) in `lib/" in page.text  # noqa: RUF001


def test_a_mark_below_a_shortened_comment_is_not_escaped(tree: Tree) -> None:
    comment = "".join(f"/// Line {n} of what a walrus does all day.\n" for n in range(12))
    fields = ", ".join(f"PercentDecoded{n}" for n in range(9))
    tree.write(
        "raw.rs", f"{comment}#[derive(Debug)]\npub struct Raw({fields});\n\nfn other() {{}}\n"
    )
    with tree.open() as opened:
        opened.index(embed=False)
        pages = [
            opened.assemble("what a walrus does", recipe="entities", budget=900, cap=cap).text
            for cap in range(300, 560, 20)
        ]
    assert any("… 1 line left out" in page for page in pages)
    assert not any("\\//" in page for page in pages)


def test_cut_parts_of_a_function_keep_their_margins_and_have_one_mark_between(tree: Tree) -> None:
    words = {5: "anchor", 60: "winch", 115: "mooring"}
    lines = "".join(
        f"    {words.get(at, 'nothing')}_of({at}, 'and so on, and so on');\n" for at in range(130)
    )
    tree.write("quay.ts", f"export class Quay {{\n  land(ship: Ship) {{\n{lines}  }}\n}}\n")
    with tree.open() as opened:
        opened.index(embed=False)
        for budget in range(600, 2400, 150):
            page = opened.assemble("anchor and mooring of winch", recipe="agent", budget=budget)
            assert opened.verify(page.receipt, page.text).problems == ()
            shown = [line for line in page.text.split("\n") if "_of(" in line]
            assert len({len(line) - len(line.lstrip()) for line in shown}) == 1
            assert not re.search(r"left out\n *// … (?:continues|\d)", page.text)
