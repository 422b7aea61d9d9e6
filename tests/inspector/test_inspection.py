"""What the inspector asks the service for: other budgets, pictures, who one is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import quire
from quire.core.types import Candidate, Piece
from quire.errors import InputError
from quire.pipeline import pieces
from quire.pipeline.draft import Draft
from quire.recipes import inspection

from .conftest import SECRET

if TYPE_CHECKING:
    from tests.conftest import Tree
    from tests.server.running import Running

BUDGETS = [810, 850, 900, 1000, 2000, 8000, 30_000]


@pytest.mark.parametrize("recipe", ["documents", "entities", "agent", "workspace"])
def test_a_sweep_has_the_pieces_of_each_context(service: Running, recipe: str) -> None:
    with service.tree.open() as q:
        for viewer in (None, "bob", "alice"):
            swept = q.inspection.sweep("harbour tide", BUDGETS, recipe=recipe, viewer=viewer)
            for step in (*swept, *reversed(swept)):
                context = q.explain(
                    "harbour tide", recipe=recipe, viewer=viewer, budget=step.budget
                )
                assert (step.sources, step.tokens) == (context.sources, context.tokens)
                assert step.available == context.available


SOURCES = Path(quire.__file__).parent / "packing"
ASKED = "how are duplicates dropped, and does `pack` choose what fits?"
UP_AND_DOWN = [900, 1500, 2400, 1500, 6000, 4000, 12_000, 900, 12_000]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[quire.Quire]:
    """Open a store of code, of which contexts show definitions."""
    root = tmp_path_factory.mktemp("sources")
    shutil.copytree(SOURCES, root / "packing", ignore=shutil.ignore_patterns("__pycache__"))
    with quire.open(root) as q:
        q.index(embed=False)
        yield q


@pytest.mark.parametrize("shape", ["markdown", "xml", "plain", "markers", "page", None])
def test_a_sweep_up_and_down_has_the_pieces_of_each_context(
    sources: quire.Quire, shape: str | None
) -> None:
    recipe = {"page": "agent", None: "situation"}.get(shape, "entities")
    options: Any = {"recipe": recipe, "levels": ("full", "signature")}
    options |= {"format": shape} if recipe == "entities" else {}
    options |= {"situation": {"tool": "edit"}} if recipe == "situation" else {}
    swept = [sources.inspection.sweep(ASKED, [budget], **options)[0] for budget in UP_AND_DOWN]
    for step in swept:
        context = sources.explain(ASKED, budget=step.budget, **options)
        assert (step.sources, step.tokens) == (context.sources, context.tokens)
    assert swept[0] == swept[-2]
    if recipe != "situation":
        assert len(swept[-1].sources) > len(swept[0].sources) > 0


def test_a_further_step_makes_no_piece_again(
    sources: quire.Quire, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make = pieces._whole_piece

    def counted(draft: Draft, candidate: Candidate) -> Piece:
        made.append(candidate.chunk.id)
        return make(draft, candidate)

    monkeypatch.setattr(pieces, "_whole_piece", counted)
    budgets = [budget for budget in UP_AND_DOWN if budget > 2000]  # the others list no sources
    sources.inspection.sweep(ASKED, budgets, recipe="entities", per_document=9)
    assert len(made) == len(set(made)) > 10


def test_what_is_kept_of_questions_is_bounded(
    sources: quire.Quire, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    whole_piece = pieces._whole_piece

    def note(draft: Draft, candidate: Candidate) -> Piece:
        made.append(candidate.chunk.id)
        return whole_piece(draft, candidate)

    monkeypatch.setattr(pieces, "_whole_piece", note)
    sources.inspection.sweep("bounded packing", [2000], recipe="entities")
    assert len(set(made)) == len(made) > 5
    count = len(made)
    sources.inspection.sweep("bounded packing", [2000], recipe="entities")
    assert len(made) == count
    monkeypatch.setattr(inspection, "PIECE_BYTES", inspection.KEPT_BYTES // 4)
    for _ in range(2):  # the first finds that it has grown, the second finds nothing
        sources.inspection.sweep("bounded packing", [2000], recipe="entities")
    assert len(made) == 2 * count


def test_a_sweep_follows_the_store(tree: Tree) -> None:
    tree.write("a.md", "# Anchor\n\nThe anchor holds.\n")
    tree.index()
    with tree.open() as q:
        (before,) = q.inspection.sweep("anchor", [2000])
        tree.write("b.md", "# Chain\n\nThe chain of the anchor.\n")
        q.index(embed=False)
        (after,) = q.inspection.sweep("anchor", [2000])
        assert (len(before.sources), len(after.sources)) == (1, 2)
        for budgets in ([], [1000] * 65):
            with pytest.raises(InputError, match="1 to 64 budgets"):
                q.inspection.sweep("anchor", budgets)


def test_times_name_every_step(service: Running) -> None:
    with service.tree.open() as q:
        times = q.inspection.times("harbour", budget=1000)
    assert [each.step for each in times][:2] == ["retrieve", "rank"]
    assert len(times) == 9
    assert all(each.ms >= 0 for each in times)


def test_no_answer_tells_of_what_one_may_not_read(service: Running) -> None:
    body = {"query": "what does the master of the harbour earn?"}
    made = service.ask("alice", "POST", "/v1/inspect", body)
    assert SECRET in made.text
    receipt = made.json()["receipt"]
    drawn = service.ask("alice", "POST", "/v1/picture", {"receipt": receipt}).json()
    assert drawn["spans"] == made.json()["spans"]
    for answer in (
        service.ask("bob", "POST", "/v1/inspect", body),
        service.ask("bob", "POST", "/v1/sweep", {**body, "budgets": [900, 4000]}),
        service.ask("bob", "POST", "/v1/picture", {"receipt": receipt}),
    ):
        assert SECRET not in answer.text
        assert "hr/pay.md" not in answer.text
    refused = service.ask("bob", "POST", "/v1/sweep", {**body, "budgets": [900], "viewer": "alice"})
    assert refused.status_code == 403
    full = service.ask("alice", "GET", f"/v1/receipts/{receipt}").json()["receipt"]
    sent = service.ask("bob", "POST", "/v1/picture", {"receipt": full})
    assert SECRET not in sent.text, "what a receipt names is not read for whoever may not"


def test_who_one_is(service: Running) -> None:
    me = service.ask("bob", "GET", "/v1/me").json()
    assert (me["viewer"], me["scope"], me["may_choose_viewer"]) == ("bob", "write", False)
    me = service.ask("owner", "GET", "/v1/me").json()
    assert (me["viewer"], me["may_choose_viewer"], me["may_index"]) == (None, True, True)
    assert "agent" in me["recipes"]
    assert service.ask(None, "GET", "/v1/me").status_code == 401


def test_wrong_requests_are_told(service: Running) -> None:
    for path, body in (
        ("/v1/sweep", {"query": "x", "budgets": []}),
        ("/v1/sweep", {"query": "x", "budgets": [900] * 65}),
        ("/v1/sweep", {"query": "x", "budgets": [900], "budget": 3}),
        ("/v1/picture", {"receipt": {"version": 3}}),
        ("/v1/picture", {"receipt": {"version": 2, "decisions": [], "proofs": {}}}),
        ("/v1/inspect", {"query": ""}),
    ):
        answer = service.ask("owner", "POST", path, body)
        assert answer.status_code == 400, (path, answer.text)


def test_the_files_are_served_with_a_strict_policy(service: Running) -> None:
    for name in ("", "main.js", "picture.css", "icon.svg"):
        answer = service.ask(None, "GET", f"/{name}")
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
    for name in ("page.py", "..%2fpage.py", "..%2f..%2fengine.py", "%2e%2e/app.py"):
        assert service.ask(None, "GET", f"/{name}").status_code == 404
