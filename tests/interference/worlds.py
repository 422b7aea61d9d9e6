"""Two worlds that differ only in what one viewer may not read.

Both are filled with the same things, and the viewer does the same things in both. In one of them
others write, too: the very texts that the viewer holds, pages of the same name, blocks inside the
viewer's own, and so on. `Deed`s are data: a random world is a random choice of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from quire import Block, Quire, Viewer
from quire.errors import QuireError
from quire.memory.authoring import MAX_EMBEDDED
from tests.conftest import Tree

from .faces import NOW, QUERIES, answer

VERA = "vera"
SECRET = "zqsecret"
"""A word of what the viewer may not read; it must stand in no answer."""
TOKEN = "zqtoken"
SETTINGS = """
[access]
"hidden/**" = ["alice"]
[groups]
team = ["vera", "alice"]
others = ["bob"]
"""
FILES = {
    "quire.toml": SETTINGS,
    "docs/harbour.md": "# Harbour\n\nThe harbour pilot is named Wren. See [the tide](tide.md).\n",
    "docs/tide.md": "# Tide\n\nThe tide turns twice a day.\n",
    "src/crane.py": 'def lift(load):\n    """Lift a load in the harbour."""\n    return hoist(load)\n',
    "src/hoist.py": "def hoist(load):\n    return load + 1\n",
}
SHARED_TEXT = "The plan is to dredge the harbour in May."
LATER = "The dredger comes on Monday."
"""What the viewer writes after others have written the same."""
PENDING = "The dredger is painted green."
"""What the viewer wrote before, and what has no vector yet."""
VAULT = {
    "home.md": "# Home\n\nSee [[Plan]] and [[Budget]] and [the map](deep/map).\n",
    "deep/er/Plan.md": "# Plan\n\nDredge the harbour.\n",
    "deep/map.md": "# Map\n\nA map of the harbour.\n",
    "closed/about.md": "# About\n\nA closed folder.\n",
}
VAULT_SECRETS = {
    "closed/Plan.md": f"# Plan\n\n{SECRET} plan. See [[Home]].\n",
    "closed/Budget.md": f"---\naliases: [Map]\nsupersedes: home\n---\n# Budget\n\n{SECRET} budget.\n",
    "closed/deep/map.md": f"# Map\n\n{SECRET} map. superseded by nothing\n",
}


@dataclass
class World:
    """A project, and what was made in it, by name."""

    tree: Tree
    opened: Quire
    folder: Path
    """Where the vault is."""
    made: dict[str, str] = field(default_factory=dict)

    def import_vault(self, pages: dict[str, str]) -> Any:
        for path, text in pages.items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return self.opened.blocks.import_pages(self.folder, "vault", share=(), at=NOW)

    def page(self, title: str) -> str:
        """Return the id of the imported page with a title."""
        pages = [block for _, block in self.opened.blocks.tree() if block.type == "page"]
        return next(block.id for block in pages if block.text == title and block.source)


Deed = Callable[[World], Any]


# --- what both worlds hold -----------------------------------------------------------------------


def fill(world: World, *, pending: bool) -> None:
    """Fill a world with what the viewer may read, and with what others had before.

    With `pending`, the viewer holds texts that are embedded only by the next `index`.
    """
    opened, made = world.opened, world.made
    world.tree.fill(FILES)
    opened.index()
    made["public"] = opened.memories.add(SHARED_TEXT, at=1).value.id
    made["listed"] = opened.memories.add(
        "The pilot boat is red.", at=2, share=[VERA, "zoe", f"link:{TOKEN}"]
    ).value.id
    made["own"] = opened.memories.add("My own plan is to sail.", at=3, viewer=VERA).value.id
    tried = opened.experiences.start(
        "Dredge by night",
        domain="debugging",
        hypothesis="It is calm",
        at=4,
        share=[VERA, f"link:{TOKEN}"],
    ).value
    opened.experiences.resolve(tried.id, "falsified", at=5, lesson="Wait for the tide.")
    opened.blocks.put(
        [
            Block("page", "page", "Vera's plan", edited=NOW),
            Block("note", "paragraph", "The tide decides.", parent="page", edited=NOW),
            Block("deep", "page", "Below", parent="page", edited=NOW),
        ],
        viewer=VERA,
        at=NOW,
    )
    opened.blocks.put(
        [
            Block("board", "page", "Public plan", access=("public",)),
            Block("open", "page", "For the team", access=("@team", "zoe", f"link:{TOKEN}")),
        ],
        at=NOW,
    )
    opened.documents.put("The public put plan.", path="put/0", metadata={"team": "north", "n": 1})
    opened.documents.put("Vera's put plan.", path="put/1", metadata={"team": "west"}, viewer=VERA)
    context = opened.assemble(QUERIES[0], budget=2000)
    opened.feedback.add(
        context.receipt,
        useful=[context.sources[0].record_id],
        share=[VERA, "zoe", f"link:{TOKEN}"],
        at=NOW,
    )
    world.import_vault(VAULT)
    opened.blocks.share(world.page("closed"), ["alice"], at=NOW)
    opened.index()
    if pending:
        notes = [
            Block(f"p{number}", "todo", f"Pending {number}.") for number in range(MAX_EMBEDDED)
        ]
        opened.blocks.put(
            [*notes, Block("p", "todo", PENDING), Block("q", "page", PENDING)], viewer=VERA, at=NOW
        )


# --- what others do, in one world alone ----------------------------------------------------------


def remember_the_same(world: World) -> None:
    texts = (SHARED_TEXT, "My own plan is to sail.", "The pilot boat is red.", LATER, PENDING)
    for number, text in enumerate(texts):
        name = world.opened.memories.add(text, at=10 + number, viewer="alice").value.id
        world.made[f"same {number}"] = name


def remember_more(world: World) -> None:
    first = world.opened.memories.add(f"{SECRET} one plan.", at=20, viewer="alice").value
    second = world.opened.memories.add(
        f"{SECRET} another plan.", at=21, viewer="alice", supersedes=first.id
    ).value
    world.opened.memories.add(f"{SECRET} of the owner.", at=22, share=["owner"])
    world.opened.memories.edit(second.id, content=f"{SECRET} edited.", viewer="alice", at=23)
    world.made["secret memory"] = second.id


def try_things(world: World) -> None:
    for number in range(4):
        tried = world.opened.experiences.start(
            f"{SECRET} dredging {number}",
            domain="debugging",
            hypothesis=f"{SECRET} calm",
            at=30 + number,
            viewer="alice",
        ).value
        world.opened.experiences.resolve(
            tried.id, "falsified", at=31, lesson=f"{SECRET} lesson", viewer="alice"
        )
    world.opened.principles.refresh(viewer="alice")


def put_blocks(world: World) -> None:
    """Blocks inside and beside those of the viewer, with the same texts, titles and links."""
    world.opened.blocks.put(
        [
            Block("h1", "page", f"{SECRET} below", parent="page", access=("bob",)),
            Block("h2", "paragraph", "The tide decides.", parent="board", access=("alice",)),
            Block("h3", "page", "Public plan", parent="h1", links=("page", "board")),
            Block("h4", "paragraph", f"{SECRET} {LATER}", parent="deep", access=("alice",)),
            Block("h5", "todo", LATER, access=("alice",), relations={"of": ("note",)}),
            Block("h6", "page", f"{SECRET} in between", parent="note", access=("bob",)),
        ],
        at=NOW,
    )


def act_on_what_is_public(world: World) -> None:
    """Views and ratings of others: they are theirs alone."""
    for number in range(3):
        world.opened.blocks.view("board", viewer="alice", at=NOW + 1000 + number)
    context = world.opened.assemble(QUERIES[0], viewer="alice", budget=2000)
    ids = [source.record_id for source in context.sources][:1]
    world.opened.feedback.add(context.receipt, useless=ids, viewer="alice", at=NOW + 5)


def write_files(world: World) -> None:
    world.tree.fill(
        {
            "hidden/plan.md": f"# Plan\n\n{SECRET} {SHARED_TEXT}\n",
            "hidden/tide.md": FILES["docs/tide.md"],
            "hidden/lift.py": f"def hoist(load):\n    return lift(load)  # {SECRET}\n",
        }
    )
    world.opened.index(embed=False)  # embedding is for all, and no secret


def grow_the_vault(world: World) -> None:
    """Write pages of the same names into the closed folder; both worlds import again later."""
    for path, text in VAULT_SECRETS.items():
        place = world.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def put_documents(world: World) -> None:
    """Documents and metadata of others: at the viewer's paths, under the same keys and new ones."""
    documents = world.opened.documents
    documents.put(
        f"{SECRET} {SHARED_TEXT}", path="put/1", metadata={"team": SECRET}, viewer="alice"
    )
    documents.put(
        f"{SECRET} of the owner.",
        path="put/2",
        metadata={"team": "north", "secret_key": 1, "n": 9},
        share=["owner"],
        expires=NOW,
    )
    documents.put(SHARED_TEXT, path="put/3", metadata={"team": "north"}, share=["alice"])
    documents.update("put/3", metadata={"team": "south", "n": 3})
    documents.put("Gone.", path="put/4", metadata={"team": "north"}, share=["alice"])
    documents.delete("put/4")


