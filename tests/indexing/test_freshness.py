"""Answers quote files as they are on disk now, or say which are not."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from quire import Context, Quire
from quire.errors import InputError
from quire.indexing import freshness

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

    from .conftest import Repository

QUERY = "how often does the client retry"
OLD = "# Retry\n\nThe client retries three times.\n"
NEW = "# Retry\n\nThe client retries seven times.\n"
CHANGED = "which has changed on disk since it was indexed"
FORMATS = ("markers", "json", "markdown", "plain", "xml")


def stale_in(context: Context) -> Any:
    """Return what its receipt calls stale."""
    request: Any = context.receipt["request"]
    return request["stale"]


@pytest.fixture
def tree(plant: Forest) -> Tree:
    tree = plant()
    tree.fill({"docs/retry.md": OLD, "docs/lunch.md": "# Lunch\n\nLunch is at noon.\n"})
    tree.index()
    return tree


# --- who may write: read again -------------------------------------------------------------------


def test_a_file_that_changed_is_read_again_before_it_is_quoted(tree: Tree) -> None:
    with tree.open() as opened:
        before = opened.assemble(QUERY)
        tree.write("docs/retry.md", NEW)
        context = opened.assemble(QUERY)
        assert "three" in before.text
        assert "seven" in context.text
        assert "three" not in context.text
        assert not any("not as on disk" in note for note in context.notes)
        assert stale_in(context) == []
        assert opened.verify(context.receipt, context.text).holds
        assert opened.replay(context.receipt)[1] == []
    assert tree.index().indexed == 0, "nothing is left to read"


def test_search_and_explain_read_again_too(tree: Tree) -> None:
    tree.write("docs/retry.md", NEW)
    with tree.open() as opened:
        assert "seven" in opened.search("client retry").results[0].chunk.text
        tree.write("docs/retry.md", NEW.replace("seven", "eleven"))
        assert "eleven" in opened.explain(QUERY).text


def test_a_file_that_is_gone_is_quoted_no_more(tree: Tree) -> None:
    tree.remove("docs/retry.md")
    with tree.open() as opened:
        assert not opened.search("client retry").results
        assert not opened.assemble(QUERY, allow_empty=True).sources
    assert tree.paths() == ["docs/lunch.md"]


def test_what_new_text_brings_in_is_checked_as_well(tree: Tree) -> None:
    """The first answer quotes one file; once that is read, the next one is the best."""
    tree.write("docs/backoff.md", "# Backoff\n\nRetry of the client: retries wait a minute.\n")
    tree.index()
    tree.write("docs/retry.md", "# Empty\n\nSee elsewhere.\n")
    tree.write("docs/backoff.md", "# Backoff\n\nA client retries, each retry after an hour.\n")
    with tree.open() as opened:
        context = opened.assemble(QUERY)
    assert "an hour" in context.text
    assert "a minute" not in context.text
    assert "three" not in context.text


def test_a_file_with_another_time_and_the_same_bytes_is_not_read(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("docs/retry.md", OLD)
    monkeypatch.setattr(freshness.Freshness, "_index", lambda *_: pytest.fail("read"))
    with tree.open() as opened:
        assert "three" in opened.assemble(QUERY).text


def test_a_file_of_the_same_size_and_time_is_taken_for_unchanged(tree: Tree) -> None:
    """As by an index: else every file would be read for every answer."""
    status = (tree.root / "docs/retry.md").stat()
    tree.write("docs/retry.md", NEW)
    os.utime(tree.root / "docs/retry.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    with tree.open() as opened:
        assert "three" in opened.assemble(QUERY).text


def test_the_store_ends_up_as_if_it_had_been_indexed(repository: Repository) -> None:
    repository.commit("Begin", {"docs/retry.md": OLD, "docs/lunch.md": "# Lunch\n\nAt noon.\n"})
    repository.index()
    repository.tree.write("docs/retry.md", NEW)
    with repository.tree.open() as opened:
        assert "seven" in opened.assemble(QUERY).text
    assert repository.tree.content_root() == repository.root_from_scratch()


def test_random_edits_are_never_quoted_in_their_old_form(plant: Forest) -> None:
    chance = random.Random(7)
    tree = plant()
    words = {f"notes/{number}.md": 0 for number in range(12)}

    def text(path: str) -> str:
        return (
            f"# Harbour {path}\n\nThe harbour of {path} has version{words[path]:04} of the tide.\n"
        )

    tree.fill({path: text(path) for path in words})
    tree.index()
    with tree.open() as opened:
        for _ in range(25):
            for path in chance.sample(sorted(words), chance.randrange(4)):
                if chance.random() < 0.2:
                    (tree.root / path).unlink(missing_ok=True)
                else:
                    words[path] += 1
                    tree.write(path, text(path))
            context = opened.assemble("harbour tide version")
            for source in context.sources:
                assert (tree.root / source.path).is_file()
                assert f"version{words[source.path]:04}" in context.text


# --- who may not: said ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_without_refresh_each_format_says_what_is_stale(tree: Tree, name: str) -> None:
    tree.write("docs/retry.md", NEW)
    with tree.open() as opened:
        context = opened.assemble(QUERY, refresh=False, format=name, reserve={})
        assert "three" in context.text
        assert "changed" in context.text
        assert context.tokens <= context.available
        assert stale_in(context) == [["docs/retry.md", "changed"]]
        assert any("docs/retry.md (changed)" in note for note in context.notes)
        result = opened.verify(context.receipt, context.text)
        assert result.holds
        assert any("which sources had changed on disk" in part for part in result.not_checked)
        assert opened.replay(context.receipt)[1] == []
    assert "three" in tree.texts()["docs/retry.md"], "nothing was written"


def test_a_page_says_it_at_its_top(tree: Tree) -> None:
    tree.write("docs/retry.md", NEW)
    tree.remove("docs/lunch.md")
    with tree.open() as opened:
        text = opened.assemble(f"{QUERY} and when is lunch", refresh=False, recipe="agent").text
    heads = [line for line in text.splitlines() if line.startswith("> **Missing**")]
    assert heads == [
        "> **Missing**: docs/lunch.md, which was deleted from disk since it was indexed",
        f"> **Missing**: the present text of docs/retry.md, {CHANGED}",
    ]


def test_a_viewer_reads_nothing_again(tree: Tree) -> None:
    tree.write("docs/retry.md", NEW)
    with tree.open() as opened:
        context = opened.assemble(QUERY, viewer="bob")
        hits = opened.search("client retry", viewer="bob")
    assert "(changed on disk since it was indexed)" in context.text
    assert any("docs/retry.md (changed)" in note for note in hits.notes)
    assert "three" in tree.texts()["docs/retry.md"]


def test_a_store_that_another_process_writes_to_is_still_read(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "MAX_SECONDS", 0.1)
    tree.write("docs/retry.md", NEW)
    with _writing(tree), tree.open() as opened:
        context = opened.assemble(QUERY)
    assert "[DOC: docs/retry.md (changed on disk since it was indexed)]" in context.text


@contextmanager
def _writing(tree: Tree) -> Iterator[None]:
    """Let another process hold the write lock."""
    code = (
        "import sqlite3, sys; store = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "store.execute('BEGIN IMMEDIATE'); print('ready', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tree.store)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        yield
        other.kill()


def test_what_is_over_the_limits_is_said_to_be_stale(
    plant: Forest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "MAX_FILES", 2)
    tree = plant()
    paths = [f"{letter}.md" for letter in "abcde"]
    tree.fill({path: f"# Tide {path}\n\nThe tide of {path} is old.\n" for path in paths})
    tree.index()
    tree.fill({path: f"# Tide {path}\n\nThe tide of {path} is newer.\n" for path in paths})
    with tree.open() as opened:
        context = opened.assemble("tide")
        assert sorted(source.path for source in context.sources) == paths
        assert context.text.count("is newer") == 2
        assert stale_in(context) == [[path, "changed"] for path in paths[2:]]
        assert opened.assemble("tide").text.count("is newer") == 4, "the next one goes on"


def test_an_answer_that_takes_long_is_as_fresh_as_any(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its model may have to be loaded first, by a machine that has other things to do."""
    monkeypatch.setattr(freshness, "MAX_SECONDS", 0.5)
    tree.write("docs/retry.md", NEW)

    def make(stale: object) -> object:
        time.sleep(0.6)
        return stale

    with tree.open() as opened:
        comparing = freshness.Freshness(opened._project)
        stale = comparing.answer(make, lambda _: ["docs/retry.md"], may_write=True)
        assert stale == ()
        assert "seven" in opened.assemble(QUERY, refresh=False).text


