"""Every command that writes: how to run it, and what its project holds before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from quire.config.access_tokens import TokenFile, default_file
from quire.core.types import OWNER
from quire.errors import StoreDamagedError
from tests.conftest import LONG_AGO, Tree

SETTINGS = """[embed]
provider = "none"
[ingest]
history = 0
ignore = ["in/"]
[audit]
file = ".quire/audit.jsonl"
[sources.lines]
type = "jsonl"
location = "in/lines.jsonl"
path = "lines/{id}"
template = "{text}"
[sources.tickets]
type = "sqlite"
location = "in/crm.db"
query = "SELECT id, body, team, updated, gone FROM ticket"
path = "tickets/{id}"
template = "{body}"
metadata = ["team"]
cursor = "updated"
deleted = "gone"
"""
POSTMORTEM = (
    "# Outage of the crane\n\n## Summary\n\nThe crane fell.\n\n## Root cause\n\nThe rope was worn.\n\n"
    "## Lessons\n\nLook at the rope before each lift.\n"
)
TIMES = ("created", "edited", "at", "id", "started", "resolved", "updated")
"""What differs between two runs of one command."""


@dataclass(frozen=True)
class Command:
    """A command that writes."""

    arguments: tuple[str, ...]
    """`{memory}` and so on stand for ids of the project."""
    before: Callable[[Tree], object] = field(default=lambda _: None)
    """What is done to the project before each run; it may return more ids."""
    in_steps: bool = False
    """Whether it writes in several steps, each of them whole: the second run ends what it began."""
    store: bool = True
    """Whether it writes to the store, in a transaction."""


def damage(tree: Tree) -> None:
    """Lose derived data, so that there is something to repair."""
    import apsw

    from quire.store.sqlite.page_checksums import CHECKED

    connection = apsw.Connection(str(tree.store), vfs=CHECKED)
    tables = [
        row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    for table in ("root", "leaf"):
        if table in tables:
            connection.execute(f"DELETE FROM {table}")
    connection.close()


def edit(tree: Tree) -> None:
    tree.write("docs/tides.md", "# Tides\n\nThe tide turned.\n")
    tree.write("docs/more.md", "# More\n\nRopes.\n")


def make_key(tree: Tree) -> None:
    """Make a first key in the home that stands beside the project."""
    home = str(tree.root.parent / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", home)
        assert tree.call("key", "rotate").returncode == 0


def make_token(tree: Tree) -> dict[str, str]:
    """Make a token in the home that stands beside the project; return its id."""
    environment = {"XDG_CONFIG_HOME": str(tree.root.parent / "home")}
    tokens = TokenFile(default_file(tree.store, "main", environment))
    token, _ = tokens.create(scope="read", at=LONG_AGO)
    return {"token": token.id}


def change_sources(tree: Tree) -> None:
    """Sync once; then of each source one document changes, one is new and one is gone."""

    def write(lines: Mapping[int, str], *statements: str) -> None:
        text = "".join(json.dumps({"id": n, "text": text}) + "\n" for n, text in lines.items())
        tree.write("in/lines.jsonl", text)
        with closing(sqlite3.connect(tree.root / "in/crm.db")) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    write(
        {1: "One.", 2: "Two.", 3: "Three."},
        "CREATE TABLE ticket (id, body, team, updated, gone)",
        *(f"INSERT INTO ticket VALUES ({n}, 'Ticket {n}', 'north', {n}, 0)" for n in (1, 2, 3)),
    )
    with tree.open() as opened:
        opened.documents.sync()
    write(
        {1: "One!", 3: "Three.", 4: "Four."},
        "UPDATE ticket SET body = 'Ticket!', team = 'south', updated = 4 WHERE id = 1",
        "UPDATE ticket SET gone = 1, updated = 5 WHERE id = 2",
        "INSERT INTO ticket VALUES (4, 'Ticket 4', 'north', 6, 0)",
    )


def ask_for_trust(tree: Tree) -> None:
    tree.write("quire.toml", SETTINGS.replace("history = 0", "history = 0\nsecrets = true"))


COMMANDS: Mapping[str, Command] = {
    "index": Command(("index",), edit),
    "remember": Command(("remember", "The rope is worn", "--category", "fact")),
    "memory add": Command(("memory", "add", "The rope is new", "--category", "fact")),
    "remember supersedes": Command(("remember", "The bell rings twice", "--supersedes", "{memory}")),
    "remember again": Command(("remember", "The bell rings.")),
    "memory edit": Command(("memory", "edit", "{memory}", "The bell rings thrice")),
    "memory forget": Command(("memory", "forget", "{memory}")),
    "memory import": Command(("memory", "import", "in/memories.jsonl")),
    "experience start": Command(("experience", "start", "Lift it", "--domain", "debugging")),
    "experience update": Command(("experience", "update", "{experience}", "--goal", "Lift all")),
    "experience resolve": Command(
        ("experience", "resolve", "{experience}", "falsified", "--result", "It fell", "--lesson", "Look")
    ),
    "feedback": Command(("feedback", "receipt.json", "--useful", "docs/tides.md")),
    "block put": Command(("block", "put", "New page", "--id", "new", "--type", "page", "--in", "plan")),
    "block edit": Command(("block", "edit", "task", "Do it twice")),
    "block move": Command(("block", "move", "task", "other")),
    "block share": Command(("block", "share", "plan", "ann")),
    "block delete": Command(("block", "delete", "plan")),
    "import blocks": Command(("import", "blocks", "in/blocks.jsonl")),
    "import vault": Command(("import", "vault", "in/vault")),
    "import markdown": Command(("import", "markdown", "in/vault")),
    "import notion": Command(("import", "notion", "in/vault")),
    "import postmortems": Command(("import", "postmortems", "in/postmortems")),
    "add": Command(("add", "in/new.md", "--path", "crm/2", "--meta", "n=2", "--expires", "2999-01-31")),
    "add again": Command(("add", "in/new.md", "--path", "crm/1", "--share", "ann")),
    "document add": Command(("document", "add", "--jsonl", "in/documents.jsonl", "--no-embed")),
    "document edit": Command(("document", "edit", "crm/1", "--meta", "team=south", "--unset", "n")),
    "document delete": Command(("document", "delete", "crm/1")),
    "sync": Command(("sync",), change_sources, in_steps=True),
    "sync drop": Command(("sync", "lines", "--drop"), change_sources),
    "access allow": Command(("access", "allow", "docs/**", "ann", "@dev")),
    "access remove": Command(("access", "remove", "hr/**")),
    "access group": Command(("access", "group", "dev", "ann", "bob")),
    "purge": Command(("purge", "docs/tides.md"), in_steps=True),
    "doctor": Command(("doctor", "--repair"), damage, in_steps=True),
    "doctor prune": Command(("doctor", "--prune"), in_steps=True),
    "assemble": Command(("assemble", "tide", "--budget", "2000", "--receipt", "made.json"), in_steps=True, store=False),
    "init": Command(("init",), lambda tree: (tree.root / "quire.toml").unlink(), store=False),
    "model use": Command(("model", "use", "quire-en-2"), store=False),
    "key rotate": Command(("key", "rotate"), make_key, store=False),
    "token create": Command(("token", "create", "--viewer", "ann", "--scope", "write"), store=False),
    "token rotate": Command(("token", "rotate", "{token}", "--grace", "1h"), make_token, store=False),
    "token revoke": Command(("token", "revoke", "{token}"), make_token, store=False),
    "trust": Command(("trust", "--yes"), ask_for_trust, store=False),
    "install": Command(("install", "claude-code", "--yes"), in_steps=True, store=False),
}  # fmt: skip

READ_ONLY = {
    "access check", "access list", "access log", "block export", "block show", "block tree", "diff",
    "eval", "key export", "key show", "experience list", "experience show", "explain", "map", "memory export", "memory list", "pack",
    "memory show", "model check", "model list", "premortem", "replay", "rules check", "rules list", "rules test", "search", "status",
    "values", "verify", "why-not", "document get", "document list", "document show", "plugins", "report", "token list",
}  # fmt: skip
ELSEWHERE = {
    "backup": "writes a file under another name and renames it: tests/indexing/test_backup.py",
    "restore": "likewise",
    "copy": "is killed in tests/store/test_copy.py",
    "serve": "is killed under load in tests/server",
    "hook": "reads, and marks a session by an empty file",
    "mcp": "writes through the same services as `remember` and `experience`",
    "mcp-proxy": "writes nothing",
    "watch": "indexes, as `index` does",
}


def prepare(tree: Tree) -> dict[str, str]:
    """Fill a project, and return the ids that commands name."""
    blocks = [
        {"id": "b1", "type": "page", "text": "One"},
        {"id": "b2", "type": "todo", "text": "Two", "parent": "b1"},
    ]
    tree.fill(
        {
            "quire.toml": SETTINGS,
            "docs/tides.md": "# Tides\n\nThe tide turns twice a day.\n",
            "hr/pay.md": "# Pay\n\nNinety doubloons.\n",
            "in/memories.jsonl": "".join(json.dumps({"content": f"Fact {n}"}) + "\n" for n in range(5)),
            "in/blocks.jsonl": "".join(json.dumps(block) + "\n" for block in blocks),
            "in/new.md": "# New\n\nA document.\n",
            "in/documents.jsonl": "".join(
                json.dumps({"path": f"crm/{n}", "content": f"Document {n}.", "metadata": {"n": n}}) + "\n"
                for n in range(5)
            ),
            "in/vault/one.md": "# One\n\n[[two]]\n",
            "in/vault/two.md": "# Two\n\nText.\n",
            "in/postmortems/crane.md": POSTMORTEM,
        }
    )  # fmt: skip
    tree.index()
    ids = {}
    with tree.open() as opened:
        memory = opened.memories.add("The bell rings.", at=LONG_AGO)
        ids["memory"] = memory.value.id
        started = opened.experiences.start(
            "Lift", at=LONG_AGO, domain="debugging", hypothesis="It holds"
        )
        ids["experience"] = started.value.id
        opened.documents.put("A document.", path="crm/1", metadata={"n": 1, "team": "north"})
    for arguments in (
        ("block", "put", "Plan", "--id", "plan", "--type", "page"),
        ("block", "put", "Do it", "--id", "task", "--type", "todo", "--in", "plan"),
        ("block", "put", "Other", "--id", "other", "--type", "page"),
        ("access", "allow", "hr/**", "ann"),
        ("assemble", "tide", "--budget", "2000", "--receipt", "receipt.json"),
    ):
        done = tree.call(*arguments)
        assert done.returncode == 0, done.stderr
    return ids


def state(tree: Tree, files: Mapping[str, Path]) -> dict[str, Any]:
    """Return all that a project holds, without times and the ids that were made."""
    with tree.open() as opened:
        with opened.store.view(OWNER) as view:
            records = []
            for record in view.listing():
                try:
                    text = "".join(chunk.text for chunk in view.chunks_of(record.id))
                except StoreDamagedError:
                    text = "(damaged)"
                attributes = {k: v for k, v in record.attrs.items() if k not in TIMES}
                if attributes.get("superseded_by"):
                    attributes["superseded_by"] = "(a memory that was made)"  # its id holds a time
                made = record.path.removeprefix(".quire/").startswith(
                    ("memory", "experience", "feedback")
                )
                path = "" if made else record.path
                records.append(str((record.kind, path, text, record.acl, record.parent, record.position, sorted(attributes.items()), sorted(record.metadata.items()), record.expires, record.origin)))  # fmt: skip
        rules, groups = opened.store.rules(), opened.store.groups()
    held: dict[str, Any] = {"records": sorted(records), "rules": str(rules), "groups": str(groups)}
    for name, file in files.items():
        held[name] = file.read_text() if file.is_file() else None
    return held
