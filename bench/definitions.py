"""Does a page show the definition that is asked for? `python -m bench.definitions --help`.

Every function, class and method of a library is asked for by its own name and path. A definition is
visible if its declaration is on the page and its file among the sources. It is an item if an item
of the page has its qualified name and its first line.
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import unescape

import quire
from bench.report import Table

RECIPES = ("agent", "entities", "documents")
FORMATS = {"entities": ("markdown", "xml", "plain")}
"""The formats that are measured beside a recipe's own."""
SAMPLE = 150
"""How many definitions of a library are asked for, spread evenly over it."""
ASIDE = frozenset({"tests", "test", "testing", "docs", "examples", "scripts", ".git", ".venv"})
"""Folders whose definitions are not asked for; they are indexed and compete."""
TRIES = 5
"""A busy machine may let a section run out of time: then it is asked again."""
DECLARATION = 100
"""How many characters of a declaration must be on the page: pages shorten long ones."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition as Python's own parser finds it."""

    path: str
    name: str
    """Its name with those of the enclosing definitions."""
    lines: frozenset[int]
    """The line of its declaration, and of its first decorator."""
    declarations: frozenset[str]
    """Its declaration up to the body, without white space and comments, or the beginning of it;
    several if it has overloads, or a getter and a setter."""

    @property
    def query(self) -> str:
        return f"{self.name} {self.path}"


def main() -> None:
    """Measure libraries, and print a table."""
    asked = _arguments()
    table = Table(
        "definitions asked for by their own name and path",
        ("library", "recipe", "asked", "visible", "%", "item", "%"),
    )
    for place in asked.paths:
        figures = measure(
            place, asked.sample, asked.recipes, in_place=asked.in_place, show=asked.missed
        )
        for name, counts in figures.items():
            count, visible, items = counts
            row = (visible, _percent(visible, count), items, _percent(items, count))
            table.add(place.resolve().name, name, count, *row)
    print(table.text())


def measure(
    place: Path,
    sample: int,
    recipes: Sequence[str],
    *,
    in_place: bool = False,
    show: bool = False,
) -> dict[str, tuple[int, int, int | None]]:
    """Index a copy of a library and ask for its definitions.

    Returns for each recipe how many were asked for, visible, and items of their own.
    """
    definitions = spread(list(find_definitions(place)), sample)
    figures: dict[str, tuple[int, int, int | None]] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = place if in_place else Path(folder) / place.resolve().name
        if not in_place:
            shutil.copytree(place, root, ignore=shutil.ignore_patterns(".quire", "__pycache__"))
        with quire.open(root) as engine:
            engine.index()
            for recipe in recipes:
                for style in FORMATS.get(recipe, ("",)):
                    name = f"{recipe} {style}".strip()
                    results = [_ask(engine, one, recipe, style) for one in definitions]
                    visible = sum(seen for seen, _ in results)
                    items = sum(bool(item) for _, item in results)
                    figures[name] = (
                        len(results), visible, None if recipe == "documents" else items
                    )  # fmt: skip
                    if show:
                        _report(name, definitions, results)
    return figures


def _report(
    name: str, definitions: Sequence[Definition], results: Sequence[tuple[bool, bool | None]]
) -> None:
    for one, (seen, item) in zip(definitions, results, strict=True):
        if not seen or item is False:
            what = "no item" if seen else "not visible"
            print(f"{name}: {what}: {one.query}:{min(one.lines)}", file=sys.stderr)


def _ask(engine: quire.Quire, one: Definition, recipe: str, style: str) -> tuple[bool, bool | None]:
    options: quire.Options = {"recipe": recipe}
    if style:
        options["format"] = style
    for _ in range(TRIES):
        context = engine.assemble(one.query, **options)
        if not context.failed:
            break
    shown = compact(unescape(context.text) if style == "xml" else context.text)
    listed = any(source.path == one.path for source in context.sources)
    visible = listed and any(text in shown for text in one.declarations)
    if recipe == "documents":
        return visible, None
    found = _named(context)
    return visible, any((one.path, one.name, line) in found for line in one.lines)


