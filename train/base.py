"""The base model: bge-small's weights, dequantised from its int8 ONNX file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[Any]]
PREFIX = "Represent this sentence for searching relevant passages: "


def load_base(file: Path) -> Weights:
    """Return the weights of the file by the names that BERT's parameters have."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(file)).graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}

    def dequantized(name: str) -> NDArray[Any]:
        steps = numpy_helper.to_array(tensors[f"{name}_quantized"]).astype(np.float32)
        zero = numpy_helper.to_array(tensors[f"{name}_zero_point"]).astype(np.float32)
        scale: NDArray[Any] = numpy_helper.to_array(tensors[f"{name}_scale"])
        values: NDArray[Any] = (steps - zero) * scale
        return values

    weights: Weights = {}
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1] in tensors:
            place = re.match(r"/encoder/layer\.(\d+)/(.*)/MatMul", node.name)
            assert place is not None, node.name
            name = f"encoder.layer.{place[1]}.{place[2].replace('/', '.')}.weight"
            weights[name] = dequantized(node.input[1].removesuffix("_quantized")).T.copy()
    for name, tensor in tensors.items():
        if name.startswith("embeddings.") and name.endswith("_quantized"):
            plain = name.removesuffix("_quantized")
            weights[plain] = dequantized(plain)
        elif name.startswith(("embeddings.", "encoder.")) and not name.endswith(
            ("_quantized", "_scale", "_zero_point")
        ):
            weights[name] = numpy_helper.to_array(tensor).astype(np.float32)
    return weights


def layer_count(weights: Weights) -> int:
    """Return how many layers a model has."""
    return 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder."))


def take_layers(weights: Weights, layers: list[int]) -> Weights:
    """Return a model of some of the layers of another, in this order."""
    taken = {name: value for name, value in weights.items() if not name.startswith("encoder.")}
    for new, old in enumerate(layers):
        start = f"encoder.layer.{old}."
        for name, value in weights.items():
            if name.startswith(start):
                taken[f"encoder.layer.{new}.{name.removeprefix(start)}"] = value
    return taken
