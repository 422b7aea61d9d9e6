"""Hooks inject the right context, and never block an assistant.

They run as processes of their own, as assistants start them.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from quire.integrations.hooks import sessions
from quire.integrations.hooks.command import MAX_INPUT_BYTES
from quire.integrations.hooks.pages import CUT_NOTE, MAX_LENGTH
from tests.serving import VARIABLE, Reply, served

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

COMMAND = (sys.executable, "-m", "quire")
PATIENT = ("--timeout", "60")
"""For answers that must be complete, however busy the machine is."""
SLACK = 20
"""Seconds on top of the deadline: a busy machine is slow to start a process."""
FILES = {
    "docs/crash.md": "# Crashes\n\nAfter a crash the journal is replayed.\n",
    "secret/plan.md": "# Plan\n\nThe merger with Heron is set for May.\n",
    "src/ledger.py": "def total(cents):\n    return sum(cents)\n",
    "src/ledger.context.md": "---\nmetadata: {name: Ledger}\nbehavior_rules:\n"
    "  - {trigger: a sum changes, action: add a test}\n---\nAmounts are whole cents.\n",
    "AGENTS.md": "# Agents\n\nRun make check.\n",
    "CLAUDE.md": "# Claude\n\nBe brief.\n",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A project with rules, memories and experiences, which no test changes."""
    from tests.conftest import Tree

    tree = Tree(tmp_path_factory.mktemp("hooks") / "project")
    tree.fill(FILES)
    tree.index()
    with tree.open() as quire:
        quire.access.set_rules([_rule("secret/**", "owner"), _rule("**/memory/**", "public")])
        quire.memories.add(
            "The staging host is named heron.", at=1, importance=0.9, share=["public"]
        )
        quire.memories.add("Lunch is at noon.", at=2, importance=0.1)
        quire.memories.add(
            "The vault's code is in the safe.", at=3, importance=1.0, share=["owner"]
        )
        for domain, cause in (("debugging", "A stale cache"), ("data", "The schema was older")):
            started = quire.experiences.start(
                f"Make the tests of {domain} pass",
                at=4,
                domain=domain,
                hypothesis="It is the import",
            )
            quire.experiences.resolve(
                started.value.id,
                "falsified",
                at=5,
                result="It was not",
                root_cause=cause,
                lesson="Look",
            )
    return tree


def _rule(glob: str, *principals: str) -> Any:
    from quire import AccessRule

    return AccessRule(glob, principals)


def run_hook(
    tree: Tree, event: str, payload: Any, *options: str, env: Any = None
) -> dict[str, Any]:
    """Run a hook; it must end with 0 and one JSON object, and nothing else."""
    return parse_answer(run(tree, event, payload, *options, env=env))


def run(
    tree: Tree, event: str, payload: Any, *options: str, env: Any = None
) -> subprocess.CompletedProcess[str]:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return tree.run("hook", event, *options, stdin=data, command=COMMAND, env=env)


def parse_answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def page(answer: dict[str, Any]) -> str:
    text = answer["hookSpecificOutput"]["additionalContext"]
    assert isinstance(text, str)
    return text


_SESSIONS = count()


def claude_payload(tree: Tree, event: str, **more: Any) -> dict[str, Any]:
    """What Claude Code says."""
    return {
        "session_id": f"00893aaf-19fa-41d2-8238-{next(_SESSIONS):012}",
        "transcript_path": "/home/ann/.claude/projects/p/00893aaf.jsonl",
        "cwd": str(tree.root),
        "permission_mode": "default",
        "hook_event_name": event,
        **more,
    }


def failed_command(tree: Tree, **more: Any) -> dict[str, Any]:
    payload = {
        "tool_name": "Bash",
        "tool_input": {"command": "npm test", "description": "Run test suite"},
        "tool_use_id": "toolu_01ABC123",
        "error": "Command exited with non-zero status code 1",
        "is_interrupt": False,
    }
    return claude_payload(tree, "PostToolUseFailure", **{**payload, **more})


# --- what is injected --------------------------------------------------------------------------------


def test_session_start(filled: Tree) -> None:
    payload = claude_payload(filled, "SessionStart", source="startup", cwd=str(filled.root / "src"))
    text = page(run_hook(filled, "session-start", payload, *PATIENT))
    assert "Amounts are whole cents." in text
    assert "a sum changes: add a test" in text
    assert "Run make check." in text
    assert "Be brief." not in text, "Claude Code reads CLAUDE.md itself"
    vault, heron, lunch = (text.index(word) for word in ("vault", "heron", "Lunch"))
    assert vault < heron < lunch, "the most important first"


