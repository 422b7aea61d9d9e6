"""Does the bill of materials have a version, a hash and a licence for everything?"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from quire import __version__

DOCS = Path(__file__).parents[2] / "docs"
HASH = "ab" * 32
REPORT = {
    "install": [
        {
            "metadata": {"name": "Protobuf"},
            "download_info": {"archive_info": {"hashes": {"sha256": HASH}}},
        }
    ]
}


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bill(**component: Any) -> dict[str, Any]:
    return {"metadata": {"component": {"name": "quire-context"}}, "components": [component]}


def test_what_is_missing_is_filled_in() -> None:
    make_sbom = load("make_sbom")
    links = [{"url": "file:///home/me/x.whl"}, {"url": "https://example.org"}]
    given = bill(name="protobuf", version="7.0", externalReferences=links)
    done = make_sbom.complete(given, make_sbom.read_hashes([REPORT]), make_sbom.own_version())
    main, (protobuf,) = done["metadata"]["component"], done["components"]
    assert main["version"] == __version__
    assert main["purl"] == f"pkg:pypi/quire-context@{__version__}"
    assert protobuf["hashes"] == [{"alg": "SHA-256", "content": HASH}]
    assert protobuf["licenses"] == [{"expression": "BSD-3-Clause"}]
    assert protobuf["externalReferences"] == links[1:]


@pytest.mark.parametrize(
    ("component", "missing"),
    [
        ({"name": "no-such-package", "version": "1", "licenses": [{}]}, "hashes"),
        ({"name": "protobuf", "licenses": [{}]}, "version"),
    ],
)
def test_a_gap_fails(component: dict[str, Any], missing: str) -> None:
    make_sbom = load("make_sbom")
    with pytest.raises(SystemExit, match=f"has no {missing}"):
        make_sbom.complete(bill(**component), make_sbom.read_hashes([REPORT]), "1")


def test_the_table_of_a_release_has_sizes_and_hashes(tmp_path: Path) -> None:
    for name in ("dist", "site"):
        (tmp_path / name).mkdir()
    (tmp_path / "dist" / "a.whl").write_bytes(b"abc")
    (tmp_path / "site" / "index.html").write_bytes(b"<html>")
    table = load("make_release_table").table(tmp_path / "dist", tmp_path / "site")
    assert (
        "| a.whl | 3 | `ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad` |"
        in table
    )
    assert "| site/ (the list of its files) | 6 | `" in table
