"""Recognize a failed test or build, and guess its domain.

Tables and nothing else. A command runs a tool if one of its parts (between `&&`, `|`, `;`) begins
with the tool, whatever stands before it to run it (`uv run`, `npx`, `python -m`). It failed if its
exit code is not 0, if the client says so, or if it printed a line that this tool prints on failure:
an exit code is lost when output goes through a pipe. The domain is the one whose words occur most
often in the output; ties go to the first. Patterns are compiled when they are needed, because this
runs after every command of an assistant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

EXCERPT_LENGTH = 20_000
"""Characters of the output that are searched, at its start and at its end."""
MAX_COMMAND_LENGTH = 10_000
MAX_LINE_LENGTH = 400
DEFAULT_DOMAIN = "debugging"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that tests or builds."""

    name: str
    programs: str
    """The names of its programs, separated by blanks."""
    arguments: str
    """A pattern for the words that follow the program; empty: any words."""
    failure: str
    """A pattern for a line that it prints on failure."""


_SCRIPTS = r"(?:run |workspace \S+ )*(?:t|tst|test|build|check|typecheck|compile)(?:[:.]\S+)?( |$)"

TOOLS = (
    Tool(
        "pytest",
        "pytest py.test",
        "",
        r"^=+ .*\b\d+ (?:failed|errors?)\b.*=+$|^\d+ (?:failed|errors?)\b.* in [\d.]+s"
        r"|^(?:FAILED|ERROR) \S+",
    ),
    Tool("unittest", "unittest", "", r"^FAILED \((?:failures|errors)="),
    Tool("tox, nox", "tox nox", "", r"^[ \t]*\S+: FAIL\b|evaluation failed|^nox > .*failed"),
    Tool("mypy, pyright", "mypy dmypy pyright", "", r"^Found \d+ errors?\b|^[1-9]\d* errors?,"),
    Tool(
        "npm, yarn, pnpm, bun",
        "npm yarn pnpm bun",
        _SCRIPTS,
        r"^npm (?:ERR!|error)|ELIFECYCLE|^error Command failed|^error: script .* exited"
        r"|^Tests:?[ \t].*\b\d+ failed|Failed to compile|^✘|error TS\d+",
    ),
    Tool("jest", "jest react-scripts", "", r"^Tests:[ \t]+.*\b\d+ failed|^FAIL[ \t]+\S+"),
    Tool(
        "vitest",
        "vitest",
        "",
        r"Tests[ \t]+\d+ failed|Test Files[ \t]+\d+ failed|^[ \t]*FAIL[ \t]+\S+",
    ),
    Tool(
        "mocha, ava, playwright, cypress",
        "mocha ava playwright cypress deno",
        r"(?!install|open|codegen)",
        r"^[ \t]*[1-9]\d* (?:failing|failed)\b|^[ \t]*[1-9]\d* tests? failed|^# fail [1-9]"
        r"|^FAILED \|",
    ),
    Tool("tsc", "tsc vue-tsc tsgo", "", r"error TS\d+:"),
    Tool(
        "bundlers",
        "webpack vite rollup esbuild next turbo nx ng",
        r"(?!dev|serve|start|preview)",
        r"^ERROR in |error during build|Build failed|Failed to compile|^[ \t]*✘ \[ERROR\]",
    ),
    Tool(
        "go",
        "go",
        r"(?:test|build|vet|install)\b",
        r"^--- FAIL: |^FAIL(?:\s|$)|^\S+\.go:\d+:\d+: |^panic: ",
    ),
    Tool(
        "cargo",
        "cargo rustc",
        r"(?:test|t|build|b|check|c|clippy|nextest|bench)\b|.*\.rs\b",
        r"^test result: FAILED|^error(?:\[E\d+\])?: |panicked at ",
    ),
    Tool(
        "make, ninja, just",
        "make gmake ninja just task scons",
        "",
        r"^(?:g?make|ninja)(?:\[\d+\])?: (?:\*\*\*|build stopped)|^FAILED: |^error: Recipe",
    ),
    Tool(
        "cmake, meson, bazel",
        "cmake meson bazel bazelisk",
        "",
        r"^FAILED: |^ERROR: |^ninja: build stopped|^CMake Error",
    ),
    Tool("ctest", "ctest", "", r"^\d+% tests passed, [1-9]\d* tests? failed|\*\*\*Failed"),
    Tool("compilers", "gcc g++ cc c++ clang clang++ javac kotlinc swiftc ghc", "", r"\berror:"),
    Tool(
        "maven",
        "mvn mvnw mvnd",
        "",
        r"^\[ERROR\]|BUILD FAILURE|Tests run: .*(?:Failures|Errors): [1-9]",
    ),
    Tool("gradle", "gradle gradlew", "", r"^FAILURE: |BUILD FAILED|^> Task \S+ FAILED"),
    Tool("sbt", "sbt", "", r"^\[error\]"),
    Tool(
        "dotnet",
        "dotnet msbuild",
        r"(?:test|build|publish|msbuild)\b|.*\.(?:sln|\w+proj)\b",
        r"Build FAILED|^Failed!|error (?:CS|MSB|NU|FS)\d+",
    ),
    Tool("swift", "swift xcodebuild", r"(?!package)", r"\berror:|\*\* \w+ FAILED \*\*"),
    Tool(
        "rspec, rake, rails",
        "rspec rake rails",
        r"(?!server|console|generate|new)",
        r"^\d+ examples?, [1-9]\d* failures?|^\d+ runs, .*\b[1-9]\d* (?:failures|errors)"
        r"|^rake aborted!",
    ),
    Tool(
        "phpunit, pest",
        "phpunit pest",
        "",
        r"^FAILURES!|^ERRORS!|^Tests:[ \t]+[1-9]\d* failed",
    ),
    Tool(
        "mix",
        "mix",
        r"(?:test|compile)\b",
        r"^[ \t]*\d+ tests?, [1-9]\d* failure|Compilation error",
    ),
    Tool(
        "flutter, dart", "flutter dart", r"(?:test|build|analyze)\b", r"Some tests failed|^Error: "
    ),
    Tool("docker", "docker podman", r"(?:build|buildx|compose build)\b", r"^ERROR: failed to"),
    Tool("terraform", "terraform tofu", r"(?:validate|plan|apply|test)\b", r"^[│╷]?[ \t]*Error: "),
)

