"""Premortems read well: golden pages of a few post-mortems, and the shape of many real ones.

`QUIRE_GOLDEN=write pytest tests/recipes/test_premortems.py` writes the golden pages anew; then read
them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire import Quire
from quire.core.types import Context
from tests.conftest import Tree
from tests.pipeline.conftest import opened
from tests.pipeline.invariants import count
from tests.recipes.parsed import seen

HERE = Path(__file__).parent
DOMAINS = ("security", "deployment", "data")
SECTIONS = ["Common Failures", "Unexpected Outcomes", "Root Causes to Watch", "Relevant Principles"]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    """A store that has read the post-mortems; small vectors, the same on every machine."""
    tree = Tree(Path(tmp_path_factory.mktemp("taught")) / "project")
    with opened(tree) as quire:
        told = quire.experiences.import_postmortems(HERE / "postmortems")
        assert (told.added, told.skipped) == (11, ())
        quire.index()
        quire.principles.refresh()
        quire.index()
        yield quire


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_premortem_is_as_it_was_read(taught: Quire, domain: str) -> None:
    page = taught.agent.premortem(domain)
    file = HERE / "golden" / f"{domain}.md"
    if os.environ.get("QUIRE_GOLDEN") == "write":
        file.write_text(page.text + "\n", "utf-8")
    assert page.text + "\n" == file.read_text("utf-8")
    reads_well(page, domain)


def reads_well(page: Context, domain: str) -> None:
    """Check what a reader would stumble over."""
    told = seen(page.text)
    assert told.title == f"Premortem: {domain}"
    assert [title for title in SECTIONS if title in told.sections] == list(told.sections)
    assert page.tokens == count("o200k", page.text) <= 1500
    experiences = {item.record_id for item in page.items if item.kind == "experience"}
    assert told.footer == f"*Based on {len(experiences)} past experiences*"
    for item in page.items:
        lines = [line for line in item.text.splitlines() if line.startswith("- ")]
        said = [re.sub(r"^- \*\*[\w ]+\*\*: ", "", line) for line in lines]
        assert len(set(said)) == len(said), "nothing is said twice"
        assert "unstated" not in item.text
        if item.kind == "experience":
            assert item.about["domain"] == domain
            assert lines, "an item says something"
    for section in {item.section for item in page.items}:
        texts = [item.text for item in page.items if item.section == section]
        assert len(set(texts)) == len(texts)
    told_fields = [
        (item.record_id, line)
        for item in page.items
        for line in item.text.splitlines()
        if line.startswith("- ") and not line.startswith(("- **Goal**", "- **Incident**"))
    ]
    assert len(set(told_fields)) == len(told_fields), "a field of an experience is said once"


@pytest.mark.parametrize("budget", [250, 400, 700, 1500])
def test_what_a_cut_experience_leaves_out_stands_in_another_section(
    taught: Quire, budget: int
) -> None:
    page = taught.agent.premortem("security", budget=budget)
    fields = [
        (item.record_id, line.partition("**: ")[0])
        for item in page.items
        for line in item.text.splitlines()
        if line.startswith("- ")
    ]
    whole = {item.record_id for item in page.items if "(truncated" not in item.text}
    assert page.items
    assert all(fields.count(one) == 1 for one in fields if one[0] in whole and "Inc" not in one[1])
    assert taught.verify(page.receipt, page.text).binds
    assert taught.replay(page.receipt)[1] == []


@pytest.mark.bench_data
@pytest.mark.skipif("BENCH_DATA" not in os.environ, reason="BENCH_DATA is not set")
def test_premortems_of_real_postmortems(tmp_path: Path) -> None:
    from bench import data

    tree = Tree(tmp_path / "real")
    for number, (_, text) in enumerate(data.documents("ws_postmortems")):
        tree.write(f"pages/{number:04d}.md", text)
    with opened(tree) as quire:
        assert quire.experiences.import_postmortems(tree.root / "pages").added > 150
        quire.index([tree.root / "pages" / "0000.md"])
        for domain in DOMAINS:
            page = quire.agent.premortem(domain)
            reads_well(page, domain)
            assert next(iter(seen(page.text).sections)) == "Common Failures"
            assert len(page.items) >= 8
            assert page.tokens > 1350, "the budget is used"
            assert quire.replay(page.receipt)[1] == []


PLACES = (
    *("an old prototype server", "a build agent", "the download site", "a laptop of support"),
    *("the backup host", "the staging gateway", "a mail relay", "the package mirror"),
)
WITHOUT_TITLE = (
    "On the {0}th of March, at half past eleven at night, an attacker exploited a security "
    "vulnerability of {1} that nobody had patched for months. The attacker read the credentials "
    "that lay on {1} and used them to gain access to {0} databases. The root cause was that {1} "
    "was never taken out of service. As a remediation, all credentials on {1} were replaced, and "
    "{0} further machines were audited by an external company.\n"
)
"""What happened has no title: an incident is named by the beginning of its first sentence."""


def test_a_root_cause_is_not_said_again_below_the_experience_that_tells_it(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "untitled")
    for number, place in enumerate(PLACES, 4):
        tree.write(f"pages/{number}.md", WITHOUT_TITLE.format(number, place))
    with opened(tree) as quire:
        assert quire.experiences.import_postmortems(tree.root / "pages").added == len(PLACES)
        quire.index([tree.root / "pages" / "4.md"])
        for budget in (700, 800, 850, 900, 950, 1000):
            page = quire.agent.premortem("security", budget=budget)
            causes = [
                (item.record_id, line.partition("**: ")[2])
                for item in page.items
                if item.section == "root_causes"
                for line in item.text.splitlines()
                if line.startswith("- **Root cause**")
            ]
            for record_id, cause in causes:
                told = [item for item in page.items if item.record_id == record_id]
                assert [cause in item.text for item in told].count(True) == 1
