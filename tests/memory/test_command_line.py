"""The commands report what they did, in words and in JSON, and refuse mistakes in one line."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

NOTHING = "0" * 32
MEMORY = [
    "id",
    "content",
    "category",
    "importance",
    "created",
    "edited",
    "author",
    "share",
    "supersedes",
    "superseded_by",
    "count",
    "repeated",
]
EXPERIENCE = [
    "id",
    "domain",
    "strategy",
    "goal",
    "hypothesis",
    "action",
    "prediction",
    "outcome",
    "result",
    "surprise",
    "root_cause",
    "lesson",
    "tier",
    "iterations",
    "started",
    "updated",
    "resolved",
    "source",
    "author",
    "share",
]


def answer(tree: Tree, *arguments: str, stdin: str = "") -> Any:
    done = tree.call(*arguments, "--json", stdin=stdin)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


def test_a_memory_on_the_command_line(plain: Tree) -> None:
    made = answer(
        plain, "remember", "-", "--importance", "0.75", "--category", "decision", stdin="Tea.\n"
    )
    assert list(made) == [*MEMORY, "notes"]
    assert (made["content"], made["importance"], made["notes"]) == ("Tea.", 0.75, [])
    newer = answer(plain, "remember", "Coffee.", "--supersedes", made["id"])
    listed = answer(plain, "memory", "list")["memories"]
    assert [one["content"] for one in listed] == ["Coffee."]
    assert len(answer(plain, "memory", "list", "--history")["memories"]) == 2
    assert answer(plain, "memory", "list", "--category", "error")["memories"] == []
    shown = answer(plain, "memory", "show", made["id"])
    assert list(shown) == MEMORY
    assert shown["superseded_by"] == newer["id"]
    edited = answer(plain, "memory", "edit", newer["id"], "Cocoa.", "--importance", "1")
    assert (edited["content"], edited["importance"]) == ("Cocoa.", 1.0)
    lines = plain.call("memory", "export").stdout
    assert [list(json.loads(line)) for line in lines.splitlines()] == [MEMORY, MEMORY]
    forgotten = answer(plain, "memory", "forget", newer["id"])
    assert forgotten["notes"] == [f"memory {made['id']} is current again"]
    back = answer(plain, "memory", "import", "-", stdin=lines)
    assert back == {"added": 1, "changed": 1, "unchanged": 0, "skipped": [], "notes": []}
    assert plain.call("memory", "export").stdout == lines


def test_a_memory_in_words(plain: Tree) -> None:
    told = plain.call("remember", "Tea at\nfour.", "--viewer", "alice")
    name = told.stdout.removeprefix("remembered ").strip()
    assert (told.stdout, told.stderr) == (f"remembered {name}\n", "")
    assert plain.call("memory", "list").stdout == f"{name}  fact 0.5  Tea at four.\n"
    shown = plain.call("memory", "show", name).stdout
    assert "author      alice\n" in shown
    assert shown.endswith("| Tea at\n| four.\n")
    assert plain.call("memory", "list", "--viewer", "bob").stderr == "no memories\n"


def test_an_experience_on_the_command_line(plain: Tree) -> None:
    made = answer(plain, "experience", "start", "Find it", "--domain", "debugging")
    assert list(made) == [*EXPERIENCE, "notes"]
    assert (made["outcome"], made["strategy"]) == ("open", "unstated")
    name = made["id"]
    answer(plain, "experience", "update", name, "--hypothesis", "It is here.")
    again = answer(plain, "experience", "update", name, "--hypothesis", "It is there.")
    assert again["iterations"] == 2
    ended = answer(plain, "experience", "resolve", name, "confirmed", "--result", "It was.")
    assert (ended["tier"], ended["resolved"] is None) == ("silver", False)
    assert list(answer(plain, "experience", "show", name)) == EXPERIENCE
    for option, value, count in (
        ("--outcome", "confirmed", 1),
        ("--outcome", "open", 0),
        ("--domain", "debugging", 1),
        ("--strategy", "read-the-error", 0),
    ):
        listed = answer(plain, "experience", "list", option, value)["experiences"]
        assert len(listed) == count, option
    line = plain.call("experience", "list").stdout
    assert line == f"{name}  debugging | unstated  confirmed (silver)  Find it\n"
    assert "hypothesis  It is there.\n" in plain.call("experience", "show", name).stdout


def test_values_and_post_mortems_on_the_command_line(plain: Tree) -> None:
    plain.write("pm/a.md", "# Outage\n\nThe site was down because of rain.\n")
    plain.write("pm/b.txt", "rain")
    told = plain.call("import", "postmortems", "pm")
    assert told.stdout == "1 experience added, 0 changed, 0 unchanged, 1 skipped\n"
    assert told.stderr == "skipped b.txt: not Markdown, so not a post-mortem\n"
    again = answer(plain, "import", "postmortems", "pm")
    assert (again["unchanged"], again["skipped"][0]["path"]) == (1, "b.txt")
    assert "--refresh" in plain.call("values").stderr
    refreshed = answer(plain, "values", "--refresh")
    assert refreshed["values"] == []
    assert "too few experiences" in refreshed["notes"][-1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["memory", "show", NOTHING], f"memory {NOTHING} does not exist"),
        (["memory", "edit", NOTHING, "x"], f"memory {NOTHING} does not exist"),
        (["memory", "forget", "\udcff"], "surrogate"),
        (["memory", "import", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["memory", "list", "--category", "x"], "--category: unknown category 'x'"),
        (["remember", ""], "memory: must not be empty"),
        (
            ["remember", "x", "--importance", "7"],
            "--importance: expected a number from 0 to 1, not 7.0",
        ),
        (["remember", "x", "--viewer", "a b"], "'a b' is not a user's name"),
        (["remember", "x", "--space", "misspelt"], "has no space 'misspelt'"),
        (
            ["remember", "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"],
            "looks like a GitHub token; take it out, or store it anyway with --allow-secret",
        ),
        (["experience", "start", "x"], "--domain"),
        (["experience", "start", "x", "--domain", "y"], "--domain: unknown domain 'y'"),
        (["experience", "update", NOTHING], f"experience {NOTHING} does not exist"),
        (["experience", "resolve", NOTHING, "won"], f"experience {NOTHING} does not exist"),
        (["values", "--axis", "x"], "--axis: unknown axis 'x'"),
        (["import", "postmortems", "nowhere"], "nowhere is not a folder"),
    ],
)
def test_a_mistake_is_told_in_one_line(plain: Tree, arguments: list[str], said: str) -> None:
    plain.index()
    done = plain.call(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_the_first_memory_makes_the_store_and_its_rules_hold(plant: Forest) -> None:
    tree = plant("new", {"quire.toml": '[embed]\nprovider = "none"\n[access]\ndefault = "owner"\n'})
    assert tree.call("memory", "list").returncode == 2, "there is no store yet"
    assert tree.call("remember", "Mine.").returncode == 0
    assert tree.call("memory", "list", "--viewer", "eve").stdout == ""
    assert tree.call("memory", "list").stdout.endswith("Mine.\n")


@pytest.mark.model
def test_a_new_memory_is_found_by_its_meaning_at_once(with_model: Tree) -> None:
    assert answer(with_model, "remember", "The invoices are sent by post.")["notes"] == []
    status = answer(with_model, "status")
    assert (status["vectors"], status["missing_vectors"]) == (1, 0)
    (found,) = answer(with_model, "search", "mailing bills", "--kind", "memory")["results"]
    assert found["signals"].keys() == {"semantic"}


def test_an_endpoint_is_not_waited_for(plant: Forest) -> None:
    settings = '[embed]\nprovider = "http"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
    far = plant("far", {"quire.toml": settings})
    far.trust()
    told = answer(far, "remember", "Tea.")
    assert told["notes"] == ["found by words now, and by meaning after the next `quire index`"]


def test_without_the_model_it_is_remembered_all_the_same(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "quire.embed.local", None)
    (told,) = answer(tree, "remember", "Tea.")["notes"]
    assert told.startswith("found by words alone: ")
    assert "quire-context[local]" in told
    assert len(answer(tree, "memory", "list")["memories"]) == 1


@pytest.mark.model
def test_among_texts_without_vectors_it_gets_none_either(with_model: Tree) -> None:
    with_model.write("notes.md", "# Notes\n\nA heron.\n")
    answer(with_model, "index", "--no-embed")
    assert "after the next `quire index`" in answer(with_model, "remember", "Tea.")["notes"][0]
    assert answer(with_model, "status")["vectors"] == 0


@pytest.mark.model
def test_if_much_lacks_vectors_the_next_index_makes_them(with_model: Tree) -> None:
    lines = "\n".join(json.dumps({"content": f"Fact number {each}."}) for each in range(40))
    told = answer(with_model, "memory", "import", "-", stdin=lines)
    assert told["notes"] == ["found by words now, and by meaning after the next `quire index`"]
    assert answer(with_model, "remember", "One more.")["notes"] == told["notes"]
    assert answer(with_model, "status")["vectors"] == 0
    assert answer(with_model, "index")["vectors"] == 41
    assert answer(with_model, "remember", "And one.")["notes"] == []


def test_a_memory_is_added_by_either_name(plain: Tree) -> None:
    made = answer(plain, "memory", "add", "Coffee.", "--category", "preference")
    assert (made["content"], made["category"]) == ("Coffee.", "preference")
    wrong = plain.call("memory", "add", "Coffee.", "--importance", "7")
    assert wrong.returncode == 2
    assert "--importance" in wrong.stderr
