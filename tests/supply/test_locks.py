"""Do the lock files hold what pyproject.toml asks for, with hashes, and nothing of this machine?"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "requirements"
LOCKS = ("run", "postgresql", "dev", "release", "site")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
NAME = PROJECT["project"]["name"]
OWN = {"quire-context-model"}
"""Distributions that are built from this repository; their content has hashes in the code."""
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}")


@dataclass(frozen=True)
class Locked:
    """One package of a lock file."""

    name: str
    version: Version
    marker: Marker | None
    hashes: int


def read(lock: str) -> list[Locked]:
    """Read a lock file; a line that is neither a package, a hash nor a comment fails."""
    packages: list[Locked] = []
    text = (FOLDER / f"{lock}.txt").read_text("utf-8")
    for line in text.replace(" \\\n", "\n").splitlines():
        if line.startswith("#"):
            continue
        if HASH.fullmatch(line):
            last = packages.pop()
            packages.append(Locked(last.name, last.version, last.marker, last.hashes + 1))
            continue
        wanted = Requirement(line)
        (pin,) = wanted.specifier
        assert pin.operator == "==", line
        packages.append(Locked(wanted.name, Version(pin.version), wanted.marker, 0))
    return packages


def asked(lock: str) -> list[Requirement]:
    """Return what a lock file must answer; an extra of this project stands for its own parts."""
    lines = {
        "run": [*PROJECT["project"]["dependencies"], *EXTRAS["all"]],
        "postgresql": [
            *PROJECT["project"]["dependencies"],
            *EXTRAS["all"],
            *EXTRAS["postgresql"],
        ],
        "dev": [*PROJECT["project"]["dependencies"], *EXTRAS["all"], *EXTRAS["dev"]],
        "release": [*PROJECT["dependency-groups"]["release"], *PROJECT["build-system"]["requires"]],
        "site": PROJECT["dependency-groups"]["site"],
    }[lock]
    found: list[Requirement] = []
    waiting = [Requirement(line) for line in lines]
    while waiting:
        wanted = waiting.pop()
        if wanted.name == NAME:
            waiting += [Requirement(inner) for extra in wanted.extras for inner in EXTRAS[extra]]
        else:
            found.append(wanted)
    return [wanted for wanted in found if wanted.name not in OWN]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_locked_inside_its_bounds(lock: str) -> None:
    packages = read(lock)
    for wanted in asked(lock):
        name = canonicalize_name(wanted.name)
        found = [package for package in packages if package.name == name]
        assert found, f"{wanted} is not locked: run `make lock`"
        outside = [one for one in found if one.version not in wanted.specifier]
        assert not outside, f"{wanted} is locked at {outside}: run `make lock`"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_has_hashes(lock: str) -> None:
    packages = read(lock)
    assert len(packages) > 20
    assert [one.name for one in packages if not one.hashes] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_an_index_or_a_path(lock: str) -> None:
    text = (FOLDER / f"{lock}.txt").read_text("utf-8")
    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text
    assert not re.search(r"(^|\s)/\w", text)


def test_development_has_the_versions_that_run() -> None:
    run = {(one.name, one.version, str(one.marker)) for one in read("run")}
    dev = {(one.name, one.version) for one in read("dev")}
    assert {(name, version) for name, version, _ in run} <= dev


def test_each_extra_that_users_install_is_in_all() -> None:
    (line,) = EXTRAS["all"]
    frameworks = {"langchain", "llamaindex", "haystack", "pydantic-ai", "dspy", "openai-agents"}
    sources = {"postgresql", "bucket"}  # psycopg is under the LGPL, which `all` does not bring
    cluster = {"ray", "qdrant"}  # for those who outgrow one machine; heavy
    others = {"all", "dev", "bench", *frameworks, *sources, *cluster}
    assert Requirement(line).extras == EXTRAS.keys() - others


def test_every_dependency_is_bounded_above() -> None:
    lines = [
        *PROJECT["project"]["dependencies"],
        *(line for extra, lines in EXTRAS.items() if extra != "all" for line in lines),
        *PROJECT["dependency-groups"]["release"],
        *PROJECT["dependency-groups"]["site"],
    ]
    for wanted in map(Requirement, lines):
        operators = {part.operator for part in wanted.specifier}
        assert wanted.name == NAME or operators & {"<", "=="}, wanted


def test_each_extra_that_users_install_is_listed() -> None:
    page = (ROOT / "docs" / "index.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`([a-z-]+)`", row)]
    others = {"all", "dev", "bench"}
    assert sorted(listed) == sorted(EXTRAS.keys() - others)
