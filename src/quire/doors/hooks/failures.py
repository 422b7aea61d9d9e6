"""Did a test or a build fail, and what is it about?

Tables and nothing else. A command is one of a tool if one of its parts (between `&&`, `|`, `;`)
begins with it, whatever stands before it to run it (`uv run`, `npx`, `python -m`). It failed if it
ended with a code other than 0, if the client says so, or if it printed a line that this tool prints
when it fails: a code is lost where output goes through a pipe. The domain is the one whose words
stand in the output most often; if several are, the first of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

LOOKED_AT = 20_000
"""Characters of the output that are looked at, at its beginning and at its end."""
LONGEST_COMMAND = 10_000
LONGEST_LINE = 400
DEFAULT_DOMAIN = "debugging"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that tests or builds: how it is called, and what it prints when it fails."""

    name: str
    called: str
    prints: str


# What it takes to run a tool, and is not the tool itself.
_BEFORE = (
    r"(?:\w+=\S*\s+|(?:sudo|time|env|exec|nice|command|xvfb-run|npx|bunx|pnpx"
    r"|(?:uv|poetry|pdm|hatch|pipenv|rye|pixi|conda|nox|bundle|pnpm|yarn|npm|bun|mise|nix)"
    r"\s+(?:run|exec|x)|coverage\s+run(?:\s+-m)?|(?:\S*/)?python[\d.]*(?:\s+-[WX]\s+\w\S*|\s+-[A-Zbdiqsuvx]\S*)*\s+-m"
    r"|timeout(?:\s+-\S+)*\s+\S+)\s+)*(?:\S*/)?"
)
_NPM = r"(?:npm|yarn|pnpm|bun)(?:\s+-\S+(?:=\S+)?)*\s+(?:run\s+|-w\s+\S+\s+)*"

