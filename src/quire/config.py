"""What has been set, and where?

Each setting is looked up on the command line, in `QUIRE_*` variables, in the project's
`quire.toml`, in the user's own file, and last in the defaults of its type. A setting that does
not exist, or has a value of the wrong type, is refused by name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from quire import platform
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

FILE = "quire.toml"
MARKS = (FILE, ".quire", ".git")
"""A directory that holds one of these is a project's root."""
SECTIONS = ("ingest", "embed", "learn", "judge", "writer", "audit")
DEFAULT_STORE = Path(".quire") / "store.db"

TEMPLATE = """\
# Settings of Quire for this project. Everything is optional; what is commented out is the default,
# or an example.

# store = ".quire/store.db"

[ingest]
# max_bytes = 16777216      # larger files are skipped and listed
# secrets = false           # files that look like secrets are skipped and listed
# ignore = ["*.lock"]       # more patterns to leave out, as in .gitignore
# history = 1000            # so many of git's newest commits are kept; "all"; 0: none

[embed]
# provider = "local"        # "http": an OpenAI-compatible endpoint; "none": words only
# url = "http://localhost:8080/v1"
# model = "my-model"

[audit]
# file = ".quire/audit.jsonl"   # a line for each context that is given: when, to whom, which pieces

[learn]
# categories = ["habit"]    # of memories, beside fact, preference, decision and error
# domains = ["firmware"]    # of experiences, beside the shipped ones
# strategies = ["pairing"]

[judge]
# provider = "semantic"     # judges sentences of context files; "llm", "mcp" (the client), "none"
# threshold = 0.043         # semantic: higher is stricter
# url = "https://host/v1"   # llm: with `protocol` "openai" or "anthropic", `model`, `key_env`

[writer]
# provider = "llm"          # a language model writes summaries (`cut = "summarize"`), words values
# url = "https://host/v1"   # with `protocol` "openai" or "anthropic", `model`, `key_env`

[access]
# default = "public"        # who may read what no rule matches; "owner": nobody else
# "hr/**" = ["alice", "@hr"]

[groups]
# hr = ["bob", "carol"]
"""
"""What a new quire.toml says."""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings in force."""

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
    """The project's quire.toml, if there is one."""
    own_store: bool = True
    """Whether the store is the project's own, rather than named by the caller."""


def load(
    start: Path | None = None,
    *,
    store: Path | None = None,
    space: str | None = None,
    viewer: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Read all settings that hold in a directory."""
    env = os.environ if environment is None else environment
    start = (start or Path.cwd()).resolve()
    root = project_root(start if start.is_dir() else start.parent)
    file = root / FILE
    layers = [
        (path, toml.read(path))
        for path in (_user_file(env), file)
        if path is not None and path.is_file()
    ]
    config = Config(root=root, store=root / DEFAULT_STORE, file=file if file.is_file() else None)
    for path, table in layers:
        config = _apply(config, path, table)
    config = _apply_environment(config, env)
    return replace(
        config,
        store=config.store if store is None else store.absolute(),
        own_store=config.own_store and store is None,
        space=space or config.space,
        viewer=viewer if viewer is not None else config.viewer,
    )


def project_root(start: Path) -> Path:
    """Find the nearest directory above that is marked as a project; else it is `start`."""
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in MARKS):
            return folder
    return start


def _user_file(env: Mapping[str, str]) -> Path | None:
    if env.get("QUIRE_CONFIG"):
        named = Path(env["QUIRE_CONFIG"])
        if not named.is_file():
            raise ConfigError(f"{named} does not exist", value=str(named), place="QUIRE_CONFIG")
        return named
    folder = platform.user_config_folder(env)
    return folder / "quire" / "config.toml" if folder else None


def _apply(config: Config, path: Path, table: Mapping[str, Any]) -> Config:
    known = ("store", "space", "viewer", *SECTIONS, "access", "groups")
    for key in table:
        if key not in known:
            toml.refused(str(path), key, known)
    changes: dict[str, Any] = {}
    if "store" in table:
        changes["store"] = path.parent / toml.text(f"{path}: store", table["store"])
    for key in ("space", "viewer"):
        if key in table:
            changes[key] = toml.text(f"{path}: {key}", table[key])
    for key in SECTIONS:
        if key in table:
            changes[key] = toml.filled(f"{path}: [{key}]", getattr(config, key), table[key])
    if "access" in table:
        changes |= _access(path, table["access"])
    if "groups" in table:
        groups = toml.mapping(f"{path}: [groups]", table["groups"])
        changes["groups"] = {
            name: toml.listed(f"{path}: [groups] {name}", users) for name, users in groups.items()
        }
    return replace(config, **changes)


def _access(path: Path, table: Any) -> dict[str, Any]:
    rules: list[AccessRule] = []
    changes: dict[str, Any] = {}
    for glob, principals in toml.mapping(f"{path}: [access]", table).items():
        named = toml.listed(f"{path}: [access] {glob!r}", principals)
        if glob == "default":
            changes["access_default"] = named
        else:
            rules.append(AccessRule(glob, named))
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
        found = {
            item.name: _from_text(variable, str(item.type), env[variable])
            for item in fields(settings)
            if (variable := f"QUIRE_{section.upper()}_{item.name.upper()}") in env
        }
        if found:
            changes[section] = replace(settings, **found)
    return replace(config, **changes)


def _from_text(variable: str, kind: str, given: str) -> Any:
    value: Any = given
    if kind == "tuple[str, ...]":
        value = [part.strip() for part in given.split(",") if part.strip()]
    elif kind == "bool":
        value = {"1": True, "true": True, "0": False, "false": False}.get(given.lower(), given)
    elif kind in {"int", "float", "Limit"}:
        try:
            value = float(given) if kind == "float" else int(given)
        except ValueError:
            value = given
    return toml.checked(variable, kind, value)
