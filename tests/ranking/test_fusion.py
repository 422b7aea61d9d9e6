from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import FusionStats, Hit, Hits, RankSpec, SourceSpec
from quire.errors import InputError
from quire.ranking import FUSIONS, fuse
from quire.ranking.fusion import SUM_SCALE

SUM = RankSpec(fusion="sum")
RRF = RankSpec(fusion="rrf")
NO_STATS = FusionStats()


def listed(**scores: int) -> Hits:
    hits = (Hit(name, score, f"{name}.md", 0, 0) for name, score in scores.items())
    return Hits(tuple(sorted(hits, key=lambda hit: hit.order)))


def shown(
    found: dict[str, Hits],
    weights: dict[str, int],
    spec: RankSpec = SUM,
    stats: FusionStats = NO_STATS,
) -> dict[str, int]:
    return {one.chunk_id: one.score for one in fuse(found, weighing(weights), spec, stats)}


def weighing(weights: dict[str, int]) -> dict[str, SourceSpec]:
    return {name: SourceSpec(weight=weight) for name, weight in weights.items()}


def test_a_score_counts_as_a_share_of_the_best_one() -> None:
    found = {"lexical": listed(a=900, b=300, c=1)}
    assert shown(found, {"lexical": 2}) == {"a": 2 * SUM_SCALE, "b": 2 * 333_333, "c": 2 * 1111}


def test_similarities_are_counted_from_the_last_one_on() -> None:
    found = {"semantic": listed(a=9_100, b=9_050, c=9_001)}
    assert shown(found, {"semantic": 1}) == {
        "a": SUM_SCALE,
        "b": SUM_SCALE // 2,
        "c": SUM_SCALE // 100,
    }
    below = {"semantic": listed(a=-5, b=-14)}
    assert shown(below, {"semantic": 1}) == {"a": SUM_SCALE, "b": SUM_SCALE // 10}
    alone = {"semantic": listed(a=-5)}
    assert shown(alone, {"semantic": 1}) == {"a": SUM_SCALE}


def test_a_list_that_was_cut_is_counted_from_its_last_one_on() -> None:
    """A chunk just outside the list gets nothing, so one just inside must not get nearly all."""
    found = {"lexical": listed(a=1000, b=950, c=901)}
    truncated = FusionStats(truncated=frozenset({"lexical"}))
    assert shown(found, {"lexical": 1}, SUM, truncated) == {
        "a": SUM_SCALE,
        "b": SUM_SCALE // 2,
        "c": SUM_SCALE // 100,
    }
    assert shown(found, {"lexical": 1}) == {"a": SUM_SCALE, "b": 950_000, "c": 901_000}
    assert shown(found, {"lexical": 1}, RRF, truncated) == shown(found, {"lexical": 1}, RRF)


def test_what_two_sources_find_is_added_and_each_signal_is_told() -> None:
    found = {"lexical": listed(a=10, b=5), "linked": listed(b=4, c=2)}
    weights = {"lexical": 5, "linked": 4}
    one, two, three = fuse(found, weighing(weights), SUM)
    assert (one.chunk_id, one.score) == ("b", 5 * SUM_SCALE // 2 + 4 * SUM_SCALE)
    assert (two.chunk_id, two.score) == ("a", 5 * SUM_SCALE)
    assert (three.chunk_id, three.score) == ("c", 2 * SUM_SCALE)
    assert one.signals == {"lexical": 5, "linked": 4}
    assert two.signals == {"lexical": 10}


def test_a_clear_first_place_outweighs_two_poor_ones_only_where_scores_are_added() -> None:
    """The trap of deep lists: what is poor in both beats what is best in one."""
    many = {f"m{number}": 100 - number for number in range(60)}
    found = {
        "lexical": listed(best=1000, **many, poor=2),
        "semantic": listed(**{name: 8000 + score for name, score in many.items()}, poor=8000),
    }
    weights = {"lexical": 1, "semantic": 1}
    added, placed = shown(found, weights, SUM), shown(found, weights, RRF)
    assert added["best"] > added["poor"]
    assert placed["best"] < placed["poor"]


def test_places_are_inverted() -> None:
    found = {"lexical": listed(a=3, b=2), "semantic": listed(b=9)}
    scores = shown(found, {"lexical": 1, "semantic": 2}, RRF)
    assert scores == {"a": 10**9 // 61, "b": 10**9 // 62 + 2 * (10**9 // 61)}


def test_an_unknown_fusion_is_refused() -> None:
    with pytest.raises(InputError, match="fusion: unknown fusion 'max'; choose from sum, rrf"):
        fuse({}, {}, RankSpec(fusion="max"))


@given(
    st.dictionaries(
        st.sampled_from(["lexical", "semantic", "linked"]),
        st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 50)),
    ),
    st.sampled_from(sorted(FUSIONS)),
)
def test_the_order_is_total_and_no_source_lowers_what_it_finds(
    given_scores: dict[str, dict[str, int]], fusion: str
) -> None:
    spec = RankSpec(fusion=fusion)
    found = {name: listed(**scores) for name, scores in given_scores.items()}
    weights = dict.fromkeys(found, 3)
    fused = fuse(found, weighing(weights), spec)
    places = {hit.id: hit.order[1:] for hits in found.values() for hit in hits.hits}
    assert fused == sorted(fused, key=lambda one: (-one.score, places[one.chunk_id]))
    assert {one.chunk_id for one in fused} == {h.id for hits in found.values() for h in hits.hits}
    turned = {name: found[name] for name in reversed(list(found))}
    assert fuse(turned, weighing(weights), spec) == fused
    for one in fused:
        assert one.score >= 0
        assert one.signals == {
            name: scores[one.chunk_id]
            for name, scores in given_scores.items()
            if one.chunk_id in scores
        }


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-50, 50), min_size=1),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-50, 50)),
    st.sets(st.sampled_from("abcdefgh")),
    st.integers(0, 9),
)
def test_the_best_few_are_the_first_of_all(
    words: dict[str, int], meaning: dict[str, int], singles: set[str], limit: int
) -> None:
    found = {"semantic": listed(**meaning), "lexical": listed(**words)}
    stats = FusionStats(single_chunks=frozenset(singles), covered=700)
    sources = {name: SourceSpec(weight=3, options={"whole": 130}) for name in found}
    whole = fuse(found, sources, SUM, stats)
    assert fuse(found, sources, SUM, stats, limit) == whole[:limit]
    for one in whole:
        assert one.signals.get("lexical") == words.get(one.chunk_id)
        assert one.signals.get("semantic") == meaning.get(one.chunk_id)
        assert one.signals.get("whole") == (1 if one.chunk_id in singles else None)
