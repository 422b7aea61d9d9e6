"""Why-not names what keeps a piece out, and settings that really let it in."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from quire import AccessRule, Filter, Quire
from quire.core.types import OWNER, Context, Options
from quire.errors import InputError
from quire.pipeline.why_not import MAX_PIECES, Relaxation, WhyNot
from quire.retrieval import COLLECTORS
from tests.conftest import Tree
from tests.pipeline.builders import Broken
from tests.pipeline.conftest import opened, shelves
from tests.pipeline.strategies import CASES

QUERY = "quorum vote leader"


def as_recipe(base: str, relaxed: Sequence[Relaxation]) -> str:
    """Write the settings that were named as a recipe of one's own."""
    lines = [f'extends = "{base}"', *(f"{one.setting} = {one.value}" for one in relaxed)]
    return "\n".join(lines) + "\n"


def lets_in(store: Quire, query: str, base: Path, told: WhyNot, **options: Any) -> bool:
    """Apply what was named, as anyone could, and look."""
    file = base.with_name("relaxed.toml")
    file.write_text(as_recipe(base.name, told.relaxed), "utf-8")
    context = store.assemble(query, recipe=str(file), **options)
    return told.chunk_id in {source.chunk_id for source in context.sources}


def inside(context: Context) -> set[str]:
    return {source.chunk_id for source in context.sources}


TIGHT = """
extends = "documents"
[sources.lexical]
k = 25
[sources.semantic]
k = 12
[rank]
top = 10
deeper = 0
[fit]
dedup = 0.5
per_document = 2
[budget]
total = {total}
reserved = {{}}
overflow = "{overflow}"
"""


@pytest.mark.parametrize(
    ("overflow", "total"), [("skip", 400), ("cut", 500), ("stop", 300), ("skip", 30)]
)
def test_what_is_named_lets_any_piece_in(
    library: Quire, tmp_path: Path, overflow: str, total: int
) -> None:
    recipe = tmp_path / "tight.toml"
    recipe.write_text(TIGHT.format(overflow=overflow, total=total), "utf-8")
    context = library.assemble(QUERY, recipe=str(recipe), allow_empty=True)
    fates = {one.chunk_id: one for one in context.decisions}
    steps: Counter[str] = Counter()
    paths = sorted({record.path for record in library.documents.list()})
    for path in paths[:: 8 if total > 30 else 12]:
        for told in library.why_not(QUERY, path, recipe=str(recipe)):
            assert told.path == path
            assert told.inside == (told.chunk_id in inside(context))
            fate = fates.get(told.chunk_id)
            assert told.step == (fate.step if fate else "collect")
            assert not fate or told.reason == fate.reason
            if told.inside:
                assert told.checked
                assert not told.relaxed
                continue
            steps[told.step] += 1
            if not told.tried:
                assert not told.checked
                assert not told.relaxed
                continue
            assert [one.step for one in told.relaxed][:1] == [told.step] or not told.checked
            if told.checked:
                assert lets_in(library, QUERY, recipe, told)
            else:
                assert told.step in {"collect", "dedup"}
    assert {"collect", "rank"} <= set(steps) or total == 30


def pieces_dropped_at(context: Context, step: str) -> list[tuple[str, int, str]]:
    return [(one.path, one.lines[0], one.chunk_id) for one in context.decisions if one.step == step]


@pytest.mark.parametrize(
    ("step", "setting", "options"),
    [
        ("rank", "rank.top", {}),
        ("group", "fit.per_document", {"per_document": 1}),
        ("pack", "budget.total", {"budget": 1500}),
    ],
)
def test_each_step_has_its_setting(
    library: Quire, tmp_path: Path, step: str, setting: str, options: Options
) -> None:
    recipe = tmp_path / "small.toml"
    recipe.write_text('extends = "documents"\n[rank]\ntop = 40\n', "utf-8")
    asked: Options = {**options, "recipe": str(recipe)}
    context = library.assemble(QUERY, **asked)
    dropped = pieces_dropped_at(context, step)
    assert dropped
    for path, line, name in dropped[:5]:
        (told,) = (
            one for one in library.why_not(QUERY, path, line, **asked) if one.chunk_id == name
        )
        assert (told.step, told.relaxed[0].step, told.relaxed[0].setting) == (step, step, setting)
        assert told.checked


