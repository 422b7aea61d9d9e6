"""Expressions mean what the grammar says, and every error names its place."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import EXPRESSION, SENTENCE
from quire.errors import InputError
from quire.rules.conditions import classify_condition, sentence_condition
from quire.rules.expression_eval import holds
from quire.rules.expressions import MAX_DEPTH, ExpressionError, parse_expression
from quire.rules.situation import (
    describe_situation,
    parse_situation,
    validate_situation,
    without_time,
)

SITUATION: dict[str, Any] = {
    "tool": "bash",
    "params": {
        "command": "alembic upgrade head",
        "dry-run": True,
        "files": ["src/a.sql", "docs/b.md"],
        "odd key": "x",
        "count": 3,
        "rate": 0.5,
        "nothing": None,
        "empty": "",
        "deep": {"er": [{"name": "n"}]},
    },
    "path": "src/db/migrations/0001.sql",
    "branch": "release/1.2",
    "time": "2025-03-01T10:00:00Z",
    "in": "a keyword as a key",
}


@pytest.mark.parametrize(
    "text",
    [
        "tool == 'bash'",
        'tool == "bash"',
        "'bash' == tool",
        "tool != 'edit'",
        "params.count == 3",
        "params.count == 3.0",
        "params.count > 2 and params.count <= 3",
        "params.count >= -1",
        "params.rate < 1",
        "tool < 'c'",
        "time >= '2025-01-01' and time < '2026'",
        "tool in ['edit', 'bash']",
        "tool not in ['edit']",
        "not tool in ['edit']",
        "'alembic' in params.command",
        "params.command contains 'alembic'",
        "params.files contains 'docs/b.md'",
        "params contains 'count'",
        "'count' in params",
        "3 in [1, 2, params.count]",
        "path matches '*.sql'",
        "path matches 'src/**'",
        "path matches ['*.md', '*.sql']",
        "path matches ['*.sql', '!docs/**']",
        "not path matches ['*.sql', '!0001.sql']",
        "params.files matches '*.md'",
        "branch matches 'release/*'",
        "params.dry-run",
        "params.dry-run == true",
        "has(params.files)",
        "not has(params.nothing)",
        "params.nothing == none",
        "nowhere == none",
        "nowhere.at.all == none",
        "tool.bash == none",
        "not nowhere",
        "not params.empty",
        "has(params.empty)",
        "params.'odd key' == 'x'",
        'params."odd key" == "x"',
        "params.files.0 == 'src/a.sql'",
        "params.files.9 == none",
        "params.deep.er.0.name == 'n'",
        "params.files == ['src/a.sql', 'docs/b.md']",
        "tool == 'a' or tool == 'bash' and params.count == 3",
        "not (tool == 'a' or tool == 'b')",
        "(tool == 'a' or tool == 'bash') and true",
        r"'it\'s \\' == 'it\'s \\'",
        "true and not false and not none",
        "[] == []",
        "params.in == none",
        " tool\n==\t'bash' ",
    ],
)
def test_true_expressions(text: str) -> None:
    assert holds(parse_expression(text), SITUATION)


@pytest.mark.parametrize(
    "text",
    [
        "params.count == '3'",
        "params.count == true",
        "params.dry-run == 1",
        "1 == true",
        "params.count < 'a'",
        "params.count >= '1'",
        "nowhere < 1",
        "nowhere >= none",
        "nowhere == false",
        "none == ''",
        "nowhere contains 'a'",
        "tool in 'rebash' and false",
        "tool in 3",
        "3 in 'a3'",
        "nowhere in ['a']",
        "nowhere matches '*'",
        "params.count matches '3'",
        "params.files == ['src/a.sql']",
        "params.files contains '.sql'",
        "true < false",
        "[1] < [2]",
        "params.empty",
        "0",
        "has(nowhere.deep)",
        "false or none",
    ],
)
def test_false_expressions(text: str) -> None:
    assert not holds(parse_expression(text), SITUATION)


def test_a_text_too_long_for_a_path_matches_nothing() -> None:
    assert holds(parse_expression("path matches '*'"), {"path": "x" * 4096})
    assert not holds(parse_expression("path matches '*'"), {"path": "/" * 200_000})


@pytest.mark.parametrize(
    ("text", "character", "reason"),
    [
        ("", 1, "expected a value, not the end"),
        ("tool ==", 8, "expected a value, not the end"),
        ("tool = 'a'", 6, "is not understood"),
        ("tool == 'a", 9, "is not understood"),
        ("tool == 'a' &&", 13, "is not understood"),
        ("tool 'a'", 6, "expected the end, not \"'a'\""),
        ("(tool == 'a'", 13, "expected ')', not the end"),
        ("tool == 'a')", 12, "expected the end, not ')'"),
        ("1 < params.count < 3", 3, "comparisons do not chain"),
        ("tool in ['a' 'b']", 14, "expected ','"),
        ("tool in ['a',", 14, "expected a value"),
        ("tool not 'a'", 10, "expected 'in'"),
        ("has('a')", 5, "expected key, not"),
        ("has tool", 5, "expected '('"),
        ("and tool", 1, "expected a value, not 'and'"),
        ("path matches tool", 14, "a pattern in quotes"),
        ("path matches 3", 14, "a pattern in quotes"),
        ("path matches ['a', 3]", 14, "a pattern in quotes"),
        ("path matches []", 14, "a pattern in quotes"),
        ("path matches '[a'", 14, "is not a pattern"),
        ("path matches '!a'", 14, "only exclude"),
        ("3x == 1", 1, "is not understood"),
        ("1.2.3 == 1", 1, "is not understood"),
        ("a == " + "1" * 20, 6, "a number of more than"),
        ("a." + "b" * 2000, 2001, "more than 2000 characters"),
        ("(" * 30 + "a", 26, "nested deeper than"),
        ("[" * 30 + "a", 26, "nested deeper than"),
        ("not " * 30 + "a", 101, "nested deeper than"),
        ("__import__('os').system('ls')", 17, "is not understood"),
        ("a == b; c", 7, "is not understood"),
    ],
)
def test_an_error_names_its_place(text: str, character: int, reason: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text)
    assert str(caught.value).startswith(f"at character {character}: ")
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 200


@given(st.text(alphabet="ab.'\"\\ ()[],=<>!0159-\nandornotinhas", max_size=60))
def test_any_text_is_an_expression_or_is_refused(text: str) -> None:
    try:
        expression = parse_expression(text)
    except ExpressionError:
        return
    assert holds(expression, SITUATION) in {True, False}


# --- against Python ----------------------------------------------------------------------------

VALUES = {"a": True, "b": False, "n": 7, "s": "seven", "l": ["seven", 7]}
ATOMS = [
    ("a", True),
    ("b", False),
    ("n == 7", True),
    ("n < 3", False),
    ("s in l", True),
    ("'eve' in s", True),
    ("s matches 'x*'", False),
    ("has(z)", False),
]
BOOLEANS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner).map(lambda one: (f"not ({one[0][0]})", not one[0][1])),
        st.tuples(inner, inner).map(
            lambda two: (f"({two[0][0]}) and ({two[1][0]})", two[0][1] and two[1][1])
        ),
        st.tuples(inner, inner).map(
            lambda two: (f"({two[0][0]}) or ({two[1][0]})", two[0][1] or two[1][1])
        ),
    ),
    max_leaves=12,
)


@given(BOOLEANS)
def test_and_or_not_are_those_of_logic(case: tuple[str, bool]) -> None:
    text, expected = case
    if text.count("(") <= MAX_DEPTH:
        assert holds(parse_expression(text), VALUES) is expected


@given(st.lists(st.sampled_from(["a", "b", "not a", "not b"]), min_size=1, max_size=9), st.data())
def test_and_binds_closer_than_or(parts: list[str], data: st.DataObject) -> None:
    words = [data.draw(st.sampled_from(["and", "or"])) for _ in parts[1:]]
    text = parts[0] + "".join(f" {w} {p}" for w, p in zip(words, parts[1:], strict=True))
    assert holds(parse_expression(text), VALUES) is eval(text, {}, {"a": True, "b": False})


# --- expression or sentence --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("tool == 'bash'", EXPRESSION),
        ("has(params.path)", EXPRESSION),
        ("not has(intent)", EXPRESSION),
        ("params.count > 3", EXPRESSION),
        ("path matches '*.sql'", EXPRESSION),
        ("tool in ['a', 'b']", EXPRESSION),
        ("urgent == true", EXPRESSION),
        ("urgent and true", EXPRESSION),
        ("true", EXPRESSION),
        ("task is complex", SENTENCE),
        ("not urgent", SENTENCE),
        ("deployment in production", SENTENCE),
        ("message contains secrets", SENTENCE),
        ("review and deploy", SENTENCE),
        ("production", SENTENCE),
        ("'production'", SENTENCE),
        ("more than 3 files are changed", SENTENCE),
        ('The user said "it\'s broken".', SENTENCE),
        ("the user has (again) asked", SENTENCE),
        ("is it a release?", SENTENCE),
        ("the change is <b>large</b>", SENTENCE),
    ],
)
def test_a_plain_text_is_classified(text: str, kind: str) -> None:
    assert classify_condition(text).kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "tool = 'bash'",
        "tool == bash'",
        "a == 1 && b == 2",
        "a || b",
        "has(x",
        "count > 3 files",
        "tool === 'x'",
    ],
)
def test_a_typo_does_not_become_a_sentence(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"write {says: …} if it is a sentence"):
        classify_condition(text)
    assert sentence_condition(text).kind == SENTENCE


# --- situations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([], "expected a JSON object, not list"),
        (None, "expected a JSON object, not NoneType"),
        ({"a": math.nan}, "nan is not a JSON number"),
        ({"a": {1: 2}}, "keys must be texts, not 1"),
        ({"a": {1, 2}}, "expected plain data, not a value of type set"),
        ({"a": "x" * 300_000}, "at most 262144 are allowed"),
        ({"a": 10**5000}, "cannot be written as JSON"),
    ],
)
def test_a_value_that_is_not_a_situation_is_refused(value: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        validate_situation(value)


def test_a_deep_situation_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"a": deep}
    with pytest.raises(InputError, match="nested deeper"):
        validate_situation(deep)
    for text in ("[" * 100_000, '{"a":' * 100_000, "{", "1" * 5000, '{"a": 1e999}', '{"a": NaN}'):
        with pytest.raises(InputError, match="situation"):
            parse_situation(text)


def test_the_time_is_not_judged() -> None:
    now = {"time": "10:00", "timestamp": 3, "intent": "x", "params": {"time": "kept"}}
    assert without_time(now) == {"intent": "x", "params": {"time": "kept"}}
    assert describe_situation({"tool": "t", **now, "path": "p"}) == "x. kept. p. t"
