"""Measure whether pages help: `python -m bench.pages --help`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.pages.questions import Question

HOME = Path(__file__).parents[2]


def main() -> None:
    """Run one of the commands."""
    asked = _arguments()
    if asked.command == "score" and asked.quire_src:
        sys.exit(_run_with(asked.quire_src))
    asked.run(asked)


def _run_with(place: Path) -> int:
    """Run the same command with another checkout of Quire."""
    src = place / "src" if (place / "src" / "quire").is_dir() else place
    if not (src / "quire").is_dir():
        print(f"{place} holds no quire: name a checkout, or its folder src", file=sys.stderr)
        return 2
    if not (src / "quire" / "core" / "hashing.py").is_file():
        print(f"{place} is too old: its Python interface is another one", file=sys.stderr)
        return 2
    rest = list(sys.argv[1:])
    at = next(at for at, word in enumerate(rest) if word.startswith("--quire-src"))
    del rest[at : at + (1 if "=" in rest[at] else 2)]
    search = os.pathsep.join([str(src.resolve()), str(HOME)])
    command = [sys.executable, "-m", "bench.pages", *rest]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": search}, check=False).returncode


def _chosen(asked: argparse.Namespace) -> list[Question]:
    from bench import data
    from bench.pages import questions
    from bench.pages.corpora import CORPORA

    listed = questions.load(corpora=asked.corpora)
    if data.folder() is None:
        left = [one for one in listed if not CORPORA[one.corpus].is_real]
        if len(left) < len(listed):
            print("BENCH_DATA is not set: only the material of this package", file=sys.stderr)
        listed = left
    split = getattr(asked, "split", None)
    return [one for one in listed if split in {None, one.split}]


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _pool(asked: argparse.Namespace) -> None:
    from bench.pages import labels, pool

    listed = _chosen(asked)
    if asked.unjudged:
        entries = pool.collect_unjudged(
            listed, labels.load(asked.labels), _progress, embed=asked.embed
        )
    elif asked.disputed:
        entries = pool.collect_disputed(
            listed, labels.load(asked.labels), _progress, embed=asked.embed
        )
    else:
        entries = pool.collect(listed, _progress, embed=asked.embed)
    files = pool.write(entries, asked.out)
    words = sum(len(entry.text.split()) for entry in entries)
    asked_of = len({entry.question.id for entry in entries})
    print(f"{asked_of} questions, {len(entries)} passages, {words} words: {len(files)} files")


def _label(asked: argparse.Namespace) -> None:
    from bench.pages import labels, pool
    from bench.pages.corpora import rows_of

    keys = rows_of(asked.pool / pool.KEY)
    try:
        merged = labels.merge(labels.load(asked.labels), keys, asked.files)
    except labels.LabelError as error:
        sys.exit(str(error))
    labels.save(merged, asked.labels)
    whole = sum(label.value is not None for label in merged)
    print(f"{len(merged)} passages with labels, {whole} of them with two; {asked.labels}")


def _agreement(asked: argparse.Namespace) -> None:
    from dataclasses import asdict

    from bench.pages import labels

    figures = labels.agreement(labels.load(asked.labels))
    for name, value in asdict(figures).items():
        print(f"{name:12} {value:.3f}" if isinstance(value, float) else f"{name:12} {value}")


def _score(asked: argparse.Namespace) -> None:
    from bench.pages import labels, score

    rows = score.run(
        _chosen(asked),
        labels.load(asked.labels),
        recipes=asked.recipe,
        budget=asked.budget,
        embed=asked.embed,
        report=_progress,
    )
    figures = score.figures(rows)
    print(
        json.dumps(score.told(rows, figures), indent=1)
        if asked.json
        else score.table(figures).text()
    )


def _calibrate(asked: argparse.Namespace) -> None:
    from bench.pages import calibrate, labels
    from quire.ranking import relevance

    examples = calibrate.collect(_chosen(asked), labels.load(asked.labels), _progress)
    tuned = [example for example in examples if example.split == "tune"]
    print(calibrate.table("questions that a fit has not seen", calibrate.held_out(tuned)).text())
    by_words = calibrate.held_out(tuned, calibrate.WORD_FEATURES)
    print(calibrate.table("the same by words alone", by_words).text())
    made = calibrate.fit(tuned)
    words = calibrate.fit(tuned, calibrate.WORD_FEATURES)
    print(f"by words alone: {words}")
    if asked.kept:
        kept = [example for example in examples if example.split == "kept"]
        scored = [(example, made.probability(example.match)) for example in kept]
        print(calibrate.table("the half that was kept back", scored).text())
    if asked.write:
        calibrate.write({asked.model: made, relevance.WORDS: words})
        print(calibrate.FILE)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.pages",
        description="Measure whether pages help, on questions with labelled passages. BENCH_DATA "
        "names the real corpora, BENCH_CACHE a folder that keeps stores and vectors.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    labels = argparse.ArgumentParser(add_help=False)
    file = Path(__file__).parent / "labels.jsonl"
    labels.add_argument("--labels", type=Path, default=file, help="the file of labels")
    corpora = argparse.ArgumentParser(add_help=False)
    corpora.add_argument("--corpora", type=_listed, default=[], help="names, with commas")
    corpora.add_argument(
        "--no-embed", dest="embed", action="store_false", help="search by words alone"
    )

    pool = commands.add_parser("pool", parents=[labels, corpora], help="write files for labellers")
    pool.add_argument("--out", type=Path, required=True, help="the folder to write to")
    only = pool.add_mutually_exclusive_group()
    only.add_argument("--unjudged", action="store_true", help="only what pages show unlabelled")
    only.add_argument("--disputed", action="store_true", help="only what two labellers differ on")
    pool.set_defaults(run=_pool)

    label = commands.add_parser("label", parents=[labels], help="add the answers of labellers")
    label.add_argument("--pool", type=Path, required=True, help="the folder of the pool")
    label.add_argument("--from", dest="files", type=Path, nargs="+", required=True, metavar="FILE")
    label.set_defaults(run=_label)

    agreement = commands.add_parser("agreement", parents=[labels], help="compare two labellers")
    agreement.set_defaults(run=_agreement)

    calibrate = commands.add_parser(
        "calibrate", parents=[labels, corpora], help="fit the probability of relevance"
    )
    calibrate.add_argument("--model", default="quire-en-2", help="the model of the vectors")
    calibrate.add_argument("--kept", action="store_true", help="show the half kept back, too")
    calibrate.add_argument("--write", action="store_true", help="write the fit into the package")
    calibrate.set_defaults(run=_calibrate)

    score = commands.add_parser("score", parents=[labels, corpora], help="score today's pages")
    score.add_argument("--recipe", type=_listed, default=[], help="recipes, with commas")
    score.add_argument("--budget", type=int, help="tokens; else the recipe's own")
    score.add_argument("--split", choices=("tune", "kept"), help="one half of the questions")
    score.add_argument("--json", action="store_true", help="print figures and rows as JSON")
    score.add_argument("--quire-src", type=Path, help="score another checkout of Quire")
    score.set_defaults(run=_score)
    return parser.parse_args()


def _listed(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


if __name__ == "__main__":
    main()
