"""Mix harvested pairs, without anything of the evaluation sets: `python -m train.mix --help`.

Writes `D/kept`, the pairs of each harvested file that may be trained on (one that is there is not
made again), `D/mix/NN.train.jsonl.xz`, each of about the size given, and `D/mix/heldout.jsonl.xz`,
a hundredth that is never trained on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from train import filters

MIN_QUESTION, MIN_PASSAGE = 8, 50
HELD_OUT = 97
HELD_OUT_KIND = 250
ROWS_BETWEEN_LOOKS = 500
CODE = frozenset({"code-py", "code-other", "commit"})
CAPS = {
    "docs": 60_000,
    "detail": 12_000,
    "hops": 14_000,
    "science": 28_000,
    "biology": 50_000,
    "facts": 14_000,
    "statement": 24_000,
}
"""Pairs of a kind at most; kinds not named are taken whole."""
ONE_ORIGIN = {"docs": 6_000, "statement": 900, "commit": 1_500}
"""Pairs of a kind and repository at most."""


def _key(text: str) -> bytes:
    return hashlib.blake2b("".join(text.split())[:400].encode(), digest_size=12).digest()


def keep(row: dict[str, Any], known: filters.EvaluationTexts, dropped: Counter[str]) -> bool:
    """Tell whether a pair may be trained on; clean its negatives."""
    kind = row["s"]
    passage, question = row["p"], row["q"]
    if dropped_short(row):
        dropped[f"{kind} short"] += 1
        return False
    if kind in CODE and passage.count("\n") < 3:
        dropped[f"{kind} without body"] += 1
        return False
    if kind in CODE:
        if known.contains_code(passage) or known.contains_text(passage, filters.CODE_SHARE):
            dropped[f"{kind} evaluation"] += 1
            return False
    elif known.contains_text(passage):
        dropped[f"{kind} evaluation"] += 1
        return False
    if known.contains_text(question):
        dropped[f"{kind} question"] += 1
        return False
    row["n"] = filters.clean_negatives(row["n"], passage)
    if kind in CODE:
        row["n"] = [text for text in row["n"] if not known.contains_code(text)]
    return True


def keep_file(file: Path, out: Path, known: filters.EvaluationTexts) -> Counter[str]:
    """Write the pairs of a harvested file that may be trained on; return what was left out.

    Of an article nothing is kept where any of it is in an evaluation set.
    """
    dropped: Counter[str] = Counter()
    kept: list[dict[str, Any]] = []
    tainted: set[str] = set()
    with file.open(encoding="utf-8") as lines_of_file:
        rows = [json.loads(line) for line in lines_of_file]
    for row in rows:
        if keep(row, known, dropped):
            kept.append(row)
        elif not dropped_short(row):
            tainted.add(row["r"])
    whole = [row for row in kept if not (":" in row["r"] and row["r"] in tainted)]
    dropped["of an article that is in an evaluation set"] += len(kept) - len(whole)
    part = out.with_suffix(".part")
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in whole)
    with part.open("w", encoding="utf-8") as written:
        written.writelines(lines)
    part.rename(out)
    return +dropped


def dropped_short(row: dict[str, Any]) -> bool:
    """Tell whether a pair is too short to be trained on."""
    return len(row["q"].strip()) < MIN_QUESTION or len(row["p"]) < MIN_PASSAGE


def mix(folder: Path, seed: int = 7) -> tuple[list[Any], list[Any]]:
    """Return the pairs to train on, by repository, and those held out."""
    rng = random.Random(seed)
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    origins: Counter[tuple[str, str]] = Counter()
    seen: set[bytes] = set()
    for file in sorted(folder.glob("*.jsonl")):
        with file.open(encoding="utf-8") as lines_of_file:
            found = [json.loads(line) for line in lines_of_file]
        for row in found:
            kind, origin = row["s"], row["r"]
            key = _key(row["p"] + row["q"])
            if key in seen or origins[kind, origin] >= ONE_ORIGIN.get(kind, 10**9):
                continue
            seen.add(key)
            origins[kind, origin] += 1
            kinds[kind].append(row)
    train: list[Any] = []
    held: list[Any] = []
    for kind, rows in sorted(kinds.items()):
        if len(rows) > CAPS.get(kind, len(rows)):
            rows = [rows[i] for i in sorted(rng.sample(range(len(rows)), CAPS[kind]))]  # noqa: PLW2901
        out = set(range(0, len(rows), HELD_OUT)[:HELD_OUT_KIND])
        held += [row for index, row in enumerate(rows) if index in out]
        texts = {row["p"] for row in held} | {row["q"] for row in held}
        train += [
            row
            for index, row in enumerate(rows)
            if index not in out and row["p"] not in texts and row["q"] not in texts
        ]
        print(f"{kind}: {len(rows)}", flush=True)
    # Texts of one place side by side compress best.
    train.sort(key=lambda row: (row["r"], row["s"]))
    return train, held


def write(rows: list[Any], folder: Path, part_bytes: int, preset: int = 2) -> None:
    """Write rows in parts of about so many compressed bytes."""
    number, start = 0, 0
    while start < len(rows):
        file = folder / f"{number:02}.train.jsonl.xz"
        with lzma.open(file, "wt", encoding="utf-8", preset=preset) as out:
            while start < len(rows) and file.stat().st_size < part_bytes:
                part = rows[start : start + ROWS_BETWEEN_LOOKS]
                out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in part)
                start += len(part)
        number += 1


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m train.mix", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("TRAIN_DATA", "train-data"))
    )
    parser.add_argument("--sets", type=Path, required=True, help="folder of <task>.tar.xz")
    parser.add_argument("--part", type=int, default=24 << 20, help="bytes of a file, about")
    parser.add_argument("--preset", type=int, default=2, help="of xz: how much to compress")
    parser.add_argument("--share", default="", help="only keep pairs, of every N-th file: K/N")
    asked = parser.parse_args()
    kept = asked.data / "kept"
    kept.mkdir(parents=True, exist_ok=True)
    files = sorted((asked.data / "harvest").glob("*.jsonl"))
    index, count = (int(part) for part in (asked.share or "0/1").split("/"))
    missing = [file for file in files[index::count] if not (kept / file.name).exists()]
    known = filters.read_evaluation_sets(asked.sets) if missing else filters.EvaluationTexts()
    for file in missing:
        told = keep_file(file, kept / file.name, known)
        print(f"{file.name}: left out {dict(sorted(told.items()))}", flush=True)
    if asked.share:
        return
    folder = asked.data / "mix"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.xz"):
        old.unlink()
    train, held = mix(kept)
    write(train, folder, asked.part, asked.preset)
    with lzma.open(folder / "heldout.jsonl.xz", "wt", encoding="utf-8", preset=2) as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in held)
    counts = Counter((row["r"].partition(":")[0], row["s"]) for row in train)
    (folder / "counts.json").write_text(
        json.dumps([[*key, value] for key, value in sorted(counts.items())]), "utf-8"
    )
    print(f"{len(train)} pairs to train on, {len(held)} held out", flush=True)


if __name__ == "__main__":
    main()
