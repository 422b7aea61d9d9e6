"""Packing: removing duplicates, choosing what fits the budget, and ordering it."""

from quire.packing.cross_source import (
    KEEP,
    SAME_PATH_RULES,
    CrossSourceDuplicate,
    dedup_cross_source,
    dedup_records,
    shared_texts,
)
from quire.packing.dedup import Duplicate, Runs, WordNumbers, dedup, find_contained, overlap
from quire.packing.differences import says_all
from quire.packing.near_duplicates import dedup_near
from quire.packing.optimal import level_score
from quire.packing.order import ORDERS, SECTION_ORDERS, arrange, is_grouped_by_score, join_group
from quire.packing.pack import (
    OVERFLOWS,
    STRATEGIES,
    Covered,
    Packed,
    limit_per_document,
    never_covered,
    pack,
    pack_shares,
    rules_first,
    sort_by_preference,
    variants,
    with_cut_text,
)
from quire.packing.refine import refine

__all__ = [
    "KEEP",
    "ORDERS",
    "OVERFLOWS",
    "SAME_PATH_RULES",
    "SECTION_ORDERS",
    "STRATEGIES",
    "Covered",
    "CrossSourceDuplicate",
    "Duplicate",
    "Packed",
    "Runs",
    "WordNumbers",
    "arrange",
    "dedup",
    "dedup_cross_source",
    "dedup_near",
    "dedup_records",
    "find_contained",
    "is_grouped_by_score",
    "join_group",
    "level_score",
    "limit_per_document",
    "never_covered",
    "overlap",
    "pack",
    "pack_shares",
    "refine",
    "rules_first",
    "says_all",
    "shared_texts",
    "sort_by_preference",
    "variants",
    "with_cut_text",
]
