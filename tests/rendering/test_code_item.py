"""An item of code quotes the lines of the file, or its first ones."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import Candidate, Chunk, Entity, RenderSpec, Unit
from quire.rendering import page
from quire.rendering.code_item import code_kind, declared_lines, join_cut_parts
from quire.rendering.cut_code import (
    find_declaration,
    mark_cut,
    shorten_comment,
    whole_lines,
)
from quire.rendering.left_out import left_out

FUNCTION = '''\
def pay(
    amount: int,
    currency: str = "Swiss  francs",
) -> bool:
    """Pay an amount.

    More about it.
    """
    check(amount)
    return True'''


SIGNATURE = 'def pay(amount: int, currency: str = "Swiss  francs") -> bool'
DECLARED = 'def pay(\n    amount: int,\n    currency: str = "Swiss  francs",\n) -> bool:\n'


def pay(signature: str, lines: tuple[int, int] = (0, 0)) -> Entity:
    return Entity("function", "pay", "pay", 0, 9, lines, signature=signature)


def declared(source: str, signature: str) -> str:
    return declared_lines(source, pay(signature), "python")


def test_a_declaration_is_quoted_as_it_stands() -> None:
    summary = '    """Pay an amount. …"""\n'
    assert declared(FUNCTION, SIGNATURE) == f"{DECLARED}{summary}    # … 4 lines left out"
    longer = declared_lines(FUNCTION, pay(SIGNATURE, (11, 40)), "python")
    assert longer == f"{DECLARED}{summary}    # … 25 lines left out", "it goes on below the chunk"


def test_a_declaration_that_was_too_long_to_be_kept_is_quoted_to_its_end() -> None:
    cut = SIGNATURE[:24] + "…"
    assert declared(FUNCTION, cut).startswith(DECLARED)
    assert find_declaration(FUNCTION, cut) == find_declaration(FUNCTION, SIGNATURE[:-8])


@given(st.text("ab(\n \u2028", max_size=40), st.text("ab(", min_size=1, max_size=5))
def test_a_declaration_is_found_whatever_its_blanks(source: str, signature: str) -> None:
    match = re.search(r"\s*".join(map(re.escape, signature)), source)
    assert find_declaration(source, signature) == (match.span() if match else (0, 0))


def test_no_cut_stands_in_a_declaration_or_a_line() -> None:
    for length in range(len(FUNCTION) + 1):
        short = whole_lines(FUNCTION, FUNCTION[:length], SIGNATURE)
        assert FUNCTION.startswith(f"{short}\n") or short in {"", FUNCTION}
        assert not short or short.count("(") == short.count(")")


def test_a_mark_is_a_comment_of_the_language_and_counts_the_lines() -> None:
    long = "b = call(with_some, arguments)"
    assert mark_cut(f"a\n{long}\nc", "a", "python") == "a\n# … 2 lines left out"
    assert mark_cut(f"a\n  {long}\n", "a", "go") == "a\n  // … 1 line left out"
    assert mark_cut(f"a\n{long}", "", "sql") == "-- … 2 lines left out"
    assert mark_cut("a\nb", "a\nb", "python") == "a\nb"
    assert left_out("css", 3) == "/* … 3 lines left out */"
    assert left_out("klingon", 3) == "… 3 lines left out"


def test_a_mark_stands_for_nothing_that_takes_no_more_room() -> None:
    body = "func (c *Context) FullPath() string {\n\treturn c.fullPath\n}"
    assert mark_cut(body, body.split("\n", maxsplit=1)[0], "go") == body
    assert mark_cut("a\nb\nc", "a", "python") == "a\nb\nc"
    short = "def f(self):\n    a = 1\n    b = 2"
    assert declared(short, "def f(self)") == short


def test_a_short_docstring_is_quoted_whole_and_a_body_of_nothing_else_too() -> None:
    source = 'def pay():\n    """Pay."""\n    one = total()\n    return one * 2'
    whole = 'def pay():\n    """Pay."""'
    assert declared(source, "def pay()") == f"{whole}\n    # … 2 lines left out"
    one_line = f"{whole}\n    return 1"
    assert declared(one_line, "def pay()") == one_line, "a mark would take its place"
    assert declared(whole, "def pay()") == whole
    assert declared("def pay(): return 1", "def pay()") == "def pay(): return 1"


def test_a_declaration_that_is_not_in_the_source_is_given_by_its_signature() -> None:
    assert declared("    return 1", "def pay()") == "def pay()"
    assert declared("", "def pay()") == "def pay()"


def test_a_property_is_not_called_a_method() -> None:
    def entity(*decorators: str) -> Entity:
        return Entity("method", "name", "Shop.name", 0, 9, (1, 1), decorators=decorators)

    assert code_kind(entity("@property")) == "Property"
    assert code_kind(entity("@functools.cached_property")) == "Property"
    assert code_kind(entity("@name.setter")) == "Property"
    assert code_kind(entity("@staticmethod")) == "Method"
    assert code_kind(entity()) == "Method"


GO = """\
// Pay pays.
//
// Whoever pays twice
// is told so, and
// is paid back
// on the next day,
// at nine.
func Pay(amount int) bool {
	return true
}"""


def test_of_a_long_comment_above_a_declaration_the_first_paragraph_is_kept() -> None:
    below = "func Pay(amount int) bool {\n\treturn true\n}\n\n// end"
    short = f"// Pay pays.\n // … 6 lines left out\n{below}"
    assert shorten_comment(f"{GO}\n\n// end", "go") == short
    assert shorten_comment(below, "go") == below
    java = "/**\n * Pays.\n *\n" + " * More.\n" * 9 + " */\n\nbool pay() {\n  one();\n  two();\n}"
    expected = "/**\n * Pays.\n // … 10 lines left out\n */\nbool pay() {\n  one();\n  two();\n}"
    assert shorten_comment(java, "java") == expected


def test_cut_code_keeps_its_declaration_below_a_long_comment() -> None:
    comment = "".join(f"// Line {n} of what is said about it.\n" for n in range(40))
    text = f"{comment}func Pay(amount int) bool {{\n\treturn true\n}}"
    short = shorten_comment(text, "go", 300)
    assert len(short) <= 330
    assert short.endswith("func Pay(amount int) bool {\n\treturn true\n}")
    assert short.count("// Line") > 4, "the comment gets the room that the code leaves"


@pytest.mark.parametrize(
    ("signature", "kind"),
    [
        ("export type Cart = Pick<Shop['record'], 'cart'>", "Type"),
        ("type Cart struct", "Struct"),
        ("typedef struct cart Cart", "Struct"),
        ("impl<T> fmt::Display for Cart<T>", "Impl"),
        ("public record Cart", "Record"),
        ("export interface Cart extends Record<string, unknown>", "Interface"),
    ],
)
def test_a_type_is_called_what_its_declaration_says_before_or_behind_its_name(
    signature: str, kind: str
) -> None:
    assert code_kind(Entity("type", "Cart", "Cart", 0, 9, (0, 0), signature=signature)) == kind


# --- parts, and lines that match ------------------------------------------------------------------

CLASS = """\
class Rope(Line):
    signed = False

    def __init__(
        self,
        length: int,
    ) -> None:
        self.length = length
