"""The instant tier: a table of word-piece vectors, whose weighted mean is a text's vector.

Each word piece passes the teacher alone; the vectors are cut to 256 principal directions, weighted
so that frequent pieces count less, and tuned on the same pairs as the teacher.
"""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  # the field's own name
from numpy.typing import NDArray
from torch import nn

from train import data
from train.contrastive import Corpus, encode
from train.data import Ids
from train.encoder import Encoder
from train.quantization import quantize_rows

DIMS = 256
CLS = 101
LIMIT = 512


def initial_table(teacher: Encoder, vocabulary: int, device: str) -> Any:
    """Return the teacher's vectors of single word pieces, reduced and weighted."""
    ids = [np.array([CLS, piece, data.SEPARATOR], np.int32) for piece in range(vocabulary)]
    vectors = encode(teacher, ids, device)
    centred = vectors - vectors.mean(0)
    _, _, directions = torch.linalg.svd(centred[1000:], full_matrices=False)
    reduced = centred @ directions[:DIMS].T
    # Pieces of the vocabulary are ordered by frequency, roughly: Zipf's law gives their weights.
    weights = torch.log(1 + torch.arange(vocabulary, device=device).float())
    weights[:999] = 0.02
    return reduced * (weights / weights.mean())[:, None]


def bag(ids: list[Ids], device: str, limit: int = LIMIT) -> tuple[Any, Any]:
    """Return flat ids and offsets of texts, without the first and last piece."""
    cut = [one[1:-1][:limit] if len(one) > 2 else one[:1] for one in ids]
    offsets = np.cumsum([0, *(len(one) for one in cut[:-1])])
    flat = torch.from_numpy(np.concatenate(cut).astype(np.int64)).to(device)
    return flat, torch.from_numpy(offsets.astype(np.int64)).to(device)


def embed(table: Any, ids: list[Ids], device: str) -> Any:
    """Return vectors of length 1."""
    parts = []
    for start in range(0, len(ids), 8192):
        flat, offsets = bag(ids[start : start + 8192], device)
        parts.append(F.normalize(F.embedding_bag(flat, table, offsets, mode="mean"), dim=-1))
    return torch.cat(parts)


def tune(
    table: Any, corpus: Corpus, skip: int, device: str, *, seconds: float, seed: int = 0
) -> Any:
    """Train the table on the pairs; `skip` is the number of pieces of the questions' prefix."""
    rng = random.Random(seed)
    rows = corpus.rows
    weight = nn.Parameter(table.clone())
    optimizer = torch.optim.Adam([weight], lr=2e-3)
    scale = float(table.norm(dim=1).mean())
    questions = [np.concatenate([one[:1], one[1 + skip :]]) for one in corpus.questions]
    started = time.monotonic()
    step, epoch = 0, 0
    while time.monotonic() - started < seconds:
        epoch += 1
        for batch in data.plan_batches(rows, corpus.used, 2048, {}, rng):
            left = 1 - (time.monotonic() - started) / seconds
            if left <= 0:
                break
            optimizer.param_groups[0]["lr"] = 5e-3 * scale * left * min(1, (step + 1) / 20)
            chosen = [
                rng.choice(corpus.mined[i] or rows.negatives[i] or [rows.positives[i]])
                for i in batch
            ]
            places = [rows.positives[i] for i in batch] + chosen
            asked = embed(weight, [questions[i] for i in batch], device)
            given = embed(weight, [corpus.passages[i] for i in places], device)
            own = torch.tensor(places, device=device)
            mask = own[None, :] == own[: len(batch), None]
            mask.fill_diagonal_(fill_value=False)
            scores = (asked @ given.T / 0.05).masked_fill(mask, -1e4)
            loss = F.cross_entropy(scores, torch.arange(len(batch), device=device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step += 1
            if step in {2, 50} or step % 200 == 0:
                print(f"  static {step} epoch {epoch} loss {float(loss.detach()):.3f}", flush=True)
    return weight.detach()


def rounded(table: Any) -> dict[str, NDArray[Any]]:
    """Return the table as 8-bit rows with their scales."""
    steps, scales = quantize_rows(table.float().cpu().numpy())
    return {"table": steps, "scales": scales}
