"""Vectors follow the text, survive an interrupt, and are never mixed between models."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quire
from quire.core.types import Progress, Reembedding
from quire.embed.model_files import FORMERLY_SHIPPED
from quire.errors import EmbedError, EndpointError, QuireError, StoreError
from quire.indexing import files
from quire.indexing.project import Project

from .conftest import use

if TYPE_CHECKING:
    from tests.conftest import Tree
    from tests.engine.conftest import Watched

pytestmark = pytest.mark.model

TEN = {f"note{n}.md": f"# Note {n}\n\nThe watch number {n} ends at dawn.\n" for n in range(10)}
OTHER_MODEL = "another-model@0123456789abcdef/384"


class Renamed:
    """The same embedder under another model's name."""

    def __init__(self, inner: Watched) -> None:
        self._inner = inner
        self.model = OTHER_MODEL
        self.dims = inner.dims
        self.embed = inner.embed
        self.embed_query = inner.embed_query

    def close(self) -> None:
        self._inner.close()


def test_words_answer_before_vectors_and_both_after(tree: Tree, model: Watched) -> None:
    tree.fill(TEN)
    text = tree.index(embed=False)
    assert (text.vectors, text.missing_vectors) == (0, 10)
    with tree.open() as opened:
        early = opened.search("watch number 7")
    assert early.results[0].chunk.path == "note7.md"
    assert early.failed == ()
    assert early.notes == (
        (
            "semantic search is off: there are no vectors yet; words answer until "
            "`quire index` has made them"
        ),
    )
    assert all(set(one.signals) == {"lexical"} for one in early.results)

    whole = tree.index(embed=True)
    assert (whole.indexed, whole.unchanged) == (0, 10)
    assert (whole.vectors, whole.missing_vectors) == (10, 0)
    assert whole.state_root != text.state_root
    with tree.open() as opened:
        late = opened.search("when does the guard go to bed?")
        status = opened.status()
    assert late.notes == ()
    assert late.failed == ()
    assert late.state_root == whole.state_root
    assert any("semantic" in one.signals for one in late.results)
    assert (status.vectors, status.missing_vectors, status.model) == (10, 0, model.model)
    assert model.queries == ["when does the guard go to bed?"]


def test_embedding_goes_on_after_an_interrupt(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "VECTORS_PER_COMMIT", 3)
    monkeypatch.setattr(files, "COMMIT_SECONDS", 0.0)
    tree.fill(TEN)
    missing = []
    for interrupted in (3, 3):
        model.texts.clear()
        model.interrupt_after = interrupted
        with pytest.raises(KeyboardInterrupt):
            tree.index(embed=True)
        with tree.open() as opened:
            status = opened.status()
            partly = opened.search("dawn")
            assert opened.store.check() == []
        missing.append(status.missing_vectors)
        assert status.vectors + status.missing_vectors == status.chunks == 10
        assert partly.notes == (
            (
                f"{missing[-1]} of 10 chunks have no vector yet; words find them until "
                "`quire index` has made the rest"
            ),
        )
    assert missing == [7, 4]

    model.interrupt_after = None
    model.texts.clear()
    result = tree.index(embed=True)

    assert (result.vectors, result.missing_vectors) == (4, 0)
    assert len(model.texts) == 4


