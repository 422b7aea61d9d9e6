"""What could help?"""

from quire.collect.linked import LEADS, LINKED, follow
from quire.collect.parallel import Task, at_once
from quire.collect.search import LEXICAL, SEMANTIC, Collected, search

__all__ = [
    "LEADS",
    "LEXICAL",
    "LINKED",
    "SEMANTIC",
    "Collected",
    "Task",
    "at_once",
    "follow",
    "search",
]
