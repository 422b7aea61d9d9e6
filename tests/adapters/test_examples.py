"""The examples in docs/frameworks.md run, each where its framework is installed."""

from __future__ import annotations

import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.cli.examples import MARK, Example, examples, run

from .test_missing import ADAPTERS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "frameworks.md").read_text("utf-8")
SAMPLE = ROOT / "tests" / "cli" / "sample"
_ADAPTER = re.compile(r"quire\.adapters\.(\w+)")
_TESTED = re.compile(r"\| ([a-z-]+) (\d[\d.]*) \|$", re.MULTILINE)
FOUND = [pytest.param(example, id=f"line {example.line}") for example in examples(PAGE)]


@pytest.mark.parametrize("example", FOUND)
def test_an_example_runs(example: Example, tmp_path: Path) -> None:
    (adapter,) = set(_ADAPTER.findall(example.steps[0].command))
    if find_spec(ADAPTERS[adapter][1]) is None:
        pytest.skip(f"{ADAPTERS[adapter][1]} is not installed (make test-adapters)")
    folder = tmp_path / "sample"
    shutil.copytree(SAMPLE, folder)
    (folder / ".quire").mkdir()
    wrong = run(example, folder, str(Path(sys.executable).parent), {})
    assert wrong is None, wrong


def test_every_example_is_run_and_every_adapter_has_one() -> None:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert all(kind == "python" and text.startswith(MARK) for kind, text in blocks)
    assert {name for _, text in blocks for name in _ADAPTER.findall(text)} == ADAPTERS.keys()


def test_the_versions_that_were_tested_are_allowed() -> None:
    """The page names a version of each framework, and the extra takes it."""
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    wanted = [Requirement(line) for extra, _ in ADAPTERS.values() for line in extras[extra]]
    tested = dict(_TESTED.findall(PAGE))
    assert tested.keys() == {requirement.name for requirement in wanted}
    for requirement in wanted:
        assert Version(tested[requirement.name]) in requirement.specifier
        try:
            installed = version(requirement.name)
        except PackageNotFoundError:
            continue
        assert Version(installed) in requirement.specifier


def test_every_name_in_the_table_exists() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "`Quire" in line]
    names = {name for row in rows for name in re.findall(r"`([Qq]uire[_A-Z]\w*)`", row)}
    sources = "".join(
        (ROOT / "src" / "quire" / "adapters" / f"{adapter}.py").read_text("utf-8")
        for adapter in ADAPTERS
    )
    defined = set(re.findall(r"^(?:class|def) ([Qq]uire\w+)", sources, re.MULTILINE))
    assert names
    assert names <= defined
