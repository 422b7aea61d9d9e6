"""A block is read back as it was put in, and its text holds what a reader needs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.serialize import json_line
from quire.core.types import Link
from quire.core.types.blocks import TYPES, Block
from quire.errors import InputError
from quire.workspace import block_lines, records, validate
from quire.workspace import text as workspace_text
from quire.workspace.inheritance import NOTHING_INHERITED, InheritedAccess

NAMES = st.text("abc XYZ_é", min_size=1, max_size=8).filter(str.strip)
IDS = st.from_regex(r"[a-z][a-z0-9.-]{0,6}", fullmatch=True)
TEXTS = st.text(max_size=60).filter(lambda text: "\0" not in text)
BLOCKS = st.builds(
    Block,
    id=IDS,
    type=st.sampled_from(TYPES),
    text=TEXTS,
    parent=st.none() | IDS,
    position=st.integers(-5, 5),
    properties=st.dictionaries(
        NAMES,
        TEXTS
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.lists(TEXTS, max_size=3).map(tuple),
        max_size=4,
    ),
    relations=st.dictionaries(NAMES, st.lists(IDS, min_size=1, max_size=3).map(tuple), max_size=3),
    links=st.lists(IDS, max_size=3).map(tuple),
    mentions=st.lists(NAMES, max_size=3).map(tuple),
    created=st.integers(0, 2**32),
    edited=st.integers(0, 2**32),
    author=st.none() | IDS,
    access=st.none() | st.lists(st.sampled_from(("user:ann", "public")), unique=True).map(tuple),
    source=st.sampled_from(("", "0123456789abcdef")),
)


def whole(text: str) -> Sequence[str]:
    return [text]


def halves(text: str) -> Sequence[str]:
    middle = len(text) // 2
    return [part for part in (text[:middle], text[middle:]) if part]


@given(
    BLOCKS,
    st.sampled_from(
        (NOTHING_INHERITED, InheritedAccess(("user:ann",), "p", "Page", ("user:ann",)))
    ),
)
def test_what_is_kept_is_read_back(block: Block, standing: InheritedAccess) -> None:
    made = validate.normalize(block)
    for cut in (whole, halves):
        document = records.to_document(made, standing, cut)
        assert records.from_record(document.record, document.chunks) == made


@given(BLOCKS)
def test_what_is_exported_is_read_back(block: Block) -> None:
    made = validate.normalize(block)
    line = json_line(made)
    assert block_lines.parse(f"\n{line}\n\n") == [made]


def said(block: Block) -> str:
    before, after = workspace_text.affixes(block)
    return f"{before}{block.text}{after}"


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (Block("a", "todo", "Buy rope"), "[ ] Buy rope"),
        (
            Block("a", "todo", "Buy rope", properties={"done": True, "due": "2026-01-31"}),
            "[x] Buy rope\nDue: 2026-01-31",
        ),
        (
            Block("a", "db_row", "Heron", properties={"tags": ("a", "b"), "open_since": 3}),
            "Heron\nOpen since: 3\nTags: a, b",
        ),
        (Block("a", "kanban_card", "", properties={"Due": "x", "big": False}), "Due: x\nBig: no"),
        (Block("a", "heading", "Ropes", properties={"level": 2}), "Ropes"),
        (Block("a", "image", "A rope", properties={"file": "rope.png"}), "A rope"),
        (Block("a", "divider"), ""),
    ],
)
def test_what_a_block_says(block: Block, text: str) -> None:
    assert said(block) == text
    assert (
        "".join(one.text for one in records.to_document(block, NOTHING_INHERITED, whole).chunks)
        == text
    )


def test_where_it_is_kept() -> None:
    block = Block(
        "t1",
        "todo",
        "Splice it",
        parent="p",
        position=3,
        relations={"sprint": ("s2", "s1"), "supersedes": ("t0",)},
        links=("p2",),
        mentions=("ann",),
        edited=9,
        author="bob",
    )
    standing = NOTHING_INHERITED.inside(Block("p", "page", "The\n plan", access=("user:ann",)))
    document = records.to_document(block, standing, whole)
    record = document.record
    assert (record.kind, record.path, record.title) == (
        "block.todo",
        ".quire/block/t1",
        "Splice it",
    )
    assert (record.parent, record.position, record.modified) == ("p", 3, 9)
    assert (record.author, record.acl, record.paths) == ("bob", ("user:ann",), ())
    assert [(one.kind, one.title) for one in document.chunks] == [("block.todo", "The plan")]
    assert document.links == (
        Link("t1", "ann", "mention"),
        Link("t1", "p2", "link"),
        Link("t1", "s1", "relation:sprint"),
        Link("t1", "s2", "relation:sprint"),
        Link("t1", "t0", "supersedes"),
    )


def test_no_title_goes_to_other_readers() -> None:
    page = NOTHING_INHERITED.inside(Block("p", "page", "Lay-offs", access=("user:hana",)))
    open_to_all = Block("b", "paragraph", "Lunch is at noon", parent="p", access=("public",))
    (chunk,) = records.to_document(open_to_all, page, whole).chunks
    assert chunk.title == ""
    below = page.inside(open_to_all)
    (chunk,) = records.to_document(Block("c", "list", "Soup", parent="b"), below, whole).chunks
    assert chunk.title == ""
    again = Block("d", "quote", "x", parent="b", access=("user:hana",))
    (chunk,) = records.to_document(again, below, whole).chunks
    assert chunk.title == "Lay-offs"


def test_where_rules_decide_the_title_follows_the_page() -> None:
    standing = NOTHING_INHERITED.inside(Block("p", "page", "Plan"))
    record = records.to_document(Block("b", "paragraph", "x", parent="p"), standing, whole).record
    assert (record.acl, record.paths) == (None, (".quire/block/b", ".quire/block/p"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 2: not valid JSON"),
        ("[]", "line 2: a block is an object, not a list"),
        ("{}", "line 2: type: is missing"),
        ('{"type": "poem"}', "type: unknown type 'poem'; choose from page, paragraph"),
        ('{"type": "page", "colour": 1}', "unknown field 'colour'"),
        ('{"type": "page", "id": "a b"}', "id: 'a b' is not an id; use up to 128"),
        (
            '{"type": "page", "id": "0123456789abcdef0123456789abcdef"}',
            "which are the ids of files",
        ),
        ('{"type": "page", "parent": "../x"}', "parent: '../x' is not an id"),
        ('{"type": "page", "position": 1.5}', "position: expected a whole number, not a number"),
        (
            '{"type": "page", "position": true}',
            "position: expected a whole number, not true or false",
        ),
        ('{"type": "page", "text": 3}', "text: expected a text, not a number"),
        ('{"type": "page", "properties": []}', "properties: expected an object, not a list"),
        ('{"type": "page", "properties": {"a": {}}}', "property 'a': expected a text, a number"),
        ('{"type": "page", "properties": {"a": [1]}}', "property 'a': expected a text, a number"),
        ('{"type": "page", "properties": {"": 1}}', "properties: '' is not a name"),
        (
            '{"type": "page", "properties": {"a": NaN}}',
            "property 'a': expected a finite number, not nan",
        ),
        ('{"type": "page", "relations": {"a": "b"}}', "a: expected a list of ids, not a text"),
        ('{"type": "page", "links": [""]}', "links: '' is not a name"),
        ('{"type": "page", "created": "soon"}', "created: expected a time such as"),
        ('{"type": "page", "id": "first"}', "line 2: id: already used in line 1"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(line: str, told: str) -> None:
    with pytest.raises(InputError) as error:
        block_lines.parse('{"type": "page", "id": "first"}\n' + line)
    assert told in str(error.value)
    assert "line 2" in str(error.value)


def test_a_text_is_no_list_of_links() -> None:
    with pytest.raises(InputError, match="links: expected a list, as in"):
        validate.normalize(Block("a", "page", links="rope"))  # type: ignore[arg-type]


def test_a_whole_book_is_no_block() -> None:
    with pytest.raises(InputError, match="at most 65536 characters, not 70000"):
        validate.normalize(Block("a", "paragraph", "x" * 70_000))
    with pytest.raises(InputError, match="links: at most 1000 for one block, not 1001"):
        validate.normalize(Block("a", "paragraph", links=tuple(f"b{n}" for n in range(1001))))
