"""Every alteration is caught: of a receipt, of a context, of a chunk in the store."""

from __future__ import annotations

import copy
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from quire import Quire, receipts, tokens
from quire.core import hashing
from quire.core.types import RECEIPT_PARTS, Context
from quire.errors import InputError, QuireError
from quire.receipts import Receipt
from quire.receipts.canonical import data_hash
from quire.receipts.parts import named_by
from quire.receipts.receipt import receipt_hash
from quire.store.sqlite.page_checksums import CHECKED
from tests.conftest import Tree
from tests.pipeline.conftest import opened
from tests.receipts.conftest import QUERY, as_read
from tests.receipts.mutations import alterations

COUNTER = tokens.open_counter("o200k")


def test_a_receipt_holds_with_and_without_the_store(
    kept: Quire, context: Context, receipt: Receipt
) -> None:
    assert receipts.verify(receipt, COUNTER).problems == ()
    assert receipts.verify(receipt, COUNTER, context=context.text).problems == ()
    assert kept.verify(receipt, context.text).problems == ()
    assert kept.verify({**receipt, "created": "2026-01-31"}, context.text).problems == ()
    assert receipts.verify(context.receipt, COUNTER).problems == ()


def test_a_receipt_altered_in_any_one_field_is_caught(receipt: Receipt) -> None:
    tried = 0
    for path, other in alterations({**receipt, "created": "2026-01-31"}):
        if not isinstance(other, dict) or other == receipt:
            continue
        tried += 1
        wrong = receipts.verify(other, COUNTER)
        assert wrong, f"{path} was altered unseen"
        assert all("\n" not in text for text in wrong)
    assert tried > 1000


def test_a_large_receipt_altered_in_some_fields_is_caught(library: Quire) -> None:
    receipt = as_read(library.assemble("quorum vote leader").receipt)
    for number, (path, other) in enumerate(alterations(receipt)):
        if number % 97 == 0 and isinstance(other, dict):
            assert receipts.verify(other, COUNTER), f"{path} was altered unseen"


def test_whatever_is_no_receipt_at_all_is_said_by_the_engine(kept: Quire, receipt: Receipt) -> None:
    for path, other in alterations(receipt):
        if len(path) <= 1 and isinstance(other, dict):
            wrong = kept.verify(other)
            assert wrong, f"{path} was altered unseen"


def forged(receipt: Receipt) -> Receipt:
    """Compute all hashes anew, as someone would who knows how."""
    other = copy.deepcopy(receipt)
    try:
        for part in ("request", "recipe"):
            other[f"{part}_hash"] = data_hash(other[part])
        if "excluded" in other:
            other["parts"] = named_by(other["excluded"], other["proofs"])
        other["hash"] = receipt_hash(other)
    except (KeyError, TypeError, AttributeError):
        pass
    return other


def noticed(kept: Quire, false: Receipt, text: str) -> str:
    """Tell how a forged receipt is caught; `true`: it says what a run of its own would say."""
    if kept.verify(false, text):
        return "by checking"
    try:
        again, differing = kept.replay(false)
    except QuireError:
        return "by running"
    if differing:
        return "by running"
    return "true" if content(again.receipt) == content(false) else ""


def content(receipt: Any) -> dict[str, Any]:
    """Give what a receipt says, with the defaults of what it does not name; hashes follow from it."""
    read = receipts.read(as_read(receipt))
    derived = ("hash", "request_hash", "recipe_hash", "parts")
    return {name: value for name, value in read.items() if name not in derived}


def test_a_receipt_forged_with_its_hashes_is_caught_or_is_true(
    kept: Quire, context: Context, receipt: Receipt
) -> None:
    """By checking it, or by running it again; unless it says what a run of its own would say."""
    tried = by_checking = by_running = 0
    for path, other in alterations(receipt):
        if not isinstance(other, dict) or "proofs" in path or "query_vector" in path:
            continue  # a vector that is altered a little may well find the same
        false = forged(other)
        if false == receipt:
            continue
        tried += 1
        found = noticed(kept, false, context.text)
        assert found, f"{path} was forged unseen"
        by_checking += found == "by checking"
        by_running += found == "by running"
    assert by_checking > 500
    assert by_running > 50
    assert tried > by_checking


def meaning(proofs: Any) -> Any:
    """Read a proof as it is meant: hashes by their bytes, what stands beside it by its place."""
    return (
        sorted(bytes.fromhex(root) for root in proofs["classes"]),
        [{at: bytes.fromhex(root) for at, root in top} for top in proofs["tops"].values()],
        {
            name: (
                bytes.fromhex(own["leaf"]),
                [(bytes.fromhex(key), bytes.fromhex(leaf)) for key, leaf in own["bucket"]],
                {at: bytes.fromhex(root) for at, root in own["nodes"]},
            )
            for name, own in proofs["chunks"].items()
        },
    )