# Programs that only run another program.
_RUNNERS = frozenset(
    ["sudo", "time", "env", "exec", "nice", "command", "xvfb-run", "npx", "bunx", "pnpx", "winpty"]
)
_MANAGERS = frozenset(
    [
        "uv",
        "poetry",
        "pdm",
        "hatch",
        "pipenv",
        "rye",
        "pixi",
        "conda",
        "bundle",
        "pnpm",
        "yarn",
        "npm",
        "bun",
        "mise",
        "composer",
    ]
)
_RUN_COMMANDS = frozenset({"run", "exec", "x", "dlx"})
_OPTIONS_WITH_VALUE = frozenset(
    {"-w", "--workspace", "--filter", "-F", "-C", "--prefix", "--dir", "--cwd"}
)
_PYTHON = re.compile(r"python[\d.]*(?:\.exe)?")

# In the order in which ties are broken; without any match the domain is the default one.
DOMAINS: Mapping[str, str] = {
    "security": r"certificate|ssl|tls|unauthori[sz]ed|forbidden|permission denied|access denied"
    r"|csrf|cve-\d+|vulnerabilit\w+|secret|signature mismatch|authentication",
    "configuration": r"config\w*|environment variable|env var|\.env|settings?|missing key|not set"
    r"|(?:undefined|unknown|invalid) option|keyerror: '[A-Z_]+'|pyproject|tsconfig\w*",
    "deployment": r"deploy\w*|docker\w*|kubernetes|kubectl|helm|terraform|container|image pull"
    r"|rollout|release",
    "data": r"database|sqlite\w*|postgres\w*|mysql|mongo\w*|migrations?|schema|integrityerror"
    r"|deadlock|foreign key|unique constraint|no such table|transaction",
    "performance": r"time-?outs?|timed out|too slow|out of memory|oom\w*|memoryerror|heap|latency"
    r"|exceeded|benchmark",
    "integration": r"connection (?:refused|reset)|econnrefused|enotfound|could not resolve"
    r"|http \d{3}|status code|bad gateway|modulenotfounderror|cannot find module|no module named"
    r"|unresolved import|dependenc\w+|eresolve|incompatible version",
    "testing": r"fixtures?|mock\w*|snapshots?|flaky|conftest|stub\w*|test doubles?|teardown",
}