TOOLS = (
    Tool(
        "pytest",
        r"(?:py\.test|pytest)\b",
        r"^=+ .*\b\d+ (?:failed|errors?)\b.*=+$|^\d+ (?:failed|errors?)\b.* in [\d.]+s"
        r"|^(?:FAILED|ERROR) \S+",
    ),
    Tool("unittest", r"unittest\b", r"^FAILED \((?:failures|errors)="),
    Tool("tox, nox", r"(?:tox|nox)\b", r"^\s*\S+: FAIL\b|evaluation failed|^nox > .*failed"),
    Tool("mypy", r"(?:mypy|dmypy|pyright)\b", r"^Found \d+ errors?\b|^[1-9]\d* errors?,"),
    Tool(
        "npm, yarn, pnpm, bun",
        rf"{_NPM}(?:t|tst|test|build|check|typecheck|compile|ci-test)(?:[:.]\S+)?(?:\s|$)",
        r"^npm (?:ERR!|error)|ELIFECYCLE|^error Command failed|^error: script .* exited"
        r"|^Tests:?\s+.*\b\d+ failed|Failed to compile|^✘|error TS\d+",
    ),
    Tool("jest", r"(?:react-scripts\s+test|jest)\b", r"^Tests:\s+.*\b\d+ failed|^FAIL\s+\S+"),
    Tool("vitest", r"vitest\b", r"Tests\s+\d+ failed|Test Files\s+\d+ failed|^\s*FAIL\s+\S+"),
    Tool(
        "mocha, ava, playwright, cypress",
        r"(?:mocha|ava|playwright\s+test|cypress\s+run|node\s+--test|deno\s+test)\b",
        r"^\s*[1-9]\d* (?:failing|failed)\b|^\s*[1-9]\d* tests? failed|^# fail [1-9]|^FAILED \|",
    ),
    Tool("tsc", r"(?:tsc|vue-tsc|tsgo)\b", r"error TS\d+:"),
    Tool(
        "bundlers",
        r"(?:webpack|vite\s+build|rollup|esbuild|next\s+build|turbo\s+(?:run\s+)?(?:build|test)"
        r"|nx\s+(?:run\s+\S*:)?(?:build|test)|ng\s+(?:build|test))\b",
        r"^ERROR in |error during build|Build failed|Failed to compile|^\s*✘ \[ERROR\]",
    ),
    Tool(
        "go",
        r"go\s+(?:test|build|vet|install)\b",
        r"^--- FAIL: |^FAIL(?:\s|$)|^\S+\.go:\d+:\d+: |^panic: ",
    ),
    Tool(
        "cargo",
        r"cargo(?:\s+\+\S+)?\s+(?:test|t|build|b|check|c|clippy|nextest|bench)\b|rustc\b",
        r"^test result: FAILED|^error(?:\[E\d+\])?: |panicked at ",
    ),
    Tool(
        "make, ninja, cmake",
        r"(?:g?make|ninja|cmake\s+--build|bazel(?:isk)?\s+(?:build|test)|meson\s+(?:test|compile)"
        r"|just|task|scons)\b",
        r"^(?:g?make|ninja)(?:\[\d+\])?: (?:\*\*\*|build stopped)|^FAILED: |^ERROR: Build"
        r"|^error: Recipe",
    ),
    Tool(
        "ctest", r"ctest\b", r"^\d+% tests passed, [1-9]\d* tests? failed|FAILED TESTS|\*\*\*Failed"
    ),
    Tool(
        "compilers",
        r"(?:gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?|javac|kotlinc|swiftc|ghc)\b",
        r"\berror:",
    ),
    Tool(
        "maven",
        r"(?:mvnw?|mvnd)\b",
        r"^\[ERROR\]|BUILD FAILURE|Tests run: .*(?:Failures|Errors): [1-9]",
    ),
    Tool("gradle", r"gradlew?\b", r"^FAILURE: |BUILD FAILED|^> Task \S+ FAILED"),
    Tool("sbt", r"sbt\b", r"^\[error\]"),
    Tool(
        "dotnet",
        r"(?:dotnet\s+(?:test|build|publish|msbuild)|msbuild)\b",
        r"Build FAILED|^Failed!|error (?:CS|MSB|NU|FS)\d+",
    ),
    Tool("swift", r"(?:swift\s+(?:test|build)|xcodebuild)\b", r"\berror:|\*\* \w+ FAILED \*\*"),
    Tool(
        "rspec, rake, rails",
        r"(?:rspec|rake|rails\s+test|minitest)\b",
        r"^\d+ examples?, [1-9]\d* failures?|^\d+ runs, .*\b[1-9]\d* (?:failures|errors)"
        r"|^rake aborted!",
    ),
    Tool(
        "phpunit",
        r"(?:phpunit|pest|composer\s+(?:run\s+)?test|artisan\s+test)\b",
        r"^FAILURES!|^ERRORS!|^Tests:\s+[1-9]\d* failed",
    ),
    Tool(
        "mix", r"mix\s+(?:test|compile)\b", r"^\s*\d+ tests?, [1-9]\d* failures?|Compilation error"
    ),
    Tool("flutter", r"(?:flutter|dart)\s+(?:test|build|analyze)\b", r"Some tests failed|^Error: "),
    Tool("docker build", r"docker\s+(?:build|buildx|compose\s+build)\b", r"^ERROR: failed to"),
    Tool("terraform", r"(?:terraform|tofu)\s+(?:validate|plan|apply|test)\b", r"^[│╷]?\s*Error: "),
)

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
_CALLED = [(tool, re.compile(rf"\s*{_BEFORE}(?:{tool.called})")) for tool in TOOLS]
_WORDS = [(name, re.compile(rf"(?i)(?<!\w)(?:{words})(?!\w)")) for name, words in DOMAINS.items()]


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
    parts = _PARTS.split(command[:LONGEST_COMMAND])
    return [tool for tool, called in _CALLED if any(called.match(part) for part in parts)]


def domain_of(command: str, output: str) -> str:
    """Tell what a failure is about."""
    looked = f"{command[:LONGEST_COMMAND]}\n{_looked_at(output)}"
    best, most = DEFAULT_DOMAIN, 0
    for name, words in _WORDS:
        count = sum(1 for _ in words.finditer(looked))
        if count > most:
            best, most = name, count
    return best


def _looked_at(output: str) -> str:
    """Give what is looked at: lines of a sensible length, so that no pattern takes long."""
    if len(output) > 2 * LOOKED_AT:
        output = f"{output[:LOOKED_AT]}\n{output[-LOOKED_AT:]}"
    return "\n".join(line[:LONGEST_LINE] for line in output.splitlines())
