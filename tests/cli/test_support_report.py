"""`quire doctor --report` says what a bug report needs, and nothing that anybody wrote."""

from __future__ import annotations

import json

import pytest

from quire import __version__
from tests.conftest import Tree

PRIVATE = ("zebra", "quokka", "wombat", "ocelot", "narwhal")
SETTINGS = """\
viewer = "quokka"

[ingest]
ignore = ["narwhal/**"]

[judge]
provider = "llm"
url = "https://ocelot.example/v1"

[access]
"zebra/**" = ["quokka"]

[groups]
wombat = ["quokka"]
"""


@pytest.fixture
def project(tree: Tree) -> Tree:
    """A project whose every name and text is private."""
    tree.fill({"zebra/ocelot.md": "# Wombat\n\nThe quokka sleeps.\n", "quire.toml": SETTINGS})
    tree.index()
    return tree


def test_a_report_has_versions_settings_and_counts(project: Tree) -> None:
    done = project.call("doctor", "--report", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["quire"] == __version__
    assert report["packages"]["numpy"]
    assert {"viewer", "access", "groups", "ingest.ignore"} <= {*report["settings"]}
    assert report["counts"]["records"] == 1
    assert report["counts"]["access rules"] == 1
    assert (report["problems"], report["error"]) == ({}, "")


def test_nothing_that_somebody_wrote_is_in_a_report(project: Tree) -> None:
    """The settings of this project need trust, which other commands note with their values."""
    done = project.call("doctor", "--report")
    assert (done.returncode, done.stderr) == (0, "")
    printed = (done.stdout + done.stderr).lower()
    assert "settings that are not the default" in printed
    assert [word for word in (*PRIVATE, str(project.root).lower()) if word in printed] == []


def test_a_damaged_store_is_reported_without_its_place(project: Tree) -> None:
    (project.root / ".quire" / "store.db").write_bytes(b"quokka" * 2000)
    done = project.call("doctor", "--report")
    assert done.returncode == 0
    assert "the store could not be used: " in done.stdout
    assert "viewer" in done.stdout  # settings are named all the same
    assert [
        word for word in (*PRIVATE, str(project.root)) if word in done.stdout + done.stderr
    ] == []


def test_a_report_changes_nothing(project: Tree) -> None:
    done = project.call("doctor", "--report", "--repair")
    assert done.returncode == 2
    assert "--report" in done.stderr
