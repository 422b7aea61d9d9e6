"""Everything that needs a GPU, in one run: `python -m train.job --help`.

Mines negatives with the base, tunes 12 layers with the quantisation in the forward pass, distils
them into 6, tunes the static table, and writes packed models. Times are shares of `--minutes`.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from pathlib import Path

import numpy as np
import torch

from train import base, contrastive, data, distil, encoder, evaluate, packed, static
from train.contrastive import Corpus, Settings
from train.encoder import Encoder
from train.quantization import ROW_LEVELS

RANKS = {
    "code-py": 1000,
    "code-other": 1000,
    "docs": 300,
    "detail": 300,
    "science": 300,
    "biology": 500,
    "statement": 500,
    "talk": 2000,
}
"""Pairs whose passage is not among this many for the base are taken for noise."""
WEIGHTS = {
    "commit": 2.0,
    "code-py": 1.3,
    "talk": 2.0,
    "talk-made": 0.6,
    "facts": 0.7,
    "hops": 0.7,
    "statement": 0.6,
}
STUDENT_WEIGHTS = {**WEIGHTS, "commit": 0.7, "code-py": 2.0, "docs": 0.6}
STUDENT = [1, 3, 5, 7, 9, 11]


class Job:
    """Models, data and clock of a run."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.started = time.monotonic()
        self.asked = asked
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.backends.cuda.matmul.allow_tf32 = True
        self.out: Path = asked.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.pieces = data.WordPieces(asked.tokenizer)
        self.development = (
            evaluate.read_development(asked.development) if asked.development else None
        )

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.started:.0f} s] {text}", flush=True)

    def corpus(self) -> Corpus:
        rows = data.read_rows(self.asked.data.glob("*.train.jsonl.xz"))
        self.say(f"{len(rows)} pairs, {len(rows.texts)} texts: {dict(Counter(rows.kinds))}")
        passages = self.pieces.encode(rows.texts, data.PASSAGE_TOKENS)
        questions = self.pieces.encode_asked(rows)
        tokens = sum(map(len, passages)) / len(passages), sum(map(len, questions)) / len(questions)
        self.say(f"tokenised: {tokens[0]:.0f} a passage, {tokens[1]:.0f} a question")
        return Corpus(rows, passages, questions, [[] for _ in rows.kinds], list(range(len(rows))))

    def judge(self, model: Encoder, name: str) -> None:
        """Print the held-out ranks and the evidence that the vectors alone hold."""
        held = data.read_rows([self.asked.data / "heldout.jsonl.xz"])
        told = contrastive.heldout_score(model, held, self.pieces, self.device)
        self.say(f"held out {name}: " + " ".join(f"{k} {v:.3f}" for k, v in told.items()))
        if self.development is None:
            return
        found = self.development
        texts = contrastive.encode(model, self._ids(), self.device).cpu().numpy()
        asked = contrastive.encode(model, self._questions(), self.device).cpu().numpy()
        self.say(evaluate.show(name, evaluate.score(found, texts, asked)))
        cut = [
            v[:, :256] / np.linalg.norm(v[:, :256], axis=1, keepdims=True) for v in (texts, asked)
        ]
        self.say(evaluate.show(f"{name}/256", evaluate.score(found, cut[0], cut[1])))

    def _ids(self) -> list[data.Ids]:
        assert self.development is not None
        return self.pieces.encode(self.development.texts, evaluate.MAX_TOKENS)

    def _questions(self) -> list[data.Ids]:
        assert self.development is not None
        texts = [one["question"] for one in self.development.questions]
        return self.pieces.encode_questions(texts, evaluate.MAX_TOKENS)

    def calibrated(self, weights: base.Weights, corpus: Corpus) -> Encoder:
        """Return a model that rounds, its ranges settled on a sample of the texts."""
        model: Encoder = Encoder(weights).to(self.device)
        rng = random.Random(5)
        # Texts of equal length: padding would be seen as activations.
        chosen = [one for one in corpus.passages if len(one) >= 64]
        sample = rng.sample(chosen, min(self.asked.sample, len(chosen)))
        sample += [
            one
            for one in rng.sample(corpus.questions, min(self.asked.sample, len(corpus.questions)))
            if len(one) >= 16
        ]
        batches = [
            data.tensors([one[:64] if len(one) >= 64 else one[:16] for one in part], self.device)
            for part in (sample[i : i + 1] for i in range(len(sample)))
        ]
        model.calibrate(batches, self.device)
        model.quantized = True
        return model


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m train.job", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the mix")
    parser.add_argument("--base", type=Path, help="model.onnx of bge-small")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--development", type=Path, help="file of `train.evaluate pieces`")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--temperature", type=float, default=0.02)
    parser.add_argument(
        "--keep", default="", help="shares of the base's weights to keep, with commas: a model each"
    )
    parser.add_argument("--sample", type=int, default=256, help="texts to settle ranges on")
    parser.add_argument("--skip-base", action="store_true", help="do not judge the base")
    parser.add_argument(
        "--first", type=Path, help="folder of a packed model `twelve` to go on from"
    )
    parser.add_argument("--student", type=Path, help="folder of a packed model `six` to go on from")
    parser.add_argument("--share-twelve", type=float, default=0.4, help="of the time; 0: none")
    parser.add_argument("--only-twelve", action="store_true", help="no student and no table")
    parser.add_argument("--student-rate", type=float, default=4e-4)
    parser.add_argument("--reserve", type=float, default=45.0, help="seconds for what follows it")
    parser.add_argument("--no-fuse", dest="fuse", action="store_false", help="compile nothing")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    run(Job(asked))


