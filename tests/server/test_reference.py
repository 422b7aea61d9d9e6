"""docs/http.md is what the OpenAPI document says; what deploys the service names real options."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from quire.cli.serve import serve
from quire.core.servers import is_server

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_the_reference_is_what_the_document_says() -> None:
    spec = importlib.util.spec_from_file_location("make_http", DOCS / "make_http.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "http.md").read_text("utf-8") == module.page(), (
        f"run {Path(sys.executable).name} docs/make_http.py"
    )


def commands() -> list[str]:
    unit = (ROOT / "deploy" / "quire.service").read_text()
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    started = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
    return [started.partition(" ")[2], shlex.join(compose["services"]["quire"]["command"])]


@pytest.mark.parametrize("line", commands())
def test_what_starts_the_service_has_options_that_exist(line: str) -> None:
    words = shlex.split(line)
    assert words[0] == "serve"
    serve.make_context(
        "serve", words[1:], resilient_parsing=True, help_option_names=["-h", "--help"]
    )


def test_with_postgresql_the_store_and_the_driver_are_there() -> None:
    over = yaml.safe_load((ROOT / "deploy" / "compose.postgresql.yaml").read_text())
    quire = over["services"]["quire"]
    lock = quire["build"]["args"]["LOCK"]
    assert "psycopg==" in (ROOT / "requirements" / f"{lock}.txt").read_text()
    assert (
        f"ARG LOCK=run\nCOPY requirements/release.txt requirements/run.txt requirements/{lock}"
        in (ROOT / "Dockerfile").read_text()
    )
    assert is_server(quire["environment"]["QUIRE_STORE"])
    assert "@database/" in quire["environment"]["QUIRE_STORE"]
    base = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]["quire"]
    assert base["environment"]["XDG_STATE_HOME"].startswith("/data/"), "the project is read-only"
    assert "psycopg" not in (ROOT / "requirements" / "run.txt").read_text()


def test_the_container_is_read_only_and_has_no_rights() -> None:
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
    quire = compose["services"]["quire"]
    assert quire["read_only"]
    assert quire["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in quire["ports"])
    assert "USER 10001" in (ROOT / "Dockerfile").read_text()
