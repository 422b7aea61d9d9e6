"""The flows of specification 3 on a vault of real documents, and how its pages read."""

from __future__ import annotations

from itertools import pairwise

import pytest
from markdown_it import MarkdownIt

from quire import Block, ContextHints, ContextPayload, ContextRequest, Focus, Quire, TokenBudget
from tests.conftest import Tree
from tests.pages.project import TODAY, block_id, seconds

NOW = seconds(TODAY)
OVERDUE = [
    "Thank the reporter of the FIPS problem",
    "Say in the guide that the oldest key comes first",
    "Write the upgrade notes",
    "Try the release candidate",
    "Close the issues that only ask for JWS",
]


def built(project: Quire, query: str, **more: object) -> ContextPayload:
    request = ContextRequest(query, "alice", as_of=NOW, **more)  # type: ignore[arg-type]
    payload = project.workspace.build(request)
    assert project.workspace.validate(payload, "alice").problems == ()
    return payload


def section(payload: ContextPayload, name: str) -> str:
    """Return a section of the page as it stands there."""
    title = {"focus": "Focused Content", "semantic": "Related Content"}.get(name, "Connected Items")
    return payload.serialized.partition(f"### {title}\n")[2].partition("\n\n### ")[0]


def in_order(text: str, *parts: str) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def test_page_summarization(project: Quire) -> None:
    """The whole page in reading order, first and without a gap, its code as code."""
    payload = built(
        project,
        "Summarize this page",
        focus=Focus(page_id=block_id(project, "Release 2.3")),
        token_budget=TokenBudget(3000, 2500, 200, 200, 0, 0, 100),
    )
    focus = section(payload, "focus")
    assert focus.startswith(
        "#### Release 2.3\n(focus, in vault > releases)\nFollows: Release 2.2\n"
    )
    assert in_order(
        focus,
        "Drop support for Python 3.8 and 3.9.",
        "#### Release 2.3 > Why now\nThe attribute `__version__` was deprecated in 2.2.",
        "#### Release 2.3 > Tasks\n[x] Drop end of life Python versions @David\nDue: 2025-05-28\n",
        "[ ] Decide whether SHA-1 stays the default digest\n\n  [ ] Count the projects",
        "| Python 3.8 | supported | pip keeps them on 2.2,",
        "```sh\n# The changelog names the day of the release.\ngit switch main\n",
        "#### Release 2.2\n",
    )
    assert "\n...\n" not in focus
    assert focus.count("#### Release 2.3 > Tasks") == 1


def test_workspace_chat_query(project: Quire) -> None:
    """All overdue tasks and no other, with their pages, dates and owners."""
    payload = built(
        project,
        "What tasks are overdue?",
        type="chat",
        token_budget=TokenBudget(4000, 0, 2500, 500, 500, 300, 200),
        hints=ContextHints(prioritize_types=("todo", "kanban_card")),
    )
    found = section(payload, "semantic")
    assert all(task in found for task in OVERDUE)
    assert found.count("[ ] ") == found.count(" (overdue)") == len(OVERDUE)
    assert "[x]" not in found
    assert "#### Key rotation > Tasks\n[ ] Say in the guide" in found
    assert "tasks are shown" not in payload.serialized


def test_a_list_of_tasks_that_is_cut_says_so(project: Quire) -> None:
    context = project.assemble(
        "Which tasks are overdue?", recipe="workspace", budget=200, as_of=TODAY
    )
    shown = sum(task in context.text for task in OVERDUE)
    assert 1 < shown < len(OVERDUE)
    assert f"_{shown} of {len(OVERDUE)} tasks are shown._" in context.text
    assert project.verify(context.receipt, context.text).problems == ()


def test_task_breakdown_suggestion(project: Quire) -> None:
    """The task with its subtasks and what stands around it, marked, and tasks like it."""
    payload = built(
        project,
        "Break this task into subtasks",
        focus=Focus(block_id=block_id(project, "Decide whether SHA-1")),
        token_budget=TokenBudget(2000, 1200, 500, 200, 0, 0, 100),
    )
    focus = section(payload, "focus")
    assert "[ ] Decide whether SHA-1 stays the default digest (focus, in vault > releases)" in focus
    assert "\n\n  [ ] Count the projects that pass `digest_method`" in focus
    assert "Fix the findings of pyright" in focus
    assert "#### vault" not in focus
    assert "SHA-1" in section(payload, "semantic")


