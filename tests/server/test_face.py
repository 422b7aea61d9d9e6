"""The public face: one suite, for an open store and for a client of the service.

A program moves from one to the other by changing the line that opens it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

import quire
from quire import Block, Filter, InvalidContextTypeError, NewDocument, QuireError, Viewer
from quire.client import document_calls
from quire.core.serialize import json_line
from quire.errors import (
    BudgetError,
    BudgetTooSmallError,
    InputError,
    MissingDocumentError,
    ServiceError,
)
from tests.conftest import Tree

from .running import SECRET, Running, fill, running

QUERY = "Who is the pilot of the harbour?"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    tree = fill(Tree(tmp_path_factory.mktemp("face") / "harbour"))
    with running(tree) as started:
        yield started


class Awaited:
    """An AsyncClient, or a part of one, whose coroutines are run to their end."""

    def __init__(self, part: Any, runner: asyncio.Runner) -> None:
        self._part = part
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._part, name)
        if inspect.iscoroutine(value):
            return self._runner.run(value)
        if not callable(value):
            return Awaited(value, self._runner)
        if name.endswith("_async"):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            result = value(*args, **kwargs)
            if not inspect.iscoroutine(result):  # a session
                return Awaited(result, self._runner)
            return self._runner.run(result)

        return call


@pytest.fixture(params=["embedded", "service", "async"])
def face(request: pytest.FixtureRequest, place: Running) -> Iterator[Any]:
    """The same store, opened by this process or asked over HTTP by either client."""
    if request.param == "embedded":
        with place.tree.open() as opened:
            yield opened
    elif request.param == "service":
        with quire.Client(place.url, place.tokens["owner"]) as client:
            yield client
    else:
        with asyncio.Runner() as runner:
            waiting = quire.AsyncClient(place.url, place.tokens["owner"])
            yield Awaited(waiting, runner)
            runner.run(waiting.close())


def both(place: Running) -> tuple[quire.Quire, quire.Client]:
    return place.tree.open(), quire.Client(place.url, place.tokens["owner"])


def sent(context: quire.Context) -> quire.Context:
    """Return a context as it is sent: with a compact receipt."""
    return replace(context, receipt=quire.compact_receipt(context.receipt))


def test_assemble(face: Any) -> None:
    context = face.assemble(QUERY, budget=1800)
    assert "Wren" in context.text
    assert len(context) == len(context.sources) > 0
    assert context.tokens <= context.available
    assert face.verify(context.receipt, context.text).holds
    again, differences = face.replay(context.receipt)
    assert (again.text, differences) == (context.text, [])
    other = face.assemble(QUERY, budget=1800, format="xml")
    assert face.diff(context.receipt, other.receipt)
    assert face.diff(context.receipt, context.receipt) == []


@pytest.mark.parametrize(
    "options",
    [
        {"budget": 900},
        {"budget": 2000, "recipe": "agent"},
        {"budget": 900, "where": Filter(kinds=("document",))},
        {"budget": 900, "paths": ["docs/**"], "since": "2001-01-01"},
        {"budget": 900, "history": [("user", "Hello"), ("assistant", "Yes?")]},
        {"budget": 900, "viewer": "bob"},
        {"budget": 900, "viewer": Viewer("carol", ("crew",))},
    ],
)
def test_both_give_the_same_context(place: Running, options: Any) -> None:
    opened, client = both(place)
    with opened, client:
        assert sent(opened.assemble(QUERY, **options)) == client.assemble(QUERY, **options)
        assert sent(opened.explain(QUERY, **options)) == client.explain(QUERY, **options)
        why = opened.why_not(QUERY, "docs/tides.md", **options)
        assert why == client.why_not(QUERY, "docs/tides.md", **options)


def test_both_give_the_same_records(place: Running) -> None:
    opened, client = both(place)
    with opened, client:
        assert opened.documents.list() == client.documents.list()
        assert opened.documents.chunks("docs/tides.md") == client.documents.chunks("docs/tides.md")
        assert opened.memories.list() == client.memories.list()
        assert opened.experiences.list() == client.experiences.list()
        assert opened.principles.list() == client.principles.list()
        assert sent(opened.agent.premortem("debugging")) == client.agent.premortem("debugging")
        mine, theirs = opened.status(), client.status()
        assert (mine.roots, mine.records, mine.chunks) == (
            theirs.roots,
            theirs.records,
            theirs.chunks,
        )
        situation = {"tool": "edit", "path": "docs/tides.md"}
        assert sent(opened.rules.situate(situation)) == client.rules.situate(situation)


def test_documents(face: Any) -> None:
    day = date(2026, 5, 3)
    added = face.documents.put(
        "# Acme\n\nAcme asked for an offer of two cranes.",
        path="crm/42",
        metadata={"team": "north", "since": day, "tags": ["a", "b"]},
        modified=day,
        share=["bob"],
    )
    assert (added.path, added.state, added.redacted) == ("crm/42", "added", ())
    again = face.documents.put(
        "# Acme\n\nAcme asked for an offer of two cranes.",
        path="crm/42",
        metadata={"team": "north", "since": day, "tags": ["a", "b"]},
        modified=day,
        share=["bob"],
    )
    assert (again.id, again.state) == (added.id, "unchanged")
    found = face.documents.get("crm/42")
    assert found.title == "Acme"
    assert found.metadata == {"since": "2026-05-03", "tags": ("a", "b"), "team": "north"}
    assert (found.modified, found.share) == (1777766400, ("user:bob",))
    assert "two cranes" in face.documents.get("crm/42", viewer="bob").text
    assert [each.path for each in face.documents.list('team = "north"')] == ["crm/42"]
    assert [each.path for each in face.documents.list(put_only=True)] == ["crm/42"]
    assert {facet.key: facet.values for facet in face.documents.facets()}["team"] == (("north", 1),)
    changed = face.documents.update(
        "crm/42", metadata={"team": "south", "tags": None}, title="Acme Ltd", expires=None, share=[]
    )
    assert changed.metadata == {"since": "2026-05-03", "team": "south"}
    assert (changed.title, changed.acl) == ("Acme Ltd", None)
    assert face.documents.get("crm/42").metadata == changed.metadata
    assert face.documents.delete("crm/42") is True
    assert face.documents.delete("crm/42", missing_ok=True) is False
    with pytest.raises(InputError, match="no document has the path"):
        face.documents.delete("crm/42")


def test_documents_of_all_kinds(face: Any) -> None:
    messages = [{"role": "user", "content": "Where does the ferry moor?", "at": 1777766400}]
    contents: dict[str, Any] = {
        "kinds/text": "A plain text.",
        "kinds/page.html": b"<h1>Ferry</h1><p>The ferry moors.</p>",
        "kinds/chat": messages,
        "kinds/row": {"name": "Ferry", "seats": 40},
    }
    for path, content in contents.items():
        face.documents.put(content, path=path)
    face.documents.put({"name": "Ferry"}, path="kinds/filled", template="Boat: {name}")
    assert "The ferry moors." in face.documents.get("kinds/page.html").text
    assert face.documents.get("kinds/chat").kind == "conversation"
    assert '"seats": 40' in face.documents.get("kinds/row").text
    assert face.documents.get("kinds/filled").text == "Boat: Ferry"
    assert face.documents.get("docs/tides.md").origin == ""
    for path in (*contents, "kinds/filled"):
        face.documents.delete(path)


def test_many_documents(face: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_calls, "BATCH_DOCUMENTS", 20)
    seen: list[int] = []
    documents: list[Any] = [
        {"content": f"# Note {number}\n\nText {number}.", "path": f"notes/{number:04}"}
        for number in range(45)
    ]
    documents[3] = NewDocument("# Three\n\nThe third.", "notes/0003", metadata={"n": 3})
    summary = face.documents.put_many(
        iter(documents), embed=False, report=lambda progress: seen.append(progress.done)
    )
    assert (summary.added, summary.changed, summary.skipped) == (45, 0, ())
    assert seen == sorted(seen)
    assert seen[-1] == 45
    assert face.documents.put_many(documents, embed=False).unchanged == 45
    wrong = [
        *documents[:30],
        {"content": "", "path": "notes/empty"},
        InputError("cannot be read", place="line 32"),
        {"path": "notes/none"},
        {"content": "x", "path": "../etc"},
        {"content": "# Last\n\nThe last.", "path": "notes/last"},
    ]
    summary = face.documents.put_many(wrong, embed=False, skip_errors=True)
    assert (summary.added, summary.unchanged) == (1, 30)
    assert sorted(each.path for each in summary.skipped) == [
        "../etc",
        "document 32",
        "notes/empty",
        "notes/none",
    ]
    with pytest.raises(InputError, match=r"^document 31.*empty"):
        face.documents.put_many(wrong, embed=False)
    with pytest.raises(InputError, match=r"^document 1: path: is missing"):
        face.documents.put_many([{"content": "x"}])
    for document in face.documents.list(Filter(paths=("notes/**",))):
        face.documents.delete(document.path)


def test_documents_of_others(face: Any) -> None:
    mine = face.documents.put("# Mine\n\nBob keeps this.", path="diary", viewer="bob")
    assert mine.path == "@bob/diary"
    assert face.documents.get("diary", viewer="bob").author == "bob"
    for viewer in ("alice", "bob"):
        with pytest.raises(InputError) as raised:
            face.documents.update("hr/pay.md", metadata={"a": 1}, viewer=viewer)
        told = "is a file" if viewer == "alice" else "no document has the path"
        assert told in str(raised.value)
    with pytest.raises(InputError, match="nothing has the path"):
        face.documents.get("@bob/diary", viewer="alice")
    assert face.documents.delete("@bob/diary", viewer="bob")


def test_search(face: Any) -> None:
    found = face.search("harbour", k=3)
    assert 0 < len(found) <= 3
    assert found[0].path
    assert found[0].chunk.kind
    assert face.documents.text(found[0].chunk.id) == found[0].text
    assert {each.chunk.kind for each in face.search("harbour", kinds=["document"])} == {"document"}
    assert SECRET in "".join(each.text for each in face.search("doubloons"))
    assert SECRET not in "".join(each.text for each in face.search("doubloons", viewer="bob"))


def test_memories(face: Any) -> None:
    written = face.memories.add("The quay is repaired in May.", importance=0.8, share=["bob"])
    memory = written.value
    assert (memory.importance, memory.acl) == (800, ("user:bob",))
    assert face.memories.get(memory.id) == memory
    newer = face.memories.add("The quay is repaired in June.", supersedes=memory.id).value
    assert face.memories.get(memory.id).superseded_by == newer.id
    assert memory.id not in [each.id for each in face.memories.list()]
    assert memory.id in [each.id for each in face.memories.list(history=True)]
    edited = face.memories.edit(newer.id, category="decision").value
    assert edited.category == "decision"
    face.memories.forget(newer.id)
    face.memories.forget(memory.id)
    with pytest.raises(InputError, match="does not exist"):
        face.memories.get(memory.id)


def test_experiences(face: Any) -> None:
    started = face.experiences.start(
        f"Moor the ferry ({type(face).__name__})", domain="testing", share=["public"]
    ).value
    updated = face.experiences.update(started.id, hypothesis="The rope is short").value
    assert updated.hypothesis == "The rope is short"
    ended = face.experiences.resolve(started.id, "confirmed", lesson="Bring a rope").value
    assert face.experiences.get(started.id) == ended
    assert ended.id in [each.id for each in face.experiences.list(domain="testing")]
    with pytest.raises(InputError, match="domain"):
        face.experiences.list(domain="nowhere")


def test_memories_come_back(face: Any) -> None:
    old = face.memories.add("The bell is cracked.").value
    new = face.memories.add("The bell is mended.", supersedes=old.id).value
    exported = face.memories.export()
    assert {old.id, new.id} <= {memory.id for memory in exported}
    lines = "\n".join(json_line(each) for each in exported if each.id in (old.id, new.id))
    for memory in (new, old):
        face.memories.forget(memory.id)
    result = face.memories.import_lines(lines)
    assert (result.added, result.changed) == (2, 0)
    assert face.memories.import_lines(lines).unchanged == 2
    assert face.memories.get(old.id).superseded_by == new.id
    with pytest.raises(InputError, match="line 2"):
        face.memories.import_lines('{"content": "a"}\n{"text": "b"}')
    for memory in (new, old):
        face.memories.forget(memory.id)


def test_blocks_come_back(face: Any) -> None:
    face.blocks.put([Block("pier", "page", "Pier"), Block("p1", "todo", "Nail", parent="pier")])
    exported = face.blocks.export("pier")
    assert [block.id for block in exported] == ["pier", "p1"]
    assert face.blocks.view("p1", viewer=None).text == "Nail"
    face.blocks.delete("pier")
    result = face.blocks.import_lines("\n".join(map(json_line, exported)))
    assert (result.added, face.blocks.get("p1").parent) == (2, "pier")
    face.blocks.delete("pier")


def test_the_rest_of_the_face(face: Any, place: Running) -> None:
    assert face.roots() == face.status().roots
    assert face.viewer.owner
    assert isinstance(face.notes, tuple)
    code = face.map(budget=200)
    assert "lift" in code.text
    assert code.tokens <= 200
    steps = face.inspection.sweep(QUERY, [900, 1800])
    assert [step.budget for step in steps] == [900, 1800]
    assert steps[-1].sources
    assert "pack" in [each.step for each in face.inspection.times(QUERY, budget=900)]
    page = face.agent.assemble_context(QUERY, max_tokens=900)
    assert "Wren" in page.markdown
    assert face.agent.get_premortem_context("debugging").markdown


def test_rules(face: Any, place: Running) -> None:
    files = {
        "yard/.context.md": "---\nname: Yard\ncontext_rules:\n  - when: tool = edit\n    action: Ask the foreman\n---\nBe careful.\n"
    }
    place.tree.fill(files)
    local = place.tree.open()
    at = place.tree.root / "yard" if isinstance(face, quire.Quire) else "yard"
    with local:
        root = place.tree.root / "yard"
        assert face.rules.list(at) == local.rules.list(root)
        assert face.rules.list() == local.rules.list()
        assert face.rules.check() == local.rules.check()
        assert face.rules.check([at]) == local.rules.check([root])
        situation = {"tool": "edit", "path": "yard/crane.md"}
        assert face.rules.test(situation, at) == local.rules.test(situation, root)


def test_a_session(face: Any, place: Running) -> None:
    place.tree.write("docs/lamp.md", "# Lamp\n\nThe lamp of the quay is green.\n")
    questions = ["Which colour has the lamp of the quay?", QUERY, "When does the tide turn?"]
    with place.tree.open() as opened:
        opened.index(embed=False)
        local = opened.session(budget=3000, viewer="bob")
        expected = [local.ask(question) for question in questions]
    session = face.session(budget=3000, viewer="bob")
    turns = [session.ask(question) for question in questions]
    for turn, same in zip(turns, expected, strict=True):
        assert (turn.number, turn.text, turn.query) == (same.number, same.text, same.query)
        assert (turn.tokens, turn.cached_tokens) == (same.tokens, same.cached_tokens)
        assert [source.path for source in turn.sources] == [each.path for each in same.sources]
    assert "green" in turns[0].text
    assert turns[2].text.startswith(turns[1].text)
    assert turns[2].cached_tokens == turns[1].tokens > 0
    # What was shown and is no more: the text is made anew from there.
    place.tree.write("docs/lamp.md", "# Lamp\n\nThe lamp of the quay is broken.\n")
    with place.tree.open() as opened:
        opened.index(embed=False)
    again = session.ask("Who repairs the lamp?")
    assert again.restarted == "docs/lamp.md changed, or may no longer be read"
    assert "green" not in again.text
    mistakes: list[dict[str, Any]] = [{"reserve": {}}, {"fresh": 0}, {"budget": -1}]
    for wrong in mistakes:
        with pytest.raises((InputError, BudgetError)):
            face.session(**wrong)


def test_methods_for_an_event_loop(face: Any) -> None:
    async def ask() -> None:
        context, found = await asyncio.gather(
            face.assemble_async(QUERY, budget=1800), face.search_async("tide")
        )
        assert "Wren" in context.text
        assert found
        put = await face.documents.put_async("# Late\n\nLate.", path="late")
        assert (await face.documents.get_async("late")).id == put.id
        assert (await face.documents.put_many_async([])).added == 0
        assert await face.documents.delete_async("late")
        assert (await face.rules.situate_async({"tool": "edit"})).receipt
        assert (await face.agent.premortem_async("debugging")).text

    if isinstance(face, Awaited):
        face._runner.run(ask())
    else:
        asyncio.run(ask())


def test_blocks(face: Any) -> None:
    page, line = Block("quay", "page", "Quay"), Block("q1", "todo", "Paint it", parent="quay")
    stored = face.blocks.put([page, line]).value
    assert [block.id for block in stored] == ["quay", "q1"]
    edited = face.blocks.edit("q1", properties={"done": True, "who": ("bob", "carol")}).value
    assert edited.properties == {"done": True, "who": ("bob", "carol")}
    assert face.blocks.get("q1") == edited
    assert [(depth, block.id) for depth, block in face.blocks.tree("quay")] == [
        (0, "quay"),
        (1, "q1"),
    ]
    face.blocks.share("quay", ["bob"])
    face.blocks.move("q1", None, position=2)
    assert face.blocks.get("q1").parent is None
    assert [block.id for block in face.blocks.delete("quay")] == ["quay"]
    assert len(face.blocks.delete("q1")) == 1


def test_feedback(face: Any) -> None:
    context = face.assemble(QUERY, budget=1800)
    given = face.feedback.add(context.receipt, useful=[context.sources[0].path]).value
    assert given in face.feedback.list()
    face.feedback.forget(given.id)
    assert given not in face.feedback.list()


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (InputError, lambda face: face.assemble("")),
        (InputError, lambda face: face.assemble(QUERY, format="csv")),
        (BudgetError, lambda face: face.assemble(QUERY, budget=1)),
        (BudgetTooSmallError, lambda face: face.assemble(QUERY, budget=3, reserve={})),
        (InvalidContextTypeError, lambda face: face.assemble(QUERY, recipe="agent", types=["x"])),
        (InputError, lambda face: face.search("x", since="yesterday")),
        (InputError, lambda face: face.memories.get("ffff")),
        (InputError, lambda face: face.documents.text("ffff")),
        (InputError, lambda face: face.memories.add("x", category="nonsense")),
        (InputError, lambda face: face.documents.put("", path="x")),
        (InputError, lambda face: face.documents.put("x", path="../x")),
        (InputError, lambda face: face.documents.put("x", path="x", type="word")),
        (InputError, lambda face: face.documents.put("x", path="x", metadata={"a": {"b": 1}})),
        (InputError, lambda face: face.documents.put("x", path="docs/tides.md")),
        (InputError, lambda face: face.documents.update("docs/tides.md", title="x")),
        (InputError, lambda face: face.documents.update("nowhere")),
        (InputError, lambda face: face.documents.list("team =")),
        (MissingDocumentError, lambda face: face.documents.get("nowhere")),
        (MissingDocumentError, lambda face: face.documents.update("nowhere", title="x")),
        (MissingDocumentError, lambda face: face.documents.delete("nowhere")),
        (BudgetTooSmallError, lambda face: face.map(budget=1)),
    ],
)
def test_errors_are_of_the_same_class(face: Any, error: type[QuireError], call: Any) -> None:
    with pytest.raises(error) as raised:
        call(face)
    assert str(raised.value)
    assert type(raised.value) is error


def test_index(face: Any, place: Running) -> None:
    seen: list[str] = []
    place.tree.write("docs/buoy.md", f"# Buoy\n\nThe {type(face).__name__} buoy is red.\n")
    paths = [place.tree.root / "docs"] if isinstance(face, quire.Quire) else ["docs"]
    result = face.index(paths, embed=False, report=lambda progress: seen.append(progress.stage))
    assert result.indexed == 1
    assert result.state_root == face.status().roots.state


def test_the_async_client_has_the_same_methods(place: Running) -> None:
    async def ask() -> None:
        async with quire.AsyncClient(place.url, place.tokens["owner"]) as client:
            context, found, listed = await asyncio.gather(
                client.assemble(QUERY, budget=1800), client.search("tide"), client.memories.list()
            )
            assert "Wren" in context.text
            assert len(found)
            assert listed
            with pytest.raises(InputError):
                await client.memories.get("ffff")

    asyncio.run(ask())


EMBEDDED_ONLY: dict[str, set[str]] = {
    "": {
        # Of this process: objects that are open in it, and folders of its machine.
        *("config", "store", "root", "embedder"),
        # A client is its viewer's: use a token of theirs, or `viewer=` with an owner's token.
        "for_viewer",
        # A signature is of the user's own key, which stays on their machine.
        "sign",
        # Of whoever runs the service, on its machine, with the command line.
        *("watch", "embed_missing", "doctor", "purge", "verify_determinism", "access", "audit"),
        # The types of specification 3, over `assemble(recipe="workspace")`, which a client has.
        "workspace",
    },
    "documents": {
        # Of files on the service's machine.
        *("path_of", "still_there", "why_not_indexed", "read_again", "stale"),
        *("indexed_at", "history"),
        # Of whoever runs the service: sources of quire.toml, and what is cleaned up.
        *("sync", "drop_source", "remove_expired"),
        # Proofs are checked against the roots of the store itself; a receipt has its own.
        *("prove", "prove_record"),
        # For the service: whether a receipt may still be shown.
        *("readable", "records_of"),
    },
    # Folders of the caller's machine.
    "experiences": {"import_postmortems"},
    "blocks": {"import_pages"},
}
"""What an open store has and a client has not, and why."""
CLIENT_ONLY = {"receipt", "me"}
"""Of a service alone: receipts that it keeps, and whose token it is (`viewer` of an open store)."""
PARTS = (
    *("documents", "memories", "experiences", "principles", "blocks", "rules", "feedback"),
    *("agent", "inspection"),
)


def names(face: Any) -> set[str]:
    """Return the public names of an object, but for what a service gives the values of."""
    return {name for name in {*dir(type(face)), *vars(face)} if not name.startswith("_")}


def test_a_client_has_all_of_an_open_store_but_what_is_listed(place: Running) -> None:
    sync, waiting = quire.Client("http://127.0.0.1:1"), quire.AsyncClient("http://127.0.0.1:1")
    with place.tree.open() as opened:
        # `assemble` and others are also attributes of the class; parts are set by `__init__`.
        assert names(sync) == names(waiting)
        assert names(opened) - names(sync) == EMBEDDED_ONLY[""]
        assert names(sync) - names(opened) == CLIENT_ONLY
        for part in PARTS:
            kept, asked = getattr(opened, part), getattr(sync, part)
            assert names(asked) == names(getattr(waiting, part))
            assert names(kept) - names(asked) == EMBEDDED_ONLY.get(part, set()), part
            assert names(asked) <= names(kept)


UNSENT = {"at", "events"}
"""When something was written, and who looked at it: a service takes no caller's word for that."""


