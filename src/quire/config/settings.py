"""The settings of a project as values, and the content of a new quire.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

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
from quire.core.types.settings import DERIVED, SAFE, STORE_FILE, STORE_PART

FILE = "quire.toml"
ROOT_MARKERS = (FILE, ".quire", ".git")
"""A directory that contains one of these is the root of a project."""
SECTIONS = ("ingest", "embed", "learn", "judge", "writer", "audit")
DEFAULT_STORE = Path(".quire") / "store.db"

TEMPLATE = """\
# Settings of Quire for this project. All are optional; a commented line shows the default or an
# example. What reaches outside the project counts only after `quire trust`.

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
# file = ".quire/audit.jsonl"   # one line for all text handed out: when, to whom, which chunks

[learn]
# categories = ["habit"]    # more categories of memories than fact, preference, decision, error
# domains = ["firmware"]    # more domains of experiences than the built-in ones
# strategies = ["pairing"]

[judge]
# provider = "semantic"     # judges sentences of context files; "llm", "mcp" (the client), "none"
# threshold = 0.109         # semantic: higher is stricter
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

    root: Path = field(metadata=DERIVED)
    """The project's directory: paths in the store are relative to it."""
    store: Path = field(metadata=STORE_FILE)
    space: str = field(default=MAIN, metadata=STORE_PART)
    viewer: str | None = field(default=None, metadata=STORE_PART)
    ingest: IngestSettings = field(default_factory=IngestSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    learn: LearnSettings = field(default_factory=LearnSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    writer: WriterSettings = field(default_factory=WriterSettings)
    rules: tuple[AccessRule, ...] = field(default=(), metadata=SAFE)
    access_default: tuple[str, ...] = field(default=(PUBLIC,), metadata=SAFE)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict, metadata=SAFE)
    file: Path | None = field(default=None, metadata=DERIVED)
    """The project's quire.toml, if it has one."""
    own_store: bool = field(default=True, metadata=DERIVED)
    """Whether the store is the project's own, rather than one that the caller named."""
    audit_outside: bool = field(default=False, metadata=DERIVED)
    """Whether `audit.file` may lie outside the project."""
    notes: tuple[str, ...] = field(default=(), metadata=DERIVED)
    """What the user should know of these settings: those that are ignored, and why."""
