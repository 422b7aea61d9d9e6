"""Run a request again with what an earlier run recorded: vectors, verdicts, summaries, failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from quire import receipts
from quire.core.protocols import Counter, View
from quire.core.types import Context, Coverage, Failure, Recorded, Request, Verdict, Viewer
from quire.errors import InputError
from quire.pipeline import recipe as recipes
from quire.pipeline.plugged_format import FORMAT
from quire.pipeline.query_vectors import QueryVectors
from quire.pipeline.rebuild import rebuild
from quire.pipeline.request import ResolvedRequest, check_query, open_counter
from quire.pipeline.rerank import RERANKER
from quire.pipeline.retrieve import Retrieved
from quire.pipeline.summarize import WRITER
from quire.pipeline.validate import check
from quire.receipts import StoreEvidence
from quire.rules.evaluator import JUDGE, RuleEvaluator
from quire.system.entry_points import get_plugin

MODELS = (JUDGE, WRITER, RERANKER, FORMAT)
"""The sources of failures of models, which are not asked again unless that is wanted."""
ROUNDING = 1
"""By how much a number of a vector may differ between two processors."""


def resolve_receipt(
    receipt: Mapping[str, Any],
    viewer: Viewer | str | None,
    *,
    keep_failures: bool = True,
    own_counter: Counter | None = None,
) -> ResolvedRequest:
    """Return the request of a receipt of any version, with what its run recorded.

    Unless failures are kept, the sources that failed are asked again. That a model gave no verdict
    or no summary is kept in any case, as its verdicts and summaries are.
    """
    data = receipts.read(receipt)
    if not keep_failures:
        of_models = [item for item in data["failed"] if item["source"] in MODELS]
        data = {**data, "failed": of_models}
    _require_plugins(data["plugins"])
    recipe = recipes.from_data(data["recipe"])
    check(recipe)
    request = Request(**{name: _frozen(value) for name, value in data["request"].items()})
    check_query(request.query, "this receipt was not written by Quire")
    return ResolvedRequest(
        request=request,
        recipe=recipe,
        counter=open_counter(data["counter"], own_counter),
        viewer=viewer,
        allow_empty=True,
        recorded=_recorded(data, request.query),
    )


def _require_plugins(plugins: Mapping[str, str]) -> None:
    """Refuse a receipt that plug-ins made which are not here; their versions are compared later."""
    for key, package in plugins.items():
        group, _, name = key.partition(":")
        if get_plugin(group, name) is None:
            raise InputError(
                f"the plug-in {key} of {package} made this context, and is not here",
                place="receipt",
                value=key,
                hint="install it (`quire plugins` lists what is installed)",
            )


def differences(receipt: Mapping[str, Any], context: Context) -> list[str]:
    """Describe what differs between a receipt and the context of its request, run again.

    That an older pipeline made the same context is no difference.
    """
    changes = receipts.diff(receipt, context.receipt)
    older = receipts.read(receipt)["pipeline"] < context.receipt["pipeline"]
    return [] if older and len(changes) == 1 else changes


def compare_vectors(
    request: ResolvedRequest, coverage: Coverage, vectors: QueryVectors
) -> tuple[list[str], list[str]]:
    """Make the recorded vectors of queries again; name those that differ, and those not made.

    Processors round differently, so each number may differ by one. Vectors of another model than
    the store's cannot be made again here; that the model differs is said anyway.
    """
    recorded = request.recorded
    differing: list[str] = []
    taken: list[str] = []
    if recorded is None or recorded.embedder != coverage.model:
        return differing, taken
    for query, vector in sorted(recorded.vectors.items()):
        make, _ = vectors.plan(query, coverage)
        try:
            again = b"" if make is None else make()
        except Exception as error:  # noqa: BLE001 - whatever it raises, it is said
            taken.append(f"the vector of {query!r:.60} is taken from the receipt: {error}")
            continue
        if not _is_near(vector, again):
            differing.append(f"the vector of {query!r:.60} is not the one that its model makes")
    return differing, taken


def _is_near(vector: bytes, other: bytes) -> bool:
    if len(vector) != len(other):
        return False
    difference = np.frombuffer(vector, np.int8).astype(np.int64) - np.frombuffer(other, np.int8)
    return not len(difference) or int(np.abs(difference).max()) <= ROUNDING


def taken_from_receipt(receipt: Mapping[str, Any]) -> list[str]:
    """Name what a replay takes from the receipt instead of computing it again."""
    data = receipts.read(receipt)
    notes = [
        f"{len(data[of])} {of} of the {name} {data[name]!r} are taken from the receipt; "
        "`ask_models` asks again"
        for name, of in (("judge", "verdicts"), ("writer", "summaries"), ("reranker", "reranks"))
        if data[of]
    ]
    failed = [item["source"] for item in data["failed"] if item["source"] in MODELS]
    return notes + [f"the failure of the {name} is taken from the receipt" for name in failed]


def gather_evidence(
    view: View,
    receipt: Mapping[str, Any],
    evaluator: RuleEvaluator | None,
    own_counter: Counter | None = None,
) -> StoreEvidence:
    """Return what a viewer's store says about a receipt.

    Its function reads the view, which must be open when it is called.
    """
    data = receipts.read(receipt)
    decisions = receipts.all_decisions(data)
    ids = {decision["chunk_id"] for decision in decisions} | {*receipts.chunk_ids(data)}
    roots = view.roots()
    chunks = {chunk.id: chunk for chunk in view.chunks(sorted(ids))}
    return StoreEvidence(
        chunks=chunks,
        damaged=view.damaged(),
        state=roots.state,
        content=roots.content,
        viewer_hash=receipts.viewer_hash(view.viewer),
        rebuild=lambda data, chunks: rebuild(
            view,
            resolve_receipt(receipt, view.viewer, own_counter=own_counter),
            data,
            chunks,
            evaluator,
        ),
    )


def record(retrieved: Retrieved) -> Recorded:
    """Return what a run recorded, so that it can be run again with another recipe."""
    return Recorded(
        vectors=retrieved.vectors,
        embedder=retrieved.coverage.model,
        failed=retrieved.failed,
        judge=retrieved.active_rules.judge,
        verdicts=retrieved.active_rules.evaluation.verdicts,
        writer=retrieved.writer,
        summaries=retrieved.summaries,
        reranker=retrieved.reranker,
        reranks=retrieved.reranks,
    )


def _recorded(data: Mapping[str, Any], query: str) -> Recorded:
    vectors = {query: data["query_vector"], **data["section_vectors"]}
    try:
        return Recorded(
            vectors={
                text: bytes.fromhex(vector)
                for text, vector in vectors.items()
                if vector is not None
            },
            embedder=data["embedder"],
            judge=data["judge"],
            verdicts={key: Verdict(**verdict) for key, verdict in data["verdicts"].items()},
            writer=data["writer"],
            summaries=data["summaries"],
            reranker=data["reranker"],
            reranks=data["reranks"],
            failed=tuple(Failure(**failure) for failure in data["failed"]),
        )
    except ValueError as error:
        raise InputError(f"its query_vector cannot be read: {error}", place="receipt") from error


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