def test_the_methods_have_the_same_parameters(place: Running) -> None:
    client = quire.Client("http://127.0.0.1:1")
    with place.tree.open() as opened:
        pairs = [(opened, client), *((getattr(opened, p), getattr(client, p)) for p in PARTS)]
        for kept, asked in pairs:
            for name in names(kept) & names(asked) - {*PARTS, "viewer", "notes", "close"}:
                here = inspect.signature(getattr(kept, name)).parameters
                there = inspect.signature(getattr(asked, name)).parameters
                embedded = {"on"} if name == "index" else UNSENT
                assert [each for each in here if each not in embedded] == list(there), name
                for each in there:
                    assert there[each].kind == here[each].kind, (name, each)
                    if not callable(here[each].default):
                        # None is not sent: the service has the same default.
                        assert there[each].default in (here[each].default, None), (name, each)


def test_a_service_that_is_not_there_is_told() -> None:
    with (
        quire.Client("http://127.0.0.1:9", retries=1) as client,
        pytest.raises(ServiceError, match="does not answer"),
    ):
        client.status()
    with pytest.raises(InputError, match="address"):
        quire.Client("ftp://host")


def test_a_wrong_token_is_told(place: Running) -> None:
    with (
        quire.Client(place.url, "quire_0_0") as client,
        pytest.raises(ServiceError, match="valid token"),
    ):
        client.status()
