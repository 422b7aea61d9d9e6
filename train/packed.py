"""A trained model as it travels: rounded weights and ranges in one compressed file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from train.base import Weights
from train.quantization import quantize_rows, quantize_weights

SCALE = ":scale"
RANGE = "range:"


def pack(weights: Weights, ranges: dict[str, tuple[float, int]]) -> Weights:
    """Round weights as export writes them."""
    packed: Weights = {}
    for name, value in weights.items():
        if name.endswith(".weight") and "LayerNorm" not in name and "token_type" not in name:
            rounds = quantize_weights if name.startswith("encoder.") else quantize_rows
            packed[name], packed[name + SCALE] = rounds(value)
        else:
            packed[name] = value.astype(np.float32)
    for place, (scale, zero) in ranges.items():
        packed[RANGE + place] = np.array([scale, zero], np.float64)
    return packed


def unpack(packed: Weights) -> tuple[Weights, dict[str, tuple[float, int]]]:
    """Return the weights that a packed model stands for, and its ranges."""
    weights: Weights = {}
    ranges: dict[str, tuple[float, int]] = {}
    for name, value in packed.items():
        if name.startswith(RANGE):
            ranges[name.removeprefix(RANGE)] = (float(value[0]), int(value[1]))
        elif name + SCALE in packed:
            weights[name] = value.astype(np.float32) * packed[name + SCALE][:, None]
        elif not name.endswith(SCALE):
            weights[name] = value
    return weights, ranges


def save_parts(packed: Weights, folder: Path, name: str, size: int = 15_000_000) -> None:
    """Write a packed model in parts that a transfer of small files can carry."""
    import io

    whole = io.BytesIO()
    np.savez_compressed(whole, allow_pickle=False, **packed)
    data = whole.getvalue()
    for number, start in enumerate(range(0, len(data), size)):
        (folder / f"{name}.npz.{number}").write_bytes(data[start : start + size])


def load_parts(folder: Path, name: str) -> Weights:
    """Read a packed model that `save_parts` wrote."""
    import io

    parts = sorted(folder.glob(f"{name}.npz.*"), key=lambda file: int(file.suffix[1:]))
    if not parts:
        raise FileNotFoundError(f"{folder}: no part of {name}.npz")
    with np.load(io.BytesIO(b"".join(part.read_bytes() for part in parts))) as arrays:
        return {key: arrays[key] for key in arrays.files}
