"""Contexts on the command line, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from quire import Quire
from quire.core.hashing import text_hash
from quire.indexing.audit import compact_receipt
from tests.conftest import Tree
from tests.pipeline.conftest import shelves
from tests.pipeline.invariants import count

QUERY = "quorum vote leader"
KEYS = {
    "text",
    "tokens",
    "content_tokens",
    "available",
    "truncated",
    "limit_exceeded",
    "sources",
    "decisions",
    "failed",
    "receipt",
    "omitted",
    "notes",
    "items",
    "chunks",
    "created",
    "query_hash",
    "state_root",
}
RECEIPT = {
    "version",
    "pipeline",
    "request",
    "request_hash",
    "recipe",
    "recipe_hash",
    "view_root",
    "content_root",
    "viewer_hash",
    "counter",
    "embedder",
    "query_vector",
    "section_vectors",
    "judge",
    "verdicts",
    "writer",
    "summaries",
    "sources",
    "parts",
    "decisions",
    "failed",
    "tokens",
    "content_tokens",
    "available",
    "truncated",
    "omitted",
    "limit_exceeded",
    "text_hash",
    "hash",
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A library of words alone."""
    tree = Tree(Path(tmp_path_factory.mktemp("shelf")) / "project")
    tree.fill(shelves(seed=2, documents=12))
    tree.index()
    return tree


@pytest.fixture
def words(shelf: Tree) -> Iterator[Quire]:
    with shelf.open() as found:
        yield found


def told(tree: Tree, *arguments: str, code: int = 0) -> Any:
    done = tree.call(*arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_the_context_alone_goes_to_standard_output(shelf: Tree, words: Quire) -> None:
    context = words.assemble(QUERY, budget=1500)
    done = shelf.run("assemble", QUERY, "--budget", "1500")
    assert done.returncode == 0
    assert done.stdout == context.text
    assert f"{context.tokens} of 700 tokens (1500 less system 200" in done.stderr
    assert f", {len(context.sources)} pieces, " in done.stderr
    assert "semantic search is off: there are no vectors yet" in done.stderr


def test_json_has_these_keys_and_says_the_same(shelf: Tree, words: Quire) -> None:
    found = told(shelf, "assemble", QUERY, "--budget", "1500")
    assert set(found) == KEYS - {"chunks"}, "each text stands there once; `--parts` repeats it"
    assert set(found["receipt"]) == RECEIPT
    context = words.assemble(QUERY, budget=1500)
    assert found["text"] == context.text
    assert found["tokens"] == context.tokens == count("o200k", found["text"])
    assert found["receipt"] == json.loads(json.dumps(compact_receipt(context.receipt)))
    assert set(found["sources"][0]) == {
        "chunk_id",
        "record_id",
        "path",
        "lines",
        "title",
        "score",
        "tokens",
        "name",
        "kind",
        "section",
        "level",
        "room",
        "line",
        "metadata",
        "document",
        "relevance",
        "similarity",
        "entity_id",
        "summary",
    }
    chunks = told(shelf, "assemble", QUERY, "--budget", "1500", "--parts")["chunks"]
    assert [chunk["chunk_id"] for chunk in chunks] == [
        source["chunk_id"] for source in found["sources"]
    ]
    assert all(chunk["text"] and chunk["sequence"] >= 0 for chunk in chunks)
    assert found["query_hash"] == context.query_hash == text_hash(QUERY).hex()
    assert found["state_root"] == context.state_root == words.status().roots.state
    assert found["created"] == context.created
    assert datetime.fromisoformat(found["created"])
    assert set(found["decisions"][0]) == {
        "chunk_id",
        "path",
        "lines",
        "step",
        "verdict",
        "reason",
        "tokens",
        "score",
        "signals",
    }


def test_standard_input_asks_the_same(shelf: Tree) -> None:
    typed = shelf.call("assemble", QUERY, "--json")
    piped = shelf.call("assemble", "-", "--json", stdin=f"{QUERY}\n")
    assert piped.stdout == typed.stdout
    assert shelf.call("explain", "-", stdin=QUERY).stdout == shelf.call("explain", QUERY).stdout
    empty = shelf.call("assemble", "-", stdin=" \n")
    assert (empty.returncode, empty.stdout) == (2, "")
    assert empty.stderr == "quire: the query is empty; say what the context is for\n"


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--pack", "optimal"], {"pack": "optimal"}),
        (["--order", "edges"], {"order": "edges"}),
        (["--overflow", "cut"], {"overflow": "cut"}),
        (["--soft"], {"hard": False}),
        (["--dedup", "0.3"], {"dedup": 0.3}),
        (["--per-document", "1"], {"per_document": 1}),
        (["--prefer-recent", "20", "--as-of", "1970-01-02"], {"recent": 20, "as_of": 86_400}),
        (["--metadata"], {"metadata": True}),
        (["--format", "json"], {"format": "json"}),
        (["--model", "claude-sonnet-4-5"], {"model": "claude-sonnet-4-5"}),
        (["--reserve", "none"], {"reserve": {}}),
        (["--reserve", "a=10, b=20"], {"reserve": {"a": 10, "b": 20}}),
        (["--viewer", "alice"], {"viewer": "alice"}),
        (["--exact"], {"exact": True}),
    ],
)
def test_every_option_of_a_context(
    shelf: Tree, words: Quire, arguments: list[str], options: Any
) -> None:
    found = told(shelf, "assemble", QUERY, "--budget", "1400", *arguments)
    context = words.assemble(QUERY, budget=1400, **options)
    assert found["receipt"] == json.loads(json.dumps(compact_receipt(context.receipt)))
    assert found["notes"] == list(context.notes)


