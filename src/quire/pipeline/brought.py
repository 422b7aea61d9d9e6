"""Results that the caller brought: what a store would have retrieved, made of a list.

Nothing is searched, and nobody's right to read is checked: whoever brings a text answers for it.
From ranking on the pipeline is the same. The recipe of such a context has one source, `brought`,
by which its receipt says where the texts come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

from quire import receipts
from quire.core import hashing, merkle
from quire.core.types import (
    BROUGHT,
    WHOLE,
    Chunk,
    Coverage,
    Entity,
    FusionStats,
    Hit,
    Hits,
    IngestSettings,
    Outline,
    Proof,
    Recipe,
    Record,
    Recorded,
    RetrievalResult,
    Roots,
    SourceSpec,
    category,
)
from quire.errors import InputError
from quire.ingest.code import read as read_code
from quire.ingest.entities import build_outline
from quire.ingest.formats import detect_format
from quire.ingest.types import SourceFile
from quire.pipeline.features import CandidateFeatures
from quire.pipeline.intents import ParsedQuery
from quire.pipeline.read_results import PlacedResult, place_results, read_results
from quire.pipeline.rebuild import rebuild_from
from quire.pipeline.replay import resolve_receipt
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved
from quire.ranking import CERTAIN, FeatureTable
from quire.ranking.fusion import SUM_SCALE
from quire.receipts import StoreEvidence
from quire.rules.evaluator import ActiveRules

NO_VIEWER = hashing.digest("viewer", "none").hex()
"""Stands in a receipt for the hash of a viewer: there was none."""
MAX_RESULTS = 10_000
CODE = "code"
_RECORD_KINDS = {"code": "code", "documentation": "document", "conversation": "conversation"}
"""The kind of a record, by the category of the entity that a result is."""


@dataclass(frozen=True, slots=True)
class Brought:
    """Results in the form in which the pipeline reads them."""

    chunks: Mapping[str, Chunk]
    records: Mapping[str, Record]
    outlines: Mapping[str, Outline]
    hits: Hits
    similarity: Mapping[str, int]
    origins: Mapping[str, RetrievalResult]
    """The results, by the chunks that they became."""
    roots: Roots
    tree: merkle.Tree

    def prove(self, chunk_id: str) -> Proof:
        """Prove that a chunk is one of those that were brought."""
        return self.tree.prove(chunk_id)


def bring(results: Iterable[Any]) -> Brought:
    """Check results and give each its place; the order in which they come does not matter."""
    items = list(islice(results, MAX_RESULTS + 1))
    if len(items) > MAX_RESULTS:
        raise InputError(
            f"more than {MAX_RESULTS} results", field="results", hint="bring the best ones only"
        )
    placed = place_results(read_results(items))
    records: dict[str, Record] = {}
    chunks: dict[str, Chunk] = {}
    origins: dict[str, RetrievalResult] = {}
    given: dict[str, list[Entity]] = {}
    found: dict[str, list[Entity]] = {}
    for item in placed:
        record = _record(item.result)
        known = records.setdefault(record.id, record)
        if (record.modified or 0) > (known.modified or 0):
            records[record.id] = record
        chunk = _chunk(record, item)
        chunks[chunk.id] = chunk
        origins[chunk.id] = item.result
        named = found.setdefault(record.id, [])
        if item.result.name or item.result.summary:
            given.setdefault(record.id, []).append(_entity(chunk, item.result))
            named.append(given[record.id][-1])
        elif record.kind == CODE:
            named += _definitions(record, chunk, len(named))
    tree = merkle.Tree(
        [
            *(merkle.chunk_leaf(chunk) for chunk in chunks.values()),
            # No audience: nobody said who may read it. Only what was brought counts: which
            # definitions are found in code depends on the grammars that are installed.
            *(
                merkle.record_leaf(each, None, _outline(each, given.get(each.id, ())))
                for each in records.values()
            ),
        ]
    )
    content = merkle.view_root([tree.root])
    return Brought(
        chunks=chunks,
        records=records,
        outlines={
            name: _outline(records[name], entities)
            for name, entities in found.items()
            if entities or records[name].kind == CODE
        },
        hits=_hits(chunks, origins),
        similarity={
            name: round(result.semantic_score * CERTAIN)
            for name, result in origins.items()
            if result.semantic_score is not None
        },
        origins=origins,
        roots=Roots(content.hex(), merkle.state_root(content, (), None).hex()),
        tree=tree,
    )


def with_brought(recipe: Recipe) -> Recipe:
    """Return a recipe that takes what is brought in place of its sources."""
    if recipe.sections:
        raise InputError(
            f"the recipe {recipe.name!r} has sections, which are searched for in a store",
            field="recipe",
            value=recipe.name,
            hint="use one without sections, such as 'documents' or 'entities'",
        )
    # Neither the feedback of a store nor its calibration says anything about these.
    rank = replace(recipe.rank, feedback=0, floor=0)
    return replace(recipe, sources={BROUGHT: SourceSpec(k=MAX_RESULTS)}, rank=rank)


def as_retrieved(brought: Brought, resolved: ResolvedRequest) -> Retrieved:
    """Return what was brought as if it had been retrieved."""
    recorded = resolved.recorded or Recorded({}, None)
    dates = [each.modified for each in brought.records.values() if each.modified is not None]
    as_of = resolved.request.as_of
    newest = max(dates, default=None) if as_of is None else as_of
    return Retrieved(
        coverage=Coverage(len(brought.chunks), 0, None),
        vectors={},
        hits={BROUGHT: brought.hits},
        fusion_stats=FusionStats(),
        chunks=brought.chunks,
        records=brought.records,
        outlines=brought.outlines,
        features=CandidateFeatures(FeatureTable(as_of=newest, similarity=brought.similarity)),
        authors={},
        failed=(),
        notes=(),
        sections={},
        active_rules=ActiveRules(),
        parsed=ParsedQuery(resolved.request.query),
        writer=recorded.writer,
        summaries=recorded.summaries,
    )


def state_fields(brought: Brought, counter: str) -> dict[str, Any]:
    """Return the fields of a receipt about what was read, by nobody in particular."""
    return {
        "view_root": brought.roots.state,
        "content_root": brought.roots.content,
        "viewer_hash": NO_VIEWER,
        "counter": counter,
        "embedder": None,
        "section_vectors": {},
        **receipts.verdict_fields("", {}),
        **receipts.summary_fields("", {}),
    }


def evidence(receipt: Mapping[str, Any], results: Iterable[Any]) -> StoreEvidence:
    """Return what results say about the receipt of a context that was made of them."""
    brought = bring(results)
    resolved = resolve_receipt(receipt, None)
    return StoreEvidence(
        chunks=brought.chunks,
        state=brought.roots.state,
        content=brought.roots.content,
        viewer_hash=NO_VIEWER,
        rebuild=lambda data, chunks: rebuild_from(
            as_retrieved(brought, resolved), resolved, data, chunks
        ),
        name="the results",
        moved="the results: they are not the same ones that the receipt was made from",
        missing="this piece is not among these results; bring those that it was made from",
    )


def _record(result: RetrievalResult) -> Record:
    format_, language = detect_format(result.path)
    kind = _RECORD_KINDS.get(category(result.kind), result.kind) or format_.kind
    return Record(
        id=hashing.record_id(kind, result.path),
        kind=kind,
        path=result.path,
        title=result.path.rpartition("/")[2] or result.path,
        modified=result.modified if isinstance(result.modified, int) else None,
        attrs={"language": result.language or language},
    )


def _chunk(record: Record, item: PlacedResult) -> Chunk:
    result = item.result
    last = result.line + result.text.rstrip("\n").count("\n") if result.line else 0
    return Chunk(
        id=hashing.chunk_id(record.id, item.sequence, item.text),
        record_id=record.id,
        kind=record.kind,
        path=record.path,
        title=result.title,
        sequence=item.sequence,
        start=item.start,
        end=item.start + len(item.text.encode()),
        lines=(result.line, last),
        text=item.text,
    )


def _entity(chunk: Chunk, result: RetrievalResult) -> Entity:
    name = result.name or result.title or result.path.rpartition("/")[2] or result.path
    return Entity(
        kind=result.kind or chunk.kind,
        name=name.rpartition(".")[2] or name,
        qualified=name,
        start=chunk.start,
        end=chunk.end,
        lines=chunk.lines,
        parent=WHOLE,
        summary=result.summary,
    )


def _definitions(record: Record, chunk: Chunk, before: int) -> list[Entity]:
    """Return the definitions in a chunk of code, behind so many entities of its record."""
    language = str(record.attrs["language"])
    parsed = read_code(SourceFile(chunk.text, b"", language, record.path), IngestSettings())
    first = chunk.lines[0]
    return [
        replace(
            entity,
            start=entity.start + chunk.start,
            end=entity.end + chunk.start,
            lines=(entity.lines[0] + first - 1, entity.lines[1] + first - 1) if first else (0, 0),
            parent=entity.parent + before if entity.parent else WHOLE,
        )
        for entity in build_outline(record, parsed).entities[1:]
    ]


def _outline(record: Record, entities: Sequence[Entity]) -> Outline:
    end = max((entity.end for entity in entities), default=0)
    whole = Entity(
        kind="file" if record.kind == "code" else record.kind,
        name=record.title,
        qualified=record.title,
        start=0,
        end=end + 1,  # larger than any entity in it
        lines=(0, 0),
        attrs={"language": record.attrs["language"]},
    )
    return Outline((whole, *entities))


def _hits(chunks: Mapping[str, Chunk], origins: Mapping[str, RetrievalResult]) -> Hits:
    scores = _whole_scores({result.score for result in origins.values()})
    hits = [
        Hit(name, scores[origins[name].score], chunk.path, chunk.sequence, chunk.start)
        for name, chunk in chunks.items()
    ]
    return Hits(tuple(sorted(hits, key=lambda hit: hit.order)))


def _whole_scores(scores: set[float]) -> dict[float, int]:
    """Return scores as whole numbers, as parts of a million of the best one, in the same order.

    Different scores stay different, however near they are. Where some are negative, they have no
    zero of their own: then they are counted from the lowest.
    """
    ordered = sorted(scores, reverse=True)
    exact = [Fraction(score) for score in ordered]  # differences of floats may overflow
    zero = min((Fraction(0), *exact))
    best = max(exact, default=zero) - zero
    if best == 0:
        return dict.fromkeys(ordered, 0)
    whole = [round((score - zero) * SUM_SCALE / best) for score in exact]
    if len({*whole}) < len(whole):  # room for as many steps of one as there may have to be
        room = len(whole)
        whole = [number * (SUM_SCALE - room) // SUM_SCALE + room for number in whole]
        for place in range(1, len(whole)):
            whole[place] = min(whole[place], whole[place - 1] - 1)
    return dict(zip(ordered, whole, strict=True))
