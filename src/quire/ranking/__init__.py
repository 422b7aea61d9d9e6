"""Ranking: fusing the hits of several collectors, then weighing and boosting the candidates."""

from quire.ranking.boosts import BOOSTS, boost
from quire.ranking.feature_table import FeatureTable
from quire.ranking.fusion import FUSIONS, Fused, fuse
from quire.ranking.pagerank import is_definition, rank_definitions
from quire.ranking.relevance import CERTAIN, RELEVANCE, SIMILARITY, Match, coverage, estimate
from quire.ranking.rerank import RERANK, OwnReranker, rerank
from quire.ranking.signals import SIGNALS, weigh
from quire.ranking.source_weights import CODE_CHUNK, LONG_QUERY, SINGLE_CHUNK, WEIGHT_OPTIONS

__all__ = [
    "BOOSTS",
    "CERTAIN",
    "CODE_CHUNK",
    "FUSIONS",
    "LONG_QUERY",
    "RELEVANCE",
    "RERANK",
    "SIGNALS",
    "SIMILARITY",
    "SINGLE_CHUNK",
    "WEIGHT_OPTIONS",
    "FeatureTable",
    "Fused",
    "Match",
    "OwnReranker",
    "boost",
    "coverage",
    "estimate",
    "fuse",
    "is_definition",
    "rank_definitions",
    "rerank",
    "weigh",
]
