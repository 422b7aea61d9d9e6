from __future__ import annotations

import subprocess
import sys

import quire.ingest
from quire.ingest.formats import FORMAT_TABLE, detect_kind

HEAVY = ["tree_sitter", "selectolax", "pypdfium2", "markdown_it", "numpy"]


def test_the_public_names() -> None:
    assert quire.ingest.__all__ == [
        "ROLE",
        "SOURCE",
        "TEST",
        "VERSION",
        "asked_roles",
        "close_readers",
        "compute_digest",
        "compute_record_id",
        "format_names",
        "is_walked",
        "load",
        "missing_grammars",
        "parse",
        "read",
        "read_text",
        "roles",
        "settings_prefix",
        "walk",
    ]
    assert all(hasattr(quire.ingest, name) for name in quire.ingest.__all__)


def test_importing_the_package_loads_no_heavy_library() -> None:
    program = f"import sys, quire.ingest; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_readers_have_names() -> None:
    assert quire.ingest.format_names() == (
        "code",
        "gherkin",
        "html",
        "json",
        "lines",
        "lock",
        "markdown",
        "notebook",
        "office",
        "pdf",
        "rst",
        "svg",
        "text",
    )


def test_no_ending_has_two_rows() -> None:
    endings = [ending for _, _, endings in FORMAT_TABLE for ending in endings.split()]
    assert len(endings) == len(set(endings))
    assert all(ending == ending.lower() for ending in endings)


def test_the_kind_follows_from_the_path_alone() -> None:
    code = ["a.py", "x/Makefile", "Dockerfile", "a.TSX", "CMakeLists.txt", ".bashrc", "q.sql"]
    documents = [
        "a.md",
        "README",
        "x.json",
        "a/b.html",
        "x.pdf",
        "bin/run",
        ".env",
        "a.",
        "x.txt",
        "",
    ]
    assert {detect_kind(path) for path in code} == {"code"}
    assert {detect_kind(path) for path in documents} == {"document"}
