"""Which files are contexts, and whom does a reference mean?

The convention is data: a file whose name ends in one of `ENDINGS` is a context with rules; one
whose name is in `PLAIN` is a context of prose alone. What stands under `.quire` is none: it is not
indexed, so no access rule could keep anyone from reading it.
"""

from __future__ import annotations

import posixpath

YAML = "yaml"
TOML = "toml"
MARKDOWN = "markdown"
PROSE = "prose"

ENDINGS = {
    ".context.yaml": YAML,
    ".context.yml": YAML,
    ".context.toml": TOML,
    ".context.md": MARKDOWN,
}
PLAIN = ("AGENTS.md", "CLAUDE.md")


def form_of(path: str) -> str | None:
    """Tell in which form a path's context is written; None: it is no context."""
    name = posixpath.basename(path)
    if name in PLAIN:
        return PROSE
    return next((form for ending, form in ENDINGS.items() if name.endswith(ending)), None)


def order(path: str) -> tuple[int, str]:
    """Put the contexts of one folder in order: those with rules by their names, then prose."""
    name = posixpath.basename(path)
    return (1 + PLAIN.index(name) if name in PLAIN else 0), path


def candidates(reference: str) -> tuple[str, ...]:
    """Name the files that a reference may mean, the first that is there being meant."""
    return (reference, *(reference + ending for ending in ENDINGS))


def place_of(reference: str, source: str) -> str | None:
    """Give the path from the root that a file's reference leads to; None: it leads out of it.

    A reference is relative to the file's folder; one that begins with `/`, to the root.
    """
    if "\0" in reference or "\\" in reference:
        return None
    rooted = reference.startswith("/")
    folder = "" if rooted else posixpath.dirname(source)
    path = posixpath.normpath(posixpath.join(folder, reference.lstrip("/")))
    return None if path in {".", ".."} or path.startswith("../") else path
