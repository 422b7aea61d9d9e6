"""The commands show what applies, which rules hold, and every mistake."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.serving import VARIABLE, Reply, served

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

PAY = """\
---
metadata: {name: Payments, type: module}
intent_context: {business_goal: Never charge twice}
behavior_rules:
  - {trigger: a charge fails, action: retry once}
injection_rules:
  - name: database
    condition: path matches '*.sql' or params.command contains 'alembic'
    inject: [/guides/database]
    priority: 5
  - name: privacy
    condition: personal data of customers is involved
    inject: [/docs/privacy.md]
---
# Payments

Amounts are whole cents.
"""
FILES = {
    "quire.toml": '[judge]\nprovider = "none"\n',
    "AGENTS.md": "# Shop\n\nBe kind.\n",
    "src/pay/pay.context.md": PAY,
    "guides/database.context.toml": 'extends = "base"\ntext = "Migrations run once."\n',
    "guides/base.context.yaml": "text: Ask before you drop a table.\n",
    "docs/privacy.md": "# Privacy\n\nMask names.\n",
    "src/pay/charge.py": "def charge(): ...\n",
}


@pytest.fixture
def shop(plant: Forest) -> Tree:
    return plant("shop", FILES)


def answer(tree: Tree, *arguments: str, code: int = 0, **more: Any) -> Any:
    done = tree.call("rules", *arguments, "--json", **more)
    assert done.returncode == code, done.stderr
    assert done.stderr == "", "with --json everything is in the JSON"
    return json.loads(done.stdout)


def test_check_tells_how_each_condition_is_taken(shop: Tree) -> None:
    done = shop.call("rules", "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        (
            "src/pay/pay.context.md:7: rule 'database' applies if the expression holds: "
            "path matches '*.sql' or params.command contains 'alembic'"
        ),
        (
            "src/pay/pay.context.md:11: rule 'privacy' applies if the sentence holds: "
            "personal data of customers is involved"
        ),
        "4 contexts, 0 mistakes",
    ]
    told = answer(shop, "check")
    assert list(told) == ["contexts", "mistakes"]
    assert [one["path"] for one in told["contexts"]] == [
        "AGENTS.md",
        "guides/base.context.yaml",
        "guides/database.context.toml",
        "src/pay/pay.context.md",
    ]
    assert told["contexts"][3]["rules"][0]["condition"]["kind"] == "expression"
    assert [one["path"] for one in answer(shop, "check", "guides")["contexts"]] == [
        "guides/base.context.yaml",
        "guides/database.context.toml",
    ]


def test_check_tells_every_mistake_of_every_file(shop: Tree) -> None:
    shop.fill(
        {
            "a.context.yaml": "metadta: {}\nextends: ../x\n",
            "b.context.yaml": "extends: c\n",
            "c.context.toml": 'extends = "b"\n',
            "d.context.md": "---\ninjection_rules:\n  - {name: d, inject: [nowhere, AGENTS.md]}\n---\n",
            "e.context.yaml": b"text: \xff\n",
        }
    )
    (shop.root / "link.context.md").symlink_to(shop.root / "AGENTS.md")
    done = shop.call("rules", "check")
    assert done.returncode == 1
    assert done.stdout.splitlines()[:7] == [
        "a.context.yaml:1: unknown key 'metadta'; did you mean 'metadata'?",
        "a.context.yaml:2: extends: '../x' is not a path inside the project",
        (
            "b.context.yaml:1: contexts extend each other in a circle: "
            "b.context.yaml > c.context.toml > b.context.yaml"
        ),
        (
            "c.context.toml:1: contexts extend each other in a circle: "
            "c.context.toml > b.context.yaml > c.context.toml"
        ),
        "d.context.md:3: rule 'd': 'nowhere' does not exist or has mistakes",
        "e.context.yaml:1: not UTF-8 text: save it as UTF-8",
        "link.context.md: not read: symbolic link, not followed",
    ]
    told = answer(shop, "check", code=1)
    assert len(told["mistakes"]) == 7
    assert list(told["mistakes"][0]) == ["path", "line", "reason"]
    assert answer(shop, "check", "src")["mistakes"] == []


def test_list_tells_where_each_part_comes_from(shop: Tree) -> None:
    for place in ("src/pay", "src/pay/charge.py", "src/pay/not/yet.py"):
        done = shop.call("rules", "list", place)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines() == [
            "name: Payments  (src/pay/pay.context.md)",
            "type: module  (src/pay/pay.context.md)",
            "business_goal: Never charge twice  (src/pay/pay.context.md)",
            "when a charge fails: retry once  (src/pay/pay.context.md:5)",
            (
                "rule 'database' injects guides/database if the expression holds: path matches '*.sql' "
                "or params.command contains 'alembic'  (src/pay/pay.context.md:7)"
            ),
            (
                "rule 'privacy' injects docs/privacy.md if the sentence holds: personal data of "
                "customers is involved  (src/pay/pay.context.md:11)"
            ),
            "from src/pay/pay.context.md  (distance 0)",
            "from AGENTS.md  (distance 1)",
        ]
    told = answer(shop, "list", "src/pay")
    assert told["name"] == {"value": "Payments", "path": "src/pay/pay.context.md"}
    assert told["intent_type"] is None
    assert [one["distance"] for one in told["chain"]] == [0, 1]
    assert answer(shop, "list", "guides/database.context.toml")["chain"][1]["path"] == (
        "guides/base.context.yaml"
    )


def test_where_no_context_counts_it_is_said(tree: Tree) -> None:
    done = tree.call("rules", "list")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "no context file applies here\n")
    assert tree.call("rules", "check").stdout == "0 contexts, 0 mistakes\n"


def test_a_file_with_mistakes_is_told_first_and_the_rest_holds(shop: Tree) -> None:
    shop.write("src/broken.context.yaml", "metadta: {}\n")
    done = shop.call("rules", "list", "src/pay")
    assert done.returncode == 0
    assert done.stderr.startswith("FAILED: src/broken.context.yaml:1: unknown key 'metadta'")
    assert "from src/pay/pay.context.md" in done.stdout


SITUATION = '{"path": "src/a.sql", "intent": "rename a column"}'


def test_test_tells_which_rules_apply_and_why(shop: Tree) -> None:
    done = shop.call("rules", "test", "src/pay", "--situation", SITUATION)
    assert done.returncode == 0
    assert done.stderr == (
        "FAILED: rule 'privacy': could not be judged, so on_error = skip decides: "
        "judge.provider is `none`\n"
    )
    assert done.stdout.splitlines() == [
        "+ rule 'database': the expression is true  (src/pay/pay.context.md:7)",
        (
            "- rule 'privacy': could not be judged, so on_error = skip decides: "
            "judge.provider is `none`  (src/pay/pay.context.md:11)"
        ),
        "3.500 src/pay/pay.context.md  (distance 0)",
        "2.000 AGENTS.md  (distance 1)",
        "1.000 guides/base.context.yaml  (database)",
        "1.000 guides/database.context.toml  (database)",
    ]


def test_a_situation_comes_from_the_line_standard_input_or_a_file(shop: Tree) -> None:
    shop.write("situation.json", SITUATION)
    told = answer(shop, "test", "src/pay", "--situation", SITUATION)
    assert list(told) == ["place", "rules", "contexts", "missing", "notes", "mistakes"]
    assert told["rules"][0]["applies"] is True
    assert told["rules"][1]["failed"] is True
    assert told["contexts"][0]["priority"] == 3.5
    assert answer(shop, "test", "src/pay", "--situation", "@situation.json") == told
    piped = shop.call("rules", "test", "src/pay", "--situation", "-", "--json", stdin=SITUATION)
    assert json.loads(piped.stdout) == told


def test_a_missing_reference_is_told_and_nothing_else_is_lost(shop: Tree) -> None:
    shop.remove("guides/database.context.toml")
    done = shop.call("rules", "test", "src/pay", "--situation", SITUATION)
    assert "MISSING: guides/database, which rule 'database' of src/pay" in done.stderr
    assert "+ rule 'database'" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("test", "--situation", "{"), "situation: not valid JSON"),
        (("test", "--situation", "[]"), "expected a JSON object, not list"),
        (("test", "--situation", "@nothing.json"), "nothing.json cannot be read"),
        (("test",), "Missing option '--situation'"),
        (("check", "nothing"), "does not exist"),
        (("check", "src", ".."), "is outside of"),
    ],
)
def test_a_callers_mistake_is_told(shop: Tree, arguments: tuple[str, ...], said: str) -> None:
    done = shop.call("rules", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_what_nobody_needs_is_not_read(shop: Tree) -> None:
    shop.write(
        "guides/base.context.yaml",
        "text: Ask.\ninjection_rules:\n  - {name: further, inject: [broken]}\n",
    )
    shop.write("guides/broken.context.yaml", "metadta: {}\n")
    told = answer(shop, "test", "src/pay", "--situation", SITUATION)
    assert told["mistakes"] == []
    assert [one["name"] for one in told["rules"]] == ["database", "privacy"]
    assert answer(shop, "check", code=1)["mistakes"][0]["path"] == "guides/base.context.yaml"


def test_what_is_ignored_is_no_context(shop: Tree) -> None:
    shop.write(".gitignore", "vendor/\n")
    shop.write("vendor/evil.context.yaml", "metadta: {}\n")
    assert shop.call("rules", "check").returncode == 0
    done = shop.call("rules", "check", "vendor/evil.context.yaml")
    assert done.returncode == 2
    assert "is ignored" in done.stderr
    assert answer(shop, "list", "vendor")["chain"][0]["path"] == "AGENTS.md"


def test_no_secret_and_nothing_outside_is_brought_in(shop: Tree) -> None:
    shop.write(".env", "TOKEN=1\n")
    outside = shop.root.parent / "outside.md"
    outside.write_text("secret")
    (shop.root / "way.md").symlink_to(outside)
    shop.write(
        "x.context.yaml",
        "injection_rules:\n  - {name: x, inject: [.env, way.md, .quire/store.db]}\n",
    )
    (shop.root / ".quire" / "store.db").write_text("x")
    told = answer(shop, "test", "--situation", "{}")
    assert [one["reference"] for one in told["missing"]] == [".env", "way.md", ".quire/store.db"]
    assert {one["path"] for one in told["contexts"]} == {"x.context.yaml", "AGENTS.md"}


def test_names_that_no_file_can_have_are_told_like_others(shop: Tree) -> None:
    long = "x" * 290
    shop.write("l.context.yaml", f"injection_rules:\n  - {{name: l, inject: [{long}]}}\n")
    shop.write("m.context.yaml", f"extends: {long}\n")
    (shop.root / os.fsdecode(b"\xff.context.yaml")).write_text("text: x\n")
    mistakes = answer(shop, "check", code=1)["mistakes"]
    assert [(one["path"], one["line"]) for one in mistakes] == [
        ("\\xff.context.yaml", 0),
        ("l.context.yaml", 2),
        ("m.context.yaml", 1),
    ]
    assert [one["path"] for one in answer(shop, "list")["mistakes"]] == [
        "\\xff.context.yaml",
        "m.context.yaml",
    ]


def test_a_folder_that_is_named_like_a_context_is_none(shop: Tree) -> None:
    shop.write("src/AGENTS.md/deep/x.context.yaml", "text: x\n")
    assert [one["path"] for one in answer(shop, "list", "src")["chain"]] == ["AGENTS.md"]


@pytest.mark.model
def test_half_a_sign_is_judged_and_shown_all_the_same(shop: Tree) -> None:
    shop.write("quire.toml", "")
    rule = '{name: "r\\ud800", condition: {says: "it \\ud800 rains"}, inject: [AGENTS.md]}'
    shop.write("s.context.yaml", f"injection_rules:\n  - {rule}\n")
    for more in ((), ("--json",)):
        done = shop.run("rules", "test", "--situation", r'{"intent": "umbrella \ud800"}', *more)
        assert done.returncode == 0, done.stderr
        assert "semantic" in done.stdout


def test_control_characters_do_not_reach_the_terminal(shop: Tree) -> None:
    shop.write("e.context.toml", 'text = "x"\n[metadata]\nname = "\\u001b[31mred"\n')
    assert "\x1b" not in shop.call("rules", "list").stdout


def test_a_language_model_is_asked_in_a_process_of_its_own(shop: Tree) -> None:
    def yes(question: dict[str, Any]) -> Reply:
        content = json.dumps({"verdicts": [{"number": 1, "applies": True}]})
        return Reply({"choices": [{"message": {"content": content}}]})

    with served(yes) as endpoint:
        shop.write(
            "quire.toml",
            f'[judge]\nprovider = "llm"\nurl = "{endpoint.url}"\nmodel = "m"\nkey_env = "{VARIABLE}"\n',
        )
        done = shop.run("rules", "test", "src/pay", "--situation", SITUATION, env=dict(os.environ))
    assert (done.returncode, done.stderr) == (0, "")
    assert "+ rule 'privacy': judged by m  (src/pay/pay.context.md:11)" in done.stdout
    assert "docs/privacy.md" in done.stdout
    assert len(endpoint.questions) == 1


@pytest.mark.model
def test_the_shipped_model_judges_by_default(shop: Tree) -> None:
    shop.write("quire.toml", "")
    intent = "export names and email addresses of all subscribers"
    told = answer(shop, "test", "src/pay", "--situation", json.dumps({"intent": intent}))
    assert [(one["name"], one["applies"]) for one in told["rules"]] == [
        ("database", False),
        ("privacy", True),
    ]
    assert told["rules"][1]["why"].startswith("judged semantic: 0.")
