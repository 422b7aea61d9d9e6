"""Post-mortems as experiences.

A page becomes a falsified experience: what was believed to hold did not. Each part is taken from
the front matter, else from the sections whose headings name it, else from the first sentences that
mention it; the tables below list the words. The domain is the one whose words occur most often in
tags, title and summary. Nothing is made up: what a page does not say stays empty.
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
"""The version of this parser; a higher one makes an import read all pages again."""

# For each part of an experience: the keys of front matter, and the words of headings.
PART_NAMES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
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
# Where neither has it: sentences that mention it. The first pattern that matches any decides.
SENTENCE_PATTERNS: Mapping[str, tuple[re.Pattern[str], ...]] = {
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
MAX_SENTENCES = 3
"""How many sentences stand for a part that has no section."""
MIN_WORDS = 7
"""A sentence with fewer words says too little: "Two mitigations were implemented." """

# Names of pages about the folder itself, and words that mark a post-mortem.
META_PAGE = re.compile(r"(?i)(?:readme|index|contributing|changelog|licen[cs]e|template|toc)\b")
INCIDENT_WORDS = re.compile(
    r"(?i)post-?_?\s?mortems?|incident|outage|disruption|downtime|retrospective|root cause"
)
INCIDENT_KEYS = frozenset(
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
INCIDENT_PARTS = frozenset({"root_cause", "lesson", "result"})
FAILURE_WORDS = re.compile(
    r"(?i)\b(?:outages?|incidents?|fail(?:ed|s|ure|ures|ing)?|brok(?:e|en)|breaking|crash\w*|down"
    r"|disruption|unavailab\w+|corrupt\w*|lost|breach\w*|degraded|errors?|bugs?|locked|overload\w*"
    r"|issues?|problems?|unable|inability|stuck|hung|leak\w*|compromised?|vulnerab\w+)\b"
)

START_KEYS = ("start_time", "incident_date", "started_at", "date")
END_KEYS = ("end_time", "resolved_at", "source_published_at", "published", "date", "updated")
TAG_KEYS = ("tags", "categories", "category", "keywords", "type")
# Of domains that are named equally often the first counts; a page that names none is operations.
DOMAIN_WORDS: tuple[tuple[str, str], ...] = (
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
TAG_WEIGHT, TITLE_WEIGHT, SUMMARY_WEIGHT = 3, 2, 1
MAX_LENGTH = 2000


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed page of Markdown."""

    path: str
    title: str
    fields: Mapping[str, Sequence[str]]
    """Front matter by lower-case keys."""
    sections: tuple[tuple[str, str], ...]
    """Each heading with the text below it."""
    sentences: tuple[str, ...]
    """The sentences of the running text, in order."""
    moments: Mapping[str, int]
    """The fields of the front matter that are dates, in seconds since 1970."""


def parse_page(
    page: Page, source: str, *, author: str | None, acl: tuple[str, ...] | None
) -> Experience | str:
    """Turn a page into an experience, or return why it is not a post-mortem."""
    parts = {part: _shorten(_extract(page, part)) for part in PART_NAMES}
    parts["result"] = parts["result"] or _shorten(" ".join(page.sentences[:MAX_SENTENCES]))
    reason = _rejection(page, parts)
    if reason:
        return reason
    parts["goal"] = parts["goal"] or page.title or first_words(parts["result"])
    started, ended = _first_time(page, START_KEYS), _first_time(page, END_KEYS)
    resolved = started if ended is None else ended
    experience = Experience(
        id=hashing.identifier("experience", "postmortem", author, source),
        domain=classify_domain(page, parts["result"]),
        strategy=UNSTATED,
        outcome=experiences.FALSIFIED,
        started=started if started is not None else resolved,
        updated=resolved,
        resolved=resolved,
        source=source,
        digest=page_digest(page),
        author=author,
        acl=acl,
        goal=parts["goal"],
        hypothesis=parts["hypothesis"],
        action=parts["action"],
        prediction=parts["prediction"],
        result=parts["result"],
        surprise=parts["surprise"],
        root_cause=parts["root_cause"],
        lesson=parts["lesson"],
    )
    return replace(experience, tier=experiences.tier_of(experience))