def test_filters_of_a_context(shelf: Tree) -> None:
    found = told(shelf, "assemble", QUERY, "--path", "shelf1/**", "--kind", "document")
    assert {source["path"].split("/")[0] for source in found["sources"]} == {"shelf1"}
    assert told(shelf, "assemble", QUERY, "--kind", "nothing")["sources"] == []
    assert told(shelf, "assemble", QUERY, "--since", "2020-01-01")["sources"] == []


def test_a_model_that_is_estimated_is_said_to_be(shelf: Tree) -> None:
    done = shelf.call("assemble", QUERY, "--model", "claude-sonnet-4-5")
    assert "note: an estimate: Anthropic publishes no tokenizer" in done.stderr


def test_a_receipt_is_written_checked_and_run_again(shelf: Tree, tmp_path: Path) -> None:
    receipt, text = tmp_path / "r.json", tmp_path / "c.txt"
    done = shelf.call("assemble", QUERY, "--receipt", str(receipt))
    text.write_text(done.stdout, "utf-8")
    written = json.loads(receipt.read_text("utf-8"))
    assert set(written) == RECEIPT | {"created"}
    assert datetime.fromisoformat(written["created"]).tzinfo is not None
    verifying: tuple[tuple[str, ...], ...] = (
        ("verify", str(receipt)),
        ("verify", str(receipt), "--context", str(text)),
    )
    for arguments in verifying:
        done = shelf.call(*arguments)
        assert done.returncode == 0
        first, *rest = done.stdout.splitlines()
        assert first == "the receipt holds"
        assert all(line.startswith(("  checked: ", "  not checked: ")) for line in rest)
        found = told(shelf, *arguments)
        assert (found["holds"], found["binds"], found["problems"]) == (True, True, [])
        assert (found["signature"], len(found["checked"]) > 2) == ("yours", True)
        assert len(found["checked"]) + len(found["not_checked"]) == len(rest)
    for others in (
        ("replay", str(receipt)),
        ("diff", str(receipt), str(receipt)),
    ):
        done = shelf.call(*others)
        assert done.returncode == 0
        assert done.stdout.count("\n") == 1
        found = told(shelf, *others)
        assert found == {"holds": True, "differences": []}
    data = receipt.read_bytes()
    assert shelf.call("verify", "-", stdin=data).stdout.startswith("the receipt holds\n")
    assert shelf.call("replay", "-", stdin=data).stdout == "the same context, byte for byte\n"
    assert shelf.call("diff", str(receipt), "-", stdin=data).stdout == "nothing differs\n"


