"""Commands print exactly the JSON that scripts rely on, and lines for people."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from quire.cli import output

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

HEX = re.compile("[0-9a-f]{64}")
FILES: dict[str, str | bytes] = {
    "a.md": "# Anchor\n\nThe anchor holds in sand.\n\n## Chain\n\nThe chain is long.\n",
    "b.py": "def drop(anchor):\n    return anchor.chain\n",
    "photo.png": b"\x89PNG\r\n\x1a\n",
}


@pytest.fixture
def indexed(tree: Tree) -> Tree:
    tree.fill(FILES)
    tree.index()
    return tree


def answer(tree: Tree, *arguments: str, code: int = 0) -> Any:
    done = tree.call(*arguments, "--json")
    assert done.returncode == code, done.stderr
    assert done.stderr == "", "with --json everything is in the JSON"
    return json.loads(done.stdout)


def test_index(tree: Tree) -> None:
    tree.fill(FILES)
    data = answer(tree, "index", "--no-embed")
    assert list(data) == [
        "indexed",
        "unchanged",
        "removed",
        "skipped",
        "chunks",
        "vectors",
        "missing_vectors",
        "state_root",
        "notes",
        "commits",
        "redacted",
    ]
    assert (data["indexed"], data["unchanged"], data["removed"]) == (2, 0, 0)
    assert data["skipped"] == [{"path": "photo.png", "reason": "binary, by its extension"}]
    assert data["chunks"] == data["missing_vectors"] >= 2
    assert (data["vectors"], data["notes"]) == (0, [])
    assert HEX.fullmatch(data["state_root"])


def test_search(indexed: Tree) -> None:
    data = answer(indexed, "search", "anchor", "--k", "1")
    assert list(data) == ["results", "state_root", "failed", "notes", "exact"]
    (result,) = data["results"]
    assert list(result) == [
        "id", "record_id", "kind", "path", "document", "lines", "score", "likely", "signals",
        "title", "author", "metadata", "text",
    ]  # fmt: skip
    assert re.fullmatch("[0-9a-f]{32}", result["id"])
    first, last = result["lines"]
    assert 1 <= first <= last
    assert isinstance(result["score"], int)
    assert set(result["signals"]) == {"lexical"}
    assert all(isinstance(value, int) for value in result["signals"].values())
    assert result["text"] in FILES[result["path"]]
    assert HEX.fullmatch(data["state_root"])
    assert data["failed"] == []
    assert data["exact"] is True


def test_status(indexed: Tree) -> None:
    data = answer(indexed, "status")
    assert list(data) == [
        "state_root",
        "content_root",
        "records",
        "chunks",
        "vectors",
        "missing_vectors",
        "model",
        "bytes",
        "disk",
        "caches",
        "indexed_at",
        "background",
    ]
    assert data["background"].endswith("nobody makes the others (`quire index` does)")
    assert (data["records"], data["vectors"], data["model"]) == (2, 0, None)
    assert data["bytes"] >= indexed.store.stat().st_size
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", data["indexed_at"])

    indexed.write("new.md", "new")
    data = answer(indexed, "status", "--fresh")
    assert data["stale"] == {"new": 1, "changed": 0, "gone": 0}

    for_others = answer(indexed, "status", "--viewer", "eve")
    assert "indexed_at" not in for_others
    assert "background" not in for_others
    assert not {"caches", "disk"} & for_others.keys()
    assert "stale" not in for_others


def test_doctor(indexed: Tree) -> None:
    assert answer(indexed, "doctor") == {"problems": []}


def test_doctor_finds_and_mends_what_is_derived(indexed: Tree) -> None:
    import apsw

    from quire.store.sqlite.page_checksums import CHECKED

    before = answer(indexed, "status")["content_root"]
    connection = apsw.Connection(str(indexed.store), vfs=CHECKED)
    connection.execute("DELETE FROM leaf WHERE key = (SELECT min(key) FROM leaf)")
    connection.close()

    data = answer(indexed, "doctor", code=1)["problems"]
    assert data
    assert [sorted(item) for item in data] == [["check", "detail", "repaired"]] * len(data)
    assert not any(item["repaired"] for item in data)
    assert all(item["repaired"] for item in answer(indexed, "doctor", "--repair")["problems"])
    assert answer(indexed, "doctor") == {"problems": []}
    assert answer(indexed, "status")["content_root"] == before


def test_purge(indexed: Tree) -> None:
    assert answer(indexed, "purge", "a.md") == {"purged": ["a.md"], "still_on_disk": ["a.md"]}
    assert answer(indexed, "purge", "a.md", code=1) == {"purged": [], "still_on_disk": []}


def test_access(indexed: Tree) -> None:
    assert answer(indexed, "access", "list") == {
        "default": ["public"],
        "rules": [],
        "groups": {"config": {}, "command": {}},
        "notes": ["there are no rules: the default applies to every file"],
    }
    rule = {"origin": "command", "glob": "*.py", "principals": ["group:dev", "user:ann"]}
    assert answer(indexed, "access", "allow", "*.py", "ann", "@dev")["rules"] == [rule]
    assert answer(indexed, "access", "check", "eve") == {"viewer": "eve", "paths": ["a.md"]}
    assert answer(indexed, "access", "remove", "*.py")["rules"] == []


def test_init(tree: Tree) -> None:
    assert answer(tree, "init") == {"wrote": "quire.toml"}
    assert "[access]" in (tree.root / "quire.toml").read_text()
    refused = tree.call("init", "--json")
    assert refused.returncode == 2
    tree.write("a.md", "with all settings at their defaults")
    assert tree.index().indexed == 1
    assert tree.paths() == ["a.md"]


# --- for people --------------------------------------------------------------------------------


def test_people_see_results_on_standard_output_and_notes_beside_them(tree: Tree) -> None:
    tree.fill(FILES)
    done = tree.call("index", "--no-embed")
    assert done.stderr == "skipped photo.png: binary, by its extension\n"
    counted, missing, root = done.stdout.splitlines()
    assert counted.startswith("2 indexed, 0 unchanged, 0 removed, 1 skipped; ")
    assert missing.endswith("chunks have no vector yet")
    assert re.fullmatch("state root [0-9a-f]{64}", root)

    done = tree.call("search", "anchor holds sand")
    assert done.stderr.startswith("note: semantic search is off")
    head, *rest = done.stdout.splitlines()
    assert re.fullmatch(r"1\. a\.md:\d+-\d+  \(lexical \d+\)", head)
    assert "   | The anchor holds in sand." in rest

    done = tree.call("search", "zeppelin")
    assert done.stdout == ""
    assert done.stderr.endswith("nothing found\n")

    done = tree.call("doctor")
    assert (done.stdout, done.stderr) == ("no problems found\n", "")

    done = tree.call("purge", "b.py", "nothing.md")
    assert done.stdout == "purged b.py\n"
    assert done.stderr.startswith("1 of them still exists on disk")
    done = tree.call("purge", "nothing.md")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "nothing in the store matches these paths\n"


@pytest.mark.parametrize(
    ("count", "noun", "written"),
    [
        (0, "piece", "0 pieces"),
        (1, "new commit", "1 new commit"),
        (2, "new commit", "2 new commits"),
        (1, "memory", "1 memory"),
        (2, "memory", "2 memories"),
    ],
)
def test_a_count_has_its_noun_in_the_right_number(count: int, noun: str, written: str) -> None:
    assert output.number(count, noun) == written


def test_one_of_a_kind_is_told_in_the_singular(tree: Tree) -> None:
    tree.write("a.md", "Anchor.\n")
    counted, missing, _ = tree.call("index", "--no-embed").stdout.splitlines()
    assert counted == "1 indexed, 0 unchanged, 0 removed, 0 skipped; 1 chunk, 0 new vectors"
    assert missing == "1 chunk has no vector yet"
    tree.write("lines.jsonl", '{"path": "b", "content": "Buoy."}')
    added = tree.call("add", "--jsonl", "lines.jsonl").stdout
    assert added.startswith("1 document added, 0 changed, 0 unchanged, 0 skipped; ")
    tree.write("memories.jsonl", json.dumps({"content": "Cable."}))
    assert tree.call("memory", "import", "memories.jsonl").stdout.startswith("1 memory added, ")
    tree.write("memories.jsonl", "")
    assert tree.call("memory", "import", "memories.jsonl").stdout.startswith("0 memories added, ")
    saved = tree.call("backup", "saved.quire").stdout
    assert ": 3 records, 3 chunks, " in saved


def test_many_skipped_files_are_counted_not_listed_to_people(tree: Tree) -> None:
    tree.fill({f"photo{n:02}.png": b"\x89PNG" for n in range(25)})
    done = tree.call("index", "--no-embed")
    assert done.stderr == (
        "skipped photo00.png, photo01.png, photo02.png and 22 more: binary, by its extension\n"
        "--json lists everything that was skipped\n"
        "note: the store is empty: there is no file here that could be indexed\n"
    )
    assert len(answer(tree, "index", "--no-embed")["skipped"]) == 25


def test_access_is_told_to_people_without_saying_what_is_not_so(indexed: Tree) -> None:
    done = indexed.call("access", "list")
    assert (done.stdout, done.stderr) == (
        "*  ->  public  (default)\n",
        "note: there are no rules: the default applies to every file\n",
    )
    done = indexed.call("access", "allow", "*.py", "owner")
    assert (done.stdout, done.stderr) == ("*.py  ->  owner  (command)\n", "")
    done = indexed.call("access", "group", "dev", "ann", "bob")
    assert (done.stdout, done.stderr) == ("@dev  =  ann, bob  (command)\n", "")
    done = indexed.call("access", "list")
    assert done.stdout.splitlines() == [
        "*  ->  public  (default)",
        "*.py  ->  owner  (command)",
        "@dev  =  ann, bob  (command)",
    ]
    assert indexed.call("access", "check", "eve").stdout == "a.md\n"


# --- questions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["anchor chain", "anchor\nchain\n", b"anchor chain"])
def test_a_question_may_come_from_standard_input(indexed: Tree, query: str | bytes) -> None:
    typed = indexed.call("search", "anchor chain", "--json").stdout
    piped = indexed.call("search", "-", "--json", stdin=query).stdout
    assert json.loads(piped)["results"] == json.loads(typed)["results"]


def test_filters(indexed: Tree) -> None:
    def paths(*arguments: str) -> set[str]:
        return {item["path"] for item in answer(indexed, "search", "anchor", *arguments)["results"]}

    assert paths() == {"a.md", "b.py"}
    assert paths("--kind", "code") == {"b.py"}
    assert paths("--kind", "code", "--kind", "document") == {"a.md", "b.py"}
    assert paths("--path", "*.md") == {"a.md"}
    assert paths("--path", "*", "--path", "!*.md") == {"b.py"}
    assert paths("--since", "2000-01-01") == set(), "files have no time of their own"
    assert len(answer(indexed, "search", "anchor", "-k", "1")["results"]) == 1


def test_dates_limit_what_has_a_time(tree: Tree) -> None:
    tree.write("quire.toml", "[ingest]\nuse_mtime = true\nignore = ['quire.toml']\n")
    tree.write("a.md", "the anchor")  # its time: 2017-07-14T02:40:02Z
    tree.index()

    def count_results(*arguments: str) -> int:
        return len(answer(tree, "search", "anchor", *arguments)["results"])

    assert count_results("--since", "2017-07-14", "--until", "2017-07-14") == 1
    assert count_results("--since", "2017-07-14T02:40:02Z", "--until", "2017-07-14T02:40:02Z") == 1
    assert count_results("--since", "2017-07-14T02:40:03") == 0
    assert count_results("--until", "2017-07-13") == 0
    assert count_results("--until", "2017-07-14T04:40:01+02:00") == 0
    assert count_results("--until", "2017-07-14T04:40:02+02:00") == 1


def test_a_space_and_a_store_may_be_named(indexed: Tree) -> None:
    indexed.write("other/c.md", "a capstan")
    assert answer(indexed, "index", "other", "--no-embed", "--space", "two")["indexed"] == 1
    assert answer(indexed, "status", "--space", "two")["records"] == 1
    assert answer(indexed, "status")["records"] == 2
    answer(indexed, "index", "--no-embed", "--store", "kept/s.db", "other")
    assert (indexed.root / "kept/s.db").is_file()
    assert answer(indexed, "status", "--store", "kept/s.db")["records"] == 1


def test_a_receipt_is_checked_without_any_store(indexed: Tree, plant: Forest) -> None:
    alone = plant("alone", {})
    receipt, context = alone.root / "receipt.json", alone.root / "context.txt"
    assembled = indexed.call("assemble", "anchor", "--receipt", str(receipt))
    context.write_text(assembled.stdout, "utf-8")
    verified = alone.call("verify", str(receipt), "--context", str(context))
    assert verified.returncode == 0
    assert verified.stdout.startswith("the receipt holds\n"), "it is signed"
    unsigned = alone.call("verify", "-", stdin=receipt.read_bytes())
    assert unsigned.stdout.startswith("the receipt agrees with itself, but nothing here shows")
    context.write_text(assembled.stdout + " ", "utf-8")
    assert alone.call("verify", str(receipt), "--context", str(context)).returncode == 1