def test_a_budget_without_room_for_it_leaves_it_to_the_notes(tree: Tree) -> None:
    tree.write("docs/retry.md", NEW)
    with tree.open() as opened:
        tokens = opened.assemble(QUERY, refresh=False, reserve={}, model="approx").tokens - 8
        context = opened.assemble(
            QUERY, refresh=False, reserve={}, budget=tokens, model="approx", overflow="skip"
        )
    assert context.sources
    assert any("docs/retry.md (changed)" in note for note in context.notes)


def test_a_root_that_is_gone_says_nothing(plant: Forest) -> None:
    tree = plant()
    tree.write("docs/retry.md", OLD)
    store = tree.root.parent / "elsewhere.db"
    assert tree.call("index", "--no-embed", "--store", str(store)).returncode == 0
    tree.root.rename(tree.root.parent / "moved")
    from quire import open as open_quire

    with open_quire(tree.root.parent, store=store, create=False) as opened:
        assert stale_in(opened.assemble(QUERY)) == []


def test_paths_that_a_foreign_store_made_up_are_not_looked_at(tree: Tree) -> None:
    (tree.root.parent / "outside.md").write_text("# Outside\n")
    with tree.open() as opened:
        found = opened._runner.freshness._find_stale(
            tree.root,
            ["../outside.md", "/etc/passwd", "docs/../../outside.md", ".git/commit/x"],
            freshness._Spent(0.0),
        )
    assert found == {}


