"""Sessions keep the beginning of their text, byte for byte, as long as it holds."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import quire
from quire import Quire, Turn
from quire.errors import InputError
from tests.conftest import Tree

SUBJECTS = ("ledger", "vault", "garden", "kitchen", "bridge", "harbour")


def page(subject: str, seed: int) -> str:
    rng = random.Random(f"{subject}{seed}")
    words = [subject, *SUBJECTS, "stone", "water", "paper", "night", "road"]
    paragraphs = [
        " ".join(rng.choice(words) for _ in range(60)).capitalize() + "." for _ in range(4)
    ]
    return f"# {subject.title()} {seed}\n\n" + "\n\n".join(paragraphs) + "\n"


def fill(tree: Tree) -> None:
    tree.fill({f"{name}{seed}.md": page(name, seed) for name in SUBJECTS for seed in range(2)})


def opened(tree: Tree) -> Quire:
    q = quire.open(tree.root, settings={"embed": {"provider": "none"}})
    q.index()
    return q


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "project")
    fill(tree)
    return tree


def check(q: Quire, before: Turn | None, turn: Turn, budget: int) -> None:
    """Check what holds for every turn."""
    count = quire.count_tokens
    assert turn.tokens == count(turn.text) <= budget
    assert turn.cached_tokens <= turn.tokens
    if before is None:
        assert turn.cached_tokens == 0
    elif not turn.restarted:
        assert turn.text.startswith(before.text)
        assert turn.cached_tokens == before.tokens
    else:
        pairs = enumerate(zip(before.text, turn.text, strict=False))
        shorter = min(len(before.text), len(turn.text))
        common = next((place for place, (a, b) in pairs if a != b), shorter)
        assert turn.cached_tokens <= count(turn.text[:common]) + 1
    shown = [source.chunk_id for source in turn.sources]
    assert len(set(shown)) == len(shown), "nothing is shown twice"
    for part in turn.parts:
        assert q.verify(part.receipt, part.text).holds
    assert q.replay(turn.context.receipt)[1] == []


def test_a_session_grows_and_starts_again_when_it_is_full(tree: Tree) -> None:
    with opened(tree) as q:
        session = q.session(budget=1600)
        before = None
        turns = []
        for number in range(12):
            turn = session.ask(f"{SUBJECTS[number % 6]} and the {SUBJECTS[number % 5]}")
            check(q, before, turn, 1600)
            turns.append(turn)
            before = turn
        assert session.last is before
        assert [turn.number for turn in turns] == [*range(1, 13)]
        assert any("is full" in turn.restarted for turn in turns)
        grown = [turn for turn in turns[1:] if not turn.restarted]
        assert len(grown) >= 6
        again = [q.session(budget=1600).ask(turns[0].query), turns[0]]
        assert again[0] == again[1], "the same questions to the same state, the same bytes"


def test_a_change_cuts_the_prefix_where_it_happens(tree: Tree) -> None:
    with opened(tree) as q:
        session = q.session(budget=2000, fresh=300)
        first = session.ask("ledger")
        second = session.ask("harbour")
        third = session.ask("garden")
        assert third.text.startswith(second.text)
        only = {source.path for source in second.context} - {
            source.path for source in first.context
        }
        path = min(only)
        tree.write(path, page("changed", 3))
        fourth = session.ask("kitchen")
        assert fourth.restarted == f"{path} changed, or may no longer be read"
        assert fourth.text.startswith(first.text)
        assert fourth.cached_tokens == first.tokens
        assert "Changed 3" not in first.text
        check(q, None if not fourth.cached_tokens else third, fourth, 2000)


def test_what_a_viewer_may_no_longer_read_is_gone(tree: Tree) -> None:
    with opened(tree) as q:
        session = q.session(budget=2000, viewer="bob")
        path = session.ask("ledger").sources[0].path
        tree.write("quire.toml", f'[access]\n"{path}" = ["alice"]\n')
        turn = session.ask("ledger")
        assert path in turn.restarted
        assert path not in [source.path for source in turn.sources]


def test_what_expired_is_not_shown_again(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_769_860_000]
    for place in ("quire.system.clock.now", "quire.indexing.documents.now"):
        monkeypatch.setattr(place, lambda: clock[0])
    with opened(tree) as q:
        q.documents.put("The zebra is ill.", path="news/1", expires=clock[0] + 10)
        q.documents.put("The giraffe is well.", path="news/2")
        session = q.session(budget=2000, paths=["news/**"])
        first = session.ask("giraffe")
        second = session.ask("zebra")
        assert "The zebra is ill." in second.text
        clock[0] += 20
        third = session.ask("giraffe or zebra")
        assert third.restarted == "news/1 has expired"
        assert "zebra" not in third.text
        assert third.text.startswith(first.text)
        assert third.cached_tokens == first.tokens
        check(q, second, third, 2000)
        again = session.ask("giraffe or zebra")
        assert not again.restarted


def test_what_no_longer_passes_the_filters_is_not_shown_again(tree: Tree) -> None:
    with opened(tree) as q:
        for number in (1, 2):
            q.documents.put(
                f"Giraffe {number}.", path=f"g/{number}", metadata={"team": "north"}, modified=100
            )
        session = q.session(budget=2000, where='team = "north"', until=200)
        assert [each.path for each in session.ask("giraffe").sources] == ["g/1", "g/2"]
        q.documents.update("g/1", metadata={"team": "south"})
        turn = session.ask("giraffe")
        assert turn.restarted == "g/1 no longer passes the session's filters"
        assert [each.path for each in turn.sources] == ["g/2"]
        q.documents.update("g/2", metadata={"rank": 1})  # which the filter does not ask for
        assert not session.ask("giraffe").restarted
        q.documents.update("g/2", modified=300)
        turn = session.ask("giraffe")
        assert turn.restarted == "g/2 no longer passes the session's filters"
        assert not turn.sources


def test_a_session_about_a_day_shows_what_was_there_then(tree: Tree) -> None:
    with opened(tree) as q:
        q.documents.put("The zebra is ill.", path="news/1", expires="2026-01-31")
        session = q.session(budget=2000, paths=["news/**"], as_of="2026-01-15")
        assert session.ask("zebra").sources
        assert not session.ask("zebra, ill").restarted


def test_messages_have_a_block_for_each_part(tree: Tree) -> None:
    with opened(tree) as q:
        session = q.session(budget=2000)
        first, second = session.ask("ledger"), session.ask("garden")
        blocks: Any = second.as_messages("anthropic")[0]["content"]
        assert "".join(block["text"] for block in blocks[:-1]) == second.text
        before: Any = first.as_messages("anthropic")[0]["content"]
        assert blocks[0]["text"] == before[0]["text"]
        assert [("cache_control" in block) for block in blocks] == [True, True, False]
        assert second.as_messages()[0] == {"role": "system", "content": second.text}


@settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("ask"), st.sampled_from(SUBJECTS)),
            st.tuples(st.just("write"), st.sampled_from(SUBJECTS)),
            st.tuples(st.just("remove"), st.sampled_from(SUBJECTS)),
        ),
        min_size=3,
        max_size=9,
    )
)
def test_whatever_happens_between_turns(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    tree = Tree(tmp_path_factory.mktemp("session") / "project")
    fill(tree)
    with opened(tree) as q:
        session = q.session(budget=900, fresh=250)
        before = None
        for number, (step, subject) in enumerate(steps):
            path = f"{subject}0.md"
            if step == "write":
                tree.write(path, page(subject, 10 + number))
            elif step == "remove" and (tree.root / path).exists():
                tree.remove(path)
            else:
                turn = session.ask(subject)
                check(q, before, turn, 900)
                before = turn


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"format": "json"}, "format"),
        ({"recipe": "agent"}, "format"),
        ({"reserve": {}}, "reserve"),
        ({"seen": []}, "seen"),
        ({"fresh": 0}, "fresh"),
        ({"fresh": 10**9}, "fresh"),
        ({"budget": -5}, "budget"),
    ],
)
def test_what_cannot_be_a_session_is_refused(tree: Tree, options: Any, field: str) -> None:
    with opened(tree) as q, pytest.raises(quire.QuireError) as raised:
        q.session(**options)
    assert field in raised.value.field


def test_an_empty_question_is_refused_and_changes_nothing(tree: Tree) -> None:
    with opened(tree) as q:
        session = q.session()
        turn = session.ask("ledger")
        with pytest.raises(InputError):
            session.ask(" ")
        assert session.last is turn
