"""Contrastive training with mined negatives, towards a teacher where there is one."""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  # the field's own name

from train import data
from train.data import Ids, Rows
from train.encoder import Encoder, autocast


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is trained."""

    rate: float = 8e-5
    temperature: float = 0.02
    batch: int = 1024
    epochs: int = 1
    chunk: int = 65_536
    """Tokens of one pass; a batch's gradients are gathered over several."""
    dims: tuple[int, ...] = (384, 256)
    backward_weight: float = 0.3
    """Of the question that belongs to a passage, beside the passage that belongs to a question."""
    distil: float = 2.0
    """Weight of the teacher, where there is one."""
    seconds: float = 1e9
    seed: int = 0
    weights: dict[str, float] = field(default_factory=dict)
    name: str = ""


@dataclass(slots=True)
class Corpus:
    """Rows as ids, with mined negatives and the rows that are used."""

    rows: Rows
    passages: list[Ids]
    questions: list[Ids]
    mined: list[list[int]]
    used: list[int]


def encode(model: Encoder, ids: Sequence[Ids], device: str, tokens: int = 200_000) -> Any:
    """Return the vectors of texts."""
    vectors = torch.empty(len(ids), 384, device=device)
    with torch.no_grad(), autocast(device):
        for group in data.chunks_by_length(ids, tokens):
            vectors[group] = model(*data.tensors([ids[i] for i in group], device))
    return vectors


def mine(model: Encoder, corpus: Corpus, device: str, keep: int = 6) -> list[int]:
    """Fill in passages that are near a question but not its own; return its own one's rank."""
    rows = corpus.rows
    passages = encode(model, corpus.passages, device).half()
    questions = encode(model, corpus.questions, device).half()
    kinds: dict[str, list[int]] = defaultdict(list)
    for index, kind in enumerate(rows.kinds):
        kinds[kind].append(index)
    ranks = [0] * len(rows)
    for kind, members in sorted(kinds.items()):
        pool = sorted(
            {rows.positives[i] for i in members} | {n for i in members for n in rows.negatives[i]}
        )
        place = {text: index for index, text in enumerate(pool)}
        table = passages[torch.tensor(pool, device=device)]
        margin = 0.005 if kind in {"commit", "hops"} else 0.015
        if kind in {"biology", "statement"}:
            margin = 0.03  # near ones may well be true
        for start in range(0, len(members), 4096):
            part = members[start : start + 4096]
            scores = (questions[part] @ table.T).float()
            own = torch.tensor([place[rows.positives[i]] for i in part], device=device)
            mine_ = scores.gather(1, own[:, None])
            above = (scores > mine_).sum(1).tolist()
            best, which = scores.topk(min(60, scores.shape[1]), 1)
            limits = (mine_[:, 0] - margin).tolist()
            for row, index in enumerate(part):
                ranks[index] = above[row]
                corpus.mined[index] = [
                    pool[text]
                    for text, score in zip(which[row].tolist(), best[row].tolist(), strict=True)
                    if pool[text] != rows.positives[index] and score < limits[row]
                ][:keep]
        first = sum(ranks[i] == 0 for i in members) / len(members)
        tenth = sum(ranks[i] < 10 for i in members) / len(members)
        print(
            f"  mined {kind}: {len(members)}, own at 1 {first:.3f}, in 10 {tenth:.3f}", flush=True
        )
    return ranks


def _loss(vectors: Any, count: int, mask: Any, settings: Settings) -> Any:
    target = torch.arange(count, device=vectors.device)
    total = vectors.new_zeros(())
    for dims in settings.dims:
        cut = F.normalize(vectors[:, :dims], dim=-1) if dims < vectors.shape[1] else vectors
        scores = cut[:count] @ cut[count:].T / settings.temperature
        forward = F.cross_entropy(scores.masked_fill(mask, -1e4), target)
        back = (cut[count : 2 * count] @ cut[:count].T / settings.temperature).masked_fill(
            mask[:, :count].T, -1e4
        )
        weight = 1.0 if dims == vectors.shape[1] else 0.5
        total = total + weight * (
            forward + settings.backward_weight * F.cross_entropy(back, target)
        )
    return total


def _articles(origins: Sequence[str]) -> list[int]:
    """Return a number for each row's article; rows of no article have one of their own."""
    known: dict[str, int] = {}
    return [
        known.setdefault(origin, len(known)) if ":" in origin else -1 - index
        for index, origin in enumerate(origins)
    ]


def _choose_negative(corpus: Corpus, index: int, rng: random.Random) -> int | None:
    own, mined = corpus.rows.negatives[index], corpus.mined[index]
    if own and (not mined or rng.random() < 0.5):
        return rng.choice(own)
    return rng.choice(mined) if mined else None


