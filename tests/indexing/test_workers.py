"""Files are read and embedded by workers: the same store, whoever does the work."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from quire import IndexResult
from quire.core.types import EmbedSettings, FileEntry, IngestSettings, Progress, Skipped
from quire.errors import EmbedError, EndpointError, InputError
from quire.indexing.workers import Task, Workers, WorkerSettings, open_workers
from quire.indexing.workers.contract import TRIES, Worker, in_order
from quire.indexing.workers.processes import ProcessWorkers
from tests.conftest import Tree, interruptible

FILES: dict[str, str | bytes] = {
    **{
        f"notes/{number}.md": f"# Note {number}\n\nThe tide of day {number}.\n"
        for number in range(30)
    },
    "src/cart.py": "class Cart:\n    def add(self, item):\n        return item\n",
    "page.html": "<title>Harbour</title><p>The relay listens.</p>",
    "blob.bin": b"\x00\x01\x02",
    "bad.txt": b"\xff\xfe\xfa\x00\x00",
}
POISON = "notes/7.md"
SETTINGS = WorkerSettings(EmbedSettings())
PLACES = ("processes:2", "ray")
INTERRUPTED = "quire: interrupted; finished work is kept, run the command again to continue"


@pytest.fixture(scope="module", autouse=True)
def _one_cluster() -> Iterator[None]:
    """Start Ray once for all tests, with two workers, and end it."""
    ray = pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def no_embedder() -> None:
    return None


def tasks(count: int) -> Iterator[Task]:
    for number in range(count):
        text = f"# Note {number}\n".encode()
        yield Task(FileEntry(f"notes/{number}.md", "", len(text), 0), text)


def index(tree: Tree, on: str, *, embed: bool = False) -> IndexResult:
    with tree.open() as opened:
        return opened.index(embed=embed, on=on)


@pytest.mark.parametrize("on", PLACES)
def test_the_state_root_is_that_of_a_run_without_workers(tree: Tree, on: str) -> None:
    tree.fill(FILES)
    there = index(tree, on, embed=True)
    assert there.indexed == len(FILES) - 2
    assert there.vectors == there.chunks > 0
    assert {skip.path for skip in there.skipped} == {"blob.bin", "bad.txt"}
    again = index(tree, on, embed=True)
    assert (again.indexed, again.unchanged, again.vectors) == (0, there.indexed, 0)
    tree.store.unlink()
    here = index(tree, "inline", embed=True)
    assert here.state_root == there.state_root == again.state_root
    assert here.skipped == there.skipped


@pytest.mark.parametrize("on", PLACES)
def test_a_file_that_ends_its_worker_is_named_and_the_rest_is_read(
    on: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plug-in or a grammar that crashes takes its process with it."""
    workers = open_workers(on, SETTINGS, no_embedder)
    try:
        _send_poison(workers, monkeypatch)
        found = dict(workers.read(tasks(12), IngestSettings()))
    finally:
        workers.close()
    by_path = {file.path: content for file, content in found.items()}
    assert len(by_path) == 12
    lost = by_path.pop(POISON)
    assert lost == Skipped(POISON, f"its reader ended without an answer, {TRIES} times")
    assert not any(isinstance(content, Skipped) for content in by_path.values())
    assert list(found) == [task.file for task in tasks(12)], "in the order they were sent"


