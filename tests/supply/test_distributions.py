"""Does the source distribution hold what its tests need, and does the README read well on PyPI?"""

from __future__ import annotations

import ast
import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.sdist import SdistBuilder

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def shipped() -> set[str]:
    files = SdistBuilder(str(ROOT)).recurse_included_files()
    return {Path(each.distribution_path).as_posix() for each in files}


def imported(source: str) -> set[str]:
    """Return the top-level packages that a module imports, also inside its functions."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def test_what_the_shipped_tests_import_is_shipped(shipped: set[str]) -> None:
    tests = [path for path in shipped if path.startswith("tests/") and path.endswith(".py")]
    assert len(tests) > 100
    own = {path.name for path in ROOT.iterdir() if path.is_dir() and list(path.glob("*.py"))}
    for test in sorted(tests):
        for package in imported((ROOT / test).read_text("utf-8")) & own:
            assert any(path.startswith(f"{package}/") for path in shipped), f"{test}: {package}"


def test_what_the_shipped_tests_read_is_shipped(shipped: set[str]) -> None:
    for needed in (".github/workflows/release.yml", "bench/use/questions.jsonl", "Makefile"):
        assert needed in shipped
    assert {"mkdocs.yml", "model/README.md", "requirements/run.txt", "Dockerfile"} <= shipped


def test_the_weights_of_the_model_are_not_shipped(shipped: set[str]) -> None:
    """They are a distribution of their own, and ten times as large as the rest."""
    assert not [path for path in shipped if path.startswith("model/weights/")]
    assert sum((ROOT / path).stat().st_size for path in shipped) < 20_000_000


def readme() -> str:
    """Return the README as PyPI gets it."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    metadata: dict[str, Any] = {"urls": PROJECT["urls"]}
    module.CustomMetadataHook(str(ROOT), {}).update(metadata)
    return str(metadata["readme"]["text"])


def test_the_readme_of_the_package_has_no_relative_link() -> None:
    text = readme()
    targets = re.findall(r"\]\(([^()\s]+)\)", text)
    assert len(targets) > 20
    assert [each for each in targets if not each.startswith("https://")] == []
    assert f"![A context and its receipt]({PROJECT['urls']['Source']}/raw/v" in text


def test_the_address_of_the_project_stands_in_one_place() -> None:
    source = PROJECT["urls"]["Source"]
    for name, address in PROJECT["urls"].items():
        assert address.startswith(source), name
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        assert source not in page.read_text("utf-8"), f"{page.name}: link to the file instead"