_SEPARATORS = re.compile(r"&&|\|\||[;|&\n(){}`]")
_MAX_RUNNERS = 16
"""Programs that run each other, before a command is given up."""


def failed_tool(
    command: str,
    output: str,
    *,
    exit_code: int | None,
    reported: bool,
    interrupted: bool = False,
) -> str | None:
    """Return the name of the tool that tested or built and failed, or None.

    Args:
        command: The command line.
        output: What it printed.
        exit_code: Its exit code, if known.
        reported: Whether the client says that it failed.
        interrupted: Whether the user stopped it.
    """
    tools = find_tools(command)
    if not tools or interrupted:
        return None
    if reported or exit_code not in {None, 0}:
        return tools[0].name
    excerpt = _excerpt(output)
    for tool in tools:
        if re.search(tool.failure, excerpt, re.MULTILINE):
            return tool.name
    return None


def find_tools(command: str) -> list[Tool]:
    """Return the tools that test or build and that a command runs."""
    calls = [
        (_program(words[0]), _arguments(words))
        for part in _SEPARATORS.split(command[:MAX_COMMAND_LENGTH])
        for words in _without_runners(part.split())
    ]
    return [
        tool
        for tool in TOOLS
        if any(
            program in tool.programs.split() and re.match(tool.arguments, arguments)
            for program, arguments in calls
        )
    ]


def guess_domain(command: str, output: str) -> str:
    """Return the domain that a failure belongs to."""
    excerpt = f"{command[:MAX_COMMAND_LENGTH]}\n{_excerpt(output)}"
    best, most = DEFAULT_DOMAIN, 0
    for name, words in DOMAINS.items():
        count = sum(1 for _ in re.finditer(rf"(?i)(?<!\w)(?:{words})(?!\w)", excerpt))
        if count > most:
            best, most = name, count
    return best


def _without_runners(words: list[str]) -> Iterator[list[str]]:
    """Yield the words of a command, then again without each program that only runs the rest."""
    for _ in range(_MAX_RUNNERS):
        if not words:
            return
        yield words
        count = _runner_words(words)
        if not count:
            return
        words = words[count:]


def _runner_words(words: list[str]) -> int:
    """Count the words at the start that only run what follows."""
    first, second = _program(words[0]), words[1] if len(words) > 1 else ""
    if first in _RUNNERS or ("=" in words[0] and not words[0].startswith("-")):
        return 1
    if first in _MANAGERS and second in _RUN_COMMANDS:
        return 2
    if first == "timeout" or (first == "coverage" and second == "run"):
        start = 1 + (first == "coverage")
        options = takewhile(lambda word: word[0] in "-0123456789", words[start:])
        return start + sum(1 for _ in options)
    if _PYTHON.fullmatch(first) and "-m" in words:
        return words.index("-m") + 1
    return 0


def _program(word: str) -> str:
    return word.rsplit("/", 1)[-1]


def _arguments(words: list[str]) -> str:
    """Return the words that follow a program, without options and their values."""
    arguments = []
    is_value = False
    for word in words[1:]:
        if not is_value and word[0] not in "-+":
            arguments.append(word)
        is_value = word in _OPTIONS_WITH_VALUE
    return " ".join(arguments)


def _excerpt(output: str) -> str:
    """Return the start and the end of an output in lines of limited length.

    No pattern takes long on it.
    """
    if len(output) > 2 * EXCERPT_LENGTH:
        output = f"{output[:EXCERPT_LENGTH]}\n{output[-EXCERPT_LENGTH:]}"
    return "\n".join(line[:MAX_LINE_LENGTH] for line in output.splitlines())