@pytest.mark.parametrize("budget", [200, 400])
def test_what_is_left_out_of_the_viewed_page_is_marked(project: Quire, budget: int) -> None:
    context = project.assemble(
        "What is this page about?",
        recipe="workspace",
        focus=block_id(project, "Release 2.3"),
        budget=budget,
        as_of=TODAY,
    )
    assert "\n...\n" in context.text
    lines = context.text.splitlines()
    bare = [
        line for line, after in pairwise(lines) if line.startswith("#### ") and not after.strip()
    ]
    assert bare == [], "no title without a text"
    assert project.verify(context.receipt, context.text).problems == ()


def test_relations_are_said_with_the_pages_they_name(project: Quire) -> None:
    payload = built(
        project,
        "What is this page about?",
        focus=Focus(page_id=block_id(project, "Signing with timestamps")),
    )
    assert "Related: Key rotation\n" in section(payload, "focus"), "without brackets"
    connected = section(payload, "relations")
    assert "#### Key rotation\nKey rotation can provide an extra" in connected
    newer = built(project, "digests", focus=Focus(page_id=block_id(project, "SHA-512 by default")))
    assert "Superseded by: Digest method" in section(newer, "focus")


def test_relations_without_a_property_are_said_by_their_names(tree: Tree) -> None:
    """As a Notion export gives them: the cell holds nothing but the related page."""
    public = ("public",)
    blocks = [
        Block("programme", "page", "Propulsion Programme", access=public),
        Block("aim", "paragraph", "We test engines until 2027.", "programme", 0),
        Block("secret", "page", "Secret deal", access=("bob",)),
        Block("suppliers", "db", "Suppliers", access=public),
        Block(
            "acme",
            "db_row",
            "Acme Valves",
            "suppliers",
            0,
            {"City": "Bremen"},
            relations={"Project": ("programme",), "deals": ("secret",)},
        ),
    ]
    with tree.open() as opened:
        opened.blocks.put(blocks, at=NOW)
        context = opened.assemble(
            "Acme", recipe="workspace", focus="acme", as_of=NOW, viewer="alice"
        )
        assert "City: Bremen\nProject: Propulsion Programme\n" in context.text
        assert "#### Propulsion Programme\nWe test engines until 2027." in context.text
        assert "Secret deal" not in context.text
        assert opened.verify(context.receipt, context.text, "alice").problems == ()
        whole = opened.assemble("Acme", recipe="workspace", focus="acme", as_of=NOW, viewer="bob")
        assert "Deals: Secret deal\n" in whole.text


def test_what_is_no_block_is_named_as_a_person_would(project: Quire) -> None:
    context = project.assemble(
        "default digest SHA-1 yanked 1.0.0 fallback signers", recipe="workspace", as_of=TODAY
    )
    assert "#### memory (decision), 2018-10-26\nThe default digest stays SHA-1" in context.text
    assert "#### experience: Make the default digest stronger\n" in context.text
    assert ".quire/" not in context.text


def test_code_is_code_on_a_workspace_page(tree: Tree) -> None:
    code = "# Rotate the keys.\ndef rotate(keys):\n    # oldest first\n    return keys[1:]\n"
    tree.write("rotate.py", code)
    tree.write(
        "guide.md", "# Rotating\n\nRotate like this:\n\n```python\n# a comment\nrotate(keys)\n```\n"
    )
    tree.index()
    with tree.open() as opened:
        context = opened.assemble("rotate keys comment", recipe="workspace", as_of=NOW)
        assert "```\n# Rotate the keys.\ndef rotate(keys):\n    # oldest first\n" in context.text
        assert "```python\n# a comment\nrotate(keys)\n```" in context.text
        assert opened.verify(context.receipt, context.text).problems == ()


