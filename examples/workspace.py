"""A workspace: pages and tasks as blocks, and the context of the page that a user is viewing.

Run it: `python examples/workspace.py FOLDER`.
"""

from __future__ import annotations

import sys

import quire
from quire import Block

BLOCKS = (
    Block("launch", "page", "Launch of the new shop"),
    Block("date", "paragraph", "The shop opens on 1 March.", parent="launch"),
    Block("terms", "todo", "Translate the terms of sale", parent="launch", position=1),
    Block("sign", "todo", "Order the sign", "launch", 2, properties={"done": True}),
    Block("party", "page", "Garden party"),
    Block("june", "paragraph", "The party is in June.", parent="party"),
    Block("secret", "page", "Salaries", access=("ann",)),
)


def main(folder: str) -> None:
    """Write two pages, then ask about the one that is open."""
    with quire.open(folder, settings={"embed": {"provider": "none"}}) as q:
        q.blocks.put(BLOCKS)
        open_tasks = q.assemble("which tasks are open", recipe="workspace", focus="launch")
        print(open_tasks.text)
        for viewer in ("ann", "bob"):
            seen = q.assemble("salaries", recipe="workspace", viewer=viewer, allow_empty=True)
            print(viewer, "reads", [chunk.text.strip() for chunk in seen.chunks])


if __name__ == "__main__":
    main(sys.argv[1])
