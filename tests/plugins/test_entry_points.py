"""Plug-ins of installed packages: found where packages are, used lazily, isolated when they fail."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import quire
from quire.core.types import SkippedRow
from quire.errors import EmbedError, InputError, PluginError, QuireError
from quire.system import entry_points
from tests.conftest import Tree

QUERY = "where is the ledger kept"
FILES = {
    "ledger.md": "# Ledger\n\nThe ledger is kept in the vault of the bank.\n",
    "vault.md": "# Vault\n\nThe vault is kept locked, and the ledger is in it.\n",
    "hidden/garden.md": "# Garden\n\nThe garden is kept by a gardener.\n",
}
Install = Callable[[str, str, dict[str, str]], None]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path / "project")
    tree.fill(FILES)
    return tree


def write_package(folder: Path, name: str, code: str, entries: dict[str, str]) -> None:
    """Write a package as an installer leaves it: a module, and its metadata."""
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        f"[quire.{key.split(':')[0]}]\n{key.split(':')[1]} = {value}\n"
        for key, value in entries.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a package in a folder that PYTHONPATH names."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(str(folder))
    made: list[str] = []

    def make(name: str, code: str, entries: dict[str, str]) -> None:
        made.append(name)
        write_package(folder, name, code, entries)
        entry_points.forget_plugins()

    yield make
    for name in made:
        sys.modules.pop(name, None)
    monkeypatch.undo()
    entry_points.forget_plugins()


def opened(tree: Tree, **settings: Any) -> quire.Quire:
    q = quire.open(tree.root, settings={"embed": {"provider": "none"}, **settings})
    q.index()
    return q


def states() -> dict[str, str]:
    return {each.plugin.key: each.state for each in entry_points.inspect_plugins()}


def with_source(name: str) -> dict[str, Any]:
    return {"extends": "documents", "sources": {name: {"weight": 5}}}


def with_format(name: str) -> dict[str, Any]:
    return {"extends": "documents", "render": {"format": name}}


def test_a_package_in_the_folder_of_a_project_is_no_plug_in(
    tree: Tree, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("honest", "def render(documents): return 'x'", {"formats:fine": "honest:render"})
    write_package(tree.root, "evil", "raise SystemExit('run')", {"formats:evil": "evil:render"})
    monkeypatch.chdir(tree.root)
    for entry in ("", str(tree.root)):
        monkeypatch.syspath_prepend(entry)
    entry_points.forget_plugins()
    assert [each.key for each in entry_points.find_plugins() if each.version == "1.0"] == [
        "formats:fine"
    ]
    with opened(tree) as q, pytest.raises(InputError, match=r"unknown format 'evil'"):
        q.assemble(QUERY, recipe=with_format("evil"))


def test_nothing_is_imported_before_it_is_needed(tree: Tree, install: Install) -> None:
    entries = {"formats:loud": "loud:render", "collectors:loud": "loud:collect"}
    install("loud", "raise RuntimeError('imported')", entries)
    with opened(tree) as q:
        assert q.assemble(QUERY).sources
    assert "loud" not in sys.modules
    assert states()["formats:loud"] == "failed"


def test_a_collector_finds_what_the_viewer_may_read(tree: Tree, install: Install) -> None:
    code = """
def collect(view, query, k):
    return [(chunk.id, 9) for record in view.listing() for chunk in view.chunks_of(record.id)]
"""
    install("acme", code, {"collectors:everything": "acme:collect"})
    recipe = with_source("everything")
    tree.write("quire.toml", '[access]\n"hidden/**" = ["alice"]\n')
    with opened(tree) as q:
        context = q.assemble(QUERY, recipe=recipe)
        assert "hidden/garden.md" in [source.path for source in context]
        assert context.receipt["plugins"] == {"collectors:everything": "acme 1.0"}
        assert not q.verify(context.receipt, context.text).problems
        assert q.replay(context.receipt)[1] == []
        bob = q.assemble(QUERY, recipe=recipe, viewer="bob")
        assert "hidden/garden.md" not in [source.path for source in bob]
        some = q.assemble(QUERY, recipe=recipe, paths=["vault.md"])
        assert [source.path for source in some] == ["vault.md"], "a filter holds for plug-ins, too"
    sys.modules.pop("acme")
    (tree.root.parent / "packages" / "acme-1.0.dist-info" / "entry_points.txt").write_text("")
    entry_points.forget_plugins()
    with opened(tree) as q:
        with pytest.raises(
            InputError, match=r"plug-in collectors:everything of acme 1.0 made this"
        ):
            q.replay(context.receipt)
        (problem,) = q.verify(context.receipt, context.text).problems
        assert "is not here" in problem


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return 1 / 0", "ZeroDivisionError"),
        ("return [('x', float('nan'))]", "expected pairs"),
        ("return [3]", "expected pairs"),
        ("return 3", "TypeError"),
        ("raise SystemExit(1)", "SystemExit"),
    ],
)
def test_a_wrong_collector_is_isolated(
    tree: Tree, install: Install, body: str, reason: str
) -> None:
    code = f"def collect(view, query, k):\n    {body}\n"
    install("acme", code, {"collectors:odd": "acme:collect"})
    with opened(tree) as q:
        plain = q.assemble(QUERY)
        context = q.assemble(QUERY, recipe=with_source("odd"))
        assert [source.path for source in context] == [source.path for source in plain]
        (failure,) = context.failed
        assert failure.source == "odd"
        assert "the plug-in collectors:odd of acme 1.0" in failure.reason
        assert reason in failure.reason


def test_a_format_renders_and_one_that_fails_is_replaced(tree: Tree, install: Install) -> None:
    code = """
