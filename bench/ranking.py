"""What do scoring and packing cost, beside a plain search?

For each question one after the other, so that all meet the same moments of a busy machine: the two
searches with their hits fused, what the default gathers (words nearby, names followed, chunks), and
all of it up to the text of the context; and that without the gathering. Neither the model nor the
receipt is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from bench import assemble, stores
from bench.fresh import MOST, SHAPE, WARM, Fresh
from bench.question_model import QuestionModel
from bench.report import Table, clocked, times
from quire import ranking
from quire.core.protocols import View
from quire.core.types import NO_FILTER, OWNER, Context, RankSpec, Recorded, SourceSpec
from quire.engine import Quire
from quire.pipeline import steps
from quire.pipeline.draft import start_draft
from quire.pipeline.query_vectors import QueryVectors
from quire.pipeline.request import ResolvedRequest, resolve
from quire.pipeline.retrieve import Retrieved, retrieve

PLAIN = RankSpec(fusion="rrf", reach=0)
SEARCHED = "plain search: words and meaning, fused by place"
GATHERED = "what the default gathers"
PACKED = "gathered, scored and packed"
ALONE = "scored and packed, what was gathered at hand"


def tables(sizes: Sequence[int], asked: int) -> Iterator[Table]:
    """Time the ways to an answer on made-up stores of each size."""
    for size in sizes:
        fresh = Fresh()
        model = QuestionModel(fresh.all)
        path, _ = stores.ours(size)
        with assemble.opened(path, model) as quire:
            yield _table(quire, model, fresh, size, asked)
        model.close()


def _table(quire: Quire, model: QuestionModel, fresh: Fresh, size: int, asked: int) -> Table:
    many = min(assemble.PER_ASKED * asked, MOST)
    spent: dict[str, tuple[list[float], list[float]]] = {
        name: ([], []) for name in (SEARCHED, GATHERED, PACKED, ALONE)
    }
    for number, question in enumerate(fresh.take(WARM + many)):
        for name, call in _ways(quire, model, question).items():
            seconds, cpu = clocked([call])
            if number >= WARM:
                spent[name][0].extend(seconds)
                spent[name][1].extend(cpu)
    table = Table(
        f"scoring and packing among {size:,} chunks",
        ("what", "p50 ms", "p95", "cpu"),
        notes=[f"{many} questions ({SHAPE}), their vectors at hand", assemble.FILLED],
    )
    for name, (seconds, cpu) in spent.items():
        found = times(seconds, cpu)
        table.add(name, found.p50, found.p95, found.cpu)
    return table


def _ways(quire: Quire, model: QuestionModel, question: str) -> dict[str, Callable[[], object]]:
    vector = model.embed_query(question)
    asked = resolve(question, {"recipe": assemble.RECIPE})
    known = replace(asked, recorded=Recorded({question: vector}, model.model))
    with quire.store.view(OWNER) as view:
        gathered = _gathered(known, view)
    return {
        SEARCHED: partial(_within, quire, partial(_searched, question, vector)),
        GATHERED: partial(_within, quire, partial(_gathered, known)),
        PACKED: partial(_within, quire, partial(_packed, known)),
        ALONE: partial(_assembled, known, gathered),
    }


def _within(quire: Quire, act: Callable[[View], object]) -> None:
    with quire.store.view(OWNER) as view:
        act(view)


def _searched(question: str, vector: bytes, view: View) -> None:
    depth = assemble.DEPTH
    found = {
        "lexical": view.lexical(question, depth, NO_FILTER),
        "semantic": view.semantic(vector, depth, NO_FILTER),
    }
    best = ranking.fuse(found, dict.fromkeys(found, SourceSpec()), PLAIN)[:depth]
    assert view.chunks([one.chunk_id for one in best]), "something was found"


def _gathered(asked: ResolvedRequest, view: View) -> Retrieved:
    never = QueryVectors(lambda: None, wanted=lambda: True)
    return retrieve(view, asked, never)


def _packed(asked: ResolvedRequest, view: View) -> Context:
    return _assembled(asked, _gathered(asked, view))


def _assembled(asked: ResolvedRequest, gathered: Retrieved) -> Context:
    made = steps.assemble(start_draft(asked, gathered), gathered.failed, gathered.notes)
    assert made.sources, "something fits"
    assert not made.failed, made.failed
    return made