def page_digest(page: Page) -> str:
    """Return the hash of a page's content and of how it is parsed; its path does not count."""
    return hashing.identifier(
        "postmortem",
        VERSION,
        page.title,
        {key: tuple(values) for key, values in page.fields.items()},
        page.sections,
        page.sentences,
    )


def classify_domain(page: Page, summary: str) -> str:
    """Return the domain whose words occur most often in tags, title and summary."""
    tags = [tag for key in TAG_KEYS for tag in page.fields.get(key, ())]
    scores = {
        name: TAG_WEIGHT * _count_words(words, tags)
        + TITLE_WEIGHT * _count_words(words, [page.title])
        + SUMMARY_WEIGHT * _count_words(words, [summary])
        for name, words in DOMAIN_WORDS
    }
    best = max(scores.values())
    return next(name for name in scores if scores[name] == best) if best else DEFAULT_DOMAIN


def _rejection(page: Page, parts: Mapping[str, str]) -> str:
    if META_PAGE.match(page.path.rpartition("/")[2]):
        return "not a post-mortem: by its name it is about the folder"
    if not parts["result"]:
        return "not a post-mortem: it does not say what happened"
    tags = (tag for key in (*TAG_KEYS, "url") for tag in page.fields.get(key, ()))
    is_named = any(INCIDENT_WORDS.search(text) for text in (page.title, page.path, *tags))
    headings = {part for heading, _ in page.sections for part in _part_of_heading(heading)}
    has_failure = any(FAILURE_WORDS.search(sentence) for sentence in page.sentences)
    if (
        is_named
        or not INCIDENT_KEYS.isdisjoint(page.fields)
        or len(headings & INCIDENT_PARTS) > 1
        or (has_failure and parts["root_cause"])
    ):
        return ""
    return (
        "not a post-mortem: neither title nor tags say so, no two headings such as Summary, Root "
        "cause and Lessons, and no failure with its cause in the text"
    )


def _extract(page: Page, part: str) -> str:
    keys, _ = PART_NAMES[part]
    stated = ["; ".join(page.fields[key]) for key in keys if page.fields.get(key)]
    if stated:
        return "\n\n".join(stated)
    texts: list[str] = []
    for heading, text in page.sections:
        if part in _part_of_heading(heading) and not any(text in known for known in texts):
            texts.append(text)
    return "\n\n".join(filter(None, texts)) or " ".join(_matching_sentences(page, part))


def _matching_sentences(page: Page, part: str) -> Iterable[str]:
    sentences = [sentence for sentence in page.sentences if len(sentence.split()) >= MIN_WORDS]
    for pattern in SENTENCE_PATTERNS.get(part, ()):
        matching = [sentence for sentence in sentences if pattern.search(sentence)]
        if matching:
            return matching[:MAX_SENTENCES]
    return ()


def _part_of_heading(heading: str) -> Iterator[str]:
    """Yield the part that a heading names, if any: the first of the table."""
    words = f" {' '.join(re.findall(r'[a-z]+', heading.lower()))} "
    for part, (_, phrases) in PART_NAMES.items():
        if any(f" {phrase} " in words for phrase in phrases):
            yield part
            return


def _first_time(page: Page, keys: Sequence[str]) -> int | None:
    return next((page.moments[key] for key in keys if key in page.moments), None)


def _count_words(words: str, among: Iterable[str]) -> int:
    pattern = re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    return sum(len(pattern.findall(text)) for text in among)


def _shorten(text: str) -> str:
    text = text.strip()
    if len(text) <= MAX_LENGTH:
        return text
    return text[: MAX_LENGTH - 1].rpartition(" ")[0].rstrip() + "…"
