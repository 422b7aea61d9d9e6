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


def run_json(tree: Tree, *arguments: str, code: int = 0, **more: Any) -> Any:
    result = tree.call("rules", *arguments, "--json", **more)
    assert result.returncode == code, result.stderr
    assert result.stderr == "", "with --json everything is in the JSON"
    return json.loads(result.stdout)


def test_check_shows_how_each_condition_is_classified(shop: Tree) -> None:
    result = shop.call("rules", "check")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
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
    data = run_json(shop, "check")
    assert list(data) == ["contexts", "mistakes"]
    assert [item["path"] for item in data["contexts"]] == [
        "AGENTS.md",
        "guides/base.context.yaml",
        "guides/database.context.toml",
        "src/pay/pay.context.md",
    ]
    assert data["contexts"][3]["rules"][0]["condition"]["kind"] == "expression"
    assert [item["path"] for item in run_json(shop, "check", "guides")["contexts"]] == [
        "guides/base.context.yaml",
        "guides/database.context.toml",
    ]


def test_check_reports_every_mistake_of_every_file(shop: Tree) -> None:
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
    result = shop.call("rules", "check")
    assert result.returncode == 1
    assert result.stdout.splitlines()[:7] == [
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
    data = run_json(shop, "check", code=1)
    assert len(data["mistakes"]) == 7
    assert list(data["mistakes"][0]) == ["path", "line", "reason"]
    assert run_json(shop, "check", "src")["mistakes"] == []


def test_list_shows_where_each_part_comes_from(shop: Tree) -> None:
    for place in ("src/pay", "src/pay/charge.py", "src/pay/not/yet.py"):
        result = shop.call("rules", "list", place)
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.splitlines() == [
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
    data = run_json(shop, "list", "src/pay")
    assert data["name"] == {"value": "Payments", "path": "src/pay/pay.context.md"}
    assert data["intent_type"] is None
    assert [item["distance"] for item in data["chain"]] == [0, 1]
    assert run_json(shop, "list", "guides/database.context.toml")["chain"][1]["path"] == (
        "guides/base.context.yaml"
    )


def test_a_place_without_contexts_is_reported(tree: Tree) -> None:
    result = tree.call("rules", "list")
    assert (result.returncode, result.stdout, result.stderr) == (
        0,
        "",
        "no context file applies here\n",
    )
    assert tree.call("rules", "check").stdout == "0 contexts, 0 mistakes\n"


def test_a_file_with_mistakes_is_reported_first_and_the_rest_applies(shop: Tree) -> None:
    shop.write("src/broken.context.yaml", "metadta: {}\n")
    result = shop.call("rules", "list", "src/pay")
    assert result.returncode == 0
    assert result.stderr.startswith("FAILED: src/broken.context.yaml:1: unknown key 'metadta'")
    assert "from src/pay/pay.context.md" in result.stdout


SITUATION = '{"path": "src/a.sql", "intent": "rename a column"}'


def test_test_shows_which_rules_apply_and_why(shop: Tree) -> None:
    result = shop.call("rules", "test", "src/pay", "--situation", SITUATION)
    assert result.returncode == 0
    assert result.stderr == (
        "FAILED: rule 'privacy': could not be judged, so on_error = skip decides: "
        "judge.provider is `none`\n"
    )
    assert result.stdout.splitlines() == [
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
    data = run_json(shop, "test", "src/pay", "--situation", SITUATION)
    assert list(data) == ["place", "rules", "contexts", "missing", "notes", "mistakes"]
    assert data["rules"][0]["applies"] is True
    assert data["rules"][1]["failed"] is True
    assert data["contexts"][0]["priority"] == 3.5
    assert run_json(shop, "test", "src/pay", "--situation", "@situation.json") == data
    piped = shop.call("rules", "test", "src/pay", "--situation", "-", "--json", stdin=SITUATION)
    assert json.loads(piped.stdout) == data


def test_a_missing_reference_is_reported_and_nothing_else_is_lost(shop: Tree) -> None:
    shop.remove("guides/database.context.toml")
    result = shop.call("rules", "test", "src/pay", "--situation", SITUATION)
    assert "MISSING: guides/database, which rule 'database' of src/pay" in result.stderr
    assert "+ rule 'database'" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("test", "--situation", "{"), "situation: not valid JSON"),
        (("test", "--situation", "[]"), "expected a JSON object, not list"),
        (("test", "--situation", "@nothing.json"), "nothing.json cannot be read"),
        (("test",), "Missing option '--situation'"),
        (("check", "nothing"), "does not exist"),
        (("check", "src", ".."), "is outside of"),
    ],
)
def test_a_wrong_argument_is_reported(shop: Tree, arguments: tuple[str, ...], message: str) -> None:
    result = shop.call("rules", *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_files_that_no_rule_needs_are_not_read(shop: Tree) -> None:
    shop.write(
        "guides/base.context.yaml",
        "text: Ask.\ninjection_rules:\n  - {name: further, inject: [broken]}\n",
    )
    shop.write("guides/broken.context.yaml", "metadta: {}\n")
    data = run_json(shop, "test", "src/pay", "--situation", SITUATION)
    assert data["mistakes"] == []
    assert [item["name"] for item in data["rules"]] == ["database", "privacy"]
    assert run_json(shop, "check", code=1)["mistakes"][0]["path"] == "guides/base.context.yaml"


def test_an_ignored_file_is_not_a_context(shop: Tree) -> None:
    shop.write(".gitignore", "vendor/\n")
    shop.write("vendor/evil.context.yaml", "metadta: {}\n")
    assert shop.call("rules", "check").returncode == 0
    result = shop.call("rules", "check", "vendor/evil.context.yaml")
    assert result.returncode == 2
    assert "is ignored" in result.stderr
    assert run_json(shop, "list", "vendor")["chain"][0]["path"] == "AGENTS.md"


def test_secrets_and_files_outside_are_not_injected(shop: Tree) -> None:
    shop.write(".env", "TOKEN=1\n")
    outside = shop.root.parent / "outside.md"
    outside.write_text("secret")
    (shop.root / "way.md").symlink_to(outside)
    shop.write(
        "x.context.yaml",
        "injection_rules:\n  - {name: x, inject: [.env, way.md, .quire/store.db]}\n",
    )
    (shop.root / ".quire" / "store.db").write_text("x")
    data = run_json(shop, "test", "--situation", "{}")
    assert [item["reference"] for item in data["missing"]] == [".env", "way.md", ".quire/store.db"]
    assert {item["path"] for item in data["contexts"]} == {"x.context.yaml", "AGENTS.md"}


def test_impossible_file_names_are_reported_like_others(shop: Tree) -> None:
    long = "x" * 290
    shop.write("l.context.yaml", f"injection_rules:\n  - {{name: l, inject: [{long}]}}\n")
    shop.write("m.context.yaml", f"extends: {long}\n")
    (shop.root / os.fsdecode(b"\xff.context.yaml")).write_text("text: x\n")
    mistakes = run_json(shop, "check", code=1)["mistakes"]
    assert [(item["path"], item["line"]) for item in mistakes] == [
        ("\\xff.context.yaml", 0),
        ("l.context.yaml", 2),
        ("m.context.yaml", 1),
    ]
    assert [item["path"] for item in run_json(shop, "list")["mistakes"]] == [
        "\\xff.context.yaml",
        "m.context.yaml",
    ]


def test_a_folder_named_like_a_context_is_not_one(shop: Tree) -> None:
    shop.write("src/AGENTS.md/deep/x.context.yaml", "text: x\n")
    assert [item["path"] for item in run_json(shop, "list", "src")["chain"]] == ["AGENTS.md"]


@pytest.mark.model
def test_a_lone_surrogate_is_judged_and_shown(shop: Tree) -> None:
    shop.write("quire.toml", "")
    rule = '{name: "r\\ud800", condition: {says: "it \\ud800 rains"}, inject: [AGENTS.md]}'
    shop.write("s.context.yaml", f"injection_rules:\n  - {rule}\n")
    for more in ((), ("--json",)):
        result = shop.run("rules", "test", "--situation", r'{"intent": "umbrella \ud800"}', *more)
        assert result.returncode == 0, result.stderr
        assert "semantic" in result.stdout


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
        shop.trust()
        result = shop.run(
            "rules", "test", "src/pay", "--situation", SITUATION, env=dict(os.environ)
        )
    assert (result.returncode, result.stderr) == (0, "")
    assert "+ rule 'privacy': judged by m  (src/pay/pay.context.md:11)" in result.stdout
    assert "docs/privacy.md" in result.stdout
    assert len(endpoint.questions) == 1


@pytest.mark.model
def test_the_shipped_model_judges_by_default(shop: Tree) -> None:
    shop.write("quire.toml", "")
    intent = "export names and email addresses of all customers"
    data = run_json(shop, "test", "src/pay", "--situation", json.dumps({"intent": intent}))
    assert [(item["name"], item["applies"]) for item in data["rules"]] == [
        ("database", False),
        ("privacy", True),
    ]
    assert data["rules"][1]["why"].startswith("judged semantic: 0.")
