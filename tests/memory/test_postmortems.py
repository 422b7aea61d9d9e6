"""A folder of post-mortems becomes experiences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from quire import Experience, Quire
from quire.errors import InputError

if TYPE_CHECKING:
    from tests.conftest import Tree

HEADED = """\
---
title: Checkout outage
date: 2024-03-05
tags: [database, outage]
---

# Checkout outage

## Summary

Nobody could pay for forty minutes.

### Impact

Two thousand carts were abandoned.

## Assumptions

The replica was thought to be in sync.

## Root Cause

A migration locked the orders table.

```sql
ALTER TABLE orders ADD COLUMN note text; -- because
```

## Where we got lucky

It was night in most of the world.

## Lessons learned

- Run migrations in steps.
- Watch for locks.
"""
PROSE = """\
---
company: Heron Ltd
start_time: 2021-05-01T10:00:00Z
end_time: 2021-05-01T12:30:00Z
categories:
- config-change
summary: A wrong flag in the configuration took the site down.
---

On the first of May the site was down for two hours. The outage was caused by a flag that had been
renamed. Unexpectedly, the old name was accepted without a word. Engineers restarted all hosts.

To prevent similar incidents, the loader now refuses names that it does not know.
"""
FIELDS = """\
---
title: Disk full
severity: 2
goal: Keep the logs for a year
root_cause: Rotation was switched off
lessons:
- Watch disks
- Alert early
surprise: Nobody looked at the graph
---

