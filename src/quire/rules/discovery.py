"""Naming convention of context files, and the paths that a reference may mean.

The convention is data. A file whose name ends with one of `CONTEXT_SUFFIXES` is a context with
rules; one named in `PROSE_NAMES` is a context of prose alone. A file under `.quire` is never a
context: it is not indexed, so no access rule could protect it.
"""

from __future__ import annotations

import posixpath

YAML = "yaml"
TOML = "toml"
MARKDOWN = "markdown"
PROSE = "prose"

CONTEXT_SUFFIXES = {
    ".context.yaml": YAML,
    ".context.yml": YAML,
    ".context.toml": TOML,
    ".context.md": MARKDOWN,
}
PROSE_NAMES = ("AGENTS.md", "CLAUDE.md")
GLOBS = tuple(f"**/*{suffix}" for suffix in CONTEXT_SUFFIXES) + tuple(
    f"**/{name}" for name in PROSE_NAMES
)
"""Patterns that match every context file."""


def detect_format(path: str) -> str | None:
    """Return the format of the context file at a path; None: it is not a context file."""
    name = posixpath.basename(path)
    if name in PROSE_NAMES:
        return PROSE
    return next((fmt for suffix, fmt in CONTEXT_SUFFIXES.items() if name.endswith(suffix)), None)


def folder_order(path: str) -> tuple[int, str]:
    """Return the sort key of a context in its folder: those with rules by name, then prose."""
    name = posixpath.basename(path)
    return (1 + PROSE_NAMES.index(name) if name in PROSE_NAMES else 0), path


def candidate_paths(reference: str) -> tuple[str, ...]:
    """Return the paths that a reference may mean; it means the first that exists."""
    return (reference, *(reference + suffix for suffix in CONTEXT_SUFFIXES))


def resolve_path(reference: str, source: str) -> str | None:
    """Return the path from the root that a reference in a file points to; None: outside of it.

    A reference is relative to the file's folder; one that begins with `/`, to the root.
    """
    if "\0" in reference or "\\" in reference:
        return None
    folder = "" if reference.startswith("/") else posixpath.dirname(source)
    path = posixpath.normpath(posixpath.join(folder, reference.lstrip("/")))
    return None if path in {".", ".."} or path.startswith("../") else path
