"""The benchmark of helpful pages: places, labels, pools and figures, on tiny corpora."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import cache
from bench.pages import labels, pool, questions, score, systems
from bench.pages.corpora import CORPORA, LEARNED, MATERIAL, PAGES, TREE, Corpus, rows_of
from bench.pages.judge import Judged
from bench.pages.labels import Label, LabelError
from bench.pages.locate import locate, runs_of, shown_lines
from bench.pages.pieces import Piece, Span, hash_of, pieces_of
from bench.pages.questions import Question
from bench.pages.stores import Opened, open_corpus

ROOT = Path(__file__).parents[1]
NOTES = {
    "Harbour.md": "# Harbour\n\nThe crane lifts [forty tons](x.md) at most.\n\n## Tasks\n\n"
    "- [ ] Oil the crane 📅 2026-03-01\n- [ ] Paint the shed\n",
    "Tides.md": "# Tides\n\nHigh water is at noon.\n\n## Tasks\n\n- [ ] Print the table\n",
}
CODE = {
    "ships.py": '"""Ships."""\n\n\ndef load(ship, crates):\n    """Put crates on a ship."""\n'
    "    for crate in crates:\n        ship.add(crate)\n\n\n"
    'def sink(ship):\n    """Let a ship go down."""\n    ship.afloat = False\n',
}
QUESTIONS = [
    Question("tiny-crane", "workspace", "tiny", "How much can the crane lift?"),
    Question("tiny-here", "workspace", "tiny", "What is to do on this page?", focus="Tides.md"),
    Question("tiny-none", "workspace", "tiny", "Which whales are blue?", answer=False),
    Question("ships-load", "code", "ships", "How are crates put on a ship?"),
]


@pytest.fixture(autouse=True, scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Two corpora of a few lines, and a cache of their own."""
    notes = Corpus("tiny", PAGES, lambda: NOTES, page_format="vault", as_of="2026-03-11")
    added = {"tiny": notes, "ships": Corpus("ships", TREE, lambda: CODE)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        for name, corpus in added.items():
            patch.setitem(CORPORA, name, corpus)
        cache.folder.cache_clear()
        yield
    cache.folder.cache_clear()


@pytest.fixture
def vault() -> Iterator[Opened]:
    with open_corpus(CORPORA["tiny"], embed=False) as opened:
        yield opened


def silent(_: str) -> None:
    pass


# --- places ------------------------------------------------------------------------------------


def test_a_text_is_found_through_its_markup_and_white_space() -> None:
    text = NOTES["Harbour.md"]
    assert locate(text, "The crane lifts\n   forty tons") == (3, 3)
    assert locate(text, "whales") is None
    assert locate(text, "") is None


def test_a_repeated_text_is_found_where_it_is_next() -> None:
    text = "Tasks\none\nTasks\ntwo\n"
    assert locate(text, "Tasks") == (1, 1)
    assert locate(text, "Tasks", 2) == (3, 3)
    assert locate(text, "Tasks", 9) == (1, 1)


def test_a_text_with_a_gap_is_found_roughly() -> None:
    text = "a b c d e f g\nh i j k l m n\nx\nx\nx\nx\nx\nx\nnothing of it\n"
    assert locate(text, "a b c d e f … i j k l m n") == (1, 2)


@given(st.lists(st.text("abc \n", min_size=1, max_size=8), min_size=1, max_size=12), st.data())
def test_lines_of_a_file_are_found_in_it(parts: list[str], data: st.DataObject) -> None:
    lines = "\n".join(parts).split("\n")
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    shown = "\n".join(lines[first - 1 : last])
    found = locate("\n".join(lines), shown, first)
    if not shown.split():
        assert found is None
    else:
        assert found is not None
        words = " ".join(lines[found[0] - 1 : found[1]])
        assert " ".join(shown.split()) in " ".join(words.split())


def test_only_lines_on_the_page_are_shown() -> None:
    page = "load(ship, crates): Put crates on a ship."
    assert shown_lines(CODE["ships.py"], (4, 7), page) == [5]
    assert runs_of([1, 2, 5, 12, 13]) == [(1, 5), (12, 13)]


def test_blocks_have_the_lines_that_they_came_from(vault: Opened) -> None:
    for block in vault.store.blocks.export():
        if block.id not in vault.places:
            assert block.text == "files"  # the folder that was imported stands in no file
            continue
        path, first, last = vault.places[block.id]
        lines = "\n".join(NOTES[path].split("\n")[first - 1 : last])
        assert block.text.split()[-1] in lines
    tasks = {place for place in vault.places.values() if place[1:] == (5, 5)}
    assert tasks == {("Harbour.md", 5, 5), ("Tides.md", 5, 5)}


def test_a_focus_is_a_page_or_a_line_of_it(vault: Opened) -> None:
    texts = {block.id: block.text for block in vault.store.blocks.export()}
    assert texts[vault.focus("Tides.md")] == "Tides"
    assert texts[vault.focus("Harbour.md:8")] == "Paint the shed"


def test_pieces_of_a_page_name_lines_of_the_corpus(vault: Opened) -> None:
    context = systems.ask(vault, QUESTIONS[1], "workspace")
    spans = {span for piece in pieces_of(vault, context) for span in piece.spans}
    assert Span("Tides.md", 7, 7) in spans
    assert all(span.path in NOTES for span in spans)


def test_learned_things_have_the_ids_of_the_material() -> None:
    with open_corpus(CORPORA["team"], embed=False) as opened:
        assert opened.corpus.form == LEARNED
        assert len(opened.places) == len(opened.texts)
        question = Question("x", "memory", "team", "staging database host pg-stage-2")
        pieces = pieces_of(opened, systems.ask(opened, question, "agent"))
        paths = {span.path for piece in pieces for span in piece.spans}
    assert "memories/staging-db" in paths
    assert "memories/staging-db-old" not in paths  # it is superseded


def test_bm25_finds_the_chunk_with_the_words() -> None:
    words = systems.Bm25(CODE)
    assert words.find("putting crates onto ships")[0].spans == (Span("ships.py", 1, 12),)
    assert words.find("whales") == []
    assert systems.terms("parseURLs of_the ships") == ["parse", "url", "ship"]


# --- labels ------------------------------------------------------------------------------------

TEXTS = {"a.md": "\n".join(f"{n:010}" for n in range(1, 21))}


def judged(*rows: tuple[int, int, int]) -> Judged:
    """Labels of lines in a.md, both labellers agreeing."""
    return Judged(TEXTS, [Label("q", "a.md", one, two, "", v, v) for one, two, v in rows])


def span(first: int, last: int) -> Span:
    return Span("a.md", first, last)


@pytest.mark.parametrize(
    ("rows", "piece", "value"),
    [
        ([(1, 4, 2)], (1, 4), 2),  # the passage itself
        ([(1, 10, 0), (3, 3, 2)], (1, 10), 0),  # the passage itself, whatever is in it
        ([(3, 4, 2)], (1, 10), 2),  # holds what helps
        ([(3, 4, 2), (1, 15, 1)], (1, 10), 2),  # likewise, before what is only alike
        ([(4, 11, 2)], (1, 7), 2),  # holds half of what helps
        ([(3, 8, 1)], (1, 8), 1),  # more than half is common
        ([(1, 20, 1)], (3, 4), 1),  # a part of what does not help does not help
        ([(1, 20, 2)], (3, 4), None),  # a part of what helps may be the other part
        ([(1, 2, 0)], (3, 4), None),
        ([], (3, 4), None),
    ],
)
def test_a_piece_is_judged_by_what_it_overlaps(
    rows: list[tuple[int, int, int]], piece: tuple[int, int], value: int | None
) -> None:
    assert judged(*rows).value_of_span(span(*piece)) == value


def test_a_piece_has_the_label_of_its_best_part() -> None:
    labels_ = judged((1, 1, 0), (5, 5, 2), (9, 9, 1))
    assert labels_.value_of(Piece((span(1, 1), span(5, 5)))) == 2
    assert labels_.value_of(Piece((span(1, 1), span(9, 9)))) == 1
    assert labels_.value_of(Piece((span(1, 1), span(15, 15)))) is None
    assert labels_.value_of(Piece((span(5, 5), span(15, 15)))) == 2
    assert labels_.value_of(Piece(())) == 0


def test_distinct_answers_are_the_smallest_passages_that_help() -> None:
    labels_ = judged((1, 10, 2), (3, 4, 2), (8, 9, 2), (14, 19, 2), (17, 20, 1))
    assert labels_.cores() == [span(3, 4), span(8, 9), span(14, 19)]
    assert labels_.shows([Piece((span(1, 3),))], span(3, 4))
    assert not labels_.shows([Piece((span(14, 15),))], span(14, 19))
    assert labels_.shows([Piece((span(14, 15),)), Piece((span(19, 20),))], span(14, 19))


@pytest.mark.parametrize(
    ("a", "b", "third", "value", "disputed"),
    [
        (2, 2, None, 2, False),
        (2, 1, None, 1, True),
        (0, 2, None, 0, True),
        (0, 1, None, 0, False),
        (2, 1, 2, 2, False),
        (2, 0, 1, 1, False),
        (2, None, None, None, False),
    ],
)
def test_two_must_say_that_it_helps_or_a_third(
    a: int, b: int | None, third: int | None, value: int | None, disputed: bool
) -> None:
    label = Label("q", "a.md", 1, 1, "", a, b, third)
    assert (label.value, label.is_disputed) == (value, disputed)


def test_kappa_of_a_known_table() -> None:
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert labels.cohens_kappa(pairs) == pytest.approx(0.4)
    assert labels.cohens_kappa([(2, 2), (2, 2)]) == 1.0
    assert labels.agreement([]).passages == 0


def test_answers_are_merged_by_place(tmp_path: Path) -> None:
    keys = [{"question": "q", "passage": 1, "path": "a.md", "first": 2, "last": 3, "hash": "h"}]
    for who, value in (("a", 2), ("b", 1), ("third", 2)):
        answer = {"question": "q", "passage": 1, "label": value}
        (tmp_path / f"part-01.{who}.jsonl").write_text(json.dumps(answer) + "\n")
    files = sorted(tmp_path.glob("*.jsonl"))
    merged = labels.merge([], keys, files)
    assert merged == [Label("q", "a.md", 2, 3, "h", 2, 1, 2)]
    labels.save(merged, tmp_path / "labels")
    assert labels.load(tmp_path / "labels") == merged
    changed = [{**keys[0], "hash": "other"}]
    assert labels.merge(merged, changed, files[:1]) == [Label("q", "a.md", 2, 3, "other", 2)]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("part-01.jsonl", {"question": "q", "passage": 1, "label": 2}),
        ("part-01.a.jsonl", {"question": "q", "passage": 2, "label": 2}),
        ("part-01.a.jsonl", {"question": "q", "passage": 1, "label": 3}),
        ("part-01.a.jsonl", {"question": "q", "passage": 1, "label": True}),
        ("part-01.a.jsonl", {"passage": 1}),
    ],
)
def test_unusable_answers_are_refused(tmp_path: Path, name: str, row: dict[str, object]) -> None:
    keys = [{"question": "q", "passage": 1, "path": "a.md", "first": 2, "last": 3, "hash": "h"}]
    (tmp_path / name).write_text(json.dumps(row) + "\n")
    with pytest.raises(LabelError):
        labels.merge([], keys, [tmp_path / name])


