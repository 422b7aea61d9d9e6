"""The part of code that matches a query."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from quire.store.index import analyzer
from quire.tokens import Excerpt, Terms, matching_part, open_counter

COUNTER = open_counter("o200k")
CODE = """def load(path):
    first = open(path)
    second = first.read()
    third = second.strip()

    fourth = third.split()
    if not fourth:
        raise ValueError("the ledger is empty")
    fifth = sorted(fourth)
    sixth = list(fifth)

    return sixth
"""
DECLARED = (0, len("def load(path):"))


def mark(count: int, beside: str) -> str:
    return beside[: len(beside) - len(beside.lstrip())] + f"# {count} more"


def excerpt(
    query: str, declared: tuple[int, int] = DECLARED, related: dict[str, str] | None = None
) -> Excerpt:
    words = dict.fromkeys(analyzer.content_words(query))
    forms = {word: {word: 100} for word in words}
    forms |= {form: {word: 60} for form, word in (related or {}).items()}
    return Excerpt(Terms(dict.fromkeys(words, 100), forms), analyzer.content_words, mark, declared)


def test_the_lines_around_the_words_are_shown_below_the_declaration() -> None:
    part = matching_part(COUNTER, CODE, 45, excerpt("what if the ledger is empty?"))
    assert part == (
        "def load(path):\n"
        "    # 4 more\n"
        "    fourth = third.split()\n"
        "    if not fourth:\n"
        '        raise ValueError("the ledger is empty")\n'
        "    fifth = sorted(fourth)\n"
        "    # 3 more"
    )


def test_lines_of_another_function_have_its_declaration_above_them() -> None:
    code = (
        "def forget(self):\n    self.ledger = None\n    return self\n\n"
        "def keep(\n    self,\n    pages,\n):\n    for page in pages:\n        self.ledger = page\n"
        "    return self\n"
    )
    declared = (code.index("def keep"), code.index("):\n    for") + 2)
    part = matching_part(COUNTER, code, 40, excerpt("ledger None self", declared))
    assert part.startswith("def forget(self):\n    self.ledger = None\n")
    later = "".join(f"    step_{number} = {number}\n" for number in range(30))
    code = code.replace("    for page", f"{later}    for page")
    part = matching_part(COUNTER, code, 60, excerpt("page", (0, 0)))
    assert part.startswith("# 4 more\ndef keep(\n    # 2 more\n):\n    # "), part
    assert "self.ledger = page" in part


def test_a_word_that_is_used_in_place_of_another_is_found() -> None:
    related = {"ledger": "book"}
    part = matching_part(COUNTER, CODE, 40, excerpt("which book?", related=related))
    assert "the ledger is empty" in part


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    code = "alpha = 1\nalpha = 2\nalpha = 3\nother = 4\nalpha = 5\nbeta = 6\n"
    part = matching_part(COUNTER, code, 26, excerpt("alpha or beta", (0, 0)))
    assert "beta = 6" in part


def test_code_without_a_word_of_the_query_has_no_part() -> None:
    assert matching_part(COUNTER, CODE, 40, excerpt("hyphenation of umlauts")) == ""


def test_one_line_between_marks_is_not_shown() -> None:
    assert matching_part(COUNTER, CODE, 24, excerpt("ledger")) == ""


def test_a_declaration_that_takes_more_than_half_is_left_out() -> None:
    code = (
        "def f("
        + ", ".join(f"argument_{n}=None" for n in range(9))
        + "):\n    ledger = 1\n    a = 2\n    b = 3\n"
    )
    part = matching_part(COUNTER, code, 30, excerpt("ledger", (0, len(code.split("\n")[0]))))
    assert part == "# 1 more\n    ledger = 1\n    a = 2\n    b = 3"


def test_a_comment_above_a_long_declaration_says_nothing_of_what_it_does() -> None:
    long = "def f(" + ", ".join(f"argument_{n}=None" for n in range(9)) + "):"
    code = f"# The ledger.\n# Of the ledger.\n# It is long.\n{long}\n    a = 2\n    b = 3\n"
    start = code.index(long)
    assert matching_part(COUNTER, code, 30, excerpt("ledger", (start, start + len(long)))) == ""


def test_a_line_that_takes_no_more_room_than_its_mark_is_shown() -> None:
    code = CODE.replace("    return sixth", "    x()")
    part = matching_part(COUNTER, code, 60, excerpt("what if the ledger is empty?"))
    assert part.endswith("\n    x()"), "no mark for a line that is as short"


@given(
    st.lists(st.sampled_from(["alpha = beta", "    beta(gamma)", "", "gamma", "  x"]), max_size=12),
    st.integers(1, 40),
    st.sampled_from(["alpha", "beta gamma", "gamma", "delta"]),
)
def test_parts_fit_hold_lines_of_the_code_in_their_order_and_mark_every_gap(
    lines: list[str], limit: int, query: str
) -> None:
    code = "\n".join(lines)
    part = matching_part(COUNTER, code, limit, excerpt(query, (0, len(lines[0]) if lines else 0)))
    assert COUNTER.count(part) <= limit
    rest = code.split("\n")
    for line in part.split("\n") if part else ():
        if line.strip().startswith("# "):
            rest = rest[int(line.split()[1]) :]
        else:
            rest = rest[next(at for at, each in enumerate(rest) if each.strip() or not line) :]
            assert rest[0] == line
            rest = rest[1:]
    assert not part or not any(line.strip() for line in rest)


def test_a_mark_counts_for_the_lines_it_stands_for() -> None:
    counts = {"# from above": 0, "# 86 more": 86}
    code = CODE.replace("    first =", "    # from above\n    first =") + "    # 86 more\n"
    looked_for = replace(
        excerpt("what if the ledger is empty?"),
        lines_of=lambda line: counts.get(line.strip(), 1),
    )
    part = matching_part(COUNTER, code, 45, looked_for).split("\n")
    assert part[1] == "    # 4 more", "without the mark above them"
    assert part[-1] == "    # 89 more"


def test_of_a_long_declaration_the_first_and_the_last_line_are_shown() -> None:
    names = "".join(f"    ledger_{number}: int = {number},\n" for number in range(20))
    declaration = f"def load(\n{names}) -> Ledger:"
    code = CODE.replace("def load(path):", declaration)
    part = matching_part(COUNTER, code, 60, excerpt("empty ledger", (0, len(declaration))))
    assert part.startswith("def load(\n    # 20 more\n) -> Ledger:\n    #")
    assert "the ledger is empty" in part
    assert matching_part(COUNTER, code, 60, excerpt("int", (0, len(declaration)))) == ""
    bare = matching_part(COUNTER, declaration, 60, excerpt("ledger", (0, len(declaration))))
    assert bare == "def load(\n    # 20 more\n) -> Ledger:"
