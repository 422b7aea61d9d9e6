"""What do made-up vectors look like, so that searching them is as hard as searching real ones?

Measured on 27,000 passages of real prose and code under the local model, and imitated here: all
vectors share a strong mean (length .715) that a few dimensions carry; what is left over has a
spectrum that falls like rank ** -.8; texts cluster by topic and subject, some tightly; and
questions share less of the mean. The measured cosines, real / made:

    two texts         1%: .32 / .29   median: .51 / .52   99%: .70 / .68
    nearest texts     1st: .81 / .82   50th: .72 / .71   500th: .67 / .65
    to a question     1st: .75 / .77   50th: .66 / .66   500th: .61 / .60   median: .45 / .46
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from quire.embed import quantize

SEED = 20_240_602
DIMS = 384
MEAN, MEAN_OF_QUESTIONS = 0.715, 0.57
TAIL = 1.1
SPECTRUM = -0.8
TOPICS, TOPIC_SHARE = 30, 0.4
CENTRES, CENTRE_SIZES = 4000, -0.7
TIGHTNESS = (0.3, 0.75)
TIGHTNESS_OF_QUESTIONS = 0.4
PART = 10_000
MODEL = "synthetic/384"

Floats = npt.NDArray[np.float32]


class World:
    """The distribution that made-up vectors are drawn from."""

    def __init__(self) -> None:
        random = np.random.default_rng(SEED)
        mean = np.exp(TAIL * random.standard_normal(DIMS)) * random.choice([-1, 1], DIMS)
        self._mean = (mean / np.linalg.norm(mean)).astype(np.float32)
        basis = np.linalg.qr(random.standard_normal((DIMS, DIMS)))[0]
        spectrum = np.arange(1, DIMS + 1) ** SPECTRUM
        self._root = (basis * np.sqrt(spectrum / spectrum.sum())).T.astype(np.float32)
        topics = self._spread(random, TOPICS)[random.integers(0, TOPICS, CENTRES)]
        own = self._spread(random, CENTRES)
        self._centres = np.float32(TOPIC_SHARE**0.5) * topics
        self._centres += np.float32((1 - TOPIC_SHARE) ** 0.5) * own
        self._tightness = random.uniform(*TIGHTNESS, CENTRES).astype(np.float32)
        sizes = np.arange(1, CENTRES + 1) ** CENTRE_SIZES
        self._sizes = sizes / sizes.sum()

    def texts(self, count: int) -> Iterator[bytes]:
        """Draw the vectors of so many texts; more texts begin with the same ones."""
        for part in range(-(-count // PART)):
            random = np.random.default_rng((SEED, 1, part))
            chosen = random.choice(CENTRES, PART, p=self._sizes)
            drawn = self._around(random, chosen, self._tightness[chosen], MEAN)
            yield from map(quantize, drawn[: count - part * PART])

    def questions(self, count: int) -> list[bytes]:
        """Draw the vectors of so many questions."""
        random = np.random.default_rng((SEED, 2))
        chosen = random.choice(CENTRES, count, p=self._sizes)
        tightness = np.full(count, TIGHTNESS_OF_QUESTIONS, np.float32)
        return [quantize(row) for row in self._around(random, chosen, tightness, MEAN_OF_QUESTIONS)]

    def _around(
        self,
        random: np.random.Generator,
        chosen: npt.NDArray[np.int64],
        tightness: Floats,
        mean: float,
    ) -> Floats:
        noise = self._spread(random, chosen.size)
        near = np.sqrt(tightness)[:, None] * self._centres[chosen]
        rest = near + np.sqrt(1 - tightness)[:, None] * noise
        drawn: Floats = np.float32(mean) * self._mean + np.float32((1 - MEAN**2) ** 0.5) * rest
        return drawn

    def _spread(self, random: np.random.Generator, count: int) -> Floats:
        spread: Floats = random.standard_normal((count, DIMS), dtype=np.float32) @ self._root
        return spread
