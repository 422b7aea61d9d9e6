"""What can be set?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

ALL = -1
"""A limit that is none; written `all`."""
Limit: TypeAlias = int
"""How many at most; ALL: without end."""


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """What is read from a directory, and how it is cut."""

    max_bytes: int = 16 * 1024 * 1024
    """Larger files are skipped and listed."""
    secrets: bool = False
    """Also read files that look like secrets."""
    ignore: tuple[str, ...] = ()
    """More patterns to leave out, as in .gitignore."""
    whole: int = 1600
    """A document of at most so many characters stays in one piece."""
    paragraph: int = 3200
    """A document of a single paragraph stays in one piece up to so many characters."""
    target: int = 600
    """A longer paragraph is cut into pieces of about so many characters."""
    join: int = 300
    """Short paragraphs of a section are joined up to about so many characters."""
    code_max: int = 1500
    """A piece of source code has at most about so many characters."""
    use_mtime: bool = False
    """Let the file system's time stand for a record that has no other; part of the state then."""
    history: Limit = 1000
    """So many of git's newest commits are kept (or `all`); 0: git is not asked for anything."""


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """Which embedder is used."""

    provider: str = "local"
    """`local`, `http` (OpenAI-compatible) or `none`."""
    folder: str | None = None
    """local: a folder with model.onnx and tokenizer.json in place of the shipped model."""
    model: str | None = None
    """http: the model's name."""
    url: str | None = None
    """http: the address up to and including the version, as in https://host/v1."""
    key_env: str = "QUIRE_EMBED_KEY"
    """http: the environment variable that holds the key."""
    query_prefix: str | None = None
    """Put before a question; None: what the model is known to want."""
    batch: int = 64
    """http: texts in one request."""
    timeout: float = 30.0
    """http: seconds for one request."""
    retries: int = 4
    """http: further tries after a failure that may pass."""
    threads: int = 0
    """local: texts embedded at the same time; 0: as many as there are cores."""


@dataclass(frozen=True, slots=True)
class LearnSettings:
    """Which names there are beside the shipped ones."""

    categories: tuple[str, ...] = ()
    """Of memories."""
    domains: tuple[str, ...] = ()
    """Of experiences."""
    strategies: tuple[str, ...] = ()
    """Of experiences."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """What is written down of contexts that are given."""

    file: str = ""
    """The file, from the project's root, that gets a line for each; empty: none does."""


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """Who writes summaries, and words values."""

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
    """Further tries after a failure that may pass."""


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Who decides whether the sentence of a condition holds."""

    provider: str = "semantic"
    """`semantic` (by the embedder), `llm` (a language model), `mcp` (the client) or `none`."""
    threshold: float = 0.043
    """semantic: how much nearer than ordinary sentences a situation must lie."""
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
    """llm: further tries after a failure that may pass."""
