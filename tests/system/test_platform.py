"""The calls that differ between systems, and what stands in for them where they are missing."""

from __future__ import annotations

import os
import select
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from quire.system import platform


@pytest.mark.parametrize("flag", [platform._NO_FOLLOW, 0], ids=["flag", "check"])
def test_a_link_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flag: int) -> None:
    monkeypatch.setattr(platform, "_NO_FOLLOW", flag)
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"text")
    link.symlink_to(file)
    descriptor = platform.open_without_following(str(file))
    try:
        assert os.read(descriptor, 9) == b"text"
    finally:
        os.close(descriptor)
    with pytest.raises(OSError, match="symbolic link"):
        platform.open_without_following(str(link))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    descriptor = platform.open_without_following(str(tmp_path / "pipe"))
    os.close(descriptor)


@pytest.mark.parametrize("effective", [platform._EFFECTIVE_IDS, False])
def test_a_file_that_is_not_there_is_not_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, effective: bool
) -> None:
    monkeypatch.setattr(platform, "_EFFECTIVE_IDS", effective)
    (tmp_path / "file").write_bytes(b"")
    assert platform.is_readable(str(tmp_path / "file"))
    assert not platform.is_readable(str(tmp_path / "other"))


def test_an_append_goes_to_the_end_of_a_private_file(tmp_path: Path) -> None:
    file = tmp_path / "log"
    platform.append(file, b"one\r\n")
    platform.append(file, b"two\n")
    assert file.read_bytes() == b"one\r\ntwo\n"
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0


def test_a_write_that_is_cut_short_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "write", lambda _, data: len(data) - 1)
    with pytest.raises(OSError, match="No space left"):
        platform.append(tmp_path / "log", b"line\n")


def test_a_pipe_without_a_reader_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    try:
        assert not platform.is_reader_gone(writer)
        os.close(reader)
        if hasattr(select, "poll"):
            assert platform.is_reader_gone(writer)
        monkeypatch.delattr(select, "poll", raising=False)
        assert not platform.is_reader_gone(writer)
    finally:
        os.close(writer)


def test_an_unknown_signal_terminates(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        send, sent = process.send_signal, list[int]()

        def windows(number: int) -> None:
            sent.append(number)
            if number != signal.SIGTERM:
                raise ValueError(f"Unsupported signal: {number}")
            send(number)

        monkeypatch.setattr(process, "send_signal", windows)
        platform.forward_signal(process, signal.SIGINT)
        assert process.wait(30) != 0
    assert sent == [signal.SIGINT, signal.SIGTERM]


def test_a_process_that_ended_and_was_not_waited_for_runs_no_more() -> None:
    assert platform.is_running(os.getpid())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert platform.is_running(process.pid)
        assert process.stdin
        process.stdin.close()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it ended, and keeps its number
        assert not platform.is_running(process.pid)
    assert not platform.is_running(process.pid)


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, Path("/x")),
        ({"XDG_CONFIG_HOME": "", "HOME": "/h", "APPDATA": "/a"}, Path("/h/.config")),
        ({"APPDATA": "/a"}, Path("/a")),
        ({"HOME": ""}, None),
        ({"XDG_CONFIG_HOME": ".config", "HOME": "/h"}, Path("/h/.config")),
        ({"XDG_CONFIG_HOME": ".config", "HOME": "."}, None),
    ],
)
def test_where_a_user_keeps_settings(environment: dict[str, str], folder: Path | None) -> None:
    assert platform.user_config_folder(environment) == folder


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="memory is read from /proc")
def test_memory_that_is_free_is_given_back() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    if not platform.return_free_memory():
        pytest.skip("this allocator cannot be told to")
    blocks: list[bytes | None] = [os.urandom(1) * 20_000 for _ in range(8_000)]
    blocks[:-1] = [block if at % 100 == 0 else None for at, block in enumerate(blocks[:-1])]
    before = resident()
    assert platform.return_free_memory()
    assert before - resident() > 80_000_000, "of 160 MB, all but the last block and a few are free"


ALLOCATE = """
import ctypes, os, re, sys, threading
from quire.system import platform
if sys.argv[1] == "share":
    print(platform.share_arenas(os.environ))
together = threading.Barrier(12)
def work():
    blocks = [ctypes.CDLL(None).malloc(5_000) for _ in range(50)]  # without the lock of Python
    together.wait()
threads = [threading.Thread(target=work) for _ in range(12)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
file = library.fopen(sys.argv[2].encode(), b"w")
library.malloc_info(0, ctypes.c_void_p(file))
library.fclose(ctypes.c_void_p(file))
print(len(re.findall("<heap nr", open(sys.argv[2]).read())))
"""


def test_threads_of_a_service_share_arenas(tmp_path: Path) -> None:
    def told(how: str, **more: str) -> list[str]:
        plain = {name: value for name, value in os.environ.items() if "MALLOC" not in name}
        command = [sys.executable, "-c", ALLOCATE, how, str(tmp_path / "info.xml")]
        return subprocess.check_output(command, env={**plain, **more}, text=True).split()

    if not platform.return_free_memory():
        pytest.skip("this allocator has no arenas")
    shared, alone = told("share"), told("")
    assert shared == ["True", str(platform.ARENAS)]
    assert int(alone[0]) > platform.ARENAS, "or the test proves nothing"
    assert told("share", MALLOC_ARENA_MAX="3") == ["False", "3"], "somebody chose it"
