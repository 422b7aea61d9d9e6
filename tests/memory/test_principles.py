"""Principles are what experiences have in common: always the same, within one audience."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire as package
from quire import AccessRule, Filter, Quire
from quire.core.serialize import to_plain
from quire.core.types import OWNER
from quire.errors import InputError
from quire.memory import principles
from tests.serving import VARIABLE, Endpoint, Reply, said, served

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

from .conftest import WORDS_ONLY

DIMS = 16
TOPICS = ("cache", "thread", "clock")


def vector(topic: int, seed: int) -> bytes:
    """A vector near one of three corners; the seed decides how near."""
    noise = Random(seed)
    return bytes(
        (60 * (place // 5 == topic) + noise.randrange(-6, 7)) % 256 for place in range(DIMS)
    )


def tell(quire: Quire, number: int, **more: Any) -> str:
    topic = TOPICS[number % 3]
    one = quire.experiences.start(
        f"Goal {number} about the {topic}",
        domain="debugging",
        at=number,
        hypothesis=f"It is the {topic}.",
        **more,
    ).value
    viewer = more.get("viewer")
    quire.experiences.resolve(
        one.id,
        "falsified",
        at=number,
        result=f"Result {number}",
        root_cause=f"Cause {number}: the {topic}",
        lesson=f"Lesson {number}: mind the {topic}",
        viewer=viewer,
    )
    return one.id


def embed(quire: Quire) -> None:
    """Give each text the vector of the topic that it names."""
    with quire.store.view(OWNER) as view:
        chunks = [
            chunk
            for record in view.listing(Filter(kinds=("experience",)))
            for chunk in view.chunks_of(record.id)
        ]
    vectors = {
        chunk.vector_key: vector(
            next(place for place, topic in enumerate(TOPICS) if topic in chunk.text),
            int("".join(filter(str.isdigit, chunk.text))[:2]),
        )
        for chunk in chunks
    }
    with quire.store.write() as writer:
        writer.put_vectors("tiny/16", vectors)


@pytest.fixture
def taught(plain: Tree) -> Tree:
    with plain.open() as quire:
        for number in range(12):
            tell(quire, number)
        embed(quire)
    return plain


def test_a_value_is_a_record_that_names_its_members(taught: Tree) -> None:
    with taught.open() as quire:
        made = quire.principles.refresh()
        assert made.notes == ()
        found = quire.principles.list(axis="root_cause")
        assert [one for one in made.value if one.axis == "root_cause"] == found
        assert [one.size for one in found] == [4, 4, 4]
        for one in found:
            members = [quire.experiences.get(name) for name in one.members]
            (topic,) = {member.goal.split()[-1] for member in members}
            assert one.text in [member.lesson for member in members]
            assert one.text.endswith(topic)
            assert 900 < one.similarity <= 1000
            assert one.worded_by == "lesson"
            (record,) = quire.documents.list(
                Filter(paths=(f".quire/value/root_cause/debugging/{one.cluster_id}",))
            )
            assert (record.id, record.kind) == (one.id, "value")
            assert record.modified == max(member.resolved or 0 for member in members)
        assert {one.axis for one in made.value} == {"full", "root_cause"}
        (best,) = quire.search("mind the clock", k=1, where=Filter(kinds=("value",))).results
        assert best.chunk.text.endswith("mind the clock")
        assert quire.doctor() == []
        with pytest.raises(InputError, match="unknown axis 'depth'; choose from full, strategy"):
            quire.principles.list(axis="depth")


def test_refreshing_again_changes_nothing_and_new_experiences_replace_all(taught: Tree) -> None:
    with taught.open() as quire:
        first = quire.principles.refresh()
        root = quire.status().roots
        assert quire.principles.refresh() == first
        assert quire.status().roots == root
        for number in range(12, 15):
            tell(quire, number)
        embed(quire)
        second = quire.principles.refresh()
        assert {one.size for one in second.value} == {5}
        assert quire.principles.list() == list(second.value), "nothing of the first is left"


def test_open_experiences_and_those_without_vectors_are_left_out(taught: Tree) -> None:
    with taught.open() as quire:
        quire.experiences.start("Open cache", domain="debugging", at=1)
        first = quire.principles.refresh()
        assert sum(one.size for one in first.value if one.axis == "full") == 12
        tell(quire, 30)
        assert quire.principles.refresh().notes == (
            "1 of 13 resolved experiences lack vectors and were left out: run `quire index` first",
        )


@pytest.mark.parametrize("count", [0, 2, 5])
def test_too_few_is_said_and_no_error(opened: Quire, count: int) -> None:
    for number in range(count):
        tell(opened, number)
    embed(opened)
    made = opened.principles.refresh()
    assert made.value == ()
    needed = "at least 6 are needed: two groups of 3 that are alike"
    assert made.notes == (f"too few experiences for values: {count} resolved, {needed}",)


def test_no_vectors_is_said_and_no_error(opened: Quire) -> None:
    for number in range(4):
        tell(opened, number)
    made = opened.principles.refresh()
    assert made.value == ()
    assert made.notes[0].startswith("4 of 4 resolved experiences lack vectors")


# --- the same values always ----------------------------------------------------------------------


def test_the_order_in_which_they_came_does_not_matter(plant: Forest, taught: Tree) -> None:
    with taught.open() as quire:
        expected = quire.principles.refresh()
        root = quire.status().roots
    for seed in range(3):
        tree = plant(f"shuffled{seed}", {"quire.toml": WORDS_ONLY})
        numbers = [*range(12)]
        Random(seed).shuffle(numbers)
        with tree.open() as quire:
            for number in numbers:
                tell(quire, number)
                if number % 4 == seed:
                    embed(quire)
                    quire.principles.refresh()
            embed(quire)
            assert quire.principles.refresh() == expected
            assert quire.status().roots == root


def test_no_process_finds_others(taught: Tree) -> None:
    script = (
        "import sys, quire\n"
        "from quire.core.serialize import to_plain\n"
        "with quire.open(sys.argv[1]) as q:\n"
        "    made = q.principles.refresh()\n"
        "    print([to_plain(one) for one in made.value], q.status().roots)\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", script, str(taught.root)],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "OMP_NUM_THREADS": threads,
                "PYTHONPATH": str(Path(package.__file__).parents[1]),
            },
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for seed, threads in (("1", "1"), ("2", "2"))
    }
    assert len(told) == 1
    assert b"mind the" in told.pop()


@settings(max_examples=40)
@given(st.integers(0, 30), st.randoms(use_true_random=False))
def test_clusters_do_not_depend_on_the_order_of_the_vectors(size: int, chance: Random) -> None:
    # Three numbers of few sizes: most distances are met more than once.
    found = {
        f"{place:032x}": bytes(chance.randrange(1, 4) for _ in range(3)) for place in range(size)
    }
    names = [*found]
    chance.shuffle(names)
    expected = principles.find_clusters(found)
    assert principles.find_clusters({name: found[name] for name in names}) == expected
    met = [name for cluster in expected for name in cluster.members]
    assert len(met) == len(set(met))
    assert all(len(cluster.members) >= principles.MIN_CLUSTER_SIZE for cluster in expected)


def test_equal_and_empty_vectors_are_no_trouble() -> None:
    zero = {f"{place:032x}": bytes(DIMS) for place in range(6)}
    assert principles.find_clusters(zero) == principles.find_clusters(zero)
    same = {f"{place:032x}": vector(0, 1) for place in range(6)}
    for cluster in principles.find_clusters(same):
        assert cluster.similarity == 1000
    assert principles.find_clusters({}) == []


def test_the_pieces_of_a_long_text_speak_with_one_vector() -> None:
    first, second = bytes([2, 254, 10]), bytes([4, 252, 13])
    assert np.frombuffer(principles.mean_vector([first, second]), np.int8).tolist() == [3, -3, 11]
    assert principles.mean_vector([first]) == first


# --- access --------------------------------------------------------------------------------------


def test_nothing_is_mixed_across_readers(plain: Tree) -> None:
    with plain.open() as quire:
        mine = {tell(quire, number, viewer="alice") for number in range(12)}
        theirs = {tell(quire, number, viewer="bob") for number in range(12, 24)}
        alone = {tell(quire, number, viewer="carol") for number in (24, 27)}
        embed(quire)
        everyone = quire.principles.refresh().value
        for one in everyone:
            members = set(one.members)
            assert members <= mine or members <= theirs, "carol's two are too few for a value"
        assert not any(alone & set(one.members) for one in everyone)
        for viewer, own in (("alice", mine), ("bob", theirs), ("carol", alone)):
            seen = quire.principles.list(viewer=viewer)
            assert {name for one in seen for name in one.members} == (own - alone)
            assert quire.principles.refresh(viewer=viewer).value == tuple(seen), (
                "whoever makes them"
            )
        assert quire.principles.list() == list(everyone), "alice's refreshing left bob's alone"


def test_a_viewer_s_values_do_not_tell_of_others(plant: Forest) -> None:
    told = []
    for name in ("quiet", "busy"):
        with plant(name, {"quire.toml": WORDS_ONLY}).open() as quire:
            for number in range(9):
                tell(quire, number, viewer="alice")
            if name == "busy":
                for number in range(9, 21):
                    tell(quire, number, viewer="bob")
                    tell(quire, number, share=["owner"])
            embed(quire)
            quire.principles.refresh()
            made = [to_plain(one) for one in quire.principles.list(viewer="alice")]
            told.append(json.dumps([made, quire.status("alice").roots.state]))
    assert told[0] == told[1]
    assert "mind the" in told[0]


def test_a_rule_that_hides_a_member_hides_the_value_at_once(taught: Tree) -> None:
    with taught.open() as quire:
        quire.principles.refresh()
        hidden = quire.principles.list(axis="root_cause")[0]
        assert len(quire.principles.list(viewer="eve")) == len(quire.principles.list())
        name = hidden.members[0]
        quire.access.set_rules([AccessRule(f"{name}", ("owner",))])
        seen = quire.principles.list(viewer="eve")
        assert seen
        assert not any(name in one.members for one in seen)
        assert hidden.text not in [
            one.chunk.text
            for one in quire.search(
                hidden.text, k=50, viewer="eve", where=Filter(kinds=("value",))
            ).results
            if one.chunk.path.startswith(".quire/value/root_cause/")
        ]
        assert len(quire.principles.list()) == 6, "the owner sees it still"


# --- the real model ------------------------------------------------------------------------------

REAL = {
    "flaky tests": [
        ("The test passes alone and fails in the suite.", "Shared state leaks between tests."),
        ("A test fails only on the build server.", "Tests depend on the order in which they run."),
        ("The suite fails every third night.", "A test leaves global state behind for others."),
        ("Retrying the test makes it pass.", "Tests share a temporary folder and race for it."),
    ],
    "slow queries": [
        ("The report takes a minute to load.", "The SQL query has no index to use."),
        ("The dashboard times out.", "The database scans the whole table without an index."),
        ("Listing orders is slow.", "One SQL query per row: the join is missing an index."),
        ("The search page hangs.", "The database query plan ignores the index."),
    ],
    "expired certificates": [
        ("All clients refuse to connect.", "The TLS certificate expired over the weekend."),
        ("The webhook stopped.", "Nobody renewed the TLS certificate before it expired."),
        ("Logins fail with a handshake error.", "The certificate of the TLS server had expired."),
        ("The mobile app shows a security error.", "An expired TLS certificate was served."),
    ],
}


@pytest.mark.model
def test_with_the_real_model_what_is_alike_comes_together(with_model: Tree) -> None:
    topics: dict[str, str] = {}
    with with_model.open() as quire:
        for topic, told in REAL.items():
            for place, (goal, cause) in enumerate(told):
                one = quire.experiences.start(
                    goal, domain="debugging", at=place, hypothesis="It is the network."
                ).value
                ended = quire.experiences.resolve(
                    one.id, "falsified", at=place, root_cause=cause, lesson=f"About {topic}."
                )
                topics[one.id] = topic
                assert ended.notes == (), "embedded at once"
        made = quire.principles.refresh()
        assert made.notes == ()
        causes = [one for one in made.value if one.axis == "root_cause"]
        assert len(causes) >= 2
        for value in causes:
            (topic,) = {topics[name] for name in value.members}
            assert value.text == f"About {topic}."
        assert quire.status().missing_vectors == 0


def worded(question: dict[str, Any]) -> Reply:
    orders = [json.loads(line) for line in question["messages"][-1]["content"].splitlines()]
    told = [{"number": each["number"], "text": f"In sum: {min(each['texts'])}"} for each in orders]
    return said("openai", "texts", told)


@pytest.fixture
def endpoint(taught: Tree) -> Iterator[Endpoint]:
    with served(worded) as server:
        taught.write(
            "quire.toml",
            f'{WORDS_ONLY}[writer]\nprovider = "llm"\nurl = "{server.url}"\nmodel = "small"\n'
            f'retries = 0\nkey_env = "{VARIABLE}"\n',
        )
        taught.trust()
        yield server


def test_a_language_model_words_values_where_one_is_set(taught: Tree, endpoint: Endpoint) -> None:
    with taught.open() as quire:
        made = quire.principles.refresh()
        assert made.notes == ()
        for one in made.value:
            lessons = {quire.experiences.get(name).lesson for name in one.members}
            assert one.text == f"In sum: {min(lessons)}"
            assert one.worded_by == f"llm:{endpoint.url}/chat/completions small/1"
        asked = len(endpoint.questions)
        assert quire.principles.list() == list(made.value)
        root = quire.status().roots
    with taught.open() as quire:
        assert quire.principles.refresh() == made
        assert quire.status().roots == root
        assert len(endpoint.questions) == asked, "what is worded is not worded again"
    assert f"worded by llm:{endpoint.url}" in taught.call("values").stdout


def test_a_model_sees_no_lesson_that_the_readers_of_a_value_may_not_read(
    taught: Tree, endpoint: Endpoint
) -> None:
    with taught.open() as quire:
        for number in range(12, 24):
            tell(quire, number, viewer="bob")
        embed(quire)
        quire.principles.refresh(viewer="bob")
        hidden = [one.lesson for one in quire.experiences.list(viewer="bob") if one.author == "bob"]
        orders = [
            json.loads(line)["texts"]
            for question in endpoint.questions
            for line in question["messages"][-1]["content"].splitlines()
        ]
        assert any(set(texts) & set(hidden) for texts in orders)
        for texts in orders:
            assert set(texts) <= set(hidden) or not set(texts) & set(hidden)


@pytest.mark.parametrize("reply", [Reply("no", 500), said("openai", "texts", []), "long"])
def test_a_value_keeps_a_members_words_if_the_model_gives_none(
    taught: Tree, endpoint: Endpoint, reply: Reply | str
) -> None:
    endpoint.usual = reply if isinstance(reply, Reply) else _endless
    with taught.open() as quire:
        made = quire.principles.refresh()
        assert {one.worded_by for one in made.value} == {"lesson"}
        (note,) = made.notes
        assert note.startswith("a value keeps the words of a member: ")
        endpoint.usual = worded
        again = quire.principles.refresh()
        assert {one.worded_by.split(":")[0] for one in again.value} == {"llm"}


def _endless(question: dict[str, Any]) -> Reply:
    count = len(question["messages"][-1]["content"].splitlines())
    told = [{"number": number, "text": "on and on " * 80} for number in range(1, count + 1)]
    return said("openai", "texts", told)
