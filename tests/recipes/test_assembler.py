"""Contexts of results that the caller brings: the same pipeline, without a store."""

from __future__ import annotations

import asyncio
import copy
import json
import math
import random
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire import (
    AssemblyConfig,
    ContextAssembler,
    ContextAssemblyError,
    PackingStrategy,
    QuireError,
    RetrievalResult,
    Tokenizer,
)
from quire.core import merkle
from tests.conftest import Tree

QUERY = "When are refunds paid?"
RESULTS = [
    RetrievalResult("Refunds are paid within 30 days.", "policy.md", 0.91, id="p0", sequence=0),
    RetrievalResult("They need a receipt.", "policy.md", 0.5, id="p1", sequence=1),
    RetrievalResult("Shipping takes a week.", "policy.md", 0.4, id="p7", sequence=7),
    RetrievalResult(
        "def total(self):\n    return sum(self.items)\n",
        "shop/cart.py",
        0.88,
        line=12,
        kind="method",
        name="Cart.total",
        summary="Add up the prices.",
        metadata={"commit": "2881d93"},
    ),
    RetrievalResult("Refunds are paid within 30 days.", "copy.md", 0.3),
]
PAGE = """\
[DOC: policy.md]
Refunds are paid within 30 days.
They need a receipt.
...
Shipping takes a week.

[DOC: shop/cart.py]
def total(self):
    return sum(self.items)
"""


def assembler(**options: Any) -> ContextAssembler:
    return ContextAssembler(budget=500, reserve={}, **options)


def test_results_become_a_page_with_receipt() -> None:
    context = assembler().assemble(QUERY, RESULTS)
    assert context.text == PAGE
    assert context.tokens == quire.count_tokens(PAGE)
    assert [source.path for source in context] == ["policy.md"] * 3 + ["shop/cart.py"]
    assert [chunk.source_id for chunk in context.chunks] == ["p0", "p1", "p7", ""]
    assert [chunk.sequence for chunk in context.chunks] == [0, 1, 7, 0]
    assert context.chunks[3].metadata == {"commit": "2881d93"}
    assert context.chunks[3].summary == "Add up the prices."
    assert context.sources[3].entity_id == f"{context.sources[3].record_id}#Cart.total"
    (dropped,) = [one for one in context.decisions if one.verdict == "dropped"]
    assert (dropped.path, dropped.step) == ("copy.md", "dedup")


def test_the_receipt_says_that_the_texts_were_brought() -> None:
    context = assembler().assemble(QUERY, RESULTS)
    receipt: Any = context.receipt
    assert [*receipt["recipe"]["sources"]] == ["brought"]
    owner = quire.Viewer("owner", owner=True)
    assert receipt["viewer_hash"] not in {"", quire_viewer_hash(owner)}
    alone = assembler().verify(receipt, context.text)
    assert alone.problems == ()
    assert not alone.binds
    assert any("checked nobody's access" in line for line in alone.not_checked)
    whole = assembler().verify(receipt, context.text, RESULTS)
    assert whole.holds
    assert any("every byte of the page" in line for line in whole.checked)
    assert any("checked nobody's access" in line for line in whole.not_checked)
    signed = assembler().verify(receipt, context.text, signature=quire.Quire.sign(receipt))
    assert signed.holds


def quire_viewer_hash(viewer: quire.Viewer) -> str:
    from quire.receipts import viewer_hash

    return viewer_hash(viewer)


@pytest.mark.parametrize("format_", ["markers", "json", "markdown", "xml", "plain"])
@pytest.mark.parametrize("budget", [30, 60, 500])
def test_every_page_is_rendered_again(format_: str, budget: int) -> None:
    made = ContextAssembler(
        recipe="entities",
        format=format_,
        budget=budget,
        reserve={},
        overflow="cut",
        allow_empty=True,
    )
    context = made.assemble(QUERY, RESULTS)
    assert context.tokens <= budget
    assert made.verify(context.receipt, context.text, RESULTS).holds


