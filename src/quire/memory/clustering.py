"""Clusters by density: HDBSCAN over a matrix of distances, with the leaves of its tree as clusters.

The algorithm is that of Campello, Moulavi and Sander (2013). Two points are as far apart as the
sparser of their two surroundings at least (mutual reachability); the cheapest tree over all points
is cut at its longest edges first, and parts that stay large enough on both sides of a cut are
clusters. Only those that split no further are kept: the densest places.

Nothing is random, and whatever is equally far apart is joined or cut at once, so that clusters
depend neither on the order of the rows nor on the tree that was chosen among equal ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

Distances = npt.NDArray[np.float64]


def cluster_leaves(distances: Distances, min_size: int, min_samples: int) -> list[list[int]]:
    """Return the rows of each of the densest clusters; rows in none of them are noise.

    Args:
        distances: The distances of all pairs: symmetric, with zeros in the diagonal.
        min_size: The size of the smallest cluster.
        min_samples: How many points make a place dense, the point itself included.
    """
    count = len(distances)
    if count < 2 * min_size:
        return []  # a cluster is one of two parts
    root = _join_points(_spanning_tree(_reachability(distances, min_samples)), count)
    return sorted(sorted(_points(leaf)) for leaf in _find_leaves(root, min_size))


def _reachability(distances: Distances, min_samples: int) -> Distances:
    """Return the distances of all pairs, at least those to the `min_samples`-th nearest point."""
    nearest = min(min_samples, len(distances)) - 1
    core = np.partition(distances, nearest, axis=1)[:, nearest]
    return np.maximum(distances, np.maximum(core[:, None], core[None, :]))


def _spanning_tree(distances: Distances) -> list[tuple[float, int, int]]:
    """Return the edges of the cheapest tree over all points (Prim), the shortest first."""
    count = len(distances)
    inside = np.zeros(count, np.bool_)
    cheapest = np.full(count, np.inf)
    origin = np.zeros(count, np.int64)
    edges = []
    current = 0
    for _ in range(count - 1):
        inside[current] = True
        row = distances[current]
        nearer = ~inside & (row < cheapest)
        cheapest[nearer] = row[nearer]
        origin[nearer] = current
        following = int(np.argmin(np.where(inside, np.inf, cheapest)))
        edges.append((float(cheapest[following]), int(origin[following]), following))
        current = following
    return sorted(edges)


@dataclass(frozen=True, slots=True)
class _Node:
    """Points that are joined at one distance; `parts` are what they were before."""

    size: int
    parts: tuple[_Node, ...] = ()
    point: int = -1


def _join_points(edges: Sequence[tuple[float, int, int]], count: int) -> _Node:
    """Join points along the edges, all edges of one length at once; return the root."""
    parent = list(range(count))
    nodes = {point: _Node(1, point=point) for point in range(count)}

    def find(point: int) -> int:
        while parent[point] != point:
            parent[point] = parent[parent[point]]
            point = parent[point]
        return point

    for _, group in groupby(edges, key=lambda edge: edge[0]):
        before: set[int] = set()
        for _, one, other in group:
            before |= {find(one), find(other)} & nodes.keys()
            parent[find(other)] = find(one)
        parts: dict[int, list[_Node]] = {}
        for name in sorted(before):
            parts.setdefault(find(name), []).append(nodes.pop(name))
        for name, joined in parts.items():
            nodes[name] = _Node(sum(part.size for part in joined), tuple(joined))
    (root,) = nodes.values()
    return root


def _find_leaves(root: _Node, min_size: int) -> list[_Node]:
    """Return the clusters that hold no other cluster; the root is no cluster.

    Going down, parts that are too small fall out of the cluster that they were in, which goes on
    as the one large part; where several parts are large enough, each begins a cluster of its own.
    """
    leaves = []
    clusters = [root]
    while clusters:
        cluster = clusters.pop()
        large = [cluster]
        while len(large) == 1:
            large = [part for part in large[0].parts if part.size >= min_size]
        clusters += large
        if not large and cluster is not root:
            leaves.append(cluster)
    return leaves


def _points(node: _Node) -> list[int]:
    points, nodes = [], [node]
    while nodes:
        current = nodes.pop()
        nodes += current.parts
        if not current.parts:
            points.append(current.point)
    return points
