"""Nothing of an evaluation set gets into training data."""

import io
import json
import tarfile
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from train import filters, harvest, mix

TEXT = "the quick brown fox jumps over the lazy dog while seven wizards watch from the tower"
CODE = "\n".join(f"result_{i} = compute_the_value_of_something(argument_{i})" for i in range(6))


def known() -> filters.EvaluationTexts:
    texts = filters.EvaluationTexts()
    texts.add_text(TEXT)
    texts.add_code(CODE)
    return texts


def test_shared_shingles_are_found_whatever_the_case_and_marks() -> None:
    assert known().contains_text("Note: " + TEXT.upper().replace(" ", ", "))
    assert not known().contains_text(
        "an entirely different text of more than eight words in length"
    )


def test_shared_lines_of_code_are_found() -> None:
    assert known().contains_code(f"def f():\n    {CODE}")
    assert not known().contains_code(CODE.replace("compute", "derive"))


def test_a_pair_with_an_evaluation_text_is_dropped() -> None:
    dropped: Counter[str] = Counter()
    row = {"s": "docs", "q": "what do wizards do?", "p": TEXT, "n": []}
    assert not mix.keep(row, known(), dropped)
    assert dropped == {"docs evaluation": 1}
    row = {"s": "docs", "q": TEXT, "p": "Another text. " * 9, "n": []}
    assert not mix.keep(row, known(), dropped)


def test_negatives_are_never_the_passage() -> None:
    row = {
        "s": "docs",
        "q": "what is it about?",
        "p": "A text. " * 9,
        "n": ["A text.\n" * 9, "x" * 30],
    }
    assert mix.keep(row, known(), Counter())
    assert row["n"] == ["x" * 30]


@pytest.mark.parametrize(
    "name",
    [
        *("django/django", "someone/flask", "cli/cli", "BurntSushi/ripgrep", "psf/requests"),
        *("marshmallow-code/marshmallow", "pydicom/pydicom"),  # SWE-bench, development split
        *("caddyserver/caddy", "prometheus/prometheus", "gohugoio/hugo", "gin-gonic/gin"),
        *("babel/babel", "laravel/framework", "jekyll/jekyll", "rubocop/rubocop"),
        *("ReactiveX/RxJava", "redis/redis", "hashicorp/terraform"),  # SWE-bench Multilingual
        *("chartjs/Chart.js", "eslint/eslint", "quarto-dev/quarto-cli"),  # SWE-bench Multimodal
        *("google/guava", "yt-dlp/yt-dlp", "tensorflow/models"),  # SWE-PolyBench
        *("aio-libs/aiohttp", "dask/dask", "networkx/networkx", "nltk/nltk", "pandas-dev/pandas"),
        *("pydantic/pydantic", "pypa/pip", "python/mypy", "scrapy/scrapy", "spotify/luigi"),
        *("streamlit/streamlit", "zulip/zulip", "scipy/scipy"),  # Loc-Bench
        *("ipython/ipython", "urllib3/urllib3", "encode/starlette"),  # SWE-bench-Live
    ],
)
def test_repositories_of_evaluation_sets_are_known_by_name(name: str) -> None:
    assert filters.is_excluded(name, filters.excluded_names())


def test_repositories_of_no_evaluation_set_may_be_harvested() -> None:
    names = filters.excluded_names()
    assert not filters.is_excluded("apache/commons-lang", names)
    assert not filters.is_excluded("redis/redis-py", names)


def test_a_source_of_an_evaluation_set_stops_the_harvest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "sources.toml"
    sources.write_text('[[repository]]\nname = "a/caddy"\nlicence = "MIT"\nkinds = ["code"]\n')
    monkeypatch.setattr(harvest, "SOURCES", sources)
    asked = ["harvest", "--mirror", str(tmp_path), "--data", str(tmp_path / "data")]
    monkeypatch.setattr("sys.argv", asked)
    with pytest.raises(SystemExit, match="a/caddy belongs to an evaluation set"):
        harvest.main()


def test_the_sets_are_read_from_their_archives(tmp_path: Path) -> None:
    rows: dict[str, list[dict[str, object]]] = {
        "queries.jsonl": [{"text": TEXT}, {"id": 1}],
        "blobs.jsonl": [{"text": CODE}],
    }
    with tarfile.open(tmp_path / "task.tar.xz", "w:xz") as archive:
        for name, lines in rows.items():
            data = "".join(json.dumps(line) + "\n" for line in lines).encode()
            member = tarfile.TarInfo(f"task/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    read = filters.read_evaluation_sets(tmp_path)
    assert read.contains_text(TEXT)
    assert read.contains_code(CODE)
    assert not read.contains_text(CODE), "a source file counts by its lines"


def test_no_source_belongs_to_an_evaluation_set_and_each_has_a_free_licence() -> None:
    sources = tomllib.loads(harvest.SOURCES.read_text("utf-8"))["repository"]
    names = filters.excluded_names()
    assert not [one["name"] for one in sources if filters.is_excluded(one["name"], names)]
    assert not [one["name"] for one in sources if "GPL" in one["licence"] or "SA" in one["licence"]]
    assert all(kind in harvest.MAKERS for one in sources for kind in one["kinds"])
