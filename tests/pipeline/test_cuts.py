"""What is cut is a part of its source, ends where a word ends, is marked, and uses the budget."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest

import quire
from quire.engine import Quire
from quire.ingest.entities import MAX_SUMMARY_LENGTH

FORMATS = ("markers", "markdown", "xml", "plain", "json")
CUTS = ("keep_start", "keep_end", "extractive")
SUPPLIER = "The supplier Acme Inc. delivers valves to the plant in Bremen every week."
PENALTY = "The penalty for late delivery is 2.5 percent of the price."
END = "The last page was signed by both of them."
TEXT = " ".join([*[SUPPLIER] * 8, PENALTY, "The price rose from 3.50 to 4.75 euros.", END])
QUERY = "What is the penalty for late delivery?"


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = tmp_path_factory.mktemp("contract")
    (root / "contract.md").write_text(f"# Contract\n\n{TEXT}\n")
    (root / ".quire").mkdir()
    with quire.open(root) as opened:
        opened.index(embed=False)
        yield opened


def shown_text(form: str, text: str) -> str:
    """Return what a context shows of the one text in it, with the marks of what is left out."""
    if form == "json":
        (run,) = json.loads(text)["documents"][0]["runs"]
        mark = "..." if run.get("truncated") and "..." not in run["text"] else ""
        shown = f"{run['text']} {mark}"
    elif form == "xml":
        (entity,) = ET.fromstring(text).iter("entity")
        shown = entity.text or ""
    elif form == "plain":
        shown = text.partition("[contract.md:1]\n")[2]
    elif form == "markdown":
        shown = text.partition("*contract.md:1*\n")[2]
    else:
        shown = text.partition("[DOC: contract.md]\n")[2]
    shown = shown.partition("\n---\n**Sources:**")[0].partition("\nSources:\n")[0]
    return shown.replace("... (truncated)", "...").replace("# Contract", "").strip()


@pytest.mark.parametrize("recipe", ["documents", "entities"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("budget", [60, 80, 120, 400])
def test_a_cut_is_a_marked_part_of_the_text(
    contract: Quire, recipe: str, form: str, cut: str, budget: int
) -> None:
    context = contract.assemble(
        QUERY, recipe=recipe, format=form, cut=cut, budget=budget, reserve={}, overflow="cut"
    )
    assert contract.verify(context.receipt, context.text).problems == ()
    shown = shown_text(form, context.text)
    parts = [part.strip() for part in re.split(r"\.\.\.", shown)]
    words = f" {TEXT} "
    assert all(f" {part} " in words for part in parts if part), parts
    assert "..." in shown or parts == [TEXT]
    if cut == "extractive":
        assert PENALTY in shown
        assert shown.count(SUPPLIER) <= 1 or parts == [TEXT]
    if cut == "keep_end":
        assert shown.endswith(END)
    if cut == "keep_start":
        assert shown.startswith("The supplier Acme Inc. delivers")


@pytest.mark.parametrize("recipe", ["documents", "entities"])
@pytest.mark.parametrize("form", ["markdown", "xml", "plain"])
def test_a_summary_does_not_keep_the_text_from_the_page(
    contract: Quire, recipe: str, form: str
) -> None:
    context = contract.assemble(QUERY, recipe=recipe, format=form, budget=800, reserve={}, cap=0)
    assert PENALTY in context.text
    assert END in context.text
    assert "…" not in context.text


@pytest.mark.parametrize("form", ["markdown", "xml", "plain", "markers", "json"])
def test_a_cap_keeps_the_part_that_a_strategy_keeps(contract: Quire, form: str) -> None:
    last = contract.assemble(QUERY, recipe="entities", format=form, cut="keep_end")
    best = contract.assemble(QUERY, recipe="entities", format=form, cut="extractive")
    for context in (last, best):
        assert len(shown_text(form, context.text)) <= 500 + len(" ...")
        assert contract.verify(context.receipt, context.text).problems == ()
        assert contract.replay(context.receipt)[1] == []
    assert shown_text(form, last.text).endswith(END)
    assert PENALTY in shown_text(form, best.text)


def test_prose_shown_by_its_first_paragraph_is_marked(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = tmp_path_factory.mktemp("paragraphs")
    first = "The queue is drained by hand before noon, by whoever is on duty that day."
    more = " ".join(f"Valve {n} of the queue is opened slowly by two people." for n in range(8))
    (root / "queue.md").write_text(f"# Queue\n\n{first}\n\n{more}\n")
    (root / ".quire").mkdir()
    with quire.open(root) as opened:
        opened.index(embed=False)
        for form in ("markdown", "xml", "plain"):
            context = opened.assemble(
                "queue drained by hand", recipe="entities", format=form, budget=70, cap=0, sources=0
            )
            assert [source.level for source in context.sources] == ["signature"]
            shown = context.text.partition(first)[2].removesuffix(
                "\n</entity>\n</section>\n</context>"
            )
            assert shown in {"\n...", "\n... (truncated)"}, form
            assert opened.verify(context.receipt, context.text).problems == ()


def test_a_long_summary_ends_with_a_sentence(contract: Quire) -> None:
    (source,) = contract.assemble(QUERY, recipe="entities", cap=0).chunks
    summary = source.summary
    assert len(summary) <= MAX_SUMMARY_LENGTH
    assert summary.endswith("every week. …")
    assert TEXT.startswith(summary.removesuffix(" …"))


def test_a_class_is_not_shown_by_its_name_alone(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("classes")
    members = "".join(
        f"    def load_{n}(self, path):\n        return path + {n}\n\n" for n in range(9)
    )
    (root / "bare.py").write_text(f"class BareLoader:\n{members}")
    (root / ".quire").mkdir()
    with quire.open(root) as opened:
        opened.index(embed=False)
        for form in ("markdown", "xml", "plain"):
            context = opened.assemble(
                "BareLoader", recipe="entities", format=form, budget=60, sources=0, allow_empty=True
            )
            assert {source.level for source in context.sources} <= {"full"}
