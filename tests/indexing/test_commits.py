"""What is stored of a commit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from quire.core.types import OWNER, IngestSettings
from quire.errors import MissingDocumentError
from quire.ingest import commits, compute_record_id, git

if TYPE_CHECKING:
    from .conftest import Repository

KEY = f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{'MIIEowIBAAKCAQEA' * 8}\n"
LONG = "\n\n".join(f"{number}. {'Ropes were counted.' * 16}" for number in range(30))


def test_a_commit_is_a_record_with_all_that_git_knows_of_it(repository: Repository) -> None:
    repository.commit("Begin", {"a.md": "one\ntwo\n", "src/b.py": "x = 1\n"})
    sha = repository.commit(
        "Count the ropes\n\nThey were wrong,\nsay the sailors.\n\nMore below.",
        {"a.md": "one\nthree\nfour\n", "src/b.py": None, "new.md": "N\n"},
    )
    result = repository.index()

    assert result.commits == 2
    record = repository.commits()[sha]
    assert record.path == f".git/commit/{sha}"
    assert record.title == "Count the ropes"
    assert record.author == "Ada Writer"
    assert record.modified == repository.time_of(sha)
    assert record.paths == ("a.md", "new.md", "src/b.py")
    assert record.attrs == {
        "sha": sha,
        "parents": 1,
        "files": 3,
        "insertions": 3,
        "deletions": 2,
    }
    assert repository.text(sha) == (
        "Count the ropes\n\nThey were wrong,\nsay the sailors.\n\nMore below.\n\n"
        "a.md\nnew.md\nsrc/b.py\n"
    )
    assert repository.touched(sha) == {"a.md", "new.md"}


def test_its_outline_is_one_entity(repository: Repository) -> None:
    sha = repository.commit("Subject\n\nFirst of the body.\n\nSecond.", {"a.md": "A\n"})
    repository.index()
    with repository.tree.open() as opened, opened.store.view(OWNER) as view:
        record = repository.commits()[sha]
        (whole,) = view.outlines([record.id])[record.id].entities
    assert (whole.kind, whole.name, whole.summary) == ("commit", "Subject", "First of the body.")


def test_it_is_found_by_its_words_and_kind(repository: Repository) -> None:
    sha = repository.commit("Mend the capstan", {"a.md": "Nothing of that here.\n"})
    repository.commit("Other things", {"b.md": "capstan\n"})
    repository.index()
    tree = repository.tree
    assert set(tree.found("capstan")) == {f".git/commit/{sha}", "b.md"}

    told = tree.call("search", "capstan", "--kind", "commit")
    assert told.stdout.startswith(f"1. commit {sha[:10]}  (")
    assert "Mend the capstan" in told.stdout
    page = tree.call("assemble", "mend capstan").stdout
    assert re.search(
        rf"^\[DOC: commit {sha[:7]}, [^,\]]+, \d{{4}}-\d\d-\d\d \d\d:\d\d\]$", page, re.MULTILINE
    )


def test_a_merge_tells_what_it_brings_to_its_first_parent(repository: Repository) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("On the side", {"side.md": "S\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit("On main", {"main.md": "M\n"})
    repository.git("merge", "--quiet", "--no-ff", "side", "-m", "Bring the side in")
    merge = repository.head()
    repository.index()

    record = repository.commits()[merge]
    assert len(repository.commits()) == 4
    assert record.attrs["parents"] == 2
    assert record.paths == ("side.md",)
    assert repository.text(merge) == "Bring the side in\n\nside.md\n"


def test_an_octopus_and_an_empty_commit(repository: Repository) -> None:
    repository.commit("Begin", {"a.md": "A\n"})
    for arm in ("one", "two"):
        repository.git("checkout", "--quiet", "-b", arm, "main")
        repository.commit(arm, {f"{arm}.md": arm})
    repository.git("checkout", "--quiet", "main")
    repository.commit("Main", {"c.md": "C\n"})
    repository.git("merge", "--quiet", "one", "two", "-m", "Octopus")
    octopus = repository.head()
    empty = repository.commit("Nothing at all", {})
    nameless = repository.commit("", {"d.md": "D\n"})
    repository.index()

    found = repository.commits()
    assert found[octopus].attrs["parents"] == 3
    assert found[octopus].paths == ("one.md", "two.md")
    assert found[empty].paths == ()
    assert repository.text(empty) == "Nothing at all\n"
    assert found[nameless].title == f"Commit {nameless[:10]} without a message"


def test_unicode_in_names_and_messages(repository: Repository) -> None:
    strange = {
        "straße/größe.md": "1\n",
        "日本語.py": "x = 1\n",
        'quo"te\\back.md': "2\n",
        "tab\there.md": "3\n",
        "new\nline.md": "4\n",
        " spaces .md": "5\n",
        "{a => b}.md": "6\n",
        "1794748120": "7\n",
    }
    sha = repository.commit("Ünïcode ✓ 日本\n\nKörper", strange)
    bytes_only = repository.root / "not-utf8-\udcff.md"
    bytes_only.write_text("8\n")
    other = repository.commit("Bytes", {})
    repository.index()

    record = repository.commits()[sha]
    assert record.title == "Ünïcode ✓ 日本"
    assert record.paths == tuple(sorted(strange))
    assert repository.touched(sha) == set(strange)
    assert repository.commits()[other].paths == (r"not-utf8-\xff.md",)
    assert repository.times() == dict.fromkeys(strange, repository.time_of(sha))


def test_a_message_in_another_encoding(repository: Repository) -> None:
    (repository.root / "message").write_bytes("Größe".encode("latin-1"))
    commit = ("commit", "--quiet", "--allow-empty", "-F", "message")
    repository.git("-c", "i18n.commitEncoding=latin1", *commit)
    western = repository.head()
    broken = repository.raw(b"Broken \xff\xfe bytes\n")
    repository.index()
    assert repository.commits()[western].title == "Größe"
    assert repository.commits()[broken].title == "Broken \ufffd\ufffd bytes"


def test_settings_of_a_user_change_nothing(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit("Begin", {"a.md": "one\ntwo\nthree\n", "x.svg": "<svg>\n</svg>\n"})
    repository.commit("Move", {"a.md": None, "b.md": "one\ntwo\nthree\n", "x.svg": "<svg/>\n"})
    repository.git("tag", "before", "HEAD~1")
    repository.index()
    root = repository.tree.content_root()

    settings = repository.root.parent / "gitconfig"
    settings.write_text(
        "[diff]\nrenames = false\nnoprefix = true\nexternal = false\n[core]\npager = false\n"
        "quotepath = true\nattributesFile = /nonexistent\n[color]\nui = always\n"
        "[log]\nshowSignature = true\nmailmap = true\n[i18n]\nlogOutputEncoding = latin1\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_DIFF_OPTS", "--unified=9")
    (repository.root / ".mailmap").write_text("Other Name <ada@example.org>\n")
    (repository.root / ".gitattributes").write_text("*.svg binary\n")
    (repository.root / ".quireignore").write_text(".*\n")
    assert repository.root_from_scratch() == root


def test_long_messages_are_cut_and_many_files_counted(repository: Repository) -> None:
    long = repository.commit(f"Subject\n\n{LONG}", {"a.md": "A\n"})
    many = repository.commit("Many", {f"many/{number:04}.md": "x\n" for number in range(3000)})
    repository.index()

    record = repository.commits()[long]
    with repository.tree.open() as opened, opened.store.view(OWNER) as view:
        chunks = view.chunks_of(record.id)
        links = view.links([repository.commits()[many].id])
    assert len(chunks) > 3
    assert [chunk.title for chunk in chunks] == ["", *["Subject"] * (len(chunks) - 1)]
    assert {chunk.lines for chunk in chunks} == {(0, 0)}
    assert "".join(chunk.text for chunk in chunks) == f"Subject\n\n{LONG}".strip() + "\n\na.md\n"

    assert len(repository.commits()[many].paths) == 3000
    assert len(links) == commits.MAX_FILES_LINKED
    text = repository.text(many)
    assert text.endswith("many/0049.md\nand 2950 more\n")


def test_secrets_in_messages_are_left_out_and_told(repository: Repository) -> None:
    sha = repository.commit(f"Oops\n\n{KEY}", {"a.md": "A\n"})
    result = repository.index()
    assert result.commits == 1
    assert [(one.path, one.line, one.kind) for one in result.redacted] == [
        (f".git/commit/{sha}", 3, "a private key")
    ]
    assert repository.text(sha).startswith("Oops\n\n[redacted: a private key]\n")
    repository.tree.write("quire.toml", "[ingest]\nsecrets = true\n")
    repository.tree.trust()
    repository.index()
    assert KEY.strip() in repository.text(sha)
    repository.tree.write("quire.toml", "[ingest]\nsecrets = false\n")
    repository.index()
    assert "redacted" in repository.text(sha)


def test_times_that_no_clock_shows(repository: Repository) -> None:
    far = repository.raw(b"Far away\n", time="99999999999999999999")
    repository.index()
    assert repository.commits()[far].modified == git.MAX_TIME


def test_a_submodule_is_not_entered(repository: Repository, nested: Repository) -> None:
    inner = nested.commit("Inside", {"part/inner.md": "I\n"})
    repository.commit("Begin", {"a.md": "A\n"})
    allowed = ("-c", "protocol.file.allow=always")
    repository.git(*allowed, "submodule", "--quiet", "add", str(nested.root), "module")
    sha = repository.commit("Add a submodule", {})
    repository.index()

    assert inner not in repository.commits()
    assert repository.commits()[sha].paths == (".gitmodules", "module")
    assert repository.index().commits == 0


def test_a_part_of_a_repository(nested: Repository) -> None:
    nested.commit("Outside", {"top.md": "T\n"})
    inside = nested.commit("Inside", {"part/a.md": "A\n"})
    both = nested.commit("Both", {"part/a.md": "AA\n", "top.md": "TT\n"})
    into = nested.commit("Into", {"top.md": None, "part/top.md": "TT\n"})
    nested.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    nested.commit("Side", {"other.md": "O\n"})
    nested.git("checkout", "--quiet", "main")
    nested.git("merge", "--quiet", "side", "-m", "Of no concern")
    nested.index()

    found = nested.commits()
    assert set(found) == {inside, both, into}
    assert found[both].paths == ("a.md",)
    assert (found[both].attrs["files"], found[both].attrs["insertions"]) == (1, 1)
    assert found[into].paths == ("top.md",)
    assert nested.touched(both) == {"a.md"}
    assert nested.times() == {"a.md": nested.time_of(both), "top.md": nested.time_of(into)}


def test_text_is_made_of_a_commit_alone() -> None:
    commit = git.Commit("0" * 40, 0, " ", 7, "\r\nTitle\r\nrest\r\n", ())
    record = commits.build_record(commit)
    document = commits.build_document(record, commit, IngestSettings())
    assert (record.title, record.author) == ("Title", None)
    assert document.chunks[0].text == "Title\nrest\n"


def test_names_are_followed_from_the_newest_commit_back() -> None:
    names = commits.RenameTracker()

    def targets(*changes: git.Change) -> set[str]:
        record, links = names.link_files(
            commits.build_record(git.Commit("1", 1, "A", 7, "", changes))
        )
        known = {compute_record_id(path): path for path in record.paths}
        return {known[link.target] for link in links}

    assert targets(git.Change("d.md", 0, 0, "b.md"), git.Change("x.md", 1, 0)) == {"d.md", "x.md"}
    assert targets(git.Change("b.md", 1, 0)) == {"d.md"}
    assert targets(git.Change("b.md", 0, 0, "a.md")) == {"d.md"}
    assert targets(git.Change("a.md", 1, 1)) == {"d.md"}
    assert targets(git.Change("b.md", 0, 5)) == {"b.md"}, "another file had that name then"
    swap = (git.Change("p.md", 0, 0, "q.md"), git.Change("q.md", 0, 0, "p.md"))
    assert targets(*swap) == {"p.md", "q.md"}
    assert targets(git.Change("p.md", 1, 0)) == {"q.md"}


def test_trailers_say_nothing_about_the_language(repository: Repository) -> None:
    trailers = (
        "Co-authored-by: Mateusz Dąbrowski <m@example.org>\n"
        "Co-authored-by: version-bot[bot] <bot@example.org>\nSigned-off-by: Zofia Żak <z@example.org>"
    )
    bare = repository.commit(f"Version Packages (#7)\n\n{trailers}", {"a.md": "a\n"})
    german = repository.commit(
        f"Die Häfen werden nicht mehr gezählt\n\nDas war zu langsam und ist es nun nicht mehr.\n\n"
        f"{trailers}",
        {"a.md": "b\n"},
    )
    repository.index()
    found = repository.commits()
    assert "text_language" not in found[bare].attrs
    assert found[german].attrs["text_language"] == "de"
    assert "Mateusz" in repository.text(bare)


def test_a_commit_is_shown_by_the_path_that_lists_name(repository: Repository) -> None:
    sha = repository.commit("Mend the capstan\n\nIt creaked.", {"hr/a.md": "a\n"})
    repository.index()
    tree = repository.tree
    with tree.open() as opened:
        opened.access.allow("hr/**", ["ana"])
        document = opened.documents.get(f".git/commit/{sha}", viewer="ana")
        assert (document.kind, document.title) == ("commit", "Mend the capstan")
        assert document.text.startswith("Mend the capstan\n\nIt creaked.\n")
        for path, viewer in ((f".git/commit/{sha}", "bob"), (f".git/commit/{'0' * 40}", "ana")):
            with pytest.raises(MissingDocumentError, match="nothing has the path"):
                opened.documents.get(path, viewer=viewer)
        with pytest.raises(MissingDocumentError):
            opened.documents.delete(f".git/commit/{sha}")