def fine(documents):
    return "".join(f"<{each['path']}>{part['text']}" for each in documents for part in each["parts"])

def broken(documents):
    raise ValueError("no paper")

def number(documents):
    return 5
"""
    entries = {f"formats:{name}": f"acme:{name}" for name in ("fine", "broken", "number")}
    install("acme", code, entries)
    with opened(tree) as q:
        context = q.assemble(QUERY, recipe=with_format("fine"))
        assert context.text.startswith("<")
        assert context.receipt["plugins"] == {"formats:fine": "acme 1.0"}
        assert q.verify(context.receipt, context.text).holds
        plain = q.assemble(QUERY)
        for name, reason in (("broken", "raised ValueError: no paper"), ("number", "not a text")):
            context = q.assemble(QUERY, recipe=with_format(name))
            assert context.text == plain.text
            assert context.failed[0].source == "format"
            assert f"formats:{name} of acme 1.0" in context.failed[0].reason
            assert reason in context.failed[0].reason
            assert q.verify(context.receipt, context.text).holds
            assert q.replay(context.receipt)[1] == []


READER = """
suffixes = (".bank", ".PNG")

def read(data, path):
    if b"broken" in data:
        raise ValueError("no bank")
    return "# Account\\n\\n" + data.decode()
"""


def test_a_reader_reads_what_no_other_knows(tree: Tree, install: Install) -> None:
    tree.write(
        "a.bank", "The ledger of account 5. token ghp_" + "x7Kd9QmZ2pLwR4tVb8NcY1sHj6FgE3uAo5Wi"
    )
    tree.write("b.bank", "broken")
    tree.write("c.png", "a picture of the ledger")
    with opened(tree) as q:
        assert "c.png" not in [hit.path for hit in q.search("picture ledger")]
    install("acme", READER, {"readers:bank": "acme"})
    with quire.open(tree.root, settings={"embed": {"provider": "none"}}) as q:
        result = q.index()
        skipped = {each.path: each.reason for each in result.skipped}
        assert (
            skipped["b.bank"] == "the plug-in readers:bank of acme 1.0 raised ValueError: no bank"
        )
        assert "c.png" in [hit.path for hit in q.search("picture ledger")]
        (hit,) = [hit for hit in q.search("account 5") if hit.path == "a.bank"]
        assert "Account" in hit.chunk.text
        assert hit.chunk.lines == (0, 0), "the lines of the text are not those of the file"
        assert "ghp_" not in hit.chunk.text, "secrets are taken out of what a plug-in reads"
        assert q.index().indexed == 0
    off: dict[str, Any] = {"plugins": {"disable": ["acme"]}, "embed": {"provider": "none"}}
    with quire.open(tree.root, settings=off) as q:
        q.index()
        assert "c.png" not in [hit.path for hit in q.search("picture ledger")]


def test_a_reader_that_cannot_be_loaded_is_named(tree: Tree, install: Install) -> None:
    install("acme", "suffixes = 5", {"readers:bank": "acme"})
    with quire.open(tree.root, settings={"embed": {"provider": "none"}}) as q:
        notes = q.index().notes
    assert any("the plug-in readers:bank of acme 1.0 needs `suffixes`" in note for note in notes)


MODELS = """
class Letters:
    name = "letters"
    def embed(self, texts):
        return [[1.0, float(text.count("e"))] for text in texts]

def rerank():
    return ("flat", lambda query, texts: [float(len(text)) for text in texts])
