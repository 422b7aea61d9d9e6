"""The benchmark of real use: its questions, and what counts as an answer."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

from bench.use import baselines, questions
from bench.use.questions import HOME, Question


def test_every_question_has_a_project_and_an_answer() -> None:
    projects = tomllib.loads((HOME / "projects.toml").read_text("utf-8"))
    asked = questions.load("all")
    assert len(asked) >= 99
    assert len({one.id for one in asked}) == len(asked)
    further = questions.load_further("tune")
    assert {one.project for one in (*asked, *further)} == projects.keys()
    assert not {one.project for one in asked} & {one.project for one in further}
    assert len({one.id for one in further}) == len(further) == 48
    assert all(one.gold and all(map(str.strip, one.gold)) for one in (*asked, *further))
    assert all(len(project["commit"]) == 40 for project in projects.values())


def test_each_question_is_in_one_half() -> None:
    halves = {split: {one.id for one in questions.load(split)} for split in ("tune", "kept")}
    assert not halves["tune"] & halves["kept"]
    assert halves["tune"] | halves["kept"] == {one.id for one in questions.load("all")}


def test_an_answer_counts_whatever_its_blanks_and_marks_of_escaping() -> None:
    one = Question("a", "b", "What?", ('x = "a\\b"', "never"))
    assert one.is_held('…\n    x  =\n "a\\\\b" …')
    assert one.is_held("x = &quot;a\\b&quot;")
    assert not one.is_held("x = b")


def test_windows_of_lines_are_the_best_ones_within_the_budget(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing here\n" * 60 + "the heron nests in March\n", "utf-8")
    (tmp_path / "b.txt").write_text("a heron and other words\n" * 3, "utf-8")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "."], check=True)
    page = baselines.page(baselines.WINDOWS, tmp_path, "When does the heron nests?", 200)
    assert page.startswith("a.txt:41\n")
    assert "the heron nests in March" in page
    assert baselines.page(baselines.WINDOWS, tmp_path, "When does the heron nests?", 5) < page
    assert not baselines.page(baselines.WINDOWS, tmp_path, "unicorn", 200)
