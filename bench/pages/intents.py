"""Write the labelled questions that intents are guessed by, and measure how often they are right.

python -m bench.pages.intents            # the figures
python -m bench.pages.intents --write    # embeds the half to tune on, and writes the examples
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import quire.pipeline
from quire.core.types import EmbedSettings
from quire.embed import open_embedder
from quire.pipeline import recipe
from quire.pipeline.intent_examples import FILE, NONE, Examples, guess_intent, load_examples
from quire.pipeline.intents import parse_query

QUESTIONS = Path(__file__).parent / "questions" / "intents.txt"
EXAMPLES = Path(quire.pipeline.__path__[0]) / FILE


def questions(*, kept_back: bool) -> list[tuple[str, str]]:
    """Return one half of the labelled questions: label and question."""
    lines = QUESTIONS.read_text("utf-8").splitlines()
    rows = [line.split("|", 1) for line in lines if line and not line.startswith("#")]
    pairs = [(label.strip(), question.strip()) for label, question in rows]
    return [pair for pair in pairs if is_kept_back(pair[1]) is kept_back]


def is_kept_back(question: str) -> bool:
    """Tell in which half a question is."""
    return hashlib.sha256(question.encode()).digest()[0] % 2 == 1


def by_table(question: str) -> str:
    """Return the intent that the table of words finds."""
    intents = recipe.load("workspace").intents
    return next(iter(parse_query(question, intents, focus=None, as_of=None).intents), NONE)


def shares(rows: Sequence[tuple[str, str]], found: Sequence[str]) -> str:
    """Return how often an intent is found, and how often one is found where there is none."""
    pairs = [(label, name) for (label, _), name in zip(rows, found, strict=True)]
    right = sum(label == name for label, name in pairs)
    with_one = [label == name for label, name in pairs if label != NONE]
    without = [name != NONE for label, name in pairs if label == NONE]
    return (
        f"right {right / len(pairs):.2f}, found {sum(with_one) / len(with_one):.2f} of "
        f"{len(with_one)}, false {sum(without) / len(without):.2f} of {len(without)}"
    )


def main() -> None:
    embedder = open_embedder(EmbedSettings())
    assert embedder is not None, "the settings' default is a model"
    if "--write" in sys.argv:
        vectors = [
            [label, base64.b64encode(embedder.embed_query(question)).decode()]
            for label, question in questions(kept_back=False)
        ]
        lines = ",\n".join(json.dumps(row) for row in vectors)
        EXAMPLES.write_text(
            f'{{"model": {json.dumps(embedder.model)}, "vectors": [\n{lines}\n]}}\n'
        )
        load_examples.cache_clear()
    examples: Examples = load_examples(embedder.model)
    rows = questions(kept_back=True)
    table = [by_table(question) for _, question in rows]
    both = [
        name if name != NONE else guess_intent(embedder.embed_query(question), examples) or NONE
        for name, (_, question) in zip(table, rows, strict=True)
    ]
    print(f"table of words    {shares(rows, table)}")
    print(f"and the examples  {shares(rows, both)}")


if __name__ == "__main__":
    main()
