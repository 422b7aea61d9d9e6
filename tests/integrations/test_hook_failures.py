"""Failing tests and builds are recognized, and so is their domain."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.integrations.hooks import failures
from quire.memory.vocabulary import DOMAINS

# Command, output, and the tool that failed.
PRINTED = [
    ("pytest -q", "F.\n1 failed, 1 passed in 0.12s", "pytest"),
    (
        "cd api && python3.12 -m pytest tests -x 2>&1 | tail -20",
        "==== 2 failed in 3.1s ====",
        "pytest",
    ),
    ("uv run pytest", "FAILED tests/test_a.py::test_b - assert 1 == 2", "pytest"),
    ("PYTHONPATH=src .venv/bin/pytest || true", "==== 1 error in 0.05s ====", "pytest"),
    ("python -m unittest", "Ran 3 tests in 0.001s\n\nFAILED (failures=1)", "unittest"),
    ("python -W error -m unittest discover", "FAILED (errors=2)", "unittest"),
    ("npm test", "npm ERR! Test failed.  See above for more details.", "npm, yarn, pnpm, bun"),
    ("npm run test:unit -- --watch=false", "npm error code 1", "npm, yarn, pnpm, bun"),
    ("pnpm -r test", " ELIFECYCLE  Test failed.", "npm, yarn, pnpm, bun"),
    ("yarn build", "error Command failed with exit code 2.", "npm, yarn, pnpm, bun"),
    ("npx jest src", "Tests:       1 failed, 4 passed, 5 total", "jest"),
    ("npx vitest run", " Test Files  1 failed (3)\n      Tests  1 failed | 5 passed", "vitest"),
    ("npx tsc --noEmit", "src/a.ts(3,5): error TS2322: Type 'x'", "tsc"),
    ("go test ./...", "--- FAIL: TestSum (0.00s)\nFAIL\tmod/sum\t0.01s", "go"),
    ("go build ./cmd/x", "cmd/x/main.go:12:2: undefined: foo", "go"),
    ("cargo test --all", "test result: FAILED. 3 passed; 1 failed;", "cargo"),
    ("cargo build 2>&1 | head", "error[E0308]: mismatched types", "cargo"),
    ("make -j4 check", "make: *** [Makefile:12: check] Error 1", "make, ninja, just"),
    ("ctest --output-on-failure", "50% tests passed, 1 tests failed out of 2", "ctest"),
    ("./mvnw -q verify", "[ERROR] Failures:\nBUILD FAILURE", "maven"),
    ("./gradlew test", "> Task :test FAILED\nBUILD FAILED in 3s", "gradle"),
    ("dotnet test", "Failed!  - Failed:     1, Passed:     3", "dotnet"),
    ("bundle exec rspec", "3 examples, 1 failure", "rspec, rake, rails"),
    ("vendor/bin/phpunit", "FAILURES!\nTests: 3, Assertions: 3, Failures: 1.", "phpunit, pest"),
    ("mix test", "3 tests, 1 failure", "mix"),
    ("npm -w packages/a run build", "npm error code 2", "npm, yarn, pnpm, bun"),
    ("timeout -k 5 60 cargo +nightly test", "error: test failed", "cargo"),
    ("coverage run -m pytest -q", "1 failed in 0.1s", "pytest"),
    (
        "(cd web; yarn workspace app test)",
        "error Command failed with exit code 1.",
        "npm, yarn, pnpm, bun",
    ),
    ("swift test", "a.swift:1:1: error: cannot find 'x' in scope", "swift"),
]
PASSED = [
    ("pytest -q", "2 passed in 0.12s"),
    ("npm test", "Tests:       5 passed, 5 total"),
    ("go test ./...", "ok  \tmod/sum\t0.01s"),
    ("cargo test", "test result: ok. 3 passed; 0 failed; 0 ignored"),
    ("ctest", "100% tests passed, 0 tests failed out of 2"),
    ("make", "cc -c a.c"),
    ("./mvnw verify", "Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\nBUILD SUCCESS"),
    ("dotnet test", "Passed!  - Failed:     0, Passed:     3"),
    ("bundle exec rspec", "3 examples, 0 failures"),
]
OTHERS = [
    "ls -la",
    "git commit -m 'make the pytest run'",
    "grep -rn pytest .",
    "cat make.log",
    "echo go test",
    "pip install pytest",
    "npm install",
    "makefile-lint",
    "vim tests/pytest.ini",
    "npx playwright install",
    "swift package update",
    "python manage.py test",
    "coverage run",
    "timeout",
    "npm run",
    "go",
    "",
]


@pytest.mark.parametrize(("command", "output", "tool"), PRINTED)
def test_by_what_it_prints(command: str, output: str, tool: str) -> None:
    assert failures.failed_tool(command, output, exit_code=None, reported=False) == tool
    assert failures.failed_tool(command, output, exit_code=0, reported=False) == tool, (
        "a pipe loses the code"
    )


@pytest.mark.parametrize(("command", "output", "tool"), PRINTED)
def test_by_its_code_and_by_what_the_client_says(command: str, output: str, tool: str) -> None:
    assert failures.failed_tool(command, "", exit_code=1, reported=False) == tool
    assert failures.failed_tool(command, "", exit_code=None, reported=True) == tool
    assert (
        failures.failed_tool(command, output, exit_code=130, reported=True, interrupted=True)
        is None
    )


@pytest.mark.parametrize(("command", "output"), PASSED)
def test_what_passed_did_not_fail(command: str, output: str) -> None:
    assert failures.find_tools(command)
    assert failures.failed_tool(command, output, exit_code=None, reported=False) is None


@pytest.mark.parametrize("command", OTHERS)
def test_other_commands_may_fail(command: str) -> None:
    assert failures.failed_tool(command, "1 failed in 0.1s", exit_code=1, reported=True) is None


@pytest.mark.parametrize(
    ("output", "domain"),
    [
        ("assert 1 == 2", "debugging"),
        ("", "debugging"),
        ("E  fixture 'client' not found in conftest.py", "testing"),
        ("sqlite3.OperationalError: no such table: users (run migrations)", "data"),
        ("KeyError: 'DATABASE_URL'\nenvironment variable is not set, see config.py", "configuration"),
        ("ssl.SSLError: certificate verify failed", "security"),
        ("ModuleNotFoundError: No module named 'requests'", "integration"),
        ("Timeout: test exceeded 30s", "performance"),
        ("docker: image pull failed; deployment aborted", "deployment"),
        ("a mocked database: the first of both", "data"),
    ],
)  # fmt: skip
def test_what_it_is_about(output: str, domain: str) -> None:
    assert failures.guess_domain("pytest", output) == domain


def test_there_are_such_domains() -> None:
    assert {*failures.DOMAINS, failures.DEFAULT_DOMAIN} <= set(DOMAINS)


@given(
    command=st.text("ab=/-. \n&|;'\"pytesgo", max_size=200),
    output=st.text("=F 1failed\n.:x", max_size=400),
)
def test_anything_is_judged(command: str, output: str) -> None:
    failures.failed_tool(command, output, exit_code=None, reported=False)
    assert failures.guess_domain(command, output) in {*failures.DOMAINS, failures.DEFAULT_DOMAIN}


@pytest.mark.parametrize(
    "piece",
    ["= ", "1 failed ", "a=b ", "time ", "python -m ", "uv run ", "timeout -k 1 ", "../", "x\n"],
)
def test_nothing_takes_long(piece: str) -> None:
    many = piece * (1_000_000 // len(piece))
    start = time.process_time()
    for command in (many, f"pytest {many}"):
        failures.failed_tool(command, many, exit_code=None, reported=False)
        failures.guess_domain(command, many)
    assert time.process_time() - start < 2