def run(job: Job) -> None:
    asked = job.asked
    total = 60 * asked.minutes
    if asked.fuse and job.device == "cuda":
        encoder.fuse()
    weights = base.load_base(asked.base) if asked.base else {}
    corpus = job.corpus()
    ranges: dict[str, tuple[float, int]] = {}
    if asked.first:
        weights, ranges = packed.unpack(packed.load_parts(asked.first, "twelve"))
    original = Encoder(weights).to(job.device)
    if not asked.skip_base:
        job.judge(original, "base")
    ranks = contrastive.mine(original, corpus, job.device)
    kinds = corpus.rows.kinds
    corpus.used = [i for i in corpus.used if ranks[i] < RANKS.get(kinds[i], 10**9)]
    job.say(f"used {len(corpus.used)}: {dict(Counter(kinds[i] for i in corpus.used))}")
    del original
    model = job.calibrated(weights, corpus)
    model.ranges = ranges or model.ranges
    job.say(f"ranges of {len(model.ranges)} places")
    if not asked.skip_base:
        job.judge(model, "base rounded")
    if asked.share_twelve:
        spent = time.monotonic() - job.started
        settings = Settings(
            rate=asked.rate,
            temperature=asked.temperature,
            batch=asked.batch,
            epochs=asked.epochs,
            seconds=(total - spent) * asked.share_twelve,
            weights=WEIGHTS,
            seed=asked.seed,
            name="twelve",
        )
        contrastive.train(model, corpus, settings, job.device)
        packed.save_parts(packed.pack(model.weights(), model.ranges), job.out, "twelve")
        job.judge(model, "twelve")
        for share in filter(None, asked.keep.split(",")):
            name = f"twelve-{round(100 * float(share))}"
            mixed = _mixed(model, weights, float(share), job.device)
            packed.save_parts(packed.pack(mixed.weights(), mixed.ranges), job.out, name)
            job.judge(mixed, name)
    if asked.only_twelve:
        return
    for value in model.parameters():
        value.requires_grad_(requires_grad=False)
    model.quantized = False  # the teacher's own vectors, not their rounding
    _student(job, corpus, model)
    _static(job, corpus, model, max(5.0, total - (time.monotonic() - job.started) - 12))
    job.say("done")


def _student(job: Job, corpus: Corpus, teacher: Encoder) -> None:
    asked = job.asked
    if asked.student:
        weights, ranges = packed.unpack(packed.load_parts(asked.student, "six"))
        student = Encoder(weights).to(job.device)
        student.ranges, student.quantized = ranges, True
    else:
        student = job.calibrated(base.take_layers(teacher.weights(), STUDENT), corpus)
    left = 60 * asked.minutes - (time.monotonic() - job.started) - asked.reserve
    settings = distil.Settings(rate=asked.student_rate, seconds=0.5 * left, seed=asked.seed + 1)
    ids = [data.cut(one, distil.TOKENS) for one in corpus.passages]
    distil.distil(student, teacher, ids + corpus.questions, settings, job.device)
    job.judge(student, "six distilled")
    # The teacher's vectors alone leave code far behind: the pairs themselves bring it back.
    left = 60 * asked.minutes - (time.monotonic() - job.started) - asked.reserve
    tuned = Settings(
        rate=asked.student_rate / 2,
        batch=768,
        seconds=left,
        weights=STUDENT_WEIGHTS,
        seed=asked.seed + 2,
        name="six",
    )
    contrastive.train(student, corpus, tuned, job.device, teacher)
    packed.save_parts(packed.pack(student.weights(), student.ranges), job.out, "six")
    job.judge(student, "six")


def _mixed(model: Encoder, weights: base.Weights, share: float, device: str) -> Encoder:
    """Return a tuned model that is moved back towards the base, rounding as it does."""
    mixed: Encoder = Encoder(
        {
            name: (1 - share) * value + share * np.asarray(weights[name], np.float32)
            for name, value in model.weights().items()
        }
    ).to(device)
    mixed.ranges, mixed.quantized = model.ranges, model.quantized
    return mixed


def _static(job: Job, corpus: Corpus, teacher: Encoder, seconds: float) -> None:
    skip = len(job.pieces.encode_questions([""])[0]) - 2
    vocabulary = teacher.table["embeddings/word_embeddings/weight"].shape[0]
    table = static.initial_table(teacher, vocabulary, job.device)
    for name in ("static raw", "static"):
        if name == "static":
            table = static.tune(table, corpus, skip, job.device, seconds=min(60.0, seconds))
        if job.development is not None:
            with torch.no_grad():
                texts = static.embed(table, job._ids(), job.device).cpu().numpy()  # noqa: SLF001
                plain = [
                    np.concatenate([one[:1], one[1 + skip :]])
                    for one in job._questions()  # noqa: SLF001
                ]
                asked = static.embed(table, plain, job.device).cpu().numpy()
            job.say(evaluate.show(name, evaluate.score(job.development, texts, asked)))
    arrays = static.rounded(table)
    assert abs(arrays["table"]).max() <= ROW_LEVELS
    np.savez_compressed(job.out / "static.npz", allow_pickle=False, **arrays)


if __name__ == "__main__":
    main()
