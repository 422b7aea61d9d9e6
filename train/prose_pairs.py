"""Makers of pairs of prose: documentation, papers, meetings, facts."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from train import wording
from train.pairs import MAX_PASSAGE, Pair, is_english

SKIPPED = frozenset(
    [
        "see also",
        "references",
        "contents",
        "table of contents",
        "license",
        "licence",
        "changelog",
        "what's next",
        "authors",
        "contributors",
        "credits",
        "sponsors",
        "badges",
        "links",
        "further reading",
    ]
)
VAGUE = frozenset(
    [
        "example",
        "examples",
        "usage",
        "notes",
        "note",
        "overview",
        "introduction",
        "parameters",
        "options",
        "synopsis",
        "description",
        "syntax",
        "returns",
        "summary",
        "background",
        "details",
        "before you begin",
    ]
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: the headings above it, its own, and its text."""

    title: str
    heading: str
    text: str


def markdown_sections(text: str, fallback: str) -> list[Section]:
    """Split a Markdown page at its headings."""
    found = re.search(r"\A---\n(.*?)\n---\n", text, re.DOTALL)
    front, body = (found[1], text[found.end() :]) if found else ("", text)
    named = re.search(r"^title:\s*[\"']?(.*?)[\"']?\s*$", front, re.MULTILINE)
    body = re.sub(r"<!--.*?-->|\{\{[<%].*?[%>]\}\}|\{%.*?%\}", "", body, flags=re.DOTALL)
    fences = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
    masked = fences.sub(lambda block: re.sub(r"^#", " ", block[0], flags=re.MULTILINE), body)
    parts = re.split(r"^(#{1,4}) +(.*?)\s*#*$", masked, flags=re.MULTILINE)
    title = named[1] if named else ""
    sections = []
    if not title and len(parts) > 2 and parts[1] == "#":
        title = parts[2]
    title = _plain(title or fallback)
    if parts[0].strip():
        sections.append(Section(title, "", parts[0].strip()))
    for heading, content in zip(parts[2::3], parts[3::3], strict=True):
        name = _plain(heading)
        sections.append(Section(title, "" if name == title else name, content.strip()))
    return sections


def rst_sections(text: str, fallback: str) -> list[Section]:
    """Split a reStructuredText page at its underlined headings."""
    parts = re.split(
        r"^(?:([=\-~^\"'#*+])\1{2,}\n)?(\S.{1,100})\n([=\-~^\"'#*+])\3{2,}\s*$",
        text,
        flags=re.MULTILINE,
    )
    sections = []
    title = _plain(parts[2]) if len(parts) > 2 else fallback
    for heading, content in zip(parts[2::4], parts[4::4], strict=True):
        name = _plain(heading)
        body = re.sub(r"^\.\. [\w-]+:.*$|^\.\. _.*:$", "", content, flags=re.MULTILINE)
        sections.append(Section(title, "" if name == title else name, _plain(body, keep=True)))
    return sections


