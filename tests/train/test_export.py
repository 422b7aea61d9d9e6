"""A tiny model, exported: Quire opens the folder, and its vectors are those of the weights."""

from __future__ import annotations

import json
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from quire.core.types import EmbedSettings
from quire.embed.local import LocalEmbedder
from train import export, packed
from train.base import PREFIX, Weights
from train.quantization import choose_range

pytest.importorskip("onnx")

WIDTH = 24
"""Two for each of the twelve heads."""
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "quire"]
PLACES = ("attention_in", "context", "feed_in", "feed_mid")
Array = NDArray[Any]


def make_weights(layers: int = 2) -> Weights:
    random = np.random.default_rng(3)
    weights: Weights = {
        "embeddings.word_embeddings.weight": random.normal(size=(len(WORDS), WIDTH)),
        "embeddings.position_embeddings.weight": random.normal(size=(16, WIDTH)) / 4,
        "embeddings.token_type_embeddings.weight": random.normal(size=(2, WIDTH)) / 4,
    }
    names = ["embeddings.LayerNorm"]
    for layer in range(layers):
        start = f"encoder.layer.{layer}."
        sizes = {
            **{f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")},
            "attention.output.dense": (WIDTH, WIDTH),
            "intermediate.dense": (2 * WIDTH, WIDTH),
            "output.dense": (WIDTH, 2 * WIDTH),
        }
        for name, size in sizes.items():
            weights[f"{start}{name}.weight"] = random.normal(size=size) / size[1] ** 0.5
            weights[f"{start}{name}.bias"] = random.normal(size=size[0]) / 10
        names += [f"{start}attention.output.LayerNorm", f"{start}output.LayerNorm"]
    for name in names:
        weights[f"{name}.weight"] = np.ones(WIDTH)
        weights[f"{name}.bias"] = np.zeros(WIDTH)
    return weights


def norm(states: Array) -> Array:
    return np.asarray((states - states.mean(-1, keepdims=True)) / states.std(-1, keepdims=True))


def gelu(values: Array) -> Array:
    return np.asarray(values * (1 + np.vectorize(erf)(values / 2**0.5)) / 2)


def compute(weights: Weights, tokens: list[int]) -> Array:
    """Compute the vector of tokens from the weights, without any rounding."""

    def linear(states: Array, name: str) -> Array:
        return states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    states = norm(
        weights["embeddings.word_embeddings.weight"][tokens]
        + weights["embeddings.position_embeddings.weight"][: len(tokens)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    for layer in range(2):
        start = f"encoder.layer.{layer}."
        query, key, value = (
            linear(states, f"{start}attention.self.{part}").reshape(-1, 12, 2).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        weighted = np.exp(query @ key.swapaxes(1, 2) / 2**0.5)
        weighted /= weighted.sum(-1, keepdims=True)
        context = (weighted @ value).swapaxes(0, 1).reshape(-1, WIDTH)
        states = norm(states + linear(context, f"{start}attention.output.dense"))
        middle = gelu(linear(states, f"{start}intermediate.dense"))
        states = norm(states + linear(middle, f"{start}output.dense"))
    return np.asarray(states[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = tmp_path / "words.json"
    special = [
        {"id": number, "content": WORDS[number], "special": True}
        | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        for number in range(4)
    ]
    tokens = {word: {"id": word, "ids": [WORDS.index(word)], "tokens": [word]} for word in WORDS}
    around = [{"SpecialToken": {"id": name, "type_id": 0}} for name in ("[CLS]", "[SEP]")]
    single = [around[0], {"Sequence": {"id": "A", "type_id": 0}}, around[1]]
    tokenizer.write_text(
        json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": special,
                "normalizer": None,
                "pre_tokenizer": {"type": "Whitespace"},
                "post_processor": {
                    "type": "TemplateProcessing",
                    "single": single,
                    "pair": single,
                    "special_tokens": {name: tokens[name] for name in ("[CLS]", "[SEP]")},
                },
                "decoder": None,
                "model": {
                    "type": "WordPiece",
                    "unk_token": "[UNK]",
                    "continuing_subword_prefix": "##",
                    "max_input_chars_per_word": 100,
                    "vocab": {word: number for number, word in enumerate(WORDS)},
                },
            }
        )
    )
    ranges = {f"{layer}.{place}": choose_range(-6.0, 6.0) for layer in range(2) for place in PLACES}
    model = packed.pack(
        make_weights(), {place: (found.scale, found.zero) for place, found in ranges.items()}
    )
    export.write(model, tmp_path / "model", tokenizer)
    return tmp_path / "model"


def test_the_vectors_are_those_of_the_weights(folder: Path) -> None:
    embedder = LocalEmbedder(EmbedSettings(folder=str(folder)))
    assert embedder.dims == WIDTH
    made = np.frombuffer(embedder.embed(["red green blue"])[0], np.int8).astype(np.float64)
    expected = compute(make_weights(), [2, 4, 5, 6, 3])
    cosine = made @ expected / (np.linalg.norm(made) * np.linalg.norm(expected))
    assert cosine > 0.99
    other = compute(make_weights(), [2, 6, 5, 4, 3])
    assert made @ other / (np.linalg.norm(made) * np.linalg.norm(other)) < cosine


def test_questions_get_the_prefix_of_the_folder(folder: Path) -> None:
    assert (folder / "query_prefix.txt").read_text() == PREFIX
    embedder = LocalEmbedder(EmbedSettings(folder=str(folder)))
    assert embedder.embed_query("red") == embedder.embed([PREFIX + "red"])[0]


def test_a_batch_changes_no_byte(folder: Path) -> None:
    import onnxruntime

    session = onnxruntime.InferenceSession(
        (folder / "model.onnx").read_bytes(), providers=["CPUExecutionProvider"]
    )
    texts = [[2, 4, 5, 6, 3], [2, 7, 3], [2, 6, 3]]
    ids = np.array([text + [0] * (5 - len(text)) for text in texts], np.int64)
    mask = np.array([[1] * len(text) + [0] * (5 - len(text)) for text in texts], np.int64)
    (together,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    for text, row in zip(texts, together, strict=True):
        alone = np.array([text], np.int64)
        (single,) = session.run(None, {"input_ids": alone, "attention_mask": np.ones_like(alone)})
        assert np.array_equal(single[0], row)