# --- pool and score ----------------------------------------------------------------------------


def test_a_pool_holds_each_passage_once_and_names_no_system(tmp_path: Path) -> None:
    entries = pool.collect(QUESTIONS, silent, embed=False)
    assert entries == pool.collect(list(reversed(QUESTIONS)), silent, embed=False)
    (file,) = pool.write(entries, tmp_path / "pool")
    text = file.read_text("utf-8")
    for question in QUESTIONS:
        assert f"Question: {question.text}" in text
    assert "The user is viewing: Tides.md" in text
    assert "Today is 2026-03-11." in text
    assert "- [ ] Print the table" in text
    assert not [word for word in ("bm25", "quire", "dense") if word in text.lower()]
    keys = rows_of(tmp_path / "pool" / pool.KEY)
    places = {(key["question"], key["path"], key["first"], key["last"]) for key in keys}
    assert len(places) == len(keys) == len(entries)
    key = next(key for key in keys if key["question"] == "ships-load")
    assert key["hash"] == hash_of(CODE, Span(key["path"], key["first"], key["last"]))


def all_labels(value: int) -> list[Label]:
    """Give every passage of the pool the same label."""
    return [
        Label(
            entry.question.id,
            entry.span.path,
            entry.span.first,
            entry.span.last,
            entry.hash,
            value,
            value,
        )
        for entry in pool.collect(QUESTIONS, silent, embed=False)
    ]


