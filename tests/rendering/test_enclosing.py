"""A gap in code names the definition that what follows it stands in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quire import packing
from quire.core.types import Chunk, RenderSpec
from quire.rendering import render
from quire.rendering.enclosing import name_enclosing
from tests.pipeline.builders import chunk, piece

BASE = "class BaseLoader:\n    has_source_access = True\n"
PACKAGE = (
    "    def __init__(self, package_name: str) -> None:\n        self.package = package_name\n"
)
LOADER, INIT = "class PackageLoader(BaseLoader)", "def __init__(self, package_name: str) -> None"


def code(text: str, title: str, sequence: int = 1) -> Chunk:
    return replace(chunk(text, "loaders.py", sequence, title=title), kind="code")


def test_lines_of_another_class_say_whose_they_are() -> None:
    above = code(BASE, "class BaseLoader", 41)
    below = code(PACKAGE, f"{LOADER} > {INIT}", 301)
    pieces = [piece(above, 9), piece(below, 8)]
    shown = render(packing.arrange(pieces, "grouped", "greedy"), RenderSpec())
    assert shown == (f"[DOC: loaders.py]\n{BASE}... (line 302, in class PackageLoader)\n{PACKAGE}")


@pytest.mark.parametrize(
    ("title", "text", "name"),
    [
        # Python: a method, a part of one, and a class itself.
        (f"{LOADER} > {INIT}", PACKAGE, "class PackageLoader"),
        (f"{LOADER} > {INIT}", "        return self.package\n", "def __init__"),
        (LOADER, "class PackageLoader(BaseLoader):\n    pass\n", ""),
        (LOADER, "class PackageLoaders(BaseLoader):\n    pass\n", "class PackageLoader"),
        # Rust, Go, TypeScript, Java, Ruby.
        (
            "impl fmt::Display for Warnings > fn fmt(&self, f: &mut fmt::Formatter<'_>)",
            "                (true, true) => 1,\n",
            "fn fmt",
        ),
        (
            "impl<'a> Benchmark<'a> > pub fn run(&self)",
            "pub fn run(&self) {\n",
            "impl<'a> Benchmark<'a>",
        ),
        (
            "func (s *Server) handle(conn net.Conn) string",
            "\treturn 1\n",
            "func (s *Server) handle",
        ),
        (
            "export class Cart<T> extends Base<T>",
            "  total() {\n",
            "export class Cart<T> extends Base<T>",
        ),
        (
            "public class Cart > public int total(List<Item> items)",
            "return 1;\n",
            "public int total",
        ),
        (
            "class TestCore < TestInteractive",
            "  def test_one\n",
            "class TestCore < TestInteractive",
        ),
        ("", "x = 1\n", ""),
    ],
)
def test_the_innermost_definition_is_named(title: str, text: str, name: str) -> None:
    assert name_enclosing(code(text, title), code(BASE, "class BaseLoader")) == name


def test_what_stands_in_the_definition_above_names_none() -> None:
    above = code(BASE, "class BaseLoader")
    assert (
        name_enclosing(code("    def load(self):\n", "class BaseLoader > def load(self)"), above)
        == ""
    )
    body = code("        return 1\n", "class BaseLoader > def load(self)")
    assert name_enclosing(body, above) == "def load"
    assert name_enclosing(body, code("    def load(self):\n", body.title)) == ""


def test_a_section_of_a_document_names_none() -> None:
    section = replace(code("More of it.\n", "Guide > Start"), kind="document")
    assert name_enclosing(section, replace(section, title="Guide > End")) == ""
