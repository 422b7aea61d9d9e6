"""Paths of a space: relative to its root, with forward slashes on every system."""

from __future__ import annotations


def is_under(path: str, folder: str) -> bool:
    """Tell whether a path of the space is a folder (or file) or is below it."""
    return not folder or path == folder or path.startswith(f"{folder}/")
