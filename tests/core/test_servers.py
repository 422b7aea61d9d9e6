"""Names of servers, and that nothing shows their passwords."""

from __future__ import annotations

import pytest

from quire import config
from quire.core import servers
from quire.errors import ConfigError

PASSWORD = "hunter2hunter2"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"s3://key:{PASSWORD}@host/a@b: refused", "s3://key@host/a@b: refused"),
        (f"s3://key:4@{PASSWORD}@host/a", "s3://key@host/a"),
        (f"s3://key:#{PASSWORD}?@host/a", "s3://key@host/a"),
        ("https://host:8443/a", "https://host:8443/a"),
    ],
)
def test_a_text_without_passwords(text: str, shown: str) -> None:
    assert servers.without_passwords(text) == shown


@pytest.mark.parametrize(
    "text",
    [f"host=db password={PASSWORD}", f" user = me  dbname=q password={PASSWORD}"],
)
def test_a_connection_string_of_the_other_form_is_no_file(text: str) -> None:
    with pytest.raises(ConfigError, match="postgresql://USER@HOST") as refused:
        config.parse_store(text)
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize("text", ["user=5/store.db", "host=a b", "a=1 b=2.db", "store.db"])
def test_a_path_is_a_file(text: str) -> None:
    assert servers.unknown_scheme(text) == ""
