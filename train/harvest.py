"""Harvest pairs from mirrored repositories: `python -m train.harvest --mirror M --data D`.

Each repository and kind gives one file of JSON lines under `D/harvest`; one that is there is not
made again. Repositories of evaluation sets are refused by name.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from train import articles, facts, filters, git, pairs, prose_pairs, talk
from train.definitions import LANGUAGES, extension_of
from train.pairs import Pair

SOURCES = Path(__file__).parent / "sources.toml"
DOCS = re.compile(r"\.(md|rst|markdown)$", re.IGNORECASE)
NOT_DOCS = re.compile(
    r"change|history|news|release|contribut|licen[cs]e|code_of_conduct|security|authors|maintainers"
    r"|whatsnew|towncrier|(^|/)(zh|ja|ko|fr|de|es|pt|ru|it|pl|tr|uk|vi|fa|id)([-_]\w+)?/",
    re.IGNORECASE,
)
VERSION = re.compile(r"-v(\d+)\.xml$")


@dataclass(frozen=True, slots=True)
class Limits:
    """What is taken from one repository at most."""

    files: int = 900
    pairs: int = 2500
    commits: int = 700
    log: int = 6000
    messages: int = 3000
    length: int = 60_000
    """Characters of a file whose changes are looked at."""
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Repository:
    """A mirrored repository."""

    name: str
    directory: Path
    files: str = ""

    def listed(self, wanted: Callable[[str], bool], rng: random.Random) -> list[tuple[str, str]]:
        rows = [row for row in git.list_tree(self.directory) if wanted(row[1])]
        rng.shuffle(rows)
        return rows

    def matches(self, path: str) -> bool:
        return bool(re.search(self.files, path)) if self.files else True


Maker = Callable[[Repository, Limits, random.Random], Iterator[Pair]]


def harvest_code(repository: Repository, limits: Limits, rng: random.Random) -> Iterator[Pair]:
    def wanted(path: str) -> bool:
        outside = git.VENDORED.search(path) or git.TESTS.search(path)
        return extension_of(path) in LANGUAGES and not outside

    blobs = git.Blobs(repository.directory)
    rows = repository.listed(wanted, rng)[: limits.files]
    texts = blobs.read_many([sha for sha, _ in rows])
    for (_, path), text in zip(rows, texts, strict=True):
        if text and len(text) < 150_000:
            yield from pairs.code_pairs(text, path, repository.name, rng)
    blobs.close()


def harvest_commits(repository: Repository, limits: Limits, rng: random.Random) -> Iterator[Pair]:
    blobs = git.Blobs(repository.directory)
    kept = 0
    for group in _groups(git.iter_commits(repository.directory, tuple(LANGUAGES), limits.log)):
        texts = blobs.read_many([commit.blobs[path] for commit, paths in group for path in paths])
        for commit, paths in group:
            known = {path: next(texts) or "" for path in paths}
            if not all(0 < len(text) < limits.length for text in known.values()):
                continue
            made = list(pairs.commit_pairs(commit, known, repository.name, rng))
            yield from made
            kept += bool(made)
        if kept >= limits.commits:
            break
    blobs.close()


def _groups(commits: Iterator[git.Commit]) -> Iterator[list[tuple[git.Commit, list[str]]]]:
    """Yield the commits that can give pairs, with the paths they changed, some at a time."""
    group: list[tuple[git.Commit, list[str]]] = []
    for commit in commits:
        paths = pairs.source_paths(commit)
        subject, body = pairs.clean_message(commit.message)
        if paths and len(paths) <= 3 and len(subject) + len(body) >= 40:
            group.append((commit, paths))
        if len(group) >= 24:
            yield group
            group = []
    if group:
        yield group


def harvest_docs(repository: Repository, limits: Limits, rng: random.Random) -> Iterator[Pair]:
    def wanted(path: str) -> bool:
        return bool(DOCS.search(path) and not NOT_DOCS.search(path)) and repository.matches(path)

    blobs = git.Blobs(repository.directory)
    pages: dict[str, list[prose_pairs.Section]] = {}
    named = repository.name.partition("/")[2]
    rows = repository.listed(wanted, rng)[: 4 * limits.files]
    texts = blobs.read_many([sha for sha, _ in rows])
    for (_, path), text in zip(rows, texts, strict=True):
        if not text or not pairs.is_english(text[:5000]):
            continue
        split = prose_pairs.rst_sections if path.endswith(".rst") else prose_pairs.markdown_sections
        pages[path] = split(text, f"{named} {Path(path).stem}")
        yield from prose_pairs.section_pairs(pages[path], repository.name, rng)
    blobs.close()
    yield from prose_pairs.linked_pairs(pages, repository.name, rng)


def _by_file(make: Callable[[str, str, random.Random], Iterator[Pair]]) -> Maker:
    def maker(repository: Repository, _: Limits, rng: random.Random) -> Iterator[Pair]:
        blobs = git.Blobs(repository.directory)
        rows = repository.listed(repository.matches, rng)
        for text in blobs.read_many([sha for sha, _ in rows]):
            if text:
                yield from make(text, repository.name, rng)
        blobs.close()

    return maker


def harvest_facts(repository: Repository, _: Limits, rng: random.Random) -> Iterator[Pair]:
    blobs = git.Blobs(repository.directory)
    rows = repository.listed(repository.matches, rng)
    texts = list(blobs.read_many([sha for sha, _ in rows]))
    blobs.close()
    yield from facts.fact_pairs([text for text in texts if text], repository.name, rng)


def harvest_statements(
    repository: Repository, limits: Limits, rng: random.Random
) -> Iterator[Pair]:
    messages = git.list_messages(repository.directory, limits.messages)
    yield from articles.statement_pairs(messages, repository.name, rng)


def harvest_articles(repository: Repository, _: Limits, rng: random.Random) -> Iterator[Pair]:
    newest: dict[str, tuple[int, str, str]] = {}
    for sha, path in repository.listed(repository.matches, rng):
        found = VERSION.search(path)
        named, version = VERSION.sub("", path), int(found[1]) if found else 0
        if named not in newest or version > newest[named][0]:
            newest[named] = version, sha, path
    blobs = git.Blobs(repository.directory)
    for text in blobs.read_many([sha for _, sha, _ in newest.values()]):
        if text:
            yield from articles.article_pairs(text, repository.name, rng)
    blobs.close()


MAKERS: dict[str, Maker] = {
    "code": harvest_code,
    "commits": harvest_commits,
    "docs": harvest_docs,
    "papers": _by_file(prose_pairs.paper_pairs),
    "meetings": _by_file(prose_pairs.meeting_pairs),
    "commands": _by_file(prose_pairs.command_pairs),
    "facts": harvest_facts,
    "articles": harvest_articles,
    "summaries": _by_file(articles.summary_pairs),
    "statements": harvest_statements,
}


def harvest(source: dict[str, Any], kind: str, mirror: Path, data: Path, limits: Limits) -> str:
    """Harvest one kind of pairs of one repository; return what happened."""
    name = str(source["name"])
    directory = git.git_directory(mirror, name)
    if directory is None:
        return f"{name}: not mirrored"
    file = data / "harvest" / f"{name.replace('/', '+')}.{kind}.jsonl"
    if file.exists():
        return f"{name} {kind}: there"
    rng = random.Random(f"{name} {kind}")
    repository = Repository(name, directory, str(source.get("files", "")))
    limit = limits.pairs * (1 if source.get("kinds", [])[0] == "code" else 20)
    started, count = time.monotonic(), 0
    part = file.with_suffix(".part")
    with part.open("w", encoding="utf-8") as out:
        for pair in MAKERS[kind](repository, limits, rng):
            out.write(json.dumps(pair.record()) + "\n")
            count += 1
            if count >= limit or time.monotonic() - started > limits.seconds:
                break
    part.rename(file)
    return f"{name} {kind}: {count} pairs, {time.monotonic() - started:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m train.harvest", description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True, help="folder of owner+name/repo")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("TRAIN_DATA", "train-data"))
    )
    parser.add_argument("--kinds", default=",".join(MAKERS), help="names, with commas")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="at most, a repository and kind"
    )
    parser.add_argument("--share", default="0/1", help="take every N-th repository: K/N")
    asked = parser.parse_args()
    (asked.data / "harvest").mkdir(parents=True, exist_ok=True)
    sources = tomllib.loads(SOURCES.read_text("utf-8"))["repository"]
    names = filters.excluded_names()
    index, count = (int(part) for part in asked.share.split("/"))
    limits = Limits(seconds=asked.seconds)
    for kind in asked.kinds.split(","):
        for source in sources[index::count]:
            if filters.is_excluded(source["name"], names):
                raise SystemExit(f"{source['name']} belongs to an evaluation set")
            if kind in source["kinds"]:
                print(harvest(source, kind, asked.mirror, asked.data, limits), flush=True)
    if index == 0:
        print(talk.write(asked.data / "harvest" / "made.talk.jsonl"), flush=True)


if __name__ == "__main__":
    main()