def test_session_start_elsewhere_and_as_someone_else(filled: Tree) -> None:
    payload = {
        "conversation_id": "c",
        "workspace_roots": [str(filled.root)],
        "is_background_agent": False,
    }
    options = ("--client", "cursor", "--viewer", "bob", *PATIENT)
    text = run_hook(filled, "session-start", payload, *options)["additional_context"]
    assert "Amounts are whole cents." not in text, "that holds below src"
    assert "Be brief." in text
    assert "Run make check." not in text, "Cursor reads AGENTS.md itself"
    assert "heron" in text
    assert "vault" not in text


def test_prompt(filled: Tree) -> None:
    payload = claude_payload(
        filled, "UserPromptSubmit", prompt="what is the merger with Heron, the staging host"
    )
    answer = run_hook(filled, "prompt", payload, *PATIENT)
    assert answer["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "The staging host is named heron." in page(answer)


def test_prompt_that_nothing_is_known_of(filled: Tree) -> None:
    done = run(
        filled, "prompt", claude_payload(filled, "UserPromptSubmit", prompt="zzz qqq"), *PATIENT
    )
    assert parse_answer(done) == {}
    assert done.stderr == ""


def test_prompt_that_asks_for_nothing(filled: Tree) -> None:
    """The store has a note that says `run make check`, which is not what is meant."""
    for prompt in ("ok do it and run the check again", "thanks, looks good. commit it"):
        payload = claude_payload(filled, "UserPromptSubmit", prompt=prompt)
        assert run_hook(filled, "prompt", payload, *PATIENT) == {}


def test_prompt_of_hardly_a_word_names_something(filled: Tree) -> None:
    told = {
        "ignore the journal": False,  # a word of the page alone
        "rename the ledger": True,  # a file
        "change the staging host": True,  # what is remembered
    }
    for prompt, is_told in told.items():
        payload = claude_payload(filled, "UserPromptSubmit", prompt=prompt)
        assert bool(run_hook(filled, "prompt", payload, *PATIENT)) is is_told, prompt


def test_a_session_is_told_the_same_once(plant: Forest) -> None:
    tree = plant("told", FILES)
    tree.index()
    ask = claude_payload(tree, "UserPromptSubmit", prompt="when is the journal replayed?")
    first = run_hook(tree, "prompt", ask, *PATIENT)
    assert "journal" in page(first)
    assert run_hook(tree, "prompt", ask, *PATIENT) == {}
    other = claude_payload(tree, "UserPromptSubmit", prompt="when is the journal replayed?")
    assert run_hook(tree, "prompt", other, *PATIENT) == first, "another session was not told"
    start = {**ask, "hook_event_name": "SessionStart", "source": "compact"}
    run_hook(tree, "session-start", start, *PATIENT)
    assert run_hook(tree, "prompt", ask, *PATIENT) == first, "the assistant has forgotten it"
    name, text = next((name, text) for name, text in FILES.items() if "journal" in str(text))
    tree.write(name, f"{text}\n\nThe journal is replayed twice.\n")
    assert "replayed twice" in page(run_hook(tree, "prompt", ask, *PATIENT)), "it says more now"
    folder = tree.root / sessions.FOLDER
    assert all(set(file.read_bytes()) <= set(b"0123456789abcdef\n") for file in folder.iterdir())


def test_huge_prompt(filled: Tree) -> None:
    """A pasted megabyte with the question at its end."""
    pasted = "lorem ipsum dolor\n" * 60_000 + "so how is the staging host named?"
    payload = claude_payload(filled, "UserPromptSubmit", prompt=pasted)
    assert "heron" in page(run_hook(filled, "prompt", payload, *PATIENT))


def test_much_is_cut(plant: Forest) -> None:
    tree = plant("much", {"quire.toml": '[embed]\nprovider = "none"\n'})
    with tree.open() as quire:
        for number in range(25):
            quire.memories.add(f"{number:02} " + "😀" * 400, at=number + 1, importance=0.5)
    text = page(run_hook(tree, "session-start", claude_payload(tree, "SessionStart"), *PATIENT))
    assert MAX_LENGTH - 700 < len(text.encode("utf-16-le")) // 2 <= MAX_LENGTH
    assert text.endswith(f"… (fact){CUT_NOTE}"), "cut between two memories"


def test_the_first_failure_of_a_session(plant: Forest, filled: Tree) -> None:
    first = run_hook(filled, "post-tool", failed_command(filled, session_id="one"), *PATIENT)
    assert first["hookSpecificOutput"]["hookEventName"] == "PostToolUseFailure"
    assert "# Premortem: debugging" in page(first)
    assert "A stale cache" in page(first)
    assert run_hook(filled, "post-tool", failed_command(filled, session_id="one"), *PATIENT) == {}
    passed = {"tool_response": {"stdout": "2 passed in 0.1s"}, "tool_input": {"command": "pytest"}}
    payload = claude_payload(filled, "PostToolUse", session_id="two", **passed)
    assert run_hook(filled, "post-tool", payload, *PATIENT) == {}
    piped = {"stdout": "no such table: users\n==== 1 failed in 0.1s ====", "stderr": ""}
    more = {"tool_response": piped, "tool_input": {"command": "pytest 2>&1 | tail -3"}}
    payload = claude_payload(filled, "PostToolUse", session_id="two", **more)
    second = run_hook(filled, "post-tool", payload, *PATIENT)
    assert second["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
    assert "The schema was older" in page(second)


def test_a_domain_without_experience_falls_back_to_debugging(filled: Tree) -> None:
    payload = failed_command(
        filled, session_id="ssl", error="ssl.SSLError: certificate verify failed"
    )
    assert "# Premortem: debugging" in page(run_hook(filled, "post-tool", payload, *PATIENT))


def test_at_the_same_time_one_is_the_first(filled: Tree) -> None:
    started = [
        subprocess.Popen(
            [*COMMAND, "hook", "post-tool", *PATIENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=filled.root,
        )
        for _ in range(3)
    ]
    payload = json.dumps(failed_command(filled, session_id="together")).encode()
    for process in started:
        assert process.stdin is not None
        process.stdin.write(payload)
        process.stdin.close()
    answers = []
    for process in started:
        assert process.stdout is not None
        answers.append(process.stdout.read().strip())
        process.stdout.close()
        assert process.wait(60) == 0
    assert sorted(answer == b"{}" for answer in answers) == [False, True, True]


def test_sessions_are_forgotten(tmp_path: Path) -> None:
    for number in range(sessions.MAX_SESSIONS + 10):
        assert sessions.mark_first_failure(tmp_path, str(number))
        file = max((tmp_path / sessions.FOLDER).iterdir(), key=lambda file: file.stat().st_mtime_ns)
        os.utime(file, (number, number))
    assert len(list((tmp_path / sessions.FOLDER).iterdir())) == sessions.MAX_SESSIONS
    assert not sessions.mark_first_failure(tmp_path, str(sessions.MAX_SESSIONS + 9))
    assert sessions.mark_first_failure(tmp_path, "0")


def test_nothing_of_a_prompt_or_command_is_kept(plant: Forest) -> None:
    tree = plant("quiet", FILES)
    tree.index()
    before = tree.content_root()
    secret = "the-very-secret-word"
    run_hook(
        tree,
        "prompt",
        claude_payload(tree, "UserPromptSubmit", prompt=f"journal {secret}"),
        *PATIENT,
    )
    payload = failed_command(tree, session_id=secret, tool_input={"command": f"make {secret}"})
    run_hook(tree, "post-tool", payload, *PATIENT)
    assert tree.content_root() == before
    files = [path for path in tree.root.rglob("*") if path.is_file()]
    assert any(path.parent.name == "hooks" for path in files)
    for path in files:
        assert secret.encode() not in path.read_bytes()
        assert secret not in path.name


@pytest.mark.parametrize(
    ("client", "payload"),
    [
        (
            "codex",
            {"tool_name": "Bash", "tool_response": "test result: FAILED. 0 passed; 1 failed"},
        ),
        ("cursor", {"tool_name": "Shell", "tool_output": '{"exitCode":101,"stdout":""}'}),
        ("vscode", {"tool_name": "runInTerminal", "tool_response": "error: could not compile"}),
    ],
)
def test_other_clients(filled: Tree, client: str, payload: dict[str, Any]) -> None:
    names = {"codex": "session_id", "cursor": "conversation_id", "vscode": "sessionId"}
    event = "postToolUse" if client == "cursor" else "PostToolUse"
    key = "hookEventName" if client == "vscode" else "hook_event_name"
    payload = {
        **payload,
        names[client]: f"of {client}",
        key: event,
        "cwd": str(filled.root),
        "tool_input": {"command": "cargo test"},
    }
    answer = run_hook(filled, "post-tool", payload, "--client", client, *PATIENT)
    text = answer["additional_context"] if client == "cursor" else page(answer)
    assert "# Premortem: debugging" in text


# --- files that the assistant wrote --------------------------------------------------------------


def edit(tree: Tree, *names: str, **more: Any) -> dict[str, Any]:
    payload = {"tool_name": "editFiles", "tool_input": {"files": [*names]}, **more}
    return claude_payload(tree, "PostToolUse", **payload)


def test_a_file_that_the_assistant_wrote_is_read_again(plant: Forest) -> None:
    tree = plant()
    tree.fill(FILES)
    tree.index()
    tree.write("docs/new.md", "# New\n\nThe heron nests here.\n")
    tree.write("docs/crash.md", "# Crashes\n\nAfter a crash nothing is replayed.\n")
    tree.remove("AGENTS.md")
    (tree.root.parent / "outside.md").write_text("# Outside\n\nNot of this project.\n")
    names = ["docs/new.md", str(tree.root / "docs/crash.md"), "AGENTS.md", "../outside.md"]
    done = run(tree, "post-tool", edit(tree, *names), *PATIENT)
    assert (parse_answer(done), done.stderr) == ({}, "")
    texts = tree.texts()
    assert "heron nests" in texts["docs/new.md"]
    assert "nothing is replayed" in texts["docs/crash.md"]
    assert "AGENTS.md" not in texts
    assert not any("Not of this project" in text for text in texts.values())


def test_edits_are_not_read_for_a_viewer_nor_without_a_store(plant: Forest) -> None:
    tree = plant()
    tree.fill(FILES)
    done = run(tree, "post-tool", edit(tree, "docs/crash.md"), *PATIENT)
    assert (parse_answer(done), done.stderr) == ({}, "")
    assert not tree.store.exists()
    tree.index()
    tree.write("docs/crash.md", "# Crashes\n\nAfter a crash nothing is replayed.\n")
    run_hook(tree, "post-tool", edit(tree, "docs/crash.md"), "--viewer", "bob", *PATIENT)
    assert "the journal is replayed" in tree.texts()["docs/crash.md"]


# --- what never happens --------------------------------------------------------------------------


@pytest.fixture
def clock() -> Iterator[list[float]]:
    """Seconds that a hook may take, deadline and all."""
    limit = [2.0]
    start = time.monotonic()
    yield limit
    assert time.monotonic() - start < limit[0] + SLACK


def check_silent(done: subprocess.CompletedProcess[str], reason: str) -> None:
    assert parse_answer(done) == {}
    assert done.stderr.count("\n") == 1
    assert re.match(f"quire hook: .*{reason}", done.stderr), done.stderr


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "standard input is not JSON"),
        (b'{"prompt": "x', "standard input is not JSON"),
        (b"\xff\xfe", "standard input is not JSON"),
        (b"[1]", "not an object"),
        (b"{}" + b" " * MAX_INPUT_BYTES, "more than"),
    ],
)
def test_bad_input(filled: Tree, payload: bytes, reason: str) -> None:
    check_silent(run(filled, "prompt", payload), reason)


