"""Bring the pages and files of the repository that lie outside `docs/` into the site.

Pages link to each other as they lie in the repository, so that the links work there. MkDocs knows
the folder `docs/` alone: what lies outside is added here under a name of its own, and links to it
are rewritten. `tests/supply/test_site.py` checks the links without building anything.
"""  # noqa: INP001 - a module beside the documents, loaded by MkDocs

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = "docs"
PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "model/README.md": "project/model.md",
}
"""Pages of the repository outside `docs/`, and where they stand on the site."""
FILES = {
    "deploy/compose.yaml": "files/compose.yaml",
    "deploy/compose.postgresql.yaml": "files/compose.postgresql.yaml",
    "deploy/quire.service": "files/quire.service",
    "src/quire/rules/context.schema.json": "files/context.schema.json",
    **{
        f"examples/{file.name}": f"files/{file.name}"
        for file in sorted((ROOT / "examples").glob("*.py"))
    },
}
"""Likewise for files that are not pages."""
FOLDERS = {"docs/plugin-template": "plugin-template/README.md"}
"""The page that a link to a folder leads to."""

BOOSTS = (
    ("index.md", 1.5),
    ("tutorial.md", 2),
    ("how-to/", 2),
    ("guide/", 1.2),
    ("operate.md", 2),
    ("explanation/", 1.5),
    ("stability.md", 2),
    ("comparison.md", 1.5),
    ("inspector.md", 1.5),
    ("frameworks.md", 2),
    ("project/security.md", 2),
    ("reference/settings.md", 1.5),
    ("reference/python.md", 0.002),
    ("project/architecture.md", 0.3),
    ("project/changelog.md", 0.2),
    ("project/contributing.md", 0.3),
    ("history/", 0.1),
    ("licenses.md", 0.2),
)
"""What a page counts in the search of the site, by how its path begins: tasks before details.

Every field of every class is a title of the Python reference, so it counts hardly anything: names
that stand nowhere else are still found.
"""

_LINK = re.compile(r"(?<!\\)\]\(([^()\s#:]+)(#[^()\s]*)?\)")
_MARK = re.compile(r"^(```(?:console|python)\n)# runs[^\n]*\n", re.MULTILINE)
_EXITS = re.compile(r"^(\$ .*?)  # exits \d+$", re.MULTILINE)
_ABOVE = re.compile(r"^\$ .*?  # the (?:file|lines) above\n", re.MULTILINE)
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def source_of(page: str) -> str:
    """Return the path in the repository of a page of the site."""
    outside = {on_site: source for source, on_site in PAGES.items()}
    return outside.get(page, f"{DOCS}/{page}")


def place_of(source: str) -> str | None:
    """Return where a file of the repository stands on the site; None: it does not."""
    moved = PAGES.get(source) or FILES.get(source) or FOLDERS.get(source)
    if moved:
        return moved
    return source.removeprefix(f"{DOCS}/") if source.startswith(f"{DOCS}/") else None


def targets(text: str) -> list[tuple[str, str]]:
    """Return the relative links of a page: the path as it is written, and the anchor."""
    prose = _CODE.sub("", text)
    return [(match[1], (match[2] or "")[1:]) for match in _LINK.finditer(prose)]


def rewrite(text: str, page: str) -> str:
    """Return a page's text with its links as the site needs them."""
    folder = posixpath.dirname(source_of(page))

    def moved(match: re.Match[str]) -> str:
        source = posixpath.normpath(posixpath.join(folder, match[1]))
        place = place_of(source)
        if place is None:  # MkDocs names it, and the build fails
            return match[0]
        link = posixpath.relpath(place, posixpath.dirname(page) or ".")
        return f"]({link}{match[2] or ''})"

    parts = _CODE.split(text)  # every second part is code
    return "".join(
        _without_marks(part) if at % 2 else _LINK.sub(moved, part) for at, part in enumerate(parts)
    )


def _without_marks(code: str) -> str:
    """Return a block of code without what the tests alone need.

    That is the mark that it runs, how a command ends, and commands that write a file which the
    page has just shown.
    """
    if not _MARK.match(code):
        return code
    return _EXITS.sub(r"\1", _ABOVE.sub("", _MARK.sub(r"\1", code)))


def on_files(files: Any, config: Any) -> Any:
    """Add what lies outside `docs/`; MkDocs calls this."""
    from mkdocs.structure.files import File

    for source, place in {**PAGES, **FILES}.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite the links of a page and weigh it for the search; MkDocs calls this."""
    boost = next((each for start, each in BOOSTS if page.file.src_uri.startswith(start)), 1)
    page.meta.setdefault("search", {"boost": boost})
    return rewrite(markdown, page.file.src_uri)
