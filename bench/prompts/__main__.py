"""Send labelled prompts to the prompt hook, and count what it adds.

`prompts.jsonl` has prompts without a question (confirmations, small talk, commands), where the hook
is to add nothing, and prompts with one, each with a project and gold strings of which one must
stand on the page. The questions of `bench.use` are prompts with a question too. A hash of its text
puts each into one of two halves: one to tune on, one that is run once, for a setting that is final.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.report import Table
from bench.use import questions, stores
from bench.use.questions import KEPT, SPLITS, TUNE, Question
from quire.integrations.clients import CLIENTS, PROMPT
from quire.integrations.hooks import pages
from quire.integrations.hooks.payloads import HookEvent

PROMPTS = Path(__file__).parent / "prompts.jsonl"
TALKED_TO = "click"
"""The project in which prompts without a question are typed."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, the project it is typed in, and what must stand on its page, if anything."""

    text: str
    project: str = TALKED_TO
    gold: tuple[str, ...] = ()
    half: str = ""
    """The half that it belongs to, if rules were made after it was read."""

    @property
    def split(self) -> str:
        """The half that it belongs to, by a hash of its text where nothing else says it."""
        if self.half:
            return self.half
        return TUNE if hashlib.sha256(self.text.encode()).digest()[0] % 2 else KEPT

    def is_helped(self, page: str) -> bool:
        """Tell whether a page holds one of the gold strings."""
        return Question("", self.project, self.text, self.gold).is_held(page)


def load(split: str) -> list[Prompt]:
    """Load the prompts of a half, or all of them, those without a question first."""
    rows = map(json.loads, PROMPTS.read_text("utf-8").splitlines())
    prompts = [
        Prompt(
            row["prompt"],
            row.get("project", TALKED_TO),
            tuple(row.get("gold", ())),
            row.get("half", ""),
        )
        for row in rows
    ]
    prompts += [Prompt(one.question, one.project, one.gold) for one in questions.load("all")]
    return [one for one in prompts if split in {"all", one.split}]


def main() -> None:
    """Send all prompts, and print a table."""
    asked = _arguments()
    prompts = load(asked.split)
    silent = told = helped = 0
    characters: list[int] = []
    for prompt, page in _pages(prompts, asked.mirrors):
        characters.append(len(page))
        if not prompt.gold:
            silent += not page
        else:
            told, helped = told + bool(page), helped + prompt.is_helped(page)
        missed = bool(page) if not prompt.gold else not prompt.is_helped(page)
        if asked.missed and missed:
            print(f"{prompt.project}: {len(page)} characters: {prompt.text}", file=sys.stderr)
    talk = sum(not prompt.gold for prompt in prompts)
    table = Table(
        f"the prompt hook, {len(prompts)} prompts ({asked.split}), by words alone",
        ("prompts", "of", "nothing is added", "something is added", "it helps"),
    )
    table.add("without a question", talk, silent, talk - silent, "")
    table.add("with a question", len(prompts) - talk, len(prompts) - talk - told, told, helped)
    print(table.text())


def _pages(prompts: list[Prompt], mirrors: Path | None) -> Iterator[tuple[Prompt, str]]:
    """Yield each prompt with what the hook adds to it, project by project."""
    client = CLIENTS["claude-code"]
    for name in dict.fromkeys(prompt.project for prompt in prompts):
        with stores.opened(name, 0, mirrors) as (_, folder):
            for prompt in (one for one in prompts if one.project == name):
                event = HookEvent(prompt=prompt.text, folder=str(folder))
                yield prompt, pages.build(client, PROMPT, event, pages.HookOptions()).text


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.prompts",
        description="Send labelled prompts to the prompt hook, and count what it adds.",
    )
    parser.add_argument("--split", choices=SPLITS, default=TUNE)
    parser.add_argument("--mirrors", type=Path, help="a folder of clones to use")
    parser.add_argument("--missed", action="store_true", help="name the prompts that went wrong")
    return parser.parse_args()


if __name__ == "__main__":
    main()