def test_labelled_pools_leave_nothing_unjudged() -> None:
    rows = score.run(QUESTIONS, all_labels(2), embed=False)
    assert rows == score.run(QUESTIONS, all_labels(2), embed=False)
    assert not [row for row in rows if row.unjudged]
    figures = {(one.kind, one.recipe): one for one in score.figures(rows)}
    work = figures["workspace", "workspace"]
    assert (work.questions, work.without_answer) == (2, 1)
    shares = (work.precision, work.recall, work.content)
    assert all(share is not None and 0.1 < share < 1 for share in shares)
    assert score.table(score.figures(rows)).text()
    assert not pool.collect_unjudged(QUESTIONS, all_labels(2), silent, embed=False)


def test_without_labels_everything_is_unjudged_and_goes_to_the_next_pool() -> None:
    rows = score.run(QUESTIONS, [], embed=False)
    assert sum(row.helps for row in rows) == 0
    assert sum(row.unjudged for row in rows) > 0
    assert pool.collect_unjudged(QUESTIONS, [], silent, embed=False)


def test_a_label_of_another_text_does_not_count() -> None:
    stale = [
        Label(one.question, one.path, one.first, one.last, "other", 2, 2) for one in all_labels(2)
    ]
    assert sum(row.helps for row in score.run(QUESTIONS, stale, embed=False)) == 0


