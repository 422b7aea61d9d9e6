"""A code assistant: a map of the code, the definitions that a task needs, and why one is missing.

Run it in a project: `python examples/code_assistant.py FOLDER "how are orders priced"`.
"""

from __future__ import annotations

import sys

import quire


def main(folder: str, task: str) -> None:
    """Show what an assistant would read before it works on a task."""
    with quire.open(folder, settings={"embed": {"provider": "none"}}) as q:
        result = q.index()
        print(f"{result.indexed} files indexed, {result.chunks} chunks")
        print(q.map(budget=300).text)
        context = q.assemble(task, recipe="entities", budget=1500, kinds=["code"])
        print(context.text)
        for source in context:
            print(f"{source.path}:{source.line or source.lines[0]} {source.name}")
        left_out = [each for each in context.decisions if each.verdict == "dropped"]
        for decision in left_out[:3]:
            print(f"left out {decision.path}: {decision.reason}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
