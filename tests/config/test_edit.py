"""Settings are changed in the text of a quire.toml, and everything else of it stays."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.config import TEMPLATE
from quire.config.edit import set_keys
from quire.errors import ConfigError

VALUES = {"provider": "local", "folder": None}


def test_a_section_that_is_missing_is_added() -> None:
    assert set_keys("", "embed", VALUES) == '[embed]\nprovider = "local"\n'
    assert set_keys("a = 1", "embed", VALUES) == 'a = 1\n\n[embed]\nprovider = "local"\n'


def test_comments_and_other_settings_stay() -> None:
    before, after = "# mine\n[embed] # here\n", "threads = 2\n\n[learn]\nfolder = 1\n"
    text = f'{before}folder = "x" # old\n# provider = "none"\n{after}'
    changed = set_keys(text, "embed", VALUES)
    assert changed == f'{before}provider = "local"\n# provider = "none"\n{after}'


def test_the_template_takes_them() -> None:
    changed = set_keys(TEMPLATE, "embed", VALUES)
    assert tomllib.loads(changed)["embed"] == {"provider": "local"}
    assert changed.replace('provider = "local"\n', "", 1) == TEMPLATE


@pytest.mark.parametrize(
    "text",
    [
        'embed.provider = "none"\n',
        'embed = { provider = "none" }\n',
        '["embed"]\nprovider = "none"\n',
        '[embed]\nquery_prefix = """\nprovider = 1\n"""\n',
    ],
)
def test_what_cannot_be_changed_by_line_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"write it by hand.*provider"):
        set_keys(text, "embed", VALUES)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_any_value_comes_back(value: str, again: bool) -> None:
    changed = set_keys(TEMPLATE, "embed", {"folder": value})
    assert tomllib.loads(changed)["embed"]["folder"] == value
    if again:
        assert tomllib.loads(set_keys(changed, "embed", {"folder": None}))["embed"] == {}
