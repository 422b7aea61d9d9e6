"""Retrieval: collectors that find the chunks which could answer a query."""

from quire.retrieval.axes import follow_axes
from quire.retrieval.collectors import (
    COLLECTORS,
    LEXICAL,
    RULES,
    SEMANTIC,
    TEXT_COLLECTORS,
    TIMED_COLLECTORS,
    VECTOR_COLLECTORS,
    Collected,
    Collector,
    collect,
    failed,
)
from quire.retrieval.concurrent import Task, run_all
from quire.retrieval.hierarchy import ancestors, distance, follow_headings
from quire.retrieval.linked import MAX_LEADS
from quire.retrieval.query import Query, TaskQuery
from quire.retrieval.tasks import PARTIAL_SCORE, TASKS, name_words

__all__ = [
    "COLLECTORS",
    "LEXICAL",
    "MAX_LEADS",
    "PARTIAL_SCORE",
    "RULES",
    "SEMANTIC",
    "TASKS",
    "TEXT_COLLECTORS",
    "TIMED_COLLECTORS",
    "VECTOR_COLLECTORS",
    "Collected",
    "Collector",
    "Query",
    "Task",
    "TaskQuery",
    "ancestors",
    "collect",
    "distance",
    "failed",
    "follow_axes",
    "follow_headings",
    "name_words",
    "run_all",
]
