"""The examples in the documents do what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from quire import config
from quire.pipeline import recipe

from .examples import MARK, Example, Step, examples, fits, run

ROOT = Path(__file__).parents[2]
SAMPLE = Path(__file__).parent / "sample"
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}
BIN = str(Path(sys.executable).parent)
FRAMEWORKS = ROOT / "docs" / "frameworks.md"  # run where they are installed: tests/adapters
PAGES = {
    page
    for folder in ("", "how-to", "guide", "reference", "explanation")
    for page in (ROOT / "docs" / folder).glob("*.md")
}
DOCUMENTS = [ROOT / "README.md", *sorted(PAGES - {FRAMEWORKS})]
RECORDED = (ROOT / "README.md", ROOT / "docs" / "tutorial.md")
RECORDED_MARK = f"{MARK} on itsdangerous"
FOUND = [
    pytest.param(example, id=f"{document.relative_to(ROOT)}:{example.line}")
    for document in DOCUMENTS
    for example in examples(document.read_text("utf-8"))
]
TASKS = [
    str(page.relative_to(ROOT))
    for folder in ("how-to", "guide")
    for page in (ROOT / "docs" / folder).glob("*.md")
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (document.name, match[1], match[2])
    for document in DOCUMENTS
    for match in BLOCK.finditer(document.read_text("utf-8"))
]
DATA = [
    pytest.param(kind, text, id=name) for name, kind, text in BLOCKS if kind in {"json", "toml"}
]


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A fresh copy of the sample project."""
    folder = tmp_path / "sample"
    shutil.copytree(SAMPLE, folder)
    (folder / ".quire").mkdir()  # so that it is a project, whatever lies above it
    return folder


@pytest.mark.model
@pytest.mark.parametrize("example", FOUND)
def test_a_document_says_what_happens(example: Example, sample: Path) -> None:
    wrong = run(example, sample, BIN, GIT)
    assert wrong is None, wrong


def test_the_first_examples_are_run() -> None:
    assert any(str(param.id).startswith("README.md") for param in FOUND)


def test_every_console_and_python_example_is_run() -> None:
    runnable = [(name, text) for name, kind, text in BLOCKS if kind in {"console", "python"}]
    assert [block for block in runnable if not block[1].startswith(MARK)] == []


@pytest.mark.parametrize(("kind", "text"), DATA)
def test_examples_of_data_can_be_read(tmp_path: Path, kind: str, text: str) -> None:
    """Settings, recipes and JSON that need an endpoint or a client are at least read."""
    if kind == "json":
        json.loads(text)
        return
    file = tmp_path / config.FILE
    file.write_text(text, "utf-8")
    if text.startswith("[project"):  # of another package's pyproject.toml
        tomllib.loads(text)
    elif text.startswith("extends"):
        recipe.load(str(file))
    else:
        config.load(tmp_path)


@pytest.mark.skipif("QUIRE_ITSDANGEROUS" not in os.environ, reason="needs a clone (2.2.0)")
@pytest.mark.model
@pytest.mark.parametrize("document", RECORDED, ids=lambda page: page.name)
def test_what_was_recorded_on_a_real_project_still_happens(document: Path, tmp_path: Path) -> None:
    """QUIRE_ITSDANGEROUS names a clone of pallets/itsdangerous; blocks of a page follow another."""
    clone = tmp_path / "itsdangerous"
    source = os.environ["QUIRE_ITSDANGEROUS"]
    git = ["git", "clone", "-q", "-b", "2.2.0", source, str(clone)]
    subprocess.run(git, check=True, capture_output=True)
    found = examples(document.read_text("utf-8"), RECORDED_MARK)
    assert found
    for example in found:
        wrong = run(example, clone, BIN, GIT)
        assert wrong is None, wrong


@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md", *sorted(TASKS)])
def test_options_in_the_text_exist(name: str) -> None:
    option = re.compile(r"(?<![\w-])--[a-z][\w-]*")
    written = option.findall((ROOT / name).read_text("utf-8"))
    known = option.findall((ROOT / "docs" / "cli.md").read_text("utf-8"))
    foreign = {"--amend", "--branch"}  # git's
    assert sorted({*written} - {*known} - foreign) == []


# --- the runner itself -------------------------------------------------------------------------

DOCUMENT = """\
# Title

```console
$ not run
```

```console
# runs
$ echo one; echo two >&2
one
two
$ false  # exits 1
```

```sh
# runs
$ not run either
```

```python
raise ValueError("not run")
```

```python
# runs
print("three")
```
"""


def test_only_marked_blocks_are_run() -> None:
    assert examples(DOCUMENT) == [
        Example(7, (Step("echo one; echo two >&2", ("one", "two")), Step("false", (), 1))),
        Example(24, (Step("python - <<'END'\nprint(\"three\")\nEND", ("…",)),)),
    ]


@pytest.mark.parametrize(
    ("expected", "printed", "matches"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("", "", True),
        ("", "a", False),
        ("a.c", "abc", False),
        ("a … c", "a (b) c", True),
        ("a … c", "a (b) d", False),
        ("…", "", True),
        ("…", "a\nb", True),
        ("a\n…\nc", "a\nc", True),
        ("a\n…\nc", "a\nb\nb\nc", True),
        ("a\n…\nc", "a\nb", False),
        ("a\n…", "b\na", False),
        ("… b", "a\nb", False),
    ],
)
def test_what_fits(expected: str, printed: str, matches: bool) -> None:
    assert fits(tuple(expected.splitlines()), printed.splitlines()) is matches


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("$ cat README.md\n# Ledger\n…", None),
        ("$ cat README.md\n# Something else", "expected (code 0):\n    # Something else"),
        ("$ quire --version\nquire, version …\n$ false", "line 1: $ false"),
        ("$ exit 3  # exits 3", None),
    ],
)
def test_a_wrong_example_is_shown(sample: Path, block: str, message: str | None) -> None:
    (example,) = examples(f"```console\n# runs\n{block}\n```\n")
    wrong = run(example, sample, BIN, GIT)
    assert wrong is None if message is None else message in str(wrong)


@pytest.mark.parametrize(
    ("line", "message"), [("assert True", None), ("assert not 1", "AssertionError")]
)
def test_a_program_must_succeed(sample: Path, line: str, message: str | None) -> None:
    (example,) = examples(f"```python\n# runs\n{line}\n```\n")
    wrong = run(example, sample, BIN, GIT)
    assert wrong is None if message is None else message in str(wrong)
