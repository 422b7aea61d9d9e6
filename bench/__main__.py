"""Measure, and print what was measured: `python -m bench --help`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from bench import (
    agent,
    askers,
    assemble,
    cache,
    day,
    documents,
    engines,
    hook,
    index,
    kept_searches,
    lexical,
    opening,
    parsing,
    profiling,
    protocol,
    ranking,
    report,
    server,
    session,
    situation,
    vectors,
    workers,
    workspace,
    writing,
)
from bench.report import Table

OUT = Path(__file__).parent / "out"
PARTS = (
    "lexical",
    "vectors",
    "index",
    "open",
    "write",
    "rank",
    "assemble",
    "agent",
    "parse",
    "workspace",
    "day",
    "situation",
    "hook",
    "mcp",
    "documents",
    "filters",
    "session",
    "server",
    "profile",
    "askers",
    "engines",
    "workers",
)
UNITS = {"k": 1000, "m": 1_000_000}


def main() -> None:
    given = _arguments()
    sizes = given.sizes
    asked = 20 if given.quick else given.asked
    real = 2000 if given.quick else given.real
    parts: dict[str, Callable[[], Iterator[Table]]] = {
        "lexical": lambda: lexical.tables(sizes, asked),
        "vectors": lambda: vectors.tables(sizes, asked, real, slow=given.slow),
        "index": lambda: index.tables(sizes),
        "open": lambda: opening.tables(sizes),
        "write": lambda: writing.tables(sizes),
        "rank": lambda: ranking.tables(sizes, asked),
        "assemble": lambda: assemble.tables(sizes, asked, slow=given.slow),
        "agent": lambda: agent.tables(agent.scaled(100 if given.quick else 1)),
        "parse": parsing.tables,
        "workspace": lambda: workspace.tables(asked),
        "day": lambda: chain(kept_searches.tables(), day.tables()),
        "situation": lambda: situation.tables(asked),
        "hook": hook.tables,
        "mcp": lambda: protocol.tables(sizes, asked),
        "documents": lambda: documents.tables(sizes, asked),
        "filters": lambda: documents.filters(sizes, asked),
        "session": session.tables,
        "server": lambda: server.tables(sizes, asked),
        "profile": lambda: profiling.tables(sizes),
        "askers": lambda: askers.tables(sizes),
        "engines": lambda: engines.tables(sizes, asked),
        "workers": lambda: workers.tables(sizes),
    }
    about = report.circumstances()
    print(", ".join(f"{name} {value}" for name, value in about.items()), flush=True)
    done: list[Table] = []
    for part in given.only:
        for table in parts[part]():
            print(f"\n{table.text()}", flush=True)
            done.append(table)
    file = given.json or OUT / f"{about['date']}-{about['commit'].replace(' ', '-')}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    told = {**about, "tables": [table.as_json() for table in done]}
    file.write_text(json.dumps(told, indent=1) + "\n")
    print(f"\nall figures: {file}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure Quire beside what others use. BENCH_DATA names a folder with real "
        "data; BENCH_CACHE one that keeps what takes long to make "
        f"(now: {'set' if cache.is_named() else 'not set, so all is made anew'}).",
    )
    parser.add_argument("--quick", action="store_true", help="10k chunks and few questions alone")
    parser.add_argument("--sizes", type=_sizes, help="chunks of made-up text; 10k,100k,1M")
    parser.add_argument("--only", type=_parts, default=list(PARTS), help=",".join(PARTS))
    parser.add_argument("--asked", type=int, default=40, help="questions of each shape")
    parser.add_argument("--real", type=int, default=10_000, help="real texts to embed")
    parser.add_argument("--slow", action="store_true", help="slow peers at every size")
    parser.add_argument("--json", type=Path, help="where the figures go as JSON")
    given = parser.parse_args()
    given.sizes = given.sizes or ([10_000] if given.quick else [10_000, 100_000, 1_000_000])
    return given


def _sizes(text: str) -> list[int]:
    try:
        return [
            int(part[:-1]) * UNITS[part[-1]] if part[-1] in UNITS else int(part)
            for part in text.lower().split(",")
        ]
    except (ValueError, IndexError) as error:
        raise argparse.ArgumentTypeError(f"{text!r}: write sizes as in 10k,100k,1M") from error


def _parts(text: str) -> list[str]:
    asked = text.split(",")
    unknown = [part for part in asked if part not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: there are {', '.join(PARTS)}")
    return asked


if __name__ == "__main__":
    main()
