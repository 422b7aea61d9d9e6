"""Principles: what experiences have in common. Specification 4 calls them values.

Experiences that lie close together on an axis form a cluster, and a cluster becomes a principle:
the lesson of the member nearest to its center. Distances come from integers, members are taken in
the order of their ids, and nothing is random: the same experiences give the same principles,
whatever the order in which they came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
import numpy.typing as npt

from quire.core import chunking, hashing, stored_json
from quire.core.languages import with_language
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
from quire.memory import experiences
from quire.memory.clustering import cluster_leaves

KIND = "value"
MEMBER = "member"
FOLDER = ".quire/value"
WORDING_FIELDS = ("lesson", "root_cause")
"""The fields that word a principle, the best first."""
MIN_CLUSTER_SIZE = 3
"""The size of the smallest cluster."""
MIN_NEIGHBOURS = 2
"""How many neighbors make a place dense."""
MAX_COMPARED = 5000
"""The most experiences that are compared, for one axis and one audience: the newest."""

MAX_WORDED_MEMBERS = 12
"""The most members whose texts a model words a principle from."""
MAX_WORDING_TOKENS = 60
"""About how long such a wording may be."""

Vectors = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Experiences that lie close together, the one nearest to their center first."""

    members: tuple[str, ...]
    similarity: int
    """That of the first member to the center, in thousandths."""


def find_clusters(vectors: Mapping[str, bytes]) -> list[Cluster]:
    """Cluster int8 vectors by their distances; some may belong to no cluster."""
    names = sorted(vectors)
    if len(names) < MIN_CLUSTER_SIZE:
        return []
    matrix = np.array([np.frombuffer(vectors[name], np.int8) for name in names], np.int64)
    # The densest places, without what surrounds them: a principle, not "all went wrong".
    groups = cluster_leaves(_distances(matrix), MIN_CLUSTER_SIZE, MIN_NEIGHBOURS)
    clusters = [_make_cluster(names, matrix, rows) for rows in groups]
    return sorted(clusters, key=lambda cluster: (-len(cluster.members), cluster.members))


def make_write_task(axis: str, cluster: Cluster, members: Mapping[str, Experience]) -> WriteTask:
    """Return the task to word a principle from the texts of its members, the central ones first."""
    nearest = [members[name] for name in cluster.members[:MAX_WORDED_MEMBERS]]
    texts = tuple(
        member.lesson or member.root_cause or experiences.axis_text(member, axis)
        for member in nearest
    )
    return WriteTask(PRINCIPLE, texts, axis, MAX_WORDING_TOKENS)


def make_principle(axis: str, cluster: Cluster, members: Mapping[str, Experience]) -> Principle:
    """Word a cluster by the lesson nearest to its center, else a root cause or the axis's text."""
    nearest = [members[name] for name in cluster.members]
    wordings = [
        (field, text)
        for field in WORDING_FIELDS
        for text in (str(getattr(member, field)) for member in nearest)
        if text
    ]
    worded_by, text = wordings[0] if wordings else ("axis", experiences.axis_text(nearest[0], axis))
    ids = tuple(sorted(cluster.members))
    cluster_id = hashing.identifier("cluster", ids)
    return Principle(
        id=hashing.identifier("value", axis, cluster_id),
        text=text,
        axis=axis,
        cluster_id=cluster_id,
        size=len(ids),
        similarity=cluster.similarity,
        members=ids,
        worded_by=worded_by,
    )


def to_document(value: Principle, members: Sequence[Record], split: chunking.Cut) -> Document:
    """Return the record, chunks and links that a principle is stored as.

    Whoever may read all members may read it: by the access list that they share, and by the rules
    for the paths of those without a list of their own, so that it follows when a rule changes.
    """
    times = [record.modified for record in members if record.modified is not None]
    record = Record(
        id=value.id,
        kind=KIND,
        path=f"{FOLDER}/{value.axis}/{_main_domain(members)}/{value.cluster_id}",
        title=chunking.first_words(value.text),
        modified=max(times, default=None),
        acl=next((record.acl for record in members if record.acl is not None), None),
        attrs={
            "axis": value.axis,
            "cluster_id": value.cluster_id,
            "size": value.size,
            "similarity": value.similarity,
            "worded_by": value.worded_by,
        },
        paths=tuple(sorted(record.path for record in members if record.acl is None)),
    )
    links = tuple(Link(value.id, name, MEMBER) for name in value.members)
    chunks = chunking.make_chunks(record, [(KIND, value.text)], split)
    return Document(with_language(record, chunks), chunks, links)


def _main_domain(members: Sequence[Record]) -> str:
    """Return the domain of most members, by which a principle can be filtered."""
    counts = Counter(str(record.attrs["domain"]) for record in members)
    return min(counts, key=lambda name: (-counts[name], name))


@stored_json.of_record
def from_record(record: Record, chunks: Sequence[Chunk], links: Sequence[Link]) -> Principle:
    """Return the principle that a record, its chunks and its links store."""
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


def mean_vector(vectors: Sequence[bytes]) -> bytes:
    """Return the mean of the vectors of a text's chunks."""
    if len(vectors) == 1:
        return vectors[0]
    total = sum(np.frombuffer(vector, np.int8).astype(np.int64) for vector in vectors)
    return bytes(np.asarray(total // len(vectors), np.int8).tobytes())


def _distances(matrix: Vectors) -> npt.NDArray[np.float64]:
    """Return 1 - cosine of all pairs; the sums of products are integers, so they are exact."""
    exact = matrix.astype(np.float64)
    products = exact @ exact.T
    squares = np.maximum(np.diag(products), 1.0)
    cosines = products / np.sqrt(np.outer(squares, squares))
    distances = np.clip(1.0 - cosines, 0.0, 2.0)
    np.fill_diagonal(distances, 0.0)
    return np.asarray(distances, np.float64)


def _make_cluster(names: Sequence[str], matrix: Vectors, rows: Sequence[int]) -> Cluster:
    center = matrix[rows].sum(axis=0)
    length = int(center @ center)

    def similarity(row: int) -> int:
        own = int(matrix[row] @ matrix[row])
        # Whole millionths, rounded down: a tie is a tie on every machine.
        return 1_000_000 * int(matrix[row] @ center) // max(1, isqrt(own * length))

    nearest = sorted(rows, key=lambda row: (-similarity(row), names[row]))
    closest = max(0, min(1000, similarity(nearest[0]) // 1000))
    return Cluster(tuple(names[row] for row in nearest), closest)
