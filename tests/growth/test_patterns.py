"""No regular expression of the package takes more than linear time, whatever it is given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from quire.core import globs
from quire.ingest import languages, token_formats
from quire.integrations.hooks import failures
from quire.memory import postmortems
from quire.rendering import escape
from tests.growth.patterns import Use, collect_calls, collect_uses, find_slow

BOUNDED: Mapping[str, str] = {
    # pattern: why the length of what it reads is bounded
    "quire.ingest.grammar.references.CONDITIONAL_CAPTURES": "31 characters before a name",
    "quire.ingest.prose_splitter.LAST_WORD": "12 characters before a stop",
    "quire.ingest.secrets.SERVICE_NAME": "48 characters before a value",
    "quire.retrieval.linked._SENTENCE_START": "4 characters before a name",
    "quire.rules.expressions._PART": "a key of at most 2,000 characters, each quote in it closed",
    "quire.ingest.languages.FAMILIES.definition": "the first 400 characters of a line",
}

HOSTILE_GLOBS = (
    ["*a*a*a*a*a*a*a*b"],
    ["/" + "**/a/" * 12 + "b"],
    ["/x/**/*a*/**/*a*b", "!**/[a-z]*a*a*", "*?*?*?*?b"],
    ["**/*", "/a/**", "**/a/**/b", "a**b**c"],
)


def made_patterns() -> Mapping[tuple[str, str], Iterable[re.Pattern[Any]]]:
    """Return the patterns that functions compile, by the table and the way they are applied."""
    families = [languages.get_family(name) for name in languages.FAMILIES]
    rules = [globs.compile_rules(glob.encode() for glob in group) for group in HOSTILE_GLOBS]
    matchers = [matcher for rule in rules if rule for matcher in (rule.files, rule.folders)]
    closures = (escape._escape_sources, escape._escape_template, escape._escape_labels)
    frames = [
        cell.cell_contents
        for function in closures
        for cell in function.__closure__ or ()
        if isinstance(cell.cell_contents, re.Pattern)
    ]
    return {
        ("quire.rendering.escape._frames", "search"): frames,
        ("quire.ingest.languages.FAMILIES.definition", "match"): [
            item.definition for item in families
        ],
        ("quire.ingest.languages.FAMILIES.mask", "search"): [
            item.mask for item in families if item.mask
        ],
        ("quire.ingest.languages.FAMILIES.neutral", "match"): [item.neutral for item in families],
        ("quire.ingest.token_formats.TOKENS", "search"): [
            re.compile(pattern) for _, _, pattern in token_formats.TOKENS
        ],
        ("quire.integrations.hooks.failures.TOOLS.failure", "lines"): [
            re.compile(tool.failure, re.MULTILINE) for tool in failures.TOOLS
        ],
        ("quire.integrations.hooks.failures.TOOLS.arguments", "match"): [
            re.compile(tool.arguments) for tool in failures.TOOLS
        ],
        ("quire.integrations.hooks.failures.DOMAINS", "search"): [
            re.compile(rf"(?i)(?<!\w)(?:{words})(?!\w)") for words in failures.DOMAINS.values()
        ],
        ("quire.memory.postmortems.DOMAIN_WORDS", "search"): [
            re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for _, words in postmortems.DOMAIN_WORDS
        ],
        ("quire.rendering.code_item.names", "search"): [re.compile(r"(?<!\w)aaaa(?!\w)")],
        ("quire.core.globs.names", "fullmatch"): [
            each for item in matchers for each in item.names.expressions
        ],
        ("quire.core.globs.paths", "fullmatch"): [
            each for item in matchers for each in item.paths.expressions
        ],
    }


COMPILED_AT_RUN_TIME = {
    # Calls whose pattern is not written in them; `made_patterns` has their patterns.
    "quire.core.globs:_compile",
    "quire.core.globs:_class_codes",
    "quire.core.globs:_shortcut",
    "quire.ingest.languages:get_family",
    "quire.ingest.secrets:_find_tokens",
    "quire.integrations.hooks.failures:failed_tool",
    "quire.integrations.hooks.failures:find_tools",
    "quire.integrations.hooks.failures:guess_domain",
    "quire.memory.postmortems:_count_words",
    "quire.rendering.code_item:code_kind",
    "quire.rendering.escape:_frames",
}

USES = collect_uses(made_patterns())


def test_every_pattern_is_known() -> None:
    unknown = {call.place for call in collect_calls() if call.pattern is None and not call.assigned}
    assert unknown == COMPILED_AT_RUN_TIME
    assert len(USES) > 150


def test_each_exception_is_still_one() -> None:
    assert all(any(use.place.startswith(place) for use in USES) for place in BOUNDED)


@pytest.mark.parametrize("use", USES, ids=lambda use: use.place)
def test_it_takes_linear_time(use: Use) -> None:
    if not use.place.startswith(tuple(BOUNDED)):
        assert find_slow(use) == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(?:a|aa)+$",
        r"\A\s*(?:<!--.*?-->\s*)+\Z",
        r"(?:\s|(?:Version|Comment):[^\n]{0,200}){1,200}A{64}",
        r"\s+$",
        r"[ \t]*([^=#\[\]{}]+?)[ \t]*=",
        r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*>",
        r"(`+)(?!`).*?(?<!`)\1(?!`)",
        r"\s*\((https?://[^()\s]+|[^()]*?\.md)\)",
        r"\[[^\]]*\]\(",
        r"/\*.*?\*/",
        r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*",
        r"^#{1,6}[ \t]+([^\n]*?)(?:[ \t]+#+)?[ \t]*$",
        r"[^.!?\n]*(?:[.!?]+[\"')\]]*(?=\s|$)|\n|$)\s*",
        r"(\d+),(\d+),(\d+)x|\w+;",
        r"^(?:[a-zA-Z0-9._-]+)*@",
    ],
)
def test_a_pattern_known_to_be_slow_is_found(pattern: str) -> None:
    flags = re.DOTALL if "<!--" in pattern or "`" in pattern or r"/\*" in pattern else 0
    use = Use("control", re.compile(pattern, flags), frozenset({"match", "fullmatch", "search"}))
    assert find_slow(use)


@pytest.mark.parametrize("pattern", [r"\w+", r"(?<!a)a*+b", r"<[^<>]*+>", r"(?<!\s)\s++\Z"])
def test_a_linear_pattern_passes(pattern: str) -> None:
    assert not find_slow(Use("control", re.compile(pattern), frozenset({"match", "search"})))
