"""Notes say when a result holds less than was asked for; errors name what was typed."""

from __future__ import annotations

import json
import re
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from quire import Filter, Options
from quire.cli.main import main
from quire.errors import InputError, QuireError
from quire.pipeline import notes as pipeline_notes

from .terminal import on_a_terminal

if TYPE_CHECKING:
    from tests.conftest import Tree

FILES = {
    "a.md": "# Anchor\n\nThe anchor holds in sand.\n",
    "b.py": "def anchor():\n    return 'sand'\n",
    "docs/c.md": "The anchor chain is long.\n",
}
RECENT = ("--prefer-recent", "10", "--as-of", "2024-06-01")
DATED = "---\ndate: 2024-05-01\n---\n\nThe anchor was lost.\n"


@pytest.fixture
def indexed(tree: Tree) -> Tree:
    tree.fill(FILES)
    tree.index()
    return tree


def notes(tree: Tree, *arguments: str) -> list[str]:
    done = tree.call(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    texts: list[str] = json.loads(done.stdout)["notes"]
    return [note for note in texts if not note.startswith("semantic search is off")]


@pytest.mark.parametrize("command", ["search", "assemble", "explain"])
def test_a_kind_that_nothing_is_of(indexed: Tree, command: str) -> None:
    assert notes(indexed, command, "anchor", "--kind", "Document", "--kind", "code") == [
        "no record is of the kind 'Document'; the store has code, document"
    ]
    assert notes(indexed, command, "sand", "--kind", "document", "--kind", "code") == []
    assert notes(indexed, command, "chain", "--kind", "code") == [], "it is there, but not found"
    indexed.call("access", "allow", "*", "owner")
    assert notes(indexed, command, "anchor", "--kind", "code", "--viewer", "eve") == [
        "no record is of the kind 'code'; the store has none"
    ]


@pytest.mark.parametrize("command", ["search", "assemble"])
@pytest.mark.parametrize("option", ["--since", "--until"])
def test_dates_that_leave_out_what_has_none(
    indexed: Tree, command: str, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (command, "anchor", option, "2020-01-01")
    (note,) = notes(indexed, *arguments)
    assert note.startswith("3 records without a date are left out; ")
    assert "use_mtime" in note
    (note,) = notes(indexed, *arguments, "--path", "docs/**")
    assert note.startswith("1 records without a date")
    monkeypatch.setattr(pipeline_notes, "MAX_COUNTED", 2)
    (note,) = notes(indexed, *arguments)
    assert note.startswith("records without a date are left out; ")


def test_dates_that_all_have(tree: Tree) -> None:
    tree.write("d.md", DATED)
    tree.index()
    assert notes(tree, "search", "anchor", "--since", "2020-01-01") == []
    assert notes(tree, "assemble", "anchor", *RECENT) == []


def test_recency_where_nothing_has_a_date(indexed: Tree) -> None:
    (note,) = notes(indexed, "assemble", "anchor", *RECENT)
    assert note.startswith("no candidate has a date, so none is preferred as recent")
    assert notes(indexed, "assemble", "zeppelin", *RECENT) == []
    indexed.write("d.md", DATED)
    indexed.index()
    assert notes(indexed, "assemble", "anchor", *RECENT) == []
    done = indexed.call("assemble", "anchor", "--prefer-recent", "10")
    assert "name a date with --as-of" in done.stderr


def test_a_stable_order_without_anything_to_keep(indexed: Tree) -> None:
    done = indexed.call("assemble", "anchor", "--order", "stable")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "quire: --order: 'stable' needs an earlier receipt; name one with --previous"
    )
    indexed.write("mine.toml", 'extends = "documents"\n[fit]\norder = "stable"\n')
    assert notes(indexed, "assemble", "anchor", "--recipe", "mine.toml") == [
        "`order` is stable, and `previous` names no context whose order to keep"
    ]
    indexed.call("assemble", "anchor", "--receipt", "r.json")
    options = ("--recipe", "mine.toml", "--previous", "r.json")
    assert notes(indexed, "assemble", "anchor", *options) == []


@pytest.mark.parametrize("command", ["search", "assemble", "explain"])
def test_paths_that_only_leave_out(indexed: Tree, command: str) -> None:
    done = indexed.call(command, "anchor", "--path", "!docs/**", "--path", "!*.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--path: every glob of '!docs/**', '!*.py' excludes" in done.stderr
    assert "'**'" in done.stderr
    assert indexed.call(command, "anchor", "--path", "**", "--path", "!docs/**").returncode == 0


def test_paths_that_only_leave_out_in_a_program(indexed: Tree) -> None:
    with indexed.open() as opened:
        for ask in (
            lambda: opened.documents.list(Filter(paths=("!*.py",))),
            lambda: opened.why_not("anchor", "a.md", where=Filter(paths=("!*.py",))),
        ):
            with pytest.raises(InputError, match="excludes"):
                ask()


def test_what_has_changed_on_disk_is_for_the_owner(
    indexed: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    for more in (("--viewer", "eve"), ()):
        done = indexed.call("status", "--fresh", *more)
        assert done.returncode == (2 if more else 0)
    monkeypatch.setenv("QUIRE_VIEWER", "eve")
    done = indexed.call("status", "--fresh")
    assert (done.returncode, done.stdout) == (2, "")
    assert "only the owner may know" in done.stderr


# --- by the names that were typed ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "key", "written", "message"),
    [
        ("--dedup 1.5", "fit.dedup", "1.5", ": must be between 0 and 1, not 1.5"),
        ("--pack x", "fit.pack", "'x'", ": unknown packing strategy 'x'; choose from greedy"),
        ("--order x", "fit.order", "'x'", ": unknown order 'x'; choose from auto"),
        ("--overflow x", "budget.overflow", "'x'", ": unknown overflow 'x'; choose from"),
        ("--format x", "render.format", "'x'", ": unknown format 'x'; choose from"),
        ("--prefer-recent 9999", "rank.recent", "9999", ": must be between 0 and 1000, not 9999"),
        ("--per-document -1", "fit.per_document", "", ": must be at least 0, not -1"),
    ],
)
def test_a_wrong_value_is_named_as_it_was_given(
    indexed: Tree, typed: str, key: str, written: str, message: str
) -> None:
    flag, value = typed.split()
    for command in (("assemble", "anchor"), ("explain", "anchor"), ("why-not", "anchor", "a.md")):
        done = indexed.call(*command, flag, value)
        assert done.returncode == 2
        assert done.stderr.startswith(f"quire: {flag}{message}"), done.stderr
    if written:
        part, name = key.split(".")
        indexed.write("mine.toml", f'extends = "documents"\n[{part}]\n{name} = {written}\n')
        done = indexed.call("assemble", "anchor", "--recipe", "mine.toml")
        assert done.returncode == 2
        assert done.stderr.startswith(f"quire: {key}{message}"), done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("search", "x", "--k", "0"), "--k: must be at least 1, not 0"),
        (("search", "x", "--since", "soon"), "--since: expected a date"),
        (("assemble", "x", "--until", "soon"), "--until: expected a date"),
        (("assemble", "x", "--as-of", "soon"), "--as-of: expected a date"),
        (
            ("assemble", "x", "--recipe", "agent", "--limit", "0"),
            "--limit: must be at least 1, not 0",
        ),
        (("premortem", "debugging", "--limit", "-1"), "--limit: must be at least 1, not -1"),
        (("assemble", "x", "--limit", "3"), "--limit: the recipe 'documents' has no sections"),
        (
            ("assemble", "x", "--shares", "news=3"),
            "--shares: the recipe 'documents' has no section 'news'",
        ),
        (
            ("assemble", "x", "--system", "a.md"),
            "--system: the recipe 'documents' takes no instructions",
        ),
        (("memory", "import", "a.md"), "a.md, line 1: not valid JSON"),
        (("import", "blocks", "a.md"), "a.md, line 1: not valid JSON"),
        (("block", "put", "x", "--type", "news"), "type: unknown type 'news'"),
    ],
)
def test_other_options_are_named(indexed: Tree, arguments: tuple[str, ...], message: str) -> None:
    done = indexed.call(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"quire: {message}")


