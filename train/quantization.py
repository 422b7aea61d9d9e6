"""Quantisation as the exported model has it, in numpy: what training imitates and export writes.

Weights have 7 bits and one scale for each output channel: on x64 CPUs without VNNI, products of
unsigned 8-bit activations and such weights never overflow the 16 bits that they are added in, so
that the fast kernel is exact. Activations have 8 bits and one fixed scale for each place, so that
a text's vector does not depend on the texts beside it. Rows of embedding tables have 8 bits and a
scale each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

WEIGHT_LEVELS = 64
ACTIVATION_LEVELS = 255
ROW_LEVELS = 127
TINY = 1e-12

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Range:
    """Scale and zero point of the activations at one place."""

    scale: float
    zero: int


def choose_range(low: float, high: float) -> Range:
    """Return the scale and zero point that cover a range, which always contains zero."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = max(high - low, TINY) / ACTIVATION_LEVELS
    return Range(scale, round(-low / scale))


def quantize_activations(values: Array, place: Range) -> NDArray[np.uint8]:
    """Round activations to 8 bits, half to even, as QuantizeLinear does."""
    steps = np.rint(values / np.float32(place.scale)) + place.zero
    rounded: NDArray[np.uint8] = np.clip(steps, 0, ACTIVATION_LEVELS).astype(np.uint8)
    return rounded


def quantize_weights(weights: Array) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return 7-bit weights of shape (outputs, inputs) and a scale for each output."""
    scales = np.maximum(np.abs(weights).max(axis=1) / WEIGHT_LEVELS, TINY).astype(np.float32)
    steps = np.clip(np.rint(weights / scales[:, None]), -WEIGHT_LEVELS, WEIGHT_LEVELS)
    return steps.astype(np.int8), scales


def quantize_rows(table: Array) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return an 8-bit table of embeddings and a scale for each row."""
    scales = np.maximum(np.abs(table).max(axis=1) / ROW_LEVELS, TINY).astype(np.float32)
    steps = np.clip(np.rint(table / scales[:, None]), -ROW_LEVELS, ROW_LEVELS)
    return steps.astype(np.int8), scales
