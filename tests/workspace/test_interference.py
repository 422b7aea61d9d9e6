"""What someone may not read changes nothing that they are given.

Random workspaces: pages with groups, private blocks in shared pages, shared blocks in private
pages, links by token, moves and revocations. Each is asked by someone as it is, and with more in
it that they may not read: every byte of the answer must be the same, receipt and reasons included.
Forbidden texts hold a word of their own each, so that one byte too many is seen.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import quire
from quire import Block, ContextHints, ContextRequest, Focus, Quire, Viewer
from quire.errors import QuireError

NOW = 1_700_000_000
HOUR = 60 * 60
STORES = int(os.environ.get("QUIRE_INTERFERENCE_STORES", "24"))
ASKED = 84
"""So many questions of each: about two thousand in all."""
WORDS = ("migration", "rollback", "invoice", "task", "billing", "snapshot", "plan", "ledger")
TYPES = ("page", "paragraph", "todo", "heading", "code", "db", "db_row", "callout")
ACCESS = (None, None, None, ("public",), ("alice",), ("bob",), ("@team",), ("link:token",))
HIDDEN = (("bob",), ("owner",), ("@others",), ("link:other",))


def blocks(chance: random.Random, count: int, mark: str, parents: list[str]) -> list[Block]:
    made: list[Block] = []
    for number in range(count):
        name = f"{mark}{number}"
        hidden = mark == "h"
        words = " ".join(chance.choices(WORDS, k=chance.randrange(2, 9)))
        known = [*parents, *(one.id for one in made)]
        made.append(
            Block(
                name,
                chance.choice(TYPES),
                f"zq{name}x {words}" if hidden else words,
                chance.choice([None, *known]) if known else None,
                chance.randrange(4),
                properties={"due": f"2023-1{chance.randrange(3)}-0{chance.randrange(1, 9)}"}
                if chance.random() < 0.3
                else {},
                links=tuple(chance.sample(known, min(len(known), chance.randrange(3)))),
                edited=NOW - chance.randrange(2000) * HOUR,
                access=chance.choice(HIDDEN if hidden else ACCESS),
            )
        )
    return made


def written(folder: Path, batches: list[list[Block]], *, seed: int) -> Quire:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "quire.toml").write_text(
        '[embed]\nprovider = "none"\n[groups]\nteam = ["alice", "carol"]\nothers = ["bob"]\n'
    )
    opened = quire.open(folder)
    for batch in batches:
        opened.blocks.put(batch, at=NOW - 50 * HOUR)
    chance = random.Random(seed)
    names = [block.id for block in batches[0]]
    for _ in range(6):  # what happens afterwards happens in both
        name, other = chance.choice(names), chance.choice(names)
        deed = chance.randrange(4)
        try:
            if deed == 0:
                opened.blocks.move(name, other, at=NOW - 40 * HOUR)
            elif deed == 1:
                opened.blocks.share(name, chance.choice(ACCESS), at=NOW - 40 * HOUR)
            elif deed == 2:
                opened.blocks.view(name, at=NOW - chance.randrange(90) * HOUR, viewer="alice")
            else:
                opened.blocks.edit(name, at=NOW - 30 * HOUR, text=f"{chance.choice(WORDS)} again")
        except QuireError:
            continue
    return opened


def answer(opened: Quire, request: ContextRequest) -> str:
    """Give all that a viewer is told, an error included, as JSON."""
    try:
        payload = opened.workspace.build(request)
    except QuireError as error:
        return f"{type(error).__name__}: {error}"
    told = [asdict(replace(payload, receipt={})), dict(payload.receipt)]
    return json.dumps(told, default=str, sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize("seed", range(STORES))
def test_what_may_not_be_read_changes_no_byte(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    seen = blocks(chance, 24, "b", [])
    hidden = blocks(chance, 12, "h", [block.id for block in seen])
    viewer = Viewer(chance.choice(["alice", "carol", "dave"]), links=("token",) * (seed % 2))
    with (
        written(tmp_path / "bare", [seen], seed=seed) as bare,
        written(tmp_path / "more", [seen, hidden], seed=seed) as more,
    ):
        for number in range(ASKED):
            focus = chance.choice([None, *(block.id for block in (*seen, *hidden))])
            request = ContextRequest(
                " ".join(chance.choices(WORDS, k=3)),
                viewer,
                chance.choice(["assist", "chat", "search", "automate"]),
                Focus(block_id=focus),
                hints=ContextHints(
                    prioritize_types=tuple(chance.choices(TYPES, k=number % 3)),
                    include_blocks=tuple(
                        block.id for block in chance.choices(hidden, k=number % 2)
                    ),
                ),
                as_of=NOW,
            )
            first, second = answer(bare, request), answer(more, request)
            assert first == second
            assert "zqh" not in second.replace(request.query, "")
