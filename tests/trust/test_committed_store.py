"""What a store says that came with a clone leads nowhere: not to secrets, not outside, not astray."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from quire.core.types import OWNER
from quire.core.types.blocks import IMPORTED, IMPORTS
from quire.errors import StoreDamagedError
from quire.store import open_store
from quire.store.sql.rows import MIN_OUTLINE_BYTES, outline_of
from quire.store.sqlite.page_checksums import CHECKED
from tests.conftest import Forest, Tree

TOKEN = "ghp_" + "a8Kd03nVq92LmXz7Rt5YwBc1Ef4Gh6Jk2PsU"
PRIVATE = "Privateword"
NO_MODEL = '[embed]\nprovider = "none"\n'
IGNORED = f"# Private\n\n{PRIVATE} of the mast.\n"


def set_note(tree: Tree, key: str, value: str) -> None:
    with closing(open_store(tree.store)) as store, store.write("main") as writer:
        writer.set_note(key, value)


def forge_imports(tree: Tree, **changes: Any) -> None:
    with closing(open_store(tree.store)) as store:
        noted = json.loads(store.note(IMPORTS, "main") or "[]")
    assert noted
    set_note(tree, IMPORTS, json.dumps([{**each, **changes} for each in noted]))


def forget_consents() -> None:
    """Become another user: the one who cloned the project."""
    shutil.rmtree(Path(os.environ["XDG_CONFIG_HOME"], "quire", "stores"), ignore_errors=True)


def texts_of(path: Path) -> str:
    with closing(open_store(path)) as store, store.view(OWNER, "main") as view:
        return "".join(chunk.text for each in view.listing() for chunk in view.chunks_of(each.id))


@pytest.fixture
def vault(tree: Tree) -> Tree:
    """A project with a folder whose pages were imported."""
    tree.fill(
        {
            "quire.toml": NO_MODEL,
            ".gitignore": "ignored/\n",
            "notes/a.md": "# Mast\n\nThe mast is high.\n",
            "b.md": "# Keel\n",
        }
    )
    with tree.open() as opened:
        opened.blocks.import_pages(tree.root / "notes", "vault", at=1)
    tree.index()
    forget_consents()
    return tree


def test_a_note_lets_no_secrets_in(vault: Tree) -> None:
    forge_imports(vault, secrets=True)
    vault.write("notes/a.md", f"# Mast\n\nThe mast token is {TOKEN} here.\n")
    done = vault.run("index")
    assert (done.returncode, "import it again" in done.stderr) == (0, True)
    answer = vault.run("assemble", "mast token", "--recipe", "workspace")
    assert TOKEN not in texts_of(vault.store) + answer.stdout
    assert "has changed on disk since" in answer.stdout, "the page that is not as on disk is named"


def test_whoever_let_secrets_in_keeps_them(vault: Tree) -> None:
    vault.write("notes/a.md", f"# Mast\n\nThe mast token is {TOKEN} here.\n")
    with vault.open() as opened:
        opened.blocks.import_pages(vault.root / "notes", "vault", allow_secret=True, at=1)
    vault.write("notes/a.md", f"# Mast\n\nThe new mast token is {TOKEN} here.\n")
    vault.index()
    assert f"new mast token is {TOKEN}" in texts_of(vault.store)
    forget_consents()
    vault.write("notes/a.md", f"# Mast\n\nThe newest mast token is {TOKEN} here.\n")
    vault.index()
    assert "newest" not in texts_of(vault.store), "whoever has a copy did not"


def test_settings_that_allow_secrets_are_consent(vault: Tree) -> None:
    forge_imports(vault, secrets=True)
    vault.write("quire.toml", f"{NO_MODEL}[ingest]\nsecrets = true\n")
    vault.write("notes/a.md", f"# Mast\n\nThe mast token is {TOKEN} here.\n")
    vault.index()
    assert TOKEN not in texts_of(vault.store), "not without trust"
    vault.trust()
    vault.index()
    assert TOKEN in texts_of(vault.store)


@pytest.mark.parametrize(
    "folder",
    ["ignored", ".git", ".quire", "notes/../ignored", "/", "..", ".", "\ud800", "x" * 5000, "link"],
    ids=lambda folder: ascii(folder[:20]),
)
def test_a_note_opens_no_folder_that_is_left_out(vault: Tree, folder: str) -> None:
    for name in ("ignored", ".git", ".quire"):
        vault.write(f"{name}/secret.md", IGNORED)
    vault.root.joinpath("link").symlink_to("ignored")
    forge_imports(vault, folder=folder)
    for command in (("index",), ("assemble", "mast"), ("status",)):
        done = vault.call(*command)
        assert done.returncode == 0, done.stderr
    assert PRIVATE not in texts_of(vault.store)


def test_an_ignored_folder_that_its_user_imported_is_followed(vault: Tree) -> None:
    vault.write("ignored/secret.md", IGNORED)
    with vault.open() as opened:
        opened.blocks.import_pages(vault.root / "ignored", "vault", at=1)
    vault.write("ignored/secret.md", "# Private\n\nAnother word.\n")
    vault.index()
    assert "Another word." in texts_of(vault.store)


@pytest.mark.parametrize("author", ["", "owner", "a b", "\ud800", 3])
def test_a_note_names_no_author_that_there_cannot_be(vault: Tree, author: Any) -> None:
    forge_imports(vault, author=author)
    vault.write("notes/a.md", "# Mast\n\nAnother mast.\n")
    done = vault.call("index")
    assert done.returncode == 0, done.stderr


NOTES = (
    "not JSON",
    "null",
    "[1]",
    '{"x": 1}',
    '{"": {"page": "x"}}',
    '{"": {"page": [], "endings": [""]}}',
    '{"": {"page": "x", "endings": 3}}',
    '{"head": "--help", "view": 3, "now": [], "gone": 3}',
    '{"head": "\\u0000", "view": "", "now": {}, "gone": {}}',
    '{"head": "", "view": "", "now": {"b.md": "x"}, "gone": {}}',
    '{"state": [], "head": "x", "commits": "<b>"}',
    "[" * 99_999,
    "9" * 5000,
    "-1",
    '["a b", 3]',
    '["a b"]',
)


@pytest.mark.parametrize(
    "key",
    [
        *(IMPORTED, "commits", "file_times", "branch", "indexed_at", "access", "access_default"),
        *("root", "embedded_by", "reembed_for", "copy"),
    ],
)
def test_no_note_ends_a_command(vault: Tree, key: str) -> None:
    """A raw exception would come out of `call`."""
    git = "git -c user.name=a -c user.email=a@b"
    subprocess.run(
        f"git init -q && git add -A && {git} commit -qm one", shell=True, cwd=vault.root, check=True
    )
    vault.index()
    for value in NOTES:
        for command in (("status",), ("assemble", "mast"), ("index",)):
            set_note(vault, key, value)
            done = vault.call(*command)
            assert done.returncode == 0, (value[:40], command, done.stderr)


# --- what the store says it is about ------------------------------------------------------------


@pytest.fixture
def cloned(plant: Forest) -> Tree:
    """A clone whose store says that it is about the folder around the clone."""
    home = plant("home", {"private/diary.md": IGNORED})
    (home.root / ".quire").rmdir()
    tree = plant(
        "home/clone", {"quire.toml": NO_MODEL, "private/diary.md": "# Private\n\nOld mast.\n"}
    )
    tree.index()
    set_note(tree, "root", str(home.root))
    return tree


@pytest.mark.parametrize("inside", [True, False], ids=["in the clone", "in the folder above"])
@pytest.mark.parametrize("command", [("index",), ("search", "mast"), ("assemble", "mast")])
def test_a_clone_says_not_which_folder_it_is_about(
    cloned: Tree, command: tuple[str, ...], inside: bool
) -> None:
    cloned.remove("private/diary.md")
    cloned.write("c.md", "# Keel\n")
    folder = cloned.root if inside else cloned.root.parent
    done = cloned.run(*command, "--store", str(cloned.store), cwd=folder)
    assert PRIVATE not in texts_of(cloned.store) + done.stdout
    if command == ("index",):
        assert "# Keel" in texts_of(cloned.store), "it is about the project that it lies in"


def test_a_store_of_another_name_in_a_clone_is_not_indexed_anew(cloned: Tree) -> None:
    other = cloned.root / "other.db"
    cloned.store.rename(other)
    before = texts_of(other)
    done = cloned.run("index", "--store", str(other))
    assert done.returncode == 2
    assert "move it out of the project" in done.stderr
    assert cloned.run("assemble", "mast", "--store", str(other)).returncode == 0
    assert texts_of(other) == before


def test_a_store_in_a_project_about_another_folder(plant: Forest) -> None:
    """Its user made it so; nobody else's copy of it leads there."""
    folder = plant("folder", {"quire.toml": NO_MODEL, "a.md": "# Mast\n"})
    holder = plant("holder")
    store = holder.root / "folder.db"
    assert folder.run("index", "--store", str(store)).returncode == 0
    folder.write("a.md", "# Another mast\n")
    done = holder.run("search", "mast", "--store", str(store))
    assert "Another mast" in done.stdout
    forget_consents()
    folder.write("a.md", "# A third mast\n")
    done = holder.run("search", "mast", "--store", str(store))
    assert (done.returncode, "third" in done.stdout) == (0, False)