The disk ran full on a Sunday.
"""


def imported(opened: Quire, plain: Tree, name: str, text: str) -> Experience:
    plain.write(f"incidents/{name}", text)
    result = opened.experiences.import_postmortems(plain.root / "incidents")
    assert (result.added, result.skipped) == (1, ())
    (found,) = opened.experiences.list()
    return found


def test_sections_are_read_by_their_headings(opened: Quire, plain: Tree) -> None:
    found = imported(opened, plain, "checkout.md", HEADED)
    assert (found.goal, found.outcome, found.tier) == ("Checkout outage", "falsified", "gold")
    assert (found.domain, found.strategy) == ("data", "unstated")
    assert found.result.startswith("Nobody could pay for forty minutes.")
    assert found.result.count("Two thousand carts") == 1, (
        "what stands in another section is not twice"
    )
    assert found.hypothesis == "The replica was thought to be in sync."
    assert found.root_cause.startswith("A migration locked the orders table.")
    assert found.surprise == "It was night in most of the world."
    assert found.lesson == "- Run migrations in steps.\n- Watch for locks."
    assert found.started == found.resolved == 1_709_596_800
    assert found.source == "incidents/checkout.md"


def test_running_text_is_read_by_its_sentences(opened: Quire, plain: Tree) -> None:
    found = imported(opened, plain, "flag.md", PROSE)
    assert found.goal == "A wrong flag in the configuration took the site down."
    assert found.result == "A wrong flag in the configuration took the site down."
    assert found.root_cause == "The outage was caused by a flag that had been renamed."
    assert found.surprise == "Unexpectedly, the old name was accepted without a word."
    assert found.lesson.startswith("To prevent similar incidents, the loader now refuses")
    assert (found.domain, found.hypothesis, found.tier) == ("configuration", "", "gold")
    assert ((found.resolved or 0) - (found.started or 0)) == 9000


def test_front_matter_goes_before_the_text(opened: Quire, plain: Tree) -> None:
    found = imported(opened, plain, "disk.md", FIELDS)
    assert found.goal == "Keep the logs for a year"
    assert found.root_cause == "Rotation was switched off"
    assert found.lesson == "Watch disks; Alert early"
    assert found.surprise == "Nobody looked at the graph"
    assert found.result == "The disk ran full on a Sunday."
    assert (found.domain, found.started, found.resolved) == ("operations", None, None)


@pytest.mark.parametrize(
    ("head", "domain"),
    [
        ("title: Outage\ntags: [security]", "security"),
        ("title: Outage after a deployment", "deployment"),
        ("title: Outage\nsummary: The API of a third party was gone.", "integration"),
        ("title: Outage\nkeywords: [latency, config]", "configuration"),
        ("title: Outage", "operations"),
    ],
)
def test_the_domain_is_named_by_tags_title_and_summary(
    opened: Quire, plain: Tree, head: str, domain: str
) -> None:
    text = f"---\n{head}\n---\n\nThe site was down. The cause is not known.\n"
    assert imported(opened, plain, "a.md", text).domain == domain


def test_importing_again_changes_only_what_changed(opened: Quire, plain: Tree) -> None:
    folder = plain.root / "incidents"
    plain.fill({"incidents/a.md": HEADED, "incidents/b.md": PROSE})
    first = opened.experiences.import_postmortems(folder)
    root = opened.status().roots
    again = opened.experiences.import_postmortems(folder)
    assert (first.added, again.added, again.changed, again.unchanged) == (2, 0, 0, 2)
    assert opened.status().roots == root
    plain.write("incidents/b.md", PROSE.replace("config-change", "security"))
    changed = opened.experiences.import_postmortems(folder)
    assert (changed.added, changed.changed, changed.unchanged) == (0, 1, 1)
    assert [one.domain for one in opened.experiences.list(outcome="falsified")] == [
        "security",
        "data",
    ]
    (folder / "a.md").rename(folder / "moved.md")
    assert opened.experiences.import_postmortems(folder).unchanged == 2, (
        "the same page at another place"
    )
    assert opened.doctor() == []


def test_what_is_no_post_mortem_is_listed_with_a_reason(opened: Quire, plain: Tree) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    plain.fill(
        {
            "pm/README.md": "# Post-mortems\n\nOutages that were caused by us.\n",
            "pm/a.md": HEADED,
            "pm/again.md": HEADED,
            "pm/bread.md": "# Bread\n\nMix flour and water, and wait.\n",
            "pm/empty.md": "# Outage\n",
            "pm/key.md": f"# Outage\n\nThe token {token} was in the log because nobody looked.\n",
            "pm/log.txt": "Outage caused by rain.\n",
            "pm/photo.png": b"\x89PNG",
        }
    )
    result = opened.experiences.import_postmortems(plain.root / "pm")
    reasons = {one.path: one.reason for one in result.skipped}
    assert result.added == 2
    assert all(token not in repr(one) for one in opened.experiences.list())
    assert sorted(reasons) == [
        "README.md",
        "again.md",
        "bread.md",
        "empty.md",
        "log.txt",
        "photo.png",
    ]
    assert reasons["README.md"].endswith("by its name it is about the folder")
    assert reasons["again.md"] == "has the same content as pm/a.md"
    assert reasons["bread.md"].startswith("not a post-mortem: neither title nor tags say so")
    assert reasons["empty.md"] == "not a post-mortem: it does not say what happened"
    assert reasons["log.txt"] == "not Markdown, so not a post-mortem"
    allowed = opened.experiences.import_postmortems(plain.root / "pm", allow_secret=True)
    assert (allowed.added, allowed.changed) == (0, 1)


def test_a_folder_outside_is_known_by_its_name(opened: Quire, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "a.md").write_text(HEADED, "utf-8")
    opened.experiences.import_postmortems(folder)
    assert [one.source for one in opened.experiences.list()] == ["elsewhere/a.md"]
    with pytest.raises(InputError, match="is not a folder"):
        opened.experiences.import_postmortems(folder / "a.md")


def test_what_a_viewer_imports_is_theirs(opened: Quire, plain: Tree) -> None:
    plain.write("pm/a.md", HEADED)
    folder = plain.root / "pm"
    assert opened.experiences.import_postmortems(folder, viewer="alice").added == 1
    assert opened.experiences.list(viewer="bob") == []
    assert opened.experiences.import_postmortems(folder, viewer="bob").added == 1, (
        "bob does not know of hers"
    )
    assert opened.experiences.import_postmortems(folder, share=["@ops"]).added == 1
    assert opened.experiences.import_postmortems(folder, share=["public"]).changed == 1
    assert {one.acl for one in opened.experiences.list()} == {
        ("user:alice",),
        ("user:bob",),
        ("public",),
    }


def test_a_page_of_any_kind_is_read_or_skipped(opened: Quire, plain: Tree) -> None:
    plain.fill(
        {
            "pm/1.md": "",
            "pm/2.md": "---\ntitle: Outage\n---\n",
            "pm/3.md": "Outage\n======\n\nRoot cause\n----------\n\nRain.\n",
            "pm/4.md": "# Outage\n\n" + "It broke because of rain. " * 400,
            "pm/5.md": b"\xff\xfe\x00",
            "pm/6.md": "# Incident\n\n## Root cause\n\n## Lessons\n",
        }
    )
    result = opened.experiences.import_postmortems(plain.root / "pm")
    found = {one.source: one for one in opened.experiences.list()}
    assert sorted(found) == ["pm/3.md", "pm/4.md"]
    assert [one.path for one in result.skipped] == ["1.md", "2.md", "5.md", "6.md"]
    assert found["pm/3.md"].root_cause == "Rain."
    assert len(found["pm/4.md"].root_cause) < 2001
