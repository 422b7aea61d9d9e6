"""The words of a text."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.store.index import analyzer

from .samples import document

TABLE: dict[str, list[str]] = {
    "": [],
    "  \n\t": [],
    "...!?": [],
    "hello": ["hello"],
    "Hello, World!": ["hello", "world"],
    "running runs ran": ["run", "run", "ran"],
    "connections connected": ["connect", "connect"],
    "a a a": ["a", "a", "a"],
    "camelCase": ["camelcas", "camel", "case"],
    "HTTPServer": ["httpserver", "http", "server"],
    "parseHTTPRequest": ["parsehttprequest", "pars", "http", "request"],
    "snake_case_name": ["snake_case_nam", "snake", "case", "name"],
    "_private": ["_privat", "privat"],
    "__init__": ["__init__", "init"],
    "SCREAMING_CASE": ["screaming_cas", "scream", "case"],
    "os.path.join": ["os.path.join", "os", "path", "join"],
    "v1.2.3": ["v1.2.3", "v1", "2", "3"],
    "end. Start": ["end", "start"],
    "docs/guide.md": ["doc", "guide.md", "guid", "md"],
    "don't": ["don", "t"],
    "x86_64": ["x86_64", "x86", "64"],
    "3.14": ["3.14", "3", "14"],
    "1,000": ["1", "000"],
    "e-mail": ["e", "mail"],
    "foo\0bar": ["foo", "bar"],
    "Café": ["cafe"],
    "CAFE\u0301": ["cafe"],  # the accent is a sign of its own, and no letter
    "naïve Ångström": ["naiv", "angstrom"],
    "Straße": ["strass"],
    "\uff26\uff35\uff2c\uff2c": ["full"],  # letters of full width
    "ﬁle": ["file"],
    "İstanbul": ["istanbul"],
    "Ω ω": ["ω", "ω"],
    "Привет": ["привет"],
    "你好": ["你好"],
    "检索引擎": ["检索", "索引", "引擎"],
    "好": ["好"],
    "検索エンジン": ["検索", "索エ", "エン", "ンジ", "ジン"],
    "ひらがな": ["ひら", "らが", "がな"],
    "안녕하세요": ["안녕", "녕하", "하세", "세요"],
    "สวัสดี": ["สว", "วั", "ัส", "สด", "ดี"],
    "GPUで学習": ["gpu", "で学", "学習"],
    "テスト.py": ["テス", "スト", "py"],
    "emoji 😀😃 here": ["emoji", "here"],
    "a\u200bb": ["a", "b"],
    "x" * 100: ["x" * 64],
    "½ cup": ["1\u20442", "cup"],
    "\uff9e": [],
    "\u037a": [],
    "\ud800": [],
    "a\ud800b": ["a", "b"],
}


@pytest.mark.parametrize("text", TABLE, ids=lambda text: ascii(text)[:40])
def test_the_words_of(text: str) -> None:
    assert analyzer.tokenize(text) == TABLE[text]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("the", {"the": 1}),
        ("the of the", {"the": 2, "of": 1}),
        ("the index", {"index": 1}),
        ("How does the index work", {"index": 1, "work": 1}),
        ("being done", {"done": 1}),
        ("index Index indexes", {"index": 3}),
        ("", {}),
    ],
)
def test_function_words_count_only_alone(query: str, expected: dict[str, int]) -> None:
    assert dict(analyzer.count_query_words(query)) == expected


def test_a_chunk_has_the_words_of_its_path_title_and_text() -> None:
    chunk = document("a", "Beta beta", path="docs/beta.md", title="Gamma > Beta").chunks[0]
    counts, length = analyzer.count_chunk_words(chunk)
    assert dict(counts) == {"doc": 1, "beta.md": 1, "beta": 4, "md": 1, "gamma": 1}
    assert length == 8


def test_a_question_finds_the_words_of_a_text_in_any_spelling() -> None:
    for text, query in (
        ("getUserName", "user"),
        ("getUserName", "getusername"),
        ("getUserName", "GetUserName"),
        ("Les élèves", "eleves"),
        ("检索引擎", "引擎"),
        ("config.max_bytes", "max_bytes bytes config"),
        ("STRASSE", "straße"),
    ):
        text_words = set(analyzer.tokenize(text))
        assert set(analyzer.tokenize(query)) & text_words, (text, query)


@given(st.text())
def test_any_text_has_words(text: str) -> None:
    words = analyzer.tokenize(text)
    assert all(0 < len(word) <= analyzer.MAX_WORD_LENGTH and word.strip() for word in words)
    for word in words:
        word.encode("utf-8")  # a word can be kept in any database


@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=30))
def test_words_do_not_depend_on_what_was_asked_before(others: list[str], text: str) -> None:
    analyzer._forms.cache_clear()
    alone = analyzer.tokenize(text)
    analyzer._forms.cache_clear()
    for other in others:
        analyzer.tokenize(other)
    assert analyzer.tokenize(text) == alone


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_plain_text_has_the_same_words_beside_a_foreign_sign(text: str) -> None:
    """Texts of ASCII alone take a shorter way."""
    assert analyzer.tokenize(f"{text} é")[:-1] == analyzer.tokenize(text)


@given(st.text(max_size=40), st.text(max_size=40))
def test_words_on_two_lines_are_the_words_of_both(one: str, two: str) -> None:
    assert analyzer.tokenize(f"{one}\n{two}") == analyzer.tokenize(one) + analyzer.tokenize(two)


def test_many_threads_get_the_same_words() -> None:
    texts = [f"connection{number} runningTest{number} déjà{number}" for number in range(3000)]
    expected = [analyzer.tokenize(text) for text in texts]
    analyzer._forms.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(analyzer.tokenize, texts)) == expected


def test_time_grows_with_the_text_and_not_faster() -> None:
    """Neither a long word nor many dots make the patterns go to and fro."""
    for text in ("a" * 200_000, "a." * 100_000, "aB" * 50_000, "你" * 100_000, "_" * 100_000):
        assert analyzer.tokenize(text) is not None


CYRILLIC = str.maketrans("bdkBDK", "бдкБДК")


@given(st.text("bdkBDK19_.", max_size=12))
def test_identifiers_are_split_alike_in_all_scripts(text: str) -> None:
    # Words of these letters have no endings.
    words = [word.translate(CYRILLIC) for word in analyzer.tokenize(text)]
    assert words == analyzer.tokenize(text.translate(CYRILLIC))