"""


def test_the_lines_of_a_class_keep_its_declaration_though_a_method_was_found() -> None:
    start = CLASS.index("    def __init__")
    chunk = Chunk("c", "r", "code", "rope.py", "", 0, 0, len(CLASS), (1, 8), CLASS)
    rope = Entity("class", "Rope", "Rope", 0, len(CLASS), (1, 8), 0, "class Rope(Line)")
    signature = "def __init__(self, length: int) -> None"
    init = Entity(
        "method", "__init__", "Rope.__init__", start, len(CLASS), (4, 8), 1, signature=signature
    )
    unit = Unit(init, 4, CLASS[start:], source=CLASS, lines=(1, 8), others=(rope,))
    candidate = Candidate(chunk, 1, {}, init, unit=unit)
    cuts: list[str] = []

    def cut(body: str, declared: tuple[int, int]) -> str:
        cuts.append(body[slice(*declared)])
        return body

    shown = page.excerpt(candidate, RenderSpec("page"))(cut)
    assert cuts == ["class Rope(Line)"]
    assert "**Class** `Rope`" in shown


def test_parts_below_a_declaration_that_none_of_them_holds_have_even_margins() -> None:
    lines = [f"    step_{number}()\n" for number in range(9)]
    code = "".join(["def run():\n", *lines])
    run = Entity("function", "run", "run", 0, len(code), (1, 10), 0, "def run()")

    def part(first: int, last: int) -> Candidate:
        text = "".join(lines[first:last])
        start = code.index(text)
        place = (start, start + len(text), (first + 2, last + 1))
        chunk = Chunk(f"c{first}", "r", "code", "run.py", "", 0, *place, text)
        return Candidate(chunk, 1, {}, run, unit=Unit(run, 1, text))

    texts = ["    step_1()\n    step_2()", "def run()\n    # continues at line 7\n    step_5()"]
    joined = join_cut_parts(texts, [part(1, 3), part(5, 7)])
    steps = [line for line in joined.split("\n") if "step_" in line]
    assert {len(line) - len(line.lstrip()) for line in steps} == {4}
