"""Are the short cuts of patterns over whole paths no more than that?"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quire.core.globs import Globs, beginning, is_glob

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
def test_one_expression_for_all_means_what_each_means(globs: list[str], paths: list[str]) -> None:
    short, long = Globs(globs), Globs(globs)
    long._plain = None
    for path in paths:
        assert short.match(path) == long.match(path), (globs, path)


@settings(max_examples=400)
@given(GLOBS, st.lists(PATHS, min_size=1, max_size=20))
def test_what_is_meant_begins_as_the_pattern_does(glob: str, paths: list[str]) -> None:
    for path in paths:
        if Globs([glob]).match(path):
            assert path.startswith(beginning(glob)), (glob, path)


def test_a_plain_beginning_is_found() -> None:
    assert beginning(".quire/experience/data/*/falsified/*") == ".quire/experience/data"
    assert beginning("/src/a.py") == "src/a.py"
    assert [beginning(glob) for glob in ("*.py", "!src/a", "name", "folder/")] == [""] * 4
