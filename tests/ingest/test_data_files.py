"""Pictures and lock files: what can be read of them is indexed, coordinates and checksums are not."""

from __future__ import annotations

from pathlib import Path

import pytest

import quire
from quire.ingest.types import UnreadableFile

from .reading import read_chunks, read_text

PATHS = '<path class="cls-1" d="M448.569,446.761l-66.389,49.07c-3.528,2.565 -8.018,4.1z"/>\n'
LOGO = f"""<?xml version="1.0" encoding="UTF-8"?>
<!-- <text>made by a program</text> -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">
<title>The mill &amp; its wheel</title>
<style>.cls-1 {{ fill: #3f3f3f }}</style>
<desc>A wheel with eight
blades.</desc>
{PATHS * 300}<text x="4" y="10">Re<tspan x="2" y="0">qu</tspan><tspan x="5" y="0">ests</tspan></text>
<svg:text><tspan x="0" dy="1em">Upper</tspan><tspan x="0" dy="1em">race</tspan></svg:text>
<foreignObject><div xmlns="http://www.w3.org/1999/xhtml">Sluice <b>gate</b></div></foreignObject>
</svg>
"""
UV = """version = 1

[[package]]
name = "alabaster"
version = "1.0.0"
source = { registry = "https://pypi.org/simple" }
sdist = { url = "https://example.org/a.tar.gz", hash = "sha256:%(digest)s", size = 24 }
wheels = [
    { url = "https://example.org/a.whl", hash = "sha256:%(digest)s", size = 13 },
]

[[package]]
name = "anyio"
version = "4.13.0"
dependencies = [
    { name = "idna" },
]
"""
NPM = """{
  "packages": {
    "node_modules/left-pad": {
      "version": "1.3.0",
      "resolved": "https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz",
      "integrity": "sha512-XI5MPzVNApjAyhQzphX8BkmKsKUxD4LdyK24iZeQGinBN9yTQT3bFlCBy/aVx2HrNcqQGsdot8ghrjyrvMCoEA=="
    }
  }
}
"""
GO = """github.com/bytedance/sonic v1.9.1 h1:6iJ6NqdoxCDr6mbY8h18oSO+cShGSMRGCEo7F2h0x8s=
github.com/bytedance/sonic v1.9.1/go.mod h1:i736AoUSYt75HyZLoJW9ERYxcy6eaN6h4BZXU064P/U=
"""
DIGEST = "fc6786e02a1d4b7d8f6e34b3e2a8a2ab0b8a4d9c6f8b0d1e2f3a4b5c6d7e8f90"


def test_a_picture_is_its_title_its_description_and_its_labels() -> None:
    document = read_text("docs/mill.svg", LOGO)
    text = "".join(chunk.text for chunk in document.chunks)
    assert text == (
        "The mill & its wheel\nA wheel with eight blades.\nRequests\nUpper race\nSluice gate\n"
    )
    assert document.record.title == "The mill & its wheel"
    first, last = document.chunks[0], document.chunks[-1]
    assert first.lines[0] == 4
    assert last.lines[1] == LOGO[: LOGO.index("<foreignObject")].count("\n") + 1


@pytest.mark.parametrize("text", [PATHS, "<svg><text>never closed", "<svg><title/></svg>"])
def test_a_picture_without_words_is_skipped_with_the_reason(text: str) -> None:
    with pytest.raises(UnreadableFile, match="a picture without words"):
        read_text("logo.svg", text)


@pytest.mark.parametrize("unit", ["<text>", "<a:title ", "<tspan ", "<!--", "<text><tspan "])
def test_what_is_never_closed_is_looked_for_once(unit: str) -> None:
    """A second search for each opening would take minutes here."""
    with pytest.raises(UnreadableFile):
        read_text("hostile.svg", unit * (600_000 // len(unit)))


def test_a_lock_file_is_its_packages_and_versions() -> None:
    chunks = read_chunks("uv.lock", UV % {"digest": DIGEST})
    text = "".join(chunk.text for chunk in chunks)
    kept = [line for line in UV.splitlines() if "example.org" not in line]
    kept.remove("wheels = [")
    kept.remove("]")
    assert text.splitlines() == kept
    assert chunks[-1].lines[1] == UV.count("\n")


def test_the_addresses_of_archives_are_left_out_of_a_lock_file() -> None:
    text = "".join(chunk.text for chunk in read_chunks("package-lock.json", NPM))
    assert '"node_modules/left-pad": {\n      "version": "1.3.0",\n    }' in text
    assert "tgz" not in text
    assert "sha512" not in text


def test_a_commit_in_a_lock_file_is_a_version() -> None:
    pinned = '"revision" : "672971d66a2ef9f85151e53283113f33d642dabd",\n'
    assert read_chunks("Package.resolved", pinned)[0].text == pinned


def test_a_lock_file_of_checksums_alone_is_skipped_with_the_reason() -> None:
    with pytest.raises(UnreadableFile, match="checksums alone"):
        read_text("go.sum", GO)


def test_an_index_tells_which_pictures_it_skips(tmp_path: Path) -> None:
    (tmp_path / "quire.toml").write_text('[embed]\nprovider = "none"\n')
    (tmp_path / "mill.svg").write_text(LOGO)
    (tmp_path / "logo.svg").write_text(PATHS)
    with quire.open(tmp_path) as opened:
        summary = opened.index()
        assert [(entry.path, entry.reason) for entry in summary.skipped] == [
            ("logo.svg", "a picture without words: it has no title, desc or text element")
        ]
        context = opened.assemble("Where is the sluice gate?", budget=300, recipe="entities")
    assert "Sluice gate" in context.text
    assert "448.569" not in context.text
