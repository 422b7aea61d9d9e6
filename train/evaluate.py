"""Measure a model's vectors alone on the benchmark's questions: `python -m train.evaluate --help`.

`pieces` writes what Quire embeds of each corpus, from stores that `python -m bench.evidence` made
(BENCH_CACHE), with the half of the questions that may be looked at. `score` ranks the pieces by
their vectors alone and tells how much of the gold evidence the first ones hold. `vectors` embeds
the pieces as Quire does and puts them where `bench.evidence` finds them. `speed` tells milliseconds
a text.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.core.types import EmbedSettings
from quire.embed.local import LocalEmbedder
from train.data import WordPieces

BUDGETS = (4000, 8000)
"""Characters: about 1,000 and 2,000 tokens."""
MAX_TOKENS = 512
Vectors = NDArray[np.float32]


def squeeze(text: str) -> str:
    """Return a text with single spaces."""
    return re.sub(r"\s+", " ", text).strip()


@dataclass(slots=True)
class Development:
    """Pieces of the corpora and questions with their evidence."""

    texts: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    corpora: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    questions: list[dict[str, Any]] = field(default_factory=list)


def read_development(file: Path) -> Development:
    """Read what `pieces` wrote."""
    found = Development()
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if "question" in row:
                found.questions.append(row)
            else:
                found.corpora[row["task"], row["corpus"]].append(len(found.texts))
                found.texts.append(row["text"])
                found.keys.append(row["key"])
    return found


def held(
    question: dict[str, Any], contents: Sequence[str], order: Sequence[int], budget: int
) -> float:
    """Return the share of a question's evidence in the first pieces that fit the budget."""
    used, chosen = 0, []
    for index in order:
        text = contents[index]
        if used and used + len(text) > budget:
            break
        chosen.append(text)
        used += len(text)
    context = " ".join(chosen)
    units = [[squeeze(part) for part in unit["parts"]] for unit in question["gold"]["units"]]
    if question["gold"]["rule"] == "unit90":
        full = [sum(p in context for p in parts) >= 0.9 * len(parts) - 1e-9 for parts in units]
        return float(np.mean(full))
    parts = [part for unit in units for part in unit]
    return sum(len(part) * (part in context) for part in parts) / sum(len(part) for part in parts)


def score(
    found: Development, texts: Vectors, questions: Vectors
) -> dict[str, list[tuple[float, float]]]:
    """Return, by task and for each budget: the mean share of evidence held and its error."""
    contents = [squeeze(text) for text in found.texts]
    figures: dict[str, list[list[float]]] = defaultdict(lambda: [[] for _ in BUDGETS])
    for index, question in enumerate(found.questions):
        members = found.corpora.get((question["task"], question["corpus"]))
        if not members:
            continue
        cosines = texts[members] @ questions[index]
        order = [members[place] for place in np.argsort(-cosines, kind="stable")[:400]]
        for slot, budget in enumerate(BUDGETS):
            figures[question["task"]][slot].append(held(question, contents, order, budget))
    return {
        task: [(float(np.mean(v)), float(np.std(v) / max(1, len(v)) ** 0.5)) for v in values]
        for task, values in sorted(figures.items())
    }


def show(name: str, figures: dict[str, list[tuple[float, float]]]) -> str:
    """Return the figures of a model as a line."""
    told = " | ".join(
        f"{task} " + "/".join(f"{mean:.3f}" for mean, _ in values)
        for task, values in figures.items()
    )
    return f"{name:12} {told}"


Embed = Callable[[list[str]], Vectors]


class OnnxEmbedder:
    """A model folder, run on the CPU as Quire runs it: one text at a time."""

    def __init__(self, folder: Path, prefix: str) -> None:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.use_deterministic_compute = True
        options.log_severity_level = 4
        options.add_session_config_entry("session.x64quantprecision", "1")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._pieces = WordPieces(folder / "tokenizer.json")
        self._prefix = prefix
        self._inputs = [one.name for one in self._session.get_inputs()]

    def run(self, ids: NDArray[Any]) -> Vectors:
        batch = ids.astype(np.int64)[None]
        given = {
            "input_ids": batch,
            "attention_mask": np.ones_like(batch),
            "token_type_ids": np.zeros_like(batch),
        }
        output = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        vector = output[0, 0] if output.ndim == 3 else output[0]
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    def embed(self, texts: Sequence[str], threads: int = 1, *, questions: bool = False) -> Vectors:
        """Return the vectors of texts; threads share the session, each with a text of its own."""
        given = [self._prefix + text for text in texts] if questions else list(texts)
        ids = self._pieces.encode(given, MAX_TOKENS)
        with ThreadPoolExecutor(max(1, threads)) as pool:
            return np.stack(list(pool.map(self.run, ids)))


def steps(vectors: Vectors) -> NDArray[np.int8]:
    """Round vectors as Quire stores them."""
    from quire.embed.quantize import quantize

    made = b"".join(quantize(vector) for vector in vectors)
    return np.frombuffer(made, np.int8).reshape(len(vectors), -1)


