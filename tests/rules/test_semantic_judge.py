"""The semantic judge is right as often as the guide says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from bench.judge import grids
from bench.judge.grids import Pair
from quire.core.types import EmbedSettings, JudgeSettings
from quire.embed.local import LocalEmbedder
from quire.errors import ConfigError
from quire.rules.semantic_judge import ORDINARY_SENTENCES, SemanticJudge, similarity
from quire.rules.wording import only_looks
from tests.rules.calibrate import Accuracy, measure, pairs, scores

THRESHOLD = round(JudgeSettings().threshold * 1000)


class RecordingEmbedder:
    """An embedder of two dimensions that records the texts it embeds."""

    model = "counting"
    dims = 2

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.texts += texts
        return [bytes([100, 0]) if "rain" in text else bytes([60, 80]) for text in texts]

    def embed_query(self, text: str) -> bytes:
        return self.embed([text])[0]

    def close(self) -> None:
        pass


def test_a_sentence_holds_if_it_is_nearer_than_ordinary_ones() -> None:
    judge = SemanticJudge(RecordingEmbedder(), 0.3)
    near, far = judge.judge(["it rains", "a plan"], {"intent": "take the umbrella, rain is near"})
    assert (near.applies, far.applies) == (True, False)
    assert near.reason == "semantic: 0.480 >= 0.300", "both name the rain"
    assert far.reason == "semantic: 0.000 < 0.300"


def test_sentences_are_embedded_once() -> None:
    embedder = RecordingEmbedder()
    judge = SemanticJudge(embedder, 0.3)
    judge.judge(["it rains"], {"intent": "a"})
    judge.judge(["it rains", "it snows"], {"intent": "b"})
    assert sorted(embedder.texts) == sorted(["a", "b", *ORDINARY_SENTENCES, "it rains", "it snows"])


def test_of_a_situation_that_says_nothing_nothing_holds() -> None:
    embedder = RecordingEmbedder()
    verdicts = SemanticJudge(embedder, 0).judge(["x", "y"], {"time": 5, "params": {}})
    assert [item.applies for item in verdicts] == [False, False]
    assert embedder.texts == []


def test_the_name_stands_for_model_and_threshold() -> None:
    names = {SemanticJudge(RecordingEmbedder(), at).name for at in (0.1, 0.2)}
    assert len(names) == 2
    assert all("counting" in name for name in names)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), -0.1, 3])
def test_a_threshold_that_cannot_be(threshold: float) -> None:
    with pytest.raises(ConfigError, match=r"judge\.threshold"):
        SemanticJudge(RecordingEmbedder(), threshold)


def test_similarity_is_a_cosine() -> None:
    assert similarity(bytes([3, 4]), bytes([6, 8])) == 1000
    assert similarity(bytes([100, 0]), bytes([0, 100])) == 0
    assert similarity(bytes([0, 0]), bytes([1, 1])) == 0
    assert similarity(bytes([100, 0]), bytes([156, 0])) == -1000  # int8 -100


@pytest.fixture(scope="module")
def shipped() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(EmbedSettings())
    yield embedder
    embedder.close()


def _false_positives(embedder: LocalEmbedder, cases: list[list[Pair]]) -> tuple[int, int]:
    """Count false positives; the last pair of each condition is on its topic and does not apply."""
    far = scores(embedder, [[item for item in case[:-1] if not item.applies] for case in cases])
    near = scores(embedder, [case[-1:] for case in cases])
    return sum(at >= THRESHOLD for at, _ in far), sum(at >= THRESHOLD for at, _ in near)


@pytest.mark.model
def test_the_accuracy_is_what_the_guide_says(shipped: LocalEmbedder) -> None:
    tune, kept = (grids.scores(shipped, grids.pairs(half)) for half in grids.HALVES)
    assert len(tune) == len(kept) == 680
    assert sum(applies for _, applies in [*tune, *kept]) == 130, "about one rule in ten holds"
    assert grids.best_threshold(tune) == THRESHOLD
    assert _rounded(grids.measure(tune, THRESHOLD)) == (0.54, 0.6)
    assert _rounded(grids.measure(kept, THRESHOLD)) == (0.45, 0.51)


@pytest.mark.model
def test_the_accuracy_on_conditions_with_few_situations(shipped: LocalEmbedder) -> None:
    cases, unseen = pairs("judged.json"), pairs("unseen.json")
    assert (sum(map(len, cases)), sum(map(len, unseen))) == (280, 60)
    assert _rounded(measure(scores(shipped, cases), THRESHOLD)) == (0.8, 0.49)
    assert _rounded(measure(scores(shipped, unseen), THRESHOLD)) == (0.77, 0.71)
    assert _false_positives(shipped, cases) == (1, 14), "on other topics, and on the same one"
    assert _false_positives(shipped, unseen) == (0, 5)


def _rounded(result: Accuracy | grids.Point) -> tuple[float, float]:
    return round(result.precision, 2), round(result.recall, 2)


def test_words_that_both_name_count() -> None:
    shared = SemanticJudge(RecordingEmbedder(), 0.3).judge(
        ["the invoice is wrong", "the parcel is wrong"], {"intent": "correct two parcels"}
    )
    assert [verdict.reason for verdict in shared] == [
        "semantic: 0.000 < 0.300",
        "semantic: 0.040 < 0.300",
    ]


@pytest.mark.parametrize(
    ("sentence", "intent", "looks"),
    [
        ("tables are altered", "which columns has the table orders?", True),
        ("tables are altered", "add a column to the table orders", False),
        ("the database is slow", "why is the query slow?", False),
        ("tables are altered", "", False),
    ],
)
def test_looking_is_not_doing(sentence: str, intent: str, looks: bool) -> None:
    assert only_looks(sentence, {"intent": intent}) is looks
    assert only_looks(sentence, {"message": intent}) is looks
