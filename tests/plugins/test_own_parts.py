"""Parts of the caller's own: used, named in receipts, refused or isolated where they are wrong."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import quire
from quire import Quire
from quire.core.types import WriteTask
from quire.errors import ConfigError, EmbedError, InputError, PluginError, QuireError
from tests.conftest import Tree

QUERY = "where is the ledger kept"
FILES = {
    "ledger.md": "# Ledger\n\nThe ledger is kept in the vault of the bank.\n",
    "vault.md": "# Vault\n\nThe vault is kept locked, and the ledger is in it.\n",
    "garden.md": "# Garden\n\nThe garden is kept by a gardener, where roses grow.\n",
    "kitchen.md": "# Kitchen\n\nWhere the soup is cooked, the ledger of recipes is kept.\n",
}
WORDS = ("ledger", "vault", "garden", "kitchen", "kept", "soup", "roses", "bank")


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Count a few words: a model that anybody can check."""
    return [[1.0, *(float(text.lower().count(word)) for word in WORDS)] for text in texts]


def count_words(text: str) -> int:
    return len(text.split())


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "project")
    tree.fill(FILES)
    return tree


def opened(tree: Tree, **parts: Any) -> Quire:
    """Open a project without a model, but for the parts that are passed."""
    parts.setdefault("settings", {"embed": {"provider": "none"}})
    q = quire.open(tree.root, **parts)
    q.index()
    return q


# --- embedder -------------------------------------------------------------------------------------


def test_an_embedder_is_used_and_its_name_is_part_of_the_state(tree: Tree) -> None:
    with opened(tree, embedder=embed) as q:
        context = q.assemble(QUERY)
        assert context.receipt["embedder"] == f"own:embed/{len(WORDS) + 1}"
        assert context.receipt["query_vector"]
        assert not context.failed
        assert q.replay(context.receipt)[1] == []
        assert not q.verify(context.receipt, context.text).problems
        root = context.state_root
    with quire.open(tree.root, embedder=("other", embed)) as q:
        mixed = "own:embed/9, but the configured model is own:other"
        with pytest.raises(QuireError, match=mixed) as raised:
            q.index()
        assert "q.index(reembed=True)" in str(raised.value), "`quire index` does not know it"
        context = q.assemble(QUERY)
        assert [failure.source for failure in context.failed] == ["semantic"]
        assert "own:embed/9" in context.failed[0].reason
        assert "own:other/9" in context.failed[0].reason
        q.index(reembed=True)
        context = q.assemble(QUERY)
        assert context.receipt["embedder"] == "own:other/9"
        assert not context.failed
        assert context.state_root != root, "vectors of two models are two states"


def test_a_replay_takes_the_vector_of_an_embedder_that_is_not_there(tree: Tree) -> None:
    with opened(tree, embedder=embed) as q:
        context = q.assemble(QUERY)
    with opened(tree) as q:
        again, differing = q.replay(context.receipt)
        assert differing == []
        assert again.text == context.text
        assert any("is taken from the receipt" in note for note in again.notes)


class Remote:
    """An embedder as an object, whose queries have a prefix and whose vectors are int8."""

    model = "remote-1"

    def __init__(self) -> None:
        self.queries: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [bytes(int(number) for number in row) for row in embed(texts)]

    def embed_query(self, text: str) -> bytes:
        self.queries.append(text)
        return self.embed([f"query: {text}"])[0]


