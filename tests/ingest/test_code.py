from __future__ import annotations

import pytest

from quire.core.types import IngestSettings
from quire.ingest.code_splitter import Definition
from quire.ingest.languages import get_family

from .reading import SMALL, read_chunks, read_titles

DEFAULT = IngestSettings()


def body(lines: int, indent: str = "    ") -> str:
    return "".join(f"{indent}value_{number} = {number}\n" for number in range(lines))


PYTHON = f'''"""Doc."""

import os
from sys import path


class Engine:
    """Runs."""

    # How it starts.
    @classmethod
    @decorated(
        1,
        # a comment in between
        2,
    )
    def start(cls):
{body(6, "        ")}
    async def stop(self):
{body(6, "        ")}

def outer():
    text = """
def not_a_definition():
class NorThis:
"""
    def inner():
{body(5, "        ")}
{body(4)}

# A comment above.
@cached
def last():
    return 1
'''


def test_python_is_cut_before_its_definitions() -> None:
    chunks = read_chunks("a.py", PYTHON, IngestSettings(code_max=300))
    assert [chunk.title for chunk in chunks] == [
        "",
        "class Engine",
        "class Engine > async def stop(self)",
        "def outer()",
        "def last()",
    ]
    by_title = {chunk.title: chunk.text for chunk in chunks}
    # The header of a class, decorators and comments stay with what they belong to.
    assert by_title["class Engine"].startswith('class Engine:\n    """Runs."""\n')
    assert "        2,\n    )\n    def start(cls):\n" in by_title["class Engine"]
    assert "class NorThis" in by_title["def outer()"]
    assert by_title["def last()"].startswith("# A comment above.\n@cached\n")


def test_a_decorator_may_go_over_several_lines() -> None:
    decorator = "# why\n@cases(\n    1,\n    # a comment\n    2,\n)\n"
    text = "def one():\n" + body(8) + f"\n\n{decorator}def two():\n" + body(5)
    assert [chunk.text[:6] for chunk in read_chunks("a.py", text)] == ["def on", "# why\n"]


def test_small_definitions_are_joined_and_a_fitting_one_stays_whole() -> None:
    small = "def f{}():\n    return {}\n\n\n"
    text = "import os\n\n\n" + "".join(small.format(n, n) for n in range(12))
    chunks = read_chunks("a.py", text)
    assert all(len(chunk.text) <= SMALL.code_max for chunk in chunks)
    assert len(chunks) == 3
    assert all(chunk.text.startswith(("import os", "def ")) for chunk in chunks)
    large = "def g():\n" + body(8)
    assert large in [chunk.text for chunk in read_chunks("a.py", text + large)]


def test_a_long_function_is_cut_at_its_outermost_statements() -> None:
    step = "    if step_{0}:\n        do({0})\n    else:\n        undo({0})\n"
    text = "def long():\n" + "".join(step.format(n) for n in range(20))
    for chunk in read_chunks("a.py", text)[1:]:
        assert chunk.text.startswith("    if step_")
        assert chunk.title == "def long()"


def test_statements_are_told_by_the_grammar_not_by_indentation() -> None:
    text = (
        "def long():\n"
        + body(4)
        + '    text = """\nnot a statement\nnor this\n\nnor that\n"""\n'
        + body(8)
        + "    call(\n        [\n"
        + "".join(f"            item_{n},\n" for n in range(20))
        + "        ]\n    )\n"
    )
    chunks = read_chunks("a.py", text)
    assert {chunk.title for chunk in chunks} == {"def long()"}
    assert "".join(chunk.text for chunk in chunks) == text
    starts = [chunk.text.split("\n")[0].strip() for chunk in chunks]
    assert all(start.startswith(("def", "value", "text", "call", "item")) for start in starts)
    assert all(len(chunk.text) <= SMALL.code_max for chunk in chunks)


def test_a_comment_stays_with_the_statement_below_it() -> None:
    step = "    # Why {0}.\n    do_something({0})\n"
    text = "def long():\n" + "".join(step.format(n) for n in range(30))
    for chunk in read_chunks("a.py", text)[1:]:
        assert chunk.text.startswith("    # Why")


