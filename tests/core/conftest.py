"""Fixtures shared with the tests of the store."""

from tests.store.conftest import quick_path

__all__ = ["quick_path"]
