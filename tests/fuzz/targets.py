"""What takes input from others: each target makes one bad input and hands it over.

A target raises what the code raised. `ALLOWED` are the answers that a caller understands; anything
else is a defect.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import click

from quire import Quire
from quire.core import dates, globs, toml
from quire.core.types import IngestSettings
from quire.errors import QuireError
from quire.ingest.decode import NotText
from quire.ingest.read import build_document
from quire.ingest.types import UnreadableFile
from quire.rules.expressions import ExpressionError
from tests.conftest import LONG_AGO, Tree

from . import samples
from .mutate import ODD_VALUES, dump, mutate_bytes, mutate_json

ALLOWED = (QuireError, NotText, UnreadableFile, ExpressionError)
"""The others are turned into a skipped file and into a mistake of a context file."""
SMALL = IngestSettings(whole=120, paragraph=120, target=80, join=80, code_max=160)

Case = Callable[[Random], object]


@dataclass(frozen=True)
class World:
    """What targets work on: a project with a store, open."""

    tree: Tree
    quire: Quire
    receipt: dict[str, Any]
    text: str


@dataclass(frozen=True)
class Target:
    """One way in."""

    share: int
    """How many of a thousand cases it gets."""
    prepare: Callable[[World], Case]


@contextmanager
def make_world(folder: Path) -> Iterator[World]:
    """Make a small project with everything in it."""
    tree = Tree(folder / "project")
    settings = '[embed]\nprovider = "none"\n[groups]\ndev = ["ann"]\n[access]\n"hr/**" = ["ann"]\n'
    tree.fill(
        {
            "quire.toml": settings,
            "docs/tides.md": samples.MARKDOWN,
            "hr/pay.md": "# Pay\n\nNinety doubloons at low tide.\n",
            "src/shop.py": dict(samples.FILES)["shop.py"],
        }
    )
    tree.index()
    with tree.open() as opened:
        opened.memories.add("The harbour bell rings at low tide.", at=LONG_AGO)
        context = opened.assemble("low tide in the harbour", budget=1500)
        receipt = json.loads(json.dumps(context.receipt))
        yield World(tree, opened, receipt, context.text)


# --- files ---------------------------------------------------------------------------------------


def _files(_: World) -> Case:
    seeds = [(path, text.encode()) for path, text in samples.FILES]
    by_suffix: dict[str, list[bytes]] = {}
    for path, data in seeds:
        by_suffix.setdefault(Path(path).suffix, []).append(data)

    def run(random: Random) -> object:
        path, data = random.choice(seeds)
        # Mostly another file of the same kind is spliced in, at times any file.
        others = (
            by_suffix[Path(path).suffix] if random.random() < 0.8 else [one for _, one in seeds]
        )
        return build_document(path, mutate_bytes([data, *others], random), SMALL)

    return run


def _conversations(_: World) -> Case:
    seeds = (samples.CHAT, samples.CHATGPT, samples.SLACK)
    lines = [json.loads(line) for line in samples.CLAUDE_CODE.splitlines()]

    def run(random: Random) -> object:
        if random.random() < 0.3:
            text = "\n".join(dump(mutate_json(line, random)) for line in lines)
            return build_document("session.jsonl", text.encode(), SMALL)
        text = dump(mutate_json(random.choice(seeds), random))
        return build_document("chat.json", text.encode(), SMALL)

    return run


def _globs(_: World) -> Case:
    seeds = [text.encode() for text in samples.GLOBS]

    def run(random: Random) -> object:
        return globs.parse_rules(mutate_bytes(seeds, random))

    return run


# --- settings ------------------------------------------------------------------------------------


def _toml(_: World) -> Case:
    seeds = [samples.SETTINGS.encode(), samples.CONTEXT_TOML.encode()]
    return lambda random: toml.parse(mutate_bytes(seeds, random), "quire.toml")


def _settings(world: World) -> Case:
    from quire import config

    folder = world.tree.root.parent / "settings"
    (folder / ".quire").mkdir(parents=True)
    file = folder / "quire.toml"
    table = toml.parse(samples.SETTINGS.encode(), "x")

    def run(random: Random) -> object:
        if random.random() < 0.5:
            data = mutate_bytes([samples.SETTINGS.encode()], random)
        else:
            data = _as_toml(mutate_json(table, random)).encode("utf-8", "surrogatepass")
        file.write_bytes(data)
        file.chmod(0o600)
        loaded = config.load(folder, environment={"XDG_CONFIG_HOME": str(folder / "none")})
        return loaded, config.propose(folder, environment={})

    return run


def _as_toml(table: Any) -> str:
    """Write a table as TOML, as far as it can be written: JSON values are TOML values, nearly."""
    if not isinstance(table, dict):
        return f"x = {dump(table)}"
    lines = [f"{dump(key)} = {dump(value)}" for key, value in table.items() if not isinstance(value, dict)]  # fmt: skip
    for key, value in table.items():
        if isinstance(value, dict):
            lines.append(f"[{dump(key)}]")
            lines += [f"{dump(name)} = {dump(inner)}" for name, inner in value.items()]
    return "\n".join(lines)


# --- rules ---------------------------------------------------------------------------------------


def _contexts(_: World) -> Case:
    from quire.rules import parse_context_file

    def run(random: Random) -> object:
        path, text = random.choice(samples.CONTEXTS)
        data = mutate_bytes([text.encode()], random)
        return parse_context_file(path, data.decode("utf-8", "replace"))

    return run


def _context_values(_: World) -> Case:
    import yaml

    from quire.rules import parse_context_file

    table = yaml.safe_load(samples.CONTEXT_YAML)

    def run(random: Random) -> object:
        return parse_context_file("pay/.context.yaml", dump(mutate_json(table, random)))

    return run


def _expressions(_: World) -> Case:
    from quire.rules.expressions import parse_expression

    seeds = [text.encode() for text in samples.EXPRESSIONS]
    return lambda random: parse_expression(mutate_bytes(seeds, random).decode("utf-8", "replace"))


# --- receipts ------------------------------------------------------------------------------------


def _receipt_texts(world: World) -> Case:
    from quire import receipts

    seeds = [json.dumps(world.receipt).encode()]

    def run(random: Random) -> object:
        receipt = receipts.parse(mutate_bytes(seeds, random).decode("utf-8", "replace"))
        return world.quire.verify(receipt, world.text)

    return run


def _receipts(world: World) -> Case:
    from quire import receipts

    def run(random: Random) -> object:
        receipt = receipts.parse(dump(mutate_json(world.receipt, random)))
        if random.random() < 0.1:
            return world.quire.replay(receipt)
        if random.random() < 0.3:
            return world.quire.diff(world.receipt, receipt)
        return world.quire.verify(receipt, world.text)

    return run


# --- MCP -----------------------------------------------------------------------------------------


def _messages(_: World) -> Case:
    from quire.mcp import jsonrpc

    seeds = [json.dumps(message).encode() for message in samples.MESSAGES]

    def run(random: Random) -> object:
        if random.random() < 0.5:
            line = mutate_bytes(seeds, random)
        else:
            line = dump(mutate_json(random.choice(samples.MESSAGES), random)).encode()
        jsonrpc.find_calls(line)
        jsonrpc.find_cancelled(line)
        try:
            return jsonrpc.add_items(line, lambda _: {"type": "text", "text": "context"})
        except (ValueError, RecursionError):  # the proxy lets such a line pass as it is
            return line

    return run


def _tools(world: World) -> Case:
    from quire.mcp import schemas
    from quire.mcp.session import Session
    from quire.mcp.tools import TOOLS

    session = Session(str(world.tree.store), None, None)
    good: Mapping[str, Any] = {
        "query": "low tide", "max_tokens": 300, "recipe": "documents", "types": ["text"],
        "limit": 3, "model": "gpt-4o", "situation": {"task": "x"}, "base": "docs", "kinds": ["text"],
        "paths": ["docs/"], "since": "2020-01-01", "until": "2030-01-01", "domain": "debugging",
        "strategy": "x", "k": 3, "path": "docs/tides.md", "line": 3, "receipt": world.receipt,
        "context": world.text,
    }  # fmt: skip

    def run(random: Random) -> object:
        tool = random.choice(TOOLS)
        names = [name for name in tool.input_schema()["properties"] if name in good]
        chosen = random.sample(names, random.randrange(len(names) + 1))
        arguments = mutate_json({name: good[name] for name in {*chosen, *names[:1]}}, random)
        if not isinstance(arguments, dict):
            return None
        schemas.check(tool.input_schema(), arguments)
        return tool.run(session, arguments, lambda _: None) if tool.read_only else None

    return run


# --- hooks ---------------------------------------------------------------------------------------


def _hooks(_: World) -> Case:
    from quire.integrations.clients import CLIENTS
    from quire.integrations.hooks import failures, pages, payloads

    seeds = [json.dumps(payload).encode() for payload in samples.HOOKS]

    def run(random: Random) -> object:
        if random.random() < 0.4:
            data = mutate_bytes(seeds, random)
        else:
            data = dump(mutate_json(random.choice(samples.HOOKS), random)).encode()
        event = payloads.parse(data)
        failures.failed_tool(
            event.command,
            event.output,
            exit_code=event.exit_code,
            reported=event.failed,
            interrupted=event.interrupted,
        )
        failures.guess_domain(event.command, event.output)
        page = pages.shorten(event.output, 200)
        return [
            payloads.format_answer(client.hooks, name, event, page)
            for client in CLIENTS.values()
            if client.hooks is not None
            for name in client.hooks.names
        ]

    return run


# --- imports -------------------------------------------------------------------------------------


def _lines(_: World) -> Case:
    from quire.evaluation.questions import read_questions
    from quire.memory import memory_lines as memories
    from quire.workspace import block_lines as blocks

    readers: tuple[tuple[list[dict[str, Any]], Callable[[str], object]], ...] = (
        (samples.BLOCKS, blocks.parse),
        (samples.MEMORIES, lambda text: memories.parse(text, at=1)),
        (samples.QUESTIONS, read_questions),
    )

    def run(random: Random) -> object:
        seed, read = random.choice(readers)
        text = "\n".join(dump(mutate_json(line, random)) for line in seed)
        if random.random() < 0.3:
            text = mutate_bytes([text.encode()], random).decode("utf-8", "replace")
        return read(text)

    return run


def _dates(_: World) -> Case:
    seeds = [b"2026-01-02", b"2026-01-02T03:04:05Z", b"2026-01-02 03:04+02:00", b"20260102"]

    def run(random: Random) -> object:
        text = mutate_bytes(seeds, random).decode("utf-8", "replace")
        return dates.parse_date("since", text, end=random.random() < 0.5)

    return run


# --- command lines -------------------------------------------------------------------------------

NOT_HERE = {"watch", "mcp", "mcp-proxy", "hook", "install", "trust", "init"}
"""They run until they are stopped, answer through a process of their own, or write elsewhere."""
WORDS = (
    "tide", "docs", "docs/tides.md", "src/*.py", "300", "0", "-1", "1.5", "ann", "@dev", "json", "markers",
    "documents", "entities", "situation", "2026-01-01", "gpt-4o", "nothing", "receipt.json", "main", "x=1",
    "none", "all", "-", "--", "decision", "debugging", "confirmed", "text",
)  # fmt: skip


def _commands(world: World) -> Case:
    from quire.cli.main import main

    def leaves(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:  # fmt: skip
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                if name not in NOT_HERE:
                    yield from leaves(inner, (*path, name))
        else:
            yield path, command

    known = list(leaves(main, ()))
    (world.tree.root / "receipt.json").write_text(json.dumps(world.receipt))

    def value(random: Random) -> str:
        if random.random() < 0.6:
            return random.choice(WORDS)
        if random.random() < 0.5:
            text = str(random.choice(ODD_VALUES))
        else:
            text = mutate_bytes([word.encode() for word in WORDS], random).decode(
                "utf-8", "replace"
            )
        # No argument has a zero byte, and none leads out of the project.
        return text.replace("\0", "").replace("..", ".").replace("~", "").lstrip("/")[:2000]

    def run(random: Random) -> object:
        arguments = command_line(random, *random.choice(known), value)
        if arguments[0] in NOT_HERE:  # an odd word before the command can be the name of one
            return None
        stdin = mutate_bytes([dump(samples.BLOCKS).encode(), b"x"], random)
        with redirect_stderr(io.StringIO()):
            done = world.tree.call(*arguments, stdin=stdin)
        assert done.returncode in {0, 1, 2}, (arguments, done.returncode)
        assert "Traceback" not in done.stderr, (arguments, done.stderr)
        return done

    return run


def command_line(
    random: Random, path: tuple[str, ...], command: click.Command, value: Callable[[Random], str]
) -> list[str]:
    """Return the name of a command, some of its options, and its arguments."""
    arguments = list(path)
    options = [one for one in command.params if isinstance(one, click.Option)]
    for option in random.sample(options, min(len(options), random.choice((0, 1, 1, 2, 4)))):
        arguments.append(random.choice([*option.opts, *option.secondary_opts]))
        if not option.is_flag and random.random() < 0.95:
            arguments.append(value(random))
    positional = [one for one in command.params if isinstance(one, click.Argument)]
    arguments += [value(random) for _ in positional if random.random() < 0.9]
    if random.random() < 0.1:
        arguments.insert(random.randrange(len(arguments) + 1), value(random))
    return arguments


TARGETS: Mapping[str, Target] = {
    "files": Target(270, _files),
    "conversations": Target(60, _conversations),
    "ignore files": Target(40, _globs),
    "TOML": Target(130, _toml),
    "settings": Target(40, _settings),
    "context files": Target(80, _contexts),
    "context values": Target(40, _context_values),
    "expressions": Target(60, _expressions),
    "receipt texts": Target(40, _receipt_texts),
    "receipts": Target(30, _receipts),
    "messages": Target(60, _messages),
    "tools": Target(10, _tools),
    "hooks": Target(70, _hooks),
    "imports": Target(40, _lines),
    "dates": Target(20, _dates),
    "commands": Target(10, _commands),
}
