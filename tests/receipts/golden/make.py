"""Make the golden receipts of the schema's newest version, with their contexts.

    python -m tests.receipts.golden.make [FOLDER]

writes `vN/NAME.json`, its parts and `vN/NAME.txt` for a small project. A version that has been released is
never made again: its receipts stand for the files that people have, and must be read for ever.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import quire

AT = 1_768_000_000
"""When the memories and blocks were taken in."""
HERE = Path(__file__).parent

FILES = {
    "quire.toml": '[embed]\nprovider = "none"\n\n[access]\n"board/**" = ["ann"]\n',
    "votes.md": "# Votes\n\nThe quorum takes a vote on every block.\n\n"
    "## Void\n\nNo quorum, no vote: it is void, and is held again in the next epoch.\n",
    "board/wages.md": "The quorum of the board takes a vote on wages.\n",
    "größe.md": "Ein Quorum (quorum) entscheidet per Abstimmung, vote 👩‍💻 genannt.\n",
    "ledger.py": 'def count_votes(votes):\n    """Count the votes of a quorum."""\n'
    "    return sum(vote.weight for vote in votes)\n\n\n"
    "def is_void(votes, quorum):\n    return count_votes(votes) < quorum\n",
    "guides/voting.md": "Announce a vote a day before it is held.\n",
    "project.context.yaml": "metadata: {name: Ledger, type: project}\n"
    "injection_rules:\n"
    "  - {name: votes, condition: \"path matches '*.py'\", inject: [/guides/voting.md]}\n",
}
MEMORIES = [
    {
        "id": "0a" * 16,
        "content": "A vote of the quorum needs seven validators.",
        "category": "decision",
        "importance": 0.9,
        "created": "2026-01-02T00:00:00+00:00",
        "share": None,
    },
    {
        "id": "0b" * 16,
        "content": "The ledger is written once a day.",
        "category": "fact",
        "importance": 0.4,
        "created": "2026-01-03T00:00:00+00:00",
        "share": None,
    },
]
DAY = {"created": "2026-01-05T00:00:00+00:00", "edited": "2026-01-05T00:00:00+00:00"}
BLOCKS = [
    {"id": "plan", "type": "page", "text": "Plan of the vote", "position": 0, **DAY},
    {
        "id": "invite",
        "type": "todo",
        "text": "Invite the quorum to the vote",
        "parent": "plan",
        "position": 0,
        **DAY,
    },
    {"id": "hall", "type": "todo", "text": "Rent a hall", "parent": "plan", "position": 1, **DAY},
]
AS_OF = ("--as-of", "2026-01-20")
SITUATION = json.dumps({"tool": "edit", "path": "ledger.py", "intent": "count votes again"})
REQUESTS: dict[str, tuple[str, ...]] = {
    "documents": ("quorum vote", "--budget", "180", "--reserve", "none"),
    "documents-cut": (
        "quorum vote",
        *("--budget", "74", "--reserve", "answer=5", "--overflow", "cut", "--viewer", "ann"),
    ),
    "entities": ("count the votes", "--recipe", "entities", "--budget", "1000"),
    "agent": ("quorum vote", "--recipe", "agent", *AS_OF),
    "workspace": ("who is invited", "--recipe", "workspace", "--focus", "plan", *AS_OF),
    "situation": (
        "count the votes",
        *("--recipe", "situation", "--situation", SITUATION, *AS_OF),
    ),
}
"""The arguments of `quire assemble` for each receipt."""


def make_project(folder: Path) -> None:
    """Write the project, and index it."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    with quire.open(folder) as project:
        project.index()
        project.memories.import_lines("\n".join(map(json.dumps, MEMORIES)), at=AT)
        project.blocks.import_lines("\n".join(map(json.dumps, BLOCKS)), at=AT)


def assemble(folder: Path, *arguments: str) -> str:
    """Run `quire assemble` in the project, and return the context."""
    done = subprocess.run(
        [sys.executable, "-m", "quire", "assemble", *arguments],
        cwd=folder,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return done.stdout


def main() -> None:
    """Write all receipts with their contexts."""
    target = Path(sys.argv[1] if sys.argv[1:] else HERE).absolute()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_project(folder)
        for title, arguments in REQUESTS.items():
            text = assemble(folder, *arguments, "--receipt", "r.json", "--parts")
            receipt = json.loads((folder / "r.json").read_text("utf-8"))
            del receipt["created"]
            place = target / f"v{receipt['version']}"
            place.mkdir(parents=True, exist_ok=True)
            written = json.dumps(receipt, ensure_ascii=False, separators=(",", ":")) + "\n"
            (place / f"{title}.json").write_bytes(written.encode())
            (place / f"{title}.txt").write_bytes(text.encode())
            parts = json.loads((folder / "r.json.parts").read_text("utf-8"))
            written = json.dumps(parts, ensure_ascii=False, separators=(",", ":")) + "\n"
            (place / f"{title}.json.parts").write_bytes(written.encode())


if __name__ == "__main__":
    main()
