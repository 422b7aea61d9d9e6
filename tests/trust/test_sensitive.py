"""Every setting is declared safe or sensitive, and what is sensitive needs trust, whatever its value."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire import config, embed, rules
from quire.config import Config, sensitive
from quire.config.settings import SECTIONS
from quire.core.types import settings as declared
from quire.llm import writer
from tests.conftest import trust

TABLE = {
    "": {
        "store": "store_file",
        "space": "store_part",
        "viewer": "store_part",
        "sources": "sources",
        "rules": "safe",
        "access_default": "safe",
        "groups": "safe",
        "root": "derived",
        "file": "derived",
        "server": "derived",
        "own_store": "derived",
        "audit_outside": "derived",
        "arguments": "derived",
        "notes": "derived",
    },
    "ingest": {
        "max_bytes": "safe",
        "secrets": "protection",
        "allow_secrets": "protection",
        "ignore": "safe",
        "whole": "safe",
        "paragraph": "safe",
        "target": "safe",
        "join": "safe",
        "code_max": "safe",
        "use_mtime": "safe",
        "history": "safe",
        "roles": "safe",
        "without": "safe",
    },
    "embed": {
        "provider": "provider",
        "folder": "model_folder",
        "model": "endpoint",
        "url": "address",
        "key_env": "key",
        "query_prefix": "safe",
        "batch": "endpoint",
        "timeout": "endpoint",
        "retries": "endpoint",
        "threads": "safe",
        "device": "safe",
        "keep": "safe",
    },
    "vectors": {"engine": "vectors", "search": "safe", "key_env": "key"},
    "rerank": {"provider": "provider", "model": "endpoint"},
    "plugins": {"disable": "safe"},
    "learn": {"categories": "safe", "domains": "safe", "strategies": "safe"},
    "audit": {
        "file": "output_file",
        "max_bytes": "retention",
        "receipt_bytes": "retention",
    },
    "chat": {
        "url": "address",
        "key_env": "key",
        "recipe": "safe",
        "budget": "safe",
        "timeout": "endpoint",
    },
    "judge": {
        "provider": "provider",
        "threshold": "safe",
        "protocol": "endpoint",
        "url": "address",
        "model": "endpoint",
        "key_env": "key",
        "cache_bytes": "safe",
        "timeout": "safe",
        "retries": "endpoint",
    },
    "writer": {
        "provider": "provider",
        "protocol": "endpoint",
        "url": "address",
        "model": "endpoint",
        "key_env": "key",
        "timeout": "endpoint",
        "retries": "endpoint",
    },
}
"""What was decided for each setting: whoever adds one says here, too, what it can do."""


def test_every_setting_says_whether_it_is_sensitive() -> None:
    found: dict[str, dict[str, Any]] = {"": {}}
    for item in fields(Config):
        if item.name in SECTIONS:
            section = item.default_factory()  # type: ignore[misc]
            found[item.name] = {
                part.name: part.metadata.get(declared.TRUST) for part in fields(section)
            }
        else:
            found[""][item.name] = item.metadata.get(declared.TRUST)
    assert found == TABLE


def test_every_declaration_has_a_meaning() -> None:
    used = {rule for section in TABLE.values() for rule in section.values()}
    assert used - {"derived"} == set(sensitive._RULES)


def test_every_provider_is_local_or_uses_the_network() -> None:
    known = {*embed.PROVIDERS, *rules.PROVIDERS, *writer.PROVIDERS}
    network = sensitive.NETWORK_PROVIDERS | {sensitive.PLUGIN_PROVIDER}
    assert known == sensitive.LOCAL_PROVIDERS | network
    assert not sensitive.LOCAL_PROVIDERS & sensitive.NETWORK_PROVIDERS


# --- whatever is set -----------------------------------------------------------------------------

TEXTS = st.sampled_from(
    [
        "",
        ".",
        "x",
        "/etc/passwd",
        "../x",
        "http://evil/v1",
        "PATH",
        "pgvector",
        "local",
        "http",
        "llm",
        "a\0b",
    ]
) | st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=6)
VALUES = {
    "str": TEXTS,
    "str | None": TEXTS,
    "bool": st.booleans(),
    "int": st.integers(0, 10**9),
    "float": st.floats(0, 1e9),
    "Limit": st.integers(0, 10**9) | st.just("all"),
    "tuple[str, ...]": st.lists(TEXTS, max_size=2),
}


@st.composite
def tables(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    """Draw any settings in any sections."""
    drawn = {}
    for name in draw(st.sets(st.sampled_from(SECTIONS))):
        items = fields(getattr(Config(Path(), Path()), name))
        drawn[name] = {
            item.name: draw(VALUES[str(item.type)])
            for item in draw(st.sets(st.sampled_from(items)))
        }
    return drawn


def written(table: dict[str, dict[str, Any]]) -> str:
    lines = []
    for section, values in table.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sensitive") / "project"
    folder.mkdir()
    return folder


@given(table=tables())
def test_without_trust_nothing_reaches_outside(
    project: Path, table: dict[str, dict[str, Any]]
) -> None:
    home = {"HOME": str(project.parent)}
    (project / "quire.toml").write_text(written(table), "utf-8")
    settings = config.load(project, environment=home)
    own = Config(project, project / ".quire" / "store.db")
    ignored = []
    for section, values in table.items():
        for key, value in values.items():
            rule = TABLE[section][key]
            took = getattr(getattr(settings, section), key)
            default = getattr(getattr(own, section), key)
            if rule == "safe":
                assert took == (tuple(value) if isinstance(value, list) else took)
            elif rule == "provider":
                assert took == ("none" if value in {"http", "llm"} else value)
            elif rule == "protection":
                assert took == default
            elif rule == "vectors":
                assert took == (value if value == "pgvector" else default)
            elif rule == "output_file":
                place = os.path.normpath(project / value.replace("\0", ""))
                inside = Path(place).is_relative_to(project)
                assert took == (value if inside else default)
            else:
                assert took == default
                ignored.append(f"{key}")
    (note,) = settings.notes or ("",)
    assert all(key in note for key in ignored)
    assert not settings.audit_outside


@given(table=tables())
def test_with_trust_everything_counts(project: Path, table: dict[str, dict[str, Any]]) -> None:
    home = {"HOME": str(project.parent)}
    (project / "quire.toml").write_text(written(table), "utf-8")
    trust(project, home)
    settings = config.load(project, environment=home)
    assert settings.notes == ()
    for section, values in table.items():
        for key, value in values.items():
            if (section, key) != ("embed", "folder") and isinstance(value, str) and value != "all":
                assert getattr(getattr(settings, section), key) == value
