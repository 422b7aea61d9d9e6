"""The disk and the store give the same contexts and mistakes, through one reader."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import quire
from quire.core.types import OWNER, IngestSettings, Mistake
from quire.rules.reader import ContextReader
from quire.rules.sources import DiskSource, StoreSource

if TYPE_CHECKING:
    from tests.conftest import Forest

FILES = {
    "quire.toml": '[embed]\nprovider = "none"\n',
    ".gitignore": "ignored/\n",
    "AGENTS.md": "# Shop\n",
    "a.context.yaml": "extends: lib/base\ninjection_rules: [{name: a, inject: [lib/b, docs/c.md, gone]}]\n",
    "lib/base.context.toml": 'extends = "root"\n',
    "lib/root.context.md": "---\nextends: nowhere\n---\n",
    "lib/b": "plain text, and the first that `lib/b` may mean\n",
    "lib/b.context.yaml": "metadta: {}\n",
    "docs/c.md": "# Page\n",
    "docs/unused.md": "# Unused\n",
    "ignored/d.context.yaml": "metadta: {}\n",
}


def read_all(reader: ContextReader, paths: Collection[str]) -> None:
    reader.load(paths)
    reader.follow_extends()
    reader.follow_injections()


def test_disk_and_store_agree(plant: Forest) -> None:
    root = plant("shop", FILES).root
    disk = DiskSource(root, IngestSettings())
    from_disk = ContextReader(disk)
    read_all(from_disk, disk.list_below([""]))
    with quire.open(root) as project:
        project.index()
        with project.store.view(OWNER) as view:
            store = StoreSource(view)
            from_store = ContextReader(store)
            read_all(from_store, store.list_paths())
    assert from_disk.contexts == from_store.contexts
    assert sorted(from_disk.contexts) == [
        "AGENTS.md",
        "a.context.yaml",
        "docs/c.md",
        "lib/b",
        "lib/base.context.toml",
        "lib/root.context.md",
    ]
    assert from_disk.mistakes() == from_store.mistakes()
    assert [(item.path, item.line) for item in from_disk.mistakes()] == [
        ("a.context.yaml", 1),
        ("lib/b.context.yaml", 1),
        ("lib/base.context.toml", 1),
        ("lib/root.context.md", 2),
    ]


class MemorySource:
    """Files in memory; records which are read."""

    def __init__(self, files: dict[str, str | Mistake]) -> None:
        self.files = files
        self.reads: list[str] = []

    def find_existing(self, paths: Collection[str]) -> Collection[str]:
        return self.files.keys() & set(paths)

    def read_texts(self, paths: Collection[str]) -> Iterator[tuple[str, str | Mistake]]:
        for path in paths:
            if path in self.files:
                self.reads.append(path)
                yield path, self.files[path]


def test_a_file_is_read_once_and_only_if_something_refers_to_it() -> None:
    source = MemorySource(
        {
            "a.context.yaml": "extends: b\ninjection_rules: [{name: a, inject: [c]}]\n",
            "b.context.yaml": "injection_rules: [{name: b, inject: [c, d]}]\n",
            "c.context.yaml": "extends: e\ninjection_rules: [{name: c, inject: [f]}]\n",
            "d.context.yaml": "",
            "e.context.yaml": "",
            "f.context.yaml": "",
        }
    )
    reader = ContextReader(source)
    reader.load(["a.context.yaml", "absent.context.yaml"])
    reader.follow_extends()
    assert source.reads == ["a.context.yaml", "b.context.yaml"]
    reader.follow_injections()
    reader.load(["a.context.yaml"])
    assert sorted(source.reads) == [f"{name}.context.yaml" for name in "abcde"]
    assert reader.mistakes() == ()


def test_mistakes_come_once_in_the_order_of_paths_and_lines() -> None:
    unreadable = Mistake("b.context.yaml", 0, "cannot be read: no permission")
    source = MemorySource(
        {
            "c.context.yaml": "extends: gone\n",
            "b.context.yaml": unreadable,
            "a.context.yaml": "zzz: 1\nyyy: 1\n",
        }
    )
    reader = ContextReader(source)
    for _ in range(2):
        reader.load(source.files)
    assert [(item.path, item.line) for item in reader.mistakes()] == [
        ("a.context.yaml", 1),
        ("a.context.yaml", 2),
        ("b.context.yaml", 0),
        ("c.context.yaml", 1),
    ]
    assert sorted(reader.contexts) == ["c.context.yaml"]
