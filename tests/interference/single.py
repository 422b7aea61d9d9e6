"""What is checked by itself, as two worlds cannot show it: errors, and what was handed out before.

Each function returns what tells of something that the viewer may not read.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from quire import Block
from quire.core.types import OWNER
from quire.errors import QuireError
from quire.mcp import resources
from quire.mcp.context_tools import assemble
from quire.mcp.session import Session
from quire.store import open_store
from tests.conftest import Tree
from tests.store.conftest import lower_cache_limits
from tests.store.samples import ALICE, document, fill, vector_for

WORDS_ONLY = '[embed]\nprovider = "none"\n'


def refused_circle(folder: Path) -> list[str]:
    """Move a block into itself, through a block that its author may not read."""
    tree = Tree(folder / "circle")
    tree.write("quire.toml", WORDS_ONLY)
    with tree.open() as opened:
        opened.blocks.put(
            [Block("top", "page", "Top"), Block("low", "page", "Low", parent="top")],
            viewer="vera",
            at=1,
        )
        opened.blocks.put([Block("zqh", "page", "Hidden", "top", access=("bob",))], at=1)
        opened.blocks.share("low", ["vera"], at=1)
        opened.blocks.move("low", "zqh", at=1)
        try:
            opened.blocks.move("top", "low", viewer="vera", at=2)
        except QuireError as error:
            told = f"{error} {error.value} {error.hint} {error.allowed}"
            return [told] if "zqh" in told else []
    return ["the circle was not refused"]


def kept_contexts(folder: Path) -> list[str]:
    """Read a context again when its source may no longer be read, and as another client."""
    tree = Tree(folder / "kept")
    tree.write("quire.toml", WORDS_ONLY)
    tree.write("plan.md", "# Plan\n\nThe zqplan is to dredge.\n")
    tree.write("other.md", "# Other\n\nNothing of it.\n")
    tree.index()
    session = Session(str(tree.store), None, "vera")
    told: list[str] = []
    try:
        name = assemble(session, {"query": "zqplan", "recipe": "documents"}, lambda _: None).data[
            "receipt"
        ]
        uris = [resources.context_uri(name), resources.receipt_uri(name)]
        assert "zqplan" in resources.read_resource(session, uris[0])[0].text
        other = session.of_client("another")
        told += [resource.uri for resource in resources.list_resources(other)]
        told += [uri for uri in uris if _can_read(other, uri)]
        tree.write("quire.toml", WORDS_ONLY + '[access]\n"plan.md" = ["alice"]\n')
        told += [uri for uri in uris if _can_read(session, uri)]
    finally:
        session.close()
    return told


def kept_searches(folder: Path) -> list[str]:
    """Search again by vector after the access to what was found has changed."""
    store = open_store(folder / "store.db")
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        lower_cache_limits(patch)
        names = [f"d{number}" for number in range(6)]
        fill(store, *(document(name, f"text {name}") for name in names), embed=True)
        for name, reader in ((names[0], ("public",)), (names[1], ("bob",)), (names[2], ("@ops",))):
            fill(store, document(name, f"text {name}", acl=reader))
            for viewer in (OWNER, ALICE):
                with store.view(viewer) as view:
                    hits = view.semantic(vector_for("question"), 6).hits
                    told += [hit.path for hit in hits if not view.chunks([hit.id])]
    store.close()
    return told


def _can_read(session: Session, uri: str) -> bool:
    try:
        resources.read_resource(session, uri)
    except QuireError:
        return False
    return True