def test_the_budget_that_is_named_is_the_least_around_it(library: Quire) -> None:
    context = library.assemble(QUERY, budget=400, reserve={})
    for path, line, name in pieces_dropped_at(context, "pack")[:8]:
        (told,) = (
            one
            for one in library.why_not(QUERY, path, line, budget=400, reserve={})
            if one.chunk_id == name
        )
        (relaxation,) = told.relaxed
        enough = int(relaxation.value)
        assert enough > 400
        assert name in inside(library.assemble(QUERY, budget=enough, reserve={}))
        assert name not in inside(library.assemble(QUERY, budget=enough - 1, reserve={}))


def test_the_place_that_is_named_is_the_least(library: Quire, tmp_path: Path) -> None:
    recipe = tmp_path / "few.toml"
    recipe.write_text('extends = "documents"\n[rank]\ntop = 5\n[budget]\ntotal = 90000\n', "utf-8")
    context = library.assemble(QUERY, recipe=str(recipe))
    for path, line, name in pieces_dropped_at(context, "rank")[:6]:
        (told,) = (
            one
            for one in library.why_not(QUERY, path, line, recipe=str(recipe))
            if one.chunk_id == name
        )
        (relaxation,) = told.relaxed
        fewer = Relaxation("rank", "", "rank.top", int(relaxation.value) - 1)
        less = replace(told, relaxed=(fewer,))
        assert lets_in(library, QUERY, recipe, told)
        assert not lets_in(library, QUERY, recipe, less)


def test_the_overlap_that_is_named_is_the_least(tree: Tree) -> None:
    text = "The quorum takes a vote. The leader counts it by hand and writes down the result."
    asides = ("of course", "as usual, in short", "as usual, in short, to be clear, of course")
    tree.fill(
        {"a.md": f"{text} {QUERY}.\n"}
        | {f"copy{at}.md": f"{text[:-1]}, {aside}.\n" for at, aside in enumerate(asides)}
    )
    with opened(tree) as store:
        store.index(embed=False)
        dropped = pieces_dropped_at(store.assemble(QUERY, dedup=0.5), "dedup")
        assert len(dropped) >= 2
        for path, line, name in dropped:
            (told,) = store.why_not(QUERY, path, line, dedup=0.5)
            assert (told.step, told.checked) == ("dedup", True)
            assert [one.setting for one in told.relaxed] == ["fit.dedup"]
            value = float(told.relaxed[0].value)
            assert name in inside(store.assemble(QUERY, dedup=value))
            assert name not in inside(store.assemble(QUERY, dedup=value - 0.001))


@pytest.fixture
def project(tree: Tree) -> Iterator[Quire]:
    tree.fill(
        {
            "a.md": "The quorum takes a vote.\n",
            "copy.md": "The quorum takes a vote.\n",
            "other.md": "Nothing of the kind stands here.\n",
            "secret/b.md": "A quorum of two may vote.\n",
        }
    )
    with opened(tree) as found:
        found.access.set_rules([AccessRule("secret/**", ("owner",))])
        found.index(embed=False)
        yield found


def test_a_piece_that_is_in_is_said_to_be_in(project: Quire, tree: Tree) -> None:
    (told,) = project.why_not("quorum", "a.md")
    assert (told.inside, told.checked, told.relaxed) == (True, True, ())
    assert (told.path, told.lines, told.step, told.reason) == ("a.md", (1, 1), "fit", "fits")
    done = tree.call("why-not", "quorum", "a.md")
    assert (done.returncode, done.stdout) == (0, "a.md:1-1 is in the context\n")


def test_the_very_same_text_is_never_let_in_twice(project: Quire, tree: Tree) -> None:
    (told,) = project.why_not("quorum", "copy.md")
    assert (told.inside, told.checked, told.relaxed, told.step) == (False, False, (), "dedup")
    assert told.reason.startswith("100% of it stands in a.md:1-1")
    done = tree.call("why-not", "quorum", "copy.md")
    assert done.returncode == 1
    assert "100% of it stands in a.md:1-1" in done.stdout
    assert "no setting was found that lets it in" in done.stdout


