"""Rounding as the exported model has it."""

import random
from pathlib import Path

import numpy as np

from train import base, data, evaluate, packed
from train.quantization import (
    WEIGHT_LEVELS,
    choose_range,
    quantize_activations,
    quantize_rows,
    quantize_weights,
)


def test_weights_have_seven_bits_and_a_scale_for_each_output() -> None:
    weights = np.random.default_rng(0).normal(size=(8, 32)) * np.arange(1, 9)[:, None]
    steps, scales = quantize_weights(weights)
    assert np.abs(steps).max(axis=1).tolist() == [WEIGHT_LEVELS] * 8
    assert (np.abs(steps * scales[:, None] - weights) <= scales[:, None] / 2 + 1e-6).all()


def test_rounding_what_is_rounded_changes_nothing() -> None:
    steps, scales = quantize_rows(np.random.default_rng(1).normal(size=(5, 16)))
    again, _ = quantize_rows(steps * scales[:, None])
    assert (again == steps).all()


def test_a_range_holds_zero_exactly() -> None:
    for low, high in ((-1.0, 3.0), (0.5, 2.0), (-4.0, -1.0)):
        place = choose_range(low, high)
        assert quantize_activations(np.zeros(1, np.float32), place)[0] == place.zero
        assert quantize_activations(np.array([1e9, -1e9]), place).tolist() == [255, 0]


def test_a_packed_model_comes_back_from_its_parts(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    weights = {
        "embeddings.word_embeddings.weight": generator.normal(size=(9, 4)),
        "embeddings.LayerNorm.weight": np.ones(4),
        "encoder.layer.0.output.dense.weight": generator.normal(size=(4, 4)),
        "encoder.layer.1.output.dense.weight": generator.normal(size=(4, 4)),
    }
    made = packed.pack(weights, {"0.context": (0.25, 7)})
    packed.save_parts(made, tmp_path, "small", size=300)
    assert len(list(tmp_path.iterdir())) > 1
    found, ranges = packed.unpack(packed.load_parts(tmp_path, "small"))
    assert ranges == {"0.context": (0.25, 7)}
    assert all(np.abs(found[name] - weights[name]).max() < 0.05 for name in weights)
    assert base.layer_count(found) == 2
    last = base.take_layers(found, [1])
    assert base.layer_count(last) == 1
    name = "encoder.layer.{}.output.dense.weight"
    assert (last[name.format(0)] == found[name.format(1)]).all()


def test_batches_hold_each_pair_once_and_one_kind_each() -> None:
    rows = data.Rows()
    for index in range(600):
        rows.kinds.append("docs" if index % 3 else "commit")
        rows.origins.append(f"r{index % 7}")
    plan = data.plan_batches(rows, range(600), 64, {}, random.Random(0))
    chosen = [index for batch in plan for index in batch]
    assert len(set(chosen)) == len(chosen) > 500
    assert all(len({rows.kinds[index] for index in batch}) == 1 for batch in plan)
    assert plan == data.plan_batches(rows, range(600), 64, {}, random.Random(0))


def test_texts_of_like_length_stand_together() -> None:
    ids = [np.zeros(length, np.int32) for length in (5, 50, 6, 49, 7)]
    assert data.chunks_by_length(ids, 100) == [[0, 2, 4], [3, 1]]


def test_evidence_counts_only_what_fits_the_budget() -> None:
    question = {"gold": {"rule": "chars", "units": [{"parts": ["alpha"]}, {"parts": ["omega"]}]}}
    contents = ["alpha " * 10, "x" * 50, "omega"]
    assert evaluate.held(question, contents, [0, 1, 2], 70) == 0.5
    assert evaluate.held(question, contents, [0, 2, 1], 70) == 1.0
