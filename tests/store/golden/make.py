"""Creates the golden store of a format.

    PYTHONPATH=tests python -m store.golden.make

writes `vN.db.gz` and `vN.json`, where N is the newest format: a small store with all that a store
can hold, and what it answered. A format that has been released is never made again: its golden
store stands for the files that people have, and must go on giving the same answers for ever.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from quire.core.protocols import Store
from quire.core.types import MAIN, AccessRule, Entity, Event, Filter, Outline, Reference, Stamp
from quire.store import open_store
from quire.store.sqlite.schema import MIGRATIONS

# This file is also a program of its own, one folder below what it shares with the tests.
from ..answers import Questions, answers_by_viewer, stored_settings, without_messages  # noqa: TID252
from ..samples import VIEWERS, document, fill, vector_for  # noqa: TID252

HERE = Path(__file__).parent
VERSION = len(MIGRATIONS)
SPACES = (MAIN, "second")

DOCUMENTS = [
    document(
        "guide",
        "Install with pip.\n",
        "Then run quire index; 検索エンジン and Café work, too.\n",
        path="docs/guide.md",
        title="Guide > Installing",
        kind="markdown",
        chunk_kind="section",
        links=[("code", "link"), ("absent", "link")],
        modified=1_700_000_000,
        author="Zoë",
        attrs={"language": "en", "stars": 3},
    ),
    document(
        "code", "def parseHTTPRequest(): pass\n", path="src/http.py", kind="code", parent="guide"
    ),
    document("plan", "alpha beta: the plan\n", acl=("alice", "@ops"), position=2, modified=5),
    document("secret", "alpha gamma: the owner's\n", acl=("owner",), links=[("guide", "relation")]),
    document("twin", "alpha beta: the plan\n", acl=("bob",), path="docs/twin.md"),
    document("empty", path="docs/empty.md"),
]

QUESTIONS = Questions(
    queries=("alpha plan", "parsehttprequest", "検索 cafe install"),
    vectors=(vector_for("question"),),
    filters=(Filter(), Filter(kinds=("section", "code"), paths=("docs/", "src/"), since=0)),
    ks=(2, 9),
    records=(*(each.record.id for each in DOCUMENTS), "cart", "commit"),
    chunks=tuple(chunk.id for each in DOCUMENTS for chunk in each.chunks),
    names=("total", "price"),
)


CART = Outline(
    (
        Entity("module", "cart", "cart", 0, 40, (1, 2), summary="Carts."),
        Entity("function", "total", "total", 10, 40, (2, 2), 0, "def total():", "Ä", ("@x",)),
    ),
    (Reference("price", "call", 1, 2),),
)
SINCE = {
    2: [
        document("cart", "def total(): price(price())\n", path="docs/cart.py", outline=CART),
        document("commit", "Add carts.", kind="commit", modified=9, paths=("docs/cart.py", "a")),
    ],
    3: [
        document("page", "The plan", kind="block.page", acl=("link:x9", "alice")),
        document("below", "[ ] row", kind="block.todo", parent="page", position=1, acl=("alice",)),
    ],
    5: [
        document(
            "ticket",
            "alpha: the ticket\n",
            path="crm/42",
            metadata={"due": "2026-01-31", "n": 2.5, "open": True, "tags": ("x", "é")},
            expires=1_800_000_000,
            origin="put",
        )
    ],
}
"""What later formats can hold besides."""


WAITING_SINCE = 6
"""The format since which vectors may wait until they replace the others."""


def build(path: Path, version: int = VERSION) -> None:
    """Create the store, with some history, and nothing that its format could not hold."""
    store = open_store(path)
    fill(store, document("gone", "alpha that is gone"), *DOCUMENTS[:3], embed=True)
    fill(store, document("guide", "an older guide", path="docs/old.md"))
    fill(store, *DOCUMENTS)
    with store.write() as writer:
        writer.remove(["gone"])
        writer.set_rules("config", [AccessRule("docs/", ("alice", "@ops"))])
        writer.set_rules("command", [AccessRule("docs/guide.md", ("public",))])
        writer.set_groups("config", {"ops": ["bob", "dan"]})
        writer.put_events([Event("alice", "view", "plan", 7), Event("bob", "edit", "twin", 9)])
        writer.stamp([Stamp("docs/guide.md", 42, 1_700_000_000_000_000_000, "ab" * 32, "guide")])
        writer.set_note("root", "/project")
    fill(store, *DOCUMENTS[1:4], space="second")
    with store.write("second") as writer:
        writer.set_default(("bob",))
    for since, documents in SINCE.items():
        if since <= version:
            fill(store, *documents)
    if version >= WAITING_SINCE:
        key, _ = next(iter(store.missing_vectors(waiting_for="next")))[0]
        with store.write() as writer:
            writer.put_waiting_vectors("next", {key: vector_for("next")})
    store.close()


def answers(store: Store, version: int = VERSION) -> dict[str, Any]:
    """Return all answers, without error messages: those may change between versions."""
    blocks = tuple(each.record.id for each in SINCE[3]) if version >= 3 else ()
    filters = QUESTIONS.filters
    if version >= 5:
        blocks += ("ticket",)
        filters += (Filter(where='n > 2 and tags = "é"', alive_at=1_700_000_000),)
    questions = replace(QUESTIONS, records=(*QUESTIONS.records, *blocks), filters=filters)
    return {
        space: {
            "seen": [
                json.loads(without_messages(answer))
                for answer in answers_by_viewer(store, questions, VIEWERS, space)
            ],
            "kept": json.loads(stored_settings(store, space)),
            "model": store.model(space),
            "note": store.note("root", space),
            "reembedding": None if (new := store.reembedding(space)) is None else asdict(new),
        }
        for space in SPACES
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        build(path)
        store = open_store(path)
        told = answers(store)
        store.close()
        packed = gzip.compress(path.read_bytes(), mtime=0)
    (HERE / f"v{VERSION}.db.gz").write_bytes(packed)
    written = json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    (HERE / f"v{VERSION}.json").write_text(written + "\n", encoding="utf-8")
    sys.stdout.write(f"v{VERSION}: {len(packed)} bytes, {len(written)} characters of answers\n")


if __name__ == "__main__":
    main()
