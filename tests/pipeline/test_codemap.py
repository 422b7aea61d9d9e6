"""A code map shows the most used definitions, within its budget, of what may be read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rs_bpe.bpe import openai

import quire
from quire.engine import Quire
from quire.errors import BudgetError, BudgetTooSmallError, InputError

LIBRARY = """
class Ledger:
    def entry(self, amount): ...
    def unused(self): ...

def open_ledger(path): ...

def seldom(): ...
"""
USER = "from library import open_ledger, Ledger\n\n\ndef work_{n}():\n    open_ledger('x').entry({n})\n"
SECRET = "from library import seldom\n" + "".join(
    f"\n\ndef secret_{n}():\n    seldom()\n    hidden_helper()\n" for n in range(30)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("code")
    (root / "quire.toml").write_text('[access]\n"secret/**" = ["alice"]\n')
    (root / "app").mkdir()
    (root / "secret").mkdir()
    (root / "library.py").write_text(LIBRARY)
    for n in range(12):
        (root / "app" / f"user{n}.py").write_text(USER.format(n=n))
    (root / "app" / "page.ts").write_text(
        "export interface Page { name: string }\nexport function show(page: Page) { return page }\n"
    )
    (root / "secret" / "plan.py").write_text(SECRET)
    (root / "secret" / "helper.py").write_text("def hidden_helper(): ...\n")
    (root / "notes.md").write_text("# Notes\n\nopen_ledger is used everywhere.\n")
    return root


@pytest.fixture(scope="module")
def code(folder: Path) -> Iterator[Quire]:
    with quire.open(folder) as opened:
        opened.index(embed=False)
        yield opened


def count(text: str) -> int:
    return int(openai.o200k_base().count(text))


def test_what_most_lean_on_comes_first(code: Quire) -> None:
    found = code.map(budget=40, viewer="bob")
    assert "def open_ledger(path)" in found.text
    assert "def entry(self, amount)" in found.text
    assert "seldom" not in found.text


def test_a_method_is_shown_within_its_class(code: Quire) -> None:
    text = code.map(budget=400, viewer="bob").text
    assert "library.py:\n  2: class Ledger\n    3: def entry(self, amount)\n" in text


def test_every_budget_is_kept_to_the_token(code: Quire) -> None:
    shown = 0
    for budget in (*range(20, 80, 7), 150, 300, 900, 5000):
        found = code.map(budget=budget)
        assert found.tokens == count(found.text) <= budget
        assert found.shown >= shown
        shown = found.shown
    assert shown == found.definitions
    assert code.map(budget=300) == code.map(budget=300)


def test_it_shows_no_more_than_a_folder_but_ranks_over_all(code: Quire, folder: Path) -> None:
    found = code.map([folder / "app"], budget=5000)
    assert "library.py" not in found.text
    assert "app/page.ts:\n" in found.text
    assert "interface Page" in found.text
    assert found.definitions == 14


def test_what_may_not_be_read_neither_shows_nor_counts(code: Quire, tmp_path: Path) -> None:
    bob = code.map(budget=5000, viewer="bob")
    assert "secret" not in bob.text
    assert "hidden_helper" not in bob.text
    assert "hidden_helper" in code.map(budget=5000, viewer="alice").text
    # `seldom` is used by what is hidden alone: that must not lift it.
    order = [code.map(budget=budget, viewer="bob").text for budget in range(20, 120, 5)]
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "app").mkdir()
    for n in range(12):
        (tmp_path / "app" / f"user{n}.py").write_text(USER.format(n=n))
    (tmp_path / "app" / "page.ts").write_text(
        "export interface Page { name: string }\nexport function show(page: Page) { return page }\n"
    )
    (tmp_path / "notes.md").write_text("# Notes\n\nopen_ledger is used everywhere.\n")
    (tmp_path / ".quire").mkdir()
    with quire.open(tmp_path) as alone:
        alone.index(embed=False)
        assert [alone.map(budget=budget).text for budget in range(20, 120, 5)] == order


def test_budgets_that_cannot_be(code: Quire) -> None:
    with pytest.raises(BudgetError, match="budget: must be between 1 and"):
        code.map(budget=0)
    with pytest.raises(BudgetTooSmallError, match="raise budget to") as caught:
        code.map(budget=3)
    needed = int(str(caught.value).rpartition(" ")[2])
    assert code.map(budget=needed).shown == 1
    with pytest.raises(BudgetTooSmallError):
        code.map(budget=needed - 1)
    with pytest.raises(InputError):
        code.map(model="no such model at all")


def test_where_there_is_no_code_it_says_so(code: Quire, folder: Path) -> None:
    found = code.map([folder / "notes.md"])
    assert (found.text, found.shown) == ("", 0)
    assert "no definition to show" in found.notes[0]


def test_on_the_command_line(folder: Path, code: Quire) -> None:
    command = str(Path(sys.executable).with_name("quire"))
    done = subprocess.run(
        [command, "map", "app", "--budget", "120", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told["tokens"] <= 120
    assert told["text"] == code.map([folder / "app"], budget=120).text
    wrong = subprocess.run(
        [command, "map", "--budget", "0"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2


def test_a_type_within_a_function_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "hooks.ts").write_text(
        "export type Shown = string\n"
        "export function createHooks() {\n  type Hidden = Shown\n"
        "  function useOne(): Hidden { return 'a' }\n  return { useOne }\n}\n"
    )
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        text = opened.map(budget=400).text
    assert "type Shown" in text
    assert "useOne" in text
    assert "Hidden =" not in text