# --- a few files by name -------------------------------------------------------------------------


def test_read_again_takes_new_changed_and_deleted_files(tree: Tree) -> None:
    tree.write("docs/new.md", "# New\n\nA heron.\n")
    tree.write("docs/retry.md", NEW)
    tree.remove("docs/lunch.md")
    with tree.open() as opened:
        result = opened.documents.read_again([tree.root / "docs"])
        assert (result.indexed, result.removed, result.missing_vectors) == (2, 1, 2)
    assert tree.paths() == ["docs/new.md", "docs/retry.md"]


def test_read_again_is_the_owners_and_has_limits(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tree.open() as opened:
        with pytest.raises(InputError, match="only the owner may index"):
            opened.documents.read_again([tree.root], viewer="bob")
        with pytest.raises(InputError, match="is outside of"):
            opened.documents.read_again([tree.root.parent / "x.md"])
        monkeypatch.setattr(freshness, "MAX_NAMED_FILES", 1)
        with pytest.raises(InputError, match="these are 2 files; at most 1 are read at a time"):
            opened.documents.read_again([tree.root])


# --- on the command line -------------------------------------------------------------------------


def test_commands_refresh_unless_told_otherwise(tree: Tree) -> None:
    tree.write("docs/retry.md", NEW)
    for command in ("assemble", "explain"):
        done = tree.call(command, QUERY, "--no-refresh")
        assert "not as on disk: docs/retry.md (changed)" in done.stderr
    assert "three" in tree.call("search", "client retry", "--no-refresh").stdout
    assert "seven" in tree.call("search", "client retry").stdout
    data = json.loads(tree.call("assemble", QUERY, "--json").stdout)
    assert "seven" in data["text"]


def test_nothing_is_handed_out_twice(tree: Tree) -> None:
    """What was assembled over the old text and thrown away is not in the audit log."""
    tree.write("quire.toml", "[audit]\nfile = '.quire/audit.jsonl'\n")
    tree.write("docs/retry.md", NEW)
    with tree.open() as opened:
        opened.assemble(QUERY)
        lines = (tree.root / ".quire/audit.jsonl").read_text().splitlines()
    assert len(lines) == 1


def test_engines_of_the_public_face_take_the_option(tree: Tree) -> None:
    assert isinstance(tree.open(), Quire)
    with tree.open() as opened:
        tree.write("docs/retry.md", NEW)
        assert "three" in opened.search("client retry", refresh=False).results[0].chunk.text


def test_a_store_that_can_only_be_read_says_what_is_stale(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("docs/retry.md", NEW)
    monkeypatch.setattr("quire.system.platform.is_writable", lambda _: False)
    with tree.open() as opened:
        context = opened.assemble(QUERY)
        hits = opened.search("client retry")
    assert "[DOC: docs/retry.md (changed on disk since it was indexed)]" in context.text
    assert any("docs/retry.md (changed)" in note for note in hits.notes)