def test_a_forged_proof_is_caught_without_a_store(receipt: Receipt) -> None:
    tried = same = 0
    for path, other in alterations(receipt["proofs"]):
        tried += 1
        if not receipts.verify(forged({**receipt, "proofs": other}), COUNTER):
            same += 1
            assert meaning(other) == meaning(receipt["proofs"]), f"{path} was forged unseen"
    assert tried > 300
    assert same < tried // 10


@pytest.mark.parametrize(
    "name", ["kind", "path", "title", "sequence", "start", "end", "lines", "text_hash", "record_id"]
)
def test_a_chunk_is_proved_with_all_that_it_is(receipt: Receipt, name: str) -> None:
    other = copy.deepcopy(receipt)
    chunk = other["sources"][0]["chunk"]
    value = chunk[name]
    chunk[name] = (
        [value[0] + 1, value[1]]
        if name == "lines"
        else value + 1
        if isinstance(value, int)
        else f"{'0' if value[0] != '0' else '1'}{value[1:]}"
        if value
        else "x"
    )
    for part in (other["sources"][0], other["decisions"][0]):
        if name in part:
            part[name] = chunk[name]
    wrong = receipts.verify(forged(other), COUNTER)
    assert any("not proved to be under the root" in text for text in wrong)


def test_a_proof_against_another_root_fails(receipt: Receipt, project: Quire, tree: Tree) -> None:
    tree.write("d.md", "One more quorum.\n")
    project.index()
    elsewhere = project.status().roots.content
    assert elsewhere != receipt["content_root"]
    wrong = receipts.verify(forged({**receipt, "content_root": elsewhere}), COUNTER)
    assert sum("not proved to be under the root" in text for text in wrong) == len(
        receipt["sources"]
    )


def test_a_part_that_is_not_the_named_one_is_caught(kept: Quire, receipt: Receipt) -> None:
    for name in RECEIPT_PARTS:
        other = copy.deepcopy(receipt)
        other["parts"][name]["hash"] = "0" * 64
        other["hash"] = receipt_hash(other)
        assert f"the part {name} was altered: its hash does not match" in [
            *receipts.verify(other, COUNTER)
        ]
        small = receipts.compact(other)
        assert receipts.verify(small, COUNTER).problems == (), "nobody has the part at hand"
        if name == "excluded":
            assert kept.replay(small)[1] == ["the decisions on what was left out differ"]


def test_what_was_left_out_is_checked_where_it_is_at_hand(kept: Quire, context: Context) -> None:
    receipt = as_read(context.receipt)
    small = receipts.compact(receipt)
    file = receipts.parts_file(receipt)
    assert receipts.with_parts(small, file) == receipt
    for text in (kept.verify(small).not_checked, receipts.verify(small, COUNTER).not_checked):
        assert any(line.startswith("the decisions on what was left out (") for line in text)
        assert any(line.startswith("the proofs of the sources (3)") for line in text)
    whole = kept.verify(receipts.with_parts(small, file)).not_checked
    assert not any("only their hash" in line for line in whole)
    refused: list[Any] = [{}, [], {**file, "more": 1}, {**file, "receipt": "0" * 64}]
    for wrong in refused:
        with pytest.raises(InputError, match="parts"):
            receipts.with_parts(small, wrong)
    other = {**file, "proofs": {**file["proofs"], "classes": []}}
    assert any(
        "proofs was altered" in text
        for text in receipts.verify(receipts.with_parts(small, other), COUNTER)
    )


def test_the_proofs_of_another_state_do_not_help(
    receipt: Receipt, project: Quire, tree: Tree
) -> None:
    tree.write("d.md", "One more quorum.\n")
    project.index()
    other = as_read(project.assemble(QUERY, budget=74, reserve={"answer": 5}).receipt)
    false = forged({**receipt, "proofs": other["proofs"]})
    assert receipts.verify(false, COUNTER)


def test_a_context_altered_in_any_one_byte_is_caught(
    kept: Quire, context: Context, receipt: Receipt
) -> None:
    data = context.text.encode()
    assert len(data) > 150
    for place in range(len(data)):
        for other in (
            data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :],
            data[:place] + data[place + 1 :],
            data[:place] + b" " + data[place:],
        ):
            text = other.decode("utf-8", "surrogateescape")
            if text != context.text:
                assert receipts.verify(receipt, COUNTER, context=text)
    for other_text in ("", context.text + "\n", context.text[:-1], context.text.upper()):
        assert kept.verify(receipt, other_text)


@pytest.mark.parametrize("length", [0, 1, 2])
def test_a_context_altered_in_its_line_ends_is_caught_on_the_command_line(
    kept_tree: Tree, context: Context, tmp_path: Path, length: int
) -> None:
    (tmp_path / "r.json").write_text(json.dumps(context.receipt), "utf-8")
    name = str(tmp_path / "r.json")
    good = context.text.encode()
    bad = (good.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + good, good + b"\xff")[length]
    assert kept_tree.call("verify", name, "--context", "-", stdin=good).returncode == 0
    done = kept_tree.call("verify", name, "--context", "-", stdin=bad)
    assert done.returncode in {1, 2}
    (tmp_path / "c.txt").write_bytes(bad)
    assert kept_tree.call("verify", name, "--context", str(tmp_path / "c.txt")).returncode in {1, 2}


