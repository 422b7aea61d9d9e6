"""What can a client do?

One row a tool: its name, what it takes and gives, what it does. The order of the rows is the order
in which clients are told of them. Nothing here knows the protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quire.mcp import schemas
from quire.mcp.context_tools import assemble, explain, premortem, search, verify
from quire.mcp.memory_tools import OPERATIONS, experience, remember
from quire.mcp.schemas import LIMIT, MODEL, SHARE, Schema, number, record, text
from quire.mcp.session import Answer, Given, Session, Step


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing that a client can do."""

    name: str
    title: str
    about: str
    takes: Callable[[], Schema]
    gives: Schema
    run: Callable[[Session, Given, Step], Answer]
    reads_only: bool = True
    again: bool = True
    """Doing it twice is as doing it once."""


_TRIED = {
    "goal": text("start: what is to be reached."),
    "domain": text("debugging, feature, testing, performance, security, deployment, …"),
    "strategy": text("How it is gone about: check-assumptions, small-steps, read-the-error, …"),
    "hypothesis": text("What is believed."),
    "action": text("What is done to find out."),
    "prediction": text("What should be seen if it holds."),
}
_ENDED = {
    "outcome": text("resolve, list: confirmed, falsified or abandoned (list: also open)."),
    "result": text("What was seen."),
    "surprise": text("What nobody expected."),
    "root_cause": text("Why the hypothesis failed."),
    "lesson": text("What worked, what to do next time."),
}

TOOLS: tuple[Tool, ...] = (
    Tool(
        "assemble_context",
        "Assemble a context",
        "Assemble what is known of a task or a question into one text within a token budget: "
        "memories, code, experiences, values, commits, or documents (recipe documents). Every "
        "source is named, and a receipt proves it. Call it before you begin with a task.",
        lambda: record(schemas.asking(), "query"),
        schemas.CONTEXT,
        assemble,
    ),
    Tool(
        "get_premortem_context",
        "What went wrong before",
        "Show past failures, surprises, root causes and principles of a domain. Call it when a "
        "test or build fails for the first time, before you look for the cause.",
        lambda: record(
            {
                "domain": _TRIED["domain"],
                "strategy": _TRIED["strategy"],
                "limit": LIMIT,
                "max_tokens": number("The budget (default: 1500).", 1, 100_000_000),
                "model": MODEL,
            },
            "domain",
        ),
        schemas.CONTEXT,
        premortem,
    ),
    Tool(
        "search",
        "Search",
        "Find the passages of documents, code, conversations and git history that answer a "
        "question best, by words and by meaning.",
        lambda: record(
            {
                "query": text("What to look for.", minLength=1),
                "k": number("How many results (default: 10).", 1, 100),
                **schemas.WHERE,
            },
            "query",
        ),
        schemas.FOUND,
        search,
    ),
    Tool(
        "explain",
        "Explain a context",
        "Tell of each candidate for a context whether it is in, at which step it fell, and why. "
        "With a path: why that file, or what stands at its line, is not in, and what lets it in.",
        lambda: record(
            {
                **schemas.asking(),
                "path": text("The file that is missed in the context."),
                "line": number("Only what stands at this line of it.", 1, 1_000_000_000),
            },
            "query",
        ),
        schemas.EXPLAINED,
        explain,
    ),
    Tool(
        "remember",
        "Remember",
        "Keep a fact, a preference, a decision or an error for later contexts.",
        lambda: record(
            {
                "text": text("What to remember, in a sentence or two.", minLength=1),
                "category": text("fact (default), preference, decision or error."),
                "importance": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": 1,
                    "description": "From 0 to 1 (default: 0.5).",
                },
                "supersedes": text("The id of the memory that is no longer current."),
                "share": SHARE,
            },
            "text",
        ),
        schemas.MEMORY,
        remember,
        reads_only=False,
        again=False,
    ),
    Tool(
        "experience",
        "Experiences",
        "Record what is tried and how it ends: start (goal, domain), update (id), resolve (id, "
        "outcome); list and show look it up. What is recorded warns and helps later.",
        lambda: record(
            {
                "operation": text("What to do.", enum=list(OPERATIONS)),
                "id": text("update, resolve, show: which experience."),
                **_TRIED,
                **_ENDED,
                "share": SHARE,
            },
            "operation",
        ),
        schemas.EXPERIENCES,
        experience,
        reads_only=False,
        again=False,
    ),
    Tool(
        "verify",
        "Verify a receipt",
        "Check that a receipt holds: its hashes, its proofs, and that the store still says so.",
        lambda: record(
            {
                "receipt": {
                    "type": ["string", "object"],
                    "description": "The hash of a receipt that was made here, or a whole receipt.",
                },
                "context": text("The context to check against it (default: the one made here)."),
            },
            "receipt",
        ),
        schemas.VERIFIED,
        verify,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
