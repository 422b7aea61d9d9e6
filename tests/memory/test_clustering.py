"""Clusters by density, compared with their definition in plain words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quire.memory.clustering import Distances, cluster_leaves

MIN_SIZE = 3


@st.composite
def matrices(draw: st.DrawFn) -> Distances:
    """Distances of a few points on a coarse grid, so that many are equal."""
    points = draw(
        st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=24)
    )
    places = np.array(points, np.float64)
    return np.asarray(np.abs(places[:, None] - places[None]).sum(axis=2), np.float64)


def parts_below(reach: Distances, points: frozenset[int], limit: float) -> list[frozenset[int]]:
    """Return what stays connected if only shorter edges than the limit are kept."""
    rest, parts = set(points), []
    while rest:
        part, edge = set(), {min(rest)}
        while edge:
            part |= edge
            edge = {other for one in edge for other in rest - part if reach[one, other] < limit}
        parts.append(frozenset(part))
        rest -= part
    return parts


def define(distances: Distances, min_size: int, min_samples: int) -> list[list[int]]:
    """Cut the longest edges first; follow each cluster until it splits or dissolves."""
    count = len(distances)
    core = [sorted(row)[min(min_samples, count) - 1] for row in distances]
    reach = np.array(
        [[max(distances[a, b], core[a], core[b]) for b in range(count)] for a in range(count)]
    )
    lengths = sorted({*reach[~np.eye(count, dtype=bool)].tolist()}, reverse=True)

    def follow(cluster: frozenset[int], at: int) -> list[frozenset[int]]:
        """Return the leaves in a cluster; none if it has no clusters in it."""
        points = cluster
        for number in range(at, len(lengths)):
            parts = parts_below(reach, points, lengths[number])
            large = [part for part in parts if len(part) >= min_size]
            if len(large) > 1:
                return [leaf for part in large for leaf in follow(part, number + 1) or [part]]
            if not large:
                return []
            points = large[0]
        return []

    return sorted(sorted(leaf) for leaf in follow(frozenset(range(count)), 0))


@given(matrices(), st.integers(2, 4))
def test_clusters_are_those_of_the_definition(distances: Distances, min_samples: int) -> None:
    expected = define(distances, MIN_SIZE, min_samples)
    assert cluster_leaves(distances, MIN_SIZE, min_samples) == expected


@given(matrices(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(distances: Distances, random: object) -> None:
    order = list(range(len(distances)))
    random.shuffle(order)  # type: ignore[attr-defined]  # hypothesis gives a Random
    shuffled = distances[np.ix_(order, order)]
    back = [sorted(order[row] for row in rows) for rows in cluster_leaves(shuffled, MIN_SIZE, 2)]
    assert sorted(back) == cluster_leaves(distances, MIN_SIZE, 2)


def line(*places: float) -> Distances:
    return np.abs(np.subtract.outer(places, places))


def groups(distances: Distances) -> Sequence[Sequence[int]]:
    return cluster_leaves(distances, MIN_SIZE, 2)


def test_two_dense_places_and_a_point_far_away() -> None:
    assert groups(line(0, 1, 2.5, 30, 31, 32.5, 90)) == [[0, 1, 2], [3, 4, 5]]


def test_one_place_alone_is_no_cluster() -> None:
    assert groups(line(0, 1, 2.5, 4)) == []


def test_equal_points_are_a_cluster() -> None:
    assert groups(line(0, 0, 0, 9, 9, 9)) == [[0, 1, 2], [3, 4, 5]]


def test_few_points_are_no_cluster() -> None:
    assert groups(line()) == []
    assert groups(line(1)) == []
