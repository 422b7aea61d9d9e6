"""A RAG loop: a session keeps the prompt's beginning, a provider answers.

Run it with OPENAI_BASE_URL, for example of a local server: `python examples/rag_loop.py FOLDER`.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from pathlib import Path

import quire

QUESTIONS = ("When are refunds paid?", "Who approves a refund?")


def complete(messages: list[quire.Message]) -> tuple[str, int]:
    """Ask a provider that speaks OpenAI's protocol; return the answer and the cached tokens."""
    request = urllib.request.Request(
        f"{os.environ['OPENAI_BASE_URL']}/chat/completions",
        data=json.dumps({"model": "gpt-4o-mini", "messages": messages}).encode(),
        headers={
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', 'none')}",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    details = answer.get("usage", {}).get("prompt_tokens_details", {})
    return answer["choices"][0]["message"]["content"], details.get("cached_tokens", 0)


def main(folder: str) -> None:
    """Ask all questions about the files of a folder."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    with quire.open(folder) as q:
        q.index(embed=False)
        session = q.session(budget=2000, model="gpt-4o-mini")
        for question in QUESTIONS:
            turn = session.ask(question)
            answer, cached = complete(turn.as_messages("openai"))
            print(f"{question}\n  {answer}")
            print(f"  {turn.tokens} tokens, {turn.cached_tokens} could be cached, {cached} were")
            for source in turn.context:
                print(f"  from {source.path}:{source.lines[0]}")


if __name__ == "__main__":
    main(sys.argv[1])
