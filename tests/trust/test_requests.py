"""A request that names nobody is refused: nobody is not the owner."""

from __future__ import annotations

from typing import Any

import pytest

from quire import Block, Quire
from quire.core.types import OWNER, ContextPayload, ContextRequest, Viewer
from quire.errors import InputError
from tests.conftest import Tree


@pytest.fixture
def workspace(tree: Tree) -> Any:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    with tree.open() as opened:
        opened.blocks.put([Block("pay", "page", "Pay", access=("owner",))], at=1)
        yield opened


def texts(payload: ContextPayload) -> str:
    return payload.serialized


def test_a_request_without_a_user_is_refused(workspace: Quire) -> None:
    for nobody in (None, ""):
        with pytest.raises(InputError, match=r"user|viewer"):
            workspace.workspace.build(ContextRequest("pay", nobody))  # type: ignore[arg-type]
    with pytest.raises(InputError) as caught:
        workspace.workspace.build(ContextRequest("pay", None))  # type: ignore[arg-type]
    assert caught.value.field == "user"


def test_a_configured_viewer_is_no_user_of_a_request_either(tree: Tree) -> None:
    tree.write("quire.toml", 'viewer = "ann"\n[embed]\nprovider = "none"\n')
    with tree.open() as opened, pytest.raises(InputError, match="must name its user"):
        opened.workspace.build(ContextRequest("pay", None))  # type: ignore[arg-type]


def test_a_payload_is_validated_for_somebody(workspace: Quire) -> None:
    payload = workspace.workspace.build(ContextRequest("pay", OWNER))
    with pytest.raises(InputError, match="must name its user"):
        workspace.workspace.validate(payload, None)  # type: ignore[arg-type]
    assert workspace.workspace.validate(payload, OWNER).valid
    problems = workspace.workspace.validate(payload, Viewer("eve")).problems
    assert problems == ("pay may not be read by eve, or does not exist",)


def test_the_owner_may_be_named(workspace: Quire) -> None:
    assert "Pay" in texts(workspace.workspace.build(ContextRequest("pay", OWNER)))
    assert "Pay" not in texts(workspace.workspace.build(ContextRequest("pay", "eve")))
    # Whoever opens the store without a viewer is its owner, as documented.
    assert workspace.blocks.get("pay").id == "pay"
