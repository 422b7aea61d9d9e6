"""What could help?"""

from quire.collect.search import Collected, search

__all__ = ["Collected", "search"]
