"""All text of the store that is handed out is in the access log, by whatever way it goes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from quire import Block, Quire
from quire.engine import Quire as Engine
from quire.errors import StoreError
from quire.mcp import resources
from quire.mcp.context_tools import assemble, search
from quire.mcp.memory_tools import experience
from quire.mcp.session import Session

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

VERA = "vera"
LOG = "log/given.jsonl"
SETTINGS = f'[embed]\nprovider = "none"\n[audit]\nfile = "{LOG}"\n'
FILES = {
    "a.md": "# Mast\n\nThe mast is tall.\n",
    "mast.py": "def raise_mast(mast):\n    return mast\n",
}
Ask = Callable[[Quire, dict[str, str]], Any]
WAYS: dict[str, tuple[str, Ask]] = {
    "assemble": ("context", lambda q, _: q.assemble("mast", viewer=VERA)),
    "explain": ("context", lambda q, _: q.explain("mast", viewer=VERA)),
    "search": ("search", lambda q, _: q.search("mast", viewer=VERA)),
    "inspection.sweep": ("sweep", lambda q, _: q.inspection.sweep("mast", [2000], viewer=VERA)),
    "map": ("map", lambda q, _: q.map(viewer=VERA)),
    "documents.list": ("records", lambda q, _: q.documents.list(viewer=VERA)),
    "documents.get": ("documents", lambda q, ids: q.documents.get(ids["put"], viewer=VERA)),
    "documents.facets": ("facets", lambda q, _: q.documents.facets(viewer=VERA)),
    "documents.chunks": ("chunks", lambda q, _: q.documents.chunks(viewer=VERA)),
    "documents.text": ("source", lambda q, ids: q.documents.text(ids["memory"], viewer=VERA)),
    "memories.list": ("memories", lambda q, _: q.memories.list(viewer=VERA)),
    "memories.get": ("memories", lambda q, ids: q.memories.get(ids["memory"], viewer=VERA)),
    "memories.export": ("memories", lambda q, _: q.memories.export(viewer=VERA)),
    "experiences.list": ("experiences", lambda q, _: q.experiences.list(viewer=VERA)),
    "experiences.get": ("experiences", lambda q, ids: q.experiences.get(ids["try"], viewer=VERA)),
    "blocks.get": ("blocks", lambda q, _: q.blocks.get("page", viewer=VERA)),
    "blocks.view": ("blocks", lambda q, _: q.blocks.view("page", viewer=VERA)),
    "blocks.tree": ("blocks", lambda q, _: q.blocks.tree(viewer=VERA)),
    "blocks.export": ("blocks", lambda q, _: q.blocks.export(viewer=VERA)),
}
OTHERS = {
    "documents": {
        "prove", "path_of", "still_there", "stale", "indexed_at", "history", "why_not_indexed", "readable",
        "records_of", "read_again", "put", "put_many", "update", "delete", "sync", "drop_source",
        "remove_expired", "prove_record", "put_async", "put_many_async", "get_async", "update_async",
        "delete_async",
    },
    "memories": {"add", "edit", "forget", "import_lines"},
    "experiences": {"start", "update", "resolve", "import_postmortems"},
    "principles": {"refresh", "list"},
    "blocks": {"put", "edit", "move", "share", "delete", "import_lines", "import_pages"},
    "feedback": {"add", "forget", "list"},
    "inspection": {"times"},
    "": {
        "close", "config", "store", "notes", "root", "embedder", "index", "watch", "embed_missing",
        "status", "doctor", "purge", "search_async", "assemble_async", "verify", "replay", "diff",
        "verify_determinism", "why_not", "sign", "viewer", "for_viewer", "roots", "session",
    },
}  # fmt: skip
"""What gives out no text of others, or does so by one of those above; values have a test below."""


@pytest.fixture
def watched(plant: Forest) -> Tree:
    tree = plant("watched", {"quire.toml": SETTINGS, **FILES})
    tree.index()
    return tree


def fill(quire: Quire) -> dict[str, str]:
    memory = quire.memories.add("The mast is new.", at=1, share=["public"]).value.id
    tried = quire.experiences.start("Raise the mast", domain="debugging", at=2).value.id
    quire.blocks.put([Block("page", "page", "The mast of the page")], at=3)
    put = quire.documents.put(
        "The mast is put.", path="put", metadata={"of": "mast"}, share=["public"]
    ).path
    return {"memory": memory, "try": tried, "put": put}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_handed_out_is_recorded_or_withheld(watched: Tree, way: str) -> None:
    what, ask = WAYS[way]
    with watched.open() as quire:
        ids = fill(quire)
        assert quire.audit.entries() == []
        ask(quire, ids)
        (entry,) = quire.audit.entries(VERA)
        assert (entry["viewer"], entry["what"]) == (VERA, what)
        assert entry["pieces"] or entry["records"]
        assert "mast" not in json.dumps(entry)
        (watched.root / LOG).unlink()
        (watched.root / LOG).mkdir()
        with pytest.raises(StoreError, match="withheld, because the audit log cannot be written"):
            ask(quire, ids)


def test_every_method_is_known_to_hand_out_text_or_not(watched: Tree) -> None:
    with watched.open() as quire:
        for name, others in OTHERS.items():
            service = getattr(quire, name) if name else quire
            kind = Engine if service is quire else type(service)
            methods = {each for each, _ in inspect.getmembers(kind) if not each.startswith("_")}
            recorded = {way.rpartition(".")[2] for way in WAYS if way.rpartition(".")[0] == name}
            assert methods == recorded | others, name


def test_what_servers_hand_out_is_recorded(watched: Tree) -> None:
    with watched.open() as quire:
        ids = fill(quire)
    session = Session(str(watched.store), None, VERA)
    try:
        name = assemble(session, {"query": "mast"}, lambda _: None).data["receipt"]
        search(session, {"query": "mast"}, lambda _: None)
        experience(session, {"operation": "list"}, lambda _: None)
        for uri in (
            resources.context_uri(name),
            resources.receipt_uri(name),
            resources.source_uri(ids["memory"]),
        ):
            resources.read_resource(session, uri)
        told = [entry["what"] for entry in session.quire().audit.entries(VERA)]
        assert told == ["context", "search", "experiences", "context", "receipt", "source"]
        (watched.root / LOG).unlink()
        (watched.root / LOG).mkdir()
        with pytest.raises(StoreError, match="withheld"):
            resources.read_resource(session, resources.context_uri(name))
    finally:
        session.close()


def test_what_the_owner_proves_is_recorded(watched: Tree) -> None:
    with watched.open() as quire:
        proof = quire.documents.prove_record(fill(quire)["put"])
        (entry,) = quire.audit.entries()
        assert (entry["what"], entry["records"]) == ("records", [proof.record.id])


def test_the_log_of_an_earlier_version_is_read(watched: Tree) -> None:
    line = {"at": 1, "viewer": VERA, "recipe": "documents", "receipt": "ab", "pieces": ["cd"]}
    watched.write(LOG, json.dumps(line, separators=(",", ":")) + "\n")
    with watched.open() as quire:
        quire.search("mast", viewer=VERA)
        first, second = quire.audit.entries(VERA)
        assert (first["what"], second["what"]) == ("context", "search")
        assert quire.audit.contexts() == [first]
    shown = watched.call("access", "log").stdout.splitlines()
    assert shown[0].endswith("vera  documents  1 piece  ab")
    assert shown[1].endswith("vera  search  1 piece") or "search" in shown[1]


def test_nothing_found_is_nothing_to_record(watched: Tree) -> None:
    with watched.open() as quire:
        assert len(quire.search("zeppelin", viewer=VERA)) == 0
        assert quire.memories.list(viewer=VERA) == []
        assert quire.principles.list(viewer=VERA) == []
        assert quire.audit.entries() == []