def test_without_a_grammar_a_long_function_is_cut_at_its_least_indented_lines() -> None:
    step = "  if step_{0} then\n    go({0})\n  else\n    back({0})\n  end\n"
    text = "function long()\n" + "".join(step.format(n) for n in range(20)) + "end\n"
    for chunk in read_chunks("a.lua", text)[1:]:
        assert chunk.text.startswith("  if step_")
        assert chunk.title == "function long"


SAMPLES = {
    "javascript": """import x from 'y'

/**
 * Says hello.
 */
export default class Greeter extends Base {
  constructor(name) {
    this.name = name;
  }

  async greet(other) {
    if (other) {
      call(function () { return 1 });
    }
  }
}

export const add = (a, b) => {
  return a + b;
};

res.send = function send(body) {
  return body;
};

function plain() {
  const text = `
function inside_a_template() {
`;
}
""",
    "typescript": """interface Point<T> {
  x: T;
}

export abstract class Shape implements Thing {
  private area(scale: number): number {
    return 1;
  }
}

type Name = string;

export async function load<T>(path: string): Promise<T> {
  return 1;
}
""",
    "go": """package main

// Server answers.
type Server struct {
	name string
}

// Run runs.
func (s *Server) Run(ctx context.Context) error {
	return nil
}

func main() {
	println(1)
}
""",
    "rust": """use std::fmt;

/// A point.
#[derive(Debug)]
pub struct Point {
    x: i32,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        Ok(())
    }
}

pub(crate) async fn run<'a>(x: &'a str) -> &'a str {
    x
}
""",
    "java": """package a.b;

import java.util.List;

/** A store. */
@Deprecated
public final class Store<T> extends Base {
    private final int size = 1;

    public Store(int size) {
        super(size);
    }

    @Override
    public List<String> find(String name, int limit)
            throws IOException {
        if (limit > 1) {
            return load(name,
                limit);
        }
        return null;
    }
}
""",
    "csharp": """namespace Shop
{
    [Serializable]
    public class Cart
    {
        public async Task<int> AddAsync(Item item)
        {
            return await store.Add(item);
        }
    }
}
""",
    "c": """#include <stdio.h>

#define SIZE 10

struct point {
    int x;
};

/* Adds. */
static int
add(int a, int b)
{
#ifdef DEBUG
    printf("%d", a);
#endif
    return a + b;
}

char *name_of(const struct point *p) {
    goto out;
out:
    return call(p,
                1);
}
""",
    "cpp": """namespace a {

template <typename T>
class Box : public Base {
  public:
    explicit Box(int size) : size_(size) {}
    ~Box();
};

std::string Box::name() const {
    return "x";
}
""",
    "ruby": """require 'x'

module Shop
  class Cart < Base
    def add(item)
      items << item
    end

    def self.empty?
      true
    end
  end
end
""",
    "php": """<?php
namespace App;

final class Kernel extends Base
{
    public function handle(Request $request): Response
    {
        return $this->next($request);
    }
}

function helper() {
}
""",
    "kotlin": """package a

data class Point(val x: Int) {
    override fun toString(): String {
        return "x"
    }
}

suspend fun load(): Int = 1
""",
    "swift": """import Foundation

public final class Session: Base {
    init(name: String) {
        self.name = name
    }

    func request(_ url: URL) -> Request {
        return 1
    }
}

extension Session: Thing {
}
""",
    "scala": """package a

case class Point(x: Int) extends Base {
  def move(by: Int): Point = {
    Point(x + by)
  }
}

object Main {
}
""",
    "shell": """#!/bin/sh
set -e

build() {
  make
}

function deploy_all {
  ship
}
""",
    "sql": """-- Users.
CREATE TABLE users (
  id int
);

insert into users values (1);

/* a comment
CREATE TABLE not_this (
*/
SELECT *
FROM users;
""",
}
EXPECTED = {
    "javascript": ["class Greeter", "constructor()", "greet()", "const add", "res.send", "function plain"],
    "typescript": ["interface Point", "class Shape", "area()", "type Name", "function load"],
    "go": ["type Server", "func (s *Server) Run", "func main"],
    "rust": ["struct Point", "impl fmt::Display for Point", "fn fmt", "async fn run"],
    "java": ["class Store", "Store()", "find()"],
    "csharp": ["namespace Shop", "class Cart", "AddAsync()"],
    "c": ["struct point", "add()", "name_of()"],
    "cpp": ["namespace a", "class Box", "Box()", "Box::name()"],
    "ruby": ["module Shop", "class Cart", "def add", "def self.empty?"],
    "php": ["namespace App", "class Kernel", "function handle", "function helper"],
    "kotlin": ["class Point", "fun toString", "fun load"],
    "swift": ["class Session", "init", "func request", "extension Session"],
    "scala": ["class Point", "def move", "object Main"],
    "shell": ["build()", "function deploy_all"],
    "sql": ["CREATE TABLE users", "insert into users", "SELECT"],
}  # fmt: skip


