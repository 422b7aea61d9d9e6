"""One question about a folder, an archive or a bundle, with nothing set up and nothing left."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from contextlib import nullcontext
from pathlib import Path

import pytest

from quire.errors import InputError
from quire.indexing import one_shot
from tests.conftest import COMMAND

FILES = {
    "docs/tides.md": "# Tides\n\nLow tide is at five. The bell rings twice.\n",
    "src/bell.py": 'def ring_bell(times):\n    """Ring the bell of the harbor."""\n    return times\n',
    ".gitignore": "build/\n",
    "build/tides.txt": "Low tide is at nine, says a generated file.\n",
    "quire.toml": 'viewer = "nobody"\n',
}


def fill(folder: Path, files: dict[str, str] = FILES) -> Path:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def pack(*arguments: object, path: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({"PATH": path} if path else {})}
    return subprocess.run(
        [COMMAND, "pack", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
    )


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_folder_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path / "harbor")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    before = snapshot(folder)
    done = pack(folder, "When is low tide?", "--budget", 200)
    assert done.returncode == 0, done.stderr
    assert "[DOC: docs/tides.md]\n# Tides\n\nLow tide is at five." in done.stdout
    assert "nine" not in done.stdout
    assert "semantic" not in done.stderr
    assert snapshot(folder) == before
    assert not (folder / ".quire").exists()
    assert list(temporary.iterdir()) == []


def make_zip(folder: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, f"harbor-1.0/{path.relative_to(folder)}")
    return target


def make_tar(folder: Path, target: Path) -> Path:
    with tarfile.open(target, "w:gz") as archive:
        archive.add(folder, "harbor-1.0")
    return target


def make_bundle(folder: Path, target: Path) -> Path:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)

    git("init", "--quiet", "--initial-branch=main")
    git("add", "docs", "src", ".gitignore")
    git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", "Tides")
    git("bundle", "create", str(target), "main", "HEAD")
    return target


@pytest.mark.parametrize(
    ("make", "name"),
    [(make_zip, "a.zip"), (make_tar, "a.tar.gz"), (make_bundle, "a.bundle")],
    ids=["zip", "tar", "bundle"],
)
def test_archives_and_bundles(make, name: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # one of the three above
    archive = make(fill(tmp_path / "harbor"), tmp_path / name)
    done = pack(archive, "When is low tide?", "--budget", 200)
    assert done.returncode == 0, done.stderr
    assert "[DOC: docs/tides.md]" in done.stdout
    assert "Low tide is at five." in done.stdout


def test_several_sources_are_named(tmp_path: Path) -> None:
    first = fill(tmp_path / "one" / "harbor", {"tides.md": "Low tide is at five.\n"})
    second = fill(tmp_path / "two" / "harbor", {"tides.md": "Low tide is at six, far away.\n"})
    third = make_zip(fill(tmp_path / "x", {"t.md": "Low tide is at seven."}), tmp_path / "port.zip")
    done = pack(first, "low tide", "--root", second, "--root", third, "--budget", 300)
    assert done.returncode == 0, done.stderr
    for name in ("harbor/tides.md", "harbor-2/tides.md", "port/t.md"):
        assert f"[DOC: {name}]" in done.stdout


def test_all_sources_may_be_roots(tmp_path: Path) -> None:
    first = fill(tmp_path / "one", {"tides.md": "Low tide is at five.\n", ".env": "A=1\n"})
    second = fill(tmp_path / "two", {"tides.md": "Low tide is at six, far away.\n"})
    done = pack("--root", first, "--root", second, "low tide", "--budget", 300, "--include", "*.md")
    assert done.returncode == 0, done.stderr
    assert "[DOC: one/tides.md]" in done.stdout
    assert "[DOC: two/tides.md]" in done.stdout
    assert ".env" not in done.stderr, "it was not asked for"
    alone = pack("--root", first, "low tide")
    assert (alone.returncode, "[DOC: tides.md]" in alone.stdout) == (0, True)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ((), "Missing argument 'QUERY'"),
        (("low tide",), "Missing argument 'SOURCE'"),
        ((".", ""), "Missing argument 'QUERY'"),
        ((".", "low", "tide"), "put the question in quotes"),
    ],
)
def test_what_was_typed_wrongly_is_said(typed: tuple[str, ...], message: str) -> None:
    done = pack(*typed)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_files_are_chosen_by_globs(tmp_path: Path) -> None:
    folder = fill(tmp_path / "harbor")
    only_code = pack(folder, "bell", "--include", "*.py", "--budget", 200)
    assert "ring_bell" in only_code.stdout
    assert "tides.md" not in only_code.stdout
    no_code = pack(folder, "bell", "--exclude", "src/", "--budget", 200)
    assert "ring_bell" not in no_code.stdout
    assert "tides.md" in no_code.stdout
    nothing = pack(folder, "bell", "--include", "*.rs")
    assert nothing.returncode == 2
    assert "no file to read was found" in nothing.stderr


def test_a_dry_run_shows_what_would_go_in(tmp_path: Path) -> None:
    folder = fill(tmp_path / "harbor")
    done = pack(folder, "the bell", "--dry-run", "--budget", 300)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines[:4]] == ["docs/", "tides.md", "src/", "bell.py"]
    assert "tokens in all" in lines[4]
    assert "by list prices of" in lines[5]
    data = json.loads(pack(folder, "the bell", "--dry-run", "--budget", 300, "--json").stdout)
    assert set(data["files"]) == {"docs/tides.md", "src/bell.py"}
    assert sum(data["files"].values()) <= data["tokens"] <= 300
    assert data["cost"]["gpt-4o"] == round(data["tokens"] * 2.5 / 1e6, 6)


def test_the_clipboard(tmp_path: Path) -> None:
    folder = fill(tmp_path / "harbor")
    programs = tmp_path / "bin"
    programs.mkdir()
    copied = tmp_path / "copied"
    program = programs / "wl-copy"
    program.write_text(f"#!/bin/sh\n/bin/cat > {copied}\n")
    program.chmod(0o755)
    done = pack(folder, "low tide", "--copy", "--budget", 200, path=str(programs))
    assert done.returncode == 0, done.stderr
    assert "Low tide is at five." in copied.read_text()
    assert done.stdout.startswith("copied ")
    program.unlink()
    none = pack(folder, "low tide", "--copy", "--budget", 200, path=str(programs))
    assert none.returncode == 2
    assert "there is no clipboard to copy to" in none.stderr


def test_an_archive_reaches_nothing_outside(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("The tide of somebody else.\n")
    evil = tmp_path / "evil.tar"
    with tarfile.open(evil, "w") as archive:
        link = tarfile.TarInfo("link.md")
        link.type, link.linkname = tarfile.SYMTYPE, str(outside)
        archive.addfile(link)
        data = b"The tide is mine.\n"
        for name in ("../up.md", "ok.md"):
            item = tarfile.TarInfo(name)
            item.size = len(data)
            archive.addfile(item, io.BytesIO(data))
    done = pack(evil, "tide", "--budget", 100)
    assert "somebody else" not in done.stdout + done.stderr
    assert "[DOC: ok.md]" in done.stdout
    evil_zip = tmp_path / "evil.zip"
    with zipfile.ZipFile(evil_zip, "w") as packed:
        entry = zipfile.ZipInfo("link.md")
        entry.external_attr = 0o120777 << 16
        packed.writestr(entry, str(outside))
        packed.writestr("../../up.md", "The tide is mine.\n")
    done = pack(evil_zip, "tide", "--budget", 100)
    assert "somebody else" not in done.stdout + done.stderr
    assert not list(tmp_path.parent.glob("up.md"))
    assert not (Path(tempfile.gettempdir()) / "up.md").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_chain_of_links_that_is_too_long_to_follow_leads_nowhere(tmp_path: Path) -> None:
    """Python's own filter lets it through in many versions: CVE-2025-4517."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs.md").write_text("The tide of somebody else.\n")
    evil, long_name, steps, path = tmp_path / "evil.tar", "d" * 247, "abcdefghijklmnop", ""
    with tarfile.open(evil, "w") as archive:

        def add(name: str, kind: bytes, link: str = "", data: bytes = b"") -> None:
            item = tarfile.TarInfo(name)
            item.type, item.linkname, item.size, item.mode = kind, link, len(data), 0o755
            archive.addfile(item, io.BytesIO(data))

        for step in steps:
            add(f"{path}{long_name}", tarfile.DIRTYPE)
            add(f"{path}{step}", tarfile.SYMTYPE, long_name)
            path += f"{long_name}/"
        chain = f"{'/'.join(steps)}/{'l' * 254}"
        add(chain, tarfile.SYMTYPE, "../" * len(steps))
        add("escape", tarfile.SYMTYPE, f"{chain}{'/..' * 12}{outside}")
        add("same.md", tarfile.LNKTYPE, "escape/theirs.md")
        add("same.md", tarfile.REGTYPE, data=b"The tide is mine.\n")
        add("escape/new.md", tarfile.REGTYPE, data=b"The tide is mine.\n")
        add("other.md", tarfile.LNKTYPE, "same.md")
    done = pack(evil, "tide", "--budget", 200)
    assert {file.name: file.read_text() for file in outside.iterdir()} == {
        "theirs.md": "The tide of somebody else.\n"
    }
    assert "somebody else" not in done.stdout + done.stderr
    assert "The tide is mine." in done.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        (b"just text", "is not a folder, an archive or a git bundle"),
        (b"# v3 git bundle\n@capability=x\n\n", "git cannot read the bundle"),
        (b"PK\x05\x06" + bytes(18), "no file to read was found"),
    ],
    ids=["nothing", "text", "bundle", "empty"],
)
def test_what_cannot_be_read_is_said(content: bytes | None, message: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    if content is not None:
        source.write_bytes(content)
    done = pack(source, "tide")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_bundle_runs_no_command_of_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its attributes choose filters: git-lfs, say, would ask an address that the bundle names."""
    home, ran = tmp_path / "home", tmp_path / "ran"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[filter "lfs"]\n\tsmudge = touch {ran} && cat\n\trequired = true\n'
        f"[init]\n\ttemplateDir = {home / 'templates'}\n"
    )
    hook = home / "templates" / "hooks" / "post-checkout"
    hook.parent.mkdir(parents=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    folder = fill(tmp_path / "harbor")
    folder.joinpath("docs", ".gitattributes").write_text("* filter=lfs\n")
    bundle = make_bundle(folder, tmp_path / "a.bundle")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    done = pack(bundle, "When is low tide?", "--budget", 200)
    assert done.returncode == 0, done.stderr
    assert "Low tide is at five." in done.stdout
    assert not ran.exists()


# --- archives that are larger than they look ------------------------------------------------------


def bundle_of(folder: Path, *trees: tuple[int, str]) -> Path:
    """Make a bundle of one commit: a file, in a folder so many times, in another so many times."""

    def git(*arguments: str, given: str = "") -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@b")
        command = ["git", *who, "-C", str(folder), *arguments]
        done = subprocess.run(command, check=True, capture_output=True, input=given.encode())
        return done.stdout.decode().strip()

    folder.mkdir()
    git("init", "--quiet", "--initial-branch=main")
    kind = "100644 blob"
    inner = git("hash-object", "-w", "--stdin", given="The tide.\n" * 1000)
    for count, name in trees:
        lines = (f"{kind} {inner}\t{name.format(number)}\n" for number in range(count))
        kind, inner = "040000 tree", git("mktree", given="".join(lines))
    git("update-ref", "refs/heads/main", git("commit-tree", inner, given="Tides"))
    git("bundle", "create", "../a.bundle", "main", "HEAD")
    return folder.parent / "a.bundle"


@pytest.mark.parametrize("empty", [False, True], ids=["files", "empty folders"])
def test_a_small_bundle_of_very_many_files_is_refused(tmp_path: Path, *, empty: bool) -> None:
    leaf = (0 if empty else 10, "f{}.md")
    bundle = bundle_of(tmp_path / "harbor", leaf, *[(10, "d{}")] * 9)
    assert bundle.stat().st_size < 2000
    done = pack(bundle, "tide")
    assert (done.returncode, "more than 500,000 files" in done.stderr) == (2, True), done.stderr


def test_a_small_bundle_of_very_large_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = bundle_of(tmp_path / "harbor", (200, "f{}.md"))
    with one_shot.gather([str(bundle)]) as (folder, _):
        assert sum(file.stat().st_size for file in folder.glob("*.md")) == 200 * 10_000
    monkeypatch.setattr(one_shot, "MAX_UNPACKED", 199 * 10_000)
    with pytest.raises(InputError, match="the archive holds more"), one_shot.gather([str(bundle)]):
        pass


def delta(base: int, size: int, piece: int) -> bytes:
    """Return the difference of a git object to a longer one: the base, again and again."""

    def number(value: int) -> bytes:
        data = b""
        while value > 0x7F:
            data, value = data + bytes([value & 0x7F | 0x80]), value >> 7
        return data + bytes([value])

    copy = b"\xf0" + piece.to_bytes(3, "little")
    return number(base) + number(size) + copy * (size // piece)


def test_a_small_bundle_of_one_huge_difference_takes_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(one_shot, "CLONE_MEMORY", 512 << 20)
    piece, middle, large = 1 << 16, 1 << 23, 1 << 31
    id_of = [
        hashlib.sha1(b"blob %d\0" % size + bytes(size), usedforsecurity=False).digest()
        for size in (piece, middle)
    ]
    parts = (
        *(b"\xb0\x80\x20", zlib.compress(bytes(piece))),
        *(object_head(7, delta(piece, middle, piece)), id_of[0]),
        *(zlib.compress(delta(piece, middle, piece)),),
        *(object_head(7, delta(middle, large, middle)), id_of[1]),
        *(zlib.compress(delta(middle, large, middle)),),
    )
    data = b"PACK" + struct.pack(">II", 2, 3) + b"".join(parts)
    data += hashlib.sha1(data, usedforsecurity=False).digest()
    bundle = tmp_path / "a.bundle"
    bundle.write_bytes(b"# v2 git bundle\n" + b"1" * 40 + b" refs/heads/main\n\n" + data)
    assert bundle.stat().st_size < 2000
    with (
        pytest.raises(InputError, match="git cannot read the bundle"),
        one_shot.gather([str(bundle)]),
    ):
        pass
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert largest < (1 << 20), "KiB"


def object_head(kind: int, data: bytes) -> bytes:
    """Return how an object of a pack begins: its kind and its size."""
    size = len(data)
    head = [kind << 4 | size & 0xF]
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head)


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_names_that_stand_for_very_many_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A name is written once, and a folder is made for each part of it."""
    monkeypatch.setattr(one_shot, "MAX_MEMBERS", 1000)
    for names, message in (
        ([f"{at}/" + "d/" * 60 + "a.md" for at in range(20)], "more than 1,000 files"),
        (["d/" * 200 + "a.md"], "more than 100 deep"),
        ([f"{at % 10}/" + "d/" * 60 + f"{at}.md" for at in range(20)], ""),
    ):
        source = tmp_path / f"a.{kind}"
        if kind == "zip":
            with zipfile.ZipFile(source, "w") as archive:
                for name in names:
                    archive.writestr(name, "The tide.")
        else:
            with tarfile.open(source, "w") as archive:
                for name in names:
                    archive.addfile(tarfile.TarInfo(name))
        refused = pytest.raises(InputError, match=message) if message else nullcontext()
        with refused, one_shot.gather([str(source)]):
            pass


# --- tar files that take memory ------------------------------------------------------------------


def header(kind: bytes, size: int, name: str = "a.md") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


def padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % tarfile.BLOCKSIZE)


