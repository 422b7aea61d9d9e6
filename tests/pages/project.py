"""The project of the golden pages: a library with its history, a vault, memories and rules."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import quire
from quire import Context, Quire

MATERIAL = Path(__file__).parent / "material"
PREMORTEM = "premortem"
TODAY = "2025-06-12"
BUDGETS = (200, 400, 1000, 4000)
SITUATION = {"tool": "edit", "path": "src/itsdangerous/signer.py", "intent": "use another digest"}


def seconds(day: str) -> int:
    """Return the first second of a day."""
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


def build(root: Path) -> None:
    """Write the project to a folder and index it, without vectors: no page depends on a model."""
    root.mkdir(parents=True)
    check_out(root)
    shutil.copytree(MATERIAL / "vault", root / "vault")
    shutil.copytree(MATERIAL / "rules", root, dirs_exist_ok=True)
    (root / ".quire").mkdir()
    (root / "quire.toml").write_text(
        '[embed]\nprovider = "none"\n\n[ingest]\nignore = ["/vault/"]\n'
    )
    with quire.open(root) as opened:
        opened.index()
        opened.blocks.import_pages(
            root / "vault", "vault", share=["public"], at=seconds("2025-06-04")
        )
        for row in _rows("memories.jsonl"):
            at = seconds(row.pop("at"))
            opened.memories.add(row.pop("content"), **row, share=["public"], at=at)
        for row in _rows("experiences.jsonl"):
            _experience(opened, row)


def _experience(opened: Quire, row: dict[str, Any]) -> None:
    at, goal, outcome = seconds(row.pop("at")), row.pop("goal"), row.pop("outcome")
    later = ("result", "surprise", "root_cause", "lesson")
    ended = {key: row.pop(key) for key in later if key in row}
    started = opened.experiences.start(goal, **row, at=at).value
    opened.experiences.resolve(started.id, outcome, **ended, at=at + 3600)


def check_out(root: Path) -> None:
    """Make the repository of the library, with its commits."""
    plain = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    exported = gzip.decompress((MATERIAL / "itsdangerous.export.gz").read_bytes())
    for words, given in (
        (("init", "--quiet", "--initial-branch=main"), b""),
        (("fast-import", "--quiet"), exported),
        (("checkout", "--quiet", "main"), b""),
    ):
        subprocess.run(["git", *words], cwd=root, env={**plain, **alone}, input=given, check=True)
    exclude = root / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text(".quire\nquire.toml\nvault\n")


def _rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (MATERIAL / name).read_text("utf-8").splitlines():
        yield json.loads(line)


def block_id(opened: Quire, text: str) -> str:
    """Return the id of the block that begins with a text."""
    return next(block.id for block in opened.blocks.export() if block.text.startswith(text))


def page(opened: Quire, name: str, budget: int) -> Context:
    """Assemble one of the pages."""
    if name == PREMORTEM:
        return opened.agent.premortem("deployment", "trial-and-error", budget=budget)
    question, options = PAGES[name]
    focus = options.get("focus")
    more = {**options, **({"focus": block_id(opened, focus)} if focus else {})}
    return opened.assemble(question, **more, budget=budget, as_of=TODAY, allow_empty=True)


PAGES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "documents": (
        "How are old signatures validated after the digest method changes?",
        {"recipe": "documents", "reserve": dict.fromkeys(("system", "query", "response"), 0)},
    ),
    "entities": (
        "How does TimestampSigner.unsign check the age of a signature?",
        {"recipe": "entities"},
    ),
    "agent": ("Change the default digest method of Signer", {"recipe": "agent"}),
    PREMORTEM: ("deployment", {}),
    "situation": (
        "use another digest in the signer",
        {"recipe": "situation", "situation": SITUATION},
    ),
    "workspace": (
        "What is left to do for this release, and why?",
        {"recipe": "workspace", "focus": "Release 2.3"},
    ),
    "tasks": ("Which tasks are overdue?", {"recipe": "workspace"}),
}
"""A question and its options, by the name of the page: one for each recipe, two for `workspace`."""
