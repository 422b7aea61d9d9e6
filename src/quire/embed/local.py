"""An embedder that runs an ONNX model on this machine.

The model gets one text at a time, without padding. With the shipped model a batch would change no
byte, for its activations are rounded on fixed scales, but it takes no less time
(docs/performance.md); with another model in a folder the vector of a text may depend on its
neighbours. Threads share one session, each with a text of its own, so that their number and order
change no byte.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.core.types import EmbedSettings
from quire.embed import model_files
from quire.embed.quantize import quantize
from quire.embed.tokenize import Tokenizer
from quire.errors import ConfigError, EmbedError, ModelError

DEVICES = ("cpu", "gpu", "auto")
CPU = "CPUExecutionProvider"
GPU = (
    "CUDAExecutionProvider",
    "ROCMExecutionProvider",
    "MIGraphXExecutionProvider",
    "DmlExecutionProvider",
    "CoreMLExecutionProvider",
)
"""The execution providers of onnxruntime that use a GPU; the first that it offers is taken."""
_POOLED_OUTPUT = "sentence_embedding"
_PROBE = "quire"
_INPUTS: dict[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
    "input_ids": lambda ids: ids,
    "attention_mask": np.ones_like,
    "token_type_ids": np.zeros_like,
}


class LocalEmbedder:
    """An embedder that runs an ONNX model on the CPU.

    No thread outlives a call, so that a forked child can use what its parent opened.
    """

    def __init__(
        self, settings: EmbedSettings, files: model_files.ModelFiles | None = None
    ) -> None:
        if settings.threads < 0:
            raise ConfigError(
                f"must be at least 0, not {settings.threads}",
                field="embed.threads",
                value=settings.threads,
            )
        folder = settings.folder
        if files is None:
            files = model_files.load_shipped() if folder is None else model_files.load(Path(folder))
        prefix = settings.query_prefix
        self._query_prefix = files.query_prefix if prefix is None else prefix
        self._threads = settings.threads or os.cpu_count() or 1
        self._tokenizer = Tokenizer(files.tokenizer, files.max_tokens)
        self._model: _Model | None = _Model(files, settings.device)
        self._dims = len(self._embed_text(_PROBE))
        self._name = files.full_name(self._dims)

    @property
    def model(self) -> str:
        """The name of these vectors: another model or setting has another name."""
        return self._name

    @property
    def dims(self) -> int:
        """The number of dimensions."""
        return self._dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one int8 vector for each text, in order."""
        workers = min(self._threads, len(texts))
        if workers <= 1:
            return [self._embed_text(text) for text in texts]
        with ThreadPoolExecutor(workers, thread_name_prefix="quire-embed") as pool:
            return list(pool.map(self._embed_text, texts))

    def embed_query(self, text: str) -> bytes:
        """Return the int8 vector of a query, with the prefix of the model."""
        return self._embed_text(self._query_prefix + text)

    def close(self) -> None:
        """Release the model; calls in progress still finish."""
        self._model = None

    def _embed_text(self, text: str) -> bytes:
        model = self._model
        if model is None:
            raise EmbedError("the embedder is closed", hint="open another one")
        tokens = self._tokenizer.encode(text)
        if not tokens:
            raise EmbedError("a text without any token cannot be embedded by this model")
        return quantize(model.run(tokens))


class _Model:
    """An inference session with its inputs, its output and its pooling."""

    def __init__(self, files: model_files.ModelFiles, device: str) -> None:
        self._pooling = files.pooling
        self._path = files.model.path
        self._session = _open_session(files.model, device)
        self._inputs = [tensor.name for tensor in self._session.get_inputs()]
        unknown = [name for name in self._inputs if name not in _INPUTS]
        if unknown:
            raise ModelError(
                f"the model needs the unsupported input {', '.join(unknown)}",
                value=unknown[0],
                hint=f"supported inputs: {', '.join(_INPUTS)}",
                place=str(self._path),
            )
        outputs = [tensor.name for tensor in self._session.get_outputs()]
        # `pooler_output`, the second output of many models, is for another task.
        self._output = _POOLED_OUTPUT if _POOLED_OUTPUT in outputs else outputs[0]

    def run(self, tokens: list[int]) -> NDArray[Any]:
        ids = np.array([tokens], dtype=np.int64)
        inputs = {name: _INPUTS[name](ids) for name in self._inputs}
        try:
            (output,) = self._session.run([self._output], inputs)
        except Exception as error:  # onnxruntime's errors share no other ancestor
            raise ModelError(
                f"cannot embed {len(tokens)} tokens: {error}", place=str(self._path)
            ) from error
        return self._pool(np.asarray(output))

    def _pool(self, output: NDArray[Any]) -> NDArray[Any]:
        if output.ndim == 2 and len(output) == 1:
            row: NDArray[Any] = output[0]
        elif output.ndim == 3 and len(output) == 1 and self._pooling == model_files.CLS:
            row = output[0, 0]
        elif output.ndim == 3 and len(output) == 1:
            row = output[0].mean(axis=0, dtype=np.float64)
        else:
            raise ModelError(
                f"the output `{self._output}` has the shape {output.shape}; "
                "expected (1, dimensions) or (1, tokens, dimensions)",
                place=str(self._path),
            )
        return row


def providers_of(device: str, offered: Sequence[str]) -> list[str]:
    """Return the execution providers for a device, of those that onnxruntime offers.

    A GPU adds in another order, so that numbers of a vector may differ by one from the CPU's.
    """
    if device not in DEVICES:
        raise ConfigError(
            f"unknown device {device!r}", field="embed.device", value=device, allowed=DEVICES
        )
    gpus = [name for name in GPU if name in offered]
    if device == "gpu" and not gpus:
        raise EmbedError(
            f"onnxruntime offers no GPU here, only {', '.join(offered)}",
            field="embed.device",
            value=device,
            hint="install onnxruntime-gpu in the place of onnxruntime, or set `cpu` or `auto`",
        )
    return [CPU] if device == "cpu" else [*gpus[:1], CPU]


def _open_session(model: model_files.ModelFile, device: str) -> Any:
    # Unless telemetry is switched off before the import, onnxruntime reports its use over the
    # network and writes an id of the machine into the user's cache folder.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # errors are raised, not printed
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    # Without it, x64 CPUs that lack VNNI add int8 products in 16 bits that overflow: different and
    # worse vectors, silently. With VNNI it changes no byte and no speed, only the start: 0.13 s.
    options.add_session_config_entry("session.x64quantprecision", "1")
    providers = providers_of(device, onnxruntime.get_available_providers())
    try:
        return onnxruntime.InferenceSession(model.data, sess_options=options, providers=providers)
    except Exception as error:  # onnxruntime's errors share no other ancestor
        raise ModelError(f"the model cannot be used: {error}", place=str(model.path)) from error
