"""The commands `quire model`: list, use, check; and stores of older releases."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from quire.embed.model_files import FORMERLY_SHIPPED, SHIPPED_NAME, load_shipped
from tests.conftest import Tree

pytestmark = pytest.mark.model


def test_list_names_what_is_used(tree: Tree) -> None:
    listed = tree.call("model", "list")
    assert listed.stdout.startswith(f"* {SHIPPED_NAME}  English; 34 MB; quire-context-model ")
    assert "store holds" not in listed.stdout
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    assert "\n* none  search by words alone\n" in tree.call("model", "list").stdout


def test_list_tells_what_the_store_holds(tree: Tree) -> None:
    tree.write("a.md", "# A\n\nThe tide turns.\n")
    tree.index(embed=True)
    told = json.loads(tree.call("model", "list", "--json").stdout)
    assert told["store"]["vectors"] == 1
    assert told["store"]["model"].startswith(SHIPPED_NAME)
    assert [row["name"] for row in told["models"] if row["in_use"]] == [SHIPPED_NAME]


def test_use_writes_the_settings(tree: Tree) -> None:
    file = tree.write("quire.toml", "# mine\n[embed]\nthreads = 1\n")
    assert tree.call("model", "use", "none").returncode == 0
    assert file.read_text() == '# mine\n[embed]\nprovider = "none"\nthreads = 1\n'
    again = tree.call("model", "use", SHIPPED_NAME)
    assert "quire index --reembed" in again.stdout
    assert file.read_text() == '# mine\n[embed]\nprovider = "local"\nthreads = 1\n'


def test_use_refuses_what_is_no_model(tree: Tree, tmp_path: Path) -> None:
    refused = tree.call("model", "use", "bge")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"name {SHIPPED_NAME}, none, or a folder" in refused.stderr
    empty = tree.call("model", "use", str(tmp_path))
    assert empty.returncode != 0
    assert "model.onnx" in empty.stderr
    assert not (tree.root / "quire.toml").exists()


def test_check_compares_with_what_is_known(tree: Tree, tmp_path: Path) -> None:
    checked = tree.call("model", "check", "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["deviation"] in {0, 1}
    files = load_shipped()
    for file in (files.model, files.tokenizer):
        shutil.copy(file.path, tmp_path / file.path.name)
    same = tree.call("model", "check", str(tmp_path))
    assert same.stdout.startswith(SHIPPED_NAME), "known by its files"
    (tmp_path / "tokenizer.json").write_bytes((tmp_path / "tokenizer.json").read_bytes() + b"\n")
    other = tree.call("model", "check", str(tmp_path))
    assert "is known of the model that comes with Quire alone" in other.stdout
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    assert "no model is used here" in tree.call("model", "check").stderr


def shipped_folder(folder: Path) -> Path:
    files = load_shipped()
    folder.mkdir()
    for file in (files.model, files.tokenizer):
        shutil.copy(file.path, folder / file.path.name)
    return folder


def test_a_folder_with_the_shipped_model_gives_the_same_scores(tree: Tree, tmp_path: Path) -> None:
    tree.fill({f"{n}.md": f"# Note {n}\n\nThe tide of day {n} is high.\n" for n in range(5)})
    tree.index(embed=True)
    question = "when does the sea rise?"
    with tree.open() as opened:
        shipped, model = opened.search(question).results, opened.status().model
    folder = shipped_folder(tmp_path / "model")
    used = tree.call("model", "use", f"{tmp_path}/other/../model/")
    assert used.returncode != 0, "`other` is not there"
    used = tree.call("model", "use", f"{folder}/../model/")
    assert f'folder = "{folder}"\n' in (tree.root / "quire.toml").read_text()
    assert used.stderr == "", "nothing is missing"
    tree.trust()
    with tree.open() as opened:
        assert opened.index().vectors == 0, "its vectors are the same"
        assert opened.search(question).results == shipped
        assert opened.status().model == model


def test_use_names_what_is_not_known_of_a_folder(tree: Tree, tmp_path: Path) -> None:
    folder = shipped_folder(tmp_path / "model")
    (folder / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes() + b"\n")
    used = tree.call("model", "use", str(folder))
    assert "it has no query_prefix.txt" in used.stderr
    assert "the range of its cosines is not known" in used.stderr
    (folder / "query_prefix.txt").write_text("Find: ")
    assert "query_prefix" not in tree.call("model", "use", str(folder)).stderr


def test_a_store_of_an_older_release_is_embedded_again(tree: Tree) -> None:
    tree.write("a.md", "# A\n\nThe tide turns.\n")
    tree.index(embed=True)
    with tree.open() as opened:
        with opened.store.write() as writer:
            writer.drop_vectors()
        vectors = {key: bytes(384) for batch in opened.store.missing_vectors() for key, _ in batch}
        with opened.store.write() as writer:
            writer.put_vectors(FORMERLY_SHIPPED[0], vectors)
        assert opened.store.model() == FORMERLY_SHIPPED[0]
    done = tree.call("index")
    assert done.returncode == 0
    assert "was the model of an older release" in done.stderr
    with tree.open() as opened:
        assert str(opened.store.model()).startswith(SHIPPED_NAME)
    assert "older release" not in tree.call("index").stderr
