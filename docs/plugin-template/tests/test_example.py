"""Tests of the plug-ins, with a store in a temporary folder. Install the package first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import quire

CARD = "BEGIN:VCARD\nFN:Ada Lovelace\nORG:Analytical Engines\nEMAIL:ada@example.org\nEND:VCARD\n"
SETTINGS = """
[embed]
provider = "none"

[sources.mine]
type = "diary"
location = "diary.txt"
"""


def test_contacts_are_found_and_numbered(tmp_path: Path) -> None:
    (tmp_path / "people.vcf").write_text(CARD)
    recipe = {
        "extends": "documents",
        "sources": {"titled": {"weight": 2}},
        "render": {"format": "numbered"},
    }
    settings = {
        "embed": {"provider": "plugin", "model": "letters"},
        "rerank": {"provider": "plugin", "model": "overlap"},
    }
    with quire.open(tmp_path, settings=settings) as q:
        q.index()
        context = q.assemble("who is Ada Lovelace", recipe=recipe)
        assert not context.failed
        assert context.text.startswith("[1] people.vcf\n# Ada Lovelace")
        assert context.receipt["embedder"] == "plugin:letters-1/27"
        assert q.verify(context.receipt, context.text).holds


def test_entries_of_a_diary_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "quire.toml").write_text(SETTINGS)
    # A plug-in may reach anywhere, so that a project names one as a source only if you trust it.
    command = [sys.executable, "-P", "-m", "quire", "trust", "--yes"]
    subprocess.run(command, cwd=tmp_path, check=True)  # noqa: S603 - of our own words
    diary = tmp_path / "diary.txt"
    diary.write_text("2026-01-30 The engine was oiled.\n2026-01-31 Ada came to see it.\n")
    with quire.open(tmp_path) as q:
        assert q.documents.sync()["mine"].added == 2
        (hit,) = q.search("who came to see the engine", where="day > 2026-01-30")
        assert (hit.path, hit.metadata) == ("mine/2026-01-31", {"day": "2026-01-31"})
        diary.write_text("2026-01-31\n2026-02-01 The engine runs.\n")
        result = q.documents.sync()["mine"]
        assert (result.added, result.removed, result.failed) == (1, 1, "")
