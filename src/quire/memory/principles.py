"""What do experiences have in common?

Experiences that lie close together on an axis form a cluster, and a cluster becomes a value: the
lesson of the member that lies nearest to its middle. Distances come from whole numbers, members
are taken in the order of their ids, and nothing is drawn by chance: the same experiences give the
same values, whatever the order in which they came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from quire.core import chunking, hashing
from quire.core.types import (
    PRINCIPLE,
    Chunk,
    Document,
    Experience,
    Link,
    Principle,
    Record,
    WriteTask,
)
from quire.errors import MissingExtraError
from quire.memory import experiences

KIND = "value"
MEMBER = "member"
FOLDER = ".quire/value"
WORDED_BY = ("lesson", "root_cause")
"""What says best what experiences have in common; a whole story says it worst."""
FEWEST = 3
"""So many experiences make a cluster."""
NEIGHBOURS = 2
"""How many must lie close to an experience for it to lie in a dense place."""
MOST = 5000
"""More than so many, of one axis and one access, are not compared: the newest are."""

MOST_TOLD = 12
"""A value is worded of so many members, at most."""
TOKENS = 60
"""About how long such wording may be."""

Vectors = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Experiences that lie close together, the one nearest to their middle first."""

    members: tuple[str, ...]
    similarity: int
    """Of the first one to the middle, in thousandths."""


def clusters(vectors: Mapping[str, bytes]) -> list[Cluster]:
    """Find which of these int8 vectors lie close together; some may belong to no cluster."""
    names = sorted(vectors)
    if len(names) < FEWEST:
        return []
    matrix = np.array([np.frombuffer(vectors[name], np.int8) for name in names], np.int64)
    found: dict[int, list[int]] = {}
    for place, label in enumerate(_labels(_distances(matrix))):
        if label >= 0:
            found.setdefault(label, []).append(place)
    made = [_cluster(names, matrix, places) for places in found.values()]
    return sorted(made, key=lambda cluster: (-len(cluster.members), cluster.members))


def order(axis: str, cluster: Cluster, members: Mapping[str, Experience]) -> WriteTask:
    """Say what a value's text is to be written of: what its members say, the middle ones first."""
    nearest = [members[name] for name in cluster.members[:MOST_TOLD]]
    chunking = tuple(
        one.lesson or one.root_cause or experiences.axis_text(one, axis) for one in nearest
    )
    return WriteTask(PRINCIPLE, chunking, axis, TOKENS)


def value(axis: str, cluster: Cluster, members: Mapping[str, Experience]) -> Principle:
    """Word a cluster: by the lesson nearest to its middle, a root cause, or the axis's text."""
    nearest = [members[name] for name in cluster.members]
    told = [
        (part, text)
        for part in WORDED_BY
        for text in (str(getattr(one, part)) for one in nearest)
        if text
    ]
    worded_by, text = told[0] if told else ("axis", experiences.axis_text(nearest[0], axis))
    named = tuple(sorted(cluster.members))
    cluster_id = hashing.identifier("cluster", named)
    return Principle(
        id=hashing.identifier("value", axis, cluster_id),
        text=text,
        axis=axis,
        cluster_id=cluster_id,
        size=len(named),
        similarity=cluster.similarity,
        members=named,
        worded_by=worded_by,
    )


def document(made: Principle, members: Sequence[Record], cut: chunking.Cut) -> Document:
    """Give the record, chunks and links that a value is kept as.

    Whoever may read all members may read it: by the list that they share, and by the rules for the
    paths of those that have none of their own, so that a rule that changes changes this as well.
    """
    times = [record.modified for record in members if record.modified is not None]
    record = Record(
        id=made.id,
        kind=KIND,
        path=f"{FOLDER}/{made.axis}/{_domain(members)}/{made.cluster_id}",
        title=chunking.first_words(made.text),
        modified=max(times, default=None),
        acl=next((record.acl for record in members if record.acl is not None), None),
        attrs={
            "axis": made.axis,
            "cluster_id": made.cluster_id,
            "size": made.size,
            "similarity": made.similarity,
            "worded_by": made.worded_by,
        },
        paths=tuple(sorted(record.path for record in members if record.acl is None)),
    )
    links = tuple(Link(made.id, name, MEMBER) for name in made.members)
    return Document(record, chunking.make_chunks(record, [(KIND, made.text)], cut), links)


def _domain(members: Sequence[Record]) -> str:
    """Tell which domain most members are of, so that a value can be found by it."""
    counts = Counter(str(record.attrs["domain"]) for record in members)
    return min(counts, key=lambda name: (-counts[name], name))


def value_of(record: Record, chunks: Sequence[Chunk], links: Sequence[Link]) -> Principle:
    """Read a value back from what it is kept as."""
    return Principle(
        id=record.id,
        text="".join(chunk.text for chunk in chunks),
        axis=str(record.attrs["axis"]),
        cluster_id=str(record.attrs["cluster_id"]),
        size=int(record.attrs["size"]),
        similarity=int(record.attrs["similarity"]),
        members=tuple(sorted(link.target for link in links if link.kind == MEMBER)),
        worded_by=str(record.attrs["worded_by"]),
    )


def joined(vectors: Sequence[bytes]) -> bytes:
    """Let one vector stand for the pieces of a text: the mean of theirs."""
    if len(vectors) == 1:
        return vectors[0]
    total = sum(np.frombuffer(vector, np.int8).astype(np.int64) for vector in vectors)
    return bytes(np.asarray(total // len(vectors), np.int8).tobytes())


def _distances(matrix: Vectors) -> npt.NDArray[np.float64]:
    """Give 1 - cosine of all pairs; sums of products are whole numbers, so they are exact."""
    exact = matrix.astype(np.float64)
    products = exact @ exact.T
    squares = np.maximum(np.diag(products), 1.0)
    cosines = products / np.sqrt(np.outer(squares, squares))
    distances = np.clip(1.0 - cosines, 0.0, 2.0)
    np.fill_diagonal(distances, 0.0)
    return np.asarray(distances, np.float64)


def _labels(distances: npt.NDArray[np.float64]) -> list[int]:
    try:
        from sklearn.cluster import HDBSCAN
    except ImportError as error:
        raise MissingExtraError(
            f"values need what is not installed ({error}): pip install 'quire[learn]'"
        ) from error
    found: Any = HDBSCAN(
        min_cluster_size=FEWEST,
        min_samples=min(NEIGHBOURS, len(distances)),
        metric="precomputed",
        # The densest places, not their surroundings: a principle, not "everything went wrong".
        cluster_selection_method="leaf",
        copy=True,
    ).fit(distances)
    return [int(label) for label in found.labels_]


def _cluster(names: Sequence[str], matrix: Vectors, places: Sequence[int]) -> Cluster:
    middle = matrix[places].sum(axis=0)
    length = int(middle @ middle)

    def nearness(place: int) -> int:
        own = int(matrix[place] @ matrix[place])
        # Whole millionths, rounded towards none: a tie is a tie on every machine.
        return 1_000_000 * int(matrix[place] @ middle) // max(1, isqrt(own * length))

    inwards = sorted(places, key=lambda place: (-nearness(place), names[place]))
    similarity = max(0, min(1000, nearness(inwards[0]) // 1000))
    return Cluster(tuple(names[place] for place in inwards), similarity)
