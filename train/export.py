"""Write a packed model as ONNX: `python -m train.export --help`.

One file that onnxruntime's CPU kernels run as it is. The first token's state is the vector; the
last layer computes nothing else.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from train import packed
from train.base import PREFIX, Weights, layer_count

EPSILON = 1e-12
HEADS = 12
CONTRIB = "com.microsoft"


class Graph:
    """Nodes and tensors of a model in the making."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []
        self._count = 0

    def tensor(self, name: str, value: Any) -> str:
        from onnx import numpy_helper

        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def scalar(self, name: str, value: Any) -> str:
        from onnx import numpy_helper

        self.tensors.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, kind: str, inputs: list[str], outputs: int = 1, **attributes: Any) -> Any:
        from onnx import helper

        domain = attributes.pop("domain", "")
        names = [f"t{self._count + i}" for i in range(outputs)]
        self._count += outputs
        self.nodes.append(
            helper.make_node(
                kind, inputs, names, name=f"{kind}_{names[0]}", domain=domain, **attributes
            )
        )
        return names[0] if outputs == 1 else names


def build(model: Weights, dims: int = 384) -> Any:
    """Return the ONNX model of a packed one."""
    from onnx import TensorProto, helper

    graph = Graph()
    weights, ranges = packed.unpack(model)
    states = _embed(graph, model, weights)
    mask = graph.add("Cast", ["attention_mask"], to=TensorProto.INT32)
    layers = layer_count(weights)
    for index in range(layers):
        states = _layer(graph, model, ranges, states, mask, index, last=index == layers - 1)
    first = graph.add("Squeeze", [states, graph.tensor("axis1", np.array([1], np.int64))])
    if dims < 384:
        ends = [
            graph.tensor(f"cut{i}", np.array([v], np.int64)) for i, v in enumerate((0, dims, 1))
        ]
        first = graph.add("Slice", [first, *ends])
    graph.nodes[-1].output[0] = "sentence_embedding"
    del first
    shape = ["batch", "tokens"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", dims])
    made = helper.make_graph(graph.nodes, "quire", inputs, [output], graph.tensors)
    return helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)],
        ir_version=8,
        producer_name="quire-train",
    )


def _embed(graph: Graph, model: Weights, weights: Weights) -> str:
    from onnx import TensorProto

    word = "embeddings.word_embeddings.weight"
    table = graph.tensor("words", model[word])
    scales = graph.tensor("word_scales", model[word + packed.SCALE][:, None])
    steps = graph.add("Cast", [graph.add("Gather", [table, "input_ids"])], to=TensorProto.FLOAT)
    words = graph.add("Mul", [steps, graph.add("Gather", [scales, "input_ids"])])
    places = (
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    zero, one = (graph.tensor(f"int{i}", np.array([i], np.int64)) for i in (0, 1))
    length = graph.add(
        "Slice",
        [graph.add("Shape", ["input_ids"]), one, graph.tensor("int2", np.array([2], np.int64))],
    )
    rows = graph.add("Slice", [graph.tensor("places", places), zero, length, zero])
    return _norm(graph, graph.add("Add", [words, rows]), model, "embeddings.LayerNorm")


def _norm(graph: Graph, states: str, model: Weights, name: str) -> str:
    gamma = graph.tensor(f"{name}.gamma", model[f"{name}.weight"])
    beta = graph.tensor(f"{name}.beta", model[f"{name}.bias"])
    return str(graph.add("LayerNormalization", [states, gamma, beta], axis=-1, epsilon=EPSILON))


def _add_norm(graph: Graph, states: str, skip: str, model: Weights, name: str) -> str:
    # Two nodes: onnxruntime's fused SkipLayerNormalization takes four times as long on a CPU.
    return _norm(graph, graph.add("Add", [states, skip]), model, name)


def _round(
    graph: Graph, states: str, ranges: dict[str, tuple[float, int]], place: str
) -> list[str]:
    """Return the steps of activations with the names of their scale and zero point."""
    scale, zero = ranges[place]
    names = [
        graph.scalar(f"{place}.scale", np.float32(scale)),
        graph.scalar(f"{place}.zero", np.uint8(zero)),
    ]
    return [str(graph.add("QuantizeLinear", [states, *names])), *names]


def _multiply(graph: Graph, rounded: list[str], model: Weights, names: list[str]) -> str:
    """Multiply rounded activations by the weights of one or several parts side by side."""
    steps, scale, zero = rounded
    label = names[0]
    weight = np.concatenate([model[f"{name}.weight"] for name in names]).T
    scales = np.concatenate([model[f"{name}.weight{packed.SCALE}"] for name in names])
    bias = np.concatenate([model[f"{name}.bias"] for name in names])
    inputs = [
        steps,
        graph.tensor(f"{label}.steps", weight),
        scale,
        graph.tensor(f"{label}.scales", scales),
        zero,
        "",
        graph.tensor(f"{label}.shift", bias),
    ]
    return str(graph.add("MatMulIntegerToFloat", inputs, domain=CONTRIB))


def _layer(  # noqa: PLR0917
    graph: Graph,
    model: Weights,
    ranges: dict[str, tuple[float, int]],
    states: str,
    mask: str,
    index: int,
    *,
    last: bool,
) -> str:
    start = f"encoder.layer.{index}."
    attention = f"{start}attention.self."
    rounded = _round(graph, states, ranges, f"{index}.attention_in")
    if last:
        # Only the first token asks; all are asked.
        first = [f"int{i}" for i in (0, 1, 1)]
        states = str(graph.add("Slice", [states, *first]))
        asking = [str(graph.add("Slice", [rounded[0], *first])), *rounded[1:]]
        query = _multiply(graph, asking, model, [attention + "query"])
        both = _multiply(graph, rounded, model, [attention + "key", attention + "value"])
        key, value = graph.add("Split", [both], 2, axis=-1)
    else:
        names = [attention + part for part in ("query", "key", "value")]
        query, key, value = graph.add(
            "Split", [_multiply(graph, rounded, model, names)], 3, axis=-1
        )
    context = graph.add(
        "MultiHeadAttention", [query, key, value, "", mask], domain=CONTRIB, num_heads=HEADS
    )
    out = _multiply(
        graph,
        _round(graph, context, ranges, f"{index}.context"),
        model,
        [start + "attention.output.dense"],
    )
    states = _add_norm(graph, out, states, model, start + "attention.output.LayerNorm")
    middle = _multiply(
        graph,
        _round(graph, states, ranges, f"{index}.feed_in"),
        model,
        [start + "intermediate.dense"],
    )
    middle = str(graph.add("Gelu", [middle], domain=CONTRIB))
    out = _multiply(
        graph, _round(graph, middle, ranges, f"{index}.feed_mid"), model, [start + "output.dense"]
    )
    return _add_norm(graph, out, states, model, start + "output.LayerNorm")


def write(model: Weights, folder: Path, tokenizer: Path, dims: int = 384) -> Path:
    """Write a model folder that Quire opens: the model, its tokenizer and its prefix."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "model.onnx"
    file.write_bytes(build(model, dims).SerializeToString())
    shutil.copyfile(tokenizer, folder / "tokenizer.json")
    (folder / "query_prefix.txt").write_text(PREFIX, "utf-8")
    return file


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m train.export", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the parts of the packed model are")
    parser.add_argument("name", help="its name, as in NAME.npz.0")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--dims", type=int, default=384, help="256: the first of the dimensions")
    asked = parser.parse_args()
    file = write(
        packed.load_parts(asked.folder, asked.name), asked.out, asked.tokenizer, asked.dims
    )
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
