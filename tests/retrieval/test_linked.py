from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quire
from quire.core.types import NO_FILTER, OWNER, Filter, Hits, Viewer
from quire.engine import Quire
from quire.retrieval import Query
from quire.retrieval.linked import collect_linked, find_names

COUNTY = "Van Hook is a small township in Mountrail County. It lies on the lake.\n"
SEAT = "Stanley has the court house of Mountrail County, built long ago.\n"
FILLING = "Nothing of note happens here, and the weather is mild, number {}.\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It lies in Mountrail County, near Stanley.", ["Mountrail County", "Stanley"]),
        ("The University of New York was founded", ["University of New York"]),
        ("Stanley is a town.", []),  # any word may begin a sentence
        (
            "Queen Anne was. Later Anne of the Isles came.",
            ["Queen Anne", "Later Anne of the Isles"],
        ),
        ("When Apollo 11 landed, Armstrong spoke.", ["Apollo 11", "Armstrong"]),
        ("we use the NATO, BRCA1 and Po", []),  # acronyms, terms, too short to tell
        ("He met Zoë\u2019s aunt Ánna", ["Zoë\u2019s", "Ánna"]),
        ("in the Bank of the", ["Bank"]),
        ("near Mount\n  Fuji lies", ["Mount Fuji"]),
        ("# Votes\n\nThe Board of Ten", ["Board of Ten"]),
        ("nothing at all", []),
        ("", []),
        ("- Heading\n# Title\nmore", []),
    ],
)
def test_names_are_capitalized_words(text: str, found: list[str]) -> None:
    assert list(find_names(text)) == found


@given(st.text(max_size=300))
def test_names_of_any_text(text: str) -> None:
    for name in find_names(text):
        assert len(name) >= 4
        assert name.split()
        assert all(part in text for part in name.split())


@pytest.fixture
def towns(tmp_path: Path) -> Iterator[Quire]:
    (tmp_path / "quire.toml").write_text('[access]\n"secret.txt" = ["ann"]\n')
    (tmp_path / "hook.txt").write_text(COUNTY)
    (tmp_path / "stanley.txt").write_text(SEAT)
    (tmp_path / "secret.txt").write_text("Mountrail County has a hidden vault in Ross.\n")
    for number in range(40):
        (tmp_path / f"f{number}.txt").write_text(FILLING.format(number))
    with quire.open(tmp_path) as store:
        store.index(embed=False)
        yield store


def linked_hits(store: Quire, query: str, viewer: Viewer, where: Filter = NO_FILTER) -> Hits:
    with store.store.view(viewer) as view:
        (record,) = [r for r in view.listing() if r.path == "hook.txt"]
        (lead,) = view.chunks_of(record.id)
        return collect_linked(view, Query(query, where=where, leads=((lead, 5000),)), 10)


def test_another_document_is_found_by_a_name_in_the_best_piece(towns: Quire) -> None:
    hits = linked_hits(towns, "where is the seat of the county of Van Hook", OWNER)
    assert [hit.path for hit in hits.hits] == ["secret.txt", "stanley.txt"]
    context = towns.assemble("where is the seat of Van Hook", budget=500, reserve={})
    stanley = next(d for d in context.decisions if d.path == "stanley.txt")
    assert stanley.verdict == "kept"
    assert stanley.signals["linked"] > 0
    assert not any("linked" in d.signals for d in context.decisions if "f1" in d.path)


def test_only_readable_documents_are_found(towns: Quire) -> None:
    hits = linked_hits(towns, "where is Van Hook", Viewer("bob"))
    assert [hit.path for hit in hits.hits] == ["stanley.txt"]


def test_a_question_without_a_name_leads_nowhere(towns: Quire) -> None:
    assert linked_hits(towns, "where is the seat of the township", OWNER).hits == ()
    assert linked_hits(towns, "where is the town of Springfield", OWNER).hits == ()


def test_what_the_question_names_leads_nowhere_new(towns: Quire) -> None:
    assert linked_hits(towns, "what is in Mountrail County", OWNER).hits == ()


def test_a_filter_holds(towns: Quire) -> None:
    hits = linked_hits(towns, "where is Van Hook", OWNER, Filter(paths=("st*",)))
    assert [hit.path for hit in hits.hits] == ["stanley.txt"]


def test_frequent_names_lead_nowhere(towns: Quire, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"f{number}.txt").write_text(f"More of Mountrail County, part {number}.\n")
    towns.index(embed=False)
    assert linked_hits(towns, "where is Van Hook", OWNER).hits == ()


def test_recorded_and_replayed(towns: Quire) -> None:
    context = towns.assemble("where is the seat of Van Hook", budget=500, reserve={})
    again, differences = towns.replay(context.receipt)
    assert differences == []
    assert again.text == context.text
    assert towns.search("where is the seat of Van Hook", k=2).results[1].signals.keys() == {
        "linked"
    }
