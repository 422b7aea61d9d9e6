"""Settings that somebody else wrote are parsed in time that grows with their length."""

from __future__ import annotations

import time
import tomllib
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core import toml
from quire.errors import ConfigError

LONG = 40_000


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * LONG + " = 1",
        "a" + " . a" * LONG + " = 1",
        '"a"' + '."a"' * LONG + " = 1",
        "'a'" + ".'a'" * LONG + " = 1",
        "[a" + ".a" * LONG + "]",
        "[[a" + ".a" * LONG + "]]",
        "x = {a" + ".a" * LONG + " = 1}",
        '# """\na' + ".a" * LONG + " = 1",
        "# '''\na" + ".a" * LONG + " = 1",
        'x = "\\""\na' + ".a" * LONG + " = 1",
    ],
)
def test_a_key_of_very_many_parts_is_refused_at_once(text: str) -> None:
    start = time.process_time()
    with pytest.raises(ConfigError, match="a key has more than 32 parts"):
        toml.parse(text.encode(), "quire.toml")
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "text",
    [
        part * LONG
        for part in ('"', "'", '\\"', '"\\', "a='", '"""', "#", "[", "{", "a={", ".", "1.5,")
    ],
)
def test_nothing_takes_longer_than_its_length(text: str) -> None:
    start = time.process_time()
    with pytest.raises(ConfigError) if text[0] != "#" else nullcontext():
        toml.parse(text.encode(), "quire.toml")
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "text",
    [
        f'x = "{"a." * 100}"',
        f"x = '{'a.' * 100}'",
        f'x = """\n{"a." * 100}"""',
        f"# {'.' * 100}",
        f"x = [{'1.5, ' * 100}]",
        "a.b.c.d.e.f.g = 1",
        'x = "#"\ny = 1 # "',
    ],
)
def test_dots_elsewhere_do_no_harm(text: str) -> None:
    assert toml.parse(text.encode(), "quire.toml") == tomllib.loads(text)


@given(st.text(st.sampled_from(list("ab.\"'#\\\n=[]{}, 1")), max_size=40))
def test_what_is_read_is_what_the_parser_reads(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(ConfigError):
            toml.parse(text.encode(), "x")
    else:
        assert toml.parse(text.encode(), "x") == expected