def _send_poison(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the workers end at one path: their settings say so, in their own processes."""
    if isinstance(workers, ProcessWorkers):
        monkeypatch.setattr("quire.indexing.workers.processes._read", read_or_end)
        return
    import ray

    from quire.indexing.workers.on_ray import RayWorkers

    assert isinstance(workers, RayWorkers)
    for actor in workers._actors:
        ray.kill(actor)
    remote = ray.remote(max_restarts=-1, max_task_retries=0)(EndingWorker)
    workers._actors = [remote.remote(SETTINGS) for _ in range(workers.count)]


def read_or_end(path: str, data: bytes, settings: IngestSettings) -> object:
    return EndingWorker(SETTINGS).read(path, data, settings)


class EndingWorker(Worker):
    """A worker that one file ends, as a crash in native code does."""

    def read(self, path: str, data: bytes, settings: IngestSettings) -> object:  # type: ignore[override] # as read_or_end
        if path == POISON:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().read(path, data, settings)


def test_a_killed_process_of_the_pool_loses_nothing() -> None:
    workers = ProcessWorkers(SETTINGS, 2)
    try:
        found = []
        for file, content in workers.read(tasks(60), IngestSettings()):
            found.append((file.path, content))
            if len(found) == 5:
                os.kill(next(iter(workers._pool._processes)), signal.SIGKILL)
    finally:
        workers.close()
    assert [path for path, _ in found] == [task.file.path for task in tasks(60)]
    assert not any(isinstance(content, Skipped) for _, content in found)


def test_ctrl_c_is_told_once(tree: Tree) -> None:
    """A terminal sends it to all processes; one of the pool is just loading what it needs."""
    tree.fill({f"note{number}.md": f"# Note {number}\n" for number in range(1500)})
    with subprocess.Popen(
        [sys.executable, "-m", "quire", "index", "--no-embed", "--on", "processes:2"],
        cwd=tree.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=interruptible(),
        start_new_session=True,
    ) as process:
        try:
            started = psutil.Process(process.pid)
            while max((each.cpu_times().user for each in started.children()), default=0.0) < 0.2:
                assert process.poll() is None, "it ended before it could be interrupted"
                time.sleep(0.01)
            os.killpg(process.pid, signal.SIGINT)
            _, told = process.communicate(timeout=120)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert told.strip() == INTERRUPTED


def test_a_killed_worker_of_a_cluster_loses_nothing(tree: Tree) -> None:
    """The process of an actor is killed while an index runs: the root is that of a local run."""
    from quire.indexing.workers.on_ray import RayWorkers

    tree.fill(FILES)
    killed = threading.Event()
    real = RayWorkers._next

    def next_and_kill(self: RayWorkers) -> object:
        import ray

        actor = real(self)
        if not killed.is_set() and next(self._turn) > 6:
            killed.set()
            ray.kill(actor, no_restart=False)
        return actor

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RayWorkers, "_next", next_and_kill)
        there = index(tree, "ray")
    assert killed.is_set()
    tree.store.unlink()
    assert index(tree, "inline").state_root == there.state_root


def test_a_killed_worker_process_of_a_cluster_loses_nothing(tree: Tree) -> None:
    """A process is really killed, first while files are read, then while texts are embedded."""
    tree.fill(FILES)
    killed: list[str] = []

    def kill_one(progress: Progress) -> None:
        if progress.stage in killed or progress.done < 1:
            return
        # Of this very cluster: others may run on this machine.
        mine = psutil.Process().children(recursive=True)
        workers = [child for child in mine if _title(child).startswith("ray::Worker")]
        if workers:
            workers[len(killed) % len(workers)].kill()
            killed.append(progress.stage)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("quire.indexing.files.BATCH_FILES", 4)
        patch.setattr("quire.indexing.files.VECTORS_PER_COMMIT", 4)
        patch.setattr("quire.indexing.files.MAX_PER_COMMIT", 4)
        with tree.open() as opened:
            there = opened.index(on="ray", report=kill_one)
    assert killed == ["read", "embed"]
    assert there.vectors == there.chunks > 0
    assert {skip.path for skip in there.skipped} == {"blob.bin", "bad.txt"}
    tree.store.unlink()
    assert index(tree, "inline", embed=True).state_root == there.state_root


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has ended
        return ""


def test_a_task_is_given_to_as_many_workers_as_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import ray
    from ray.exceptions import RayActorError

    from quire.indexing.workers.on_ray import RayWorkers

    sent, waited = ["first"], []

    def get(pending: str) -> None:
        waited.append(pending)
        raise RayActorError

    def again() -> str:
        sent.append(f"again {len(sent)}")
        return sent[-1]

    monkeypatch.setattr(ray, "get", get)
    workers = object.__new__(RayWorkers)
    assert workers._wait("first", again) is None
    assert waited == sent
    assert len(sent) == TRIES


def test_no_more_is_taken_than_is_under_way() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    results: list[tuple[int, int]] = []
    for item, result in in_order(items(), lambda item: item, lambda _, pending: pending * 2, 4):
        assert len(taken) - len(results) <= 4
        results.append((item, result))
    assert results == [(number, number * 2) for number in range(50)]


def test_a_worker_with_another_model_is_refused() -> None:
    with pytest.raises(EmbedError, match="the store wants other/1"):
        Worker(SETTINGS).embed(["a text"], "other/1")
    with pytest.raises(EmbedError, match="a worker has the model None"):
        Worker(WorkerSettings(EmbedSettings(provider="none"))).embed(["a text"], "other/1")


def test_errors_of_workers_arrive_whole() -> None:
    """They cross processes: every fact of theirs does."""
    error = EmbedError("no answer", field="embed.url", value="x", hint="try again", place="here")
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, EmbedError)
    assert (str(copy), copy.field, copy.value) == (str(error), error.field, error.value)


@pytest.mark.parametrize(
    "place",
    [
        "processes",
        "processes:0",
        "processes:x",
        "processes:1000",
        "rays",
        "ray:x",
        "ray://",
        "http://a",
    ],
)
def test_a_place_that_there_is_not(place: str) -> None:
    with pytest.raises(InputError) as caught:
        open_workers(place, SETTINGS, no_embedder)
    assert caught.value.field == "on"
    assert "processes:N" in caught.value.allowed


def test_the_command_says_what_is_wrong(tree: Tree) -> None:
    tree.write("a.md", "A note\n")
    done = tree.call("index", "--on", "moon")
    assert done.returncode == 2
    assert "'moon' is not a place for workers" in done.stderr


def test_a_cluster_that_does_not_answer(tree: Tree) -> None:
    """In a process of its own: this one has a cluster already."""
    tree.write("a.md", "A note\n")
    done = tree.run("index", "--no-embed", "--on", "ray://127.0.0.1:9")
    assert done.returncode == 1
    assert "no Ray cluster answers at ray://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_address_in_the_environment_at_which_nothing_listens(tree: Tree) -> None:
    """Ray itself would try for minutes."""
    tree.write("a.md", "A note\n")
    started = time.monotonic()
    env = {"RAY_ADDRESS": "127.0.0.1:9"}
    done = tree.run("index", "--no-embed", "--on", "ray", env=env)
    assert done.returncode == 1
    assert "no Ray cluster answers at 127.0.0.1:9: Connection refused" in done.stderr
    assert "Traceback" not in done.stderr
    assert time.monotonic() - started < 60, "on a busy machine; it is three seconds"


@pytest.mark.parametrize("has_token", [False, True])
def test_a_cluster_that_refuses_the_client(
    has_token: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ray says only that it waited too long."""
    import ray

    from quire.indexing.workers import on_ray
    from quire.system import ray_cluster

    def init(**_: object) -> None:
        assert has_token, "it is asked for nothing without a token"
        raise ConnectionError("ray client connection timeout")

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "x" * 40 if has_token else "")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray_cluster, "_wants_token", lambda *_: True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(EndpointError, match="wants another token") as caught:
            on_ray.RayWorkers(SETTINGS, address)
        assert "RAY_AUTH_TOKEN" in caught.value.hint
        monkeypatch.setattr(ray_cluster, "_wants_token", lambda *_: False)
        monkeypatch.setenv("RAY_AUTH_TOKEN", "y")
        has_token = True
        with pytest.raises(EndpointError, match="no Ray cluster answers at ray://"):
            on_ray.RayWorkers(SETTINGS, address)


def test_an_embedder_of_the_program_cannot_be_sent(tree: Tree) -> None:
    import quire
    from tests.word_model import WordModel

    tree.write("a.md", "A note\n")
    with quire.open(tree.root, embedder=WordModel(16)) as opened:
        with pytest.raises(InputError, match="cannot use the embedder of this program"):
            opened.index(on="processes:2")
        assert opened.index().vectors == 1