def _plain(text: str, *, keep: bool = False) -> str:
    text = re.sub(r":\w+:`~?\.?([^`<]*?)\s*(?:<[^`]*)?`", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    if keep:
        return text.strip()
    return re.sub(r"\{[#:][^}]*\}|[`*]|<[^>]{1,60}>", "", text).strip()


def section_pairs(sections: list[Section], origin: str, rng: random.Random) -> Iterator[Pair]:
    """Yield a question for each section of a page, other sections of the page as negatives."""
    useful = [
        one
        for one in sections
        if len(one.text) >= 150
        and is_english(one.text)
        and one.heading.lower() not in SKIPPED
        and one.text.count("|") < 0.05 * len(one.text)
    ]
    for one in useful:
        if len(one.title) + len(one.heading) < 8:
            continue
        if one.heading.lower() in VAGUE and rng.random() < 0.7:
            continue
        question = (
            wording.heading_question(one.title, one.heading, rng) if one.heading else one.title
        )
        others = [other for other in useful if other is not one]
        near = rng.sample(others, min(2, len(others)))
        yield Pair(
            "docs",
            question,
            _shown(one, rng),
            [_shown(other, rng) for other in near],
            origin,
        )
        if rng.random() < 0.3 and (pair := _detail_pair(one, near, origin, rng)):
            yield pair


def _shown(one: Section, rng: random.Random) -> str:
    title = " > ".join(part for part in (one.title, one.heading) if part)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", one.text)
    return f"{title}\n{text}" if rng.random() < 0.6 else text


def _detail_pair(one: Section, near: list[Section], origin: str, rng: random.Random) -> Pair | None:
    """Ask for one sentence of a section in other words; the section answers without it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", one.text)[:MAX_PASSAGE]
    sentences = re.findall(r"(?<![\w.])[A-Z][^.!?\n|`]{50,200}[.](?=\s)", text)
    if len(sentences) < 3:
        return None
    chosen = rng.choice(sentences)
    rest = text.replace(chosen, "", 1)
    return Pair(
        "detail",
        wording.other_words(chosen, rng, 0.8),
        f"{one.heading or one.title}\n{rest}",
        [_shown(other, rng) for other in near],
        origin,
    )


def linked_pairs(
    pages: dict[str, list[Section]], origin: str, rng: random.Random
) -> Iterator[Pair]:
    """Ask about two sections at once where one names the title of the other's page."""
    titles = {
        sections[0].title.lower(): path
        for path, sections in pages.items()
        if sections and 8 <= len(sections[0].title) <= 60 and " " in sections[0].title
    }
    if not titles:
        return
    names = re.compile(
        "|".join(re.escape(name) for name in sorted(titles, key=len)[::-1]), re.IGNORECASE
    )
    for path, sections in pages.items():
        for one in sections:
            if not one.heading or len(one.text) < 200 or one.heading.lower() in VAGUE | SKIPPED:
                continue
            found = names.search(one.text)
            if found is None or titles[found[0].lower()] == path:
                continue
            targets = [
                other
                for other in pages[titles[found[0].lower()]]
                if len(other.text) >= 200 and other.heading.lower() not in SKIPPED
            ]
            if not targets:
                continue
            other = rng.choice(targets)
            asked = other.heading or other.title
            question = rng.choice(
                (
                    f"{one.title}, {one.heading.lower()}: what about {asked.lower()}?",
                    f"What does {asked} mean for {one.heading.lower()} in {one.title}?",
                    f"{one.heading} and {asked} of what it uses",
                )
            )
            negatives = [_shown(s, rng) for s in sections if s is not one and len(s.text) > 150]
            for positive in (one, other):
                yield Pair("hops", question, _shown(positive, rng), negatives[:2], origin)


CLAIM = re.compile(r"\b(show|find|found|demonstrat|outperform|improv|suggest|reveal|achiev)")
OPENING = re.compile(
    r"^(In (this|our) (paper|work|study),? )?(We|Our (results|experiments|findings)|Experiments?"
    r"( results)?|Results|Experimental results|The results|Finally, we|Moreover, we"
    r"|Furthermore, we)"
    r"[^,]{0,40}?\b(show|find|found|demonstrate|suggest|reveal|observe)s?( that)? "
)


def paper_pairs(volume: str, origin: str, rng: random.Random) -> Iterator[Pair]:
    """Yield title or finding and abstract of each paper of a volume of the ACL Anthology."""
    for paper in re.findall(r"<paper .*?</paper>", volume, re.DOTALL):
        title, abstract = _tag(paper, "title"), _tag(paper, "abstract")
        if len(abstract) < 300 or not is_english(title + abstract):
            continue
        sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", abstract)
        if rng.random() < 0.4 or len(sentences) < 4:
            yield Pair("science", title, abstract, [], origin)
            continue
        claims = [i for i, text in enumerate(sentences) if i and CLAIM.search(text)]
        chosen = rng.choice(claims or [len(sentences) - 1])
        claim = OPENING.sub("", sentences[chosen])
        rest = " ".join(sentences[:chosen] + sentences[chosen + 1 :])
        yield Pair("science", claim[:1].upper() + claim[1:], f"{title}. {rest}", [], origin)


def _tag(text: str, name: str) -> str:
    found = re.search(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
    plain = html.unescape(re.sub(r"<[^>]+>", "", found[1])) if found else ""
    return re.sub(r"\s+", " ", plain).strip()


def meeting_pairs(text: str, origin: str, rng: random.Random) -> Iterator[Pair]:
    """Yield the questions of a QMSum meeting with turns that answer them."""
    meeting = json.loads(text)
    turns = [f"{one['speaker']}: {one['content']}" for one in meeting["meeting_transcripts"]]
    long = [turn for turn in turns if len(turn) > 120]
    for asked in meeting["specific_query_list"]:
        for first, last in asked["relevant_text_span"][:3]:
            span = range(int(first), min(int(last) + 1, len(turns)))
            chosen = [index for index in span if len(turns[index]) > 100]
            for index in rng.sample(chosen, min(3, len(chosen))):
                after = turns[index + 1 : index + 2] if rng.random() < 0.5 else []
                others = [
                    turn for turn in rng.sample(long, min(4, len(long))) if turn != turns[index]
                ]
                passage = "\n\n".join([turns[index], *after])
                yield Pair("talk", asked["query"], passage, others[:2], origin)


def command_pairs(text: str, origin: str, rng: random.Random) -> Iterator[Pair]:
    """Yield what each command of a tldr page does with the command."""
    name = re.match(r"# (.*)", text)
    about = " ".join(re.findall(r"^> (?!More|See)(.*)$", text, re.MULTILINE))
    rows = re.findall(r"^- (.*?):\s*\n\n`(.*?)`", text, re.MULTILINE)
    for asked, command in rows:
        others = [f"{o}:\n{c}" for o, c in rows if c != command]
        yield Pair(
            "docs",
            wording.other_words(re.sub(r"[\[\]{}]", "", asked), rng),
            f"{name[1] if name else ''}\n{about}\n{asked}:\n{command}",
            others[:1],
            origin,
        )
