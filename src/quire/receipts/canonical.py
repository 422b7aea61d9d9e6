"""The one form in which a receipt is written and hashed: plain data as canonical JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from json.encoder import encode_basestring as _quote
from typing import Any

from quire.core import hashing
from quire.core.types import Decision

_PLAIN = (str, int, float, type(None))


def plain(value: Any) -> Any:
    """Return a value as JSON would give it back: dictionaries, lists, texts and numbers."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return {name: plain(item) for name, item in _as_data(value).items()}


def canonical(data: object) -> str:
    """Write data as JSON in its one canonical form."""
    return json.dumps(
        data, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_as_data
    )


def canonical_decisions(decisions: Iterable[Decision]) -> str:
    """Write decisions as `canonical` does; in one go, since there are hundreds of them."""
    return "[" + ",".join([_decision(decision) for decision in decisions]) + "]"


def _decision(decision: Decision) -> str:
    first, last = decision.lines
    signals = ",".join(
        [f"{_quote(name)}:{value}" for name, value in sorted(decision.signals.items())]
    )
    return (
        f'{{"chunk_id":{_quote(decision.chunk_id)},"lines":[{first},{last}],'
        f'"path":{_quote(decision.path)},"reason":{_quote(decision.reason)},'
        f'"score":{decision.score},"signals":{{{signals}}},"step":{_quote(decision.step)},'
        f'"tokens":{decision.tokens},"verdict":{_quote(decision.verdict)}}}'
    )


def data_hash(data: object) -> str:
    """Hash data by its canonical form."""
    return hashing.text_hash(canonical(data)).hex()


def _as_data(value: object) -> dict[str, Any]:
    names = _names(type(value))  # type: ignore[arg-type]  # a type is hashable
    return {name: getattr(value, name) for name in names}


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.metadata.get("recorded", True))
