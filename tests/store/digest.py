"""One hash over the answers of a store, printed by `python -m store.digest FOLDER`."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from random import Random

from quire.core.types import AccessRule, Event, Filter
from quire.store import open_store
from quire.store.index import scoring, vectors

from .answers import Questions, answers_by_viewer, stored_settings
from .samples import KINDS, TITLES, WORDS, document, fill, vector_for, vectors_of

DIMS = 384


def digest(folder: Path) -> str:
    """Fill a store, ask it many questions, and hash all answers."""
    random = Random(7)
    documents = [
        document(
            f"d{number}",
            *(" ".join(random.choices(WORDS, k=12)) + f" rare{number % 40}" for _ in range(3)),
            path=f"{random.choice(('docs', 'src'))}/{number % 90}.md",
            title=random.choice(TITLES),
            kind=random.choice(KINDS),
            links=[(f"d{random.randrange(120)}", "link")],
            modified=random.choice((None, 10, 20)),
            acl=random.choice((None, ("alice",), ("bob", "@ops"), ())),
            attrs={name: len(name) for name in random.sample(WORDS, 3)},
        )
        for number in range(120)
    ]
    store = open_store(folder / "store.db")
    for at in range(0, 120, 40):
        fill(store, *documents[at : at + 40])
    with store.write() as writer:
        writer.put_vectors("wide", vectors_of(documents, "wide", DIMS))
        writer.set_rules("config", [AccessRule("docs/", ("alice", "@ops"))])
        writer.set_groups("command", {"ops": ["bob", "carol"]})
        writer.put_events([Event("alice", "view", f"d{n}", n % 7) for n in range(0, 120, 9)])
        writer.remove([f"d{number}" for number in range(0, 120, 11)])
    questions = Questions(
        queries=("alpha beta rare3", "the cafe http rare7 rare8", "検索 foobar gamma 42"),
        vectors=(vector_for("one", "wide", DIMS), vector_for("two", "wide", DIMS)),
        filters=(Filter(), Filter(kinds=("code", "note"), paths=("docs/", "!*7*"), since=5)),
        ks=(3, 500),
        records=tuple(each.record.id for each in documents[::7]),
        chunks=tuple(each.chunks[1].id for each in documents[::13]),
    )
    whole = hashlib.sha256()
    for scan, first, prune in ((10**6, 10**6, 10**6), (50, 20, 5)):
        vectors.SCAN_LIMIT, vectors.FIRST_PASS, vectors.FIRST_PASS_PER_HIT = scan, first, 2
        scoring.PRUNE_FROM = prune
        for answer in (*answers_by_viewer(store, questions), stored_settings(store)):
            whole.update(answer.encode())
    store.close()
    return whole.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(digest(Path(sys.argv[1])) + "\n")