def property_of(key: str, value: str) -> bytes:
    """Return a line of an extended header."""
    rest = f" {key}={value}\n".encode()
    size = len(rest) + len(str(len(rest)))
    return str(size if len(str(size)) == len(str(len(rest))) else size + 1).encode() + rest


FILE = header(tarfile.REGTYPE, 6) + padded(b"# mast")
SPARSE = b"".join(
    property_of(f"GNU.sparse.{key}", value)
    for key, value in (("major", "1"), ("minor", "0"), ("name", "a.md"), ("realsize", "6"))
)


def with_holes() -> bytes:
    """Return the header of a file with holes, as GNU tar writes it, which says that more follow."""
    block = bytearray(header(tarfile.GNUTYPE_SPARSE, 6))
    block[482] = 1
    block[483:495] = b"00000000006\0"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


LARGE_HEADERS = {
    "path": (header(tarfile.GNUTYPE_LONGNAME, 1 << 30), b"n" * (1 << 20)),
    "link": (header(tarfile.GNUTYPE_LONGLINK, 1 << 30), b"n" * (1 << 20)),
    "properties": (header(tarfile.XHDTYPE, 1 << 30), b"1" * (1 << 20)),
    "of all": (header(tarfile.XGLTYPE, 1 << 30), b"1" * (1 << 20)),
    "holes": (with_holes(), (b"\0" * 11 + b"0" * 481 + b"\1").ljust(512, b"0") * 2048),
    "holes in properties": (
        header(tarfile.XHDTYPE, len(SPARSE)) + padded(SPARSE) + header(tarfile.REGTYPE, 1 << 30),
        b"9999999\n" + b"1\n" * (1 << 19),
    ),
}