@pytest.mark.parametrize("language", SAMPLES)
def test_definitions_of_many_languages(language: str) -> None:
    from quire.ingest.code import _find_definitions

    def titles_inside(node: Definition) -> list[str]:
        titles = []
        for member in node.members:
            titles += [member.title, *titles_inside(member)]
        return titles

    assert (
        titles_inside(_find_definitions(SAMPLES[language], get_family(language)))
        == EXPECTED[language]
    )


@pytest.mark.parametrize("language", SAMPLES)
def test_a_line_inside_a_function_does_not_end_it(language: str) -> None:
    from quire.ingest.code import _find_definitions

    text = SAMPLES[language]
    whole = _find_definitions(text, get_family(language))
    last = whole.members[-1]
    assert text[last.end :].strip() == ""
    for member, following in zip(whole.members, whole.members[1:], strict=False):
        between = text[member.end : following.start]
        assert all(line[:1] not in (" ", "\t", "}") for line in between.split("\n"))


def test_what_leads_up_to_a_definition_belongs_to_it() -> None:
    leads = {"javascript": "/**", "go": "// Server", "rust": "/// A point", "java": "/** A store",
             "c": "struct", "cpp": "namespace", "sql": "-- Users", "swift": "public final"}  # fmt: skip
    from quire.ingest.code import _find_definitions

    for language, lead in leads.items():
        text = SAMPLES[language]
        first = _find_definitions(text, get_family(language)).members[0]
        assert text[first.start :].startswith(lead), language


def test_a_closing_brace_is_never_alone() -> None:
    method = "    public void method{0}() {{\n" + "        call({0});\n" * 6 + "    }}\n\n"
    text = "public class A {\n" + "".join(method.format(n) for n in range(6)) + "}\n"
    chunks = read_chunks("A.java", text)
    assert chunks[-1].text.endswith("    }\n\n}\n")
    assert chunks[0].text.startswith("public class A {\n    public void method0")
    assert {chunk.title for chunk in chunks} <= {"public class A"} | {
        f"public class A > public void method{n}()" for n in range(6)
    }


def test_a_script_without_ending_is_read_by_its_first_line() -> None:
    from .reading import read_text

    text = "#!/usr/bin/env python3\n" + "def f():\n" + body(30)
    document = read_text("bin/run", text)
    assert document.record.kind == "code"
    assert document.record.attrs["language"] == "python"
    assert document.chunks[-1].title == "def f()"
    assert read_text("run.txt", text).record.attrs["language"] == "text"


def test_nesting_without_end_is_cut_like_any_text() -> None:
    text = "".join(" " * depth + f"def f{depth}():\n" for depth in range(400))
    assert "".join(chunk.text for chunk in read_chunks("a.py", text)) == text


def test_a_file_without_definitions() -> None:
    text = "\n".join(f".rule-{n} {{ color: red }}" for n in range(40))
    assert set(read_titles("a.css", text)) == {""}


def test_default_sizes() -> None:
    text = "".join(f"def f{n}():\n" + body(60) + "\n\n" for n in range(4))
    for chunk in read_chunks("a.py", text, DEFAULT):
        assert len(chunk.text) <= DEFAULT.code_max
