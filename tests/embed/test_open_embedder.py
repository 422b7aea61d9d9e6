import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import quire.embed
from quire.core.protocols import Embedder
from quire.core.types import EmbedSettings
from quire.embed import model_files, open_embedder
from quire.errors import ConfigError, MissingExtraError, ModelError


def test_the_public_names() -> None:
    assert quire.embed.__all__ == [
        "is_english",
        "open_by_name",
        "open_embedder",
        "quantize",
        "scale",
        "similarity",
    ]
    assert callable(quire.embed.quantize)


def test_importing_the_room_loads_nothing_heavy() -> None:
    code = (
        "import sys, quire.embed; "
        "print(sorted({'numpy', 'onnxruntime', 'splintr', 'httpx', 'quire_context_model'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_none_is_no_embedder() -> None:
    assert open_embedder(EmbedSettings(provider="none")) is None


@pytest.mark.parametrize("provider", ["", "Local", "openai", "locale"])
def test_an_unknown_provider_is_named_with_the_known_ones(provider: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_embedder(EmbedSettings(provider=provider))
    error = caught.value
    assert (error.field, error.value) == ("embed.provider", provider)
    assert error.allowed == ("local", "http", "plugin", "none")
    assert repr(provider) in str(error)


@pytest.mark.model
def test_the_default_is_the_shipped_model() -> None:
    embedder: Embedder | None = open_embedder(EmbedSettings())
    assert embedder is not None
    assert embedder.model.startswith("quire-en-2@")
    assert len(embedder.embed_query("a question")) == embedder.dims
    embedder.close()


@pytest.mark.parametrize(
    ("provider", "module"), [("local", "onnxruntime"), ("local", "splintr"), ("http", "httpx")]
)
def test_a_missing_extra_is_named(
    provider: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("local", "tokenize", "http"):
        monkeypatch.delitem(sys.modules, f"quire.embed.{name}", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught:
        open_embedder(EmbedSettings(provider=provider, url="http://localhost/v1", model="m"))
    assert f"pip install 'quire-context[{provider}]'" in str(caught.value)
    assert module in str(caught.value)


def test_a_missing_model_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    with pytest.raises(
        MissingExtraError, match=r"quire-context-model.*pip install 'quire-context\[local\]'"
    ):
        open_embedder(EmbedSettings())


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a copy of the shipped model that Quire takes for the installed one."""
    inside = "quire_context_model"
    real = Path(str(metadata.distribution("quire-context-model").locate_file(inside)))
    copy = tmp_path / inside
    copy.mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json"):
        shutil.copy(real / name, copy / name)
    info = tmp_path / "quire_context_model-2.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: quire-context-model\nVersion: 2.0.0\n"
    )
    monkeypatch.setattr(metadata, "distribution", lambda _: metadata.PathDistribution(info))
    return copy


def test_a_true_copy_is_accepted(installed: Path) -> None:
    files = model_files.load_shipped()
    assert files.model.path == installed / "model.onnx"


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_changed_file_is_refused_by_its_hash(installed: Path, name: str) -> None:
    expected = getattr(model_files.load_shipped(), name.split(".", maxsplit=1)[0]).sha256
    data = bytearray((installed / name).read_bytes())
    data[len(data) // 2] ^= 1
    (installed / name).write_bytes(data)
    with pytest.raises(ModelError) as caught:
        open_embedder(EmbedSettings())
    message = str(caught.value)
    assert str(installed / name) in message
    assert expected in message
    assert "sha256" in message
    assert "--no-deps quire-context-model" in message


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_lost_file_is_named(installed: Path, name: str) -> None:
    (installed / name).unlink()
    with pytest.raises(ModelError, match="No such file") as caught:
        open_embedder(EmbedSettings())
    assert str(installed / name) in str(caught.value)