def test_what_does_not_hold_is_said_first_and_exits_1(shelf: Tree, tmp_path: Path) -> None:
    receipt = tmp_path / "r.json"
    shelf.call("assemble", QUERY, "--receipt", str(receipt))
    other = tmp_path / "o.json"
    shelf.call("assemble", QUERY, "--budget", "1500", "--receipt", str(other))
    done = shelf.call("diff", str(receipt), str(other))
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "recipe.budget.total: 4000 -> 1500"
    done = shelf.call("verify", str(receipt))
    assert (done.returncode, done.stderr) == (0, "")
    shelf.write("new.md", "What was not there before.")
    shelf.index()
    done = shelf.call("verify", str(receipt))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("the receipt holds\n")
    assert "not checked: the state: this viewer reads another one here" in done.stdout
    data = json.loads(receipt.read_text("utf-8"))
    data["tokens"] += 1
    receipt.write_text(json.dumps(data), "utf-8")
    done = shelf.call("verify", str(receipt))
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "the receipt was altered: its hash does not match"
    found = told(shelf, "verify", str(receipt), code=1)
    assert found["holds"] is False
    said = [line for line in done.stdout.splitlines() if not line.startswith("  ")]
    assert found["problems"] == said
    assert told(shelf, "replay", str(receipt), code=1)["holds"] is False
    del data["tokens"]
    receipt.write_text(json.dumps(data), "utf-8")
    done = shelf.call("verify", str(receipt))
    assert done.returncode == 1
    assert done.stdout == "the receipt is malformed: tokens is missing\n"
    done = shelf.call("replay", str(receipt))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "quire: the receipt is malformed: tokens is missing\n"


@pytest.mark.parametrize("place", ["no/such/folder/r.json", ".", "a\0b"])
def test_a_receipt_that_cannot_be_written(shelf: Tree, place: str) -> None:
    done = shelf.call("assemble", QUERY, "--receipt", place)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be written" in done.stderr
    assert done.stderr.count("\n") == 1


def test_parts_are_written_on_request(shelf: Tree, tmp_path: Path) -> None:
    receipt, parts = tmp_path / "r.json", tmp_path / "r.json.parts"
    text = shelf.call("assemble", QUERY, "--budget", "2000", "--receipt", str(receipt)).stdout
    assert not parts.exists()
    small = receipt.read_bytes()
    assert len(small) < 4 * len(text) + 2000, "a receipt needs little room"
    found = told(shelf, "verify", str(receipt))
    assert any("the receipt has only their hash" in line for line in found["not_checked"])
    shelf.call("assemble", QUERY, "--budget", "2000", "--receipt", str(receipt), "--parts")
    assert json.loads(receipt.read_bytes())["hash"] == json.loads(small)["hash"]
    found = told(shelf, "verify", str(receipt))
    assert not any("only their hash" in line for line in found["not_checked"])
    assert any("proofs up to the root" in line for line in found["checked"])
    data = json.loads(parts.read_bytes())
    data["excluded"][0]["reason"] = "for fun"
    parts.write_text(json.dumps(data), "utf-8")
    found = told(shelf, "verify", str(receipt), code=1)
    assert found["problems"] == ["the part excluded was altered: its hash does not match"]
    shelf.call("assemble", QUERY, "--budget", "1500", "--receipt", str(receipt))
    assert not parts.exists(), "those of another receipt are removed"
    done = shelf.call("assemble", QUERY, "--parts")
    assert (done.returncode, done.stdout) == (2, "")
    assert "add --receipt" in done.stderr


def test_stable_order_by_an_earlier_receipt(shelf: Tree, tmp_path: Path) -> None:
    receipt = tmp_path / "r.json"
    first = shelf.call("assemble", QUERY, "--budget", "1500", "--receipt", str(receipt))
    stable = ("--order", "stable", "--previous", str(receipt))
    again = shelf.call("assemble", QUERY, "--budget", "1500", *stable)
    assert again.stdout == first.stdout
    more = shelf.call("assemble", QUERY, "--budget", "2500", *stable)
    assert len(more.stdout) > len(first.stdout)
    assert more.stdout.startswith(first.stdout.rstrip("\n"))
    grouped = shelf.call("assemble", QUERY, "--budget", "2500")
    assert not grouped.stdout.startswith(first.stdout.rstrip("\n"))


