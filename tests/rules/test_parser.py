"""Context files mean the same in every format, and each mistake names its line."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import quire.rules
from quire.core.types import (
    APPLY,
    EXPRESSION,
    SENTENCE,
    SKIP,
    BehaviorRule,
    Condition,
    ContextFile,
    InjectionRule,
    Mistake,
)
from quire.rules import parse_context_file, schema
from quire.rules.nodes import parse_yaml

IN_YAML = """\
metadata:
  name: Payments
  type: module
intent_context:
  business_goal: Never charge twice
  intent_type: maintenance
behavior_rules:
  - trigger: a charge fails
    action: retry once
injection_rules:
  - name: migrations
    condition: path matches 'migrations/**'
    inject: [../guides/database, /docs/sql.md]
    priority: 5
    on_error: apply
  - name: privacy
    condition: {says: personal data is involved}
    inject: [../guides/privacy]
  - name: always
    inject: ["."]
extends: ../base
"""
IN_TOML = """\
extends = "../base"

[metadata]
name = "Payments"
type = "module"

[intent_context]
business_goal = "Never charge twice"
intent_type = "maintenance"

[[behavior_rules]]
trigger = "a charge fails"
action = "retry once"

[[injection_rules]]
name = "migrations"
condition = "path matches 'migrations/**'"
inject = ["../guides/database", "/docs/sql.md"]
priority = 5
on_error = "apply"

[[injection_rules]]
name = "privacy"
condition.says = "personal data is involved"
inject = ["../guides/privacy"]