def move_and_remove(world: World) -> None:
    blocks = world.opened.blocks
    blocks.put([Block("m1", "page", f"{SECRET} moves", access=("alice",))], at=NOW)
    blocks.put([Block("m2", "page", f"{SECRET} goes", access=("alice",))], at=NOW)
    blocks.move("m1", "note", at=NOW)
    blocks.move("m1", "m2", at=NOW)
    blocks.share("m2", ["bob"], at=NOW)
    blocks.delete("m1")


DEEDS: dict[str, Deed] = {
    deed.__name__: deed
    for deed in (
        remember_the_same,
        remember_more,
        try_things,
        put_blocks,
        act_on_what_is_public,
        write_files,
        grow_the_vault,
        put_documents,
        move_and_remove,
    )
}


# --- what the viewer does in both ----------------------------------------------------------------


def act(world: World) -> list[str]:
    """Let the viewer write, move and err; return what they are told."""
    opened = world.opened
    vera = Viewer(VERA)
    world.import_vault(VAULT)

    def tell(ask: Callable[[], Any]) -> str:
        return answer(ask)

    return [
        tell(lambda: opened.memories.add(LATER, at=50, viewer=vera)),
        tell(lambda: opened.documents.put(LATER, path="put/2", metadata={"n": 2}, viewer=vera)),
        tell(lambda: opened.documents.update("put/1", metadata={"n": 5}, viewer=vera)),
        tell(lambda: opened.documents.delete("put/3", viewer=vera)),
        tell(lambda: opened.documents.put("x", path="hidden/plan.md", viewer=vera)),
        tell(lambda: opened.blocks.put([Block("v1", "todo", LATER, "page")], viewer=vera, at=NOW)),
        tell(lambda: opened.blocks.move("deep", "open", viewer=vera, at=NOW)),
        tell(lambda: opened.blocks.edit("page", text="Vera's plans", viewer=vera, at=NOW)),
        tell(lambda: opened.blocks.move("page", "page", viewer=vera, at=NOW)),
        tell(lambda: opened.blocks.delete("h1", viewer=vera)),
        tell(lambda: opened.blocks.move("note", "h1", viewer=vera, at=NOW)),
        tell(lambda: opened.memories.forget(world.made["public"], viewer=vera)),
        tell(lambda: opened.memories.add("New.", supersedes="f" * 32, at=51, viewer=vera)),
        tell(lambda: opened.principles.refresh(viewer=vera)),
        tell(lambda: bool(opened.index())),
    ]


def choose(random: Random) -> list[Deed]:
    """Return some deeds in some order."""
    names = random.sample(sorted(DEEDS), random.randrange(2, len(DEEDS) + 1))
    return [DEEDS[name] for name in names]


def do(world: World, deeds: Sequence[Deed]) -> None:
    """Do what others do; what is not possible is left out."""
    for deed in deeds:
        try:
            deed(world)
        except QuireError as error:
            error.add_note(f"in {deed.__name__}")
            raise