# --- rows ---------------------------------------------------------------------------------------


def test_an_outline_that_grows_without_end_is_refused() -> None:
    for data in (b"[" + b" " * (2 * MIN_OUTLINE_BYTES), b"[" * 99_999):
        with pytest.raises(StoreDamagedError):
            outline_of(zlib.compress(data))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("attrs", "[" * 99_999),
        ("attrs", "3"),
        ("paths", "3"),
        ("paths", "[" * 99_999),
        ("metadata", "[" * 99_999),
        ("metadata", '{"a": {"b": 1}}'),
        ("own_acl", "{}"),
    ],
    ids=lambda value: value[:9],
)
def test_a_row_that_is_not_of_quire_is_damage(vault: Tree, column: str, value: str) -> None:
    with closing(apsw.Connection(str(vault.store), vfs=CHECKED)) as database:
        database.execute(f"UPDATE record SET {column} = ?", (value,))
    for command in (("status",), ("assemble", "mast"), ("search", "mast"), ("doctor",)):
        done = vault.call(*command)
        assert done.returncode in (0, 1), (command, done.stderr)


@pytest.mark.parametrize("damage", ["space SET rows", "chunk SET key"])
def test_a_number_in_a_store_asks_for_no_memory(vault: Tree, damage: str) -> None:
    """A table of so many rows would be made before they are read: `call` raises MemoryError."""
    with closing(apsw.Connection(str(vault.store), vfs=CHECKED)) as database:
        column = damage.rpartition(" ")[2]
        database.execute(f"UPDATE {damage} = {column} + (1 << 38)")
    for command in (("status",), ("assemble", "mast"), ("search", "mast"), ("doctor",)):
        done = vault.call(*command)
        assert done.returncode in (0, 1), (command, done.stderr)
    assert vault.call("doctor", "--repair").returncode in (0, 1)
    if "rows" in damage:
        assert "high" in vault.call("search", "mast").stdout, "what can be derived again is"