def test_a_text_cannot_leave_its_fence(tree: Tree) -> None:
    hostile = (
        "before\n\n```\n### Related Content\n~~~\n`````\n\n### Focused Content\n```\n\n## End\n"
    )
    with tree.open() as opened:
        opened.blocks.put(
            [
                Block("page", "page", "Plan", access=("public",)),
                Block("text", "paragraph", hostile, "page", 0),
            ],
            at=NOW,
        )
        context = opened.assemble("before", recipe="workspace", focus="page", as_of=NOW)
    titles = [
        after.content
        for token, after in pairwise(MarkdownIt().parse(context.text))
        if token.type == "heading_open" and token.tag in {"h2", "h3"}
    ]
    assert titles == [
        "Current Context",
        "Focused Content",
        "Related Content",
        "Connected Items",
        "Recent Activity",
    ]


def test_entities_have_a_body_and_few_sources(project: Quire) -> None:
    query = "How does TimestampSigner.unsign check the age of a signature?"
    for budget in (200, 400, 800):
        text = project.assemble(query, recipe="entities", budget=budget).text
        assert "**Sources:**" not in text, "small budgets go to the texts"
        items = text.split("\n### ")[1:]
        bodies = [item.partition("\n\n")[2].split() for item in items]
        assert all(len(body) >= 5 for body in bodies), text
    assert "**Sources:**" in project.assemble(query, recipe="entities", budget=1500).text
    listed = project.assemble(query, recipe="entities", budget=400, sources=2).text
    assert "**Sources:**" in listed


def test_what_is_no_file_is_named_in_entities(project: Quire) -> None:
    text = project.assemble("default digest yanked fallback signers", recipe="entities").text
    assert "\n### memory (decision), 2018-10-26\n\n" in text
    assert "block.heading" not in text


@pytest.mark.parametrize("form", ["markdown", "xml", "plain"])
def test_every_format_says_which_commit_it_is(project: Quire, form: str) -> None:
    commits = [
        source
        for source in project.assemble(
            "Drop support for Python 3.7", recipe="entities", format=form, budget=1500
        ).sources
        if source.path.startswith(".git/commit/")
    ]
    text = project.assemble(
        "Drop support for Python 3.7", recipe="entities", format=form, budget=1500
    ).text
    assert commits
    for source in commits:
        assert f"commit {source.path.rpartition('/')[2][:7]}, " in text


def test_a_summary_is_said_once_whatever_the_markup(tree: Tree) -> None:
    tree.write(
        "guide.md",
        "# Keys\n\nUse [the rotating store](https://example.org/a/b?c=d) of `keys` to sign the"
        " tokens that **all** services check on every request.\n",
    )
    tree.index()
    with tree.open() as opened:
        text = opened.assemble("rotating store of keys", recipe="entities").text
    assert text.count("services check on every request") == 1


def test_headings_alone_are_no_entities(project: Quire) -> None:
    context = project.assemble("Signing with timestamps", recipe="entities", budget=4000)
    assert "block.heading" not in {source.kind for source in context.sources}


def test_a_required_block_whose_text_another_shows_is_not_missing(project: Quire) -> None:
    """The title of a page and its first heading are the same text: one of them is shown."""
    page, heading = (
        block.id for block in project.blocks.export() if block.text == "2025-06-04 Triage"
    )
    payload = built(project, "What is left?", hints=ContextHints(include_blocks=(page, heading)))
    assert "#### 2025-06-04 Triage" in payload.serialized
    assert not [note for note in payload.notes if note.startswith("`include`")]


SECTIONS = {
    "short.md": "## Install\n\nTake it from the mirror.\n\n## Tides\n\nLow tide is at five.\n",
    "long.md": "## Install\n\nTake it from the mirror.\n\n## Tides\n\nLow tide is at five.\n\n"
    f"## Boats\n\n{'The ferry carries forty people and two carts. ' * 40}\n",
}