def train(
    model: Encoder,
    corpus: Corpus,
    settings: Settings,
    device: str,
    teacher: Encoder | None = None,
) -> None:
    """Train a model in place; with a teacher, towards its vectors too."""
    rng = random.Random(settings.seed)
    torch.manual_seed(settings.seed)
    rows = corpus.rows
    texts: dict[str, int] = {}
    question_id = [texts.setdefault(text, len(texts)) for text in rows.questions]
    article_id = _articles(rows.origins)
    matrices = [value for value in model.parameters() if value.ndim > 1]
    others = [value for value in model.parameters() if value.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}],
        lr=settings.rate,
        betas=(0.9, 0.98),
    )
    plan = [
        batch
        for _ in range(settings.epochs)
        for batch in data.plan_batches(rows, corpus.used, settings.batch, settings.weights, rng)
    ]
    started = time.monotonic()
    schedule = _Schedule(len(plan), settings, started)
    losses: dict[str, list[float]] = defaultdict(list)
    for step, batch in enumerate(plan):
        rate = schedule.rate(step)
        if rate is None:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate
        chosen = [_choose_negative(corpus, index, rng) for index in batch]
        places = [rows.positives[i] for i in batch] + [one for one in chosen if one is not None]
        ids = [corpus.questions[i] for i in batch] + [corpus.passages[one] for one in places]
        own = torch.tensor(places, device=device)
        same = torch.tensor([question_id[i] for i in batch], device=device)
        mask = own[None, :] == own[: len(batch), None]
        mask[:, : len(batch)] |= same[:, None] == same[None, :]
        # What else is told of the same article may well answer.
        article = torch.tensor([article_id[i] for i in batch], device=device)
        mask[:, : len(batch)] |= article[:, None] == article[None, :]
        mask.fill_diagonal_(fill_value=False)
        loss = _step(model, ids, mask, settings, teacher)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses[rows.kinds[batch[0]]].append(loss)
        if step in {2, 20} or step % 60 == 59 or step == len(plan) - 1:
            told = " ".join(
                f"{k} {sum(v[-8:]) / len(v[-8:]):.3f}" for k, v in sorted(losses.items())
            )
            spent = time.monotonic() - started
            print(f"  {settings.name} {step + 1}/{len(plan)} {spent:.0f} s {told}", flush=True)


class _Schedule:
    """Warm-up and cosine; the end is moved up where the time would not do."""

    def __init__(self, steps: int, settings: Settings, started: float) -> None:
        self._steps, self._settings, self._started = steps, settings, started
        self._warm = max(5, steps // 12)

    def rate(self, step: int) -> float | None:
        """Return the learning rate of a step, or None when the time is over."""
        share = (time.monotonic() - self._started) / self._settings.seconds
        if share >= 1:
            return None
        done = max(step / max(1, self._steps), share if step > 20 else 0.0)
        warm = min(1.0, (step + 1) / self._warm)
        return (
            self._settings.rate
            * warm
            * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, done))))
        )


def _step(
    model: Encoder,
    ids: list[Ids],
    mask: Any,
    settings: Settings,
    teacher: Encoder | None,
) -> float:
    """Leave a batch's gradients in the model; return its loss."""
    count, device = len(mask), str(mask.device.type)
    groups = data.chunks_by_length(ids, settings.chunk)
    batches = [data.tensors([ids[i] for i in group], device) for group in groups]
    if model.quantized:
        model.hold_weights()
    vectors = torch.empty(len(ids), 384, device=device)
    with torch.no_grad(), autocast(device):
        for group, batch in zip(groups, batches, strict=True):
            vectors[group] = model(*batch)
    vectors.requires_grad_(requires_grad=True)
    loss = _loss(vectors, count, mask, settings)
    if teacher is not None:
        target = torch.empty_like(vectors)
        with torch.no_grad(), autocast(device):
            for group, batch in zip(groups, batches, strict=True):
                target[group] = teacher(*batch)
        loss = loss + settings.distil * _distance(vectors, target, count, mask)
    loss.backward()
    gradient = vectors.grad
    assert gradient is not None
    for group, batch in zip(groups, batches, strict=True):
        with autocast(device):
            made = model(*batch)
        (made * gradient[group]).sum().backward()
    if model.quantized:
        model.release_weights()
    return float(loss.detach())


def _distance(vectors: Any, target: Any, count: int, mask: Any) -> Any:
    """Compare vectors with a teacher's, and the order they give."""
    angle = (1 - (vectors * target).sum(1)).mean()
    wanted = F.softmax((target[:count] @ target[count:].T / 0.03).masked_fill(mask, -1e4), 1)
    given = F.log_softmax((vectors[:count] @ vectors[count:].T / 0.03).masked_fill(mask, -1e4), 1)
    return 20 * angle + F.kl_div(given, wanted, reduction="batchmean")


def heldout_score(
    model: Encoder, rows: Rows, pieces: data.WordPieces, device: str
) -> dict[str, float]:
    """Return the mean reciprocal rank of each kind among all its held-out texts."""
    passages = encode(model, pieces.encode(rows.texts, data.PASSAGE_TOKENS), device)
    questions = encode(model, pieces.encode_asked(rows), device)
    kinds: dict[str, list[int]] = defaultdict(list)
    for index, kind in enumerate(rows.kinds):
        kinds[kind].append(index)
    figures = {}
    for kind, members in sorted(kinds.items()):
        pool = sorted(
            {rows.positives[i] for i in members} | {n for i in members for n in rows.negatives[i]}
        )
        place = {text: index for index, text in enumerate(pool)}
        scores = questions[members] @ passages[torch.tensor(pool, device=device)].T
        own = torch.tensor([place[rows.positives[i]] for i in members], device=device)
        ranks = (scores > scores.gather(1, own[:, None])).sum(1)
        figures[kind] = float((1 / (ranks + 1.0)).mean())
    return figures
