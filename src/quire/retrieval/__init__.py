"""Retrieval: collectors that find the chunks which could answer a query."""

from quire.retrieval.collectors import (
    COLLECTORS,
    LEXICAL,
    RULES,
    SEMANTIC,
    TIMED_COLLECTORS,
    VECTOR_COLLECTORS,
    Collected,
    Collector,
    collect,
    failed,
)
from quire.retrieval.concurrent import Task, run_all
from quire.retrieval.hierarchy import ancestors, distance
from quire.retrieval.linked import MAX_LEADS
from quire.retrieval.query import Query

__all__ = [
    "COLLECTORS",
    "LEXICAL",
    "MAX_LEADS",
    "RULES",
    "SEMANTIC",
    "TIMED_COLLECTORS",
    "VECTOR_COLLECTORS",
    "Collected",
    "Collector",
    "Query",
    "Task",
    "ancestors",
    "collect",
    "distance",
    "failed",
    "run_all",
]
