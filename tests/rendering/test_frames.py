"""No text can pass for a part of the page: every format is read back by an independent reader."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from quire.core.types import (
    ActiveContext,
    BehaviorRule,
    Candidate,
    Chunk,
    ContextFile,
    Entity,
    Frame,
    Outline,
    Passage,
    Piece,
    Record,
    RenderSpec,
    Run,
    Section,
)
from quire.rendering import FORMATS, escape, item_text, render, render_codemap
from quire.rendering.escape import escape_cut, escape_item, escape_name, fence
from tests.rendering import hostile, readers
from tests.rendering.readers import shown

GAP_MARK = " ... "
"""Stands where sentences are left out."""
EXAMPLES = settings(max_examples=int(os.environ.get("QUIRE_CASES", "100")), deadline=None)
GAP = "\n...\n"
KINDS = ("page", "todo", "kanban_card", "code", "heading", "paragraph")
SECTIONS = (Section("a", title="First"), Section("b", title="Second"))

markers = hostile.texts(*hostile.MARKERS)
entities = hostile.texts(*hostile.ENTITIES)
items = hostile.texts(*hostile.ITEMS)
blocks = hostile.texts(*hostile.BLOCKS)
contexts = hostile.texts(*hostile.CONTEXTS)
names = hostile.names(*hostile.MARKERS, *hostile.ENTITIES, *hostile.BLOCKS)
paths = names.filter(lambda path: path and not path.startswith((".git/", ".quire/")))


def chunk_of(text: str, path: str, *, kind: str = "document", line: int = 1, at: int = 0) -> Chunk:
    return Chunk(f"c{at}", f"r{at}", kind, path, "", at, at, at + 1, (line, line), text)


def passage_of(
    candidates: list[Candidate], texts: list[str], *, lines: tuple[int, int] = (1, 1)
) -> Passage:
    """Make a passage of runs that stand apart from each other."""
    runs = tuple(
        Run((Piece(candidate, 1, text),), text, lines)
        for candidate, text in zip(candidates, texts, strict=True)
    )
    chunk = candidates[0].chunk
    return Passage(chunk.record_id, chunk.path, runs)


def normal(text: str) -> str:
    """Pages of Markdown end their lines in one way."""
    return re.sub(r"\r\n?", "\n", text)


# --- markers and JSON ----------------------------------------------------------------------------

documents = st.lists(st.tuples(paths, st.lists(markers, min_size=1, max_size=3)), max_size=3)


@EXAMPLES
@given(documents)
def test_markers(rows: list[tuple[str, list[str]]]) -> None:
    passages = [
        passage_of([Candidate(chunk_of(text, path), 1, {}) for text in texts], texts)
        for path, texts in rows
    ]
    read = readers.read_markers(render(passages, RenderSpec()))
    assert [(path, [run.text for run in runs]) for path, runs in read] == [
        (path, [text.strip("\n") for text in texts]) for path, texts in rows
    ]


@EXAMPLES
@given(documents, st.lists(names, min_size=1), st.booleans())
def test_markers_with_metadata(
    rows: list[tuple[str, list[str]]], titles: list[str], has_lines: bool
) -> None:
    passages, expected, number = [], [], 0
    lines = (3, 9) if has_lines else (0, 0)
    for path, texts in rows:
        runs = []
        for text in texts:
            number += 1
            title = titles[number % len(titles)]
            one = replace(chunk_of(text, path), title=title)
            piece = Piece(Candidate(one, number, {}), 1, text)
            runs.append((Run((piece,), text, lines), title, number))
        passages.append(Passage("r", path, tuple(run for run, _, _ in runs)))
        expected.append(
            (
                path,
                [
                    readers.MarkedRun(
                        lines if has_lines else None, score, shown(title), run.text.strip("\n")
                    )
                    for run, title, score in runs
                ],
            )
        )
    page = render(passages, RenderSpec(metadata=True))
    assert readers.read_markers(page, metadata=True) == expected


@EXAMPLES
@given(documents, names)
def test_json(rows: list[tuple[str, list[str]]], title: str) -> None:
    passages = [
        passage_of(
            [Candidate(replace(chunk_of(text, path), title=title), 1, {}) for text in texts], texts
        )
        for path, texts in rows
    ]
    page = render(passages, RenderSpec("json", metadata=True))
    assert not readers.CONTROLS.search(page)
    assert [
        (one["path"], [(run["title"], run["text"]) for run in one["runs"]])
        for one in json.loads(page)["documents"]
    ] == [(path, [(title, text) for text in texts]) for path, texts in rows]


# --- entities ------------------------------------------------------------------------------------

Row = tuple[str, str, int, str, list[str]]
rows = st.lists(
    st.tuples(
        names,
        st.one_of(paths, st.just(".git/commit/1")),
        st.sampled_from([0, 1, 42]),
        entities,
        st.lists(entities, min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=3,
)


def entity_passages(table: list[Row], *, summaries: bool) -> list[Passage]:
    passages = []
    for name, path, line, summary, texts in table:
        kind = "commit" if path.startswith(".git/") else "function"
        entity = Entity(
            kind, name, name, 0, 1, (line, line), summary=summary.strip() if summaries else ""
        )
        candidates = [
            Candidate(chunk_of(text, path, line=line, at=at), 1, {}, entity, "python")
            for at, text in enumerate(texts)
        ]
        passages.append(passage_of(candidates, texts, lines=(line, line)))
    return passages


def place_of(path: str, line: int) -> tuple[str, int] | str:
    return "commit" if path.startswith(".git/") else (path, line)


def read_place(place: str) -> tuple[str, int] | str:
    return place if place == "commit" else readers.read_place(place)


@EXAMPLES
@given(rows, st.booleans(), st.booleans())
def test_entities_as_markdown(table: list[Row], grouped: bool, summaries: bool) -> None:
    spec = RenderSpec("markdown", groups=grouped, sources=9)
    page = render(entity_passages(table, summaries=summaries), spec)
    read, sources = readers.read_markdown(page)
    assert [(one.name, read_place(one.place)) for one in read] == [
        (shown(name), place_of(path, line)) for name, path, line, _, _ in table
    ]
    titles = {"function": "Relevant Code", "commit": "Other Context"}
    for one, (name, path, line, summary, texts), source in zip(read, table, sources, strict=True):
        kind = "commit" if path.startswith(".git/") else "function"
        assert one.title == (titles[kind] if grouped else "")
        if summaries and one.summary:  # a text that has its words stands for it
            # After an empty line, blanks would make code of the next one: they do not count.
            paragraphs = re.sub(r"(\n[ \t]*\n)[ \t]+", r"\1", normal(summary.strip()))
            assert re.sub(r"(\n[ \t]*\n)[ \t]+", r"\1", one.summary) == paragraphs.strip("\n")
        expected = [text.strip("\n") for text in texts]
        if GAP.join(expected):
            # The last line ends of an entity do not count.
            assert GAP.join(one.runs).rstrip("\n") == GAP.join(expected).rstrip("\n")
            assert len(one.runs) == len(texts)
            assert one.language == "python"
        assert not one.truncated
        assert source[0] == shown(name)
        assert read_place(source[1]) == place_of(path, line)


@EXAMPLES
@given(entities.filter(lambda text: len(text) > 4))
def test_a_cut_entity_says_that_it_is_cut(text: str) -> None:
    one = Candidate(chunk_of(text, "a.py"), 1, {}, Entity("function", "f", "f", 0, 1, (1, 1)))
    for shorter in (text, text[: len(text) // 2]):
        passage = Passage("r", "a.py", (Run((Piece(one, 1, shorter),), shorter, (1, 1)),))
        (read,), _ = readers.read_markdown(render([passage], RenderSpec("markdown")))
        if shorter.strip("\n"):
            assert read.truncated == bool(text[len(shorter) :].strip())
            assert "\n".join(read.runs) == shorter.strip("\n")


@EXAMPLES
@given(rows, st.booleans())
def test_entities_as_plain_text(table: list[Row], grouped: bool) -> None:
    spec = RenderSpec("plain", groups=grouped, sources=9)
    page = render(entity_passages(table, summaries=False), spec)
    read, sources = readers.read_plain(page)
    assert [(one.name, read_place(one.place)) for one in read] == [
        (shown(name), place_of(path, line)) for name, path, line, _, _ in table
    ]
    assert sources == [shown(name) for name, *_ in table]
    for one, (*_, texts) in zip(read, table, strict=True):
        expected = [text.strip("\n") for text in texts]
        # The last line ends of an entity do not count.
        assert GAP.join(one.runs).rstrip("\n") == GAP.join(expected).rstrip("\n")
        assert len(one.runs) == len(texts)


@EXAMPLES
@given(rows, st.booleans())
def test_entities_as_xml(table: list[Row], grouped: bool) -> None:
    def held(text: str) -> str:
        """Show a text without what XML cannot hold."""
        return re.sub(
            "[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]",
            lambda found: found[0].encode("unicode_escape").decode(),
            text,
        )

    spec = RenderSpec("xml", groups=grouped, sources=9)
    page = render(entity_passages(table, summaries=False), spec)
    attributes = "".join(re.findall("<(?:entity|source|section) [^>]*>", page))
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u2028\u2029]", attributes)
    root = ET.fromstring(page)
    read = list(root.iter("entity"))
    assert [(one.get("name"), one.get("file"), one.get("line")) for one in read] == [
        (held(name), None, None)
        if path.startswith(".git/")
        else (held(name), held(path), str(line) if line else None)
        for name, path, line, _, _ in table
    ]
    for one, (*_, texts) in zip(read, table, strict=True):
        expected = GAP.join(held(text.strip("\n")) for text in texts)
        runs = readers.read_runs((one.text or "\n\n").removeprefix("\n").removesuffix("\n"))
        assert GAP.join(runs) == expected
        assert len(runs) == len(texts)
    assert [one.get("name") for one in root.iter("source")] == [
        held(shown(name)) for name, *_ in table
    ]


# --- pages ---------------------------------------------------------------------------------------


def page_of(
    candidates: list[Candidate], spec: RenderSpec, frame: Frame, cut: Callable[[str], str] | None
) -> str:
    passages = []
    for candidate in candidates:
        form = FORMATS[spec.format]
        text = item_text(candidate, spec)
        if cut is not None and form.shortener is not None:
            text = form.shortener(candidate, spec)(cut)
        run = Run((Piece(candidate, 1, text),), text, (0, 0))
        passages.append(Passage(candidate.chunk.record_id, candidate.chunk.path, (run,)))
    return FORMATS[spec.format].render(passages, spec, frame)


Thing = tuple[str, str, str, str, int]
things = st.lists(
    st.tuples(
        st.sampled_from(["memory", "experience", "value", "commit", "block.kanban_card", "code"]),
        items,
        hostile.names(*hostile.ITEMS),
        st.one_of(st.just(""), hostile.names(*hostile.ITEMS)),
        st.integers(0, 1),
    ),
    max_size=4,
)
CODE = Entity("function", "f", "f", 0, 1, (7, 9), parent=0)


def candidate_of(at: int, thing: Thing) -> Candidate:
    kind, text, name, author, place = thing
    table: dict[str, dict[str, Any]] = {
        "memory": {"category": name, "importance": 500},
        "experience": {"domain": name, "goal": text, "lesson": f"x{text}", "outcome": "open"},
        "value": {"axis": "full", "size": 3},
        "commit": {"sha": "0123456789"},
    }
    attrs = table.get(kind, {})
    path = f"src/{name}" if kind == "code" else f".quire/{kind}/{at}"
    record = Record(f"r{at}", kind, path, author=author or None, attrs=attrs, paths=("a.py",))
    record = replace(record, title=text) if kind == "commit" else record
    chunk = replace(chunk_of(text, path, kind=kind, at=at), record_id=record.id)
    entity = replace(CODE, name=name, qualified=name) if kind == "code" else None
    return Candidate(
        chunk,
        1,
        {},
        entity,
        "python" if kind == "code" else "",
        record=record,
        crumbs=(name,) if kind.startswith("block") else (),
        section=SECTIONS[place],
        author="" if kind in {"commit", "value", "code"} else author,
    )


@EXAMPLES
@given(things, hostile.names(*hostile.ITEMS))
def test_items_of_a_page(table: list[Thing], warning: str) -> None:
    table = sorted(table, key=lambda thing: thing[-1])
    spec = RenderSpec("page", title="Context", footer="{items}", notice=True)
    candidates = [candidate_of(at, thing) for at, thing in enumerate(table)]
    read = readers.read_page(page_of(candidates, spec, Frame(SECTIONS, warnings=(warning,)), None))
    assert read.title == "Context"
    assert read.notice == bool(table)
    assert len(read.warnings) == 1
    assert read.footer == ("1 item" if len(table) == 1 else f"{len(table)} items")
    assert read.sections == [SECTIONS[at].title for at in sorted({place for *_, place in table})]
    assert len(read.items) == len(table)
    for item, candidate, (kind, text, name, author, place) in zip(
        read.items, candidates, table, strict=True
    ):
        assert item.section == SECTIONS[place].title
        assert readers.read_name(item.author) == candidate.author
        body = normal(text.strip())
        if kind == "memory":
            assert item.kind == "Memory"
            assert item.tail == f"Category: {shown(name)}, Importance: 0.5"
            assert item.body == body
        elif kind == "experience":
            assert item.kind == "Experience"
            assert item.head == f": {shown(name)}"
            fields = [("Goal", text), ("Outcome", "open"), ("Lesson", f"x{text}")]
            expected = [(label, normal(one.strip())) for label, one in fields if one.strip()]
            assert [one for one in expected if one in item.fields] == item.fields
            assert item.fields
        elif kind == "commit":
            assert item.head == f" `0123456` by {shown(author or 'unknown')} on an unknown day"
            assert (item.body, item.tail) == (body, "a.py")
        elif kind == "code":
            assert item.kind == "Function"
            assert item.language == "python"
            assert item.body == text.strip("\n")
            assert f" {escape.code_span(shown(name))} in " in item.head
        else:
            assert item.kind == ("Value" if kind == "value" else "Kanban card")
            assert item.body == body


CUTS: tuple[Callable[[str], str], ...] = (
    lambda text: text[: len(text) // 2],
    lambda text: text[len(text) // 2 :].strip(),
    lambda text: " ".join(text.split()[-3:]),
    lambda text: text[: len(text) // 3].rstrip() + GAP_MARK + text[len(text) // 2 :],
)


@EXAMPLES
@given(things, st.sampled_from(CUTS), items)
def test_cut_items_and_summaries_of_a_page(
    table: list[Thing], cut: Callable[[str], str], summary: str
) -> None:
    table = sorted(table, key=lambda thing: thing[-1])
    spec = RenderSpec("page", title="Context", footer="{items}")
    candidates = [candidate_of(at, thing) for at, thing in enumerate(table)]
    for shorten in (cut, lambda _: f"(summarized) {summary}"):
        read = readers.read_page(page_of(candidates, spec, Frame(SECTIONS), shorten), whole=False)
        assert len(read.items) == len(table)
        assert read.sections == [
            SECTIONS[at].title for at in sorted({place for *_, place in table})
        ]
        for item, (_, _, _, _, place) in zip(read.items, table, strict=True):
            assert item.section == SECTIONS[place].title


def test_a_cut_leaves_an_escaped_line_as_it_is() -> None:
    whole = escape_item("one. two\n# three\n> four")
    assert whole == "one. two\n\\# three\n\\> four"
    assert escape_cut(whole[:16], whole, escape_item) == whole[:16]
    assert escape_cut("# three", whole, escape_item) == "\\# three"
    assert escape_cut(f"\\# th{GAP_MARK}four", whole, escape_item) == f"\\# th{GAP_MARK}four"


# --- the template of a workspace -----------------------------------------------------------------

Block = tuple[str, str, str | None, str, str, int]
block_rows = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        blocks,
        st.one_of(st.none(), names),
        st.one_of(st.just(""), names),
        st.one_of(st.just(""), names),
        st.integers(0, 1),
    ),
    max_size=4,
)
SPEAKERS = ("user", "assistant", "eve", "Dr. No: x")


@EXAMPLES
@given(
    block_rows,
    st.lists(st.tuples(st.sampled_from(SPEAKERS), blocks), max_size=3),
    blocks,
    blocks,
    names,
)
def test_blocks_of_a_workspace(
    table: list[Block], history: list[tuple[str, str]], query: str, system: str, warning: str
) -> None:
    table = sorted(table, key=lambda row: row[-1])
    passages = []
    for at, (kind, text, page, heading, author, place) in enumerate(table):
        chunk = chunk_of(text, f".quire/block/{at}", kind=f"block.{kind}", at=at)
        candidate = Candidate(
            chunk,
            1,
            {},
            crumbs=() if page is None else ("outer", page),
            heading=heading,
            section=SECTIONS[place],
            author=author,
        )
        passages.append(passage_of([candidate], [text]))
    frame = Frame(SECTIONS, query=query, history=tuple(history), system=system, warnings=(warning,))
    spec = RenderSpec("template", title="Current Context")
    page = FORMATS["template"].render(passages, spec, frame)
    read = readers.read_template(page, {speaker for speaker, _ in history})
    assert (read.title, len(read.warnings)) == ("Current Context", 1)
    assert read.sections == ["First", "Second"]
    assert (read.query or "") == normal(query)
    assert (read.system or "") == normal(system)
    assert read.messages == [(speaker, normal(text)) for speaker, text in history]
    found = [
        (block.section, tuple(block.titles), block.author, block.text) for block in read.blocks
    ]
    expected: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    of_pages: set[tuple[str, tuple[str, ...], str]] = set()
    for kind, text, page_title, heading, author, place in table:
        title = text.partition("\n")[0]
        body = text.strip("\n")
        titles = [page_title or "", heading]
        if kind == "page":
            titles, body = [title.strip(), ""], body.partition("\n")[2]
        elif kind == "heading":
            titles, body = [page_title or "", title.strip()], ""
        own = tuple(filter(None, dict.fromkeys(titles))) or ("(untitled)",)
        texts = expected.setdefault((SECTIONS[place].title, own, author), [])
        block = f"{fence(body)}\n{body}\n{fence(body)}" if kind == "code" else normal(body)
        texts += [block] if block else []
        if kind == "page":
            of_pages.add((SECTIONS[place].title, own, author))
    # Pages of which only the title is shown are listed at the end of their section.
    rows = sorted(
        expected.items(),
        key=lambda row: (row[0][0], not row[1] and row[0] in of_pages),
    )
    assert [row[:3] for row in found] == [row for row, _ in rows]
    for row, (_, texts) in zip(found, rows, strict=True):
        assert row[3].rstrip("\n") == "\n\n".join(texts).rstrip("\n")


# --- situations ----------------------------------------------------------------------------------

context_files = st.lists(
    st.builds(
        ContextFile,
        path=st.just("CLAUDE.md"),
        name=hostile.names(*hostile.CONTEXTS),
        business_goal=contexts,
        intent_type=contexts,
        behavior_rules=st.lists(st.builds(BehaviorRule, contexts, contexts), max_size=2).map(tuple),
        text=contexts.map(str.strip),
    ),
    max_size=3,
)


def test_a_situation_shows_characters_that_nobody_sees() -> None:
    situation = json.dumps({"tool": " ## Current\u200b\U000e0041 Situation"})
    page = page_of([], RenderSpec("situation"), Frame((), situation=situation), None)
    assert "Current\\u200b\\udb40\\udc41 Situation" in page
    assert json.loads(readers.read_situation(page).situation) == json.loads(situation)


@EXAMPLES
@given(context_files, items, contexts, hostile.names(*hostile.CONTEXTS))
def test_contexts_of_a_situation(
    files: list[ContextFile], memory: str, value: str, rule: str
) -> None:
    sections = (Section("contexts", title="Active Contexts"), Section("learned", title="History"))
    spec = RenderSpec("situation", notice=True)
    candidates = [
        Candidate(
            chunk_of("", file.path, at=at),
            1,
            {},
            context=ActiveContext(file, 1, rules=(rule,) if rule else ()),
            section=sections[0],
        )
        for at, file in enumerate(files)
    ]
    candidates.append(replace(candidate_of(9, ("memory", memory, "x", "", 0)), section=sections[1]))
    situation = json.dumps({"tool": value, "time": "now"})
    page = page_of(candidates, spec, Frame(sections, situation=situation, warnings=(value,)), None)
    read = readers.read_situation(page)
    assert json.loads(read.situation) == ({"tool": value} if value else {})
    assert not readers.HIDDEN.search(read.situation.replace("\n", ""))
    assert len(read.warnings) == 1
    assert read.metadata == [f"- Contexts Loaded: {len(files)}"]
    assert read.notice
    assert [item.body for item in read.items] == [normal(memory.strip())]
    assert len(read.contexts) == len(files)
    for one, file in zip(read.contexts, files, strict=True):
        assert one.name == f"{shown(file.name)} (CLAUDE.md)"
        assert one.values.get("Business Goal", "") == normal(file.business_goal.strip())
        assert one.values.get("Intent Type", "") == normal(file.intent_type.strip())
        assert ("Adaptations" in one.values) == bool(rule)
        assert one.text == normal(without_title(file))
        assert len(one.rules) == len(file.behavior_rules)
        for text, told in zip(one.rules, file.behavior_rules, strict=True):
            trigger, action = (normal(part.strip()) for part in (told.trigger, told.action))
            # Where the trigger ends is seen from the file, not from the page.
            parts = [
                (readers.read_rule(text[:at]), readers.read_rule(text[at + 2 :]))
                for at in range(len(text))
                if text.startswith(": ", at)
            ]
            assert (trigger, action) in parts


def without_title(file: ContextFile) -> str:
    """Return the prose of a context without a first heading that repeats its name."""
    first, _, rest = file.text.partition("\n")
    title = re.fullmatch(r"#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*", first)
    return rest.strip() if title is not None and title[1] == file.name else file.text


# --- the code map --------------------------------------------------------------------------------


@EXAMPLES
@given(st.lists(st.tuples(paths, st.lists(names, max_size=3)), max_size=3))
def test_code_map(files: list[tuple[str, list[str]]]) -> None:
    files = list({path: (path, defined) for path, defined in files}.values())
    outlines = {
        f"r{at}": Outline(
            (
                Entity("file", path, path, 0, 9, (1, 9)),
                *(
                    Entity("function", name, name, 0, 1, (line, line), parent=0, signature=name)
                    for line, name in enumerate(defined, start=1)
                ),
            ),
            (),
        )
        for at, (path, defined) in enumerate(files)
    }
    entries = [
        (path, f"r{at}", index)
        for at, (path, defined) in enumerate(files)
        for index in range(1, len(defined) + 1)
    ]
    page = render_codemap(entries, outlines)
    assert readers.read_codemap(page) == [
        (path, [(0, at, shown(name or f"function {name}")) for at, name in enumerate(defined, 1)])
        for path, defined in sorted(files)
        if defined
    ]


# --- escaping ------------------------------------------------------------------------------------


@EXAMPLES
@given(names, st.sampled_from(["", "[]", "()"]))
def test_a_name_is_one_line_and_no_two_names_look_the_same(name: str, brackets: str) -> None:
    escaped = escape_name(name, brackets)
    assert not readers.HIDDEN.search(escaped)
    assert readers.read_name(escaped) == name


def test_a_name_with_a_character_that_nobody_sees_is_told_from_the_one_without() -> None:
    for hidden in "\u200b\u200c\u200d\u2060\u2063\ufeff\u180e\U000e0041":
        for name in (f"policy{hidden}.md", f"{hidden}policy.md", f"policy.md{hidden * 2}"):
            for shown_name in (escape_name(name), escape.escape_line(name)):
                assert shown_name.isprintable()
                assert shown_name != "policy.md"
    for name in ("漢\u200c字.md", "👩\u200d💻", "คำ\u200bไทย"):
        assert escape_name(name) == escape.escape_line(name) == name


def test_line_ends_are_those_of_python() -> None:
    ends = {chr(n) for n in range(0x110000) if len(f"a{chr(n)}b".splitlines()) > 1}
    assert ends == set(escape.LINE_ENDS)


def test_blanks_are_those_that_readers_do_not_see() -> None:
    assert set(escape._BLANK_CHARS) == set(readers.BLANKS)


ORDINARY = (
    "A paragraph with *emphasis*, **bold** and `code`.\n\n- a list\n- of **two**: things\n\n1. one\n",
    "def f(x: int = 3) -> int:\n    ...\n\n\nclass A:\n    x = [1:2]\n    y = a [0]\n",
    "[tool.ruff]\nline-length = 100\n\n[[package]]\nname = 'x'\n",
    "See [the guide](guide.md) [1].\n\nusage: prog [options] [FILE]\n",
    "Path C:\\new\\table, \\theta and \\u0041; a file of 3:4.\n",
    "Größe 漢字 👩‍💻 \u200f\u05e2\u05d1\u200f\n",
)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    for change in (
        escape.escape_markers,
        escape.escape_gaps,
        escape.escape_plain,
        escape.escape_prose,
        escape.escape_block,
        escape.escape_context,
        lambda one: escape.escape_markers(one, metadata=True),
    ):
        assert change(text) == text
    assert escape.escape_item(text) == text.strip()
    assert escape.escape_line(text.replace("\n", " ")) == text.replace("\n", " ")


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        (escape.escape_markers, "a\u2028[DOC: b]", "a\u2028\\[DOC: b]"),
        (escape.escape_plain, "a\n\nname [b.py:3]", "a\n\nname [b.py:3\\]"),
        (
            escape.escape_plain,
            "a\x0b\x0b---\x85=== x ===\rSources:",
            "a\x0b\x0b\\---\x85\\=== x ===\r\\Sources:",
        ),
        (escape.escape_item, "a\x0c**Memory**: b", "a\x0c\\*\\*Memory**: b"),
        (escape.escape_item, "a\n*Category: b", "a\n\\*Category: b"),
        (escape.escape_block, "a\n#### Refund policy", "a\n\\#### Refund policy"),
        (escape.escape_block, "a\x1eUser Query: b", "a\x1e\\User Query: b"),
        (escape.escape_context, "a\n - Behavior Rules:", "a\n \\- Behavior Rules:"),
        (escape.escape_name, "a\u202eb.md", "a\\u202eb.md"),
        (escape.escape_name, "a\nb\\x0ac", "a\\x0ab\\\\x0ac"),
    ],
)
def test_a_forged_line_looks_so(change: Callable[[str], str], before: str, after: str) -> None:
    assert change(before) == after


@pytest.mark.parametrize(
    "part",
    [
        " ",
        "\\",
        ">",
        "- ",
        "[",
        "] [",
        " [",
        "=== ",
        "*",
        "**A ",
        "`",
        "\u2028",
        "1. ",
        "\xa0",
        ":1",
        "...",
        "_ ",
        "x [a:1]\n\n",
    ],
)
def test_time_grows_with_the_length_alone(part: str) -> None:
    def seconds(length: int) -> float:
        text = part * (length // len(part)) + "x"
        begun = time.process_time()
        for change in (
            lambda one: escape.escape_markers(f"[DOC:{one}", metadata=True),
            escape.escape_gaps,
            escape.escape_plain.__wrapped__,
            escape.escape_summary,
            escape.escape_item,
            lambda one: escape.escape_field(one, ["Goal"]),
            escape.escape_block.__wrapped__,
            lambda one: escape.escape_message(one, ["eve"]),
            escape.escape_rule,
            lambda one: escape_name(one, "[]"),
            escape.escape_line,
        ):
            change(text)
        return time.process_time() - begun

    seconds(1_000)
    short, long = min(seconds(20_000) for _ in range(2)), min(seconds(160_000) for _ in range(2))
    assert long < max(0.05, 40 * short), (short, long)


# --- prose as Markdown ---------------------------------------------------------------------------


def prose_passage(text: str, name: str = "Notes", path: str = "notes.md") -> Passage:
    one = Candidate(chunk_of(text, path), 1, {}, Entity("section", name, name, 0, 1, (1, 1)))
    return Passage("r", path, (Run((Piece(one, 1, text),), text, (1, 1)),))


@EXAMPLES
@given(st.lists(entities, min_size=1, max_size=3))
def test_no_prose_passes_for_a_frame_of_the_page(texts: list[str]) -> None:
    """A Markdown reader sees the headings and rules of the page, whatever the texts contain."""
    passages = [prose_passage(text, f"Part {at}") for at, text in enumerate(texts)]
    page = render(passages, RenderSpec("markdown", groups=True, sources=9))
    tokens = MarkdownIt("commonmark").parse(page)
    assert not any(token.type == "html_block" for token in tokens)
    heads = [
        (token.tag, tokens[at + 1].content)
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0
    ]
    parts = [("h3", f"Part {at}") for at in range(len(texts))]
    assert heads == [("h2", "Related Documentation"), *parts]
    assert sum(token.type == "hr" and token.level == 0 for token in tokens) == 1
    assert sum(line == "**Sources:**" for line in page.splitlines()) == 1


def test_prose_is_prose_and_code_in_it_stays_code() -> None:
    text = "# Notes\n\nRun it:\n\n```sh\n# first\nmake\n```\n\n## More\n---\n"
    page = render([prose_passage(text)], RenderSpec("markdown"))
    assert page == (
        "### Notes\n*notes.md:1*\n\nRun it:\n\n```sh\n# first\nmake\n```\n\n\\## More\n\\---"
    )


def test_a_block_of_code_that_is_cut_off_ends_before_what_follows() -> None:
    cut = prose_passage("Run it:\n\n```sh\nmake all\n")
    page = render([cut, prose_passage("Then wait.", "After")], RenderSpec("markdown"))
    assert "```sh\nmake all\n```\n\n### After" in page


def test_data_is_fenced_as_code_is() -> None:
    one = chunk_of("a: 1\nb:\n  - 2\n", "a.yaml")
    record = Record(one.record_id, "document", one.path, attrs={"language": "yaml"})
    candidate = Candidate(one, 1, {}, record=record)
    passage = Passage("r", one.path, (Run((Piece(candidate, 1, one.text),), one.text, (1, 3)),))
    assert render([passage], RenderSpec("markdown")).endswith("```\na: 1\nb:\n  - 2\n```")


@pytest.mark.parametrize(
    "heading", ["# Notes\n", "Notes\n=====\n", "#  `Notes`\n", ".. _a:\n\nNotes\n=====\n"]
)
@pytest.mark.parametrize("form", ["markdown", "xml", "plain"])
def test_a_heading_that_is_the_name_is_said_once(form: str, heading: str) -> None:
    page = render([prose_passage(f"{heading}\nThe text.\n")], RenderSpec(form))
    assert page.lower().count("notes") == 2, "the name and the path"
    assert "The text." in page
    assert "=" * 5 not in page