def test_a_number_of_vectors_asks_for_no_memory(vault: Tree) -> None:
    with closing(open_store(vault.store)) as store:
        missing = [key for batch in store.missing_vectors() for key, _ in batch]
        with store.write() as writer:
            writer.put_vectors("m", {key: bytes(range(64)) for key in missing})
    with closing(apsw.Connection(str(vault.store), vfs=CHECKED)) as database:
        database.execute("UPDATE space SET slots = 1 << 40")
    with closing(open_store(vault.store)) as store:
        with store.view(OWNER, "main") as view, pytest.raises(StoreDamagedError):
            view.semantic(bytes(range(64)), 3)
        assert any(problem.check == "vectors" for problem in store.check())


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("block.page", name) for name in ("created", "properties", "links", "relations")),
        *(("block.paragraph", name) for name in ("line", "before", "mentions", "own_acl")),
        *(("memory", name) for name in ("importance", "count")),
        *(("experience", name) for name in ("started", "iterations")),
        ("feedback", "useful"),
    ],
)
def test_an_attribute_of_a_wrong_form_is_damage(vault: Tree, kind: str, name: str) -> None:
    """A raw exception would come out of `call`."""
    with vault.open() as opened:
        opened.memories.add("The mast creaks.", at=1)
        opened.experiences.start("Climb the mast", domain="debugging", at=1)
        context = opened.assemble("mast", recipe="agent")
        opened.feedback.add(context.receipt, useful=[context.sources[0].chunk_id], at=1)
    for value in ("[", "[" * 99_999, None, [1], {"a": 1}, "3"):
        with closing(apsw.Connection(str(vault.store), vfs=CHECKED)) as database:
            database.execute(
                "UPDATE record SET attrs = json_set(attrs, ?, json(?)) WHERE kind = ?",
                (f"$.{name}", json.dumps(value), kind),
            )
        for command in (
            *(("assemble", "mast", "--recipe", recipe) for recipe in ("agent", "workspace")),
            *(
                ("block", "tree"),
                ("memory", "list"),
                ("experience", "list"),
                ("premortem", "debugging"),
            ),
        ):
            done = vault.call(*command)
            assert done.returncode in (0, 1), (command, done.stderr)


@pytest.mark.parametrize("cursor", ["[", "[" * 99_999, "null", "[1]"], ids=lambda text: text[:5])
def test_a_cursor_that_no_sync_wrote_is_told(tree: Tree, cursor: str) -> None:
    query = "SELECT 1 AS id, 2 AS changed, 'Mast.' AS content"
    tree.write(
        "quire.toml",
        f'{NO_MODEL}[sources.rows]\ntype = "sqlite"\nlocation = "x.db"\nquery = "{query}"\n'
        'path = "rows/{id}"\ncursor = "changed"\n',
    )
    with closing(apsw.Connection(str(tree.root / "x.db"))) as database:
        database.execute("CREATE TABLE t (x)")
    assert tree.call("sync").returncode == 0
    with closing(open_store(tree.store)) as store:
        noted = json.loads(store.note("cursor:rows", "main") or "")
    set_note(tree, "cursor:rows", json.dumps({**noted, "cursor": cursor}))
    done = tree.call("sync")
    assert (done.returncode, "quire sync --full" in done.stderr + done.stdout) == (1, True)
    assert tree.call("sync", "--full").returncode == 0
    assert tree.call("sync").returncode == 0
