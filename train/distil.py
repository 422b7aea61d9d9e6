"""Distil a model into fewer layers: the student learns the teacher's vectors of all texts."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from train import data
from train.contrastive import encode
from train.data import Ids
from train.encoder import Encoder, autocast

TOKENS = 192
"""Of a passage: the student learns the rest from the pairs."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a student is trained."""

    rate: float = 4e-4
    tokens: int = 49_152
    """Of one step."""
    seconds: float = 1e9
    epochs: int = 8
    seed: int = 0
    relations: float = 2.0
    """Weight of the cosines among a step's texts, beside the vectors themselves."""


def plan_steps(ids: Sequence[Ids], tokens: int, rng: random.Random) -> list[list[int]]:
    """Return groups of texts of like length in random order, different ones in each epoch."""
    order = sorted(range(len(ids)), key=lambda i: (len(ids[i]) // 8, rng.random()))
    groups: list[list[int]] = []
    current: list[int] = []
    longest = 0
    for index in order:
        longest = max(longest, len(ids[index]))
        if current and longest * (len(current) + 1) > tokens:
            groups.append(current)
            current, longest = [], len(ids[index])
        current.append(index)
    if current:
        groups.append(current)
    rng.shuffle(groups)
    return groups


def distil(
    student: Encoder, teacher: Encoder, ids: Sequence[Ids], settings: Settings, device: str
) -> None:
    """Train a student in place towards the teacher's vectors."""
    rng = random.Random(settings.seed)
    torch.manual_seed(settings.seed)
    started = time.monotonic()
    targets = encode(teacher, ids, device)
    print(f"  teacher: {len(ids)} texts, {time.monotonic() - started:.0f} s", flush=True)
    matrices = [value for value in student.parameters() if value.ndim > 1]
    others = [value for value in student.parameters() if value.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}],
        lr=settings.rate,
        betas=(0.9, 0.98),
        fused=device == "cuda",
    )
    step, history = 0, []
    expected = settings.epochs * len(plan_steps(ids, settings.tokens, random.Random(0)))
    for epoch in range(settings.epochs):
        for group in plan_steps(ids, settings.tokens, rng):
            share = max(step / expected, (time.monotonic() - started) / settings.seconds)
            if share >= 1:
                return
            rate = settings.rate * min(1.0, (step + 1) / 60)
            for parameters in optimizer.param_groups:
                parameters["lr"] = rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * share)))
            loss = _step(student, [ids[i] for i in group], targets[group], settings, device)
            torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step += 1
            history.append(loss)
            if step in {3, 50} or step % 250 == 0:
                spent = time.monotonic() - started
                mean = float(torch.stack(history[-100:]).mean())
                print(f"  six {step}/{expected} epoch {epoch} {spent:.0f} s {mean:.4f}", flush=True)


def _step(student: Encoder, ids: list[Ids], target: Any, settings: Settings, device: str) -> Any:
    if student.quantized:
        student.hold_weights()
    with autocast(device):
        made = student(*data.tensors(ids, device))
    loss = (1 - (made * target).sum(1)).mean()
    apart = made @ made.T - target @ target.T
    total = loss + settings.relations * apart.square().mean()
    total.backward()
    if student.quantized:
        student.release_weights()
    return loss.detach()
