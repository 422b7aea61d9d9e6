"""Makers of pairs: what somebody asks, the text that answers, and texts beside it that do not."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from train import wording
from train.definitions import (
    LANGUAGES,
    Definition,
    extension_of,
    first_sentence,
    read_definitions,
    split_words,
)
from train.git import TESTS, VENDORED, Commit

MAX_QUESTION = 1200
MAX_PASSAGE = 1100
MAX_NEGATIVE = 800


@dataclass(slots=True)
class Pair:
    """A question, its passage and passages of the same place that do not answer it."""

    kind: str
    question: str
    passage: str
    negatives: list[str] = field(default_factory=list)
    origin: str = ""

    def record(self) -> dict[str, object]:
        return {
            "s": self.kind,
            "r": self.origin,
            "q": self.question[:MAX_QUESTION],
            "p": self.passage[:MAX_PASSAGE],
            "n": [text[:MAX_NEGATIVE] for text in self.negatives],
        }


WEAK = re.compile(
    r"^(todo|fixme|copyright|http|eslint|@|see |inherit|constructor|getter|setter|nolint|noqa)"
    r"|^(returns?|gets?|sets?) the \w+\.?$",
    re.IGNORECASE,
)


def is_english(text: str) -> bool:
    """Tell whether nearly all characters are ASCII."""
    return sum(character.isascii() for character in text) > 0.95 * len(text)


def titled(title: str, text: str, rng: random.Random, share: float = 0.5) -> str:
    """Put a title above a text now and then, as Quire does where a chunk has one."""
    return f"{title}\n{text}" if title and rng.random() < share else text


def code_pairs(text: str, path: str, origin: str, rng: random.Random) -> Iterator[Pair]:
    """Yield a question for each described function of a file, its neighbours as negatives."""
    definitions = [one for one in read_definitions(text, path) if one.last - one.first >= 3]
    language = LANGUAGES[extension_of(path)]
    for one in definitions:
        if one.last - one.first < 4 or len(one.doc) < 20 or not is_english(one.doc):
            continue
        sentence = first_sentence(one.doc)
        if len(sentence) < 15 or len(sentence.split()) < 3 or WEAK.match(sentence):
            continue
        if one.name.startswith("__") and rng.random() < 0.7:
            continue
        others = [other.bare for other in definitions if other is not one]
        yield Pair(
            "code-py" if language == "python" else "code-other",
            _code_question(one, sentence, language, rng),
            titled(one.qualified, _code_passage(one, rng), rng),
            rng.sample(others, min(2, len(others))),
            origin,
        )


def _code_question(one: Definition, sentence: str, language: str, rng: random.Random) -> str:
    draw = rng.random()
    if draw < 0.5:
        return wording.web_query(sentence, language, split_words(one.name), rng)
    if draw < 0.6:
        return re.sub(r"\s+", " ", one.doc)[:400]
    if draw < 0.8:
        return wording.other_words(sentence, rng, 0.7)
    return sentence


def _code_passage(one: Definition, rng: random.Random) -> str:
    """Return the function, now and then under another name, or with its description."""
    draw = rng.random()
    if draw < 0.25 and len(one.name) > 3:
        hidden = rng.choice(["func", "run", "do", "process", "f", "handle"])
        return one.bare.replace(one.name, hidden)
    return one.code if draw < 0.37 else one.bare


TRAILERS = re.compile(
    r"^\s*(Signed-off-by|Co-authored-by|Reviewed-by|Reviewed-on|Change-Id|Tested-by|Acked-by|Cc"
    r"|PR Close|Approved-by|Implements|Depends-On|Partial-Bug|Closes-Bug|Related-Bug|blueprint"
    r"|Partially-Implements|Closes|Fixes|References|Updates|Backport\S*|GitOrigin-RevId|git-svn-id"
    r"|ACKs? for|Tree-SHA512|Top commit|Reviewers?|Conflicts|PiperOrigin-RevId|RELNOTES|BUG"
    r"|\(cherry picked)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
HEADS = re.compile(
    r"^(Merge \S+#\d+: |\w+(\([\w/.-]+\))?!?: |\[[\w -]+\]\s*|[A-Z]+-\d+[;:]?\s*)"
    r"|\s*\(#\d+\)|\s*#\d+"
)
ROUTINE = re.compile(
    r"(revert|bump|merge|release|version|update (version|changelog|translation|dep)"
    r"|\[?(docs?|ci|typo|chore|style|lint|format)|black|run |pep ?8|whitespace)\b",
    re.IGNORECASE,
)


def clean_message(message: str) -> tuple[str, str]:
    """Return subject and body of a commit message, without trailers, links and numbers."""
    text = TRAILERS.sub("", message)
    text = re.sub(r"\b[0-9a-f]{40}\b|https?://\S+", "", text)
    lines = text.strip().split("\n")
    subject = HEADS.sub("", lines[0]).strip()
    body = "\n".join(line[:300] for line in lines[1:]).strip()
    return subject, re.sub(r"\n{3,}", "\n\n", body)[:1500]


def changed_definitions(
    commit: Commit, texts: dict[str, str]
) -> tuple[list[tuple[int, str, Definition]], list[tuple[str, Definition]]]:
    """Return the functions that a commit changed (by lines changed) and the others."""
    changed, others = [], []
    for path, text in texts.items():
        for one in read_definitions(text, path):
            if one.last - one.first < 3:
                continue
            lines = 0
            for first, after in commit.hunks.get(path, []):
                lines += max(0, min(after, one.last) - max(first, one.first))
                lines += first == after and one.first < first < one.last
            if lines:
                changed.append((lines, path, one))
            else:
                others.append((path, one))
    changed.sort(key=lambda row: (-row[0], row[1], row[2].first))
    return changed, others


def source_paths(commit: Commit) -> list[str]:
    """Return the changed files that are neither tests nor other people's code."""
    return [
        path
        for path in sorted(commit.blobs)
        if extension_of(path) in LANGUAGES and not VENDORED.search(path) and not TESTS.search(path)
    ]


