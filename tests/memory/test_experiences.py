"""An experience goes from start to end, and no other way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire import Experience, Filter, Quire
from quire.core.types import OWNER
from quire.errors import InputError
from quire.memory.vocabulary import DOMAINS, STRATEGIES

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

GHAP: dict[str, Any] = {
    "hypothesis": "The cache never evicts.",
    "action": "Count its entries for an hour.",
    "prediction": "The count only grows.",
}


def started(quire: Quire, **more: Any) -> Experience:
    told = {"domain": "debugging", "strategy": "systematic-elimination", "at": 100, **more}
    return quire.experiences.start("Find the memory leak.", **told).value


def kinds(quire: Quire, name: str) -> list[str]:
    with quire.store.view(OWNER) as view:
        return [chunk.kind for chunk in view.chunks_of(name)]


def test_from_start_to_end(plain: Tree) -> None:
    with plain.open() as quire:
        first = started(quire)
        assert (first.outcome, first.tier, first.iterations) == ("open", "", 1)
        assert kinds(quire, first.id) == ["experience.full"]
    with plain.open() as quire:  # it survives that the process ends
        second = quire.experiences.update(first.id, at=110, **GHAP).value
        assert second.iterations == 1, "saying it for the first time is no second attempt"
        third = quire.experiences.update(first.id, at=120, hypothesis="Threads pile up.").value
        assert (third.iterations, third.updated) == (2, 120)
    with plain.open() as quire:
        last = quire.experiences.resolve(
            first.id,
            "falsified",
            at=130,
            result="The count was flat.",
            surprise="The leak was in the logger.",
            root_cause="A handler was added for each request.",
            lesson="Look at what grows first.",
        ).value
        assert (last.outcome, last.tier, last.resolved) == ("falsified", "gold", 130)
        assert quire.experiences.get(first.id) == last
        assert quire.experiences.list() == [last]
        (record,) = quire.documents.list(Filter(kinds=("experience",)))
        assert record.path == (
            f".quire/experience/debugging/systematic-elimination/falsified/{first.id}"
        )
        assert record.modified == 130
        assert record.attrs["lesson"] == "Look at what grows first."
        assert kinds(quire, first.id) == [
            "experience.full",
            "experience.strategy",
            "experience.surprise",
            "experience.root_cause",
        ]
        assert quire.doctor() == []


def test_an_axis_is_a_filter_on_kinds_and_a_domain_one_on_paths(opened: Quire) -> None:
    for domain, surprise in (("debugging", "The leak was in the logger."), ("testing", "")):
        one = started(opened, domain=domain, **GHAP)
        opened.experiences.resolve(
            one.id, "falsified", at=101, surprise=surprise, result="No leak."
        )
    leaks = opened.search("leak", where=Filter(kinds=("experience.surprise",))).results
    assert [one.chunk.text for one in leaks] == ["The leak was in the logger."]
    where = Filter(kinds=("experience.full",), paths=(".quire/experience/testing/*/falsified/*",))
    (found,) = opened.search("leak", where=where).results
    assert found.chunk.text.startswith("testing | systematic-elimination\nGoal: Find the memory")
    result = opened.search("heron", where=Filter(kinds=("experience.surprise",)))
    assert result.notes == (), "the kind is there, only nothing matches"


@pytest.mark.parametrize(
    ("outcome", "told", "tier"),
    [
        ("confirmed", {"result": "r", "lesson": "l"}, "gold"),
        ("falsified", {"result": "r", "lesson": "l", "root_cause": "c"}, "gold"),
        ("falsified", {"result": "r", "lesson": "l"}, "silver"),
        ("confirmed", {"result": "r"}, "silver"),
        ("confirmed", {"lesson": "l"}, "bronze"),
        ("falsified", {}, "bronze"),
        ("abandoned", {"result": "r", "lesson": "l", "root_cause": "c"}, "abandoned"),
    ],
)
def test_the_tier_follows_from_how_it_was_resolved(
    opened: Quire, outcome: str, told: dict[str, Any], tier: str
) -> None:
    name = started(opened, **GHAP).id
    assert opened.experiences.resolve(name, outcome, at=101, **told).value.tier == tier


def test_names_that_are_not_known_are_answered_with_those_that_are(opened: Quire) -> None:
    with pytest.raises(
        InputError, match="unknown domain 'cooking'; choose from debugging, feature"
    ) as refused:
        started(opened, domain="cooking")
    assert all(name in str(refused.value) for name in DOMAINS)
    with pytest.raises(InputError, match="unknown strategy 'luck'") as refused:
        opened.experiences.list(strategy="luck")
    assert all(name in str(refused.value) for name in STRATEGIES)
    with pytest.raises(InputError, match="unknown outcome 'won'; choose from open, confirmed"):
        opened.experiences.list(outcome="won")
    name = started(opened).id
    with pytest.raises(
        InputError, match="unknown outcome 'open'; choose from confirmed, falsified, abandoned"
    ):
        opened.experiences.resolve(name, "open", at=101)
    assert opened.experiences.get(name).outcome == "open"


def test_settings_add_domains_and_strategies(plant: Forest) -> None:
    learn = (
        '[embed]\nprovider = "none"\n[learn]\ndomains = ["firmware"]\nstrategies = ["pairing"]\n'
    )
    with plant("own", {"quire.toml": learn}).open() as quire:
        made = started(quire, domain="firmware", strategy="pairing")
        assert quire.experiences.list(domain="firmware", strategy="pairing") == [made]
        assert quire.experiences.list(domain="debugging") == []


def test_a_secret_in_any_part_is_refused(opened: Quire) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    name = started(opened, **GHAP).id
    with pytest.raises(InputError, match="the root cause is refused: line 1 looks like a GitHub"):
        opened.experiences.resolve(name, "falsified", at=101, root_cause=f"leaked {token}")
    with pytest.raises(InputError, match="the action is refused"):
        opened.experiences.update(name, at=101, action=token)
    kept = opened.experiences.update(name, at=101, action=token, allow_secret=True).value
    assert kept.action == token


def test_a_clock_that_was_set_back_turns_nothing_around(opened: Quire) -> None:
    name = started(opened, **GHAP).id
    assert opened.experiences.resolve(name, "confirmed", at=7).value.resolved == 100


def test_of_two_who_resolve_at_once_one_is_refused(plain: Tree) -> None:
    with plain.open() as quire:
        names = [started(quire, at=at, **GHAP).id for at in range(8)]

    def resolve(outcome: str) -> list[str]:
        won = []
        with plain.open() as quire:
            for name in names:
                with suppress(InputError):
                    quire.experiences.resolve(name, outcome, at=9, result=outcome)
                    won.append(name)
        return won

    with ThreadPoolExecutor(2) as pool:
        confirmed, falsified = pool.map(resolve, ("confirmed", "falsified"))
    assert sorted(confirmed + falsified) == sorted(names), "each exactly once"
    with plain.open() as quire:
        for one in quire.experiences.list():
            assert one.result == one.outcome
            assert one.id in (confirmed if one.outcome == "confirmed" else falsified)


# --- the life cycle, against a plain model -----------------------------------------------------

WORDS = st.sampled_from(["", " ", "one", "two", "three"])
STEPS: st.SearchStrategy[tuple[str, dict[str, str]]] = st.one_of(
    st.tuples(
        st.just("update"),
        st.dictionaries(
            st.sampled_from(["goal", "hypothesis", "action", "prediction"]), WORDS, max_size=3
        ),
    ),
    st.tuples(st.just("update"), st.fixed_dictionaries({"domain": st.sampled_from(DOMAINS)})),
    st.tuples(
        st.sampled_from(["confirmed", "falsified", "abandoned", "won"]),
        st.dictionaries(
            st.sampled_from(["result", "surprise", "root_cause", "lesson"]), WORDS, max_size=4
        ),
    ),
    st.tuples(st.just("reopen"), st.just({})),
)
TICKS = count(1)


@dataclass
class Model:
    """The life cycle in the plainest words."""

    said: dict[str, str] = field(default_factory=dict)
    outcome: str = "open"
    iterations: int = 1

    def step(self, deed: str, told: dict[str, str]) -> bool:
        """Take a step, or tell that it is impossible."""
        clean = {name: text.strip() for name, text in told.items()}
        if self.outcome != "open":
            return False
        if deed == "update":
            if not clean or not all(clean.values()):
                return False
            tried = {"hypothesis", "action", "prediction"} & clean.keys()
            again = any(self.said.get(name) not in (None, "", clean[name]) for name in tried)
            self.iterations += again
        else:
            if deed == "won" or (deed != "abandoned" and not self.said.get("hypothesis")):
                return False
            self.outcome = deed
        self.said |= clean
        return True


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hypothesis=WORDS, steps=st.lists(STEPS, max_size=6))
def test_any_steps_do_what_a_plain_model_does(
    plain: Tree, hypothesis: str, steps: list[tuple[str, dict[str, str]]]
) -> None:
    quire = plain.open()
    try:
        at = next(TICKS)
        name = started(quire, hypothesis=hypothesis, at=at).id
        model = Model(
            {
                "goal": "Find the memory leak.",
                "domain": "debugging",
                "hypothesis": hypothesis.strip(),
            }
        )
        for deed, told in steps:
            if deed == "reopen":
                quire.close()
                quire = plain.open()
            elif model.step(deed, told):
                took(quire, name, deed, told, at)
            else:
                with pytest.raises(InputError):
                    took(quire, name, deed, told, at)
            found = quire.experiences.get(name)
            assert (found.outcome, found.iterations) == (model.outcome, model.iterations)
            assert {key: getattr(found, key) for key in model.said} == model.said
            assert bool(found.tier) == bool(found.resolved) == (model.outcome != "open")
            with quire.store.view(OWNER) as view:
                (record,) = view.records([name])
            assert record.path.split("/")[2:] == [
                model.said["domain"],
                "systematic-elimination",
                model.outcome,
                name,
            ]
    finally:
        quire.close()


def took(quire: Quire, name: str, deed: str, told: dict[str, Any], at: int) -> None:
    if deed == "update":
        quire.experiences.update(name, at=at, **told)
    else:
        quire.experiences.resolve(name, deed, at=at, **told)
