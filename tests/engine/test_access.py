"""Each viewer gets what the rules in force allow, from the very next question on."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import quire
from quire import AccessRule, Block, Quire, Viewer
from quire.errors import CallerError, ConfigError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Forest, Tree

FILES = {
    "open.md": "# Open\n\nThe mast is painted white.\n",
    "hr/pay.md": "# Pay\n\nThe captain earns a mast of gold.\n",
    "hr/plan.md": "# Plan\n\nHire a cook before the mast breaks.\n",
    "legal/case.md": "# Case\n\nThe mast fell on a passer-by.\n",
}
RULES = """
[ingest]
ignore = ["quire.toml"]
[access]
"hr/**" = ["@hr", "dora"]
"hr/plan.md" = "public"
"legal/" = "owner"
[groups]
hr = ["ann", "bob"]
"""


@pytest.fixture
def guarded(plant: Forest) -> Tree:
    tree = plant("guarded", {**FILES, "quire.toml": RULES})
    tree.index()
    return tree


def configure(tree: Tree, rules: str) -> None:
    tree.write("quire.toml", f"[ingest]\nignore = ['quire.toml']\n{rules}")


def test_the_rules_of_the_settings_decide_and_the_last_match_counts(guarded: Tree) -> None:
    assert guarded.paths() == sorted(FILES)
    assert guarded.paths("ann") == ["hr/pay.md", "hr/plan.md", "open.md"]
    assert guarded.paths("dora") == ["hr/pay.md", "hr/plan.md", "open.md"]
    assert guarded.paths("eve") == ["hr/plan.md", "open.md"]


def test_a_viewer_finds_nothing_in_what_is_hidden(guarded: Tree) -> None:
    assert set(guarded.found("mast")) == set(FILES)
    assert set(guarded.found("mast", "bob")) == {"hr/pay.md", "hr/plan.md", "open.md"}
    assert set(guarded.found("mast", "eve")) == {"hr/plan.md", "open.md"}
    assert guarded.found("gold", "eve") == []
    with guarded.open() as opened:
        eve, owner = opened.status("eve"), opened.status()
        hidden = next(
            one.chunk for one in opened.search("gold").results if one.chunk.path == "hr/pay.md"
        )
        with pytest.raises(InputError) as refused:
            opened.documents.prove(hidden.id, viewer="eve")
        with pytest.raises(InputError) as absent:
            opened.documents.prove("00" * 16, viewer="eve")
        assert opened.documents.prove(hidden.id, viewer="ann").chunk_id == hidden.id
    assert (eve.records, owner.records) == (2, 4)
    assert eve.bytes == len(FILES["open.md"]) + len(FILES["hr/plan.md"])
    assert eve.roots != owner.roots
    assert str(refused.value).replace(hidden.id, "ID") == str(absent.value).replace("00" * 16, "ID")


def test_a_proof_holds_under_the_viewers_own_root(guarded: Tree) -> None:
    with guarded.open() as opened:
        for viewer in ("ann", "eve", None):
            root = opened.status(viewer).roots.content
            for one in opened.search("mast", viewer=viewer).results:
                proof = opened.documents.prove(one.chunk.id, viewer=viewer)
                assert quire.verify_proof(proof, one.chunk, root)
                assert not quire.verify_proof(proof, one.chunk, opened.status("dora").roots.state)


def test_groups_may_also_come_with_the_viewer(guarded: Tree) -> None:
    with guarded.open() as opened:
        told = Viewer("zoe", groups=("hr",))
        assert "hr/pay.md" in [record.path for record in opened.documents.list(viewer=told)]
        assert "hr/pay.md" not in [
            record.path for record in opened.documents.list(viewer=Viewer("zoe", groups=("cooks",)))
        ]


def test_by_default_everything_is_public_or_the_owners(tree: Tree) -> None:
    tree.fill(FILES)
    tree.index()
    assert tree.paths("eve") == sorted(FILES)

    configure(tree, '[access]\ndefault = "owner"\n"open.md" = "public"\n')
    assert tree.paths("eve") == ["open.md"]
    assert tree.paths() == sorted(FILES)

    configure(tree, '[access]\ndefault = ["@staff"]\n[groups]\nstaff = ["eve"]\n')
    assert tree.paths("eve") == sorted(FILES)
    assert tree.paths("ann") == []


def test_rules_by_command_have_the_last_word(guarded: Tree) -> None:
    with guarded.open() as opened:
        opened.access.set_rules(
            [AccessRule("hr/pay.md", ("eve",)), AccessRule("legal/**", ("@law",))]
        )
        opened.access.set_groups({"law": ["ann"]})
    assert guarded.paths("eve") == ["hr/pay.md", "hr/plan.md", "open.md"]
    assert guarded.paths("ann") == ["hr/plan.md", "legal/case.md", "open.md"]

    configure(guarded, '[access]\n"hr/pay.md" = "public"\n')
    assert guarded.paths("dora") == ["hr/plan.md", "open.md"], "the command still decides"

    with guarded.open() as opened:
        opened.access.set_rules([])
        opened.access.set_groups({})
        assert opened.access.rules()["command"] == ()
    assert guarded.paths("dora") == ["hr/pay.md", "hr/plan.md", "legal/case.md", "open.md"]


def test_a_new_file_falls_under_the_rules_at_once(guarded: Tree) -> None:
    guarded.write("hr/new.md", "a new mast for the hr ship")
    guarded.write("legal/new.md", "a new mast for the court")
    guarded.index()
    assert "hr/new.md" in guarded.paths("ann")
    assert guarded.paths("eve") == ["hr/plan.md", "open.md"]


def test_a_file_that_moves_takes_the_access_of_its_new_place(guarded: Tree) -> None:
    (guarded.root / "open.md").rename(guarded.root / "legal/open.md")
    guarded.index()
    assert guarded.paths("eve") == ["hr/plan.md"]


def test_a_right_taken_back_ends_with_the_next_opening(guarded: Tree) -> None:
    assert "hr/pay.md" in guarded.found("mast", "dora")
    configure(guarded, '[access]\n"hr/**" = ["@hr"]\n[groups]\nhr = ["ann"]\n')

    assert guarded.found("gold", "dora") == []
    assert guarded.found("gold", "bob") == []
    assert guarded.found("gold", "ann") == ["hr/pay.md"]


def test_a_right_taken_back_ends_with_the_next_question_to_an_open_store(guarded: Tree) -> None:
    with guarded.open() as opened:
        assert opened.search("gold", viewer="dora").results
        configure(guarded, '[access]\n"hr/**" = "owner"\n')

        assert opened.search("gold", viewer="dora").results == ()
        assert opened.search("gold").results


def test_indexing_with_an_open_store_does_not_bring_old_rules_back(guarded: Tree) -> None:
    with guarded.open() as opened:
        configure(guarded, '[access]\n"hr/**" = "owner"\n')
        assert "hr/pay.md" not in guarded.paths("dora"), "another process has seen the edit"
        opened.index(embed=False)
        assert "hr/pay.md" not in [record.path for record in opened.documents.list(viewer="dora")]
    assert "hr/pay.md" not in guarded.paths("dora")


def test_a_store_opened_from_elsewhere_keeps_its_rules(guarded: Tree, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for rules in ("", '[access]\n"**" = "public"\n', '[access]\ndefault = "public"\n'):
        (elsewhere / "quire.toml").write_text(rules)
        with quire.open(elsewhere, store=guarded.store) as opened:
            paths = [record.path for record in opened.documents.list(viewer="eve")]
            assert opened.search("gold", viewer="eve").results == ()
        assert paths == ["hr/plan.md", "open.md"]
        assert guarded.paths("eve") == ["hr/plan.md", "open.md"]
    done = guarded.run(
        "search", "gold", "--viewer", "eve", "--store", str(guarded.store), cwd=elsewhere
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_a_right_taken_back_also_ends_when_asked_from_elsewhere(
    guarded: Tree, tmp_path: Path
) -> None:
    configure(guarded, '[access]\n"**" = "owner"\n')
    with quire.open(tmp_path, store=guarded.store) as opened:
        assert opened.documents.list(viewer="dora") == []


def test_indexing_from_elsewhere_uses_the_rules_of_the_indexed_directory(
    guarded: Tree, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "quire.toml").write_text('[access]\ndefault = "public"\n"**" = "public"\n')
    guarded.write("hr/new.md", "a new mast")
    with quire.open(elsewhere, store=guarded.store) as opened:
        assert opened.index(embed=False).indexed == 1
    assert guarded.paths("eve") == ["hr/plan.md", "open.md"]


def test_a_copy_without_settings_keeps_its_rules_until_it_is_indexed(guarded: Tree) -> None:
    guarded.remove("quire.toml")
    assert guarded.paths("eve") == ["hr/plan.md", "open.md"]
    guarded.index()
    assert guarded.paths("eve") == sorted(FILES)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ('"hr/**" = ["two words"]', "'two words' is not a principal"),
        ('"hr/**" = ["a:b:c"]', "not a principal"),
        ('"" = ["ann"]', "is not a glob"),
        ('"hr/**" = 3', "expected a list of names"),
        ('default = ["@"]', "not a principal"),
    ],
)
def test_a_wrong_rule_is_refused_by_name(guarded: Tree, rules: str, said: str) -> None:
    configure(guarded, f"[access]\n{rules}\n")
    with pytest.raises(ConfigError, match=said) as refused:
        guarded.open()
    assert str(guarded.root / "quire.toml") in str(refused.value)

    done = guarded.call("search", "mast")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_a_text_in_place_of_names_is_refused(guarded: Tree) -> None:
    """Its letters are no users."""
    with guarded.open() as opened:
        page = opened.blocks.put([Block("page", "page", "Page")], at=1).value[0]
        wrong: list[Callable[[], object]] = [
            lambda: opened.memories.add("The mast is new.", at=1, share="eve"),
            lambda: opened.memories.add("The mast is new.", at=1, share="eve", viewer="ann"),
            lambda: opened.blocks.share(page.id, "eve", at=1),
            lambda: opened.blocks.put([replace(page, access="eve")], at=1),  # type: ignore[arg-type]
            lambda: opened.access.set_rules([AccessRule("hr/**", "eve")]),  # type: ignore[arg-type]
            lambda: opened.access.set_groups({"crew": "eve"}),
        ]
        before = opened.status().roots.content
        for write in wrong:
            with pytest.raises(InputError, match=r"expected a list of names, not the string 'eve'"):
                write()
        assert opened.status().roots.content == before


def test_a_wrong_rule_by_command_changes_nothing(guarded: Tree) -> None:
    with guarded.open() as opened:
        opened.access.set_rules([AccessRule("hr/**", ("eve",))])
        with pytest.raises(CallerError):
            opened.access.set_rules([AccessRule("legal/**", ("eve",)), AccessRule("**", ("x y",))])
        with pytest.raises(CallerError):
            opened.access.set_groups({"law": ["ann"], "bad name": ["bob"]})
        assert [rule.glob for rule in opened.access.rules()["command"]] == ["hr/**"]
        assert opened.access.groups()["command"] == {}


def test_the_viewer_may_be_set_for_the_whole_store(guarded: Tree) -> None:
    with guarded.open(viewer="eve") as opened:
        assert [record.path for record in opened.documents.list()] == ["hr/plan.md", "open.md"]
        assert opened.documents.list(viewer="ann")[0].path == "hr/pay.md"
    with guarded.open() as opened, pytest.raises(InputError, match="is not a user's name"):
        opened.search("mast", viewer="")


def test_reading_does_not_wait_for_a_writer(guarded: Tree) -> None:
    """Rules that are in force already are not written again, so a question needs no lock."""
    with guarded.open():
        pass
    writing, done = threading.Event(), threading.Event()

    def write() -> None:
        with guarded.open() as other, other.store.write() as writer:
            writer.set_note("held", "open")
            writing.set()
            done.wait(60)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert writing.wait(60)
        answer = guarded.run("search", "mast", "--viewer", "eve", "--json")
        held = not done.is_set()
        found = {one["path"] for one in json.loads(answer.stdout)["results"]}
    finally:
        done.set()
        thread.join()
    assert held
    assert found == {"hr/plan.md", "open.md"}


# --- by command ----------------------------------------------------------------------------------


def test_access_by_command(guarded: Tree) -> None:
    def run(*arguments: str) -> dict[str, object]:
        done = guarded.call("access", *arguments, "--json")
        assert done.returncode == 0, done.stderr
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    assert run("check", "eve") == {"viewer": "eve", "paths": ["hr/plan.md", "open.md"]}
    assert run("allow", "legal/**", "@law", "owner") == {
        "rules": [{"origin": "command", "glob": "legal/**", "principals": ["group:law"]}],
        "groups": {},
        "notes": [],
    }
    assert run("group", "law", "eve", "bob") == {
        "rules": [],
        "groups": {"command": {"law": ["bob", "eve"]}},
        "notes": [],
    }
    assert run("check", "eve")["paths"] == ["hr/plan.md", "legal/case.md", "open.md"]
    listed = run("list")
    assert [(rule["origin"], rule["glob"]) for rule in listed["rules"]] == [  # type: ignore[attr-defined]  # plain JSON
        ("config", "hr/**"),
        ("config", "hr/plan.md"),
        ("config", "legal/"),
        ("command", "legal/**"),
    ]
    assert listed["groups"] == {
        "config": {"hr": ["ann", "bob"]},
        "command": {"law": ["bob", "eve"]},
    }
    assert run("group", "law")["notes"] == ["the group 'law' is deleted"]
    refused = guarded.call("access", "group", "law")
    assert refused.returncode == 2
    assert "no command has set a group 'law'" in refused.stderr
    assert run("check", "eve")["paths"] == ["hr/plan.md", "open.md"]
    run("allow", "hr/plan.md", "owner")
    assert run("check", "eve")["paths"] == ["open.md"]
    run("remove", "hr/plan.md")
    assert run("remove", "legal/**")["notes"] == ["no rules set by commands are left"]
    assert run("check", "eve")["paths"] == ["hr/plan.md", "open.md"]
    refused = guarded.call("access", "remove", "legal/**")
    assert refused.returncode == 2
    assert "no command has set a rule for 'legal/**'" in refused.stderr


def test_the_engine_is_what_the_settings_say(guarded: Tree) -> None:
    with guarded.open() as opened:
        assert isinstance(opened, Quire)
        assert opened.access.rules()["config"] == (
            AccessRule("hr/**", ("group:hr", "user:dora")),
            AccessRule("hr/plan.md", ("public",)),
            AccessRule("legal/", ()),
        )


@pytest.mark.parametrize("name", ["", "@people", "user:alice", "a b"])
def test_a_viewer_is_a_bare_name(tree: Tree, name: str) -> None:
    tree.write("a.md", "alpha")
    tree.index()
    with tree.open() as quire, pytest.raises(InputError, match="is not a user's name"):
        quire.search("alpha", viewer=name)


def test_the_default_is_told_as_it_is_in_force(tree: Tree) -> None:
    tree.fill(FILES)
    with tree.open() as opened:
        assert opened.access.default() == ("public",)
    tree.index()
    configure(tree, '[access]\ndefault = ["@staff", "ann"]\n')
    with tree.open() as opened:
        assert opened.access.default() == ("group:staff", "user:ann")
        configure(tree, '[access]\ndefault = "owner"\n')
        opened.documents.list()
        assert opened.access.default() == ()
    tree.remove("quire.toml")
    assert tree.call("access", "list").stdout == "*  ->  owner  (default)\n", "until it is indexed"
    tree.index()
    assert tree.call("access", "list").stdout == "*  ->  public  (default)\n"


def test_rules_that_no_file_falls_under_are_told(guarded: Tree) -> None:
    configure(guarded, '[access]\n"hr/**" = "ann"\n"hrr/**" = "ann"\n')
    note = "no file in the store matches the rule for 'hrr/**'"
    done = guarded.call("index", "--no-embed")
    assert done.stderr == f"note: {note}\n"
    assert json.loads(guarded.call("index", "--no-embed", "--json").stdout)["notes"] == [note]
    done = guarded.call("access", "allow", "legal/*.pdf", "bob")
    assert done.stdout == "legal/*.pdf  ->  user:bob  (command)\n"
    assert done.stderr == "note: no file in the store matches the rule for 'legal/*.pdf'\n"
    assert guarded.call("access", "allow", "legal/", "bob").stderr == ""
    listed = json.loads(guarded.call("access", "list", "--json").stdout)
    assert listed["notes"] == [note, "no file in the store matches the rule for 'legal/*.pdf'"]
    guarded.write("hrr/new.md", "a file at last")
    assert "hrr" not in guarded.call("index", "--no-embed").stderr


@pytest.mark.parametrize(
    ("viewer", "said"),
    [
        (3, "expected a user's name or a Viewer, not 3"),
        (["alice"], "expected a user's name or a Viewer"),
        (Viewer("alice", groups="hr"), "not the string 'hr'"),  # type: ignore[arg-type]  # the mistake
        (Viewer("alice", links="token"), "not the string 'token'"),  # type: ignore[arg-type]  # likewise
    ],
)
def test_what_is_no_viewer_is_refused(guarded: Tree, viewer: Any, said: str) -> None:
    with guarded.open() as opened, pytest.raises(InputError, match=said):
        opened.status(viewer)


def test_what_is_no_question_and_no_receipt_is_refused(guarded: Tree) -> None:
    with guarded.open() as opened:
        with pytest.raises(InputError, match="the query is empty"):
            opened.search(3)  # type: ignore[arg-type]  # the mistake
        (said,) = opened.verify("r.json")  # type: ignore[arg-type]  # likewise
        assert said.startswith("this is not a receipt but 'r.json'")
