"""Which statements name the space of every table, as a cluster needs it to find their rows."""

from __future__ import annotations

import re

import pytest

from quire.store.postgres import database, schema

SPREAD = {*schema.POLICIES, *schema.WITHOUT_CONTENT} - schema.WITHOUT_SPACE.keys()
_TABLE = re.compile(rf"\b(?:FROM|JOIN|UPDATE|INTO) ({'|'.join(sorted(SPREAD))})\b(?: ([a-z])\b)?")


def tables_without_space(sql: str) -> list[str]:
    """Return the tables in a statement whose space it does not name."""
    return [
        table
        for table, alias in _TABLE.findall(sql)
        if not re.search(_named(alias or table), sql)
        and (alias or not re.search(rf"(?<!\.)\bspace = |INTO {table} \([^)]*\bspace\b", sql))
    ]


def _named(table: str) -> str:
    return rf"\b{table}\.space = |= {table}\.space\b"


def refuse_those_without_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a statement fail that does not name the space of each table."""
    translate = database.to_postgres

    def check(sql: str) -> bytes:
        translated = translate(sql)
        missing = tables_without_space(translated.decode())
        assert not missing, f"no space of {missing}: {translated.decode()}"
        return translated

    monkeypatch.setattr(database, "to_postgres", check)
