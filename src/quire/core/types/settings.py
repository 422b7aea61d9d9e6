"""The settings of quire.toml, section by section.

Each setting is declared safe or sensitive right where it stands (`metadata`). A safe setting can
only affect what happens inside the project. A sensitive one can send, run, read or write something
outside it, so it counts only from the user's own settings or in a project that the user trusts
(`quire.config.sensitive`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TypeAlias

from quire.core.frozen import dataclass

ALL = -1
"""No limit; written `all`."""
Limit: TypeAlias = int
"""A maximum number; ALL: no limit."""

TRUST = "trust"
"""The key of a field's metadata that says how far a project may set it."""
Declared: TypeAlias = Mapping[str, str]


def _declare(rule: str) -> Declared:
    return MappingProxyType({TRUST: rule})


SAFE = _declare("safe")
"""Affects only what happens inside the project."""
PROVIDER = _declare("provider")
"""Sensitive if it names a provider that uses the network."""
ADDRESS = _declare("address")
"""Where requests are sent."""
KEY = _declare("key")
"""The environment variable that is sent along."""
ENDPOINT = _declare("endpoint")
"""How an endpoint is asked, and at what price."""
MODEL_FOLDER = _declare("model_folder")
"""A model that is loaded and run."""
OUTPUT_FILE = _declare("output_file")
"""A file that is written; sensitive if it lies outside the project."""
STORE_FILE = _declare("store_file")
"""A store that is read and written; sensitive if it lies outside the project."""
STORE_PART = _declare("store_part")
"""Which part of a store is read; sensitive if the store lies outside the project."""
PROTECTION = _declare("protection")
"""Sensitive if it switches off what protects the user."""
RETENTION = _declare("retention")
"""How much of a log is kept."""
SOURCES = _declare("sources")
"""Where documents come from; sensitive if that is outside the project."""
VECTORS = _declare("vectors")
"""Where vectors are sent; sensitive if that is outside the store."""
DERIVED = _declare("derived")
"""Not a setting: no file can set it."""


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """[ingest]: which files are read, and how they are split."""

    max_bytes: int = field(default=16 * 1024 * 1024, metadata=SAFE)
    """Larger files are skipped and reported."""
    secrets: bool = field(default=False, metadata=PROTECTION)
    """Read files that look like secrets, and leave the secrets in texts."""
    allow_secrets: tuple[str, ...] = field(default=(), metadata=PROTECTION)
    """Globs of files whose secrets are left in, and fingerprints of single secrets."""
    ignore: tuple[str, ...] = field(default=(), metadata=SAFE)
    """More globs of files to ignore, as in .gitignore."""
    whole: int = field(default=1600, metadata=SAFE)
    """A document of at most this many characters stays in one chunk."""
    paragraph: int = field(default=3200, metadata=SAFE)
    """A document of a single paragraph stays in one chunk up to this many characters."""
    target: int = field(default=600, metadata=SAFE)
    """A longer paragraph is split into chunks of about this many characters."""
    join: int = field(default=300, metadata=SAFE)
    """Short paragraphs of a section are joined up to about this many characters."""
    code_max: int = field(default=1500, metadata=SAFE)
    """A chunk of source code has at most about this many characters."""
    use_mtime: bool = field(default=False, metadata=SAFE)
    """Use the time of the file system for records without another one; it is hashed then."""
    roles: tuple[str, ...] = field(default=(), metadata=SAFE)
    """Roles of files, as in `vendored: legacy/**`; the last that matches decides.

    One of `source`, `test`, `example`, `documentation`, `changelog`, `generated`, `vendored`,
    `metadata`, `lock` and `licence`.
    """
    without: tuple[str, ...] = field(default=(), metadata=SAFE)
    """Readers of installed packages that are not used, beside those of `[plugins] disable`."""
    history: Limit = field(default=1000, metadata=SAFE)
    """Number of git's newest commits that are indexed (or `all`); 0: git is not used."""


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """[embed]: the embedder."""

    provider: str = field(default="local", metadata=PROVIDER)
    """`local`, `http` (OpenAI-compatible), `plugin` (an installed package) or `none`."""
    folder: str | None = field(default=None, metadata=MODEL_FOLDER)
    """local: a folder with model.onnx and tokenizer.json, instead of the shipped model."""
    model: str | None = field(default=None, metadata=ENDPOINT)
    """http: the model's name; plugin: the name of the entry point."""
    url: str | None = field(default=None, metadata=ADDRESS)
    """http: the address up to and including the version, as in https://host/v1."""
    key_env: str = field(default="QUIRE_EMBED_KEY", metadata=KEY)
    """http: the environment variable that holds the key."""
    query_prefix: str | None = field(default=None, metadata=SAFE)
    """Put before a query; None: the known prefix of the model."""
    batch: int = field(default=64, metadata=ENDPOINT)
    """http: number of texts in one request."""
    timeout: float = field(default=30.0, metadata=ENDPOINT)
    """http: seconds for one request."""
    retries: int = field(default=4, metadata=ENDPOINT)
    """http: number of retries after a failure that may be temporary."""
    threads: int = field(default=0, metadata=SAFE)
    """local: number of texts embedded at the same time; 0: the number of cores."""
    device: str = field(default="cpu", metadata=SAFE)
    """local: `cpu`, `gpu`, or `auto` (a GPU where there is one), whose vectors may differ a bit."""
    keep: Limit = field(default=50_000, metadata=SAFE)
    """Vectors of texts that are gone that are kept, in case they come back with a branch."""