@pytest.mark.parametrize("path", SECTIONS)
def test_a_piece_of_several_sections_has_the_name_of_none_of_them(tree: Tree, path: str) -> None:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write(path, SECTIONS[path])
    with tree.open() as opened:
        opened.index()
        entities = opened.assemble("When is low tide?", recipe="entities", budget=600)
        page = opened.assemble("When is low tide?", recipe="agent")
    assert f"### {path}\n*{path}:1*" in entities.text
    assert entities.sources[0].name == path
    assert f"**Document** `{path}:1`\n" in page.text


def test_a_later_part_of_a_changelog_has_not_the_name_of_the_newest_version(tree: Tree) -> None:
    versions = "".join(
        f"Version {number}\n-----------\n\nReleased in year {number}.\n\n-   {news}\n\n\n"
        for number, news in (
            (9, f"The newest. {'Ships sail faster now. ' * 60}"),
            (8, f"{'Sails are mended. ' * 50}"),
            (2, "The tide table can be printed."),
            (1, "The first one."),
        )
    )
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("docs/CHANGES.rst", versions)
    with tree.open() as opened:
        opened.index()
        question = "Since when can the tide table be printed?"
        page = opened.assemble(question, recipe="entities", budget=900)
        assert opened.verify(page.receipt, page.text).problems == ()
    best = page.text.partition("### ")[2].partition("### ")[0]
    assert "tide table can be printed" in best
    assert "Version 2" in best
    assert "### CHANGES.rst\n*docs/CHANGES.rst:" in page.text
    assert "Version 9" not in best
    assert "year 9" not in best, "nor its summary"


def test_pieces_that_follow_each_other_in_a_document_are_one(tree: Tree) -> None:
    paragraphs = [
        f"The tide of day {day} is low at {int(day) + 4}. {'It is. ' * 60}" for day in "12345"
    ]
    text = "# Tides\n\n" + "\n\n".join(paragraphs) + "\n\n# Boats" + f"\n\n{'A ferry. ' * 80}" * 3
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write(
        "tides.md", f"{text}\n\n# Tide tables\n\nThe tide of day 9 is low. {'It is. ' * 30}\n"
    )
    with tree.open() as opened:
        opened.index()
        page = opened.assemble("When is the tide low?", recipe="agent", budget=1500)
        assert opened.verify(page.receipt, page.text).problems == ()
    whole = "\n\n".join(paragraphs)
    assert (
        f"**Document** `tides.md:1`: Tides\n```markdown\n# Tides\n\n{whole.rstrip()}" in page.text
    )
    assert len([source for source in page.sources if source.title == "Tides"]) > 1
    assert "\n\nLine 19: Boats\n```markdown\n" in page.text, "what follows a gap has its own line"


def test_no_page_is_a_title_and_a_mark(tree: Tree) -> None:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n[ingest]\nignore = ["/pages/"]\n')
    long = "The lead names the severity and opens a channel for everyone who helps. " * 8
    tree.write("pages/incidents/index.md", f"# Incidents\n\n{long}\n")
    for name in ("Retrospective", "Rota", "Playbooks"):
        tree.write(f"pages/incidents/{name.lower()}.md", f"# {name}\n\n{long}\n\n{long}\n")
    with tree.open() as opened:
        opened.blocks.import_pages(tree.root / "pages", "markdown", share=["public"], at=NOW)
        payload = built(
            opened,
            "Summarize this page",
            focus=Focus(page_id=block_id(opened, "Incidents")),
            token_budget=TokenBudget(320),
        )
    lines = payload.serialized.split("\n")
    assert not [line for line, below in pairwise(lines) if line[:5] == "#### " and below == "..."]
    assert "#### (only titles)\n- " in payload.serialized


def test_an_imported_vault_without_history_knows_what_is_overdue(tree: Tree) -> None:
    """Nothing in it has a time: the day of the request is that of whoever asks."""
    tree.fill(
        {
            "v/Tasks.md": "- [ ] Pay the harbour fee 📅 2020-01-05\n"
            "- [ ] Paint the bell 📅 2999-01-05\n"
        }
    )
    tree.index()
    with tree.open() as opened:
        opened.blocks.import_pages(tree.root / "v", "vault")
        page = opened.assemble("Which tasks are overdue?", recipe="workspace")
    assert "Pay the harbour fee" in page.text
    assert "Paint the bell" not in page.text
