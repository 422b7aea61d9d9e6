"""Do the container and the release keep to the lock, and to as few rights as they need?"""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def commands(text: str) -> str:
    """Return a Dockerfile without comments, each instruction on one line."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return "\n".join(lines).replace("\\\n", " ")


def test_the_container_installs_from_the_lock_only() -> None:
    text = commands((ROOT / "Dockerfile").read_text("utf-8"))
    installs = re.findall(r"pip\b[^&\n]*? install [^&\n]*", text)
    assert len(installs) == 3
    for install in installs:
        locked = "--require-hashes" in install and "-r requirements/" in install
        assert locked or "--no-index --no-deps dist/" in install, install


def test_the_container_runs_without_root() -> None:
    text = commands((ROOT / "Dockerfile").read_text("utf-8"))
    last = text[text.rindex("FROM ") :]
    assert re.search(r"^USER [1-9]\d*$", last, re.MULTILINE)
    assert last.index("USER ") < last.index("ENTRYPOINT")


def test_the_container_is_built_from_what_it_needs() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert ignored[0] == "*"
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", commands((ROOT / "Dockerfile").read_text("utf-8")), re.MULTILINE)  # fmt: skip
    for name in " ".join(copied).split():
        assert (ROOT / name).exists(), name
        assert f"!{name.split('/')[0]}" in ignored, name


def test_a_release_is_audited_tested_and_published_without_a_token() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    steps = [step.get("run", "") for step in build["steps"]]
    wanted = ("make audit", "make test", "-m build --no-isolation", "make sbom")
    places = [next(at for at, step in enumerate(steps) if want in step) for want in wanted]
    assert places == sorted(places)
    assert workflow["permissions"] == {"contents": "read"}
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["needs"] == "build"
    assert "secrets." not in str(workflow)
    used = [step["uses"] for job in (build, publish) for step in job["steps"] if "uses" in step]
    assert all(re.search(r"@(v\d|release/v\d|[0-9a-f]{40})", action) for action in used)


def test_each_target_that_a_release_uses_exists() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    targets = re.findall(r"run: make (\w+)", text)
    assert len(targets) == 3
    for target in targets:
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