EXACT_SEARCH, GRAPH_SEARCH = "exact", "hnsw"


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """[vectors]: an index of vectors outside the store, which names candidates."""

    engine: str = field(default="", metadata=VECTORS)
    """`qdrant://HOST:PORT` (`qdrants://`: TLS), or `pgvector` for a store on a PostgreSQL server;
    empty: the store's own vectors are scanned."""
    search: str = field(default=EXACT_SEARCH, metadata=SAFE)
    """`exact`: what a scan finds; `hnsw`: by a graph, faster, approximate."""
    key_env: str = field(default="QUIRE_QDRANT_KEY", metadata=KEY)
    """The environment variable that holds Qdrant's key."""


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """[rerank]: what orders the best candidates."""

    provider: str = field(default="none", metadata=PROVIDER)
    """`plugin` (an installed package) or `none`."""
    model: str | None = field(default=None, metadata=ENDPOINT)
    """plugin: the name of the entry point."""


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """[plugins]: what installed packages offer."""

    disable: tuple[str, ...] = field(default=(), metadata=SAFE)
    """Plug-ins that are not used: by name, as `readers:name`, or all of a package."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """[sources.NAME]: where documents come from; as a whole safe or sensitive."""

    type: str = field(default="", metadata=SOURCES)
    """`folder`, `jsonl`, `sqlite`, `postgresql` or `bucket`."""
    location: str = field(default="", metadata=SOURCES)
    """The folder or file, relative to the project's root; of a bucket its address."""
    query: str = field(default="", metadata=SOURCES)
    """sqlite, postgresql: a SELECT."""
    dsn_env: str = field(default="", metadata=SOURCES)
    """postgresql: the environment variable that holds the connection string."""
    path: str = field(default="", metadata=SOURCES)
    """The path of a document, with members of the row in braces: `tickets/{id}`; of a folder or
    bucket the folder that its files are shown in (default: the source's name)."""
    template: str = field(default="", metadata=SOURCES)
    """The text of a row, with its members in braces; empty: its member `content`, or all."""
    metadata: tuple[str, ...] = field(default=(), metadata=SOURCES)
    """The members of a row that become metadata."""
    title: str = field(default="", metadata=SOURCES)
    author: str = field(default="", metadata=SOURCES)
    modified: str = field(default="", metadata=SOURCES)
    """The members of a row that are the title, the author and the time of its document."""
    expires: str = field(default="", metadata=SOURCES)
    """The member of a row that says when its document is no longer shown."""
    cursor: str = field(default="", metadata=SOURCES)
    """sqlite, postgresql: a column that grows with each change; reading goes on from its value."""
    deleted: str = field(default="", metadata=SOURCES)
    """A member that is true if a row is deleted."""
    share: tuple[str, ...] = field(default=(), metadata=SOURCES)
    """Who may read the documents; empty: the access rules decide."""
    readers: str = field(default="", metadata=SOURCES)
    """The member of a row that lists who may read its document, instead of `share`: a list, or a
    text with commas; if it is empty, the owner alone."""