def test_an_embedder_may_be_an_object(tree: Tree) -> None:
    remote = Remote()
    with opened(tree, embedder=remote) as q:
        context = q.assemble(QUERY)
    assert context.receipt["embedder"] == "own:remote-1/9"
    assert remote.queries == [QUERY]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda _: [[1.0, 2.0]], "vectors"),
        (lambda texts: [[float("nan")] for _ in texts], "NaN"),
        (lambda texts: [[0.0, 0.0] for _ in texts], "all zeros"),
        (lambda texts: [["a"] for _ in texts], "no vector"),
        (lambda texts: [[1.0] * (1 + len(text)) for text in texts], "different dimensions"),
        (lambda texts: [b"" for _ in texts], "no direction"),
        (lambda texts: [b"\x7f" * 5000 for _ in texts], "too long"),
        (lambda _: None, "not with a list"),
        (lambda _: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_wrong_embedder_is_named(tree: Tree, wrong: Any, words: str) -> None:
    q = quire.open(tree.root, embedder=("acme", wrong))
    with q, pytest.raises(EmbedError, match=words) as raised:
        q.index()
    assert "the embedder 'acme'" in str(raised.value)


def test_an_embedder_that_fails_later_leaves_the_words(tree: Tree) -> None:
    def fragile(texts: Sequence[str]) -> list[list[float]]:
        if texts == [QUERY]:
            raise SystemExit(3)
        return embed(texts)

    with opened(tree, embedder=fragile) as q:
        context = q.assemble(QUERY)
        assert context.sources
        (failure,) = context.failed
        assert failure.source == "semantic"
        assert failure.reason == "the embedder 'fragile' raised SystemExit: 3"


def test_an_embedder_that_hangs_leaves_the_words(tree: Tree) -> None:
    release = threading.Event()

    def slow(texts: Sequence[str]) -> list[list[float]]:
        if texts == [QUERY]:
            release.wait(30)
        return embed(texts)

    with opened(tree, embedder=slow, settings={"embed": {"timeout": 0.2}}) as q:
        context = q.assemble(QUERY)
    release.set()
    assert context.sources
    assert context.failed[0].reason == "the embedder 'slow' gave no answer within 0.2 s"


# --- reranker -------------------------------------------------------------------------------------


def by_garden(_: str, texts: Sequence[str]) -> list[float]:
    """Like gardens, whatever is asked."""
    return [float("garden" in text.lower()) for text in texts]


def test_a_reranker_decides_on_the_order(tree: Tree) -> None:
    with opened(tree) as q:
        plain = q.assemble(QUERY)
        assert plain.sources[0].path != "garden.md"
        assert "reranks" not in plain.receipt
    with opened(tree, reranker=by_garden) as q:
        context = q.assemble(QUERY)
        assert context.sources[0].path == "garden.md"
        assert context.receipt["reranker"] == "own:by_garden"
        first = next(each for each in context.decisions if each.path == "garden.md")
        assert first.signals["rerank"] == 1_000_000
        assert [hit.path for hit in q.search(QUERY, k=1)] == ["garden.md"], "deeper than k"
        assert not q.verify(context.receipt, context.text).problems


def test_a_replay_needs_no_reranker(tree: Tree) -> None:
    with opened(tree, reranker=by_garden) as q:
        context = q.assemble(QUERY)
    with opened(tree) as q:
        again, differing = q.replay(context.receipt)
        assert (differing, again.text) == ([], context.text)
        note = "4 reranks of the reranker 'own:by_garden' are taken from the receipt"
        assert any(each.startswith(note) for each in again.notes)
        checked = q.verify(context.receipt, context.text)
        assert not checked.problems
        assert any("reranker" in each for each in checked.not_checked)
        _, differing = q.replay(context.receipt, ask_models=True)
        assert any("reranker: own:by_garden -> None" in each for each in differing)


def test_altered_scores_of_a_reranker_do_not_pass(tree: Tree) -> None:
    with opened(tree, reranker=by_garden) as q:
        context = q.assemble(QUERY)
        receipt: dict[str, Any] = dict(context.receipt)
        reranks = dict.fromkeys(receipt["reranks"], 5)
        forged = {**receipt, "reranks": reranks}
        assert any("hash" in each for each in q.verify(forged, context.text).problems)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda *_: [1.0], "was given 4 texts and returned 1 scores"),
        (lambda _, texts: [float("inf") for _ in texts], "infinite"),
        (lambda *_: "no", "not with a list of numbers"),
        (lambda *_: 7, "not with a list of numbers"),
        (lambda *_: next(iter(())), "raised StopIteration"),
    ],
)
def test_a_wrong_reranker_is_isolated(tree: Tree, wrong: Any, reason: str) -> None:
    with opened(tree) as q:
        plain = q.assemble(QUERY)
    with opened(tree, reranker=("acme", wrong)) as q:
        context = q.assemble(QUERY)
        assert context.text == plain.text
        (failure,) = context.failed
        assert failure.source == "reranker"
        assert failure.reason.startswith("the reranker 'acme'")
        assert reason in failure.reason
        assert q.replay(context.receipt)[1] == [], "the failure is replayed"