ALTERING = {
    "text": "UPDATE chunk SET text = replace(text, 'quorum', 'Quorum')",
    "one letter": "UPDATE chunk SET text = text || ' ' WHERE text LIKE '%void%'",
    "title": "UPDATE chunk SET title = title || '!'",
    "sequence": "UPDATE chunk SET sequence = sequence + 1",
    "start": "UPDATE chunk SET start = start + 1",
    "end": "UPDATE chunk SET stop = stop + 1",
    "lines": "UPDATE chunk SET last_line = last_line + 1",
    "path": "UPDATE record SET path = 'x' || path",
    "kind": "UPDATE kind SET name = name || 's'",
    "record": "UPDATE record SET id = 'x' || substr(id, 2)",
    "gone": "DELETE FROM chunk WHERE text LIKE '%quorum%'",
    "swapped": "UPDATE chunk SET text = (SELECT max(text) FROM chunk)",
}


def alter(store: Path, statement: str) -> None:
    """Alter a store as somebody would who knows how its pages end."""
    with closing(apsw.Connection(str(store), vfs=CHECKED)) as connection:
        connection.execute(statement)
        assert connection.changes()


@pytest.mark.parametrize("what", sorted(ALTERING))
def test_a_chunk_altered_in_the_store_is_caught(project: Quire, tree: Tree, what: str) -> None:
    context = project.assemble(QUERY)
    (tree.root / "r.json").write_text(json.dumps(context.receipt), "utf-8")
    project.close()
    assert tree.call("verify", "r.json").returncode == 0
    alter(tree.store, ALTERING[what])
    done = tree.call("verify", "r.json")
    assert done.returncode == 1
    first = done.stdout.splitlines()[0]
    assert "is damaged in the store" in first or "this piece is gone" in first
    said = [line for line in done.stdout.splitlines() if not line.startswith("  ")]
    assert len(said) <= len(context.sources)


def test_a_context_made_of_an_altered_store_is_caught(project: Quire, tree: Tree) -> None:
    project.close()
    alter(tree.store, ALTERING["text"])
    with opened(tree) as found:
        context = found.assemble(QUERY)
        assert "Quorum takes" not in context.text, "it is not as it was written"
        assert any("damaged" in note for note in context.notes)
        assert receipts.verify(context.receipt, COUNTER, context=context.text).problems == ()


def test_an_unrelated_change_of_the_store_leaves_a_receipt_true(project: Quire, tree: Tree) -> None:
    context = project.assemble(QUERY)
    tree.write("d.md", "Nothing of it.\n")
    project.index()
    verified = project.verify(context.receipt, context.text)
    assert (verified.problems, verified.binds) == ((), True)
    assert any(text.startswith("the state: ") for text in verified.not_checked)


def test_a_receipt_of_pieces_that_are_gone_holds_only_if_it_is_signed(
    project: Quire, tree: Tree
) -> None:
    context = project.assemble(QUERY)
    signature = project.sign(context.receipt)
    tree.remove("b.md")
    project.index()
    (wrong,) = project.verify(context.receipt, context.text)
    assert wrong.startswith("b.md: this store does not have this piece")
    verified = project.verify(context.receipt, context.text, signature=signature)
    assert (verified.problems, verified.binds, verified.signature) == ((), True, "yours")
    assert wrong in verified.not_checked


def test_a_signed_page_that_does_not_follow_is_a_problem_in_a_later_state_too(
    project: Quire, tree: Tree
) -> None:
    context = project.assemble(QUERY)
    page = context.text + "And a line of nobody's.\n"
    other = as_read(context.receipt)
    other["text_hash"] = hashing.text_hash(page).hex()
    other["tokens"] = COUNTER.count(page)
    other = forged(other)
    signature = project.sign(other)
    tree.write("d.md", "Nothing of it.\n")
    project.index()
    verified = project.verify(other, page, signature=signature)
    assert not verified.holds
    assert any("does not follow from its sources" in text for text in verified.problems)


def test_another_counter_is_noticed(context: Context, receipt: Receipt) -> None:
    other = tokens.open_counter("approx")
    (wrong,) = receipts.verify(receipt, other, context=context.text)
    assert wrong == "counted with approx, but the receipt says o200k"


def test_a_receipt_over_its_budget_does_not_hold(receipt: Receipt) -> None:
    other: dict[str, Any] = copy.deepcopy(receipt)
    other["recipe"]["budget"]["total"] = other["tokens"] + 4
    other["available"] = other["tokens"] - 1
    other["limit_exceeded"] = 1
    wrong = receipts.verify(forged(other), COUNTER)
    assert [*wrong] == [f"{other['tokens']} tokens exceed the budget of {other['available']}"]
