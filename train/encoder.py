"""A BERT encoder in torch whose forward pass is quantised as the exported model is.

The integers of weights and activations are exact in bfloat16, so that training on a GPU sees what
the CPU will compute, up to the rounding of sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  # the field's own name
from torch import nn

from train.base import Weights, layer_count
from train.quantization import ACTIVATION_LEVELS, ROW_LEVELS, TINY, WEIGHT_LEVELS, choose_range

HEADS = 12
EPSILON = 1e-12
PLACES = ("attention_in", "context", "feed_in", "feed_mid")
PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "up": "intermediate.dense",
    "down": "output.dense",
}


def _dtype(values: Any) -> Any:
    return torch.bfloat16 if values.is_cuda else torch.float32


def _round(values: Any, place: Any) -> Any:
    """Return the steps of activations around zero; gradients pass where nothing is clipped."""
    clipped = (values.float() * place[0]).clamp(place[1], place[2])
    return (clipped + (clipped.round() - clipped).detach()).to(_dtype(values))


def _scale(sums: Any, scales: Any, bias: Any) -> Any:
    return (sums.float() * scales + bias).to(_dtype(sums))


def _scale_gelu_round(sums: Any, scales: Any, bias: Any, place: Any) -> Any:
    return _round(F.gelu(sums.float() * scales + bias), place).to(_dtype(sums))


def _scale_add_norm(sums: Any, scales: Any, bias: Any, states: Any, gain: Any, shift: Any) -> Any:  # noqa: PLR0917
    values = sums.float() * scales + bias + states
    return F.layer_norm(values, (values.shape[-1],), gain, shift, EPSILON)


FUSED: dict[str, Any] = {
    "round": _round,
    "scale": _scale,
    "scale_gelu_round": _scale_gelu_round,
    "scale_add_norm": _scale_add_norm,
}


def fuse() -> None:
    """Compile what stands between the products: it is bound by memory, and half of the time."""
    import torch._dynamo

    torch._dynamo.config.recompile_limit = 64  # noqa: SLF001
    for name, function in list(FUSED.items()):
        FUSED[name] = torch.compile(function, dynamic=True)


def _attend(heads: list[Any], allowed: Any) -> Any:
    count, length, _ = heads[0].shape
    query, key, value = (
        head.to(_dtype(head)).view(count, length, HEADS, -1).transpose(1, 2) for head in heads
    )
    context = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    return context.transpose(1, 2).reshape(count, length, -1)


def weight_steps(weight: Any) -> tuple[Any, Any]:
    """Return the 7-bit steps of a weight and their scales, one for each output."""
    scale = weight.detach().abs().amax(1, keepdim=True).clamp_min(TINY) / WEIGHT_LEVELS
    exact = weight / scale
    return exact + (exact.round() - exact).detach(), scale


class Encoder(nn.Module):
    """The model; `quantized` says whether the forward pass rounds."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.layers = layer_count(weights)
        self.quantized = False
        self.ranges: dict[str, tuple[float, int]] = {}
        self._bounds: dict[str, Any] = {}
        self.observed: dict[str, tuple[float, float]] | None = None
        self.cached: dict[str, Any] | None = None
        self.table = nn.ParameterDict(
            {
                name.replace(".", "/"): nn.Parameter(torch.tensor(np.asarray(value, np.float32)))
                for name, value in sorted(weights.items())
            }
        )

    def weights(self) -> Weights:
        """Return the weights as they are, not rounded."""
        return {
            name.replace("/", "."): value.detach().float().cpu().numpy()
            for name, value in self.table.items()
        }

    def _get(self, name: str) -> Any:
        return self.table[name.replace(".", "/")]

    def _row_quantized(self, name: str) -> Any:
        table = self._get(name)
        if not self.quantized:
            return table
        if self.cached is not None and name in self.cached:
            return self.cached[name]
        scale = table.detach().abs().amax(1, keepdim=True).clamp_min(TINY) / ROW_LEVELS
        rounded = (table.detach() / scale).round() * scale
        return table + (rounded - table).detach()

    def _observe(self, values: Any, place: str) -> None:
        if self.observed is not None:
            low, high = self.observed.get(place, (0.0, 0.0))
            self.observed[place] = (min(low, float(values.min())), max(high, float(values.max())))

    def _place(self, place: str) -> Any:
        """Return the factor and the bounds of the steps at a place, as a tensor."""
        if place not in self._bounds:
            scale, zero = self.ranges[place]
            bounds = [1 / scale, float(-zero), float(ACTIVATION_LEVELS - zero)]
            self._bounds[place] = torch.tensor(bounds, device=next(self.parameters()).device)
        return self._bounds[place]

    def _product(self, rounded: Any, name: str, place: str) -> tuple[Any, Any, Any]:
        """Return sums of products of steps, their scales and the bias."""
        if self.cached is not None and name in self.cached:
            steps, scales = self.cached[name]
        else:
            steps, scales = weight_steps(self._get(f"{name}.weight"))
        sums = F.linear(rounded, steps.to(_dtype(rounded)))
        return sums, scales[:, 0] * self.ranges[place][0], self._get(f"{name}.bias")

    def _linear(self, values: Any, name: str, place: str) -> Any:
        self._observe(values, place)
        return F.linear(values, self._get(f"{name}.weight"), self._get(f"{name}.bias"))

    def _norm(self, values: Any, name: str) -> Any:
        scale, shift = self._get(f"{name}.weight"), self._get(f"{name}.bias")
        return F.layer_norm(values.float(), (values.shape[-1],), scale, shift, EPSILON)

    def hidden(self, ids: Any, mask: Any) -> Any:
        """Return the hidden states of the last layer."""
        length = ids.shape[1]
        words = F.embedding(ids, self._row_quantized("embeddings.word_embeddings.weight"))
        places = self._row_quantized("embeddings.position_embeddings.weight")[:length]
        kinds = self._get("embeddings.token_type_embeddings.weight")[0]
        states = self._norm(words + places + kinds, "embeddings.LayerNorm")
        allowed = mask[:, None, None, :].bool()
        layer = self._rounded_layer if self.quantized else self._plain_layer
        for index in range(self.layers):
            states = layer(states, allowed, index)
        return states

    def _plain_layer(self, states: Any, allowed: Any, index: int) -> Any:
        start = f"encoder.layer.{index}."
        heads = [
            self._linear(states, start + PARTS[part], f"{index}.attention_in")
            for part in ("query", "key", "value")
        ]
        context = _attend(heads, allowed)
        out = self._linear(context, start + PARTS["out"], f"{index}.context")
        states = self._norm(out + states, start + "attention.output.LayerNorm")
        middle = F.gelu(self._linear(states, start + PARTS["up"], f"{index}.feed_in"))
        out = self._linear(middle, start + PARTS["down"], f"{index}.feed_mid")
        return self._norm(out + states, start + "output.LayerNorm")

    def _rounded_layer(self, states: Any, allowed: Any, index: int) -> Any:
        start = f"encoder.layer.{index}."
        places = [f"{index}.{place}" for place in PLACES]
        bounds = [self._place(place) for place in places]
        rounded = FUSED["round"](states, bounds[0])
        heads = [
            FUSED["scale"](*self._product(rounded, start + PARTS[part], places[0]))
            for part in ("query", "key", "value")
        ]
        rounded = FUSED["round"](_attend(heads, allowed), bounds[1])
        norm = start + "attention.output.LayerNorm"
        states = FUSED["scale_add_norm"](
            *self._product(rounded, start + PARTS["out"], places[1]),
            *(states, self._get(f"{norm}.weight"), self._get(f"{norm}.bias")),
        )
        rounded = FUSED["round"](states, bounds[2])
        middle = FUSED["scale_gelu_round"](
            *self._product(rounded, start + PARTS["up"], places[2]), bounds[3]
        )
        norm = start + "output.LayerNorm"
        return FUSED["scale_add_norm"](
            *self._product(middle, start + PARTS["down"], places[3]),
            *(states, self._get(f"{norm}.weight"), self._get(f"{norm}.bias")),
        )

    def forward(self, ids: Any, mask: Any) -> Any:
        """Return vectors of length 1."""
        return F.normalize(self.hidden(ids, mask)[:, 0].float(), dim=-1)

    def hold_weights(self) -> None:
        """Round the weights once for all passes until the next step of the optimizer."""
        names = [
            name for name in self.table if name.endswith("/weight") and "LayerNorm" not in name
        ]
        self.cached = {}
        self._sources: dict[str, tuple[Any, Any]] = {}
        for name in names:
            plain = name.replace("/", ".")
            value = self.table[name].detach()
            if plain.startswith("encoder."):
                steps, scale = weight_steps(value)
                leaf = steps.detach().requires_grad_(requires_grad=True)
                self.cached[plain.removesuffix(".weight")] = (leaf, scale)
                self._sources[name] = (leaf, 1 / scale)
            elif not plain.startswith("embeddings.token_type"):
                scale = value.abs().amax(1, keepdim=True).clamp_min(TINY) / ROW_LEVELS
                leaf = ((value / scale).round() * scale).requires_grad_(requires_grad=True)
                self.cached[plain] = leaf
                self._sources[name] = (leaf, 1.0)

    def release_weights(self) -> None:
        """Give the gradients of the rounded weights to the weights themselves."""
        for name, (leaf, factor) in self._sources.items():
            if leaf.grad is not None:
                self.table[name].grad = leaf.grad.float() * factor
        self.cached = None
        self._sources = {}

    def calibrate(self, batches: Sequence[tuple[Any, Any]], device: str) -> None:
        """Settle the ranges of activations on some texts."""
        self.observed = {}
        was, self.quantized = self.quantized, False
        with torch.no_grad(), autocast(device):
            for ids, mask in batches:
                self.hidden(ids, mask)
        for place, (low, high) in self.observed.items():
            chosen = choose_range(low, high)
            self.ranges[place] = (chosen.scale, chosen.zero)
        self._bounds = {}
        self.observed, self.quantized = None, was


def autocast(device: str) -> Any:
    """Return the context of a pass: bfloat16 on a GPU."""
    return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")
