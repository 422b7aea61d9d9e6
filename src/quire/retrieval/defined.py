"""The defined collector: definitions that the query names.

Whoever asks for `Signer.unsign` means that definition, however often other chunks mention it. A
name counts if it looks like one (`base64_decode`, `TimestampSigner`, `Signer.unsign`, `sign()`), or
if the query also names the file. The more of its qualified name and place the query has, and the
fewer definitions share the name, the higher the score.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from quire.core.globs import Globs
from quire.core.protocols import View
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

_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*(?P<called>\(\))?")
_PATH = re.compile(r"(?<![\w.@+-])[\w.@+-]*+(?:/[\w.@+-]+)+")
_FILE = re.compile(r"(?<![\w-])[\w-]++\.[A-Za-z]{1,5}\b")
_TELLING = re.compile(r"_|[a-z\d][A-Z]|^[A-Z]{2,}[a-z]")
"""Marks a word that is a name: an underscore, or a capital letter inside."""


def collect_defined(view: View, query: Query, depth: int) -> Hits:
    """Find the chunks in which the definitions begin that a query names."""
    text = _PATH.sub(" ", query.text)
    paths = [*_PATH.findall(query.text), *_FILE.findall(text)]
    names = dict(_names(text))
    dotted = frozenset(name for name in names if "." in name)
    by_name: dict[str, bool] = {}
    for name, telling in names.items():
        last = name.rpartition(".")[2]
        by_name[last] = by_name.get(last, False) or telling
    mentions = view.definitions(list(by_name)[:MAX_NAMES])
    sharing = Counter(mention.name for mention in mentions)
    records = {
        record.id: record for record in view.records(sorted({m.record_id for m in mentions}))
    }
    outlines = view.outlines(sorted(records))
    best: dict[str, Hit] = {}
    for mention in mentions:
        record, outline = records.get(mention.record_id), outlines.get(mention.record_id)
        if record is None or outline is None:
            continue
        in_file = any(_is_path_of(path, record.path) for path in paths)
        qualified = _is_qualified(outline, mention, dotted)
        telling = by_name[mention.name] and sharing[mention.name] <= MAX_SHARING
        if not (in_file or qualified or telling):
            continue
        score = BASE_SCORE * (1 + 2 * in_file + 4 * qualified) // sharing[mention.name]
        chunk = _beginning(view, outline, mention)
        if chunk is not None and _passes(view, chunk, query.where):
            hit = Hit(chunk.id, score, chunk.path, chunk.sequence, chunk.start)
            if chunk.id not in best or best[chunk.id].score < score:
                best[chunk.id] = hit
    return Hits(tuple(sorted(best.values(), key=lambda hit: hit.order)[:depth]))


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
    """Tell whether a query has the qualified name of a definition."""
    qualified = outline.entities[mention.entity].qualified
    return "." in qualified and any(f".{name}".endswith(f".{qualified}") for name in dotted)


def _beginning(view: View, outline: Outline, mention: Mention) -> Chunk | None:
    """Return the chunk in which a definition begins."""
    start = outline.entities[mention.entity].start
    chunks = view.chunks_of(mention.record_id)
    return next((chunk for chunk in chunks if chunk.start <= start < chunk.end), None)


def _passes(view: View, chunk: Chunk, where: Filter) -> bool:
    of_kind = not where.kinds or chunk.kind in where.kinds
    at_path = not where.paths or Globs(where.paths).match(chunk.path)
    return of_kind and at_path and hierarchy.is_in_period(view, chunk.record_id, where)