def test_altered_texts_are_noticed() -> None:
    made = assembler()
    context = made.assemble(QUERY, RESULTS)
    other = [replace(RESULTS[0], text="Refunds are paid within 90 days."), *RESULTS[1:]]
    assert made.verify(context.receipt, context.text, other).problems
    assert made.verify(context.receipt, context.text, RESULTS[1:]).problems
    assert made.verify(context.receipt, context.text.replace("30", "90"), RESULTS).problems
    altered: Any = copy.deepcopy(context.receipt)
    altered["sources"][0]["path"] = "law.md"
    assert made.verify(altered, context.text, RESULTS).problems
    renamed = [*RESULTS[:3], replace(RESULTS[3], summary="Pay out everything."), RESULTS[4]]
    page = made.assemble(QUERY, RESULTS, recipe="entities")
    assert not made.verify(page.receipt, page.text, renamed).holds


def test_a_store_does_not_answer_for_what_was_brought(tree: Tree) -> None:
    context = assembler().assemble(QUERY, RESULTS)
    (tree.root / "receipt.json").write_text(json.dumps(context.receipt), "utf-8")
    (tree.root / "page.txt").write_text(context.text, "utf-8")
    (tree.root / "results.jsonl").write_text(
        "".join(json.dumps(as_data(result)) + "\n" for result in RESULTS), "utf-8"
    )
    tree.index()
    verify = ("verify", "receipt.json", "--context", "page.txt")
    alone = tree.call(*verify)
    assert alone.returncode == 1
    assert "the caller brought them" in alone.stdout
    assert "another viewer" not in alone.stdout
    assert "the receipt holds" in tree.call(*verify, "--results", "results.jsonl").stdout
    replayed = tree.call("replay", "receipt.json")
    assert replayed.returncode == 2
    assert "the caller brings the texts" in replayed.stderr


def as_data(result: RetrievalResult) -> dict[str, Any]:
    names = RetrievalResult.__slots__
    data = {name: getattr(result, name) for name in names}
    return {name: value for name, value in data.items() if value is not None}


def test_the_command_assembles_results_without_a_store(tmp_path: Path, tree: Tree) -> None:
    file = tree.root / "results.json"
    file.write_text(json.dumps([as_data(result) for result in RESULTS]), "utf-8")
    options = ("--results", "results.json", "--budget", "500", "--reserve", "none")
    done = tree.call("assemble", QUERY, *options, "--receipt", "receipt.json")
    assert done.stdout == PAGE
    (tree.root / "page.txt").write_text(done.stdout, "utf-8")
    assert (
        "the receipt holds" in tree.call("verify", "receipt.json", "--context", "page.txt").stdout
    )
    told = json.loads(tree.call("assemble", QUERY, *options, "--json", "--parts").stdout)
    assert [chunk["source_id"] for chunk in told["chunks"]] == ["p0", "p1", "p7", ""]
    assert not (tree.root / ".quire" / "store.db").exists()
    refused = tree.call("assemble", QUERY, *options, "--focus", "policy.md")
    assert refused.returncode == 2
    assert "--focus: has no effect without a store" in refused.stderr


# --- searchers ----------------------------------------------------------------------------------


