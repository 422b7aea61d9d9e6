"""What the same questions get without Quire: `rg`, BM25 over windows of lines, and other tools.

All read the files of a checkout that git knows, and all are cut at the budget. The pattern of
`rg` is made by a rule, not by hand: the rarest words of the question that the project has.

Other tools live where they were installed: REPOMIX names its program, AIDER_PYTHON and
LLAMAINDEX_PYTHON the Python of their environments (`peer_pages.py`). Repomix packs a whole
project whatever is asked, so its answer is the beginning of that.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from quire.store.index import analyzer
from quire.tokens import open_counter, truncate_text

RG, WINDOWS = "rg", "windows"
REPOMIX, REPOMIX_COMPRESSED = "repomix", "repomix-compressed"
AIDER, LLAMAINDEX, LLAMAINDEX_SMALL = "aider", "llamaindex", "llamaindex-256"
BASELINES = (RG, WINDOWS, REPOMIX, REPOMIX_COMPRESSED, AIDER, LLAMAINDEX, LLAMAINDEX_SMALL)
PEERS = {
    AIDER: ("AIDER_PYTHON", "aider", "2000"),
    LLAMAINDEX: ("LLAMAINDEX_PYTHON", "llamaindex", "1024"),
    LLAMAINDEX_SMALL: ("LLAMAINDEX_PYTHON", "llamaindex", "256"),
}
"""Where the Python of a peer is named, what runs it, and the tokens of its map or of its nodes."""
RAREST = 3
"""How many words of a question make the pattern."""
AROUND = 8
"""How many lines `rg` shows around a match."""
SHORTEST = 4
"""Shorter words are not searched for."""
LINES = 40
"""How many lines a window has; each begins where the one before ends."""
K1, B = 1.2, 0.75
MAX_FILE = 1_000_000
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]+")


@dataclass(frozen=True)
class Corpus:
    """The lines of a project's files, and how often each word occurs in its windows."""

    folder: Path
    windows: tuple[tuple[str, str], ...]
    """The place of each window, and its text."""
    counts: tuple[Counter[str], ...]

    def frequency(self, word: str) -> int:
        """Count the windows that have a word."""
        return sum(word in counts for counts in self.counts)


def page(name: str, folder: Path, question: str, budget: int) -> str:
    """Give what a way other than Quire would put into the budget."""
    if name in PEERS:
        text = _ask_peer(name, folder, question)
    elif name in {REPOMIX, REPOMIX_COMPRESSED}:
        text = _pack(folder, compressed=name == REPOMIX_COMPRESSED)
    else:
        corpus = _load(folder)
        text = _rg(corpus, question) if name == RG else _best_windows(corpus, question)
    return truncate_text(open_counter(), text, budget)


@lru_cache(maxsize=2)
def _pack(folder: Path, *, compressed: bool) -> str:
    """Pack a project with Repomix; what lies in it beside its own files is left out."""
    options = ["--stdout", "--quiet", "--ignore", ".quire/**", *(["--compress"] * compressed)]
    done = subprocess.run(
        [os.environ["REPOMIX"], *options], cwd=folder, capture_output=True, check=True
    )
    return done.stdout.decode("utf-8", "replace")


@lru_cache(maxsize=len(PEERS))
def _peer(name: str, folder: Path) -> subprocess.Popen[str]:
    python, peer, tokens = PEERS[name]
    script = Path(__file__).parent / "peer_pages.py"
    command = [os.environ[python], str(script), peer, str(folder), tokens]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _ask_peer(name: str, folder: Path, question: str) -> str:
    process = _peer(name, folder)
    assert process.stdin is not None, "piped"
    assert process.stdout is not None, "piped"
    print(json.dumps(question), file=process.stdin, flush=True)
    return str(json.loads(process.stdout.readline()))


@lru_cache(maxsize=1)
def _load(folder: Path) -> Corpus:
    windows = [
        (f"{path}:{at + 1}", "\n".join(lines[at : at + LINES]))
        for path, lines in _files(folder)
        for at in range(0, len(lines), LINES)
    ]
    return Corpus(folder, tuple(windows), tuple(Counter(_words(text)) for _, text in windows))


def _files(folder: Path) -> Iterator[tuple[str, list[str]]]:
    listed = subprocess.run(
        ["git", "-C", str(folder), "ls-files", "-z"], check=True, capture_output=True
    )
    for path in sorted(filter(None, listed.stdout.decode().split("\0"))):
        file = folder / path
        if not file.is_file() or file.is_symlink() or file.stat().st_size > MAX_FILE:
            continue
        try:
            yield path, file.read_text("utf-8").split("\n")
        except UnicodeDecodeError:
            continue


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _asked(question: str) -> list[str]:
    stops = analyzer.STOP_WORDS
    return [word for word in dict.fromkeys(_words(question)) if word not in stops]


def _rg(corpus: Corpus, question: str) -> str:
    found = {word: corpus.frequency(word) for word in _asked(question) if len(word) >= SHORTEST}
    rarest = sorted((count, word) for word, count in found.items() if count)[:RAREST]
    if not rarest:
        return ""
    pattern = "|".join(word for _, word in rarest)
    options = ("--ignore-case", "--sort=path", "--no-heading", "--line-number", f"-C{AROUND}")
    done = subprocess.run(
        ["rg", *options, "--", pattern, "."], cwd=corpus.folder, capture_output=True, check=False
    )
    return done.stdout.decode("utf-8", "replace")


def _best_windows(corpus: Corpus, question: str) -> str:
    lengths = [counts.total() for counts in corpus.counts]
    average = sum(lengths) / max(1, len(lengths))
    scores = [0.0] * len(lengths)
    for word in _asked(question):
        frequency = corpus.frequency(word)
        idf = math.log((2 * len(lengths) + 2) / (2 * frequency + 1))
        for at, counts in enumerate(corpus.counts):
            if word in counts:
                norm = K1 * (1 - B + B * lengths[at] / average)
                scores[at] += idf * counts[word] * (K1 + 1) / (counts[word] + norm)
    best = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    return "\n\n".join("{}\n{}".format(*corpus.windows[at]) for at in best[:50] if scores[at])
