"""The parts of the weights that are committed are the model that the code expects."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest

from quire.embed import model_files
from quire.embed.model_files import SHIPPED_IN, load_shipped

MODEL = Path(__file__).parents[2] / "model"
MAX_PART = 16 * 2**20
MAX_ALL = 40_000_000


def test_the_joined_parts_have_the_known_hash() -> None:
    parts = sorted((MODEL / "weights").glob("model.onnx.[0-9][0-9]"))
    data = b"".join(part.read_bytes() for part in parts)
    told = (MODEL / "weights" / "model.onnx.sha256").read_text("utf-8").split()[0]
    assert hashlib.sha256(data).hexdigest() == told == model_files._SHIPPED_MODEL
    assert all(part.stat().st_size < MAX_PART for part in parts)
    tokenizer = (MODEL / "weights" / "tokenizer.json").read_bytes()
    assert hashlib.sha256(tokenizer).hexdigest() == model_files._SHIPPED_TOKENIZER
    assert len(data) + len(tokenizer) < MAX_ALL


@pytest.mark.model
def test_what_is_installed_has_its_card_and_its_licence() -> None:
    from importlib import metadata

    files = load_shipped()
    project = tomllib.loads((MODEL / "pyproject.toml").read_text("utf-8"))["project"]
    assert metadata.version(SHIPPED_IN) == project["version"]
    assert (files.model.path.parent / "README.md").read_text("utf-8").startswith("# quire-en-2\n")
    named = [str(path) for path in metadata.files(SHIPPED_IN) or ()]
    assert any(name.endswith("licenses/LICENSE") for name in named)
    assert sorted(name for name in named if name.endswith(".py")) == [
        "quire_context_model/__init__.py"
    ]


def test_the_card_names_the_hash() -> None:
    assert model_files._SHIPPED_MODEL in (MODEL / "README.md").read_text("utf-8")
