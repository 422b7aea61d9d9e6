"""Resolving links between the pages of a folder.

An address is a path from the page's own folder, or from the root if it begins with `/`; a folder
leads to its home page, and the extension may be left out. A name in double brackets leads, as in
Obsidian, to the page at that path, else to the nearest one whose path ends with it.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from quire.workspace.importers.markdown import EXTENSIONS, stem_of
from quire.workspace.importers.outline import Page

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
PEP = re.compile(r"pep:(\d{1,5})\Z")
NUMBER = re.compile(r"(?:[A-Za-z]{2,5}[- ]?)?0*(\d{1,9})\Z")
NUMBER_IN_NAME = re.compile(r"(?:\A|\D)0*(\d{1,9})(?:\D|\Z)")
LINK_OPENING = re.compile(r"\[[^\[\]]*+\]\(\s*+")
LINK_ADDRESS = re.compile(r"<?([^)>\s]+)")
NOTION_ID = re.compile(r"(?<![0-9a-f])([0-9a-f]{32})(?![0-9a-f])")


@dataclass(frozen=True, slots=True)
class Target:
    """A page, by its path, and the anchor of a part of it (empty: the whole page)."""

    path: str
    anchor: str = ""


EXTERNAL = Target("")
"""A target outside of the folder, or a file in it that is not a page."""


class LinkResolver:
    """Resolves the links of the pages in a folder."""

    def __init__(
        self, pages: Sequence[Page], homes: Mapping[str, str], files: Iterable[str]
    ) -> None:
        self._paths = {page.path for page in pages}
        self._homes = homes
        self._files = {*files} - self._paths
        self._names: dict[str, list[str]] = {}
        self._aliases: dict[str, str] = {}
        self._numbers: dict[int, list[str]] = {}
        self._ids: dict[str, str] = {}
        for page in pages:
            self._add(page)
        self._file_names = {_fold(path.rpartition("/")[2]) for path in self._files}

    def _add(self, page: Page) -> None:
        self._names.setdefault(_fold(stem_of(page.path)), []).append(page.path)
        for alias in page.fields.get("aliases", ()):
            self._aliases.setdefault(_fold(alias), page.path)
        pep = page.fields.get("pep", ())
        numbers = [int(text) for text in pep if text.isdecimal()] or [
            int(text) for text in NUMBER_IN_NAME.findall(stem_of(page.path))[:1]
        ]
        for number in numbers:
            self._numbers.setdefault(number, []).append(page.path)
        for name in NOTION_ID.findall(page.path.rpartition("/")[2])[-1:]:
            self._ids.setdefault(name, page.path)

    def resolve_address(self, source: str, address: str) -> Target | None:
        """Resolve an address on a page; None: it leads nowhere."""
        pep = PEP.match(address)
        if pep:
            return self._find_by_number(int(pep[1]))
        if SCHEME.match(address) or address.startswith(("//", "\\")):
            return self._find_by_id(address)
        file, _, anchor = address.partition("#")
        file = unquote(file.partition("?")[0], errors="replace")
        anchor = unquote(anchor, errors="replace").lower()
        if not file:
            return Target(source, anchor)
        for path in _candidate_paths(source, file):
            page = self._find_at(path)
            if page is not None:
                return Target(page, anchor)
            if path in self._files:
                return EXTERNAL
        return None

    def resolve_name(self, source: str, text: str) -> Target | None:
        """Resolve a name in double brackets; None: it leads nowhere."""
        target = text.partition("|")[0].rstrip("\\")  # in a table the bar is written \\|
        name, _, anchor = target.partition("#")
        anchor = anchor.rpartition("#")[2].strip()
        if not name.strip():
            return Target(source, anchor)
        page = self._find_by_name(source, name.strip())
        if page is not None:
            return Target(page, anchor)
        return EXTERNAL if _fold(name.strip().rpartition("/")[2]) in self._file_names else None

    def resolve_field(self, source: str, text: str) -> list[Target | None]:
        """Resolve a field of the front matter: links, names or numbers, with commas between."""
        parts = list(_markdown_links(text)) or [part.strip() for part in text.split(",")]
        return [self._resolve_part(source, part) for part in parts if part]

    def _resolve_part(self, source: str, part: str) -> Target | None:
        bare = part.removeprefix("[[").removesuffix("]]")
        number = NUMBER.match(bare)
        return (
            (self._find_by_number(int(number[1])) if number else None)
            or self.resolve_address(source, bare)
            or self.resolve_name(source, bare)
        )

    def _find_at(self, path: str) -> str | None:
        if path in self._homes:
            return self._homes[path]
        bare = path.removesuffix(".html").removesuffix(".htm")
        candidates = (path, *(f"{bare}{extension}" for extension in EXTENSIONS))
        return next((candidate for candidate in candidates if candidate in self._paths), None)

    def _find_by_id(self, address: str) -> Target:
        ids = NOTION_ID.findall(address.replace("-", ""))
        pages = [self._ids[name] for name in ids if name in self._ids]
        return Target(pages[-1]) if pages else EXTERNAL

    def _find_by_number(self, number: int) -> Target | None:
        pages = self._numbers.get(number, ())
        return Target(pages[0]) if len(pages) == 1 else None

    def _find_by_name(self, source: str, name: str) -> str | None:
        bare = name[: -len(".md")] if name.lower().endswith(".md") else name
        folder = posixpath.dirname(source)
        if bare.startswith(("./", "../")):
            bare = posixpath.normpath(posixpath.join(folder, bare))
        wanted = _fold(bare.lstrip("/"))
        same_name = self._names.get(wanted.rpartition("/")[2], [])
        matching = [path for path in same_name if f"/{_folded_stem(path)}".endswith(f"/{wanted}")]
        if not matching:
            return self._aliases.get(wanted)
        return min(
            matching,
            key=lambda path: (
                _folded_stem(path) != wanted,
                posixpath.dirname(path) != folder,
                path.count("/"),
                path,
            ),
        )


def _markdown_links(text: str) -> Iterator[str]:
    """Yield the addresses of the Markdown links in a text."""
    at = 0
    while opening := LINK_OPENING.search(text, at):
        at = opening.end()
        end = text.find(")", at)
        if end < 0:
            return
        if address := LINK_ADDRESS.match(text, at, end):
            yield address[1]
            at = end


def _candidate_paths(source: str, file: str) -> Iterator[str]:
    """Yield the paths that a file name may mean; where the site's root is, is not known."""
    folder = posixpath.dirname(source)
    bases = [folder]
    if file.startswith("/"):
        parts = folder.split("/") if folder else []
        bases = ["/".join(parts[:count]) for count in range(len(parts) + 1)]
    for base in bases:
        path = posixpath.normpath(posixpath.join(base, file.lstrip("/")))
        if not path.startswith("../") and path != "..":
            yield "" if path == "." else path


def _folded_stem(path: str) -> str:
    folder, slash, _ = path.rpartition("/")
    return _fold(f"{folder}{slash}{stem_of(path)}")


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