def test_what_no_source_finds_is_named_all_the_same(project: Quire, tree: Tree) -> None:
    (told,) = project.why_not("quorum", "other.md")
    assert (told.path, told.lines) == ("other.md", (1, 1))
    assert told.step == "collect"
    assert told.reason == (
        "not found by defined or lexical or semantic: the query names no definition in it, "
        "and it contains no word of the query, and none of its vectors was compared"
    )
    assert not told.checked
    done = tree.call("why-not", "quorum", "other.md")
    assert "other.md:1-1 is not in the context" in done.stdout
    assert f"    collect: {told.reason}\n" in done.stdout


@pytest.mark.parametrize(
    ("sources", "reason"),
    [
        (("lexical",), "not found by lexical: it contains no word of the query"),
        (("semantic",), "not found by semantic: none of its vectors was compared"),
        (("semantic", "linked"), "not found by semantic: none of its vectors was compared"),
        (("linked",), "not found by linked: it holds no name from the best chunks"),
    ],
)
def test_a_source_that_was_not_asked_is_no_reason(
    project: Quire, tree: Tree, sources: tuple[str, ...], reason: str
) -> None:
    asked = "".join(f"[sources.{name}]\nk = 5\n" for name in sources)
    path = tree.write("mine.toml", asked)
    (told,) = project.why_not("quorum", "other.md", recipe=str(path))
    assert (told.step, told.reason, told.checked) == ("collect", reason, False)


def test_every_collector_has_a_reason_for_what_it_does_not_find() -> None:
    assert all(collector.miss for collector in COLLECTORS.values())


def test_what_a_filter_leaves_out_is_said(project: Quire) -> None:
    (told,) = project.why_not("quorum", "a.md", where=Filter(paths=("copy.md",)))
    assert (told.step, told.reason) == ("collect", "the filter leaves it out")
    assert not told.checked


def test_nothing_there_and_nothing_to_be_read_look_the_same(project: Quire, tree: Tree) -> None:
    said = []
    for path in ("secret/b.md", "secret/x.md"):
        with pytest.raises(InputError) as refused:
            project.why_not("quorum", path, viewer="alice")
        said.append(str(refused.value).replace(path, "PATH"))
    assert said[0] == said[1] == "there is nothing at PATH that this viewer may read"
    hidden = tree.call("why-not", "quorum", "secret/b.md:1", "--viewer", "alice")
    absent = tree.call("why-not", "quorum", "secret/x.md:1", "--viewer", "alice")
    assert hidden.returncode == absent.returncode == 2
    assert hidden.stderr.replace("b.md", "x.md") == absent.stderr
    assert tree.call("why-not", "quorum", "secret/b.md").returncode == 0


def test_a_line_beyond_the_end_is_named_with_the_end(project: Quire) -> None:
    with pytest.raises(InputError, match=r"nothing at other\.md:999; its text ends at line \d+$"):
        project.why_not("quorum", "other.md", line=999)
    with pytest.raises(InputError, match=r"nothing at secret/b\.md:999 that this viewer may read$"):
        project.why_not("quorum", "secret/b.md", line=999, viewer="alice")


def test_what_others_have_changes_no_answer(project: Quire, tree: Tree) -> None:
    before = project.why_not("quorum", "copy.md", viewer="alice")
    tree.write("secret/c.md", "quorum " * 50)
    project.index(embed=False)
    assert project.why_not("quorum", "copy.md", viewer="alice") == before


