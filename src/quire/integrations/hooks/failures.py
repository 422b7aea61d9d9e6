"""Did a test or a build fail, and what is it about?

Tables and nothing else. A command is one of a tool if one of its parts (between `&&`, `|`, `;`)
begins with it, whatever stands before it to run it (`uv run`, `npx`, `python -m`). It failed if it
ended with a code other than 0, if the client says so, or if it printed a line that this tool prints
when it fails: a code is lost where output goes through a pipe. The domain is the one whose words
stand in the output most often; if several are, the first of them. A pattern is compiled when it is
needed: this is asked after every command of an assistant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile

LOOKED_AT = 20_000
"""Characters of the output that are looked at, at its beginning and at its end."""
LONGEST_COMMAND = 10_000
LONGEST_LINE = 400
DEFAULT_DOMAIN = "debugging"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that tests or builds: its programs, what follows them, what it prints on failure."""

    name: str
    programs: str
    asked: str
    """A pattern of the words that follow; empty: whatever follows."""
    prints: str


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
    Tool("tox, nox", "tox nox", "", r"^\s*\S+: FAIL\b|evaluation failed|^nox > .*failed"),
    Tool("mypy, pyright", "mypy dmypy pyright", "", r"^Found \d+ errors?\b|^[1-9]\d* errors?,"),
    Tool(
        "npm, yarn, pnpm, bun",
        "npm yarn pnpm bun",
        _SCRIPTS,
        r"^npm (?:ERR!|error)|ELIFECYCLE|^error Command failed|^error: script .* exited"
        r"|^Tests:?\s+.*\b\d+ failed|Failed to compile|^✘|error TS\d+",
    ),
    Tool("jest", "jest react-scripts", "", r"^Tests:\s+.*\b\d+ failed|^FAIL\s+\S+"),
    Tool("vitest", "vitest", "", r"Tests\s+\d+ failed|Test Files\s+\d+ failed|^\s*FAIL\s+\S+"),
    Tool(
        "mocha, ava, playwright, cypress",
        "mocha ava playwright cypress deno",
        r"(?!install|open|codegen)",
        r"^\s*[1-9]\d* (?:failing|failed)\b|^\s*[1-9]\d* tests? failed|^# fail [1-9]|^FAILED \|",
    ),
    Tool("tsc", "tsc vue-tsc tsgo", "", r"error TS\d+:"),
    Tool(
        "bundlers",
        "webpack vite rollup esbuild next turbo nx ng",
        r"(?!dev|serve|start|preview)",
        r"^ERROR in |error during build|Build failed|Failed to compile|^\s*✘ \[ERROR\]",
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
        r"^FAILURES!|^ERRORS!|^Tests:\s+[1-9]\d* failed",
    ),
    Tool(
        "mix", "mix", r"(?:test|compile)\b", r"^\s*\d+ tests?, [1-9]\d* failure|Compilation error"
    ),
    Tool(
        "flutter, dart", "flutter dart", r"(?:test|build|analyze)\b", r"Some tests failed|^Error: "
    ),
    Tool("docker", "docker podman", r"(?:build|buildx|compose build)\b", r"^ERROR: failed to"),
    Tool("terraform", "terraform tofu", r"(?:validate|plan|apply|test)\b", r"^[│╷]?\s*Error: "),
)

# What it takes to run a tool, and is not the tool itself.
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
_RUN = frozenset({"run", "exec", "x", "dlx"})
_VALUED = frozenset({"-w", "--workspace", "--filter", "-F", "-C", "--prefix", "--dir", "--cwd"})
_PYTHON = re.compile(r"python[\d.]*(?:\.exe)?")

# The first of those that are named equally often; what names none is plain debugging.
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

_PARTS = re.compile(r"&&|\|\||[;|&\n(){}`]")


MOST_RUNNERS = 16
"""Nobody starts a test by more programs, one through the other."""


def failed(
    command: str, output: str, *, code: int | None, told: bool, interrupted: bool = False
) -> str | None:
    """Name the tool that tested or built and failed; None: nothing of that kind happened."""
    tools = tools_of(command)
    if not tools or interrupted:
        return None
    if told or code not in {None, 0}:
        return tools[0].name
    looked = _looked_at(output)
    for tool in tools:
        if re.search(tool.prints, looked, re.MULTILINE):
            return tool.name
    return None


def tools_of(command: str) -> list[Tool]:
    """Tell which tools that test or build a command runs."""
    called = [
        (_base(words[0]), _rest(words))
        for part in _PARTS.split(command[:LONGEST_COMMAND])
        for words in _beginnings(part.split())
    ]
    return [
        tool
        for tool in TOOLS
        if any(
            name in tool.programs.split() and re.match(tool.asked, rest) for name, rest in called
        )
    ]


def domain_of(command: str, output: str) -> str:
    """Tell what a failure is about."""
    looked = f"{command[:LONGEST_COMMAND]}\n{_looked_at(output)}"
    best, most = DEFAULT_DOMAIN, 0
    for name, words in DOMAINS.items():
        count = sum(1 for _ in re.finditer(rf"(?i)(?<!\w)(?:{words})(?!\w)", looked))
        if count > most:
            best, most = name, count
    return best


def _beginnings(words: list[str]) -> Iterator[list[str]]:
    """Give the words of a command, then without each thing that only runs the rest."""
    for _ in range(MOST_RUNNERS):
        if not words:
            return
        yield words
        skipped = _skipped(words)
        if not skipped:
            return
        words = words[skipped:]


def _skipped(words: list[str]) -> int:
    """Count the words at the beginning that only run what follows."""
    first, second = _base(words[0]), words[1] if len(words) > 1 else ""
    if first in _RUNNERS or ("=" in words[0] and not words[0].startswith("-")):
        return 1
    if first in _MANAGERS and second in _RUN:
        return 2
    if first == "timeout" or (first == "coverage" and second == "run"):
        begun = 1 + (first == "coverage")
        options = takewhile(lambda word: word[0] in "-0123456789", words[begun:])
        return begun + sum(1 for _ in options)
    if _PYTHON.fullmatch(first) and "-m" in words:
        return words.index("-m") + 1
    return 0


def _base(word: str) -> str:
    return word.rsplit("/", 1)[-1]


def _rest(words: list[str]) -> str:
    """Give what follows a program, without options."""
    kept = []
    valued = False
    for word in words[1:]:
        if not valued and word[0] not in "-+":
            kept.append(word)
        valued = word in _VALUED
    return " ".join(kept)


def _looked_at(output: str) -> str:
    """Give what is looked at: lines of a sensible length, so that no pattern takes long."""
    if len(output) > 2 * LOOKED_AT:
        output = f"{output[:LOOKED_AT]}\n{output[-LOOKED_AT:]}"
    return "\n".join(line[:LONGEST_LINE] for line in output.splitlines())
