"""A record is named by its path, its title, its id or the beginning of its id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from quire import ContextHints, ContextPayload, ContextRequest, Focus
from quire.engine import Quire
from quire.errors import InputError
from tests.conftest import Tree

NOTES: dict[str, str | bytes] = {
    "notes/releases/Release 2.3.md": "# Release 2.3\n\nThe harbour bell is rung at noon.\n",
    "notes/releases/Plan.md": "# Plan\n\nThe harbour plan of releases.\n",
    "notes/tides/Plan.md": "# Plan\n\nThe harbour plan of tides.\n",
    "notes/tides/Low.md": "# Low water\n\nThe harbour bar is dry.\n",
    "docs/crane.md": "# Crane\n\nThe crane of the harbour.\n",
    "quire.toml": '[embed]\nprovider = "none"\n',
}


@pytest.fixture
def vault(tree: Tree) -> Tree:
    tree.fill(NOTES)
    tree.index()
    with tree.open() as opened:
        opened.blocks.import_pages(tree.root / "notes", "vault", at=1)
    return tree


@pytest.fixture
def store(vault: Tree) -> Iterator[Quire]:
    with vault.open() as opened:
        yield opened


def focused(store: Quire, name: str, viewer: str | None = None) -> str:
    """Return the title of the record that a name stands for."""
    context = store.assemble(
        "harbour", recipe="workspace", focus=name, viewer=viewer, as_of=2, allow_empty=True
    )
    assert store.replay(context.receipt, viewer=viewer)[1] == []
    assert store.verify(context.receipt, context.text, viewer=viewer).problems == ()
    if any("there is no record" in note for note in context.notes):
        return ""
    item = next(item for item in context.items if item.section == "focus")
    return item.text.partition("\n")[0].lstrip("# ")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("notes/releases/Release 2.3.md", "Release 2.3"),
        ("releases/Release 2.3.md", "Release 2.3"),
        ("releases/Release 2.3", "Release 2.3"),
        ("Release 2.3", "Release 2.3"),
        ("Release 2.3.md", "Release 2.3"),
        ("releases/Plan", "Plan"),
        ("notes/tides/Low.md", "Low"),
        ("tides/Low", "Low"),
        ("Low", "Low"),
        ("notes/tides/Low", "Low"),
        ("Low water", "Low"),
        ("docs/crane.md", "Crane"),
        ("docs/crane", "Crane"),
        ("Crane", "Crane"),
        ("elsewhere/tides/Low.md", ""),
        ("Release", ""),
    ],
)
def test_what_a_name_stands_for(store: Quire, name: str, title: str) -> None:
    assert focused(store, name) == title


def pages(store: Quire) -> dict[str, str]:
    """Return the ids of pages by the titles that lead to them."""
    found: dict[str, str] = {}
    titles: list[str] = []
    for depth, block in store.blocks.tree():
        if block.type == "page":
            titles[depth:] = [block.text]
            found["/".join(titles)] = block.id
    return found


def test_an_id_or_its_beginning(store: Quire) -> None:
    page = pages(store)["notes/tides/Low"]
    assert focused(store, page) == focused(store, page[:12]) == "Low"


def test_a_short_word_is_not_the_beginning_of_an_id(store: Quire) -> None:
    (crane,) = [each for each in store.documents.list() if each.path == "docs/crane.md"]
    assert focused(store, crane.id[:8]) == "Crane"
    assert focused(store, crane.id[:4]) == "", "such as 2024 or cafe"


def test_an_ambiguous_name_is_refused_with_what_it_may_mean(store: Quire) -> None:
    with pytest.raises(InputError) as refused:
        focused(store, "Plan")
    error = refused.value
    assert (error.field, error.value) == ("focus", "Plan")
    assert "notes/releases/Plan (b-" in error.message
    assert "notes/tides/Plan (b-" in error.message
    for option in ("include", "exclude"):
        more: dict[str, Any] = {option: ["Plan"]}
        with pytest.raises(InputError, match=f"{option}: 2 records are called 'Plan'"):
            store.assemble("harbour", recipe="workspace", **more)


def test_what_cannot_be_read_makes_no_name_ambiguous(store: Quire) -> None:
    found = pages(store)
    store.blocks.share(found["notes/tides/Plan"], ["ann"], at=3)
    store.blocks.share(found["notes/tides/Low"], ["ann"], at=3)
    assert focused(store, "Plan", viewer="bob") == "Plan"
    for name in ("tides/Plan", "tides/Plan.md", "tides/Low.md", "Low", "notes/tides/Low"):
        assert focused(store, name, viewer="bob") == ""
        assert focused(store, name, viewer="ann")
    assert focused(store, found["notes/tides/Low"][:12], viewer="bob") == ""
    with pytest.raises(InputError, match="2 records are called"):
        focused(store, "Plan", viewer="ann")


def test_blocks_of_a_workspace_request_are_named_likewise(store: Quire) -> None:
    def build(**hints: Any) -> ContextPayload:
        request = ContextRequest("harbour", "ann", focus=Focus("releases/Release 2.3"), as_of=2)
        return store.workspace.build(replace(request, hints=ContextHints(**hints)))

    assert "The harbour bar is dry." in build(include_blocks=("tides/Low.md",)).serialized
    assert "The harbour bar is dry." not in build(exclude_blocks=("Low",)).serialized


def test_the_command_line_names_records_likewise(vault: Tree) -> None:
    asked = ("assemble", "harbour", "--recipe", "workspace")
    page = vault.call(*asked, "--focus", "releases/Release 2.3.md")
    assert "#### Release 2.3\n(focus" in page.stdout
    refused = vault.call(*asked, "--focus", "Plan")
    assert refused.returncode == 2
    assert "--focus: 2 records are called 'Plan': notes/releases/Plan (b-" in refused.stderr
