"""The shortcuts for globs over whole paths change no result."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core.globs import Globs, is_glob, literal_prefix

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