@pytest.mark.usefixtures("clock")
def test_no_store(plant: Forest) -> None:
    tree = plant("empty")
    check_silent(
        run(tree, "prompt", claude_payload(tree, "UserPromptSubmit", prompt="the journal")),
        "no store at",
    )
    check_silent(run(tree, "post-tool", failed_command(tree)), "no store at")
    assert list((tree.root / ".quire").iterdir()) == [], "nothing is left where nothing is used"


@pytest.mark.usefixtures("clock")
def test_no_such_folder(tree: Tree) -> None:
    payload = claude_payload(tree, "SessionStart", cwd=str(tree.root / "gone"))
    check_silent(run(tree, "session-start", payload), "no store at")


@pytest.mark.usefixtures("clock")
def test_a_broken_store(tree: Tree) -> None:
    tree.store.write_bytes(b"no database at all" * 100)
    done = run(
        tree,
        "prompt",
        claude_payload(tree, "UserPromptSubmit", prompt="the journal"),
        "--timeout",
        "9",
    )
    check_silent(done, "not a Quire store")


@pytest.mark.usefixtures("clock")
def test_a_locked_store(plant: Forest) -> None:
    tree = plant("locked", FILES)
    tree.index()
    with sqlite3.connect(tree.store, isolation_level=None) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        payload = claude_payload(tree, "UserPromptSubmit", prompt="what is replayed")
        check_silent(run(tree, "prompt", payload, "--timeout", "1"), "")
        other.execute("ROLLBACK")
    other.close()