def commit_pairs(
    commit: Commit, texts: dict[str, str], origin: str, rng: random.Random
) -> Iterator[Pair]:
    """Yield the message of a commit with each function it changed, as they were before."""
    subject, body = clean_message(commit.message)
    if len(subject) < 12 or len(subject) + len(body) < 40 or ROUTINE.match(subject):
        return
    if not is_english(subject + body):
        return
    changed, others = changed_definitions(commit, texts)
    if not changed or len(changed) > 5:
        return
    rng.shuffle(others)
    # The outermost of nested definitions says the least.
    for _, path, one in changed[:2]:
        question = _issue_text((subject, body), path, one, others, rng)
        near = [other.code for place, other in others if place == path] or [
            other.code for _, other in others
        ]
        passage = titled(one.qualified, one.code, rng)
        yield Pair("commit", question, passage, near[:3], origin)


ERRORS = (
    "ValueError: {}",
    "TypeError: {}",
    "KeyError: {}",
    "RuntimeError: {}",
    "AttributeError: {}",
    "AssertionError: {}",
)


def _issue_text(
    message: tuple[str, str],
    path: str,
    one: Definition,
    others: list[tuple[str, Definition]],
    rng: random.Random,
) -> str:
    subject, body = message
    draw = rng.random()
    question = f"{subject}\n\n{body}" if body and draw < 0.6 else subject
    if len(body) > 120 and 0.6 <= draw < 0.85:
        question = body
    if rng.random() < 0.15 and re.search(
        r"fix|error|crash|fail|bug|exception", subject, re.IGNORECASE
    ):
        language = LANGUAGES[extension_of(path)]
        frames = [
            _frame(place, other, rng)
            for place, other in rng.sample(others, min(rng.randint(1, 3), len(others)))
        ]
        frames.insert(rng.randint(0, len(frames)), _frame(path, one, rng))
        error = rng.choice(ERRORS).format(subject.lower()[:60])
        question = f"{question}\n\n{wording.traceback(frames, error, language)}"
    return question


def _frame(path: str, one: Definition, rng: random.Random) -> tuple[str, int, str, str]:
    lines = [line for line in one.bare.split("\n")[1:] if len(line.strip()) > 8] or [one.name]
    return path, rng.randint(one.first + 1, one.last), one.name, rng.choice(lines)[:120]