def test_a_line_chooses_the_piece(library: Quire, library_tree: Tree) -> None:
    path = "shelf0/chapter00.md"
    with library.store.view(OWNER) as view:
        (record,) = (one for one in view.listing() if one.path == path)
        chunks = view.chunks_of(record.id)
    whole = library.why_not(QUERY, path)
    assert [one.chunk_id for one in whole] == [one.id for one in chunks]
    for chunk in chunks[:3]:
        told = library.why_not(QUERY, path, chunk.lines[0])
        assert chunk.id in [one.chunk_id for one in told]
        assert all(one.lines[0] <= chunk.lines[0] <= one.lines[1] for one in told)
    with pytest.raises(InputError, match=f"nothing at {path}:99999"):
        library.why_not(QUERY, path, 99_999)


def test_settings_are_tried_for_the_best_pieces_of_a_long_file(
    tree: Tree,
) -> None:
    text = "It is held. " * 40
    paragraphs = [f"## Part {n}\n\nThe quorum takes vote {n}. {text}" for n in range(40)]
    tree.fill({"long.md": "\n\n".join(paragraphs), "other.md": "The quorum is a number.\n"})
    with opened(tree) as found:
        found.index(embed=False)
        told = found.why_not("which vote does the quorum take", "long.md", budget=400, reserve={})
        explained = found.assemble("which vote does the quorum take", budget=400, reserve={})
    scores = {one.chunk_id: one.score for one in explained.decisions}
    out = [one for one in told if not one.inside]
    tried = [one for one in out if one.tried]
    assert len(out) > 30
    assert len(tried) == MAX_PIECES
    assert all(one.checked for one in tried)
    best = min(scores[one.chunk_id] for one in tried)
    assert all(scores.get(one.chunk_id, 0) <= best for one in out if not one.tried)


def test_a_source_that_fails_fails_for_every_try(tree: Tree) -> None:
    tree.fill(shelves(seed=3, documents=4))
    with opened(tree) as found:
        found.index()
        broken = Broken()
        found._project._embedder = broken
        path = found.documents.list()[0].path
        told = found.why_not(QUERY, path, budget=900)
        assert any(not one.inside for one in told)
        assert len(broken.asked) == 1
        for one in told:
            assert "semantic" not in "".join(each.setting for each in one.relaxed)


def test_explain_lists_each_candidate_once(library_tree: Tree, library: Quire) -> None:
    context = library.assemble(QUERY, budget=1500, per_document=1)
    names = [one.chunk_id for one in context.decisions]
    assert len(set(names)) == len(names)
    assert {one.step for one in context.decisions} >= {"fit", "group", "pack"}
    with library.store.view(OWNER) as view:
        assert len(view.chunks(names)) == len(names)


texts = st.lists(
    st.lists(
        st.sampled_from(["quorum", "vote", "leader", "block", "epoch"]), min_size=3, max_size=30
    ).map(lambda words: " ".join(words) + ".\n\n"),
    min_size=1,
    max_size=25,
).map("".join)


@settings(
    max_examples=CASES // 32,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    st.dictionaries(st.sampled_from(["a.md", "b.md", "c.txt", "d.md"]), texts, min_size=1),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from([0.1, 0.5, 0.8]),
    st.integers(0, 2),
    st.integers(15, 120),
    st.sampled_from(["greedy", "interleaved", "score_weighted", "optimal"]),
    st.sampled_from(["skip", "cut", "stop"]),
)
def test_what_is_named_lets_pieces_of_random_stores_in(  # noqa: PLR0917 - drawn by name
    files: dict[str, str],
    k: int,
    top: int,
    dedup: float,
    per_document: int,
    total: int,
    pack: str,
    overflow: str,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder) / "project")
        tree.fill(files)
        recipe = tree.write(
            "base.toml",
            f"[sources.lexical]\nk = {k}\n[rank]\ntop = {top}\n[fit]\ndedup = {dedup}\n"
            f'per_document = {per_document}\npack = "{pack}"\n'
            f'[budget]\ntotal = {total}\nreserved = {{}}\noverflow = "{overflow}"\n',
        )
        with opened(tree) as store:
            store.index(embed=False)
            for path in files:
                for told in store.why_not("quorum vote", path, recipe=str(recipe))[:4]:
                    if told.checked and not told.inside:
                        assert lets_in(store, "quorum vote", recipe, told)
                    elif not told.checked:
                        assert told.step in {"collect", "dedup"} or told.relaxed
