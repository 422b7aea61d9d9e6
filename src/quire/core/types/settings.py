"""The settings of quire.toml, section by section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

ALL = -1
"""No limit; written `all`."""
Limit: TypeAlias = int
"""A maximum number; ALL: no limit."""


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """[ingest]: which files are read, and how they are split."""

    max_bytes: int = 16 * 1024 * 1024
    """Larger files are skipped and reported."""
    secrets: bool = False
    """Also read files that look like secrets."""
    ignore: tuple[str, ...] = ()
    """More globs of files to ignore, as in .gitignore."""
    whole: int = 1600
    """A document of at most this many characters stays in one chunk."""
    paragraph: int = 3200
    """A document of a single paragraph stays in one chunk up to this many characters."""
    target: int = 600
    """A longer paragraph is split into chunks of about this many characters."""
    join: int = 300
    """Short paragraphs of a section are joined up to about this many characters."""
    code_max: int = 1500
    """A chunk of source code has at most about this many characters."""
    use_mtime: bool = False
    """Use the time of the file system for records without another one; it is hashed then."""
    history: Limit = 1000
    """Number of git's newest commits that are indexed (or `all`); 0: git is not used."""


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """[embed]: the embedder."""

    provider: str = "local"
    """`local`, `http` (OpenAI-compatible) or `none`."""
    folder: str | None = None
    """local: a folder with model.onnx and tokenizer.json, instead of the shipped model."""
    model: str | None = None
    """http: the model's name."""
    url: str | None = None
    """http: the address up to and including the version, as in https://host/v1."""
    key_env: str = "QUIRE_EMBED_KEY"
    """http: the environment variable that holds the key."""
    query_prefix: str | None = None
    """Put before a query; None: the known prefix of the model."""
    batch: int = 64
    """http: number of texts in one request."""
    timeout: float = 30.0
    """http: seconds for one request."""
    retries: int = 4
    """http: number of retries after a failure that may be temporary."""
    threads: int = 0
    """local: number of texts embedded at the same time; 0: the number of cores."""


@dataclass(frozen=True, slots=True)
class LearnSettings:
    """[learn]: names beside the shipped ones."""

    categories: tuple[str, ...] = ()
    """Categories of memories."""
    domains: tuple[str, ...] = ()
    """Domains of experiences."""
    strategies: tuple[str, ...] = ()
    """Strategies of experiences."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """[audit]: the log of contexts that were given out."""

    file: str = ""
    """The file, relative to the project's root, that gets a line for each; empty: no log."""


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """[writer]: the model that writes summaries and principles."""

    provider: str = "none"
    """`llm` (a language model) or `none`."""
    protocol: str = "openai"
    """`openai` (chat completions) or `anthropic` (messages)."""
    url: str | None = None
    """The address up to and including the version, as in https://host/v1."""
    model: str | None = None
    """The model's name."""
    key_env: str = "QUIRE_WRITER_KEY"
    """The environment variable that holds the key."""
    timeout: float = 30.0
    """Seconds for one request."""
    retries: int = 2
    """Number of retries after a failure that may be temporary."""


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """[judge]: what decides whether a sentence of a context file applies."""

    provider: str = "semantic"
    """`semantic` (by the embedder), `llm` (a language model), `mcp` (the client) or `none`."""
    threshold: float = 0.043
    """semantic: how much nearer than ordinary sentences a situation must be."""
    protocol: str = "openai"
    """llm: `openai` (chat completions) or `anthropic` (messages)."""
    url: str | None = None
    """llm: the address up to and including the version, as in https://host/v1."""
    model: str | None = None
    """llm: the model's name."""
    key_env: str = "QUIRE_JUDGE_KEY"
    """llm: the environment variable that holds the key."""
    timeout: float = 20.0
    """llm, mcp: seconds for one request."""
    retries: int = 2
    """llm: number of retries after a failure that may be temporary."""