def write_pieces(stores: Path, sets: Path, out: Path) -> str:
    """Write the pieces of every kept store with the questions of its task."""
    from bench.evidence.measure import SEEN, half
    from train.filters import _rows

    rows: list[dict[str, Any]] = []
    seen: set[tuple[str, str]] = set()
    for folder in sorted(stores.glob("*-vectors")):
        task = folder.name.split("-")[0]
        known = list(_rows(sets / f"{task}.tar.xz"))
        names = {str(row["corpus"]) for member, row in known if member == "docs.jsonl"}
        for corpus in sorted(names):
            rows += _pieces(folder, task, corpus, seen)
        for member, row in known:
            identity = (task, f"question {row.get('id')}")
            if member == "queries.jsonl" and half(str(row["id"])) == SEEN and identity not in seen:
                seen.add(identity)
                gold = row["gold"]
                assert isinstance(gold, dict)
                rows.append(
                    {
                        "question": row["text"],
                        "id": row["id"],
                        "task": task,
                        "corpus": row["corpus"],
                        "gold": next(iter(gold.values())),
                    }
                )
    with lzma.open(out, "wt", encoding="utf-8", preset=4) as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return f"{out}: {len(rows)} pieces and questions"


def _pieces(
    folder: Path, task: str, corpus: str, seen: set[tuple[str, str]]
) -> list[dict[str, Any]]:
    from quire.core import hashing

    file = folder / hashing.identifier("corpus", corpus)[:16] / ".quire" / "store.db"
    if not file.exists() or (task, corpus) in seen:
        return []
    seen.add((task, corpus))
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    chunks = connection.execute("SELECT vector_key, title, text FROM chunk").fetchall()
    connection.close()
    return [
        {
            "task": task,
            "corpus": corpus,
            "key": key.hex(),
            "text": f"{title}\n{text}" if title else text,
        }
        for key, title, text in chunks
        if key is not None
    ]


def put_vectors(cache: Path, model: str, keys: Sequence[str], made: NDArray[np.int8]) -> None:
    """Keep vectors where `bench.evidence` looks for them."""
    connection = sqlite3.connect(cache / "evidence-vectors.db")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS vector (model TEXT, key TEXT, made BLOB, "
        "PRIMARY KEY (model, key)) WITHOUT ROWID"
    )
    connection.executemany(
        "INSERT OR IGNORE INTO vector VALUES (?, ?, ?)",
        [(model, key, row.tobytes()) for key, row in zip(keys, made, strict=True)],
    )
    connection.commit()
    connection.close()


def write_vectors(cache: Path, model: Path, found: Development) -> str:
    """Embed all pieces with a model folder as Quire does; return what was written."""
    embedder = LocalEmbedder(EmbedSettings(folder=str(model)))
    made = b"".join(embedder.embed(found.texts))
    put_vectors(
        cache, embedder.model, found.keys, np.frombuffer(made, np.int8).reshape(-1, embedder.dims)
    )
    return f"{len(found.keys)} vectors of {embedder.model}"


def speed(embedder: OnnxEmbedder, texts: Sequence[str], rounds: int = 20) -> float:
    """Return the milliseconds of CPU that a text takes on one core, the median of some rounds."""
    times = []
    embedder.embed(texts[:2])
    for index in range(rounds):
        text = texts[index % len(texts)]
        started = time.process_time()
        embedder.embed([text])
        times.append(time.process_time() - started)
    return 1000 * float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m train.evaluate", description=__doc__)
    parser.add_argument("what", choices=("pieces", "score", "vectors", "speed"))
    parser.add_argument("--development", type=Path, required=True, help="file of pieces")
    parser.add_argument("--stores", type=Path, help="pieces: BENCH_CACHE/evidence")
    parser.add_argument("--sets", type=Path, help="pieces: folder of <task>.tar.xz")
    parser.add_argument("--model", type=Path, help="all but pieces: a model folder")
    parser.add_argument("--prefix", default=None, help="else the folder's query_prefix.txt")
    parser.add_argument("--cache", type=Path, help="vectors: BENCH_CACHE")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    if asked.what == "pieces":
        print(write_pieces(asked.stores, asked.sets, asked.development))
        return
    if asked.what == "vectors":
        print(write_vectors(asked.cache, asked.model, read_development(asked.development)))
        return
    kept = asked.model / "query_prefix.txt"
    prefix = asked.prefix if asked.prefix is not None else kept.read_text("utf-8")
    embedder = OnnxEmbedder(asked.model, prefix)
    found = read_development(asked.development)
    if asked.what == "speed":
        texts = sorted(found.texts, key=len)[len(found.texts) // 2 :: 500]
        print(f"{asked.model}: {speed(embedder, texts):.1f} ms a text")
        return
    texts_ = embedder.embed(found.texts, asked.threads)
    asked_ = embedder.embed([q["question"] for q in found.questions], asked.threads, questions=True)
    print(show(asked.model.name, score(found, texts_, asked_)))


if __name__ == "__main__":
    main()