def test_a_budget_that_is_too_small_is_told_with_the_options_that_help(indexed: Tree) -> None:
    done = indexed.call("assemble", "anchor", "--budget", "3", "--reserve", "none")
    assert done.returncode == 1
    assert "raise --budget to " in done.stderr
    assert "set --overflow to cut" in done.stderr
    assert "or set --allow-empty" in done.stderr
    budget = done.stderr.partition("raise --budget to ")[2].partition(",")[0]
    done = indexed.call("assemble", "anchor", "--budget", budget, "--reserve", "none")
    assert done.returncode == 0
    more = ("--budget", "3", "--reserve", "none", "--allow-empty")
    done = indexed.call("assemble", "anchor", *more)
    assert "raise --budget to " in done.stderr


def test_words_of_the_command_line_stay_there(indexed: Tree) -> None:
    done = indexed.call("assemble", "anchor", "--budget", "500")
    assert "raise --budget or lower --reserve" in done.stderr
    wrong: tuple[Options, ...] = (
        {"budget": 500},
        {"types": ["code"]},
        {"limit": 0, "recipe": "agent"},
        {"system": "Be brief."},
        {"shares": {"news": 3}},
    )
    with indexed.open() as quire:
        for options in wrong:
            with pytest.raises(QuireError) as raised:
                quire.assemble("anchor", **options)
            assert "--" not in str(raised.value)