"""


def test_an_embedder_and_a_reranker_are_chosen_by_the_settings(
    tree: Tree, install: Install
) -> None:
    install("acme", MODELS, {"embedders:letters": "acme:Letters", "rerankers:flat": "acme:rerank"})
    settings = {
        "embed": {"provider": "plugin", "model": "letters"},
        "rerank": {"provider": "plugin", "model": "flat"},
    }
    with opened(tree, **settings) as q:
        context = q.assemble(QUERY)
        assert context.receipt["embedder"] == "plugin:letters/2"
        assert context.receipt["reranker"] == "plugin:flat"
        assert not context.failed
    off: dict[str, Any] = {**settings, "plugins": {"disable": ["acme"]}}
    with quire.open(tree.root, settings=off) as q:
        with pytest.raises(EmbedError, match=r"is disabled"):
            q.embedder()
        context = q.assemble(QUERY)
        assert context.sources
        assert [each.source for each in context.failed] == ["reranker", "semantic"]
        assert all("of acme 1.0 is disabled" in each.reason for each in context.failed)


def test_a_project_chooses_a_plug_in_only_if_it_is_trusted(tree: Tree, install: Install) -> None:
    install("acme", MODELS, {"embedders:letters": "acme:Letters"})
    tree.write("quire.toml", '[embed]\nprovider = "plugin"\nmodel = "letters"\n')
    with quire.open(tree.root) as q:
        assert q.config.embed.provider == "none"
        assert any("quire trust" in note for note in q.notes)
    tree.trust()
    with quire.open(tree.root) as q:
        assert q.config.embed.provider == "plugin"


def test_a_disabled_plug_in_of_a_recipe_is_refused(tree: Tree, install: Install) -> None:
    install("acme", "def render(documents): return 'x'", {"formats:mine": "acme:render"})
    words = r"formats:mine of acme 1.0 is disabled"
    with opened(tree, plugins={"disable": ["acme"]}) as q, pytest.raises(InputError, match=words):
        q.assemble(QUERY, recipe=with_format("mine"))


SHARING = """
class Desk:
    def __init__(self, name, settings, root):
        pass

    def changes(self, since):
        yield {"path": "d/1", "content": "One.", "share": ["ben"], "expires": "2099-01-31"}
        yield {"path": "d/2", "content": "Two.", "title": "The second", "share": None}
        yield {"path": "d/3", "content": "Three.", "colour": "red"}
        yield {"content": "Four."}
        yield {"path": "d/5", "content": "Five.", "cursor": 5}
        yield {"path": "d/6", "content": "Six."}
"""


def test_a_source_says_who_may_read_and_a_bad_item_is_named(tree: Tree, install: Install) -> None:
    install("acme", SHARING, {"sources:desk": "acme:Desk"})
    tree.write("quire.toml", '[sources.mine]\ntype = "desk"\nshare = ["ana"]\n')
    tree.trust()
    with opened(tree) as q:
        done = q.documents.sync()["mine"]
        assert (done.added, done.failed) == (3, "")
        assert [(each.row, each.path) for each in done.skipped if isinstance(each, SkippedRow)] == [
            (3, "d/3"),
            (4, ""),
            (5, "d/5"),
        ]
        assert q.documents.get("d/1").expires == 4073587200
        assert q.documents.get("d/2").title == "The second"
        for viewer, expected in (("ana", ["d/2", "d/6"]), ("ben", ["d/1"])):
            listed = q.documents.list(put_only=True, viewer=viewer)
            assert [record.path for record in listed] == expected


def test_two_packages_that_offer_the_same_are_refused(tree: Tree, install: Install) -> None:
    for name in ("acme", "bcme"):
        install(name, "def render(documents): return 'x'", {"formats:mine": f"{name}:render"})
    with pytest.raises(
        PluginError, match=r"several packages offer formats:mine: acme 1.0, bcme 1.0"
    ):
        entry_points.get_plugin("formats", "mine")
    assert entry_points.get_plugin("formats", "mine", ["bcme"]) is not None
    with opened(tree) as q, pytest.raises(QuireError, match=r"several packages"):
        q.assemble(QUERY, recipe=with_format("mine"))


SOURCE = """
class Desk:
    resumable = True

    def __init__(self, name, settings, root):
        self.name = name

    def changes(self, since):
        yield {"path": f"{self.name}/1", "content": "The ledger lies on the desk.", "cursor": "1"}
        if since is None:
            yield {"path": f"{self.name}/2", "content": "The key of the vault.", "cursor": "2"}
        else:
            raise OSError("the desk is locked")
"""


def test_a_source_is_synced_and_one_that_fails_is_named(tree: Tree, install: Install) -> None:
    install("acme", SOURCE, {"sources:desk": "acme:Desk"})
    tree.write("quire.toml", '[sources.mine]\ntype = "desk"\n')
    tree.trust()
    with opened(tree) as q:
        q.documents.sync()
        assert "mine/1" in [hit.path for hit in q.search("ledger on the desk")]
        failed = q.documents.sync()["mine"].failed
        assert "sources:desk of acme 1.0 raised OSError" in failed
        assert "mine/2" in [record.path for record in q.documents.list(put_only=True)]
    with opened(tree, plugins={"disable": ["desk"]}) as q:
        assert "type" in q.documents.sync()["mine"].failed
