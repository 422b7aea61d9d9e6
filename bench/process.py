"""What does it cost in a process of its own: time from the start, and memory?

`python -m bench.process JOB ARGUMENTS` does one job and prints what it measured as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOP = 50


def measured(job: str, *arguments: str) -> dict[str, Any]:
    """Run a job in a fresh process; gives what it told, and the seconds until it had ended."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "bench.process", job, *arguments],
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    wall = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{job} failed:\n{done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**told, "wall_seconds": wall}


@contextmanager
def serving(
    python: str, module: str, *arguments: str, sources: Path | None = None
) -> Iterator[Callable[[object], Any]]:
    """Talk with a process in lines of JSON: what is said to it, and what it answers.

    With `sources`, it runs those of another checkout.
    """
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [python, "-W", "ignore", "-m", module, *arguments],
            env=_environment(sources),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as started,
    ):
        said, answered = started.stdin, started.stdout
        assert said is not None, "a pipe"
        assert answered is not None, "a pipe"

        def talk(words: object) -> Any:
            said.write(json.dumps(words) + "\n")
            said.flush()
            line = answered.readline()
            if not line:
                errors.seek(0)
                raise SystemExit(f"{module} failed:\n{errors.read()}")
            return json.loads(line)

        try:
            yield talk
        finally:
            started.kill()


def _environment(sources: Path | None = None) -> dict[str, str]:
    here = Path(__file__).parent.parent  # another Python has no Quire installed
    quire = (here / "src" if sources is None else sources).absolute()
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(here), str(quire)))}


def _search_words(store: str, question: str) -> dict[str, Any]:
    start = time.perf_counter()
    from quire.core.types import OWNER
    from quire.store import open_store

    opened = open_store(Path(store), create=False)
    with opened.view(OWNER) as view:
        found = view.lexical(question, TOP)
    inside = time.perf_counter() - start
    opened.close()
    return {"inside_seconds": inside, "hits": len(found.hits)}


def _search_both(store: str, question: str) -> dict[str, Any]:
    """As a search does it: the model, both searches, their fusion and the chunks.

    Made-up vectors belong to no model, so the parts are put together here.
    """
    start = time.perf_counter()
    from quire import ranking
    from quire.core.types import OWNER, EmbedSettings, RankSpec, SourceSpec
    from quire.embed import open_embedder
    from quire.store import open_store

    opened = open_store(Path(store), create=False)
    embedder = open_embedder(EmbedSettings())
    assert embedder is not None, "the local model"
    loaded = time.perf_counter() - start
    vector = embedder.embed_query(question)
    with opened.view(OWNER) as view:
        view.roots()
        found = {"lexical": view.lexical(question, TOP), "semantic": view.semantic(vector, TOP)}
        fused = ranking.fuse(found, dict.fromkeys(found, SourceSpec()), RankSpec())[:TOP]
        chunks = view.chunks([one.chunk_id for one in fused])
    inside = time.perf_counter() - start
    opened.close()
    return {"inside_seconds": inside, "model_seconds": loaded, "hits": len(chunks)}


def _index(root: str, store: str) -> dict[str, Any]:
    """Index a folder without vectors, by stages."""
    import quire
    from bench.stages import watched

    with quire.open(root, store=store) as opened, watched() as stages:
        start = time.perf_counter()
        result = opened.index(embed=False)
        seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "stages": stages,
        "indexed": result.indexed,
        "skipped": len(result.skipped),
        "chunks": result.chunks,
    }


def _again(root: str, store: str) -> dict[str, Any]:
    """Index a folder that has not changed."""
    import quire

    with quire.open(root, store=store) as opened:
        start = time.perf_counter()
        result = opened.index(embed=False)
        return {"seconds": time.perf_counter() - start, "unchanged": result.unchanged}


def _embed(store: str, count: str) -> dict[str, Any]:
    """Embed a sample of what has no vector yet, spread over the whole, and write it."""
    from bench.stages import EMBED, watched
    from quire.core.types import EmbedSettings
    from quire.embed import open_embedder
    from quire.store import open_store

    start = time.perf_counter()
    embedder = open_embedder(EmbedSettings())
    assert embedder is not None, "the local model"
    loading = time.perf_counter() - start
    opened = open_store(Path(store), create=False)
    every = [pair for batch in opened.missing_vectors() for pair in batch]
    step = max(1, len(every) // int(count))
    sample = every[::step][: int(count)]
    with watched() as stages:
        for at in range(0, len(sample), 64):
            part = sample[at : at + 64]
            made = embedder.embed([text for _, text in part])
            with opened.write() as writer:
                keys = (key for key, _ in part)
                writer.put_vectors(embedder.model, dict(zip(keys, made, strict=True)))
    opened.close()
    embedding = stages[EMBED]
    return {
        "loading_seconds": loading,
        "embed_seconds": embedding,
        "write_seconds": sum(stages.values()) - embedding,
        "texts": len(every),
        "sample": len(sample),
    }


def _assembly_memory(store: str, asked: str) -> dict[str, Any]:
    """Assemble many contexts, and tell what that took."""
    from bench import assemble

    return assemble.memory(store, int(asked))


def _agent_memory(store: str, asked: str) -> dict[str, Any]:
    """Make many pages for agents, and tell what that took."""
    from bench import agent

    return agent.memory(store, int(asked))


def peak_mib() -> float:
    """Tell how much memory this process has held at most."""
    return _mib("VmHWM")


def resident_mib() -> float:
    """Tell how much memory this process holds now."""
    return _mib("VmRSS")


def _mib(wanted: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == wanted:
            return int(value.split()[0]) / 1024
    return float("nan")


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "words": _search_words,
    "both": _search_both,
    "index": _index,
    "again": _again,
    "embed": _embed,
    "assembly-memory": _assembly_memory,
    "agent-memory": _agent_memory,
}


if __name__ == "__main__":
    told = JOBS[sys.argv[1]](*sys.argv[2:])
    print(json.dumps({**told, "peak_mib": peak_mib()}))