def test_an_interrupted_run_ends_with_the_same_state(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill(TEN)
    whole = tree.index(embed=True)
    monkeypatch.setattr(files, "VECTORS_PER_COMMIT", 2)
    monkeypatch.setattr(files, "COMMIT_SECONDS", 0.0)
    model.texts.clear()
    model.interrupt_after = 4
    with pytest.raises(KeyboardInterrupt):
        tree.index(embed=True, reembed=True)
    model.interrupt_after = None

    assert tree.index(embed=True).state_root == whole.state_root


def test_progress_counts_up_to_what_is_missing(tree: Tree, model: Watched) -> None:
    tree.fill(TEN)
    told: list[Progress] = []
    with tree.open() as opened:
        opened.index(report=told.append)

    read = [one for one in told if one.stage == "read"]
    embed = [one for one in told if one.stage == "embed"]
    assert {path for one in read for path in one.paths} == set(TEN)
    assert read[-1].done == 10
    assert [(one.done, one.total) for one in embed] == [(0, 10), (10, 10)]


def test_nothing_to_embed_does_not_load_the_model(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill(TEN)
    tree.index(embed=True)

    def loaded(_: Project) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(Project, "embedder", loaded)
    assert tree.index(embed=True).vectors == 0


def test_equal_texts_share_one_vector(tree: Tree, model: Watched) -> None:
    tree.fill({f"copy{n}.md": "The same words stand in each of them.\n" for n in range(5)})

    result = tree.index(embed=True)

    assert (result.chunks, result.vectors, result.missing_vectors) == (5, 1, 0)
    assert len(model.texts) == 1


def test_another_model_is_seen_at_index_search_and_doctor(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill(TEN)
    before = tree.index(embed=True)
    held = model.model
    use(Renamed(model), monkeypatch)
    monkeypatch.setattr("quire.indexing.project.open_by_name", lambda *_: None)
    tree.write("note10.md", "# Note 10\n\nThe watch number 10 ends at dawn.\n")

    with tree.open() as opened:
        with pytest.raises(StoreError) as refused:
            opened.index(embed=True)
        for said in (held, OTHER_MODEL, "`quire index --reembed`"):
            assert said in str(refused.value)
        assert "note10.md" in [record.path for record in opened.documents.list()], "the text is in"
        assert opened.status().model == held

        answer = opened.search("watch number 3")
        assert [failure.source for failure in answer.failed] == ["semantic"]
        for said in (held, OTHER_MODEL, "`quire index --reembed`"):
            assert said in answer.failed[0].reason
        assert answer.results[0].chunk.path == "note3.md", "the words answer all the same"

        (problem,) = opened.doctor()
        assert problem.check == "model"
        for said in (held, OTHER_MODEL, "--reembed"):
            assert said in problem.detail

        result = opened.index(embed=True, reembed=True)
        assert (result.vectors, result.missing_vectors) == (11, 0)
        assert opened.status().model == OTHER_MODEL
        assert opened.search("watch number 3").failed == ()
        assert opened.doctor() == []
        assert result.state_root != before.state_root


def test_a_model_that_can_still_be_opened_goes_on_answering(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill(TEN)
    tree.index(embed=True)
    with tree.open() as opened:
        before = opened.search("when does the guard go to bed?")
    use(Renamed(model), monkeypatch)
    with tree.open() as opened:
        after = opened.search("when does the guard go to bed?")
        assert (after.results, after.failed) == (before.results, ())


class Embeds:
    """Re-embedding with another model, interrupted after so many texts."""

    def __init__(self, tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "VECTORS_PER_COMMIT", 2)
        monkeypatch.setattr(files, "COMMIT_SECONDS", 0.0)
        self.tree, self.model, self.monkeypatch = tree, model, monkeypatch
        tree.fill(TEN)
        tree.index(embed=True)
        self.held = model.model
        use(Renamed(model), monkeypatch)

    def interrupt(self, after: int, *, reembed: bool) -> None:
        self.model.texts.clear()
        self.model.interrupt_after = after
        with pytest.raises(KeyboardInterrupt):
            self.tree.index(embed=True, reembed=reembed)
        self.model.interrupt_after = None
        self.model.texts.clear()


def test_old_vectors_answer_until_the_new_ones_are_complete(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    embeds = Embeds(tree, model, monkeypatch)
    with tree.open() as opened:
        before, root = opened.search("when does the guard go to bed?"), opened.roots().state
    embeds.interrupt(4, reembed=True)
    with tree.open() as opened:
        status = opened.status()
        assert (status.model, status.vectors, status.missing_vectors) == (embeds.held, 10, 0)
        assert status.reembedding == Reembedding(OTHER_MODEL, 4, 10)
        assert status.roots.state == root
        answer = opened.search("when does the guard go to bed?")
        assert (answer.results, answer.failed, answer.notes) == (before.results, (), ())


def test_an_interrupted_reembedding_goes_on_without_being_asked_again(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    embeds = Embeds(tree, model, monkeypatch)
    embeds.interrupt(4, reembed=True)
    embeds.interrupt(2, reembed=False)
    tree.write("note10.md", "# Note 10\n\nThe watch number 10 ends at dawn.\n")
    with tree.open() as opened:
        result = opened.index()
        assert len(model.texts) == result.vectors == 5
        status = opened.status()
        assert (status.model, status.vectors) == (OTHER_MODEL, 11)
        assert status.reembedding is None
        assert opened.store.reembedding() is None
        assert opened.doctor() == []
        assert opened.index().vectors == 0


def test_words_answer_where_the_old_model_is_gone(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill(TEN)
    tree.index(embed=True)
    with tree.open() as opened:
        with opened.store.write() as writer:
            writer.drop_vectors()
        keys = [key for batch in opened.store.missing_vectors() for key, _ in batch]
        with opened.store.write() as writer:
            writer.put_vectors(FORMERLY_SHIPPED[0], dict.fromkeys(keys, bytes(384)))
    model.queries.clear()
    with tree.open() as opened:
        answer = opened.search("watch number 3")
        assert answer.results[0].chunk.path == "note3.md"
        assert answer.failed == ()
        (note,) = answer.notes
        assert note.startswith("words alone answer: ")
        assert "`quire index` makes them again" in note
        assert model.queries == []
        again = opened.status().reembedding
        assert again is not None
        assert (again.vectors, again.chunks, again.old_answer) == (0, 10, False)
        opened.index()
        assert opened.search("watch number 3").notes == ()


def test_settings_that_are_set_back_leave_nothing_behind(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    embeds = Embeds(tree, model, monkeypatch)
    embeds.interrupt(4, reembed=True)
    use(model, monkeypatch)
    with tree.open() as opened:
        opened.index(reembed=True)
        assert opened.store.reembedding() is None
        assert opened.status().model == embeds.held


def test_the_model_is_part_of_the_state(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill(TEN)
    before = tree.index(embed=True)
    content = tree.content_root()
    use(Renamed(model), monkeypatch)

    after = tree.index(embed=True, reembed=True)

    assert tree.content_root() == content
    assert after.state_root != before.state_root


def test_embedding_anew_gives_the_same_state(tree: Tree, model: Watched) -> None:
    tree.fill(TEN)
    before = tree.index(embed=True)
    model.texts.clear()

    after = tree.index(embed=True, reembed=True)

    assert len(model.texts) == after.vectors == 10
    assert after.state_root == before.state_root


def test_vectors_are_only_forgotten_when_new_ones_can_be_made(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill(TEN)
    before = tree.index(embed=True)

    def broken(_: Project) -> None:
        raise EmbedError("the model file is gone")

    monkeypatch.setattr(Project, "embedder", broken)
    with pytest.raises(EmbedError):
        tree.index(embed=True, reembed=True)

    with tree.open() as opened:
        assert opened.status().roots.state == before.state_root


def test_a_failing_embedder_is_shown_and_the_rest_answers(
    tree: Tree, model: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.fill(TEN)
    tree.index(embed=True)

    def broken(_: str) -> bytes:
        raise EndpointError("http://localhost:1 gave up after 5 tries")

    monkeypatch.setattr(model, "embed_query", broken)
    with tree.open() as opened:
        answer = opened.search("watch number 4")

    assert answer.results[0].chunk.path == "note4.md"
    assert [(one.source, one.reason) for one in answer.failed] == [
        ("semantic", "http://localhost:1 gave up after 5 tries")
    ]


def test_without_a_provider_only_words_are_used(tree: Tree, model: Watched) -> None:
    tree.fill({**TEN, "quire.toml": '[embed]\nprovider = "none"\n'})

    result = tree.index(embed=True)

    assert (result.vectors, result.notes) == (0, ())
    assert model.texts == []
    with tree.open() as opened:
        answer = opened.search("watch number 4")
        assert opened.doctor() == []
    assert answer.results[0].chunk.path == "note4.md"
    assert (answer.failed, answer.notes) == ((), ())


# --- without the extra -------------------------------------------------------------------------

WITHOUT_EXTRA = (
    "import sys\nfor name in ('onnxruntime', 'splintr'):\n    sys.modules[name] = None\n"
)


@pytest.fixture
def without_extra(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing of the extra `local` can be imported."""
    folder = tmp_path / "stubs"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WITHOUT_EXTRA)
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


def test_without_the_extra_words_answer_and_the_way_to_it_is_shown(
    tree: Tree, without_extra: dict[str, str]
) -> None:
    tree.fill(TEN)

    indexed = tree.run("index", env=without_extra)
    assert indexed.returncode == 0, indexed.stderr
    assert indexed.stderr.startswith("note: semantic search is off: ")
    assert "pip install 'quire-context[local]'" in indexed.stderr
    assert "10 indexed" in indexed.stdout
    assert "10 chunks have no vector yet" in indexed.stdout

    searched = tree.run("search", "watch number 5", "--json", env=without_extra)
    answer = json.loads(searched.stdout)
    assert searched.returncode == 0
    assert answer["results"][0]["path"] == "note5.md"
    assert answer["failed"] == []
    assert [note for note in answer["notes"] if "semantic search is off" in note]

    assert tree.run("doctor", env=without_extra).returncode == 0, "nothing is wrong with the store"


def test_without_the_extra_a_store_with_vectors_says_what_failed(
    tree: Tree, model: Watched, without_extra: dict[str, str]
) -> None:
    tree.fill(TEN)
    tree.index(embed=True)

    searched = tree.run("search", "watch number 5", env=without_extra)

    assert searched.returncode == 0
    assert searched.stderr.startswith("FAILED: semantic: ")
    assert "pip install 'quire-context[local]'" in searched.stderr
    assert searched.stdout.startswith("1. note5.md")


def test_the_real_model_end_to_end_by_command(tree: Tree) -> None:
    tree.fill(
        {
            "boats.md": "# Boats\n\nA dinghy is a small boat that is rowed to the shore.\n",
            "bread.md": "# Bread\n\nKnead the dough and let it rest for an hour.\n",
        }
    )
    indexed = json.loads(tree.run("index", "--json").stdout)
    assert (indexed["vectors"], indexed["missing_vectors"]) == (2, 0)

    answer = json.loads(tree.run("search", "baking at home", "--json", "--k", "1").stdout)
    assert [one["path"] for one in answer["results"]] == ["bread.md"]
    assert set(answer["results"][0]["signals"]) == {"semantic"}
    assert answer["state_root"] == indexed["state_root"]
    done = tree.run("doctor")
    assert (done.returncode, done.stdout) == (0, "no problems found\n")


def test_a_model_that_cannot_be_opened_replaces_nothing(tree: Tree, tmp_path: Path) -> None:
    """Else search by meaning would be off until the setting is put right and all is embedded."""
    tree.fill(TEN)
    tree.index(embed=True)
    absent = {"embed": {"folder": str(tmp_path / "absent")}}
    with quire.open(tree.root, settings=absent) as q:
        with pytest.raises(QuireError, match="absent"):
            q.index(reembed=True)
        assert q.status().reembedding is None
    with tree.open() as opened:
        assert any("semantic" in one.signals for one in opened.search("watch number 7").results)
