"""How is a text embedded on this machine?

One text at a time, without padding: within a batch the numbers of a text would depend on its
neighbours. Several texts are worked on at the same time by threads that share one session,
each on a text of its own, so that threads and order change no byte.
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
from quire.embed.quantise import quantise
from quire.embed.tokenise import Tokeniser
from quire.errors import ConfigError, EmbedError, ModelError

_POOLED_OUTPUT = "sentence_embedding"
_PROBE = "quire"
_INPUTS: dict[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
    "input_ids": lambda ids: ids,
    "attention_mask": np.ones_like,
    "token_type_ids": np.zeros_like,
}


class LocalEmbedder:
    """Embeds text by an ONNX model on the CPU.

    No thread outlives a call, so that a forked child can go on using what its parent opened.
    """

    def __init__(self, settings: EmbedSettings) -> None:
        if settings.threads < 0:
            raise ConfigError(f"embed.threads is {settings.threads}; it must be 0 or more")
        folder = settings.folder
        found = model_files.shipped() if folder is None else model_files.from_folder(Path(folder))
        prefix = settings.query_prefix
        self._query_prefix = found.query_prefix if prefix is None else prefix
        self._threads = settings.threads or os.cpu_count() or 1
        self._tokeniser = Tokeniser(found.tokenizer, found.max_tokens)
        self._model: _Model | None = _Model(found)
        self._dims = len(self._vector(_PROBE))
        self._name = found.full_name(self._dims)

    @property
    def model(self) -> str:
        """The name that stands for these very vectors."""
        return self._name

    @property
    def dims(self) -> int:
        """How many numbers a vector has."""
        return self._dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give one int8 vector for each text, in order."""
        workers = min(self._threads, len(texts))
        if workers <= 1:
            return [self._vector(text) for text in texts]
        with ThreadPoolExecutor(workers, thread_name_prefix="quire-embed") as pool:
            return list(pool.map(self._vector, texts))

    def embed_query(self, text: str) -> bytes:
        """Give the int8 vector of a question, with the prefix that the model wants."""
        return self._vector(self._query_prefix + text)

    def close(self) -> None:
        """Let go of the model; calls that are under way still end well."""
        self._model = None

    def _vector(self, text: str) -> bytes:
        model = self._model
        if model is None:
            raise EmbedError("this embedder is closed; open another one")
        tokens = self._tokeniser.tokens(text)
        if not tokens:
            raise EmbedError("a text without any token cannot be embedded by this model")
        return quantise(model.run(tokens))


class _Model:
    """A session, and how its inputs and outputs are used."""

    def __init__(self, found: model_files.ModelFiles) -> None:
        self._pooling = found.pooling
        self._path = found.model.path
        self._session = _open_session(found.model)
        self._inputs = [tensor.name for tensor in self._session.get_inputs()]
        unknown = [name for name in self._inputs if name not in _INPUTS]
        if unknown:
            raise ModelError(
                f"{self._path} asks for {', '.join(unknown)}; Quire can give {', '.join(_INPUTS)}"
            )
        outputs = [tensor.name for tensor in self._session.get_outputs()]
        # `pooler_output`, which many models give second, belongs to another task.
        self._output = _POOLED_OUTPUT if _POOLED_OUTPUT in outputs else outputs[0]

    def run(self, tokens: list[int]) -> NDArray[Any]:
        ids = np.array([tokens], dtype=np.int64)
        given = {name: _INPUTS[name](ids) for name in self._inputs}
        try:
            (output,) = self._session.run([self._output], given)
        except Exception as error:  # onnxruntime's errors share no other ancestor
            raise ModelError(f"{self._path} cannot embed {len(tokens)} tokens: {error}") from error
        return self._pooled(np.asarray(output))

    def _pooled(self, output: NDArray[Any]) -> NDArray[Any]:
        if output.ndim == 2 and len(output) == 1:
            row: NDArray[Any] = output[0]
        elif output.ndim == 3 and len(output) == 1 and self._pooling == model_files.CLS:
            row = output[0, 0]
        elif output.ndim == 3 and len(output) == 1:
            row = output[0].mean(axis=0, dtype=np.float64)
        else:
            raise ModelError(
                f"{self._path}: the output `{self._output}` has the shape {output.shape}; "
                "it must be (1, dimensions) or (1, tokens, dimensions)"
            )
        return row


def _open_session(model: model_files.ModelFile) -> Any:
    # onnxruntime reports its use over the network, and marks the machine in the user's cache
    # folder, unless it is told not to before it is loaded.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # what goes wrong is raised, not printed
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    # Without it, x64 CPUs that lack VNNI add int8 products in 16 bits that overflow: other and
    # worse vectors, silently. With VNNI it changes no byte and no speed, but the start: 0.13 s.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return onnxruntime.InferenceSession(
            model.data, sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's errors share no other ancestor
        raise ModelError(f"{model.path} cannot be used: {error}") from error
