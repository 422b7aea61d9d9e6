"""Everything passes the proxy unchanged, except for the contexts that it adds."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters
from rs_bpe.bpe import openai

from mcp import Client
from tests.conftest import COMMAND, TIME_LIMIT, Tree

from .servers.pictures import NAMES as PICTURES
from .wire import HANDSHAKES, Wire, call, initialize, request, wired

PROXY = [COMMAND, "mcp-proxy"]
SERVERS = Path(__file__).parent / "servers"
TIMES = [sys.executable, "-m", "mcp_server_time", "--local-timezone", "Europe/Paris"]
GIT = [sys.executable, "-m", "mcp_server_git"]
PATIENT = ["--timeout", "60000", "--intent", "harbour"]
"""A machine that is busy with other things is no reason to leave a context out; and all calls are
about something that is known of."""
ADDED = re.compile(
    rb',?(\{"type":"text","text":"# What is known \(from Quire.*?"_meta":\{"contextUsed":\{.*?\}\}\})'
)
IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{
        f"GIT_{who}_{what}": f"ada@{what}"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    },
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


def session(
    command: Sequence[str], cwd: Path, messages: Sequence[dict[str, Any]]
) -> tuple[list[bytes], int, str]:
    """Send messages one after the other; return all lines that came back, and how it ended."""
    lines = []
    with wired(command, cwd, IDENTITY) as wire:
        for message in messages:
            wire.send(message)
            while "id" in message:
                line = wire.line()
                lines.append(line)
                reply = json.loads(line)
                if reply.get("id") == message["id"] and "method" not in reply:
                    break
        code, log = wire.end()
        lines += wire.left()
    return lines, code, log


def same_but_for_context(direct: Sequence[bytes], proxied: Sequence[bytes]) -> int:
    """Hold what came through the proxy against what came without it; gives how much was added."""
    added = 0
    assert len(direct) == len(proxied)
    for plain, line in zip(direct, proxied, strict=True):
        result = json.loads(plain).get("result")
        if isinstance(result, dict) and "content" in result:
            *before, last = json.loads(line)["result"]["content"]
            assert before == result["content"]
            assert last["text"].startswith("# What is known (from Quire, not from the tool)\n")
            without, times = ADDED.subn(b"", line)
            assert (without, times) == (plain, 1)
            added += 1
        else:
            assert line == plain
    return added


def logged(log: str) -> str:
    return re.sub(r"\[?\d\d/\d\d/\d\d \d\d:\d\d:\d\d\]?", " " * 19, log)


def hello() -> list[dict[str, Any]]:
    return [
        initialize(HANDSHAKES[-1]),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("tools/list", 1),
    ]


def test_a_server_of_times(harbour: Tree) -> None:
    messages = [
        *hello(),
        call("get_current_time", 2, timezone="Pacific/Kiritimati"),
        call("convert_time", 3, source_timezone="UTC", time="12:30", target_timezone="Asia/Tokyo"),
        call("get_current_time", 4, timezone="The/Harbour"),
        call("convert_time", 5, source_timezone="UTC", time="99:99", target_timezone="UTC"),
        call("convert_time", 6),
        call("nothing", 7),
        request("resources/list", 8),
        request("nobody/knows", 9, future={"field": [1.0]}),
    ]
    direct, code, log = session(TIMES, harbour.root, messages)
    proxied, *through = session([*PROXY, *PATIENT, "--", *TIMES], harbour.root, messages)
    clock = re.compile(rb"\d\d:\d\d:\d\d(?=[+-])")  # one of them was asked a little later
    clean = [[clock.sub(b"", line) for line in lines] for lines in (direct, proxied)]
    assert same_but_for_context(*clean) == 5
    # What it says beside passes as well: it logs, with the time.
    assert [code, logged(log)] == [0, logged(str(through[1]))]
    assert through[0] == 0


def test_a_server_of_git(harbour: Tree, tmp_path: Path) -> None:
    repository, copy = tmp_path / "repository", tmp_path / "copy"

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=repository, check=True, env={**os.environ, **IDENTITY})

    repository.mkdir()
    git("init", "--quiet", "--initial-branch=main")
    (repository / "a.txt").write_text("one\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "First")
    (repository / "a.txt").write_text("one\ntwo ä\n")
    (repository / "b.txt").write_text("new\n")
    shutil.copytree(repository, copy)
    here = str(repository)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("git_status", {}),
        ("git_diff_unstaged", {}),
        ("git_add", {"files": ["a.txt"]}),
        ("git_diff_staged", {}),
        ("git_diff", {"target": "HEAD"}),
        ("git_reset", {}),
        ("git_add", {"files": ["a.txt", "b.txt"]}),
        ("git_commit", {"message": "Second"}),
        ("git_log", {"max_count": 5}),
        ("git_create_branch", {"branch_name": "side"}),
        ("git_checkout", {"branch_name": "side"}),
        ("git_branch", {"branch_type": "local"}),
        ("git_show", {"revision": "HEAD"}),
        ("git_show", {"revision": "no-such-revision"}),
        ("git_checkout", {"branch_name": "--force"}),
        ("git_add", {"files": []}),
        ("git_push", {}),
    ]
    messages = [
        *hello(),
        *(call(name, 10 + at, repo_path=here, **more) for at, (name, more) in enumerate(calls)),
        call("git_status", 90, repo_path="/nowhere"),
    ]
    direct, code, log = session(GIT, harbour.root, messages)
    shutil.rmtree(repository)
    shutil.copytree(copy, repository)
    proxied, *through = session([*PROXY, *PATIENT, "--", *GIT], harbour.root, messages)
    tools = {tool["name"] for tool in json.loads(direct[1])["result"]["tools"]}
    assert tools <= {name for name, _ in calls}, "every tool is called"
    assert same_but_for_context(direct, proxied) >= len(tools)
    assert sum(b'"isError":true' in line for line in direct) >= 3
    assert [code, logged(log)] == [0, logged(str(through[1]))]
    assert through[0] == 0


def test_pictures_sounds_files_and_failures(harbour: Tree) -> None:
    server = [sys.executable, str(SERVERS / "pictures.py")]
    messages = [*hello(), *(call(name, 10 + at) for at, name in enumerate(PICTURES))]
    for message in messages[3:]:
        message["params"]["_meta"] = {"progressToken": message["id"]}
    direct, *ended = session(server, harbour.root, messages)
    proxied, *passed = session([*PROXY, *PATIENT, "--", *server], harbour.root, messages)
    assert ended == passed
    assert same_but_for_context(direct, proxied) == len(PICTURES) - 1
    assert sum(b"notifications/progress" in line for line in proxied) == len(PICTURES)


def echo(tree: Tree, folder: Path, answers: bytes) -> tuple[list[str], Path]:
    heard, script = folder / "heard", folder / "script"
    script.write_bytes(answers)
    return [sys.executable, str(SERVERS / "echo.py"), str(heard), str(script)], heard


def test_bytes_that_nobody_understands_pass_both_ways(harbour: Tree, tmp_path: Path) -> None:
    sent = [
        b"\n",
        b"not json at all\n",
        b"\xff\xfe\x00 broken \xc3(\n",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"odd"}\n',
        b'{"id" : 1e0,\t"method":"future/method","params":{"x":1.00,"x":2}} \r\n',
        b'{"id":4,"method":"tools/call","params":{"name":"a","arguments":{"q":"harbour"}}}\n',
        b'{"id":5,"method":"tools/call","params":{"name":"a","arguments":{"q":"harbour"}}}\n',
        b'{"id":3,"result":{"content":[]}}\n',
        b"{}\n",
        b"x" * 300_000 + b"\n",
    ]
    answers = [
        b"\n",
        b"more nonsense\n",
        b"\x80\x81\n",
        b'{"jsonrpc":"2.0","method":"sampling/createMessage","id":1}\n',
        b'{"id":1,"result" : {"content":[ ]}}\n',
        b'\xff{"id":4,"result":{"content":[]}}\n',
        b"{" * 3000 + b"result\n",
        b'[{"id":4,"error":{"code":1,"message":"no"}},{"id":5,"result":{}}]\n',
        b'{"id":4,"result":{"content":[]}} and it was answered before\n',
        b"y" * 300_000 + b"\n",
        b"the last line has no end",
    ]
    server, heard = echo(harbour, tmp_path, b"".join(answers))
    with wired([*PROXY, *PATIENT, "--", *server], harbour.root) as wire:
        lines = []
        for line in sent:
            wire.send(line)
            lines.append(wire.line())
        code, log = wire.end()
        lines += wire.left()
    assert heard.read_bytes() == b"".join(sent)
    assert lines == answers
    assert code == 7
    assert log.endswith("the echo ends\n")
    assert log.count("quire mcp-proxy: a line passes as it is: ") == 2


def served_once(
    tree: Tree, folder: Path, *options: str, env: dict[str, str] | None = None
) -> tuple[list[Any], str, Wire]:
    """Call a tool once through the proxy; return the content of its result, and the log."""
    plain = b'{"id":4,"result":{"content":[{"type":"text","text":"own"}]}}\n'
    server, _ = echo(tree, folder, plain)
    with wired([*PROXY, *options, "--", *server], tree.root, env) as wire:
        request = call("lift_load", 4, load="the harbour crane", bell="rings at low tide")
        content = wire.answer(request)["result"]["content"]
        _, log = wire.end()
    return content, log, wire


@pytest.mark.parametrize("cap", [60, 1000])
def test_what_is_added_keeps_the_cap(harbour: Tree, tmp_path: Path, cap: int) -> None:
    content, log, _ = served_once(harbour, tmp_path, *PATIENT, "--cap", str(cap))
    assert log == "the echo ends\n"
    added = content[1:]
    if cap == 1000:
        assert "def lift(load)" in added[0]["text"]
        assert "The harbour bell rings" in added[0]["text"]
    for item in added:
        tokens = len(openai.o200k_base().encode(item["text"]))
        assert tokens == item["_meta"]["contextUsed"]["tokens"] <= cap


def test_the_place_the_intent_and_the_viewer(harbour: Tree, tmp_path: Path) -> None:
    content, _, _ = served_once(
        harbour,
        tmp_path,
        *("--timeout", "60000", "--viewer", "carol", "--intent", "heavy", "--place", "start"),
    )
    assert [item["text"][:6] for item in content] == ["# What", "own"]
    assert "Lift the heavy load" in content[0]["text"]
    assert "ninety" not in content[0]["text"]


NO_STORE = "quire mcp-proxy: no context for lift_load: "


def test_without_a_store_results_pass(tree: Tree, tmp_path: Path) -> None:
    content, log, _ = served_once(tree, tmp_path, *PATIENT)
    assert content == [{"type": "text", "text": "own"}]
    (line,) = [line for line in log.splitlines() if line.startswith(NO_STORE)]
    assert "quire index" in line
    assert not tree.store.exists()


def test_a_context_that_is_late_is_left_out(harbour: Tree, tmp_path: Path) -> None:
    began = time.monotonic()
    content, log, _ = served_once(harbour, tmp_path, "--timeout", "1")
    assert content == [{"type": "text", "text": "own"}]
    assert f"{NO_STORE}it took longer than 0.001 s" in log
    assert time.monotonic() - began < TIME_LIMIT


def test_a_damaged_store_and_wrong_settings_let_results_pass(tree: Tree, tmp_path: Path) -> None:
    tree.write(".quire/store.db", b"this is no store at all" * 100)
    content, log, _ = served_once(tree, tmp_path, *PATIENT)
    assert content == [{"type": "text", "text": "own"}]
    assert NO_STORE in log
    tree.write("quire.toml", "[embed]\nprovider = 3\n")
    content, log, _ = served_once(tree, tmp_path, *PATIENT)
    assert content == [{"type": "text", "text": "own"}]
    assert "Traceback" not in log


def test_the_official_client_through_the_proxy(harbour: Tree) -> None:
    async def uses(command: Sequence[str]) -> list[Any]:
        program, *rest = command
        server = StdioServerParameters(
            command=program, args=rest, cwd=harbour.root, env=dict(os.environ)
        )
        async with Client(server) as client:
            return (
                await client.call_tool(
                    "convert_time",
                    {"source_timezone": "UTC", "time": "10:00", "target_timezone": "Asia/Tokyo"},
                )
            ).content

    own, added = anyio.run(uses, [*PROXY, *PATIENT, "--", *TIMES])
    assert json.loads(own.text)["time_difference"] == "+9.0h"
    assert "Ships rest" not in own.text
    assert added.text.startswith("# What is known")
    assert added.meta["contextUsed"]["tokens"] > 0


# --- how it ends -------------------------------------------------------------------------------

SLEEPER = "import signal, sys, time\nsys.stdout.write('{}\\n'); sys.stdout.flush()\n"


def is_over(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def wait_for(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not done():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("import sys; sys.exit(3)", 3),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 128 + 9),
    ],
)
def test_it_ends_as_the_other_server_ends(tree: Tree, program: str, code: int) -> None:
    # Its own standard input stays open: it is the other server that ends it.
    with wired([*PROXY, "--", sys.executable, "-c", program], tree.root) as wire:
        assert wire.process.wait(TIME_LIMIT) == code


def test_a_signal_is_passed_on(tree: Tree) -> None:
    program = SLEEPER + (
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"
        "sys.stdout.write('{}\\n'); sys.stdout.flush()\ntime.sleep(60)\n"
    )
    with wired([*PROXY, "--", sys.executable, "-c", program], tree.root) as wire:
        assert [wire.line(), wire.line()] == [b"{}\n", b"{}\n"]
        wire.process.send_signal(signal.SIGTERM)
        assert wire.process.wait(TIME_LIMIT) == 9


def test_the_other_server_is_stopped_when_the_client_goes_away(tree: Tree, tmp_path: Path) -> None:
    deaf = SLEEPER + (
        f"import os; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "sys.stdout.write('{}\\n'); sys.stdout.flush()\ntime.sleep(60)\n"  # it does not listen
    )
    process = subprocess.Popen(
        [*PROXY, "--", sys.executable, "-c", deaf],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tree.root,
    )
    assert process.stdout
    assert process.stdin
    assert process.stdout.readline() == process.stdout.readline() == b"{}\n"
    other = int((tmp_path / "pid").read_text())
    process.stdout.close()
    process.stdin.close()
    assert process.wait(TIME_LIMIT) == 128 + signal.SIGTERM
    wait_for(lambda: is_over(other))


def test_a_call_that_is_taken_back_is_forgotten(harbour: Tree, tmp_path: Path) -> None:
    server, _ = echo(harbour, tmp_path, b'{}\n{}\n{"id":4,"result":{"content":[]}}\n')
    with wired([*PROXY, *PATIENT, "--", *server], harbour.root) as wire:
        wire.send(call("lift_load", 4))
        params = {"requestId": 4}
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        wire.send(request("ping", 5))
        lines = [wire.line() for _ in range(3)]
        assert lines[2] == b'{"id":4,"result":{"content":[]}}\n', "late as it is, nothing is added"
        assert wire.end() == (7, "the echo ends\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Missing argument 'COMMAND...'"),
        (["--", "no-such-command-here"], "no-such-command-here cannot be run"),
        (["--cap", "0", "--", "true"], "--cap"),
        (["--timeout", "soon", "--", "true"], "--timeout"),
    ],
)
def test_what_cannot_be_run(tree: Tree, words: list[str], message: str) -> None:
    done = tree.run("mcp-proxy", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_line_that_is_too_long_to_look_into_passes(harbour: Tree, tmp_path: Path) -> None:
    """Lines of any length pass both ways; the calls around them get their contexts."""
    echo = tmp_path / "echo.py"
    echo.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    text = message['params']['arguments']['text']\n"
        "    content = [{'type': 'text', 'text': text}]\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': {'content': content}}))\n"
        "    sys.stdout.flush()\n"
    )
    with wired([*PROXY, *PATIENT, "--", sys.executable, str(echo)], harbour.root) as wire:
        for number, length in enumerate((10, 20_000_000, 17_000_000, 10)):
            text = "x" * length
            content = wire.call("echo", number, text=text)["content"]
            assert content[0] == {"type": "text", "text": text}
            assert len(content) == (2 if length == 10 else 1)
        code, said = wire.end()
    assert code == 0
    assert said.count("a line passes as it is: over 16777216 bytes") == 4
