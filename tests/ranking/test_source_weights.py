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
    scores = {fused.chunk_id: fused.score for fused in fuse(found, SOURCES, SUM, everything)}
    assert scores["word"] == 5 * SUM_SCALE * 70 // 100
    assert scores["sense"] == 5 * SUM_SCALE * 130 // 100
    pieces = {fused.chunk_id: fused.score for fused in fuse(found, SOURCES, SUM, FusionStats())}
    assert pieces["word"] == pieces["sense"] == 5 * SUM_SCALE
    assert pieces["part"] == scores["part"]


def test_words_of_a_whole_record_weigh_less_only_as_far_as_vectors_count() -> None:
    found = {"lexical": listed(word=100), "semantic": listed(sense=900)}
    whole = frozenset({"word"})
    for covered, percent in ((100, 100), (500, 100), (750, 85), (1000, 70)):
        stats = FusionStats(single_chunks=whole, covered=covered)
        scores = {fused.chunk_id: fused.score for fused in fuse(found, SOURCES, SUM, stats)}
        least = 5 * SUM_SCALE * percent // 100
        assert least * 999 // 1000 <= scores["word"] <= least


def test_meaning_weighs_more_for_code_as_far_as_vectors_count() -> None:
    found = {"lexical": listed(code=100, prose=90), "semantic": listed(code=900, prose=300)}
    options = {"code": 140, "whole": 130}
    sources = {"lexical": SourceSpec(weight=5), "semantic": SourceSpec(weight=5, options=options)}

    def score(single: str = "", covered: int = 1000) -> int:
        stats = FusionStats(
            single_chunks=frozenset({single}), covered=covered, code_chunks=frozenset({"code"})
        )
        return {one.chunk_id: one.score for one in fuse(found, sources, SUM, stats)}["code"]

    assert score() == 5 * SUM_SCALE + 5 * SUM_SCALE * 140 // 100
    assert score(single="code") == 5 * SUM_SCALE + 5 * SUM_SCALE * 130 // 100 * 140 // 100
    least = 5 * SUM_SCALE + 5 * SUM_SCALE * 120 // 100 // 2  # three quarters count half
    assert least * 999 // 1000 <= score(covered=750) <= least
    plain = {"lexical": SourceSpec(weight=5), "semantic": SourceSpec(weight=5)}
    stats = FusionStats(code_chunks=frozenset({"code"}))
    assert fuse(found, plain, SUM, stats) == fuse(found, plain, SUM, FusionStats())
    signals = {one.chunk_id: one.signals for one in fuse(found, sources, SUM, stats)}
    assert signals["code"] == {"lexical": 100, "semantic": 900, "code": 1}
    assert signals["prose"] == {"lexical": 90, "semantic": 300}


def test_a_question_of_twice_as_many_words_weighs_meaning_half() -> None:
    found = {"lexical": listed(word=100), "semantic": listed(sense=900)}
    for words, share in ((0, 1.0), (30, 1.0), (60, 0.5), (120, 0.25)):
        stats = FusionStats(query_words=words)
        scores = {fused.chunk_id: fused.score for fused in fuse(found, SOURCES, SUM, stats)}
        assert scores == {"word": 5 * SUM_SCALE, "sense": int(5 * SUM_SCALE * share)}


def test_changed_weights_are_recorded_as_signals() -> None:
    stats = FusionStats(single_chunks=frozenset({"a", "c"}), query_words=79)
    signals = {fused.chunk_id: fused.signals for fused in fuse(FOUND, SOURCES, SUM, stats)}
    assert signals == {
        "a": {"lexical": 100, "semantic": 900, "whole": 1, "long": 79},
        "b": {"lexical": 100, "semantic": 900, "long": 79},
        "c": {"linked": 7, "whole": 1, "long": 79},
    }


def test_no_signal_where_no_source_has_the_option() -> None:
    even = {name: SourceSpec(weight=5) for name in FOUND}
    stats = FusionStats(single_chunks=frozenset("abc"), query_words=500)
    fused = fuse(FOUND, even, SUM, stats)
    assert fused == fuse(FOUND, even, SUM, FusionStats())
    assert all(set(item.signals) <= set(FOUND) for item in fused)


@given(
    st.integers(0, 300), st.integers(0, 300), st.sets(st.sampled_from("abc")), st.integers(0, 200)
)
def test_the_longer_the_question_the_less_meaning_weighs(
    words: int, more: int, whole: set[str], long: int
) -> None:
    """The order of one source alone never depends on it."""
    sources = {"semantic": SourceSpec(weight=7, options={"long": long})}
    found = {"semantic": listed(a=900, b=700, c=650)}

    def scores(count: int) -> list[int]:
        stats = FusionStats(single_chunks=frozenset(whole), query_words=count)
        fused = fuse(found, sources, SUM, stats)
        assert [item.chunk_id for item in fused] == ["a", "b", "c"]
        return [item.score for item in fused]

    assert all(
        late <= early for early, late in zip(scores(words), scores(words + more), strict=True)
    )


def test_similarity_counts_as_far_as_vectors_are_made() -> None:
    """The best of a few vectors must not outrank what the words find."""
    found = {"lexical": listed(word=900, other=450), "semantic": listed(sense=9_100, word=9_000)}
    sources = {"lexical": SourceSpec(), "semantic": SourceSpec(weight=3)}
    orders = {
        covered: [
            one.chunk_id for one in fuse(found, sources, RankSpec(), FusionStats(covered=covered))
        ]
        for covered in (1, 100, 500, 900, 1000)
    }
    assert orders[1] == orders[100] == orders[500] == ["word", "other", "sense"]
    assert orders[900] == orders[1000] == ["sense", "word", "other"]


def test_similarity_counts_half_in_a_script_that_the_model_does_not_know() -> None:
    found = {"lexical": listed(word=900, other=450), "semantic": listed(sense=9_100, word=9_000)}
    sources = {"lexical": SourceSpec(weight=2), "semantic": SourceSpec(weight=3)}

    def signals(language: str, *, english: bool) -> tuple[int, int | None]:
        stats = FusionStats(
            languages=dict.fromkeys(("word", "sense"), language), english_model=english
        )
        fused = {one.chunk_id: one for one in fuse(found, sources, RankSpec(), stats)}
        best = next(iter(fused))
        return fused["sense"].score, fused[best].signals.get(f"language_{language}")

    full, _ = signals("", english=True)
    assert signals("de", english=True) == (full, 100)
    assert signals("ja", english=True) == (full // 2, 50)
    assert signals("ja", english=False) == (full, 100)
    assert signals("ru", english=True) == (full // 2, 50)


def test_what_only_vectors_find_stays_in_their_order() -> None:
    found = {"semantic": listed(b=9_100, a=9_050, c=9_000)}
    fused = fuse(found, {"semantic": SourceSpec()}, RankSpec(), FusionStats(covered=20))
    assert [one.chunk_id for one in fused] == ["b", "a", "c"]
    assert fused[0].signals["covered"] == 20
    whole = fuse(found, {"semantic": SourceSpec()}, RankSpec(), FusionStats())
    assert "covered" not in whole[0].signals
