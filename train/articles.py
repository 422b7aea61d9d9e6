"""Makers of pairs of scientific articles, and of two statements that say the same."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Iterator

from train import wording
from train.pairs import MAX_PASSAGE, Pair, clean_message, is_english, titled

FREE = re.compile(r"creativecommons\.org/(licenses/by/4\.0|publicdomain/zero/1\.0)")
"""Licences of articles that may be taken; each article states its own."""
CITED = re.compile(r"<xref[^>]*ref-type=\"bibr\".*?</xref>", re.DOTALL)
FIGURES = re.compile(
    r"<(fig|fig-group|table-wrap|disp-formula|inline-formula|media|supplementary-material|object-id"
    r"|label|boxed-text)\b.*?</\1>",
    re.DOTALL,
)
LEFT_OVER = re.compile(r"[(\[]\s*(?:(?:see|and|e\.g\.|reviewed in|but see|also)?[\s;,]*)*[)\]]")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
METHODS = re.compile(r"method|material|procedure|experimental model", re.IGNORECASE)
LEAF = re.compile(r"<sec\b[^>]*>(?:(?!<sec\b|</sec>).)*</sec>", re.DOTALL)
SAID = 9
"""Words that a heading has at least where it says what was found."""


def plain_text(markup: str) -> str:
    """Return the text of a piece of JATS without citations, figures and formulas."""
    text = re.sub(r"<[^>]+>", "", FIGURES.sub(" ", CITED.sub("", markup)))
    text = re.sub(r"\s+", " ", html.unescape(text))
    return re.sub(r"\s+([,.;)])", r"\1", LEFT_OVER.sub("", text)).strip()


def article_pairs(text: str, origin: str, rng: random.Random) -> Iterator[Pair]:
    """Yield claims about an article in other words than its abstract's, and its findings.

    A claim is the title, a sentence of the summary for lay readers or the editor's, with the
    abstract; a finding is the heading of a section that says what was found, with the section.
    """
    front, _, body = text.partition("</front>")
    if not FREE.search(front):
        return
    title = _first(front, r"<article-title>(.*?)</article-title>")
    abstracts = re.findall(r"<abstract([^>]*)>(.*?)</abstract>", front, re.DOTALL)
    abstract = next((plain_text(_paragraphs(one)) for kind, one in abstracts if not kind), "")
    number = _first(front, r"pub-id-type=\"publisher-id\">(\w+)<") or title
    if len(abstract) < 300 or not title or not is_english(abstract):
        return
    # The article is part of the origin: all of it is left out where a part is of an evaluation set.
    origin = f"{origin}:{number}"
    claims = [title]
    for kind, markup in abstracts:
        if kind:
            said = [
                one for one in SENTENCE.split(plain_text(_paragraphs(markup))) if _is_claim(one)
            ]
            claims += rng.sample(said, min(2, len(said)))
    for index, claim in enumerate(claims[:5]):
        shown = abstract if index == 0 else titled(title, abstract, rng, 0.7)
        yield Pair("biology", claim, shown, [], origin)
    yield from _finding_pairs(body, abstract, title, origin, rng)


def _first(text: str, pattern: str) -> str:
    found = re.search(pattern, text, re.DOTALL)
    return plain_text(found[1]) if found else ""


def _paragraphs(markup: str) -> str:
    return " ".join(re.findall(r"<p>(.*?)</p>", markup, re.DOTALL))


def _is_claim(sentence: str) -> bool:
    return 9 <= len(sentence.split()) <= 45 and "DOI" not in sentence


def _finding_pairs(
    body: str, abstract: str, title: str, origin: str, rng: random.Random
) -> Iterator[Pair]:
    sections = []
    for markup in LEAF.findall(body.partition("</body>")[0]):
        heading = _first(markup, r"<title>(.*?)</title>").rstrip(".")
        shown = plain_text(_paragraphs(markup))[:MAX_PASSAGE]
        if len(shown) >= 300 and not METHODS.search(heading):
            sections.append((heading, shown))
    telling = [one for one in sections if len(one[0].split()) >= SAID]
    for heading, shown in rng.sample(telling, min(2, len(telling))):
        others = [text for other, text in sections if other != heading]
        near = rng.sample(others, min(2, len(others)))
        yield Pair("biology", heading, titled(title, shown, rng), near, origin)
    sentences = SENTENCE.split(abstract)
    if len(sentences) >= 5:
        index = rng.randrange(1, len(sentences))
        rest = " ".join(sentences[:index] + sentences[index + 1 :])
        if _is_claim(sentences[index]):
            yield Pair("biology", sentences[index], f"{title}. {rest}", [], origin)


def summary_pairs(text: str, origin: str, rng: random.Random) -> Iterator[Pair]:
    """Yield the summaries of papers in one sentence, with abstracts and with each other."""
    for line in text.splitlines():
        row = json.loads(line)
        abstract = " ".join(row["source"])
        told = [one.strip() for one in row["target"] if len(one.split()) >= 7]
        if len(abstract) < 300 or not is_english(abstract):
            continue
        for one in told[:3]:
            yield Pair("science", one, abstract, [], origin)
        if len(told) > 1:
            one, other = rng.sample(told, 2)
            yield Pair("statement", one, other, [], origin)


def statement_pairs(messages: list[str], origin: str, rng: random.Random) -> Iterator[Pair]:
    """Yield what a change does, said twice: the subject of a message and a sentence of its body.

    Neither is a question: both are embedded as passages are.
    """
    for message in messages:
        subject, body = clean_message(message)
        flat = " ".join(body.split())
        if len(subject.split()) < 5 or not is_english(subject + flat):
            continue
        said = [one for one in SENTENCE.split(flat) if 8 <= len(one.split()) <= 40]
        if not said or re.search(r"[{}<>|=*]", said[0]):
            continue
        yield Pair("statement", wording.other_words(subject, rng, 0.4), said[0], said[1:2], origin)