[[injection_rules]]
name = "always"
inject = ["."]
"""


def parse(path: str, text: str) -> ContextFile:
    parsed = parse_context_file(path, text)
    assert isinstance(parsed, ContextFile), parsed
    return parsed


def mistakes_of(path: str, text: str) -> list[tuple[int, str]]:
    parsed = parse_context_file(path, text)
    assert isinstance(parsed, tuple), parsed
    assert all(item.path == path for item in parsed)
    return [(item.line, item.reason) for item in parsed]


def without_lines(context: ContextFile) -> ContextFile:
    """Return a context without what differs between formats: its path and lines."""
    return ContextFile(
        path="",
        name=context.name,
        type=context.type,
        business_goal=context.business_goal,
        intent_type=context.intent_type,
        behavior_rules=tuple(
            BehaviorRule(item.trigger, item.action) for item in context.behavior_rules
        ),
        injection_rules=tuple(
            InjectionRule(item.name, item.inject, item.condition, item.priority, item.on_error)
            for item in context.injection_rules
        ),
        extends=context.extends,
        text=context.text,
    )


EXPECTED = ContextFile(
    path="",
    name="Payments",
    type="module",
    business_goal="Never charge twice",
    intent_type="maintenance",
    behavior_rules=(BehaviorRule("a charge fails", "retry once"),),
    injection_rules=(
        InjectionRule(
            "migrations",
            ("src/guides/database", "docs/sql.md"),
            Condition("path matches 'migrations/**'", EXPRESSION),
            5,
            APPLY,
        ),
        InjectionRule(
            "privacy",
            ("src/guides/privacy",),
            Condition("personal data is involved", SENTENCE),
            0,
            SKIP,
        ),
        InjectionRule("always", ("src/pay",)),
    ),
    extends="src/base",
)


def test_all_formats_mean_the_same() -> None:
    yaml_ = parse("src/pay/a.context.yaml", IN_YAML)
    assert without_lines(yaml_) == EXPECTED
    assert without_lines(parse("src/pay/a.context.yml", IN_YAML)) == EXPECTED
    assert without_lines(parse("src/pay/a.context.toml", IN_TOML)) == EXPECTED
    in_markdown = parse("src/pay/a.context.md", f"---\n{IN_YAML}---\n\n# Money\n\nBe exact.\n")
    assert in_markdown.text == "# Money\n\nBe exact."
    assert without_lines(in_markdown) == replace(EXPECTED, text=in_markdown.text)


def test_lines_are_those_of_the_file() -> None:
    in_yaml = parse("a/a.context.yaml", IN_YAML)
    assert [item.line for item in in_yaml.injection_rules] == [11, 16, 19]
    in_toml = parse("a/a.context.toml", IN_TOML)
    assert [item.line for item in in_toml.injection_rules] == [15, 22, 27]
    in_markdown = parse("a/a.context.md", f"---\n{IN_YAML}---\nText.\n")
    assert [item.line for item in in_markdown.injection_rules] == [12, 17, 20]
    assert (in_yaml.extends_line, in_toml.extends_line, in_markdown.extends_line) == (21, 1, 22)


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("AGENTS.md", "# Shop #\n\nBe kind.", "Shop"),
        ("AGENTS.md", "Be kind.", "AGENTS.md"),
        ("src/pay/CLAUDE.md", "Be kind.", "pay"),
        ("src/pay/CLAUDE.md", "```sh\n# no heading\n```\n\n## Money", "Money"),
        ("src/db.context.md", "Be exact.", "db"),
        ("src/.context.yaml", "text: Be exact.", "src"),
        ("src/db.context.toml", "", "db"),
        ("src/db.context.yaml", "", "db"),
        ("src/db.context.md", "---\n---\n# Tables\n", "Tables"),
    ],
)
def test_a_context_without_a_name_is_called_after_its_heading_file_or_folder(
    path: str, text: str, name: str
) -> None:
    assert parse(path, text).name == name


RULES_IN_PROSE = "---\ninjection_rules:\n  - name: evil\n    inject: [/etc]\n---\n# Title\n"


@pytest.mark.parametrize(
    ("path", "text", "name", "prose"),
    [
        ("guides/signing.md", "Use HMAC.\n", "signing", "Use HMAC."),
        ("guides/signing.md", "---\ntags: [a]\n---\nUse HMAC.\n", "signing", "Use HMAC."),
        ("guides/s.md", "---\ntitle: How we sign\n---\nUse HMAC.\n", "How we sign", "Use HMAC."),
        ("AGENTS.md", "---\nglobs: '*.py'\n---\n# Rules\n\nx\n", "Rules", "# Rules\n\nx"),
        (
            "guides/s.md",
            "---\nbehavior_rules: []\n---\nx\n",
            "s",
            "---\nbehavior_rules: []\n---\nx",
        ),
    ],
)
def test_the_front_matter_of_prose_is_not_shown(
    path: str, text: str, name: str, prose: str
) -> None:
    parsed = parse_context_file(path, text)
    assert isinstance(parsed, ContextFile)
    assert (parsed.name, parsed.text) == (name, prose)


def test_prose_never_becomes_a_rule() -> None:
    for path in ("AGENTS.md", "a/CLAUDE.md", "docs/page.md"):
        parsed = parse(path, RULES_IN_PROSE)
        assert (parsed.injection_rules, parsed.behavior_rules, parsed.extends) == ((), (), None)
        assert parsed.text == RULES_IN_PROSE.strip()
    later = parse("a.context.md", f"---\nmetadata: {{name: A}}\n---\nText.\n\n{RULES_IN_PROSE}")
    assert later.injection_rules == ()
    assert "evil" in later.text
    quoted = parse("a.context.yaml", "text: |\n  injection_rules:\n    - name: evil\n")
    assert quoted.injection_rules == ()


RULE = "injection_rules:\n  - name: a\n    inject: [b]\n"


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("metadat: {name: a}", 1, "unknown key 'metadat'; did you mean 'metadata'?"),
        ("metadata:\n  nmae: a", 2, "metadata: unknown key 'nmae'; did you mean 'name'?"),
        ("metadata:\n  zzz: a", 2, "metadata: unknown key 'zzz'; choose from name, type"),
        ("metadata: Payments", 1, "metadata: expected a table with name, type, not 'Payments'"),
        (
            "metadata:\n  name: 12",
            2,
            "expected a text (in quotes, if it looks like a number), not 12",
        ),
        ("metadata:\n  name: ' '", 2, "expected a text that is not empty"),
        ("metadata:\n  name:", 2, "expected a text"),
        ("- a\n- b", 1, "expected a table with metadata"),
        ("behavior_rules: {trigger: a}", 1, "behavior_rules: expected a list, not a table"),
        ("behavior_rules:\n  - trigger: a", 2, "behavior_rules 1: 'action' is missing: What to do"),
        (
            RULE + "    priority: high",
            4,
            "injection_rules 1.priority: expected a whole number from",
        ),
        (RULE + "    priority: 1.5", 4, "expected a whole number"),
        (RULE + "    priority: true", 4, "expected a whole number"),
        (RULE + "    priority: 1001", 4, "expected a whole number from -1000 to 1000, not 1001"),
        (RULE + "    on_error: ignore", 4, "expected one of apply, skip, not 'ignore'"),
        (RULE + "    condition: {}", 4, "expected exactly one of expr, says"),
        (RULE + "    condition: {expr: a == 1, says: b}", 4, "expected exactly one of expr, says"),
        (RULE + "    condition: [a]", 4, "expected a text"),
        (RULE + "    condition: {expr: a is b}", 4, "at character 3: expected the end, not 'is'"),
        (
            RULE + "    condition: tool = 'bash'",
            4,
            "at character 6: \"= 'bash'\" is not understood",
        ),
        (RULE + "    condition: tool = 'bash'", 4, "write {says: …} if it is a sentence"),
        (RULE + RULE.partition("\n")[2], 4, "the name 'a' is repeated; first on line 2"),
        ("injection_rules:\n  - inject: [b]", 2, "'name' is missing"),
        ("injection_rules:\n  - name: a\n    inject: b", 3, "expected a list, not 'b'"),
        (
            "injection_rules:\n  - name: a\n    inject: [../../b]",
            3,
            "is not a path inside the project",
        ),
        (
            "injection_rules:\n  - name: a\n    inject: [b, '..\\c']",
            3,
            "not a path inside the project",
        ),
        ("extends: ../../b", 1, "extends: '../../b' is not a path inside the project"),
        ("extends: /../b", 1, "not a path inside the project"),
        (
            "metadata: {name: a}\nmetadata: {name: b}",
            2,
            "'metadata' is repeated; first on line 1",
        ),
        ("metadata: {name: &x a, type: b}", 1, "anchors and aliases (`&`, `*`) are not allowed"),
        ("metadata: {name: !!python/name:os.system a}", 1, "tags (`!`) are not allowed"),
        ("metadata: {name: a", 1, "not valid YAML"),
        ("metadata:\n\tname: a", 2, "not valid YAML"),
        ("text: \x01", 0, "not valid YAML"),
        ("text: a\n---\ntext: b", 2, "a second document"),
        ("? [a]\n: b", 1, "a key must be a text"),
    ],
)
def test_a_mistake_names_its_line(text: str, line: int, expected: str) -> None:
    mistakes = mistakes_of("src/a.context.yaml", text)
    assert any(at == line and expected in reason for at, reason in mistakes), mistakes
    in_markdown = (
        mistakes_of("src/a.context.md", f"---\n{text}\n---\nText.") if "---" not in text else []
    )
    assert all(at == 0 or at > 1 for at, _ in in_markdown)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("[metadata]\nnmae = 'a'", 2, "did you mean 'name'?"),
        ('text = """\nname = 1\n"""\n[metadata]\nname = 1', 5, "expected a text"),
        (
            "[[injection_rules]]\nname = 'a'\ninject = ['b']\n\n[[injection_rules]]\nname = 'c'",
            5,
            "'inject' is missing",
        ),
        ("[[injection_rules]]\nname = 'a'\ninject = ['b']\npriority = 'x'", 4, "a whole number"),
        ("metadata = {\n", 1, "not valid TOML"),
        ("a = 1\na = 2", 2, "not valid TOML"),
        ('"extends" = "../../b"', 1, "not a path inside the project"),
        ("metadata.name = 3", 1, "metadata.name: expected a text"),
    ],
)
def test_a_mistake_in_toml_names_its_line(text: str, line: int, expected: str) -> None:
    mistakes = mistakes_of("a.context.toml", text)
    assert any(at == line and expected in reason for at, reason in mistakes), mistakes


def test_all_mistakes_are_reported_at_once() -> None:
    text = (
        "metadata: {nam: a}\n"
        "extends: ../../b\n"
        "injection_rules:\n"
        "  - {name: a, inject: [../../c], condition: tool = 'x'}\n"
        "  - {name: a}\n"
    )
    assert [line for line, _ in mistakes_of("src/a.context.yaml", text)] == [1, 2, 4, 4, 5]


def test_front_matter_must_be_closed_and_a_body_stands_alone() -> None:
    assert mistakes_of("a.context.md", "---\ntext: a\n") == [
        (1, "the front matter is never closed: end it with a line `---`")
    ]
    assert mistakes_of("a.context.md", "---\ntext: a\n---\nB")[0][0] == 2
    assert parse("a.context.md", "---\ntext: a\n---\n").text == "a"


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.context.yaml", BOMB, "anchors and aliases"),
        ("a.context.yaml", "[" * 60_000, "a line of 60000 characters"),
        ("a.context.yaml", "[\n" * 30_000, "nested deeper than"),
        ("a.context.yaml", "".join(f"{' ' * n}a:\n" for n in range(300)), "nested deeper than"),
        ("a.context.yaml", "{a: " * 1000, "nested deeper than"),
        ("a.context.yaml", "text: " + "x" * 1_000_000, "characters"),
        ("a.context.yaml", RULE + "    condition: " + "a and " * 180_000, "characters"),
        (
            "a.context.yaml",
            RULE + "    condition: >\n" + "      a or b\n" * 4000,
            "2000 characters",
        ),
        ("a.context.yaml", RULE + f"    condition: {{expr: {'(' * 900}}}", "nested deeper than"),
        (
            "a.context.yaml",
            RULE + f"    condition: {{expr: {'not ' * 450}a}}",
            "nested deeper than",
        ),
        ("a.context.yaml", "x: 1\n" * 10_000, "is repeated"),
        ("a.context.yaml", "".join(f"k{n}: 1\n" for n in range(6000)), "unknown key 'k0'"),
        ("a.context.yaml", "? " * 2000, "must be a text"),
        ("a.context.toml", ".".join(["a"] * 2000) + " = 1", "nested deeper than"),
        ("a.context.toml", "a = " + "[" * 4000, "nested deeper than"),
        ("a.context.toml", "a = " + "[" * 4000 + "]" * 4000, "line of"),
        ("a.context.toml", ("[" + ".".join(["a"] * 2000) + "]\n") * 14, "TOML"),
        ("a.context.toml", "text = '" + "x" * 1_000_000 + "'", "characters"),
        ("a.context.md", "---\n" + "x" * 200_000 + "\n---\n", "characters"),
        ("a.context.md", "-" * 3 + "\n" + "a\n" * 100_000, "never closed"),
        ("AGENTS.md", "x" * 300_000, "300000 characters"),
        (
            "a.context.yaml",
            "injection_rules:\n" + "  - {name: a, inject: [b]}\n" * 200,
            "at most 100",
        ),
    ],
)
def test_hostile_files_are_refused_in_bounded_time(path: str, text: str, expected: str) -> None:
    start = time.process_time()
    mistakes = mistakes_of(path, text)
    assert any(expected in reason for _, reason in mistakes), mistakes[:3]
    assert all(len(reason) < 400 for _, reason in mistakes)
    assert time.process_time() - start < 5


@given(st.text(max_size=300))
def test_any_text_gives_a_context_or_mistakes(text: str) -> None:
    for path in ("a.context.yaml", "a.context.toml", "a.context.md", "AGENTS.md"):
        for whole in (text, f"---\n{text}\n---\n{text}"):
            parsed = parse_context_file(path, whole)
            assert isinstance(parsed, ContextFile) or all(isinstance(x, Mistake) for x in parsed)


# --- the schema --------------------------------------------------------------------------------

FILE = Path(quire.rules.__file__).with_name("context.schema.json")


def test_the_published_schema_is_the_table_that_files_are_checked_against() -> None:
    published = json.loads(FILE.read_text("utf-8"))
    assert published == schema.json_schema(), "run `python docs/make_schema.py`"
    jsonschema.Draft202012Validator.check_schema(published)


WORDS = st.sampled_from(["a", "", " ", "apply", "skip", "x" * 2001, "x == 1"])
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-2000, 2000), WORDS)
KEYS = st.sampled_from(
    [
        "metadata",
        "intent_context",
        "behavior_rules",
        "injection_rules",
        "extends",
        "text",
        "name",
        "type",
        "business_goal",
        "trigger",
        "action",
        "condition",
        "inject",
        "priority",
        "on_error",
        "expr",
        "says",
        "odd",
    ]
)


def tables(depth: int) -> st.SearchStrategy[Any]:
    if not depth:
        return LEAVES
    inner = st.deferred(lambda: tables(depth - 1))
    return st.one_of(LEAVES, st.lists(inner, max_size=2), st.dictionaries(KEYS, inner, max_size=4))


RULES = st.fixed_dictionaries(
    {"name": WORDS, "inject": st.lists(WORDS, max_size=2)},
    optional={"condition": tables(2), "priority": LEAVES, "on_error": WORDS},
)
FILES = st.one_of(
    tables(4),
    st.fixed_dictionaries(
        {},
        optional={
            "metadata": st.dictionaries(st.sampled_from(["name", "type"]), WORDS),
            "injection_rules": st.lists(RULES, max_size=2),
            "behavior_rules": st.lists(
                st.fixed_dictionaries({"trigger": WORDS, "action": WORDS}), max_size=2
            ),
            "text": WORDS,
        },
    ),
)


@given(FILES)
def test_the_schema_and_the_check_agree(data: Any) -> None:
    node = parse_yaml(yaml.safe_dump(data, width=100))
    ours = not any(schema.check(schema.CONTEXT, node))
    theirs = jsonschema.Draft202012Validator(schema.json_schema()).is_valid(data)
    assert ours == theirs