def test_a_place_counts_from_where_the_caller_stands(indexed: Tree) -> None:
    def why_not(folder: Path, place: str) -> Any:
        with chdir(folder):
            return CliRunner().invoke(main, ["why-not", "anchor", place])

    docs = indexed.root / "docs"
    for folder, place in (
        (docs, "c.md"),
        (docs, "c.md:1"),
        (docs, "./c.md"),
        (docs, str(docs / "c.md")),
        (indexed.root, "docs/c.md"),
    ):
        done = why_not(folder, place)
        assert done.exit_code == 0, done.stderr
        assert done.stdout == "docs/c.md:1-1 is in the context\n"
    assert why_not(docs, "../a.md").stdout.startswith("a.md:1-3 ")
    indexed.remove("docs/c.md")
    assert why_not(docs, "c.md").exit_code == 0, "the store still holds it"
    for place, message in (("a.md", "nothing at docs/a.md"), ("../..", "outside of")):
        done = why_not(docs, place)
        assert done.exit_code == 2
        assert message in done.stderr


def test_pieces_that_no_search_found_are_one_line(indexed: Tree) -> None:
    paragraph = "The ferry leaves the harbour at noon, whatever the tide may do.\n" * 6
    long = "\n".join(f"## Part {number}\n\n{paragraph}" for number in range(9))
    indexed.write("long.md", f"{long}\n## Last\n\nThe barnacle.\n")
    with chdir(indexed.root):
        CliRunner().invoke(main, ["index", "--no-embed"])
        done = CliRunner().invoke(main, ["why-not", "barnacle", "long.md", "--budget", "1000"])
    lines = done.stdout.splitlines()
    unfound = [line for line in lines if "no search found it" in line]
    assert len(unfound) == 1, lines
    assert re.match(r"long\.md:\d+-\d+ \(\d+ pieces\) is not in the context: collect: ", unfound[0])
    assert any(line.endswith("is in the context") for line in lines)


# --- names that would steer a terminal -------------------------------------------------------------

ODD = "red\x1b[31m\x07\x9b1mline\nbreak\u202egpj.md"
SPELLED = r"red\x1b[31m\x07\x9b1mline\nbreak\u202egpj.md"


@pytest.fixture
def steering(tree: Tree) -> Tree:
    tree.fill({ODD: "# Bell\x1b]0;title\x07\n\nThe bell\trings.\n", "a.md": "A bell, too.\n"})
    (tree.root / f"link{ODD}").symlink_to("a.md")
    tree.index()
    return tree


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "--no-embed"),
        ("search", "bell rings"),
        ("explain", "bell"),
        ("why-not", "bell", ODD),
        ("access", "check", "eve"),
        ("access", "allow", ODD.replace("[", "\\["), "eve"),
        ("access", "list"),
        ("index", f"{ODD}-not-there"),
        ("purge", ODD),
    ],
)
def test_control_characters_are_spelled_out(steering: Tree, arguments: tuple[str, ...]) -> None:
    if arguments[:2] == ("access", "list"):
        steering.call("access", "allow", ODD.replace("[", "\\["), "eve")
    done = steering.run(*arguments)
    whole = done.stdout + done.stderr
    assert SPELLED in whole.replace("\\\\", "\\").replace("\\[", "["), whole
    assert not {char for char in whole if not char.isprintable()} - {"\n"}


def test_control_characters_are_spelled_out_on_a_terminal(steering: Tree) -> None:
    code, shown = on_a_terminal(steering, "index", f"{ODD}-not-there", "--no-embed")
    assert code == 2
    assert f"{SPELLED}-not-there does not exist" in shown
    code, shown = on_a_terminal(steering, "purge", "nothing\x1b[31m")
    assert code == 1
    assert "\x1b[31m" not in shown


def test_json_says_the_same_and_steers_nothing(steering: Tree) -> None:
    done = steering.run("search", "bell", "--json")
    assert {result["path"] for result in json.loads(done.stdout)["results"]} == {ODD, "a.md"}
    assert not {char for char in done.stdout if not char.isprintable()} - {"\n"}
