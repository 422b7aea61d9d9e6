"""The settings of a project as values, and the content of a new quire.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quire.core import hashing, servers
from quire.core.types import (
    MAIN,
    PUBLIC,
    AccessRule,
    AuditSettings,
    ChatSettings,
    EmbedSettings,
    IngestSettings,
    JudgeSettings,
    LearnSettings,
    PluginSettings,
    RerankSettings,
    SourceSettings,
    VectorSettings,
    WriterSettings,
)
from quire.core.types.settings import DERIVED, SAFE, SOURCES, STORE_FILE, STORE_PART

FILE = "quire.toml"
ROOT_MARKERS = (FILE, ".quire", ".git")
"""A directory that contains one of these is the root of a project."""
SECTIONS = (
    "ingest",
    "embed",
    "rerank",
    "learn",
    "judge",
    "writer",
    "audit",
    "chat",
    "plugins",
    "vectors",
)
DEFAULT_STORE = Path(".quire") / "store.db"

TEMPLATE = """\
# Settings of Quire for this project. All are optional; a commented line shows the default or an
# example. What reaches outside the project counts only after `quire trust`.

# store = ".quire/store.db"  # or "postgresql://USER@HOST/DATABASE"

[ingest]
# max_bytes = 16777216      # larger files are skipped and listed
# secrets = false           # skip files of secrets, take secrets out of texts
# allow_secrets = []        # where not: globs of files, or "fingerprint:…" of one secret
# ignore = ["*.lock"]       # more patterns to ignore, as in .gitignore
# history = 1000            # newest git commits to index; "all"; 0: none

[embed]
# provider = "local"        # "http": an OpenAI-compatible endpoint; "none": lexical search only
# url = "http://localhost:8080/v1"
# model = "my-model"
# keep = 50000              # vectors of texts that are gone, in case they come back; "all"

[audit]
# file = ".quire/audit.jsonl"   # one line for all text handed out: when, to whom, which chunks
# max_bytes = 268435456     # the size of the log; "all"
# receipt_bytes = 268435456 # the size of the receipts that `quire serve` keeps; "all"

[learn]
# categories = ["habit"]    # more categories of memories than fact, preference, decision, error
# domains = ["firmware"]    # more domains of experiences than the built-in ones
# strategies = ["pairing"]

[judge]
# provider = "semantic"     # judges sentences of context files; "llm", "mcp" (the client), "none"
# threshold = 0.104         # semantic: higher is stricter
# url = "https://host/v1"   # llm: with `protocol` "openai" or "anthropic", `model`, `key_env`

[writer]
# provider = "llm"          # a language model writes summaries (`cut = "summarize"`) and principles
# url = "https://host/v1"   # with `protocol` "openai" or "anthropic", `model`, `key_env`

[chat]
# url = "https://host/v1"   # where `quire serve` passes chats on to; with `key_env`
# budget = 4000             # the most tokens that a context adds to a chat; with `recipe`

[vectors]
# engine = "qdrant://localhost:6333"   # candidates from Qdrant; "pgvector" in a PostgreSQL store
# search = "exact"          # "hnsw": by a graph, approximate

[rerank]
# provider = "plugin"       # an installed reranker, by the name of its entry point:
# model = "my-reranker"

[plugins]
# disable = ["name"]        # plug-ins of installed packages that are not used

[sources]
# notes = { type = "folder", location = "notes" }   # documents that `quire sync` keeps up to date

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
    vectors: VectorSettings = field(default_factory=VectorSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    plugins: PluginSettings = field(default_factory=PluginSettings)
    learn: LearnSettings = field(default_factory=LearnSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    writer: WriterSettings = field(default_factory=WriterSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    sources: Mapping[str, SourceSettings] = field(default_factory=dict, metadata=SOURCES)
    rules: tuple[AccessRule, ...] = field(default=(), metadata=SAFE)
    access_default: tuple[str, ...] = field(default=(PUBLIC,), metadata=SAFE)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict, metadata=SAFE)
    file: Path | None = field(default=None, metadata=DERIVED)
    """The project's quire.toml, if it has one."""
    server: str = field(default="", metadata=DERIVED, repr=False)
    """The URL of a store on a server, instead of the file; it may hold a password.

    `store` is then a file in the project that stands for it: what is kept beside a store, and by
    the name of a store, is kept by this one.
    """
    own_store: bool = field(default=True, metadata=DERIVED)
    """Whether the store is the project's own, rather than one that the caller named."""
    audit_outside: bool = field(default=False, metadata=DERIVED)
    """Whether `audit.file` may lie outside the project."""
    arguments: Mapping[str, Any] = field(default_factory=dict, metadata=DERIVED)
    """The settings that the caller passed, by section: they count before all others."""
    notes: tuple[str, ...] = field(default=(), metadata=DERIVED)
    """What the user should know of these settings: those that are ignored, and why."""

    @property
    def location(self) -> Path | str:
        """What opens the store: its file, or the URL of a server."""
        return self.server or self.store

    @property
    def store_name(self) -> str:
        """What messages call the store; no password is in it."""
        return servers.public_name(self.server) if self.server else str(self.store)


def stand_in(root: Path, url: str) -> Path:
    """Return the file in a project that stands for a store on a server."""
    name = hashing.identifier("server", servers.public_name(url))[:16]
    return root / DEFAULT_STORE.parent / f"server-{name}"
