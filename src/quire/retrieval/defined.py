"""The defined collector: definitions that the query names, and commits by their hash.

Whoever asks for `Signer.unsign` means that definition, however often other chunks mention it. A
name counts if it looks like one (`base64_decode`, `TimestampSigner`, `Signer.unsign`, `sign()`), or
if the query also names the file. The more of its qualified name and place the query has, and the
fewer definitions share the name, the higher the score. What a test defines under the name of
something else stands in for that: it is not meant where the name is defined elsewhere, or by
several tests. A hash, in full or its beginning, means one commit and nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from quire.core.globs import Globs
from quire.core.protocols import View
from quire.core.signatures import ends_with_name
from quire.core.types import Chunk, Filter, Hit, Hits, Mention, Outline
from quire.retrieval import hierarchy
from quire.retrieval.query import Query

DEFINED = "defined"
MAX_NAMES = 24
"""How many names of a query are looked up, the first ones."""
MAX_SHARING = 12
"""A name that more definitions have is looked up only where the query also names the file."""
BASE_SCORE = 1000
"""The score of a definition that shares its name with no other."""

NAMED_SCORE = 8 * BASE_SCORE
"""The score of what a query names without doubt."""
COMMIT = "commit"
ROLE, TEST = "role", "test"
"""What a file is to its project (`ingest/roles.py`)."""
MAX_HASHES = 8
"""How many hashes of a query are looked up, the first ones."""

_HASH = re.compile(r"(?<![\w.-])(?=[a-f]*\d)[0-9a-f]{7,40}(?![\w.-]*\w)", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*(?P<called>\(\))?")
_PATH = re.compile(r"(?<![\w.@+-])[\w.@+-]*+(?:/[\w.@+-]+)+")
_FILE = re.compile(r"(?<![\w-])[\w-]++\.[A-Za-z]{1,5}\b")
_TELLING = re.compile(r"_|[a-z\d][A-Z]|^[A-Z]{2,}[a-z]")
"""Marks a word that is a name: an underscore, or a capital letter inside."""


def collect_defined(view: View, query: Query, depth: int) -> Hits:
    """Find the chunks in which the definitions begin that a query names, and named commits."""
    text = _PATH.sub(" ", query.text)
    paths = [*_PATH.findall(query.text), *_FILE.findall(text)]
    names = dict(_names(text))
    dotted = frozenset(name for name in names if "." in name)
    by_name: dict[str, bool] = {}
    for name, telling in names.items():
        last = name.rpartition(".")[2]
        by_name[last] = by_name.get(last, False) or telling
    mentions = view.definitions(list(by_name)[:MAX_NAMES])
    records = {
        record.id: record for record in view.records(sorted({m.record_id for m in mentions}))
    }
    outlines = view.outlines(sorted(records))
    mentions = [mention for mention in mentions if mention.record_id in outlines.keys() & records]
    qualified = {m for m in mentions if dotted and _is_qualified(outlines[m.record_id], m, dotted)}
    in_file = {
        m for m in mentions if any(_is_path_of(each, records[m.record_id].path) for each in paths)
    }
    tests = {m for m in mentions if records[m.record_id].attrs.get(ROLE) == TEST}
    stand_ins = _stand_ins(mentions, tests, qualified) - in_file
    sharing = Counter(mention.name for mention in mentions if mention not in stand_ins)
    best = {hit.id: hit for hit in _commits(view, query)}
    for mention in mentions:
        telling = by_name[mention.name] and sharing[mention.name] <= MAX_SHARING
        if mention in stand_ins or not (mention in in_file or mention in qualified or telling):
            continue
        factor = 1 + 2 * (mention in in_file) + 4 * (mention in qualified)
        score = BASE_SCORE * factor // sharing[mention.name]
        chunk = _beginning(view, outlines[mention.record_id], mention)
        if chunk is not None and _passes(view, chunk, query.where):
            hit = Hit(chunk.id, score, chunk.path, chunk.sequence, chunk.start)
            if chunk.id not in best or best[chunk.id].score < score:
                best[chunk.id] = hit
    return Hits(tuple(sorted(best.values(), key=lambda hit: hit.order)[:depth]))


def _stand_ins(
    mentions: Collection[Mention], tests: Collection[Mention], qualified: Collection[Mention]
) -> set[Mention]:
    """Return what tests define in the place of something else.

    That is what has the name of a definition outside of tests, or of one in another test. A
    qualified name means what has it, unless something outside of tests has it as well.
    """
    sources = {mention.name for mention in mentions if mention not in tests}
    named = {mention.name for mention in qualified if mention not in tests}
    sharing = Counter(mention.name for mention in mentions)
    return {
        mention
        for mention in tests
        if mention.name in (named if mention in qualified else sources)
        or (mention not in qualified and sharing[mention.name] > 1)
    }


def find_hashes(text: str) -> list[str]:
    """Find the hashes of commits in a text, in full or their beginnings, in lower case."""
    return [*dict.fromkeys(match.lower() for match in _HASH.findall(text))][:MAX_HASHES]


def _commits(view: View, query: Query) -> Iterator[Hit]:
    """Yield the first chunks of the commits whose hashes a query has."""
    if query.where.kinds and COMMIT not in query.where.kinds:
        return
    for name in find_hashes(query.text):
        for record in view.listing(Filter(kinds=(COMMIT,), paths=(f"/.git/commit/{name}*",))):
            for chunk in view.chunks_of(record.id)[:1]:
                if _passes(view, chunk, query.where):
                    yield Hit(chunk.id, NAMED_SCORE, chunk.path, chunk.sequence, chunk.start)


def _names(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the names in a text, and whether each could be nothing but a name."""
    for match in _NAME.finditer(text):
        name = match[0].removesuffix("()").replace("::", ".")
        marked = match["called"] is not None or text[match.start() - 1 : match.start()] == "`"
        yield name, marked or "." in name or _TELLING.search(name) is not None


def _is_path_of(named: str, path: str) -> bool:
    """Tell whether a query names a path, by all of it or by its end."""
    return f"/{path}".endswith(f"/{named.removeprefix('./').lstrip('/')}")


def _is_qualified(outline: Outline, mention: Mention, dotted: Collection[str]) -> bool:
    """Tell whether a query has the qualified name of a definition, `Reply.send` or `reply.send`."""
    qualified = outline.entities[mention.entity].qualified
    return "." in qualified and any(ends_with_name(name, qualified) for name in dotted)


def _beginning(view: View, outline: Outline, mention: Mention) -> Chunk | None:
    """Return the chunk in which a definition begins."""
    start = outline.entities[mention.entity].start
    chunks = view.chunks_of(mention.record_id)
    return next((chunk for chunk in chunks if chunk.start <= start < chunk.end), None)


def _passes(view: View, chunk: Chunk, where: Filter) -> bool:
    of_kind = not where.kinds or chunk.kind in where.kinds
    at_path = not where.paths or Globs(where.paths).match(chunk.path)
    return of_kind and at_path and hierarchy.passes_record(view, chunk.record_id, where)