@pytest.mark.usefixtures("clock")
def test_a_hanging_endpoint(plant: Forest) -> None:
    tree = plant("hanging", FILES)
    vector = [1.0] + [0.0] * 31

    def usual(question: dict[str, Any]) -> Reply:
        data = [{"index": at, "embedding": vector} for at, _ in enumerate(question["input"])]
        return Reply({"data": data})

    with served(usual) as endpoint:
        tree.write(
            "quire.toml",
            f'[embed]\nprovider = "http"\nurl = "{endpoint.url}"\nmodel = "m"\n'
            f'key_env = "{VARIABLE}"\nretries = 0\n',
        )
        tree.trust()
        tree.index(embed=True)
        endpoint.usual = Reply({}, held=True)
        payload = claude_payload(
            tree, "UserPromptSubmit", prompt="total of the cents in the ledger"
        )
        done = run(tree, "prompt", payload, "--embed", "--timeout", "3")
        check_silent(done, "no answer within 3 seconds")
        count = len(endpoint.questions)
        assert "total" in page(run_hook(tree, "prompt", payload, *PATIENT))
        assert len(endpoint.questions) == count, "by words alone nobody is asked"


@pytest.mark.usefixtures("clock")
def test_input_that_never_ends(filled: Tree) -> None:
    with subprocess.Popen(
        [*COMMAND, "hook", "prompt", "--timeout", "0.5"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=filled.root,
    ) as process:
        assert process.wait(SLACK) == 0
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() == b"{}\n"
        assert process.stderr.read() == b"quire hook: no answer within 0.5 seconds\n"


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("way", ["fast", "whole"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        (),
        ("prompt", "--timeout", "soon"),
        ("prompt", "--client", "zed"),
        ("prompt", "-x"),
    ],
)
def test_wrong_options(filled: Tree, arguments: tuple[str, ...], way: str) -> None:
    """An assistant takes 2 for a refusal: what is typed wrongly must not end with it."""
    if way == "fast":
        check_silent(filled.run("hook", *arguments, command=COMMAND), "")
    else:
        check_silent(filled.call("hook", *arguments), "")


def test_an_event_without_a_place_for_a_context(filled: Tree) -> None:
    payload = {"conversation_id": "c", "prompt": "staging host"}
    done = run(filled, "prompt", payload, "--client", "cursor")
    check_silent(done, "Cursor takes no context at prompt")


def test_a_failure_without_a_session(filled: Tree) -> None:
    check_silent(
        run(filled, "post-tool", failed_command(filled, session_id=None)), "sent no session"
    )


def test_broken_settings(plant: Forest) -> None:
    tree = plant("settings", {"quire.toml": "[embed\n"})
    done = run(
        tree, "prompt", claude_payload(tree, "UserPromptSubmit", prompt="the journal"), *PATIENT
    )
    check_silent(done, r".*quire\.toml")


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ("post-tool", {"tool_input": {"command": "ls"}, "tool_response": {"stdout": ""}}),
        ("prompt", {"prompt": "yes, go ahead and run the tests"}),
    ],
)
def test_most_events_are_passed_over_without_the_engine(
    filled: Tree, event: str, more: dict[str, Any]
) -> None:
    """After most tools, and for talk, nothing is looked up: that must cost next to nothing."""
    code = (
        f"import sys; sys.argv = ['quire', 'hook', '{event}']\n"
        "import os; os._exit = lambda code: (print(sorted(sys.modules), file=sys.stderr), sys.exit(code))\n"
        "from quire.cli.start import main; main()"
    )
    payload = claude_payload(filled, "PostToolUse", **more)
    done = filled.run("-c", code, command=(sys.executable,), stdin=json.dumps(payload))
    assert done.stdout == "{}\n"
    for heavy in ("numpy", "apsw", "quire.engine", "quire.core.types", "rich", "asyncio"):
        assert f"'{heavy}'" not in done.stderr
