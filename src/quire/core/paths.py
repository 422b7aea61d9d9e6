"""Paths of a space: relative to its root, with forward slashes on every system."""

from __future__ import annotations

import re

_PATH = re.compile(r"[\w./\\@+-]+")
"""A word that may be a path or the name of a file."""


def is_under(path: str, folder: str) -> bool:
    """Tell whether a path of the space is a folder (or file) or is below it."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def is_named(query: str, path: str) -> bool:
    """Tell whether a query names a file: by its path, by the end of it, or by its full name.

    A name without an ending, such as `Makefile`, may be a word of its own: it counts with a folder.
    """
    return any(_names(word.group(), path) for word in _PATH.finditer(query)) or _spaced(query, path)


def without_path(query: str, path: str) -> str:
    """Return a query without the words that name a file."""
    if _spaced(query, path):
        query = query.replace(path, " ")
    return _PATH.sub(lambda word: " " if _names(word.group(), path) else word.group(), query)


def _names(word: str, path: str) -> bool:
    word = word.replace("\\", "/").rstrip(".,-").removeprefix("./")
    if word == path or word.endswith(f"/{path}"):
        return True
    return path.endswith(f"/{word}") and ("/" in word or "." in word.strip("."))


def _spaced(query: str, path: str) -> bool:
    return " " in path and f" {path} " in f" {query} "
