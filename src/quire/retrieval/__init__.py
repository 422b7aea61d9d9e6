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
from quire.retrieval.defined import DEFINED, NAMED_SCORE, find_hashes
from quire.retrieval.hierarchy import (
    MAX_LEVELS,
    ancestors,
    descendants,
    distance,
    drop_headings,
    follow_headings,
    follow_lead_ins,
)
from quire.retrieval.linked import MAX_LEADS
from quire.retrieval.plugged import collector_names, get_collector
from quire.retrieval.query import Query, TaskQuery
from quire.retrieval.tasks import PARTIAL_SCORE, TASKS, find_tasks, name_words

__all__ = [
    "COLLECTORS",
    "DEFINED",
    "LEXICAL",
    "MAX_LEADS",
    "MAX_LEVELS",
    "NAMED_SCORE",
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
    "collector_names",
    "descendants",
    "distance",
    "drop_headings",
    "failed",
    "find_hashes",
    "find_tasks",
    "follow_axes",
    "follow_headings",
    "follow_lead_ins",
    "get_collector",
    "name_words",
    "run_all",
]