def _named(context: quire.Context) -> set[tuple[str, str, object]]:
    """Return path, qualified name and first line of the items of a page."""
    if not context.items:
        return {(source.path, source.name, source.line) for source in context.sources}
    about = [item.about for item in context.items if "qualified_name" in item.about]
    return {(str(a["file_path"]), str(a["qualified_name"]), a["start_line"]) for a in about}


def find_definitions(place: Path) -> Iterator[Definition]:
    """Find the definitions of a library in the order of their paths and lines."""
    for file in sorted(place.rglob("*.py")):
        path = file.relative_to(place)
        if ASIDE.isdisjoint(path.parts[:-1]) and not path.name.startswith(("test_", "conftest")):
            text = file.read_text(encoding="utf-8")
            found = _members(ast.parse(text), text.split("\n"), path.as_posix(), ())
            by_name: dict[str, list[Definition]] = {}
            for one in found:
                by_name.setdefault(one.name, []).append(one)
            yield from map(_merged, by_name.values())


def _merged(same: Sequence[Definition]) -> Definition:
    """Return definitions of the same name as one: a query cannot tell them apart."""
    lines = frozenset(line for one in same for line in one.lines)
    declarations = frozenset(text for one in same for text in one.declarations)
    return Definition(same[0].path, same[0].name, lines, declarations)


def _members(
    node: ast.AST, lines: Sequence[str], path: str, outer: tuple[str, ...]
) -> Iterator[Definition]:
    for member in ast.iter_child_nodes(node):
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (*outer, member.name)
            first = member.body[0]
            decorators = [decorator.lineno for decorator in member.decorator_list]
            yield Definition(
                path,
                ".".join(names),
                frozenset({member.lineno, min([member.lineno, *decorators])}),
                frozenset({_declaration(lines, member, first)[:DECLARATION]}),
            )
            yield from _members(member, lines, path, names)
        else:
            yield from _members(member, lines, path, outer)


def _declaration(
    lines: Sequence[str], member: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
    first: ast.stmt,
) -> str:  # fmt: skip
    begin, end = member.lineno - 1, first.lineno - 1
    if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        end = min([end, *(decorator.lineno - 1 for decorator in first.decorator_list)])
    header = lines[begin:end] if end > begin else [lines[begin][: _offset(lines[begin], first)]]
    return compact("\n".join(header)).rstrip(":")


def _offset(line: str, first: ast.stmt) -> int:
    return len(line.encode()[: first.col_offset].decode())


def compact(text: str) -> str:
    """Return a text without comments, white space and commas at the end of a list."""
    text = re.sub(r"(?m)(?:^|\s)#[^\n#].*$", "", text)
    return re.sub(r",(?=[)\]])", "", re.sub(r"\s+", "", text))


def spread(definitions: Sequence[Definition], sample: int) -> list[Definition]:
    """Return at most so many definitions, at even distances."""
    count = len(definitions)
    if not sample or count <= sample:
        return list(definitions)
    return [definitions[at * count // sample] for at in range(sample)]


def _percent(part: int | None, count: int) -> float | None:
    return None if part is None or not count else round(100 * part / count, 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.definitions",
        description="Ask for every definition of Python libraries by its own name and path.",
    )
    parser.add_argument(
        "paths", type=Path, nargs="+", metavar="PATH", help="checkouts of libraries"
    )
    parser.add_argument("--sample", type=int, default=SAMPLE, help="definitions a library; 0: all")
    parser.add_argument("--recipes", type=lambda text: text.split(","), default=list(RECIPES))
    parser.add_argument("--in-place", action="store_true", help="index the folders themselves")
    parser.add_argument("--missed", action="store_true", help="name what was not shown")
    return parser.parse_args()


if __name__ == "__main__":
    main()
