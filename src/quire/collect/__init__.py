"""What could help?"""

from quire.collect.linked import LEADS, LINKED, follow
from quire.collect.parallel import Task, at_once, failed
from quire.collect.question import OPTIONS, Question
from quire.collect.search import LEXICAL, RULES, SEMANTIC, SOURCES, UNFOUND, Collected, search
from quire.collect.tree import chains, distance

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