@pytest.mark.parametrize("kind", LARGE_HEADERS)
def test_a_header_takes_little_memory(kind: str, tmp_path: Path) -> None:
    """It says that a gigabyte follows, which Python would read: here there is less of it."""
    start, part = LARGE_HEADERS[kind]
    with gzip.open(tmp_path / "a.tgz", "wb") as archive:
        archive.write(start + part)
    with (
        pytest.raises(InputError, match="is not read"),
        one_shot.gather([str(tmp_path / "a.tgz")]),
    ):
        pass


def test_headers_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_shot, "MAX_HEADERS", 100_000)
    link = header(tarfile.GNUTYPE_LONGLINK, 50_000) + padded(b"n" * 50_000)
    for count, is_read in ((2, True), (3, False)):
        tmp_path.joinpath("a.tar").write_bytes((link + FILE) * count + b"\0" * 1024)
        refused = pytest.raises(InputError, match="headers of more than")
        with nullcontext() if is_read else refused, one_shot.gather([str(tmp_path / "a.tar")]):
            pass


def test_headers_for_all_members_are_not_kept_for_each(tmp_path: Path) -> None:
    """`git archive` writes one: the commit."""
    of_all = b"".join(property_of(f"k{number}", "v") for number in range(3000))
    data = header(tarfile.XGLTYPE, len(of_all)) + padded(of_all) + FILE * 3
    tmp_path.joinpath("a.tar").write_bytes(data + b"\0" * 1024)
    with one_shot._open_tar(tmp_path / "a.tar") as archive:
        assert [member.pax_headers for member in archive] == [{}] * 3
        assert archive.pax_headers == {}
    with one_shot.gather([str(tmp_path / "a.tar")]) as (folder, _):
        assert folder.joinpath("a.md").read_text() == "# mast"


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_long_names_of_every_form_are_read(form: int, tmp_path: Path) -> None:
    name = "d/" + "n" * 90 + "/" + ("f" * 90 if form == tarfile.USTAR_FORMAT else "ä" * 120) + ".md"
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=form) as archive:
        for each in (name, "d/b.md"):
            member = tarfile.TarInfo(each)
            member.size = 6
            archive.addfile(member, io.BytesIO(b"# mast"))
    with one_shot.gather([str(tmp_path / "a.tar.gz")]) as (folder, _):
        read = {str(file.relative_to(folder)) for file in folder.rglob("*.md")}
    assert read == {name.removeprefix("d/"), "b.md"}
