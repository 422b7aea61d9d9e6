from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import FusionStats, Hit, Hits, RankSpec, SourceSpec
from quire.ranking import fuse
from quire.ranking.fusion import SUM_SCALE

SUM = RankSpec(fusion="sum")
SOURCES = {
    "lexical": SourceSpec(weight=5, options={"whole": 70}),
    "semantic": SourceSpec(weight=5, options={"whole": 130, "long": 30}),
    "linked": SourceSpec(weight=4),
}


def listed(**scores: int) -> Hits:
    hits = (Hit(name, score, f"{name}.md", 0, 0) for name, score in scores.items())
    return Hits(tuple(sorted(hits, key=lambda hit: hit.order)))


FOUND = {"lexical": listed(a=100, b=100), "semantic": listed(a=900, b=900), "linked": listed(c=7)}


def test_meaning_weighs_more_for_a_whole_record_and_words_less() -> None:
    found = {"lexical": listed(word=100, part=90), "semantic": listed(sense=900, part=300)}
    everything = FusionStats(single_chunks=frozenset({"word", "sense"}))
    scores = {one.hit.id: one.hit.score for one in fuse(found, SOURCES, SUM, everything)}
    assert scores["word"] == 5 * SUM_SCALE * 70 // 100
    assert scores["sense"] == 5 * SUM_SCALE * 130 // 100
    pieces = {one.hit.id: one.hit.score for one in fuse(found, SOURCES, SUM, FusionStats())}
    assert pieces["word"] == pieces["sense"] == 5 * SUM_SCALE
    assert pieces["part"] == scores["part"]


def test_a_question_of_twice_as_many_words_weighs_meaning_half() -> None:
    found = {"lexical": listed(word=100), "semantic": listed(sense=900)}
    for words, share in ((0, 1.0), (30, 1.0), (60, 0.5), (120, 0.25)):
        stats = FusionStats(query_words=words)
        scores = {one.hit.id: one.hit.score for one in fuse(found, SOURCES, SUM, stats)}
        assert scores == {"word": 5 * SUM_SCALE, "sense": int(5 * SUM_SCALE * share)}


def test_what_changes_weights_is_told_as_a_signal() -> None:
    stats = FusionStats(single_chunks=frozenset({"a", "c"}), query_words=79)
    told = {one.hit.id: one.signals for one in fuse(FOUND, SOURCES, SUM, stats)}
    assert told == {
        "a": {"lexical": 100, "semantic": 900, "whole": 1, "long": 79},
        "b": {"lexical": 100, "semantic": 900, "long": 79},
        "c": {"linked": 7, "whole": 1, "long": 79},
    }


def test_nothing_is_told_where_no_source_heeds_it() -> None:
    even = {name: SourceSpec(weight=5) for name in FOUND}
    stats = FusionStats(single_chunks=frozenset("abc"), query_words=500)
    fused = fuse(FOUND, even, SUM, stats)
    assert fused == fuse(FOUND, even, SUM, FusionStats())
    assert all(set(one.signals) <= set(FOUND) for one in fused)


@given(
    st.integers(0, 300), st.integers(0, 300), st.sets(st.sampled_from("abc")), st.integers(0, 200)
)
def test_the_longer_the_question_the_less_meaning_weighs(
    words: int, more: int, whole: set[str], long: int
) -> None:
    """And never does the order of what one source alone has found depend on it."""
    sources = {"semantic": SourceSpec(weight=7, options={"long": long})}
    found = {"semantic": listed(a=900, b=700, c=650)}

    def scores(count: int) -> list[int]:
        stats = FusionStats(single_chunks=frozenset(whole), query_words=count)
        fused = fuse(found, sources, SUM, stats)
        assert [one.hit.id for one in fused] == ["a", "b", "c"]
        return [one.hit.score for one in fused]

    assert all(
        late <= early for early, late in zip(scores(words), scores(words + more), strict=True)
    )
