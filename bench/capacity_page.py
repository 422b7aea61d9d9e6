"""Write `docs/capacity.md` from measured figures; `bench.capacity` measures them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench import synthetic_vectors

TEMPLATE = Path(__file__).with_name("capacity.txt")
"""The page with places for figures."""
PAGE = Path(__file__).parents[1] / "docs" / "capacity.md"
SMALL, LARGE, HUGE = 10_000, 100_000, 1_000_000
"""The largest is asked by words in a file alone: to copy it to a server takes hours."""
COMPARED = (250_000, 500_000)
"""So many vectors are compared in memory, which two passes are made for."""
MILLIONS = (10, 100, 1000)
SEARCHES = 40
ASKED = 6 * SEARCHES
"""So many questions a job asks, half of them to warm up: by words, by vectors, in two passes."""
DEPTH = 50
ENGINES = ("file", "server")
MIB, GIB = 1 << 20, 1 << 30
DAY = 86_400_000
"""Milliseconds."""

Figures = dict[str, Any]


def page(figures: Figures) -> str:
    """Write the page from measured figures."""
    costs = {engine: _costs(figures, engine) for engine in ENGINES}
    file, server = costs["file"], costs["server"]
    words, passes, memory = _growth(figures)
    about = figures["about"]
    return TEMPLATE.read_text("utf-8").format(
        large=LARGE,
        huge=HUGE,
        dims=synthetic_vectors.DIMS,
        depth=DEPTH,
        about=", ".join(
            (
                f"{about['cores']} cores",
                about["machine"],
                f"Python {about['python']}",
                about["date"],
                f"commit {about['commit']}",
                f"load {about['load']}",
            )
        ),
        notes="".join(f" {note}" for note in figures.get("notes", ())),
        file_written=_size_written(figures, "file"),
        server_written=_size_written(figures, "server"),
        measured="\n".join(
            f"| {name} | {file[key]:{form}} | {server[key]:{form}} |" for name, key, form in ROWS
        ),
        searched="\n".join(
            _searched(engine, size, figures[f"{engine} {size}"])
            for engine in ENGINES
            for size in (SMALL, LARGE, HUGE)
            if f"{engine} {size}" in figures
        ),
        compared="\n".join(
            f"| {size:,} | {1000 * found['all_cpu']:.1f} | {1000 * found['passes_cpu']:.1f} |"
            for size in COMPARED
            for found in (figures[f"compared {size}"],)
        ),
        words_growth=1e6 * words,
        passes_growth=1e6 * passes,
        memory_growth=memory,
        file_memory=file["memory"] / MIB,
        server_memory=server["memory"] / MIB,
        file_search=file["search"],
        server_search=server["search"],
        day_file=DAY / file["words"] / 1e6,
        day_server=DAY / server["words"] / 1e6,
        extrapolated="\n".join(
            _extrapolate(engine, costs[engine], millions, words + passes, memory)
            for millions in MILLIONS
            for engine in ENGINES
        ),
        **{name: file[name] for name in ("disk", "read", "words", "vectors", "embed")},
    )


def _searched(engine: str, size: int, found: Figures) -> str:
    """Return a row; where not all chunks have vectors, it is about words alone."""
    whole = found["vectors"] == found["chunks"]
    ways = ("search_words_cpu", "search_vectors_cpu", "search_passes_cpu")[: 3 if whole else 1]
    cells = (
        engine,
        f"{size:,}",
        *(f"{_search_cost(found, way):.1f}" for way in ways),
        *("" for _ in range(3 - len(ways))),
        f"{found['memory'] / MIB:,.0f}" if whole else "",
    )
    return f"| {' | '.join(cells)} |"


def _extrapolate(
    engine: str, cost: dict[str, float], millions: int, search: float, memory: float
) -> str:
    """Return a row for so many million chunks, by what a search and memory grow with each."""
    chunks = 1e6 * millions
    more = chunks - LARGE
    cells = (
        engine,
        f"{millions:,} M",
        _size(chunks * cost["disk"]),
        _size(cost["memory"] + more * memory),
        _hours(chunks * (cost["read"] + cost["words"])),
        _hours(chunks * (cost["read"] + cost["words"] + cost["vectors"] + cost["embed"])),
        f"{(cost['search'] + more * search) / 1000:,.1f} s",
    )
    return f"| {' | '.join(cells)} |"


ROWS = (
    ("bytes on disk", "disk", ",.0f"),
    ("ms of CPU to read and split its file", "read", ".2f"),
    ("ms of CPU to write it with its words", "words", ".2f"),
    ("ms of CPU to write its vector", "vectors", ".2f"),
)


def _size_written(figures: Figures, engine: str) -> int:
    """Return the largest number of chunks whose writing was measured."""
    return max(
        size for size in (SMALL, LARGE) if "words_cpu" in figures.get(f"{engine} {size}", {})
    )


def _costs(figures: Figures, engine: str) -> dict[str, float]:
    """Return what a chunk costs, and what a search and memory are at `LARGE`."""
    large = figures[f"{engine} {LARGE}"]
    size = _size_written(figures, engine)
    found = figures[f"{engine} {size}"]
    writing = found.get("write_server_cpu", 0.0)
    share = found["words_cpu"] / (found["words_cpu"] + found["vectors_cpu"])
    return {
        "disk": found["bytes"] / size,
        "read": 1000 * figures["read"]["read_cpu"],
        "words": 1000 * (found["words_cpu"] + writing * share) / size,
        "vectors": 1000 * (found["vectors_cpu"] + writing * (1 - share)) / size,
        "embed": 1000 * figures["embed"]["embed_cpu"],
        "search": sum(
            _search_cost(large, way) for way in ("search_words_cpu", "search_passes_cpu")
        ),
        "memory": large["memory"],
    }


def _search_cost(found: Figures, way: str) -> float:
    """Return the milliseconds of a search, with a share of what the server spent on all."""
    return float(1000 * (found[way] + found.get("search_server_cpu", 0.0) / ASKED))


def _growth(figures: Figures) -> tuple[float, float, float]:
    """Return what each further chunk adds: ms of a search by words, by vectors, and bytes."""
    words = "search_words_cpu"
    by_words = figures[f"file {HUGE}"][words] - figures[f"file {LARGE}"][words]
    few, many = (figures[f"compared {size}"]["passes_cpu"] for size in COMPARED)
    # Of a server: in a file, SQLite's cache of pages grows as well, up to its limit.
    memory = figures[f"server {LARGE}"]["memory"] - figures[f"server {SMALL}"]["memory"]
    return (
        1000 * by_words / (HUGE - LARGE),
        1000 * (many - few) / (COMPARED[1] - COMPARED[0]),
        memory / (LARGE - SMALL),
    )


def _size(number: float) -> str:
    tib = number / GIB / 1024
    return f"{tib:,.1f} TiB" if tib >= 1 else f"{number / GIB:,.0f} GiB"


def _hours(milliseconds: float) -> str:
    hours = milliseconds / 3_600_000
    return f"{hours / 24:,.0f} days" if hours >= 100 else f"{hours:,.1f} h"