def test_explain_shows_each_candidate_once(shelf: Tree, words: Quire) -> None:
    context = words.assemble(QUERY, budget=1500)
    found = told(shelf, "explain", QUERY, "--budget", "1500")
    assert set(found) == {"tokens", "available", "decisions", "failed", "notes"}
    names = [one["chunk_id"] for one in found["decisions"]]
    assert sorted(names) == sorted({one.chunk_id for one in context.decisions})
    done = shelf.call("explain", QUERY, "--budget", "1500")
    lines = done.stdout.splitlines()
    heads = [line for line in lines if line[:2] in {"+ ", "~ ", "- "}]
    assert len(heads) == len(names) == len(lines) // 2
    assert sum(line.startswith("+ ") for line in heads) == len(context.sources)
    scores = [int(line.split("score ")[1].split()[0]) for line in heads]
    assert scores == sorted(scores, reverse=True)


def test_explain_of_what_does_not_fit_is_no_error(shelf: Tree) -> None:
    done = shelf.call("explain", QUERY, "--budget", "805")
    assert done.returncode == 0
    assert "- " in done.stdout
    assert "does not fit" in done.stdout


def test_why_not_for_people_and_programs(shelf: Tree, words: Quire) -> None:
    context = words.assemble(QUERY, budget=1200)
    out = next(one for one in context.decisions if one.step == "pack")
    place = f"{out.path}:{out.lines[0]}"
    found = told(shelf, "why-not", QUERY, place, "--budget", "1200", code=1)
    (one,) = (piece for piece in found["pieces"] if piece["chunk_id"] == out.chunk_id)
    assert one["step"] == "pack"
    assert one["checked"] is True
    (relaxed,) = one["relaxed"]
    assert relaxed["setting"] == "budget.total"
    done = shelf.call("why-not", QUERY, place, "--budget", "1200")
    assert done.returncode == 1
    assert f"to let it in: --budget {relaxed['value']} (checked" in done.stdout
    done = shelf.call("why-not", QUERY, place, "--budget", str(relaxed["value"]))
    assert f"{out.path}:{out.lines[0]}-{out.lines[1]} is in the context" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("assemble", QUERY, "--pack", "x"),
        ("assemble", QUERY, "--order", "x"),
        ("assemble", QUERY, "--overflow", "x"),
        ("assemble", QUERY, "--format", "x"),
        ("assemble", QUERY, "--recipe", "x"),
        ("assemble", QUERY, "--model", "x"),
        ("assemble", QUERY, "--dedup", "nan"),
        ("assemble", QUERY, "--dedup", "1.01"),
        ("assemble", QUERY, "--per-document", "-1"),
        ("assemble", QUERY, "--prefer-recent", "-1"),
        ("assemble", QUERY, "--as-of", "soon"),
        ("assemble", QUERY, "--since", "soon"),
        ("assemble", QUERY, "--path", ""),
        ("assemble", QUERY, "--viewer", ""),
        ("assemble", ""),
        ("explain", ""),
        ("explain", QUERY, "--pack", "x"),
        ("why-not", QUERY, "nowhere.md"),
        ("why-not", QUERY, "nowhere.md:3"),
        ("why-not", QUERY, ":"),
        ("why-not", QUERY, ""),
        ("why-not", QUERY, "a.md:²"),
        ("why-not", "", "a.md"),
        ("verify", "nowhere.json"),
        ("replay", "nowhere.json"),
        ("diff", "nowhere.json", "nowhere.json"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(shelf: Tree, arguments: tuple[str, ...]) -> None:
    for more in ((), ("--json",)):
        done = shelf.call(*arguments, *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("quire: ")
        assert done.stderr.count("\n") == 1


def test_no_store_yet(tree: Tree) -> None:
    for arguments in (("assemble", QUERY), ("explain", QUERY), ("why-not", QUERY, "a.md")):
        done = tree.call(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "no store at" in done.stderr
