"""Measure how many questions about real projects the pages answer."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.report import Table
from bench.use import baselines, questions, stores
from bench.use.questions import Question
from quire.integrations.clients import CLIENTS, PROMPT
from quire.integrations.hooks import pages
from quire.integrations.hooks.payloads import HookEvent
from quire.tokens import open_counter

BUDGET = 2000
HOOK, HOOK_EMBED = "hook", "hook-embed"
"""The page of the prompt hook, as it comes and with `--embed`."""
WAYS = ("documents", "entities", "agent", HOOK)
TRIES = 5
"""A busy machine may let a section run out of time: then it is asked again."""


def main() -> None:
    """Ask all questions in all ways, and print a table."""
    asked = _arguments()
    load = questions.load_further if asked.further else questions.load
    load = questions.load_unanswered if asked.unanswered else load
    found = load(asked.split, asked.projects)
    if asked.only:
        found = [one for one in found if one.id in asked.only]
    rows: list[dict[str, Any]] = []
    for coverage in asked.coverage:
        for name in dict.fromkeys(one.project for one in found):
            with stores.opened(name, coverage, asked.mirrors) as (store, folder):
                for one in (each for each in found if each.project == name):
                    rows += _ask(store, folder, one, asked, coverage)
    if asked.json:
        print("\n".join(json.dumps(row, sort_keys=True) for row in rows))
        return
    print((_unanswered_table if asked.unanswered else _table)(rows, asked).text())


def _ask(
    store: Any, folder: Path, one: Question, asked: argparse.Namespace, coverage: int
) -> list[dict[str, Any]]:
    rows = []
    for way in asked.ways:
        page = _page(store, folder, one, way, asked.budget)
        row = {
            "id": one.id,
            "way": way,
            "coverage": coverage,
            "kind": one.kind,
            "held": one.is_held(page) if one.gold else not page,
            "tokens": open_counter().count(page),
        }
        rows.append(row)
        if asked.show:
            print(f"\n##### {one.id} {way} {coverage}% held: {row['held']} "
                  f"tokens: {row['tokens']}\n##### {one.question}\n\n{page}")  # fmt: skip
        elif asked.missed and not row["held"]:
            print(f"missed: {way} {coverage}%: {one.id}: {one.question}", file=sys.stderr)
    return rows


def _page(store: Any, folder: Path, one: Question, way: str, budget: int) -> str:
    if way in baselines.BASELINES:
        return baselines.page(way, folder, one.question, budget)
    if way in {HOOK, HOOK_EMBED}:
        event = HookEvent(prompt=one.question, folder=str(folder))
        client = CLIENTS["claude-code"]
        options = pages.HookOptions(embed=way == HOOK_EMBED)
        return pages.build(client, PROMPT, event, options).text
    for _ in range(TRIES):
        context = store.assemble(
            one.question, recipe=way, budget=budget, reserve={}, allow_empty=True
        )
        if not context.failed:
            break
    return str(context.text) if context.sources else ""


def _table(rows: Sequence[dict[str, Any]], asked: argparse.Namespace) -> Table:
    count = len({row["id"] for row in rows})
    table = Table(
        f"{count} questions ({asked.split}), {asked.budget:,} tokens: pages that hold an answer",
        ("way", "vectors %", "held", "of", "%", "mean tokens"),
    )
    for way in asked.ways:
        for coverage in asked.coverage:
            mine = [row for row in rows if (row["way"], row["coverage"]) == (way, coverage)]
            held = sum(row["held"] for row in mine)
            mean: Callable[[int], int] = lambda total: total // len(mine)  # noqa: B023, E731
            tokens = mean(sum(row["tokens"] for row in mine))
            table.add(way, coverage, held, len(mine), round(100 * held / len(mine), 1), tokens)
    return table


def _unanswered_table(rows: Sequence[dict[str, Any]], asked: argparse.Namespace) -> Table:
    """Count the empty pages by what the questions are about."""
    table = Table(
        f"questions without an answer ({asked.split}), {asked.budget:,} tokens: empty pages",
        ("way", "vectors %", "about", "empty", "of", "mean tokens"),
    )
    keys = dict.fromkeys((row["way"], row["coverage"], row["kind"]) for row in rows)
    for way, coverage, kind in sorted(keys):
        mine = [
            row
            for row in rows
            if (row["way"], row["coverage"], row["kind"]) == (way, coverage, kind)
        ]
        tokens = sum(row["tokens"] for row in mine) // len(mine)
        table.add(way, coverage, kind, sum(row["held"] for row in mine), len(mine), tokens)
    return table


def _names(text: str) -> list[str]:
    return text.split(",")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.use",
        description="Ask questions about real projects, and count the pages that hold an answer.",
    )
    parser.add_argument("--split", choices=questions.SPLITS, default=questions.TUNE)
    parser.add_argument("--projects", type=_names, default=[])
    parser.add_argument("--only", type=_names, default=[], help="ids of questions")
    parser.add_argument(
        "--ways",
        type=_names,
        default=list(WAYS),
        help=f"recipes, {HOOK}, {HOOK_EMBED}, or what there is beside Quire: "
        f"{', '.join(baselines.BASELINES)}",
    )
    parser.add_argument(
        "--coverage",
        type=lambda text: list(map(int, _names(text))),
        default=[0, 100],
        help="percent of the texts that have a vector",
    )
    parser.add_argument(
        "--unanswered",
        action="store_true",
        help="ask the questions that have no answer, and count the empty pages",
    )
    parser.add_argument(
        "--further",
        action="store_true",
        help="ask the questions about further projects, which have no halves",
    )
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--mirrors", type=Path, help="a folder of clones to use")
    parser.add_argument("--missed", action="store_true", help="name the questions that are missed")
    parser.add_argument("--show", action="store_true", help="print the pages")
    parser.add_argument("--json", action="store_true", help="print a row for each page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
