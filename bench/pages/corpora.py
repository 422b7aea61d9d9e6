"""What is asked about: real workspaces and source trees, and the material of this package.

The real ones come from the folder in BENCH_DATA, each cut to a fixed part, so that embedding it
takes a minute or two. Nothing of them is kept but in the cache.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import data

MATERIAL = Path(__file__).parent / "material"
LONGEST_PEP = 30_000
HANDBOOK = ("content/benefits-pay-perks/", "content/departments/product/design/software_systems/")
SEABORN = ("seaborn/_core/", "seaborn/_marks/", "seaborn/_stats/", "tests/_stats/")

PAGES = "pages"
TREE = "tree"
LEARNED = "learned"
RULES = "rules"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents by path, and how they get into a store."""

    name: str
    form: str
    """`pages` (imported as blocks), `tree` (indexed as files), `learned` or `rules`."""
    read: Callable[[], Mapping[str, str]] = field(repr=False)
    page_format: str = "markdown"
    as_of: str | None = None
    """The day that its tasks are looked at, where it has any."""
    is_real: bool = True
    frame: tuple[str, ...] = ()
    """Files that every page is made from: they are no answer to any question."""


def _rows(task: str) -> list[dict[str, Any]]:
    return data.lines(task, "docs.jsonl")


def _govuk() -> dict[str, str]:
    return {row["path"]: row["text"] for row in _rows("ws_govuk_adrs")}


def _peps() -> dict[str, str]:
    """Return superseded proposals with what superseded them, where both are short."""
    rows = {int(re.findall(r"\d+", row["path"])[-1]): row for row in _rows("ws_peps")}
    short = {number for number, row in rows.items() if len(row["text"]) <= LONGEST_PEP}
    chosen = {
        number
        for older, row in rows.items()
        for newer in row["superseded_by"]
        if {older, newer} <= short
        for number in (older, newer)
    }
    return {rows[number]["path"]: rows[number]["text"] for number in sorted(chosen)}


def _handbook() -> dict[str, str]:
    rows = _rows("ws_sourcegraph_handbook")
    return {row["path"]: row["text"] for row in rows if row["path"].startswith(HANDBOOK)}


def _postmortems() -> dict[str, str]:
    """Return each with its title and company above it, which the data holds apart."""
    return {row["path"]: f"{_front(row['meta'])}{row['text']}" for row in _rows("ws_postmortems")}


def _front(meta: Mapping[str, Any]) -> str:
    lines = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n"
        for key in ("title", "company", "product")
        if (value := meta.get(key)) and isinstance(value, str)
    ]
    return "".join(["---\n", *lines, "---\n"]) if lines else ""


def _tree(corpus: str, keep: Callable[[str], bool]) -> Callable[[], dict[str, str]]:
    def read() -> dict[str, str]:
        trees = {row["corpus"]: row["files"] for row in data.lines("swe_dev", "trees.jsonl")}
        wanted = {path: sha for path, sha in trees[corpus] if keep(path)}
        needed = set(wanted.values())
        texts = {
            blob["sha"]: blob["text"]
            for blob in data.lines("swe_dev", "blobs.jsonl")
            if blob["sha"] in needed
        }
        return {path: texts[sha] for path, sha in wanted.items()}

    return read


def read_folder(folder: Path) -> dict[str, str]:
    """Return the texts below a folder by path."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_text("utf-8") for file in files}


def read_learned(folder: Path = MATERIAL) -> dict[str, str]:
    """Return memories and experiences as texts, each under a path made from its id."""
    texts = {}
    for row in rows_of(folder / "memories.jsonl"):
        texts[f"memories/{row['id']}"] = row["content"] + "\n"
    for row in rows_of(folder / "experiences.jsonl"):
        lines = [f"{key}: {row[key]}\n" for key in EXPERIENCE_FIELDS if row.get(key)]
        texts[f"experiences/{row['id']}"] = "".join(lines)
    return texts


EXPERIENCE_FIELDS = (
    *("goal", "strategy", "hypothesis", "action", "prediction"),
    *("outcome", "result", "surprise", "root_cause", "lesson"),
)


def rows_of(file: Path) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def _all(_: str) -> bool:
    return True


CORPORA: dict[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        Corpus("govuk", PAGES, _govuk),
        Corpus("peps", PAGES, _peps),
        Corpus("handbook", PAGES, _handbook),
        Corpus("postmortems", PAGES, _postmortems),
        Corpus(
            "vault",
            PAGES,
            lambda: read_folder(MATERIAL / "vault"),
            page_format="vault",
            as_of="2026-03-11",
            is_real=False,
        ),
        Corpus("flask", TREE, _tree("pallets__flask-5063", _all)),
        Corpus(
            "requests",
            TREE,
            _tree("psf__requests-3362", lambda path: not path.startswith("requests/packages/")),
        ),
        Corpus("seaborn", TREE, _tree("mwaskom__seaborn-3407", lambda p: p.startswith(SEABORN))),
        Corpus("team", LEARNED, read_learned, is_real=False),
        Corpus(
            "guides",
            RULES,
            lambda: read_folder(MATERIAL / "rules"),
            is_real=False,
            frame=("team.context.md",),
        ),
    )
}


def names(only: Sequence[str] = ()) -> list[str]:
    """Name the corpora, all or some of them, in their order."""
    return [name for name in CORPORA if not only or name in only]