def test_a_reranker_that_hangs_is_isolated(tree: Tree) -> None:
    release = threading.Event()
    recipe = {"extends": "documents", "rank": {"rerank": {"timeout": 100}}}
    hang = ("slow", lambda _, texts: release.wait(30) or [0.0] * len(texts))
    with opened(tree, reranker=hang) as q:
        context = q.assemble(QUERY, recipe=recipe)
    release.set()
    assert context.sources
    assert context.failed[0].reason == "the reranker 'slow' gave no answer within 0.1 s"


def test_a_recipe_says_what_a_reranker_sees(tree: Tree) -> None:
    seen: list[list[str]] = []

    def watch(_: str, texts: Sequence[str]) -> list[float]:
        seen.append(list(texts))
        return [float(number) for number in range(len(texts))]

    with opened(tree, reranker=watch) as q:
        best = [source.path for source in q.assemble(QUERY, recipe=_rerank(top=0)).sources]
        assert seen == []
        two = [source.path for source in q.assemble(QUERY, recipe=_rerank(top=2)).sources]
        assert [len(texts) for texts in seen] == [2]
        assert two == [best[1], best[0], *best[2:]]
        none = [source.path for source in q.assemble(QUERY, recipe=_rerank(weight=0)).sources]
        assert none == best


def _rerank(**options: int) -> dict[str, Any]:
    return {"name": "mine", "extends": "documents", "rank": {"rerank": options}}


# --- counter --------------------------------------------------------------------------------------


def test_a_counter_counts_and_is_named(tree: Tree) -> None:
    with opened(tree, counter=count_words) as q:
        context = q.assemble(QUERY, budget=40, reserve={})
        assert context.tokens == count_words(context.text) <= 40
        assert context.receipt["counter"] == "own:count_words"
        assert not q.verify(context.receipt, context.text).problems
        assert q.replay(context.receipt)[1] == []
        assert q.assemble(QUERY, model="o200k").receipt["counter"] == "o200k"
        page = q.agent.assemble_context(QUERY)
        assert page.token_count == count_words(page.markdown)


def test_a_counter_that_is_missing_is_named(tree: Tree) -> None:
    with opened(tree, counter=count_words) as q:
        context = q.assemble(QUERY)
    with opened(tree) as q:
        (problem,) = q.verify(context.receipt, context.text).problems
        assert "the counter 'count_words' is a caller's own and is not here" in problem
        with pytest.raises(InputError, match="open the store with"):
            q.replay(context.receipt)


@pytest.mark.parametrize("answer", [-1, 1.5, True, None, "3"])
def test_a_wrong_count_is_refused_when_the_store_is_opened(tree: Tree, answer: Any) -> None:
    with pytest.raises(PluginError, match="the counter 'acme' answered with"):
        quire.open(tree.root, counter=("acme", lambda _: answer))


def test_a_counter_that_fails_later_is_named(tree: Tree) -> None:
    def fragile(text: str) -> int:
        if "Ledger" in text:
            raise OSError("no vocabulary")
        return len(text)

    words = "the counter 'fragile' raised OSError: no vocabulary"
    with opened(tree, counter=fragile) as q, pytest.raises(PluginError, match=words):
        q.assemble(QUERY)


# --- judge, writer --------------------------------------------------------------------------------


RULE = """\
---
metadata: {name: Bank, type: module}
injection_rules:
  - {name: care, condition: money changes hands, inject: [/ledger.md]}
---
Be quiet.
"""


def test_a_judge_decides_and_is_named(tree: Tree) -> None:
    tree.write("bank.context.md", RULE)
    asked: list[str] = []

    def judge(sentence: str, situation: Any) -> bool:
        asked.append(sentence)
        return bool(situation["tool"] == "pay")

    with opened(tree, judge=judge) as q:
        context = q.rules.situate({"tool": "pay"}, "bank.context.md")
        assert asked == ["money changes hands"]
        assert "ledger.md" in [source.path for source in context.sources]
        assert context.receipt["judge"] == "own:judge"
        assert q.replay(context.receipt)[1] == []
        other = q.rules.situate({"tool": "look"}, "bank.context.md")
        assert "ledger.md" not in [source.path for source in other.sources]
        assert q.rules.test({"tool": "pay"}, tree.root / "bank.context.md")
    with opened(tree, judge=("acme", lambda *_: "yes")) as q:
        context = q.rules.situate({"tool": "pay"}, "bank.context.md")
        assert "the judge 'acme' answered with 'yes'" in context.failed[0].reason


