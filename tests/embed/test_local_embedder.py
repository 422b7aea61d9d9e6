import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from quire.core.types import EmbedSettings
from quire.embed.local import LocalEmbedder
from quire.errors import ConfigError, EmbedError

pytestmark = pytest.mark.model

TEXTS = [
    "A cat sits on the mat.",
    "The kitten is lying on a rug.",
    "Compile the kernel with gcc and reboot.",
    "",
    "def add(a, b):\n    return a + b",
    "[CLS] [SEP] [MASK]",
    "Ein Satz auf Deutsch mit Umlauten: äöüß",
    "你好世界 😀",
    "lone \ud800 surrogate, NUL \x00 and \x07",
    "word " * 700,
    "x" * 5000,
    "The invoice of March was paid late; see the note of the accountant. " * 6,
]
BGE_PREFIX = "Represent this sentence for searching relevant passages: "


def cosine(left: bytes, right: bytes) -> float:
    a, b = (np.frombuffer(data, dtype=np.int8).astype(np.float64) for data in (left, right))
    return float(a @ b) / float(np.sqrt((a @ a) * (b @ b)))


@pytest.fixture(scope="module")
def alone(shipped: LocalEmbedder) -> list[bytes]:
    """Each text embedded by a call of its own."""
    return [shipped.embed([text])[0] for text in TEXTS]


def test_the_name_stands_for_these_vectors(shipped: LocalEmbedder) -> None:
    # Another name here means that every store must be embedded again.
    assert shipped.model == "quire-en-2@750c7f59feacc01a/384"
    assert shipped.dims == 384


def test_near_texts_have_near_vectors(alone: list[bytes]) -> None:
    assert all(len(vector) == 384 for vector in alone)
    assert cosine(alone[0], alone[1]) > 0.65
    assert cosine(alone[0], alone[1]) > cosine(alone[0], alone[2]) + 0.2


def test_a_question_finds_its_answer(shipped: LocalEmbedder) -> None:
    question = shipped.embed_query("how do I change my password?")
    answers = shipped.embed(
        [
            "Our office is closed on public holidays.",
            "Open the account page and choose new credentials for logging in.",
            "The parser reads one token ahead.",
        ]
    )
    scores = [cosine(question, answer) for answer in answers]
    assert scores.index(max(scores)) == 1


def test_threads_order_and_batches_change_no_byte(
    shipped: LocalEmbedder, alone: list[bytes]
) -> None:
    assert shipped.embed(TEXTS) == alone
    order = list(range(len(TEXTS))) * 2
    random.Random(5).shuffle(order)
    two = LocalEmbedder(EmbedSettings(threads=2))
    assert two.model == shipped.model
    assert two.embed(TEXTS) == alone
    assert two.embed([TEXTS[i] for i in order]) == [alone[i] for i in order]
    assert [two.embed(TEXTS[i : i + 5]) for i in (0, 5, 10)] == [
        alone[i : i + 5] for i in (0, 5, 10)
    ]
    two.close()


def test_several_callers_may_share_an_embedder(shipped: LocalEmbedder, alone: list[bytes]) -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: shipped.embed(TEXTS[:4]), range(4)))
    assert results == [alone[:4]] * 4


def test_nothing_to_embed(shipped: LocalEmbedder) -> None:
    assert shipped.embed([]) == []


def test_only_the_first_512_tokens_count(shipped: LocalEmbedder) -> None:
    long = "several words in a row, " * 200
    assert shipped.embed([long + "and a quite different end"]) == shipped.embed([long])
    assert shipped.embed([long * 100]) == shipped.embed([long])


def test_a_control_token_in_a_text_does_not_end_it(shipped: LocalEmbedder) -> None:
    with_sep, without = shipped.embed(["the cat [SEP] compile the kernel", "the cat"])
    assert cosine(with_sep, without) < 0.95


def test_questions_have_the_prefix_of_the_model(shipped: LocalEmbedder) -> None:
    assert shipped.embed_query("why?") == shipped.embed([BGE_PREFIX + "why?"])[0]
    assert shipped.embed_query("why?") != shipped.embed(["why?"])[0]


@pytest.mark.parametrize("prefix", ["", "query: "])
def test_the_settings_may_change_the_prefix(shipped: LocalEmbedder, prefix: str) -> None:
    embedder = LocalEmbedder(EmbedSettings(query_prefix=prefix, threads=1))
    assert embedder.embed_query("why?") == shipped.embed([prefix + "why?"])[0]
    assert embedder.model == shipped.model
    embedder.close()


def test_a_closed_embedder_says_so() -> None:
    embedder = LocalEmbedder(EmbedSettings(threads=2))
    embedder.close()
    embedder.close()
    for ask in (
        lambda: embedder.embed(["a"]),
        lambda: embedder.embed(["a", "b"]),
        lambda: embedder.embed_query("a"),
    ):
        with pytest.raises(EmbedError, match="closed"):
            ask()
    assert embedder.dims == 384


def test_threads_below_zero_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"embed\.threads: must be at least 0, not -1"):
        LocalEmbedder(EmbedSettings(threads=-1))


EMBED_IN_A_PROCESS = """
import json, sys
from quire.embed import open_embedder
from quire.core.types import EmbedSettings
embedder = open_embedder(EmbedSettings(threads=int(sys.argv[1])))
vectors = embedder.embed(json.load(sys.stdin))
print(json.dumps([vector.hex() for vector in vectors]))
assert "quire_context_model" not in sys.modules
embedder.close()
"""


def test_another_process_and_its_environment_change_nothing(
    alone: list[bytes], tmp_path: Path
) -> None:
    environment = os.environ | {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "OMP_NUM_THREADS": "3",
        "MKL_NUM_THREADS": "3",
        "RAYON_NUM_THREADS": "1",
        "ORT_DISABLE_TELEMETRY": "0",
        "PYTHONHASHSEED": "77",
        "LC_ALL": "tr_TR.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", EMBED_IN_A_PROCESS, "3"],
        input=json.dumps(TEXTS),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, ""), "nothing is printed beside the result"
    assert [bytes.fromhex(text) for text in json.loads(done.stdout)] == alone
    # onnxruntime would leave a device number and a queue of reports here.
    assert list(tmp_path.rglob("*")) == []


FORK = """
import os, sys
from quire.embed import open_embedder
from quire.core.types import EmbedSettings
embedder = open_embedder(EmbedSettings(threads=2))
texts = ["one text", "another text", "a third one"]
before = embedder.embed(texts)
child = os.fork()
if child == 0:
    same = embedder.embed(texts) == before
    embedder.close()
    os._exit(0 if same else 3)
_, status = os.waitpid(child, 0)
assert embedder.embed(texts) == before
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_a_forked_child_goes_on_with_it() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
