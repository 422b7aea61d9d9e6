"""The template of a plug-in is installed with pip, and used by a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import COMMAND, TIME_LIMIT

TEMPLATE = Path(__file__).parents[2] / "docs" / "plugin-template"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install the template into a folder, and give the variables that let Python find it."""
    pytest.importorskip("hatchling", reason="builds the template: install the extra `dev`")
    folder = tmp_path_factory.mktemp("template")
    source = shutil.copytree(TEMPLATE, folder / "source")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--target", str(folder / "installed"), str(source)]
    subprocess.run(command, check=True, timeout=TIME_LIMIT, capture_output=True)
    known = filter(None, (str(folder / "installed"), os.environ.get("PYTHONPATH")))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(known)}


def test_the_template_passes_its_own_test(environment: dict[str, str], tmp_path: Path) -> None:
    shutil.copytree(TEMPLATE / "tests", tmp_path / "tests")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_template_is_listed(environment: dict[str, str], tmp_path: Path) -> None:
    def run(**variables: str) -> list[dict[str, str]]:
        done = subprocess.run(
            [COMMAND, "plugins", "--json"],
            cwd=tmp_path,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: list[dict[str, str]] = json.loads(done.stdout)["plugins"]
        return [each for each in found if each["distribution"] == "quire-example"]

    assert [(each["group"], each["name"], each["state"]) for each in run()] == [
        ("collectors", "titled", "loaded"),
        ("embedders", "letters", "loaded"),
        ("formats", "numbered", "loaded"),
        ("readers", "vcard", "loaded"),
        ("rerankers", "overlap", "loaded"),
        ("sources", "diary", "loaded"),
    ]
    assert {each["version"] for each in run()} == {"0.1.0"}
    assert {each["state"] for each in run(QUIRE_PLUGINS="0")} == {"disabled"}
    some = {each["name"]: each["state"] for each in run(QUIRE_PLUGINS_DISABLE="readers:vcard")}
    assert some["vcard"] == "disabled"
    assert some["titled"] == "loaded"