def test_a_writer_writes_and_is_named(tree: Tree) -> None:
    tree.write("long.md", "# Ledger\n\n" + "The ledger is kept here, page after page. " * 30)
    tasks: list[WriteTask] = []

    def write(task: WriteTask) -> str:
        tasks.append(task)
        return "The ledger is long."

    options: dict[str, Any] = {"overflow": "cut", "cut": "summarize", "budget": 150, "reserve": {}}
    with opened(tree, writer=write) as q:
        context = q.assemble(QUERY, paths=["long.md"], **options)
        assert tasks
        assert "The ledger is long." in context.text
        assert context.receipt["writer"] == "own:write"
        assert q.replay(context.receipt)[1] == []
    with opened(tree, writer=("acme", lambda _: 3)) as q:
        context = q.assemble(QUERY, paths=["long.md"], **options)
        assert context.failed[0].reason == "the writer 'acme' wrote no text"


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["embedder", "reranker", "counter", "judge", "writer"])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda *_: None, "has no name"),
        (("two words", len), "cannot be used"),
        (("x", 5), "expected"),
        (("a", "b", "c"), "expected a pair"),
        (object(), "has no name"),
        ("text-embedding-4", "expected a function or an object, not 'text-embedding-4'"),
    ],
)
def test_what_is_no_part_is_refused(tree: Tree, part: str, given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        quire.open(tree.root, **{part: given})
    assert raised.value.field == part
    assert not tree.store.exists(), "nothing was created"


def test_an_asynchronous_embedder_is_refused_in_words(tree: Tree) -> None:
    async def embed(texts: list[str]) -> list[list[float]]:
        return [[1.0, 2.0] for _ in texts]

    tree.write("a.md", "A capstan.\n")
    with (
        quire.open(tree.root, embedder=embed) as q,  # type: ignore[arg-type]  # on purpose
        pytest.raises(EmbedError, match="the embedder 'embed' is asynchronous; pass a function"),
    ):
        q.index()


def test_settings_count_before_all_others_and_stay(tree: Tree) -> None:
    tree.write("quire.toml", "[ingest]\nwhole = 900\n")
    with quire.open(tree.root, settings={"ingest": {"whole": 700, "ignore": ["*.x"]}}) as q:
        assert (q.config.ingest.whole, q.config.ingest.ignore) == (700, ("*.x",))
        tree.write("quire.toml", "[ingest]\nwhole = 800\ntarget = 500\n")
        q.status()
        assert (q.config.ingest.whole, q.config.ingest.target) == (700, 500)


@pytest.mark.parametrize(
    "wrong", [{"embed": {"provder": "none"}}, {"store": {}}, {"ingest": {"whole": "x"}}]
)
def test_wrong_settings_are_refused(tree: Tree, wrong: Any) -> None:
    with pytest.raises(ConfigError, match="settings"):
        quire.open(tree.root, settings=wrong)
    with pytest.raises(InputError, match="expected tables"):
        quire.open(tree.root, settings=[])  # type: ignore[arg-type]


def test_a_recipe_may_be_a_mapping(tree: Tree) -> None:
    with opened(tree) as q:
        mine = q.assemble(QUERY, recipe={"extends": "documents", "fit": {"per_document": 1}})
        assert mine.receipt["recipe"]["name"] == "custom"  # type: ignore[index]
        assert q.replay(mine.receipt)[1] == []
        wrongs: list[dict[Any, Any]] = [
            {"extends": "nothing"},
            {"sources": 3},
            {1: 2},
            {"rank": {"rerank": {"x": 1}}},
        ]
        for wrong in wrongs:
            with pytest.raises(QuireError):
                q.assemble(QUERY, recipe={"extends": "documents", **wrong})
