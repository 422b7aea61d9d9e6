"""Pairs of texts made by rule: contradictions, which are two texts, and near duplicates, which are one.

A sentence with a slot, `{8080|9090}`, is put among sentences without one. Filled with the first
choice and with the second, the texts contradict each other. Filled with the first choice twice, and
one of them rewritten without changing what it says, they are near duplicates. All sentences were
written for this file.

The rules are split in two halves, `TUNED` and `HELD_BACK`: by the number of a sentence, a rewording
or a filler. What decides on duplicates was chosen by looking at the first half alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

TUNED, HELD_BACK = 0, 1
CONTRADICTIONS = 100
NEAR_DUPLICATES = 35
"""Pairs of a half: of all contradictions, and of each kind of near duplicate."""

SLOTS = (
    # numbers
    "The relay listens on port {8080|9090} once the service has started.",
    "A worker retries a failed delivery {3|5} times and then gives up.",
    "The buffer holds {twelve|twenty} batches at most.",
    "Roughly {4.5|5.4} percent of the requests are answered from the cache.",
    # negations
    "The importer {keeps|does not keep} the original file names.",
    "Operators {can|cannot} restart the queue from the console.",
    "The gateway {always|never} checks the certificate of a caller.",
    "The nightly job runs {with|without} a lock on the table.",
    "Der Dienst wird nach einem Fehler {|nicht} neu gestartet.",
    "Le service {redémarre|ne redémarre pas} après une panne.",
    "El servicio {|no} se reinicia después de un fallo.",
    "The parser {accepts|doesn't accept} comments at the end of a line.",
    # must and must not, may and must
    "A client {must|must not} send the token with every request.",
    "Reviewers {may|must} sign the release notes.",
    "Tenants {should|should not} share one bucket.",
    "Backups {are|are no longer} encrypted with the key of the region.",
    # dates
    "The contract with the carrier ends on {2024-03-01|2025-03-01}.",
    "The old console is switched off on {3 March|13 March}.",
    "The audit takes place every {Tuesday|Thursday} morning.",
    "The migration to the new cluster began in {January|June}.",
    # names
    "The design was approved by {Marlene Ott|Jasper Kuhn} last week.",
    "Spare parts are shipped from {Lisbon|Rotterdam} to all depots.",
    "The on-call rota is kept by the team of {Ingrid|Tomas}.",
    "Invoices are sent through {Brightwater|Stonebridge} since the merger.",
    # enabled and disabled, and other opposites
    "Tracing is {enabled|disabled} in the production environment.",
    "The feature flag for bulk export is switched {on|off} by default.",
    "The new index is {faster|slower} than the one that it replaces.",
    "Uploads over the public endpoint are {allowed|forbidden} for guests.",
    "The balance is checked {before|after} the order is placed.",
    "The rollback step runs {first|last} in the pipeline.",
    "The error rate {increased|decreased} when the pool was resized.",
    "A larger window {raises|lowers} the memory that a session takes.",
    # versions, units, identifiers, quoted strings
    "The plugin needs version {2.1.0|2.2.0} of the runtime.",
    "A probe waits {30 ms|30 s} for an answer from the sensor.",
    "Callers use {open_session|close_session} to release the handle.",
    'The command prints "{done|failed}" as its last word.',
    "The limit of an upload is {20 MB|20 GB} for each account.",
    "The setting {maxRetries|minRetries} decides how often that happens.",
    "The store is opened with the flag {--read-only|--read-write} on replicas.",
    "The {client|server} closes the connection to the {server|client} when it is idle.",
)
PLAIN = (
    "The session cache keeps every session for a while after its last use.",
    "When memory runs short, the sessions that were used least are dropped from it.",
    "A login that finds no session asks the database, which is slow in the morning.",
    "Operators see the size of the cache on the board beside the door.",
    "The warehouse sends a list of open orders to the office each evening.",
    "Somebody has to look at the list and to mark what is urgent.",
    "What is marked as urgent is packed at once and leaves with the next van.",
    "The report of the week shows how many orders were late, and why.",
    "New colleagues read the handbook and then follow somebody for a few days.",
    "Questions about the handbook go to the channel of the team that wrote it.",
    "Each change of the handbook is reviewed by a person who uses it.",
    "The measuring station stands on a hill and sends its values by radio.",
    "In winter the mast is covered with ice, so that values are missing.",
    "Missing values are filled in by hand when the road is open again.",
)
FILLERS = (
    "as noted above",
    "of course",
    "as we all know",
    "in other words",
    "as usual",
    "to be clear",
    "as mentioned earlier",
    "needless to say",
    "it goes that way",
    "in short",
)
REWORDINGS = (
    (r"\bwhen\b", "whenever"),
    (r"\beach\b", "every"),
    (r"\bfor a while\b", "for some time"),
    (r"\bat once\b", "immediately"),
    (r"\bdoes not\b", "doesn't"),
    (r"\bcannot\b", "can't"),
    (r"\bruns short\b", "is running short"),
    (r"\bhas to\b", "must"),
    (r"\bthe list\b", "this list"),
    (r"\bso that\b", "so"),
    (r"\bsomebody\b", "someone"),
    (r"\bshows\b", "displays"),
    (r"\bby hand\b", "manually"),
    (r"\bis slow\b", "'s slow"),
    (r"\bthe size of the cache\b", "the cache's size"),
    (r"\bevery session\b", "each session"),
    (r"\bfilled in\b", "filled in, then,"),
    (r"\bthe next van\b", "the very next van"),
    (r"\bthat wrote it\b", "which wrote it"),
    (r"\bby radio\b", "via radio"),
    (r"\bbegan\b", "started"),
    (r"\bdropped\b", "removed"),
    (r"\bare missing\b", "are simply missing"),
    (r"\bthat were used least\b", "used least"),
)


class Pair(NamedTuple):
    """Two texts, and the rule that made the second."""

    rule: str
    one: str
    other: str


def contradictions(half: int) -> list[Pair]:
    """Return pairs of texts that differ in one slot."""
    rng = Random(11 + half)
    slots = SLOTS[half::2]
    pairs = []
    for number in range(CONTRADICTIONS):
        slot = slots[number % len(slots)]
        around = rng.sample(PLAIN, 3)
        at = rng.randrange(4)
        pairs.append(
            Pair(
                slot,
                " ".join([*around[:at], _filled(slot, 0), *around[at:]]),
                " ".join([*around[:at], _filled(slot, 1), *around[at:]]),
            )
        )
    return pairs


def near_duplicates(half: int) -> list[Pair]:
    """Return pairs of texts that say the same, by each kind of rewriting."""
    rng = Random(23 + half)
    return [
        Pair(name, text, _changed(rewrite, rng, half, text))
        for name, rewrite in KINDS.items()
        for text in _texts(rng, half)
    ]


def _texts(rng: Random, half: int) -> Iterator[str]:
    """Yield texts of five sentences, one of them with a number, a name or the like."""
    slots = SLOTS[half::2]
    for number in range(NEAR_DUPLICATES):
        sentences = [*rng.sample(PLAIN, 4), _filled(slots[number % len(slots)], 0)]
        rng.shuffle(sentences)
        yield " ".join(sentences)


def _filled(slot: str, choice: int) -> str:
    text = re.sub(r"\{([^|}]*)\|([^}]*)\}", lambda match: match[1 + choice], slot)
    return re.sub(" +", " ", text)


def _changed(rewrite: Callable[[Random, int, str], str], rng: Random, half: int, text: str) -> str:
    """Rewrite a text until it is another; some rules find nothing to change."""
    for _ in range(100):
        changed = rewrite(rng, half, text)
        if changed != text:
            return changed
    raise AssertionError(f"no rule changes {text!r}")


def _white_space(rng: Random, _: int, text: str) -> str:
    return re.sub(" ", lambda _: rng.choice([" ", "  ", "\n", " ", "\t", "\n  "]), text)


def _punctuation(rng: Random, _: int, text: str) -> str:
    changes = (
        (", ", " "),
        (". ", "; "),
        (". ", "! "),
        (". ", " - "),
        ('"', "'"),
        (", ", " \u2013 "),
    )
    for old, new in rng.sample(changes, 3):
        text = text.replace(old, new)
    return text


def _casing(rng: Random, _: int, text: str) -> str:
    return rng.choice([str.upper, str.lower, str.title, str.swapcase])(text)


def _rewording(rng: Random, half: int, text: str) -> str:
    for old, new in rng.sample(REWORDINGS[half::2], 2):
        text = re.sub(old, new, text, count=1)
    return text


def _reordered(rng: Random, _: int, text: str) -> str:
    sentences = re.split(r"(?<=\.) ", text)
    rng.shuffle(sentences)
    return " ".join(sentences)


def _filler(rng: Random, half: int, text: str) -> str:
    sentences = re.split(r"(?<=\.) ", text)
    at = rng.randrange(len(sentences))
    filler = rng.choice(FILLERS[half::2])
    sentence = sentences[at]
    sentences[at] = rng.choice(
        [
            f"{filler.capitalize()}, {sentence}",
            f"{sentence[:-1]}, {filler}.",
            f"{sentence} {filler.capitalize()}.",
        ]
    )
    return " ".join(sentences)


KINDS: dict[str, Callable[[Random, int, str], str]] = {
    "white space": _white_space,
    "punctuation": _punctuation,
    "casing": _casing,
    "rewording": _rewording,
    "order": _reordered,
    "filler": _filler,
}
"""Ways to write a text again that change nothing of what it says."""