@dataclass(frozen=True, slots=True)
class LearnSettings:
    """[learn]: names beside the shipped ones."""

    categories: tuple[str, ...] = field(default=(), metadata=SAFE)
    """Categories of memories."""
    domains: tuple[str, ...] = field(default=(), metadata=SAFE)
    """Domains of experiences."""
    strategies: tuple[str, ...] = field(default=(), metadata=SAFE)
    """Strategies of experiences."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """[audit]: the log of contexts that were given out."""

    file: str = field(default="", metadata=OUTPUT_FILE)
    """The file, relative to the project's root, that gets a line for each; empty: no log."""
    max_bytes: Limit = field(default=256 * 1024 * 1024, metadata=RETENTION)
    """The size of the log: at half of it, the log becomes `NAME.old` in the place of the older."""
    receipt_bytes: Limit = field(default=256 * 1024 * 1024, metadata=RETENTION)
    """The size of the receipts that the HTTP service keeps: over it, the older half is deleted."""


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """[writer]: the model that writes summaries and principles."""

    provider: str = field(default="none", metadata=PROVIDER)
    """`llm` (a language model) or `none`."""
    protocol: str = field(default="openai", metadata=ENDPOINT)
    """`openai` (chat completions) or `anthropic` (messages)."""
    url: str | None = field(default=None, metadata=ADDRESS)
    """The address up to and including the version, as in https://host/v1."""
    model: str | None = field(default=None, metadata=ENDPOINT)
    """The model's name."""
    key_env: str = field(default="QUIRE_WRITER_KEY", metadata=KEY)
    """The environment variable that holds the key."""
    timeout: float = field(default=30.0, metadata=ENDPOINT)
    """Seconds for one request."""
    retries: int = field(default=2, metadata=ENDPOINT)
    """Number of retries after a failure that may be temporary."""


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """[judge]: what decides whether a sentence of a context file applies."""

    provider: str = field(default="semantic", metadata=PROVIDER)
    """`semantic` (by the embedder), `llm` (a language model), `mcp` (the client) or `none`."""
    threshold: float = field(default=0.104, metadata=SAFE)
    """semantic: how much nearer than ordinary sentences a situation must be."""
    protocol: str = field(default="openai", metadata=ENDPOINT)
    """llm: `openai` (chat completions) or `anthropic` (messages)."""
    url: str | None = field(default=None, metadata=ADDRESS)
    """llm: the address up to and including the version, as in https://host/v1."""
    model: str | None = field(default=None, metadata=ENDPOINT)
    """llm: the model's name."""
    key_env: str = field(default="QUIRE_JUDGE_KEY", metadata=KEY)
    """llm: the environment variable that holds the key."""
    timeout: float = field(default=20.0, metadata=SAFE)
    """llm, mcp: seconds for one request."""
    cache_bytes: int = field(default=4 * 1024 * 1024, metadata=SAFE)
    """The size in bytes of the verdicts that are kept on disk; then the older half is dropped."""
    retries: int = field(default=2, metadata=ENDPOINT)
    """llm: number of retries after a failure that may be temporary."""


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """[chat]: the endpoint that the HTTP service passes chats on to, with a context."""

    url: str | None = field(default=None, metadata=ADDRESS)
    """The address up to and including the version, as in https://host/v1."""
    key_env: str = field(default="QUIRE_CHAT_KEY", metadata=KEY)
    """The environment variable that holds the key."""
    recipe: str = field(default="agent", metadata=SAFE)
    """The shipped recipe that contexts are assembled with."""
    budget: int = field(default=4000, metadata=SAFE)
    """The most tokens that are added to a chat."""
    timeout: float = field(default=120.0, metadata=ENDPOINT)
    """Seconds to wait for the endpoint."""
