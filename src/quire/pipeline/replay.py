"""Run a request again with what an earlier run recorded: vectors, verdicts, summaries, failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quire import receipts, tokens
from quire.core.types import Context, Failure, Recorded, Request, Verdict, Viewer
from quire.errors import InputError
from quire.pipeline import recipe as recipes
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved


def resolve_receipt(receipt: Mapping[str, Any], viewer: Viewer | str | None) -> ResolvedRequest:
    """Return the request of a receipt of any version, with what its run recorded."""
    data = receipts.read(receipt)
    request = Request(**{name: _frozen(value) for name, value in data["request"].items()})
    return ResolvedRequest(
        request=request,
        recipe=recipes.from_data(data["recipe"]),
        counter=tokens.open_counter(data["counter"]),
        viewer=viewer,
        allow_empty=True,
        recorded=_recorded(data, request.query),
    )


def differences(receipt: Mapping[str, Any], context: Context) -> list[str]:
    """Describe what differs between a receipt and the context of its request, run again.

    That an older pipeline made the same context is no difference.
    """
    changes = receipts.diff(receipt, context.receipt)
    older = receipts.read(receipt)["pipeline"] < context.receipt["pipeline"]
    return [] if older and len(changes) == 1 else changes


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
            failed=tuple(Failure(**failure) for failure in data["failed"]),
        )
    except ValueError as error:
        raise InputError(f"its query_vector cannot be read: {error}", place="receipt") from error


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
