"""An agent's memory over days: what it learned on Monday is on its page on Wednesday.

Run it: `python examples/agent_memory.py FOLDER`.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import quire


def noon(day: int) -> int:
    """Return a moment of a day in January 2026."""
    return int(datetime(2026, 1, day, 12, tzinfo=UTC).timestamp())


def main(folder: str) -> None:
    """Remember on three days, then prepare a task."""
    with quire.open(folder, settings={"embed": {"provider": "none"}}) as q:
        q.memories.add("Deployments go out on Tuesdays only.", category="decision", at=noon(5))
        old = q.memories.add("The staging database is called blue.", at=noon(5)).value
        q.memories.add("The staging database is called green.", supersedes=old.id, at=noon(6))
        trial = q.experiences.start(
            "Deploy billing without a migration check",
            domain="deployment",
            hypothesis="The schema has not changed.",
            at=noon(6),
        ).value
        q.experiences.resolve(
            trial.id,
            "falsified",
            result="The new version could not read the old rows: an hour of downtime.",
            root_cause="No step compares the schema before a deployment.",
            lesson="Run the migration check before every deployment.",
            at=noon(7),
        )
        page = q.agent.assemble_context("deployment of billing to staging", max_tokens=1000)
        print(page.markdown)
        warning = q.agent.premortem("deployment", budget=800)
        print(warning.text)
        print("the receipt holds:", q.verify(warning.receipt, warning.text).holds)


if __name__ == "__main__":
    main(sys.argv[1])
