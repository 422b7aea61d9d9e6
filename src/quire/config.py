"""Settings of a project: where they come from, and which one wins.

A setting on the command line wins over a `QUIRE_*` variable, that over the project's `quire.toml`,
that over the user's own file, and that over the default. An unknown setting, or a value of the
wrong type, is an error that names the file, the key and what was expected.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from quire.core import toml
from quire.core.types import (
    MAIN,
    PUBLIC,
    AccessRule,
    AuditSettings,
    EmbedSettings,
    IngestSettings,
    JudgeSettings,
    LearnSettings,
    WriterSettings,
)
from quire.errors import ConfigError
from quire.system import platform

FILE = "quire.toml"
ROOT_MARKERS = (FILE, ".quire", ".git")
"""A directory that contains one of these is the root of a project."""
SECTIONS = ("ingest", "embed", "learn", "judge", "writer", "audit")
DEFAULT_STORE = Path(".quire") / "store.db"

TEMPLATE = """\
# Settings of Quire for this project. All are optional; a commented line shows the default or an
# example.

# store = ".quire/store.db"

[ingest]
# max_bytes = 16777216      # larger files are skipped and listed
# secrets = false           # files that look like secrets are skipped and listed
# ignore = ["*.lock"]       # more patterns to ignore, as in .gitignore
# history = 1000            # newest git commits to index; "all"; 0: none

[embed]
# provider = "local"        # "http": an OpenAI-compatible endpoint; "none": lexical search only
# url = "http://localhost:8080/v1"
# model = "my-model"

[audit]
# file = ".quire/audit.jsonl"   # one line per assembled context: when, for whom, which chunks

[learn]
# categories = ["habit"]    # more categories of memories than fact, preference, decision, error
# domains = ["firmware"]    # more domains of experiences than the built-in ones
# strategies = ["pairing"]

[judge]
# provider = "semantic"     # judges sentences of context files; "llm", "mcp" (the client), "none"
# threshold = 0.043         # semantic: higher is stricter
# url = "https://host/v1"   # llm: with `protocol` "openai" or "anthropic", `model`, `key_env`

[writer]
# provider = "llm"          # a language model writes summaries (`cut = "summarize"`) and principles
# url = "https://host/v1"   # with `protocol` "openai" or "anthropic", `model`, `key_env`

[access]
# default = "public"        # who may read files that no rule matches; "owner": only the owner
# "hr/**" = ["alice", "@hr"]

[groups]
# hr = ["bob", "carol"]
"""
"""The content of a new quire.toml."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of a project."""

    root: Path
    """The project's directory: paths in the store are relative to it."""
    store: Path
    space: str = MAIN
    viewer: str | None = None
    ingest: IngestSettings = field(default_factory=IngestSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    learn: LearnSettings = field(default_factory=LearnSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    writer: WriterSettings = field(default_factory=WriterSettings)
    rules: tuple[AccessRule, ...] = ()
    access_default: tuple[str, ...] = (PUBLIC,)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file: Path | None = None
    """The project's quire.toml, if it has one."""
    own_store: bool = True
    """Whether the store is the project's own, rather than one that the caller named."""


def load(
    start: Path | None = None,
    *,
    store: Path | None = None,
    space: str | None = None,
    viewer: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Load the settings that apply in a directory."""
    env = os.environ if environment is None else environment
    start = (start or Path.cwd()).resolve()
    root = project_root(start if start.is_dir() else start.parent)
    file = root / FILE
    layers = [
        (path, toml.read_file(path))
        for path in (_user_file(env), file)
        if path is not None and path.is_file()
    ]
    config = Config(root=root, store=root / DEFAULT_STORE, file=file if file.is_file() else None)
    for path, table in layers:
        config = _apply_table(config, path, table)
    config = _apply_environment(config, env)
    return replace(
        config,
        store=config.store if store is None else store.absolute(),
        own_store=config.own_store and store is None,
        space=space or config.space,
        viewer=viewer if viewer is not None else config.viewer,
    )


def project_root(start: Path) -> Path:
    """Return the nearest directory at or above `start` with a root marker, else `start`."""
    for folder in (start, *start.parents):
        if any((folder / marker).exists() for marker in ROOT_MARKERS):
            return folder
    return start


def _user_file(env: Mapping[str, str]) -> Path | None:
    if env.get("QUIRE_CONFIG"):
        path = Path(env["QUIRE_CONFIG"])
        if not path.is_file():
            raise ConfigError(f"{path} does not exist", value=str(path), place="QUIRE_CONFIG")
        return path
    folder = platform.user_config_folder(env)
    return folder / "quire" / "config.toml" if folder else None


def _apply_table(config: Config, path: Path, table: Mapping[str, Any]) -> Config:
    known = ("store", "space", "viewer", *SECTIONS, "access", "groups")
    for key in table:
        if key not in known:
            toml.reject_key(str(path), key, known)
    changes: dict[str, Any] = {}
    if "store" in table:
        changes["store"] = path.parent / toml.read_text(f"{path}: store", table["store"])
    for key in ("space", "viewer"):
        if key in table:
            changes[key] = toml.read_text(f"{path}: {key}", table[key])
    for key in SECTIONS:
        if key in table:
            changes[key] = toml.fill(f"{path}: [{key}]", getattr(config, key), table[key])
    if "access" in table:
        changes |= _read_access(path, table["access"])
    if "groups" in table:
        groups = toml.read_table(f"{path}: [groups]", table["groups"])
        changes["groups"] = {
            name: toml.read_names(f"{path}: [groups] {name}", users)
            for name, users in groups.items()
        }
    return replace(config, **changes)


def _read_access(path: Path, table: Any) -> dict[str, Any]:
    rules: list[AccessRule] = []
    changes: dict[str, Any] = {}
    for glob, principals in toml.read_table(f"{path}: [access]", table).items():
        readers = toml.read_names(f"{path}: [access] {glob!r}", principals)
        if glob == "default":
            changes["access_default"] = readers
        else:
            rules.append(AccessRule(glob, readers))
    return {**changes, "rules": tuple(rules)}


def _apply_environment(config: Config, env: Mapping[str, str]) -> Config:
    changes: dict[str, Any] = {}
    if env.get("QUIRE_STORE"):
        changes |= {"store": Path(env["QUIRE_STORE"]).absolute(), "own_store": False}
    for key in ("space", "viewer"):
        if env.get(f"QUIRE_{key.upper()}"):
            changes[key] = env[f"QUIRE_{key.upper()}"]
    for section in SECTIONS:
        settings = getattr(config, section)
        values = {
            item.name: _parse_variable(variable, str(item.type), env[variable])
            for item in fields(settings)
            if (variable := f"QUIRE_{section.upper()}_{item.name.upper()}") in env
        }
        if values:
            changes[section] = replace(settings, **values)
    return replace(config, **changes)


def _parse_variable(variable: str, kind: str, text: str) -> Any:
    value: Any = text
    if kind == "tuple[str, ...]":
        value = [part.strip() for part in text.split(",") if part.strip()]
    elif kind == "bool":
        value = {"1": True, "true": True, "0": False, "false": False}.get(text.lower(), text)
    elif kind in {"int", "float", "Limit"}:
        try:
            value = float(text) if kind == "float" else int(text)
        except ValueError:
            value = text
    return toml.check_value(variable, kind, value)
