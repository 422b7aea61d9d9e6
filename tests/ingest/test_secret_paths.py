"""A secret in a name: in the path of a file or a document, a key of metadata, a commit, a block."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from quire.core.types import IngestSettings, Skipped
from quire.core.types.blocks import Block
from quire.errors import InputError
from quire.ingest.redact import redact_path
from quire.ingest.walk import walk
from tests.conftest import Tree

TOKEN = "ghp_" + "a8Kd03nVq92LmXz7Rt5YwBc1Ef4Gh6Jk2PsU"
NAMES = (
    f"{TOKEN}.md",
    f"notes/backup-of-key {TOKEN}.md",
    f"{TOKEN}/deep/note.md",
    f"a/{TOKEN}/b/{TOKEN}.md",
    f"{TOKEN}.png",
)
PASSWORD = "Kd03nVq92LmXz7"
ADDRESSES = (
    f"https:/user:{PASSWORD}@db.corp/page.md",
    f"mirror/https:/u:{PASSWORD}@h/x.md",
    f"postgresql:/:{PASSWORD}@db.corp/q.md",
)
"""Of addresses that became paths, with one slash left of two."""
HARMLESS = (
    "objects/3f/2a9c1b7d0e4f5a6b7c8d9e0f1a2b3c4d5e6f70.md",
    "docs/2026-01-31-a-rather-long-title-of-a-page-0123456789.md",
    "0b1c2d3e-4f5a-6b7c-8d9e-0f1a2b3c4d5e/index.md",
    "dist/assets/index-BKx93nVq2L.md",
    "password=hunter2hunter2Q.md",
)
"""Other long values are everywhere in names: digests, identifiers, hashes of a build."""
HARMLESS_ADDRESSES = (
    f"https:/user:{PASSWORD}@example.com/page.md",
    "https:/docs.corp:8443/a@b/page.md",
    "notes/12:30:Kd03nVq92LmXz7@home.md",
    "C:/Users/me:Kd03nVq92LmXz7/x.md",
)
NO_MODEL = '[embed]\nprovider = "none"\n'


@pytest.fixture
def holder(tree: Tree) -> Tree:
    tree.write("quire.toml", NO_MODEL)
    tree.fill(dict.fromkeys((*NAMES, *HARMLESS), "# Mast\n\nThe mast is high.\n"))
    tree.root.joinpath(f"link {TOKEN}.md").symlink_to("nowhere")
    return tree


@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_shown_without_its_token(name: str) -> None:
    shown, reason = redact_path(name, IngestSettings())
    assert TOKEN not in shown
    assert shown.count("/") == name.count("/"), "no folder vanishes"
    assert "a GitHub token" in reason
    assert TOKEN not in reason


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_path_is_shown_without_its_password(name: str) -> None:
    shown, reason = redact_path(name, IngestSettings())
    assert PASSWORD not in shown + reason
    assert (shown.count("/"), shown[-5:]) == (name.count("/"), name[-5:])
    fingerprint = reason.partition("(")[2].partition(")")[0]
    for allowed in (f"fingerprint:{fingerprint}", "*.md"):
        assert redact_path(name, IngestSettings(allow_secrets=(allowed,))) == (name, "")


@pytest.mark.parametrize("name", [*HARMLESS, *HARMLESS_ADDRESSES])
def test_names_without_a_token_stay(name: str) -> None:
    assert redact_path(name, IngestSettings()) == (name, "")


def test_no_command_tells_a_token_in_a_path(holder: Tree) -> None:
    told = ""
    for command in (
        ("index", "--json"),
        ("index",),
        ("status", "--json"),
        ("assemble", "mast", "--json"),
        ("document", "list", "--json"),
        ("pack", ".", "mast", "--dry-run"),
    ):
        done = holder.call(*command)
        assert done.returncode == 0, done.stderr
        told += done.stdout + done.stderr
    assert TOKEN not in told
    assert "its path holds a GitHub token" in told
    assert {*HARMLESS} <= {*holder.paths()}
    assert not [path for path in holder.paths() if TOKEN in path]


def test_a_file_that_is_not_read_says_why(holder: Tree) -> None:
    with holder.open() as opened:
        assert "its path holds" in opened.documents.why_not_indexed(NAMES[0])


@pytest.mark.parametrize("allowed", ["path", "fingerprint", "all"])
def test_what_is_allowed_is_read(holder: Tree, allowed: str) -> None:
    skipped = next(
        entry
        for entry in walk(holder.root)
        if isinstance(entry, Skipped) and "path holds" in entry.reason
    )
    fingerprint = skipped.reason.partition("(")[2].partition(")")[0]
    settings = {
        "path": IngestSettings(allow_secrets=("*.md",)),
        "fingerprint": IngestSettings(allow_secrets=(f"fingerprint:{fingerprint}",)),
        "all": IngestSettings(secrets=True),
    }[allowed]
    assert NAMES[0] in {entry.path for entry in walk(holder.root, settings=settings)}


def test_documents_and_keys_of_metadata(tree: Tree) -> None:
    tree.write("quire.toml", NO_MODEL)
    with tree.open() as opened:
        for new in (
            {"content": "Mast.", "path": f"crm/{TOKEN}"},
            {"content": "Mast.", "path": "crm/1", "metadata": {TOKEN: 1}},
        ):
            with pytest.raises(InputError) as refused:
                opened.documents.put(**new)
            assert "a GitHub token" in str(refused.value)
            assert TOKEN not in str(refused.value) + repr(refused.value.value)
        put = opened.documents.put_many(
            [{"content": "Mast.", "path": f"crm/{TOKEN}"}], skip_errors=True
        )
        assert TOKEN not in repr(put)
        address = f"https://user:{PASSWORD}@db.corp/x"
        for path in (address, ADDRESSES[0]):
            with pytest.raises(InputError) as refused:
                opened.documents.put("Mast.", path=path)
            assert PASSWORD not in str(refused.value)
            put = opened.documents.put_many([{"content": "Mast.", "path": path}], skip_errors=True)
            assert put.skipped
            assert PASSWORD not in repr(put)
    tree.write("front.md", f"---\n{TOKEN}: x\nteam: north\n---\n# Mast\n")
    tree.index()
    with tree.open() as opened:
        assert opened.documents.get("front.md").metadata == {"team": "north"}


def test_sources_that_sync(tree: Tree, tmp_path: Path) -> None:
    tree.write("rows.jsonl", json.dumps({"id": TOKEN, "text": "Mast."}) + "\n")
    tree.write(f"files/{TOKEN}.md", "# Mast\n")
    tree.write(
        "quire.toml",
        f'{NO_MODEL}[sources.rows]\ntype = "jsonl"\nlocation = "rows.jsonl"\n'
        'path = "rows/{id}"\ntemplate = "{text}"\n[sources.files]\ntype = "folder"\nlocation = "files"\n',
    )
    done = tree.call("sync", "--json")
    assert "a GitHub token" in done.stdout, done.stderr
    assert TOKEN not in done.stdout + done.stderr
    assert not [path for path in tree.paths() if TOKEN in path]


def test_rows_that_are_skipped(tree: Tree) -> None:
    """They are named by their paths, which nobody has checked yet."""
    rows: list[dict[str, object]] = [
        {"id": f"https://user:{PASSWORD}@db.corp/x", "text": "Mast."},
        {"id": TOKEN, "text": "Keel."},
        {"id": f"{TOKEN}/b", "text": "Keel.", "who": 3},
    ]
    tree.write("rows.jsonl", "".join(f"{json.dumps({'who': 'public', **row})}\n" for row in rows))
    tree.write(
        "quire.toml",
        f'{NO_MODEL}[sources.rows]\ntype = "jsonl"\nlocation = "rows.jsonl"\n'
        'path = "{id}"\ntemplate = "{text}"\nreaders = "who"\n',
    )
    for option in ("--json", "--quiet"):
        done = tree.call("sync", option)
        assert TOKEN not in done.stdout + done.stderr
        assert PASSWORD not in done.stdout + done.stderr
    assert not tree.paths()


def test_names_in_blocks(tree: Tree) -> None:
    tree.write("quire.toml", NO_MODEL)
    harmless = Block("api_key", "page", properties={"password": "x1"}, links=("a" * 64,))
    with tree.open() as opened:
        for named in (
            Block(TOKEN, "page"),
            Block("b", "page", parent=TOKEN),
            Block("b", "page", properties={TOKEN: "x"}),
            Block("b", "page", relations={TOKEN: ("a",)}),
            Block("b", "page", relations={"to": (TOKEN,)}),
            Block("b", "page", links=(TOKEN,)),
            Block("b", "page", mentions=(TOKEN,)),
        ):
            with pytest.raises(InputError, match="a GitHub token") as refused:
                opened.blocks.put([named])
            assert TOKEN not in str(refused.value)
            opened.blocks.put([named], allow_secret=True)
        opened.blocks.put([harmless])


def test_commits(tree: Tree) -> None:
    tree.write("quire.toml", NO_MODEL)
    tree.write(f"notes/{TOKEN}.md", "# Mast\n")
    tree.write("a.md", "# Keel\n")
    git = f"git -c user.name={TOKEN} -c user.email=a@b"
    subprocess.run(
        f"git init -q && git add -A && {git} commit -qm 'Use {TOKEN}' "
        f"&& git checkout -qb feature/{TOKEN} && git mv notes/{TOKEN}.md notes/{TOKEN}.2.md && {git} commit -qm 'Move the mast'",
        shell=True,
        cwd=tree.root,
        check=True,
    )
    assert tree.call("index").returncode == 0
    told = "".join(
        tree.call("assemble", "mast commit", "--recipe", recipe, "--json").stdout
        for recipe in ("documents", "workspace", "agent")
    )
    with tree.open() as opened:
        told += repr(opened.documents.list()) + repr(opened.status())
    assert "branch='feature/[redacted: a GitHub token]'" in told
    assert TOKEN not in told + "".join(tree.texts().values())
    assert "Move the mast" in told
