"""The evidence benchmark, run on a made-up task through the same door as on real ones."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench.evidence import chart, measure, peers

HOME = Path(__file__).parents[1]

TASKS = """
from dataclasses import dataclass, field

@dataclass
class Doc:
    path: str
    text: str

@dataclass
class Query:
    id: str
    corpus: str
    text: str
    gold: dict
    extra: dict = field(default_factory=dict)

class Task:
    def __init__(self, name):
        self.name, self.budgets = name, [60, 400]
        held = {"rule": "chars", "units": [{"doc": "a", "parts": ["Herons nest in April."]}]}
        self.queries = [
            Query(f"q{n}", "all", "when do herons nest?", {"span": held}) for n in range(4)
        ]

    def corpus(self, name):
        return [Doc("birds/a", "Herons nest in April."), Doc("b", "Trains leave at noon. " * 40)]

    def sample(self, n):
        return self.queries[:n]
"""
METRICS = """
def norm(text):
    return " ".join(text.split())

def tokens(text):
    return len(text.split())

def score(context, gold):
    held = float(all(part in context for unit in gold["units"] for part in unit["parts"]))
    return {"recall": held, "all": held, "precision": 0.5, "iou": 0.5}
"""
PEERS = """# Peers

## birds: gold = span (n = 3)

| system | 60 | 400 | ± se | over | empty | chunks |
|---|---|---|---|---|---|---|
| oracle | 1.000 / 1.00 / 0.803 | 1.000 / 1.00 / 0.803 | 0.000 | 0 | 0 |  |
| slow | 0.250 / 0.20 / 0.051 | 0.500 / 0.50 / 0.027 | 0.024 | 0 | 0 | 239 |
| fast | 0.300 / 0.30 | 0.400 / 0.40 | 0.020 | 0 | 0 | 2 |

## Time and memory

| system | p50 |
|---|---|
| slow | 12 |
"""


@pytest.fixture
def benchmark_folder(tmp_path: Path) -> Path:
    home = tmp_path / "data"
    (home / "dev").mkdir(parents=True)
    (home / "results").mkdir()
    (home / "dev" / "birds.tar.xz").touch()
    (home / "tasks.py").write_text(TASKS)
    (home / "metrics.py").write_text(METRICS)
    (home / "results" / "peers.md").write_text(PEERS)
    return home


def _run(folder: Path, cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, "BENCH_DATA": str(folder), "BENCH_CACHE": str(cache)}
    given["PYTHONPATH"] = os.pathsep.join([str(HOME / "src"), str(HOME)])
    return subprocess.run(
        [sys.executable, "-m", "bench.evidence", *words],
        env=given, cwd=cache, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_task_is_measured_beside_the_stored_peers(benchmark_folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    out = tmp_path / "out.json"
    done = _run(benchmark_folder, cache, "--coverage", "0", "--json", str(out), "--rows")
    assert done.returncode == 0, done.stderr
    assert "birds: evidence held" in done.stdout
    assert "fast" in done.stdout
    told = json.loads(out.read_text())
    figures = {one["budget"]: one for one in told["figures"]}
    assert set(figures) == {60, 400}
    assert figures[60]["recall"] == 1.0
    assert figures[60]["n"] == 3  # as many as the peers were asked
    assert figures[60]["over"] == 0
    assert 0 < figures[400]["filled"] <= 1
    assert len(told["rows"]) == 6
    ET.parse(out.with_suffix(".svg"))

    again = _run(benchmark_folder, cache, "--coverage", "0", "--json", str(out), "--sample", "all")
    assert again.returncode == 0, again.stderr
    assert json.loads(out.read_text())["figures"][0]["n"] == 4


def test_losses_and_ablations(benchmark_folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    options = ("--coverage", "0", "--json", str(tmp_path / "out.json"))
    lost = _run(benchmark_folder, cache, *options, "--losses", "--budgets", "60,20")
    assert lost.returncode == 0, lost.stderr
    told = [line.split() for line in lost.stdout.splitlines() if line.startswith("span")]
    assert told == [["span", "3", "0", "0", "0", "0", "0", "0"]]
    missed = _run(benchmark_folder, cache, *options, "--losses", "--budgets", "5")
    told = [line.split() for line in missed.stdout.splitlines() if line.startswith("span")]
    assert told == [["span", "0", "0", "3", "0", "0", "0", "0"]]
    for name in ("linked", "whole"):
        done = _run(benchmark_folder, cache, *options, "--without", name)
        assert done.returncode == 0, done.stderr
        assert json.loads((tmp_path / "out.json").read_text())["without"] == name


def test_without_data_it_says_what_is_missing(tmp_path: Path) -> None:
    done = _run(tmp_path / "nothing", tmp_path)
    assert done.returncode == 1
    assert "BENCH_DATA must name the folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_stored_figures_are_read(benchmark_folder: Path) -> None:
    known = peers.stored(benchmark_folder)
    assert [one.system for one in known] == ["oracle", "oracle", "slow", "slow", "fast", "fast"]
    assert peers.sizes(known) == {"birds": 3}
    best = peers.best(known, "birds", "span", 400)
    assert best is not None
    assert (best.system, best.recall, best.complete, best.precision) == ("slow", 0.5, 0.5, 0.027)
    assert peers.best(known, "birds", "span", 999) is None


def test_halves_are_fixed_and_about_even() -> None:
    parts = [measure.half(f"q{number}") for number in range(1000)]
    assert parts == [measure.half(f"q{number}") for number in range(1000)]
    assert 400 < parts.count(measure.SEEN) < 600


def test_figures_tell_mean_and_standard_error() -> None:
    def row(recall: float) -> measure.Row:
        return measure.Row("t", "q", 10, "g", recall, 0.0, None, 0.5, over=False, seconds=0.001)

    (figure,) = measure.figures("s", [row(0.0), row(1.0), row(1.0), row(0.0)])
    assert figure.recall == 0.5
    assert figure.error == pytest.approx(0.25)
    assert figure.precision is None


def test_a_chart_has_a_line_for_each_system(benchmark_folder: Path) -> None:
    known = [one for one in peers.stored(benchmark_folder) if one.system != peers.ORACLE]
    picture = chart.drawn(known, "a <test>")
    root = ET.fromstring(picture)
    lines = root.findall(".//{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 2
    assert "a &lt;test&gt;" in picture
