"""What is asked?

Shapes of questions over made-up text: a word's rank in the vocabulary tells how often it stands
there. The first shape is the one that the expectations are about.
"""

from __future__ import annotations

import numpy as np

from bench import synthetic

# Each shape names bands of ranks, and how many words are drawn from each band.
FREQUENT = (8, 25)  # in 30 to 60 of 100 chunks
COMMON = (25, 200)  # in 4 to 30
PLAIN = (200, 3000)  # in .2 to 4
RARE = (3000, 100_000)  # in fewer

SHAPES: dict[str, tuple[tuple[tuple[int, int], int], ...]] = {
    "eight terms, two frequent": ((FREQUENT, 2), (COMMON, 2), (PLAIN, 2), (RARE, 2)),
    "eight terms, four frequent": ((FREQUENT, 4), (COMMON, 4)),
    "eight frequent terms": ((FREQUENT, 8),),
    "two rare terms": ((RARE, 2),),
    "one frequent term": ((FREQUENT, 1),),
}
FORTY = "forty words as they stand in text"


def shapes(count: int) -> dict[str, list[list[str]]]:
    """Give so many questions of each shape, each as its words."""
    known = synthetic.vocabulary()
    random = np.random.default_rng((synthetic.SEED, 7))
    made = {
        name: [
            [
                known[int(rank)]
                for (low, high), words in bands
                for rank in random.choice(np.arange(low, high), words, replace=False)
            ]
            for _ in range(count)
        ]
        for name, bands in SHAPES.items()
    }
    made[FORTY] = [
        [known[rank] for rank in synthetic.draw(random, 40).tolist()] for _ in range(count)
    ]
    return made
