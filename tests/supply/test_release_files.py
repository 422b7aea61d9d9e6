"""Do the container and the release keep to the lock, and to as few rights as they need?"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
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
    wanted = ("make audit", "make test", "make smoke", "make test-site", "make sbom")
    places = [next(at for at, step in enumerate(steps) if want in step) for want in wanted]
    assert places == sorted(places)
    assert workflow["permissions"] == {"contents": "read"}
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["needs"] == "build"
    assert any("/OWNER/" in step for step in steps)
    image = workflow["jobs"]["image"]
    assert image["permissions"] == {"contents": "read", "packages": "write"}
    assert image["needs"] == "publish"
    built, *_, pushed = [step["run"] for step in image["steps"] if "run" in step]
    assert "docker build" in built
    assert "docker push" in pushed
    assert "secrets." not in str(workflow)
    used = [
        step["uses"] for job in (build, publish, image) for step in job["steps"] if "uses" in step
    ]
    assert all(re.search(r"@[0-9a-f]{40}$", action) for action in used)


def test_each_target_that_a_release_uses_exists() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    targets = re.findall(r"run: make ([\w-]+)", text)
    assert len(targets) == 5
    for target in targets:
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


def test_packages_are_built_from_the_lock_and_checked() -> None:
    recipe = MAKEFILE[MAKEFILE.index("\npackages:") : MAKEFILE.index("\nsmoke:")]
    assert recipe.count("-m build --no-isolation") == 2
    assert "twine check --strict" in recipe
    assert "\nsmoke: packages\n" in MAKEFILE


@pytest.mark.parametrize("file", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=str)
def test_a_workflow_has_few_rights_and_pinned_actions(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in str(workflow)
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    for step in steps:
        uses = step.get("uses", "")
        assert not uses or re.search(r"@[0-9a-f]{40}$", uses), uses
        if uses.startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        for target in re.findall(r"^make ([\w-]+)$", step.get("run", ""), re.MULTILINE):
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


def test_the_tests_run_on_every_system_and_python() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text("utf-8"))["jobs"]
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "classifiers"
    ]
    named = {line.rpartition(" ")[2] for line in classifiers if "Python :: 3." in line}
    assert {*jobs["linux"]["strategy"]["matrix"]["python"]} == named
    systems = {each.partition("-")[0] for each in jobs["packages"]["strategy"]["matrix"]["system"]}
    assert systems == {"ubuntu", "macos", "windows"}


def test_a_bug_report_asks_for_what_the_command_prints() -> None:
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/bug.yml").read_text("utf-8"))
    fields = {each["id"]: each for each in form["body"] if "id" in each}
    assert "quire doctor --report" in fields["report"]["attributes"]["label"]
    assert fields["report"]["validations"]["required"] is True
    assert "--report" in (ROOT / "docs" / "cli.md").read_text("utf-8")
