"""Evaluation: the share of the expected evidence in contexts, and where the rest was lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire.engine import Quire
from quire.errors import InputError
from quire.evaluation.evaluate import Evaluation, Miss, evaluate, measure_recall
from quire.evaluation.questions import Expected, read_questions
from tests.conftest import Tree

LONG = "\n\n".join(
    f"Paragraph {n} tells of rivers, of bridges and of the boats that pass below them each day."
    for n in range(60)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shelf")
    (root / "quire.toml").write_text('[access]\n"hidden/**" = ["alice"]\n')
    (root / "rivers.md").write_text(f"# Rivers\n\n{LONG}\n")
    (root / "twin.md").write_text("# Whales\n\nA whale is a mammal of the sea. It sings.\n")
    (root / "twin2.md").write_text("# Whales\n\nA whale is a mammal of the sea. It sings.\n")
    (root / "stars.md").write_text("# Stars\n\nSirius is the brightest star at night.\n")
    (root / "hidden").mkdir()
    (root / "hidden" / "plan.md").write_text("# Plan\n\nThe whale plan is secret.\n")
    return root


@pytest.fixture(scope="module")
def shelf(folder: Path) -> Iterator[Quire]:
    with quire.open(folder) as opened:
        opened.index(embed=False)
        yield opened


def run_evaluation(shelf: Quire, *lines: dict[str, object], **more: object) -> Evaluation:
    questions = read_questions("\n".join(json.dumps(line) for line in lines))
    return evaluate(shelf, questions, **more)  # type: ignore[arg-type]  # whatever a test names


def only_miss(evaluation: Evaluation) -> Miss:
    ((miss,),) = [result.misses for result in evaluation.measured]
    return miss


def test_what_is_held_counts_whole(shelf: Quire) -> None:
    evaluation = run_evaluation(
        shelf,
        {"query": "brightest star", "expect": ["stars.md", "stars.md:3"]},
        {"query": "mammal sea", "expect": {"excerpt": "A whale is a mammal\nof the sea."}},
        budgets=[300],
    )
    (result,) = evaluation.measured
    assert (result.recall, result.complete, result.misses) == (1.0, 1.0, ())
    assert evaluation.questions == 2
    assert 0 < result.tokens <= 300


def test_more_budget_holds_more(shelf: Quire) -> None:
    evaluation = run_evaluation(
        shelf, {"query": "rivers bridges boats", "expect": ["rivers.md:1-119"]}, budgets=[900, 200]
    )
    assert [result.budget for result in evaluation.measured] == [200, 900]
    small, large = evaluation.measured
    assert 0 < small.recall < large.recall < 1


def test_lines_are_counted_by_what_is_shown(shelf: Quire) -> None:
    context = shelf.assemble("brightest star", budget=300, reserve={})
    chunks = shelf.documents.chunks("stars.md")
    assert measure_recall(context, Expected("stars.md", (1, 3)), chunks) == 1
    assert measure_recall(context, Expected("stars.md", (1, 30)), chunks) == 0.1
    named = shelf.assemble(
        "brightest star", recipe="entities", budget=40, levels=["full", "outline"], content=False
    )
    assert measure_recall(named, Expected("stars.md", (3, 3)), chunks) < 1 or "Sirius" in named.text
    assert measure_recall(context, Expected("rivers.md")) == 0
    half = Expected(excerpt="Sirius is the brightest star at night. It is a dog.")
    assert 0.5 < measure_recall(context, half) < 0.9


@pytest.mark.parametrize(
    ("query", "expected", "more", "reason"),
    [
        ("whale", "stars.md", {}, "not retrieved: no word of the query"),
        ("whale", "nowhere.md", {}, "not indexed: may read"),
        ("whale", "hidden/plan.md", {"viewer": "bob"}, "not indexed: may read"),
        ("whale sings", "twin2.md", {}, "duplicate: twin.md"),
        ("rivers boats", "rivers.md:1-119", {"budgets": [120]}, "did not fit: fit"),
    ],
)
def test_a_miss_says_where_it_was_lost(
    shelf: Quire, query: str, expected: str, more: dict[str, object], reason: str
) -> None:
    cause, words = reason.split(": ")
    miss = only_miss(
        run_evaluation(shelf, {"query": query, "expect": expected}, **{"budgets": [2000], **more})
    )
    assert (miss.cause, miss.expected) == (cause, expected)
    assert words in miss.detail


def test_a_budget_for_nothing_is_a_miss_and_no_failure(shelf: Quire) -> None:
    miss = only_miss(run_evaluation(shelf, {"query": "whale", "expect": "twin.md"}, budgets=[2]))
    assert miss.cause == "did not fit"


def test_what_is_ranked_too_low_says_at_which_place(shelf: Quire, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text('extends = "documents"\n[rank]\ntop = 1\ndeeper = 0\n')
    evaluation = run_evaluation(
        shelf,
        {"query": "rivers of boats", "expect": "rivers.md:1-119"},
        recipes=[str(tmp_path / "short.toml")],
        budgets=[4000],
    )
    assert only_miss(evaluation).cause == "ranked too low"
    assert "only the first 1 go on" in only_miss(evaluation).detail


def test_two_recipes_are_compared_question_by_question(shelf: Quire, tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('extends = "documents"\n[rank]\ntop = 1\ndeeper = 0\n')
    lines: list[dict[str, object]] = [
        {"query": f"paragraph {n} rivers", "expect": "rivers.md:1-119", "id": f"q{n}"}
        for n in range(6)
    ]
    evaluation = run_evaluation(
        shelf, *lines, recipes=[str(tmp_path / "one.toml"), "documents"], budgets=[2000]
    )
    (comparison,) = evaluation.compared
    assert comparison.better == 6
    assert comparison.worse == 0
    assert 0 < comparison.low <= comparison.difference <= comparison.high
    again = run_evaluation(shelf, *lines, recipes=["documents", "documents"], budgets=[2000])
    assert (again.compared[0].low, again.compared[0].high) == (0, 0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "the questions: no questions"),
        ("{", "line 1: not JSON"),
        ("[]", '"query"'),
        ('{"query": " ", "expect": "a"}', "line 1: query: must be a non-empty string"),
        ('{"query": "a"}', "line 1: expect: must name"),
        ('{"query": "a", "expect": []}', "line 1: expect: must name"),
        ('{"query": "a", "expect": ""}', "line 1: expect: '' is not a place"),
        ('{"query": "a", "expect": [7]}', "path:12-30"),
        ('{"query": "a", "expect": [{"file": "x"}]}', "path, lines or excerpt"),
        ('{"query": "a", "expect": [{"path": 7}]}', "expect.path: must be"),
        ('{"query": "a", "expect": [{"lines": [1, 2]}]}', "expect.lines: lines need a path"),
        ('{"query": "a", "expect": [{"path": "x", "lines": [2, 1]}]}', "is not a range of lines"),
        ('{"query": "a", "expect": [{"excerpt": " "}]}', "expect.excerpt: must be"),
        ('{"query": "a", "expect": "x", "budget": 3}', "unknown field 'budget'; choose from query"),
        ('{"query": "a", "expect": "x", "viewer": 3}', "viewer: must be a string"),
    ],
)
def test_what_is_no_question_is_refused_by_its_line(line: str, words: str) -> None:
    with pytest.raises(InputError, match="the questions") as caught:
        read_questions(line)
    assert words in str(caught.value)


def run(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("quire")), "eval", *words],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_on_the_command_line(folder: Path, shelf: Quire) -> None:
    lines = '{"query": "star", "expect": "stars.md"}\n{"query": "whale", "expect": "stars.md"}\n'
    done = run(folder, "-", "--budgets", "300,1000", "--json", stdin=lines)
    assert done.returncode == 0, done.stderr
    output = json.loads(done.stdout)
    assert [result["recall"] for result in output["measured"]] == [0.5, 0.5]
    assert output["causes"] == {"not retrieved": 2}
    printed = run(
        folder, "-", "--budgets", "300", "--compare", "documents", "entities", stdin=lines
    )
    assert "lost: 2 not retrieved" in printed.stdout
    assert "entities against documents at 300: recall " in printed.stdout
    assert "stars.md at 300 by documents: not retrieved" in printed.stdout
    assert "stars.md at 300 by entities: not retrieved" in printed.stdout
    for wrong in (["--budgets", "x"], ["--recipe", "documents", "--compare", "a", "b"]):
        assert run(folder, "-", *wrong, stdin=lines).returncode == 2
    assert run(folder, "nowhere.jsonl").returncode == 2


def test_a_miss_says_what_was_skipped_or_redacted(tree: Tree) -> None:
    value = "Kq8v" + "HjHkm1x7"
    tree.fill(
        {
            "deploy.md": f"# Deploy\n\nThe database of the shop:\n\npassword: {value}\n",
            ".env": "SHOP=1\n",
            "plain.md": "# Plain\n\nThe shop opens at nine.\n",
        }
    )
    tree.index()
    cases = {
        "deploy.md": ({"path": "deploy.md", "excerpt": f"password: {value}"}, "redacted"),
        "value": ({"path": "deploy.md", "excerpt": value}, "redacted"),
        "anywhere": ({"excerpt": f"password: {value}"}, "redacted"),
        ".env": (".env", "not indexed"),
        "plain.md": ({"path": "plain.md", "excerpt": "closes at ten"}, "not in the file"),
    }
    with tree.open() as opened:
        for expected, cause in cases.values():
            asked: dict[str, object] = {"query": "the database of the shop", "expect": [expected]}
            miss = only_miss(run_evaluation(opened, asked, budgets=[2000]))
            assert miss.cause == cause, miss
            assert value not in miss.detail
