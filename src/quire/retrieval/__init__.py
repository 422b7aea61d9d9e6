"""What could help?"""

from quire.retrieval.collectors import LEXICAL, RULES, SEMANTIC, SOURCES, UNFOUND, Collected, search
from quire.retrieval.concurrent import Task, at_once, failed
from quire.retrieval.hierarchy import chains, distance
from quire.retrieval.linked import LEADS, LINKED, follow
from quire.retrieval.query import OPTIONS, Question

__all__ = [
    "LEADS",
    "LEXICAL",
    "LINKED",
    "OPTIONS",
    "RULES",
    "SEMANTIC",
    "SOURCES",
    "UNFOUND",
    "Collected",
    "Question",
    "Task",
    "at_once",
    "chains",
    "distance",
    "failed",
    "follow",
    "search",
]
