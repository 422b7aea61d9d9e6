"""Conversations in the formats that assistants and chat programs write."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core import hashing
from quire.core.types import Document, Entity, IngestSettings
from quire.ingest.chat_formats import normalize_time
from quire.ingest.decode import NotText
from quire.ingest.read import build_document
from quire.ingest.types import UnreadableFile

from .reading import SMALL, check_outline, read_text
from .test_work import work

DEFAULT = IngestSettings()
NOON = "2024-05-01T12:00:00Z"
AT_NOON = 1714564800


def json_lines(*values: Any) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def text_of(document: Document) -> str:
    return "".join(chunk.text for chunk in document.chunks)


def outline(document: Document) -> tuple[Entity, ...]:
    assert document.outline is not None
    return document.outline.entities


def list_messages(document: Document) -> list[tuple[object, ...]]:
    """Return speaker, turn and time of each message."""
    return [
        (entity.attrs["speaker"], entity.attrs["turn"], entity.attrs.get("time"))
        for entity in outline(document)
        if entity.kind == "message"
    ]


def check(document: Document) -> None:
    at = 0
    for chunk in document.chunks:
        assert (chunk.start, chunk.end) == (at, at + len(chunk.text.encode()))
        assert chunk.kind == document.record.kind
        assert "\n" not in chunk.title
        at = chunk.end
    check_outline(document)


# --- formats ------------------------------------------------------------------------------------


def test_chat_api_messages_in_json_lines() -> None:
    text = json_lines(
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "name": "ada",
            "timestamp": AT_NOON * 1000 + 5,
            "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "1", "function": {"name": "look", "arguments": '{"at": "a", "for": 3}'}}
            ],
        },
        {"role": "tool", "name": "look", "content": "found"},
        {"role": "assistant", "content": "A *thing*."},
    )
    document = read_text("talk.jsonl", text)
    check(document)
    assert text_of(document) == (
        "system:\nBe brief.\n\n"
        "user (ada, 2024-05-01 12:00 UTC):\nWhat is it?\n\n[image]\n\n"
        'assistant:\n[tool look: at="a"; for=3]\n\n'
        "tool (look):\n[tool result]\nfound\n\n"
        "assistant:\nA *thing*.\n\n"
    )
    record = document.record
    assert (record.kind, record.title, record.modified) == ("conversation", "What is it?", AT_NOON)
    assert record.author is None
    assert record.id == hashing.record_id("document", "talk.jsonl")
    whole, *messages = outline(document)
    assert (whole.kind, whole.name, whole.summary) == ("session", "What is it?", "What is it?")
    assert [message.name for message in messages] == [
        "system, turn 1",
        "user, turn 2",
        "assistant, turn 3",
        "tool, turn 3",
        "assistant, turn 3",
    ]
    assert [message.lines for message in messages] == [(n, n) for n in range(1, 6)]
    assert list_messages(document)[1] == ("user", 2, AT_NOON)


def test_message_list_in_one_object() -> None:
    talk = {
        "model": "m",
        "title": "Numbers",
        "messages": [
            {"role": "user", "content": "One?"},
            {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
        ],
    }
    document = read_text("request.json", json.dumps(talk, indent=2))
    check(document)
    assert text_of(document) == "Numbers\n\nuser:\nOne?\n\nassistant:\nYes.\n\n"
    assert document.record.title == "Numbers"
    assert {chunk.lines for chunk in document.chunks} == {(0, 0)}


def test_many_conversations_in_a_file() -> None:
    one = {"messages": [{"role": "user", "content": f"{'One' * 20}?"}]}
    two = {"messages": [{"role": "user", "content": "Two?"}, {"role": "assistant", "content": "2"}]}
    document = read_text("tune.jsonl", json_lines(one, two) + "{broken\n")
    check(document)
    assert (document.record.kind, document.record.title) == ("conversation", "tune.jsonl")
    assert [(e.kind, e.qualified, e.parent, e.lines) for e in outline(document)] == [
        ("conversation", "tune.jsonl", None, (1, 3)),
        ("session", "One" * 20 + "?", 0, (1, 1)),
        ("message", "One" * 20 + "? > user, turn 1", 1, (1, 1)),
        ("session", "Two?", 0, (2, 2)),
        ("message", "Two? > user, turn 1", 3, (2, 2)),
        ("message", "Two? > assistant, turn 2", 3, (2, 2)),
    ]
    assert [(chunk.title, chunk.lines) for chunk in document.chunks] == [
        ("One" * 20 + "? > user", (1, 1)),
        ("Two? > user, assistant", (2, 2)),
        ("", (3, 3)),
    ]
    assert text_of(document).endswith("[unreadable line]\n\n")


def node(parent: str | None, role: str, *parts: Any, time: float | None = None) -> dict[str, Any]:
    content = {"content_type": "text", "parts": list(parts)}
    message = {"author": {"role": role}, "create_time": time, "content": content}
    return {"message": message, "parent": parent, "children": []}


def test_chatgpt_export_follows_the_branch_shown_last() -> None:
    trip = {
        "title": "Trip",
        "mapping": {
            "root": {"message": None, "parent": None, "children": ["a"]},
            "a": node("root", "system", ""),
            "b": node("a", "user", "Where to?", time=AT_NOON + 0.5),
            "c": node("b", "assistant", "Rome", time=AT_NOON + 2.0),
            "d": node("b", "assistant", {"content_type": "image_asset_pointer"}, "Oslo"),
        },
        "current_node": "d",
    }
    other = {"title": "", "mapping": {"x": node(None, "user", "Hi"), "y": node("x", "tool", "t")}}
    document = read_text("conversations.json", json.dumps([trip, other]))
    check(document)
    assert text_of(document) == (
        "Trip\n\nuser (2024-05-01 12:00 UTC):\nWhere to?\n\nassistant:\n[image]\n\nOslo\n\n"
        "[left out: 1 from other branches]\n\n"
        "user:\nHi\n\ntool:\n[tool result]\nt\n\n"
    )
    sessions = [entity.name for entity in outline(document) if entity.kind == "session"]
    assert sessions == ["Trip", "Hi"]


def test_a_cycle_of_nodes_terminates() -> None:
    ring = {"mapping": {"a": node("b", "user", "A"), "b": node("a", "user", "B")}}
    for current in ("a", "nowhere", None, 3):
        document = read_text("a.json", json.dumps({**ring, "current_node": current}))
        check(document)


def test_claude_export() -> None:
    talk = {
        "uuid": "1",
        "name": "Plan",
        "chat_messages": [
            {
                "sender": "human",
                "text": "Read this",
                "created_at": "2024-05-01T12:00:00.5Z",
                "attachments": [{"file_name": "n.txt", "extracted_content": "Notes"}],
                "files": [{"file_name": "p.png"}],
            },
            {
                "sender": "assistant",
                "text": "older form",
                "content": [{"type": "text", "text": "Done."}],
                "created_at": "2024-05-01T12:01:00+00:00",
            },
        ],
    }
    document = read_text("conversations.json", json.dumps([talk]))
    check(document)
    assert text_of(document) == (
        "Plan\n\nuser (2024-05-01 12:00 UTC):\nRead this\n\n[attachment n.txt]\nNotes\n\n"
        "[attachment p.png]\n\nassistant (2024-05-01 12:01 UTC):\nDone.\n\n"
    )
    assert list_messages(document) == [("user", 1, AT_NOON), ("assistant", 2, AT_NOON + 60)]
    assert document.record.modified == AT_NOON + 60


def test_claude_code_session() -> None:
    common = {"sessionId": "s", "timestamp": NOON, "isSidechain": False}

    def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
        return {"type": kind, "message": {"role": kind, "content": content}, **common, **more}

    text = json_lines(
        {"type": "summary", "summary": "Fix the bug", "leafUuid": "u"},
        {"type": "file-history-snapshot", "messageId": "m"},
        line("user", "Fix it."),
        line(
            "assistant",
            [
                {"type": "thinking", "thinking": "Hm.", "signature": "x"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "name": "Edit", "input": {"path": "a", "new": "x y" * 200}},
            ],
        ),
        line("user", [{"type": "tool_result", "content": [{"type": "text", "text": "a.py"}]}]),
        line("assistant", [{"type": "text", "text": "There."}], isSidechain=True),
        {"type": "system", "content": "Compacted", **common},
    )
    document = read_text("s.jsonl", text)
    check(document)
    time = "2024-05-01 12:00 UTC"
    assert text_of(document) == (
        f"Fix the bug\n\nuser ({time}):\nFix it.\n\n"
        f'assistant ({time}):\n[thinking]\nHm.\n\nI look.\n\n[tool Edit: path="a"; new=[600 characters]]\n\n'
        f"tool ({time}):\n[tool result]\na.py\n\nassistant (side chain, {time}):\nThere.\n\n"
        f"system ({time}):\nCompacted\n\n[left out: 1 file-history-snapshot]\n\n"
    )
    assert [message[:2] for message in list_messages(document)] == [
        ("user", 1),
        ("assistant", 2),
        ("tool", 2),
        ("assistant", 2),
        ("system", 3),
    ]
    assert outline(document)[2].summary == "I look."
    assert outline(document)[0].lines == (3, 7)


def test_another_session_id_starts_another_session() -> None:
    lines = [
        {"type": "user", "message": {"role": "user", "content": name}, "sessionId": name}
        for name in ("one", "one", "two")
    ]
    document = read_text("s.jsonl", json_lines(*lines))
    assert [e.name for e in outline(document) if e.kind == "session"] == ["one", "two"]


def test_codex_session() -> None:
    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": NOON, "type": kind, "payload": payload}

    def words(role: str, text: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": text}]
        return line("response_item", type="message", role=role, content=content)

    text = json_lines(
        line("session_meta", id="x"),
        words("user", "<environment_context>x</environment_context>"),
        words("user", "Add it up"),
        line("event_msg", type="user_message", message="Add it up"),
        line(
            "response_item", type="reasoning", summary=[{"type": "summary_text", "text": "Adding"}]
        ),
        line("response_item", type="reasoning", summary=[], encrypted_content="zz"),
        line("response_item", type="function_call", name="sh", arguments='{"c": ["ls"]}'),
        line("response_item", type="function_call_output", output="a"),
    )
    document = read_text("rollout.jsonl", text)
    check(document)
    assert text_of(document).replace(" (2024-05-01 12:00 UTC)", "") == (
        "user:\n<environment_context>x</environment_context>\n\nuser:\nAdd it up\n\n"
        "assistant:\n[thinking]\nAdding\n\nassistant:\n[thinking, not readable]\n\n"
        'assistant:\n[tool sh: c=["ls"]]\n\ntool:\n[tool result]\na\n\n'
        "[left out: 1 event_msg, 1 session_meta]\n\n"
    )
    assert document.record.title == "Add it up"


def test_sharegpt() -> None:
    talk = {"id": "1", "conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi"}]}  # fmt: skip
    document = read_text("share.json", json.dumps([talk]))
    check(document)
    assert text_of(document) == "user:\nHello\n\nassistant:\nHi\n\n"


def test_slack_export() -> None:
    talk = [
        {"type": "message", "user": "U1", "user_profile": {"real_name": "Ada"}, "text": "a &lt; b", "ts": "1714564800.000100"},
        {"type": "message", "user": "U1", "user_profile": {"real_name": "Ada"}, "text": "ok?", "ts": "1714564801.000100"},
        {"type": "message", "user": "U2", "text": "", "ts": "1714564802.000100", "files": [{"name": "x.png"}]},
    ]  # fmt: skip
    document = read_text("2024-05-01.json", json.dumps(talk, indent=1))
    check(document)
    assert text_of(document).replace(" (2024-05-01 12:00 UTC)", "") == (
        "Ada:\na < b\n\nAda:\nok?\n\nU2:\n[file x.png]\n\n"
    )
    assert list_messages(document) == [
        ("Ada", 1, AT_NOON),
        ("Ada", 1, AT_NOON + 1),
        ("U2", 2, AT_NOON + 2),
    ]


def test_json_lines_in_a_json_file() -> None:
    document = read_text("talk.json", json_lines(*[{"role": "user", "content": "Hi"}] * 2))
    assert document.record.kind == "conversation"
    assert [message.lines for message in outline(document)[1:]] == [(1, 1), (2, 2)]


# --- placeholders -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "rendered"),
    [
        ([{"type": "tool_result", "content": "a b " * 3000}], "[tool result, 11,999 characters]"),
        ("see data:image/png;base64," + "QUJD" * 50, "see [data, 222 characters]"),
        ("see " + "QUJD" * 300 + "== there", "see [data, 1,202 characters] there"),
        ([{"type": "image", "source": {"data": "QUJD" * 9999}}], "[image]"),
        ([{"type": "input_audio", "input_audio": {}}], "[input_audio]"),
        ([{"type": "redacted_thinking", "data": "x"}], "[thinking, not readable]"),
        ([{"type": "tool_use", "name": "ls"}], "[tool ls]"),
        ([{"type": "tool_use", "name": "ls", "input": "not JSON"}], '[tool ls: "not JSON"]'),
        ([{"text": "no type"}, "bare", None, 7], "no type\n\nbare\n\n[data, 1 characters]"),
        ("a\r\nb\rc\0d\ud83d", "a\nb\ncd\ufffd"),
    ],
)
def test_content_that_is_not_text_becomes_a_placeholder(content: Any, rendered: str) -> None:
    line = json.dumps({"role": "user", "content": content})
    document = read_text("a.jsonl", line)
    check(document)
    assert text_of(document) == f"user:\n{rendered}\n\n"


def test_a_run_of_broken_lines_becomes_one_note() -> None:
    good = json_lines({"role": "user", "content": "Hi"})
    document = read_text("a.jsonl", good * 3 + "{oops\n" + good + "x\n\n[1]\n" + good)
    check(document)
    assert text_of(document) == (
        "user:\nHi\n\n" * 3
        + "[unreadable line]\n\nuser:\nHi\n\n[2 unreadable lines]\n\nuser:\nHi\n\n"
    )
    assert [message.lines for message in outline(document)[1:]][-2:] == [(5, 5), (9, 9)]


# --- decisions ----------------------------------------------------------------------------------


def test_decisions_in_a_conversation() -> None:
    content = (
        "Well.\n\n**Decision:** use SQLite\nfor all of it.\n\n- DECISION: ship it\n- more\n\n"
        "```\nDecision: not this\n```\n\nI think We decided nothing.\nADR-3: kept\n\nREQ-1: no"
    )
    talk = json_lines(
        {"role": "user", "content": "We decided to go."},
        {"role": "tool", "content": "Decision: not mine"},
        {"role": "assistant", "content": content},
    )
    document = read_text("a.jsonl", talk)
    check(document)
    decided = [entity for entity in outline(document) if entity.kind == "decision"]
    assert [(entity.name, entity.parent) for entity in decided] == [
        ("We decided to go.", 1),
        ("Decision: use SQLite for all of it.", 4),
        ("DECISION: ship it", 4),
        ("ADR-3: kept", 4),
    ]
    assert decided[0].qualified == "user, turn 1 > We decided to go."
    assert decided[-1].attrs == {"id": "ADR-3"}
    data = text_of(document).encode()
    assert data[decided[1].start : decided[1].end].decode() == (
        "**Decision:** use SQLite\nfor all of it.\n\n"
    )


# --- splitting ----------------------------------------------------------------------------------


def test_short_messages_are_merged_and_long_ones_split() -> None:
    words = "Some words about this very subject are here. "
    talk = json_lines(
        *[{"role": role, "content": "Yes."} for role in ("user", "assistant") * 3],
        {"role": "user", "content": words * 6 + "\n\n" + words * 2},
    )
    document = read_text("a.jsonl", talk)
    check(document)
    texts = [chunk.text for chunk in document.chunks]
    assert max(map(len, texts)) <= 2 * SMALL.target
    assert texts[0].count("Yes.") > 2
    assert document.chunks[0].title == "Yes. > user, assistant"
    from_long = [chunk for chunk in document.chunks if words.strip() in chunk.text]
    assert len(from_long) > 2
    assert {(chunk.title, chunk.lines) for chunk in from_long[1:-1]} == {("Yes. > user", (7, 7))}


def test_a_title_names_at_most_three_speakers() -> None:
    talk = [{"user": f"U{n}", "text": "ok", "ts": "1714564800.1"} for n in range(5)]
    (chunk,) = read_text("a.json", json.dumps(talk), DEFAULT).chunks
    assert chunk.title == "ok > U0, U1, U2, others"


# --- files without conversations ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"name": "x", "role": "user", "messages": {"role": "user"}}'),
        ("index.json", '{"mapping": {"properties": {"role": {"type": "keyword"}}}}'),
        ("users.json", '[{"role": "admin", "content": "x"}, {"role": "user", "name": "y"}]'),
        ("mail.json", '{"conversations": [{"from": "a", "to": "b"}]}'),
        ("events.jsonl", '{"type": "user", "uuid": "1"}\n{"type": "payload", "uuid": "2"}\n'),
        ("mixed.jsonl", '{"role": "user", "content": "x"}\n{"a": 1}\n{"b": 1}\n'),
        ("empty.json", '{"messages": []}'),
        ("silent.jsonl", '{"role": "user", "content": ""}\n'),
        ("cut.json", '[{"role": "user", "content": "cut o'),
        ("bomb.json", '[{"role": "user", "content": ' + "[" * 100_000),
        ("number.json", '{"role": ' + "9" * 5000 + "}"),
        ("a.geojson", '[{"role": "user", "content": "x"}]'),
    ],
)
def test_other_json_files_are_read_as_lines(path: str, text: str) -> None:
    document = read_text(path, text)
    assert document.record.kind == "document"
    assert text_of(document) == text


@pytest.mark.parametrize(
    "content",
    [
        "[" * 900 + "]" * 900,
        '{"type": "tool_use", "input": {"a": ' + "[" * 900 + "]" * 900 + "}}",
        '{"type": "tool_result", "content": [' * 400 + "]}" * 400,
        '{"thinking": {"text": ' * 400 + "}}" * 400,
    ],
)
def test_deeply_nested_content(content: str) -> None:
    document = read_text("a.json", f'[{{"role": "user", "content": ["Hi", {content}]}}]')
    check(document)
    assert "Hi" in text_of(document)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (AT_NOON, AT_NOON),
        (AT_NOON + 0.9, AT_NOON),
        (AT_NOON * 1000 + 900, AT_NOON),
        (str(AT_NOON), AT_NOON),
        (f"{AT_NOON}.000100", AT_NOON),
        (NOON, AT_NOON),
        ("2024-05-01T14:00:00.5+02:00", AT_NOON),
        ("9999-12-31T23:59:59-12:00", None),
        ("1969-01-01", None),
        (float("nan"), None),
        (float("inf"), None),
        (-5, None),
        (0, None),
        (10**400, None),
        (True, None),
        ("yesterday", None),
        (None, None),
        ([], None),
    ],
)
def test_time_formats(value: Any, seconds: int | None) -> None:
    assert normalize_time(value) == seconds


# --- properties ---------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["user", "assistant", "tool", "message", "text", "response_item", "tool_result", "thinking", "summary",
     "Hi there.\n\nDecision: yes\nand no", "word " * 40, "", " ", "1714564800.0001", NOON, "漢字。仮名", "a", "b", "\ud800"]
)  # fmt: skip
KEYS = st.sampled_from(
    ["role", "content", "type", "text", "message", "messages", "mapping", "parent", "children", "author", "parts",
     "chat_messages", "sender", "conversations", "from", "value", "user", "ts", "payload", "sessionId", "timestamp",
     "tool_calls", "function", "arguments", "name", "title", "input", "output", "current_node", "a", "b", "summary"]
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(WORDS, st.none(), st.booleans(), st.integers(), st.floats()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=20,
)
LIKELY = st.one_of(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool"]), "content": VALUES}
    ),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["user", "assistant"]),
            "message": st.fixed_dictionaries({"content": VALUES}),
            "sessionId": WORDS,
        }
    ),
    st.fixed_dictionaries({"messages": st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": VALUES}))}),
    st.fixed_dictionaries(
        {
            "mapping": st.dictionaries(
                st.sampled_from("ab"),
                st.fixed_dictionaries({"message": VALUES, "parent": st.sampled_from("abc")}),
            ),
            "title": WORDS,
        }
    ),
)  # fmt: skip
SIZES = st.builds(IngestSettings, whole=st.integers(0, 60), target=st.integers(0, 60))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(LIKELY, LIKELY, VALUES), max_size=6), st.booleans(), SIZES)
def test_any_json_is_read(values: list[Any], as_lines: bool, sizes: IngestSettings) -> None:
    text = json_lines(*values) if as_lines else json.dumps(values)
    path = "a.jsonl" if as_lines else "a.json"
    document = build_document(path, text.encode(), sizes)
    check(document)
    assert document == build_document(path, text.encode(), sizes)
    if document.record.kind == "document":
        assert text_of(document) == text
    for chunk in document.chunks:
        assert chunk.lines[0] <= chunk.lines[1]


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40), st.integers(0, 60))
def test_damaged_lines_do_not_fail(damage: str, at: int) -> None:
    text = json_lines(*[{"role": "user", "content": "Hi"}] * 3)
    damaged = (text[:at] + damage + text[at:]).encode("utf-8", "replace")
    try:
        document = build_document("a.jsonl", damaged, SMALL)
    except (NotText, UnreadableFile):
        return
    check(document)


@pytest.mark.parametrize(
    "unit",
    [
        json_lines({"role": "user", "content": "Hi"}),
        json_lines({"role": "user", "content": "Decision: a\n\n- Decision: b\n" * 3}),
        json_lines({"messages": [{"role": "user", "content": "Hi"}] * 3}),
        json_lines({"user": "U", "text": "QUJD" * 30, "ts": "1714564800.1"}),
        json_lines({"role": "user", "content": "x"}) + "{\n",
    ],
)
def test_work_is_linear_in_the_length_of_a_transcript(unit: str) -> None:
    def run(times: int) -> int:
        return work(lambda: build_document("a.jsonl", (unit * times).encode(), DEFAULT))

    run(400)
    assert run(400) <= 5 * run(100) + 500