class Shelf:
    """A retriever that counts how it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def search(self, query: str, k: int) -> list[RetrievalResult]:
        self.asked.append((query, k))
        return RESULTS


def test_a_searcher_is_asked() -> None:
    shelf = Shelf()
    assert assembler(searcher=shelf, k=7).assemble(QUERY).text == PAGE
    assert shelf.asked == [(QUERY, 7)]
    assert assembler(searcher=lambda *_: iter(RESULTS)).assemble(QUERY).text == PAGE


def test_a_searcher_may_be_asynchronous() -> None:
    async def search(query: str, k: int) -> list[RetrievalResult]:
        await asyncio.sleep(0)
        return RESULTS

    async def stream(query: str, k: int) -> AsyncIterator[RetrievalResult]:
        for result in RESULTS:
            yield result

    for searcher in (search, stream, Shelf().search):
        context = asyncio.run(assembler(searcher=searcher).assemble_async(QUERY))
        assert context.text == PAGE
    for searcher in (search, stream):
        with pytest.raises(ContextAssemblyError, match="assemble_async"):
            assembler(searcher=searcher).assemble(QUERY)


def test_a_searcher_that_fails_is_named() -> None:
    def refuse(query: str, k: int) -> list[RetrievalResult]:
        raise ConnectionError("the index is down")

    def stop(query: str, k: int) -> Iterator[RetrievalResult]:
        yield RESULTS[0]
        raise TimeoutError("no more")

    async def wait(query: str, k: int) -> list[RetrievalResult]:
        raise TimeoutError("no answer")

    with pytest.raises(ContextAssemblyError, match="ConnectionError: the index is down"):
        assembler(searcher=refuse).assemble(QUERY)
    with pytest.raises(ContextAssemblyError, match="TimeoutError: no more"):
        assembler(searcher=stop).assemble(QUERY)
    with pytest.raises(ContextAssemblyError, match="TimeoutError: no answer"):
        asyncio.run(assembler(searcher=wait).assemble_async(QUERY))


def test_hits_of_a_store_can_be_brought(tree: Tree) -> None:
    tree.fill({"a.md": "# Refunds\n\nRefunds are paid within 30 days.\n", "b.md": "Nothing.\n"})
    tree.index()
    with quire.open(tree.root) as store:
        made = assembler(searcher=lambda query, k: store.search(query, k=k))
        context = made.assemble(QUERY)
        ours = store.assemble(QUERY, budget=500, reserve={})
    assert [source.chunk_id for source in context] == [source.chunk_id for source in ours]
    assert context.text == ours.text


# --- what is refused ----------------------------------------------------------------------------

WRONG: list[tuple[Any, str]] = [
    ({"score": math.nan}, "score: expected a finite number"),
    ({"score": math.inf}, "score: expected a finite number"),
    ({"score": "high"}, "score: expected a finite number"),
    ({"score": True}, "score: expected a finite number"),
    ({"score": 10**400}, "score: expected a finite number"),
    ({"text": b"bytes"}, "text: expected a string"),
    ({"text": None}, "text: expected a string"),
    ({"text": " \n"}, "text: is empty"),
    ({"text": "\ud800"}, "text: is not valid Unicode"),
    ({"path": ""}, "path: is empty"),
    ({"sequence": -1}, "sequence: expected a whole number"),
    ({"start": 1.5}, "start: expected a whole number"),
    ({"line": None}, "line: expected a whole number"),
    ({"semantic_score": 2}, "semantic_score: expected a number from 0 to 1"),
    ({"metadata": [1]}, "metadata: expected a mapping"),
    ({"modified": "yesterday"}, "modified: expected a date"),
    ({"colour": "red"}, "unknown field 'colour'"),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_result_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    good = {"text": "Refunds.", "path": "a.md", "score": 1.0}
    with pytest.raises(QuireError, match=message):
        assembler().assemble(QUERY, [good, {**good, "path": "b.md", **change}])


def test_what_is_no_list_of_results_is_refused() -> None:
    for results in ("text", b"bytes", {"text": "x"}, 7):
        with pytest.raises(QuireError, match="expected a list of results"):
            assembler().assemble(QUERY, results)  # type: ignore[arg-type]
    with pytest.raises(QuireError, match="expected a RetrievalResult, not tuple"):
        assembler().assemble(QUERY, [("text", 1.0)])  # type: ignore[list-item]
    with pytest.raises(QuireError, match="neither results nor a searcher"):
        assembler().assemble(QUERY)
    with pytest.raises(QuireError, match="score is missing"):
        assembler().assemble(QUERY, [{"text": "a", "path": "b"}])
    with pytest.raises(QuireError, match="more than 10000 results"):
        assembler().assemble(QUERY, (RESULTS[4] for _ in iter(int, 1)))


def test_the_same_result_twice_is_refused() -> None:
    with pytest.raises(QuireError, match=r"result 2: the id 'p0' is that of result 1 as well"):
        assembler().assemble(QUERY, [RESULTS[0], replace(RESULTS[0], text="Other.", sequence=3)])
    with pytest.raises(QuireError, match="two results have the sequence 1"):
        assembler().assemble(QUERY, [RESULTS[1], replace(RESULTS[1], text="Other.", id="")])


def test_offsets_that_cannot_be_are_refused() -> None:
    first = RetrievalResult("Größe zählt.", "a.md", 1, start=0)
    with pytest.raises(QuireError, match="count bytes of UTF-8, not characters"):
        assembler().assemble(QUERY, [first, RetrievalResult("Mehr.", "a.md", 1, start=12)])
    with pytest.raises(QuireError, match="some of its results have a start"):
        assembler().assemble(QUERY, [first, RetrievalResult("Mehr.", "a.md", 1)])
    overlapping = [
        RetrievalResult("one two three", "a.md", 1, start=0),
        RetrievalResult("three four", "a.md", 0.5, start=8),
    ]
    assert assembler().assemble(QUERY, overlapping).text == "[DOC: a.md]\none two three four\n"


def test_wrong_settings_are_refused() -> None:
    for options, message in (
        ({"budget": -5}, "budget: must be between"),
        ({"budget": 100, "reserve": {"system": 100}}, "budget: all of its"),
        ({"recipe": "agent"}, "has sections"),
        ({"pack": "tight"}, "unknown packing strategy 'tight'"),
        ({"viewer": "ada"}, "viewer: has no effect without a store"),
        ({"kinds": ["code"]}, "kinds: has no effect without a store"),
    ):
        with pytest.raises(QuireError, match=message):
            ContextAssembler(**options).assemble(QUERY, RESULTS)
    with pytest.raises(QuireError, match="no token counter"):
        ContextAssembler(tokenizer="gpt-5000x")
    with pytest.raises(QuireError, match="k: must be"):
        ContextAssembler(k=0)
    with pytest.raises(QuireError, match="expected an object with a method"):
        ContextAssembler(searcher=7)  # type: ignore[arg-type]
    with pytest.raises(ContextAssemblyError, match="not even one piece fits"):
        ContextAssembler(budget=3, reserve={}).assemble(QUERY, RESULTS)
    assert issubclass(quire.InvalidContextTypeError, ContextAssemblyError)


def test_a_store_refuses_the_source_brought(tree: Tree, tmp_path: Path) -> None:
    tree.fill({"a.md": "Text.\n", "own.toml": "[sources.brought]\nk = 5\n"})
    tree.index()
    done = tree.call("assemble", "text", "--recipe", "own.toml")
    assert done.returncode == 2
    assert "'brought' is not a source of a store" in done.stderr


# --- the words of the specifications ------------------------------------------------------------


def test_a_config_means_options() -> None:
    config = AssemblyConfig(
        packing_strategy=PackingStrategy.SCORE_WEIGHTED,
        dedup_threshold=1.0,
        max_chunks_per_doc=1,
        include_metadata=True,
    )
    named = assembler(config=config).assemble(QUERY, RESULTS)
    same = assembler(
        pack="score_weighted", dedup=1.0, per_document=1, metadata=True, recent=0
    ).assemble(QUERY, RESULTS)
    assert named == same
    assert [source.path for source in named] == ["policy.md", "shop/cart.py"]
    assert "score 1000000" in named.text


def test_recent_results_are_preferred() -> None:
    results = [
        RetrievalResult("The old way to pay.", "old.md", 1.0, modified="2020-01-01"),
        RetrievalResult("A new way to pay.", "new.md", 0.95, modified="2026-01-01"),
    ]
    assert [one.path for one in assembler().assemble(QUERY, results)] == ["old.md", "new.md"]
    recent = assembler(config=AssemblyConfig(prefer_recent=True))
    assert [one.path for one in recent.assemble(QUERY, results)] == ["new.md", "old.md"]


def test_a_tokenizer_counts_as_the_functions_do() -> None:
    tokenizer = Tokenizer("gpt-4o")
    text = "Refunds are paid within 30 days. " * 20
    assert tokenizer.count_tokens(text) == quire.count_tokens(text, "gpt-4o")
    assert tokenizer.truncate_to_tokens(text, 9) == quire.truncate_to_tokens(text, 9, "gpt-4o")
    made = ContextAssembler(tokenizer=Tokenizer("approx"), budget=500, reserve={})
    assert made.assemble(QUERY, RESULTS).receipt["counter"] == "approx"


def test_the_packing_vector_of_the_specification() -> None:
    filling = {name: f"{name} " + "word " * 200 for name in "ABCD"}
    sizes = {"A": 50, "B": 100, "C": 30, "D": 80}
    results = [
        RetrievalResult(
            quire.truncate_to_tokens(filling[name], sizes[name]), f"{name}.md", score, id=name
        )
        for name, score in (("A", 0.9), ("B", 0.85), ("C", 0.8), ("D", 0.75))
    ]
    context = ContextAssembler(budget=150, reserve={}, dedup=1.0).assemble(QUERY, results)
    assert [chunk.source_id for chunk in context.chunks] == ["A", "C"]
    assert not context.truncated


# --- properties ---------------------------------------------------------------------------------

WORDS = st.lists(
    st.sampled_from(["refund", "paid", "days", "ship", "cart", "café", "12", "8080"]), min_size=1
)
SCORES = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def brought(draw: st.DrawFn) -> list[RetrievalResult]:
    texts = draw(st.lists(WORDS.map(" ".join), min_size=1, max_size=12))
    return [
        RetrievalResult(
            f"{text} {number}",
            draw(st.sampled_from(["a.md", "b.py", "https://x.org/c"])),
            draw(SCORES),
            sequence=draw(st.sampled_from([None, number])),
            line=draw(st.integers(0, 9)),
            name=draw(st.sampled_from(["", "Cart.total", "refund"])),
            kind=draw(st.sampled_from(["", "function", "section", "message", "note"])),
        )
        for number, text in enumerate(texts)
    ]


@settings(deadline=None, max_examples=60)
@given(
    results=brought(),
    seed=st.integers(0, 99),
    budget=st.integers(20, 200),
    format_=st.sampled_from(["markers", "markdown", "xml", "plain", "json"]),
    pack=st.sampled_from([*PackingStrategy]),
    overflow=st.sampled_from(["skip", "cut", "stop"]),
)
def test_the_order_of_results_does_not_matter(
    results: list[RetrievalResult], seed: int, **options: Any
) -> None:
    options["format"] = options.pop("format_")
    made = ContextAssembler(reserve={}, allow_empty=True, dedup=1.0, **options)
    context = made.assemble(QUERY, results)
    assert context.tokens == quire.count_tokens(context.text) <= options["budget"]
    shuffled = random.Random(seed).sample(results, len(results))
    again = made.assemble(QUERY, shuffled)
    assert again == context
    assert made.verify(context.receipt, context.text, shuffled).holds
    for source in context:
        chunk = next(one for one in context.chunks if one.chunk_id == source.chunk_id)
        assert chunk.document_path == source.path


@settings(deadline=None, max_examples=100)
@given(st.lists(SCORES, min_size=1, max_size=40, unique=True))
def test_the_order_of_scores_is_kept(scores: list[float]) -> None:
    results = [
        RetrievalResult(f"text {number}", f"{number}.md", score, id=str(score))
        for number, score in enumerate(scores)
    ]
    made = ContextAssembler(budget=100_000, reserve={}, pack="score_weighted", order="packed")
    shown = [float(chunk.source_id) for chunk in made.assemble(QUERY, results, dedup=1.0).chunks]
    assert shown == sorted(scores, reverse=True)


@given(st.sets(st.binary(min_size=16, max_size=16), min_size=1, max_size=40))
def test_a_tree_in_memory_proves_its_leaves(keys: set[bytes]) -> None:
    tree = merkle.Tree((key, key * 2) for key in keys)
    root = merkle.view_root([tree.root]).hex()
    for key in keys:
        assert merkle.verify_leaf(tree.prove(key.hex()), key, key * 2, root)
    for one, other in pairwise(sorted(keys)):
        assert not merkle.verify_leaf(tree.prove(one.hex()), other, other * 2, root)


def test_code_is_shown_by_its_definition() -> None:
    code = (
        "class Cart:\n"
        '    """What a customer wants."""\n\n'
        "    def total(self) -> int:\n"
        '        """Add up the prices."""\n'
        "        return sum(self.items)\n"
    )
    results = [
        RetrievalResult(code, "shop/cart.py", 1.0, line=40),
        RetrievalResult("def pay(cart):\n    return cart.total()\n", "shop/pay.py", 0.5),
    ]
    made = assembler(recipe="entities")
    context = made.assemble("what does Cart.total return?", results)
    assert [(source.name, source.line) for source in context] == [("Cart.total", 43), ("pay", 0)]
    assert "### Cart.total\n*shop/cart.py:43*" in context.text
    assert "```python\ndef pay(cart):" in context.text
    assert made.verify(context.receipt, context.text, results).holds