def test_disputed_passages_go_to_a_third() -> None:
    apart = [
        Label(one.question, one.path, one.first, one.last, one.hash, 2, 1) for one in all_labels(2)
    ][:3]
    entries = pool.collect_disputed(QUESTIONS, apart, silent, embed=False)
    assert {entry.span for entry in entries} == {label.span for label in apart}


def test_precision_and_recall_of_known_rows() -> None:
    def row(*, answer: bool = True, **counts: int) -> score.Row:
        names = ("pieces", "helps", "on_topic", "unjudged", "answers", "shown")
        numbers = {name: counts.get(name, 0) for name in names}
        return score.Row(
            "q", "code", "ships", "tune", "agent", answer, **numbers, tokens=100, content_tokens=80
        )

    rows = [
        row(pieces=10, helps=3, on_topic=6, unjudged=2, answers=4, shown=3),
        row(pieces=2, helps=2, on_topic=2, answers=1, shown=1),
        row(pieces=4),
        row(answer=False, pieces=7),
    ]
    (figure,) = score.figures(rows)
    assert figure.precision == pytest.approx(5 / 14)
    assert figure.precision_at_least == pytest.approx(5 / 16)
    assert figure.on_topic == pytest.approx(8 / 14)
    assert figure.recall == pytest.approx((0.75 + 1) / 2)
    assert figure.content == pytest.approx(0.8)
    assert figure.pieces_without_answer == 7


# --- what is committed -------------------------------------------------------------------------


def test_the_questions_are_those_that_the_docs_describe() -> None:
    listed = questions.load()
    kinds = [question.kind for question in listed]
    assert len(listed) >= 130
    assert set(kinds) == {"workspace", "code", "memory", "rules"}
    assert sum(not question.answer for question in listed) == 12
    assert sum(question.reworded for question in listed) >= len(listed) / 3
    halves = [question.split for question in listed]
    assert all(halves.count(split) >= len(listed) * 0.4 for split in questions.SPLITS)
    assert all(question.situation for question in listed if question.kind == "rules")


def test_focuses_of_the_vault_exist() -> None:
    texts = CORPORA["vault"].read()
    for question in questions.load(corpora=["vault"]):
        path, _, line = question.focus.partition(":")
        assert not path or path in texts
        assert not line or int(line) <= texts[path].count("\n")


def test_labels_name_questions_and_no_text() -> None:
    known = {question.id for question in questions.load()}
    for label in labels.load():
        assert label.question in known
        assert len(label.hash) == 16


def test_every_rule_has_its_guide() -> None:
    guides = {file.stem for file in (MATERIAL / "rules" / "guides").iterdir()}
    rules = (MATERIAL / "rules" / "team.context.md").read_text("utf-8")
    assert len(guides) == 25
    assert all(f"name: {guide}," in rules for guide in guides)


def run_command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench.pages", *map(str, words)]
    search = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    env = {**os.environ, "PYTHONPATH": search, "BENCH_DATA": ""}
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, check=False)


def test_the_commands_work_on_committed_material(tmp_path: Path) -> None:
    folder, file = tmp_path / "pool", tmp_path / "labels.jsonl"
    made = run_command("pool", "--out", folder, "--corpora", "vault", "--no-embed")
    assert made.returncode == 0, made.stderr
    assert "14 questions" in made.stdout
    keys = rows_of(folder / pool.KEY)
    answers = [{"question": key["question"], "passage": key["passage"], "label": 2} for key in keys]
    given_ = [folder / f"all.{who}.jsonl" for who in ("a", "b")]
    for answered in given_:
        answered.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    merged = run_command("label", "--pool", folder, "--labels", file, "--from", *given_)
    assert merged.returncode == 0, merged.stderr
    agreed = run_command("agreement", "--labels", file)
    assert f"passages     {len(keys)}" in agreed.stdout
    words = ("score", "--labels", file, "--corpora", "vault", "--no-embed", "--json")
    scored = run_command(*words, "--quire-src", ROOT)
    assert scored.returncode == 0, scored.stderr
    assert scored.stdout == run_command(*words).stdout
    (figure,) = json.loads(scored.stdout)["figures"]
    assert figure["unjudged"] == 0
    refused = run_command(*words, "--quire-src", tmp_path)
    assert refused.returncode == 2
    assert "holds no quire" in refused.stderr
    (tmp_path / "quire").mkdir()
    assert "too old" in run_command(*words, "--quire-src", tmp_path).stderr
