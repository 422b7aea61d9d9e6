"""What does a post-mortem teach?

A page becomes a falsified experience: what was believed to hold did not. Each part is taken from
the front matter, else from the sections whose headings name it, else from the first sentences that
speak of it; the tables below say which words do. The domain is the one whose words tags, title and
summary name most often. Nothing is made up: what a page does not say stays empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from quire.core import hashing
from quire.core.chunking import first_words
from quire.core.types import Experience
from quire.memory import experiences
from quire.memory.vocabulary import OPERATIONS, UNSTATED

VERSION = 2
"""Counts the changes in how pages are read; a higher one reads all pages again."""

# Per part of an experience: keys of front matter, words of headings.
STATED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "root_cause": (
        ("root_cause", "root_causes", "cause"),
        ("root cause", "root causes", "cause", "causes", "contributing factors", "why it happened"),
    ),
    "lesson": (
        ("lesson", "lessons", "lessons_learned", "prevention", "action_items"),
        (
            "lesson",
            "lessons",
            "learned",
            "learnt",
            "takeaways",
            "action items",
            "prevention",
            "preventing",
            "corrective",
            "remediation",
            "follow up",
            "next steps",
            "improvements",
        ),
    ),
    "surprise": (
        ("surprise", "surprises"),
        ("surprise", "surprises", "surprised", "unexpected", "went wrong", "got lucky"),
    ),
    "goal": (("goal", "objective"), ("goal", "goals", "objective", "objectives")),
    "hypothesis": (
        ("hypothesis", "assumption"),
        ("hypothesis", "assumption", "assumptions", "assumed"),
    ),
    "prediction": (("prediction", "expected"), ("prediction", "expected", "expectation")),
    "action": (("action", "trigger"), ("trigger", "triggers", "change", "changes")),
    "result": (
        ("summary", "description", "impact"),
        ("summary", "overview", "impact", "what happened", "abstract", "tl dr", "problem"),
    ),
}
# Where neither says it: sentences that speak of it. The first pattern that finds any decides.
SPOKEN: Mapping[str, tuple[re.Pattern[str], ...]] = {
    "root_cause": (
        re.compile(r"(?i)\broot causes?\b"),
        re.compile(
            r"(?i)\b(?:(?:caused|triggered) by|stemmed from|resulted from|traced (?:back )?to)\b"
        ),
        re.compile(r"(?i)\b(?:caus(?:ed|ing)|due to|triggered|because)\b"),
    ),
    "lesson": (
        re.compile(
            r"(?i)^to (?:prevent|avoid|address|mitigate)\b"
            r"|\b(?:prevent(?:ing|s)? (?:similar|future|a repeat|recurrence|this|these)|lessons?"
            r"|learned|going forward|moving forward|in (?:the )?future"
            r"|(?:will|plans? to|planning to)"
            r"|ha(?:s|ve) since|corrective|remediation|mitigations?)\b"
        ),
    ),
    "surprise": (
        re.compile(
            r"(?i)\b(?:unexpected\w*|surpris\w+|unanticipated|unforeseen|unaware|unlucky"
            r"|unprecedented|unknowingly|inadvertently|silently|unnoticed"
            r"|never (?:been )?(?:encountered|tested|seen)"
            r"|(?:did|had|was|were) not (?:been )?"
            r"(?:expect|anticipat|reali[sz]|consider|test)\w*)\b"
        ),
    ),
}
SENTENCES = 3
"""So many sentences stand for a part that has no section."""
SHORTEST = 7
"""A sentence of fewer words says too little: "Two mitigations were implemented." """

# Names of pages about the others, and words that tell a post-mortem from other pages.
ABOUT = re.compile(r"(?i)(?:readme|index|contributing|changelog|licen[cs]e|template|toc)\b")
MARKED = re.compile(
    r"(?i)post-?_?\s?mortems?|incident|outage|disruption|downtime|retrospective|root cause"
)
MARKING_KEYS = frozenset(
    {
        "root_cause",
        "impact",
        "severity",
        "incident",
        "incident_date",
        "start_time",
        "end_time",
        "detected_at",
        "resolved_at",
        "duration",
        "lessons_learned",
    }
)
MARKING_PARTS = frozenset({"root_cause", "lesson", "result"})
FAILED = re.compile(
    r"(?i)\b(?:outages?|incidents?|fail(?:ed|s|ure|ures|ing)?|brok(?:e|en)|breaking|crash\w*|down"
    r"|disruption|unavailab\w+|corrupt\w*|lost|breach\w*|degraded|errors?|bugs?|locked|overload\w*"
    r"|issues?|problems?|unable|inability|stuck|hung|leak\w*|compromised?|vulnerab\w+)\b"
)

BEGUN = ("start_time", "incident_date", "started_at", "date")
ENDED = ("end_time", "resolved_at", "source_published_at", "published", "date", "updated")
TAGS = ("tags", "categories", "category", "keywords", "type")
# The first of those that are named equally often; what names none belongs to operations.
DOMAINS: tuple[tuple[str, str], ...] = (
    (
        "security",
        r"security|breach|vulnerabilit\w*|attack\w*|exploit\w*|credentials?|certificates?",
    ),
    ("configuration", r"config-change|configurations?|config|misconfigur\w*|settings?"),
    ("deployment", r"deploy\w*|releases?|roll-?outs?|roll-?backs?|upgrad\w+|migrations?"),
    ("data", r"databases?|data loss|corrupt\w*|backups?|replication|mysql|postgres\w*|mongodb"),
    ("performance", r"performance|latency|overload\w*|capacity|slow\w*|memory leaks?|timeouts?"),
    ("integration", r"apis?|third[- ]part\w+|vendors?|dependenc\w+|providers?|integrations?"),
    ("testing", r"tests?|testing|test suite|ci"),
)
DEFAULT_DOMAIN = OPERATIONS
TAG_WORTH, TITLE_WORTH, SUMMARY_WORTH = 3, 2, 1
LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Page:
    """A page of Markdown as its reader gives it."""

    path: str
    title: str
    fields: Mapping[str, Sequence[str]]
    """Front matter, by keys in small letters."""
    sections: tuple[tuple[str, str], ...]
    """Each heading with all that stands below it."""
    sentences: tuple[str, ...]
    """All that is said in running text, in its order."""
    moments: Mapping[str, int]
    """Those fields of the front matter that are dates."""


def read(
    page: Page, source: str, *, author: str | None, acl: tuple[str, ...] | None
) -> Experience | str:
    """Make an experience of a page, or say why it is no post-mortem."""
    told = {part: _shortened(_part(page, part)) for part in STATED}
    told["result"] = told["result"] or _shortened(" ".join(page.sentences[:SENTENCES]))
    reason = _refused(page, told)
    if reason:
        return reason
    told["goal"] = told["goal"] or page.title or first_words(told["result"])
    begun, ended = _moment(page, BEGUN), _moment(page, ENDED)
    resolved = begun if ended is None else ended
    made = Experience(
        id=hashing.identifier("experience", "postmortem", author, source),
        domain=domain(page, told["result"]),
        strategy=UNSTATED,
        outcome=experiences.FALSIFIED,
        started=begun if begun is not None else resolved,
        updated=resolved,
        resolved=resolved,
        source=source,
        digest=digest(page),
        author=author,
        acl=acl,
        goal=told["goal"],
        hypothesis=told["hypothesis"],
        action=told["action"],
        prediction=told["prediction"],
        result=told["result"],
        surprise=told["surprise"],
        root_cause=told["root_cause"],
        lesson=told["lesson"],
    )
    return replace(made, tier=experiences.tier(made))


def digest(page: Page) -> str:
    """Name what a page says, and how it is read; its path takes no part."""
    return hashing.identifier(
        "postmortem",
        VERSION,
        page.title,
        {key: tuple(values) for key, values in page.fields.items()},
        page.sections,
        page.sentences,
    )


def domain(page: Page, summary: str) -> str:
    """Tell the domain whose words tags, title and summary name most often."""
    tags = [tag for key in TAGS for tag in page.fields.get(key, ())]
    worth = {
        name: TAG_WORTH * _count(words, tags)
        + TITLE_WORTH * _count(words, [page.title])
        + SUMMARY_WORTH * _count(words, [summary])
        for name, words in DOMAINS
    }
    best = max(worth.values())
    return next(name for name in worth if worth[name] == best) if best else DEFAULT_DOMAIN


def _refused(page: Page, told: Mapping[str, str]) -> str:
    if ABOUT.match(page.path.rpartition("/")[2]):
        return "no post-mortem: by its name it is about the folder"
    if not told["result"]:
        return "no post-mortem: it says nothing of what happened"
    tags = (tag for key in (*TAGS, "url") for tag in page.fields.get(key, ()))
    named = any(MARKED.search(text) for text in (page.title, page.path, *tags))
    headed = {part for heading, _ in page.sections for part in _parts_of(heading)}
    failed = any(FAILED.search(sentence) for sentence in page.sentences)
    if (
        named
        or not MARKING_KEYS.isdisjoint(page.fields)
        or len(headed & MARKING_PARTS) > 1
        or (failed and told["root_cause"])
    ):
        return ""
    return (
        "no post-mortem: neither title nor tags say so, no two headings such as Summary, Root "
        "cause and Lessons, and no failure with its cause in the text"
    )


def _part(page: Page, part: str) -> str:
    keys, _ = STATED[part]
    given = ["; ".join(page.fields[key]) for key in keys if page.fields.get(key)]
    if given:
        return "\n\n".join(given)
    below: list[str] = []
    for heading, text in page.sections:
        if part in _parts_of(heading) and not any(text in known for known in below):
            below.append(text)
    return "\n\n".join(filter(None, below)) or " ".join(_spoken(page, part))


def _spoken(page: Page, part: str) -> Iterable[str]:
    telling = [sentence for sentence in page.sentences if len(sentence.split()) >= SHORTEST]
    for words in SPOKEN.get(part, ()):
        found = [sentence for sentence in telling if words.search(sentence)]
        if found:
            return found[:SENTENCES]
    return ()


def _parts_of(heading: str) -> Iterator[str]:
    """Tell which part a heading names: the first in the table, for one has one meaning."""
    words = f" {' '.join(re.findall(r'[a-z]+', heading.lower()))} "
    for part, (_, phrases) in STATED.items():
        if any(f" {phrase} " in words for phrase in phrases):
            yield part
            return


def _moment(page: Page, keys: Sequence[str]) -> int | None:
    return next((page.moments[key] for key in keys if key in page.moments), None)


def _count(words: str, among: Iterable[str]) -> int:
    pattern = re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    return sum(len(pattern.findall(text)) for text in among)


def _shortened(text: str) -> str:
    text = text.strip()
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 1].rpartition(" ")[0].rstrip() + "…"
