"""Find the examples in a document, run them, and compare what they print.

A fenced block of the kind `console` whose first line is `# runs` is run in a fresh copy of the sample
project. A line that begins with `$ ` is a command; the lines below it are what it prints: standard
output first, then standard error. `…` stands for anything within a line, and on a line of its own for
any number of lines. A command must succeed, unless it ends with `# exits N`.

`# runs on itsdangerous` marks what was recorded on a real project: it is run where a clone of it is
at hand.

A block of the kind `python` that begins so is run as a whole: it must succeed, whatever it prints.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MARK = "# runs"
REST = "…"
_FENCE = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXITS = re.compile(r"\s*# exits (\d+)$")


@dataclass(frozen=True, slots=True)
class Step:
    """A command, the lines that it should print, and the code with which it should end."""

    command: str
    expected: tuple[str, ...]
    code: int = 0


@dataclass(frozen=True, slots=True)
class Example:
    """The steps of one block, and the line of the document where it begins."""

    line: int
    steps: tuple[Step, ...]


def examples(text: str, wanted: str = MARK) -> list[Example]:
    """Return the blocks of a document that are marked to be run, by the mark in their first line."""
    blocks = []
    for match in _FENCE.finditer(text):
        mark, *lines = match[2].splitlines()
        if mark.strip() == wanted:
            line = text.count("\n", 0, match.start()) + 1
            steps = _steps(lines) if match[1] == "console" else [_program(lines)]
            blocks.append(Example(line, tuple(steps)))
    return blocks


def _program(lines: list[str]) -> Step:
    return Step("\n".join(["python - <<'END'", *lines, "END"]), (REST,))


def _steps(lines: list[str]) -> list[Step]:
    steps: list[Step] = []
    for line in lines:
        if line.startswith("$ "):
            exits = _EXITS.search(line)
            code = int(exits[1]) if exits else 0
            steps.append(Step(_EXITS.sub("", line[2:]), (), code))
        elif not steps:
            raise ValueError(f"output without a command before it: {line}")
        else:
            last = steps[-1]
            steps[-1] = Step(last.command, (*last.expected, line), last.code)
    return steps


def fits(expected: tuple[str, ...], printed: list[str]) -> bool:
    """Return whether the printed lines match the expected ones, with wildcards."""
    pattern = "".join(
        r"(?:.*\n)*" if line == REST else ".*".join(map(re.escape, line.split(REST))) + r"\n"
        for line in expected
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def run(example: Example, folder: Path, path: str, environment: Mapping[str, str]) -> str | None:
    """Run an example in a folder; return what was wrong, or None."""
    own = {
        "PATH": f"{path}{os.pathsep}{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(folder.parent / "config"),  # what others trust is not listed
    }
    for step in example.steps:
        done = subprocess.run(
            ["bash", "-c", step.command],
            cwd=folder,
            env={**os.environ, **environment, **own},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        printed = [*done.stdout.splitlines(), *done.stderr.splitlines()]
        if done.returncode != step.code or not fits(step.expected, printed):
            return "\n".join(
                [
                    f"line {example.line}: $ {step.command}",
                    f"expected (code {step.code}):",
                    *(f"    {line}" for line in step.expected),
                    f"printed (code {done.returncode}):",
                    *(f"    {line}" for line in printed),
                ]
            )
    return None
