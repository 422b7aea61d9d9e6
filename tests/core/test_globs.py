"""The shortcuts for globs over whole paths change no result."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core.globs import MAX_GROUPS, Globs, compile_rules, is_glob, literal_prefix, parse_rules

PARTS = st.sampled_from(["a", "b", "ab", "*", "a*", "*b", "**", "?", "[ab]", "a b", "\\*", "a*b*"])
GLOBS = st.builds(
    lambda first, parts, last: first + "/".join(parts) + last,
    st.sampled_from(["", "", "/", "!"]),
    st.lists(PARTS, min_size=1, max_size=5),
    st.sampled_from(["", "", "/", " "]),
).filter(is_glob)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "a b", "aab", "*", "abab"]), min_size=1).map(
    "/".join
)


@settings(max_examples=400)
@given(st.lists(GLOBS, min_size=1, max_size=3), st.lists(PATHS, min_size=1, max_size=20))
def test_the_shortcut_matches_what_the_patterns_match(globs: list[str], paths: list[str]) -> None:
    short, long = Globs(globs), Globs(globs)
    long._shortcut = None
    for path in paths:
        assert short.match(path) == long.match(path), (globs, path)


@settings(max_examples=400)
@given(GLOBS, st.lists(PATHS, min_size=1, max_size=20))
def test_matching_paths_begin_with_the_literal_prefix(glob: str, paths: list[str]) -> None:
    for path in paths:
        if Globs([glob]).match(path):
            assert path.startswith(literal_prefix(glob)), (glob, path)


def test_the_literal_prefix_is_found() -> None:
    assert literal_prefix(".quire/experience/data/*/falsified/*") == ".quire/experience/data"
    assert literal_prefix("/src/a.py") == "src/a.py"
    assert [literal_prefix(glob) for glob in ("*.py", "!src/a", "name", "folder/")] == [""] * 4


@settings(max_examples=400)
@given(st.lists(GLOBS, min_size=1, max_size=3 * MAX_GROUPS), PATHS, st.booleans())
def test_of_many_patterns_the_last_that_matches_decides(
    globs: list[str], path: str, folder: bool
) -> None:
    name, whole = path.rpartition("/")[2].encode(), path.encode()
    verdicts = [
        rules.decide(name, whole, folder=folder)
        for glob in globs
        if (rules := compile_rules([glob.encode()]))
    ]
    rules = compile_rules(glob.encode() for glob in globs)
    decided = None if rules is None else rules.decide(name, whole, folder=folder)
    assert decided == next((each for each in reversed(verdicts) if each is not None), None)


def test_an_ignore_file_of_very_many_patterns_takes_time_by_their_number_alone() -> None:
    """An expression of many groups takes the square of their number, for each file of a walk."""
    lines = [start + b"%d" % at + end for at in range(999) for start, end in AFFIXES]
    rules = parse_rules(b"\n".join(lines))
    assert rules is not None
    for patterns in (rules.files.names, rules.files.paths):
        assert patterns.expressions
        assert max(each.groups for each in patterns.expressions) <= MAX_GROUPS
        assert sum(each.groups for each in patterns.expressions) <= 999, "plain names are looked up"
    assert rules.decide(b"b7", b"a/b7", folder=False)
    assert rules.decide(b"no7", b"no7", folder=False) is None


AFFIXES = ((b"b", b""), (b"/x/b", b""), (b"*c", b""), (b"/x/c", b"*"))


def test_an_ignore_file_of_sets_becomes_no_larger_expression() -> None:
    """With each byte of a set by itself, a file of four megabytes took twenty gigabytes."""
    data = b"\n".join([b"[!a]" * 999, b"[[:alnum:]_]" * 333, b"/a/[^x-z]" * 333])
    rules = parse_rules(data)
    assert rules is not None
    written = sum(
        len(each.pattern)
        for patterns in (rules.files.names, rules.files.paths)
        for each in patterns.expressions
    )
    assert written <= 10 * len(data)
    assert rules.decide(b"b" * 999, b"b" * 999, folder=False)
    assert rules.decide(b"b" * 998 + b"a", b"b" * 998 + b"a", folder=False) is None
