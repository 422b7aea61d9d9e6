"""The report of a receipt: one file that shows everything, and that nothing in a project can alter."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire import compact_receipt
from quire.errors import InputError
from quire.pipeline.picture import draw
from quire.pipeline.spans import find_spans
from quire.report import write_report
from quire.report.markup import element

if TYPE_CHECKING:
    from quire import Context
    from tests.conftest import Tree

ATTACK = "<img src=x onerror=alert(1)>"
FILES: dict[str, str | bytes] = {
    "anchor.md": f"# Anchor\n\nThe anchor holds in sand. {ATTACK}</pre><script>alert(2)</script>\n",
    f"{ATTACK.replace('/', '')}.md": "# Chain\n\nThe anchor's chain is long & heavy.\n",
    "boat.py": "def drop(anchor):\n    return anchor.chain\n\n\ndef raise_(anchor):\n    return None\n",
    "far.md": "# Weather\n\nIt rains. The anchor is not used.\n",
}
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer"),
    *("p", "h1", "h2", "dl", "dt", "dd", "div", "ul", "ol", "li", "span", "b", "code", "pre"),
    *("table", "thead", "tbody", "tr", "th", "td", "details", "summary", "svg", "g", "rect"),
}


class Page(HTMLParser):
    """What a browser would see: which elements, with which attributes, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.names: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def project(tree: Tree) -> Tree:
    tree.fill(FILES)
    tree.index()
    return tree


def assembled(tree: Tree, budget: int = 120) -> Context:
    with tree.open() as q:
        return q.assemble(f"anchor chain {ATTACK}", budget=budget, reserve={})


def test_the_picture_adds_up(project: Tree) -> None:
    context = assembled(project)
    picture = draw(context.receipt)
    assert sum(part.tokens for part in picture.budget) == picture.total == 120
    assert picture.stages[-1].after == len(context.sources) == len(picture.pieces)
    assert picture.stages[0].after == len(context.decisions)
    for one, then in zip(picture.stages, picture.stages[1:], strict=False):
        assert one.after == then.before
    assert sum(share.tokens for share in picture.documents) == sum(
        source.tokens for source in context.sources
    )


def test_the_report_shows_everything(project: Tree) -> None:
    context = assembled(project)
    with project.open() as q:
        holds = q.verify(context.receipt, context.text)
    shown = {chunk.chunk_id: chunk.text for chunk in context.chunks}
    page = Page(
        write_report(draw(context.receipt), text=context.text, texts=shown, verification=holds)
    )
    for decision in context.decisions:
        assert decision.path in page.text
        assert decision.reason in page.text
    assert context.text in page.text, "to the byte"
    assert str(context.receipt["view_root"]) in page.text
    assert "holds" in page.text


def test_a_receipt_without_its_parts(project: Tree) -> None:
    context = assembled(project, 60)
    picture = draw(compact_receipt(context.receipt))
    assert picture.unlisted == len(context.decisions) - len(context.sources) > 0
    assert picture.stages == ()
    assert f"{picture.unlisted} candidates were left out" in Page(write_report(picture)).text


def test_nothing_in_a_project_becomes_markup(project: Tree) -> None:
    context = assembled(project, 400)
    shown = {chunk.chunk_id: chunk.text for chunk in context.chunks}
    page = Page(write_report(draw(context.receipt), text=context.text, texts=shown))
    assert ATTACK in page.text, "in the query, a path and a text"
    assert set(page.tags) <= TAGS | {"title"}
    assert not {name for name in page.names if name.startswith("on")}
    assert not {"src", "href", "style"} & page.names, "it loads nothing"


def test_a_name_cannot_look_like_another(tree: Tree) -> None:
    """It may override the direction of writing: `ebb<202e>dm.md` would look like `ebbdm.md` backwards."""
    tree.fill({"ebb\u202edm.md": "# Ebb\n\nThe anchor's chain is dry at ebb.\n"})
    tree.index()
    page = write_report(draw(assembled(tree, 400).receipt))
    assert "ebb\\u202edm.md:1-3" in Page(page).text
    assert "\u202e" not in page


@given(st.text())
def test_every_text_stays_a_text(text: str) -> None:
    page = Page(element("p", text, title=text))
    assert page.tags == {"p": 1}
    assert page.names == {"title"}


@given(st.text("ab }\n<&-", max_size=60), st.lists(st.text("ab }\n<", max_size=20), max_size=4))
def test_spans_are_the_text(text: str, pieces: list[str]) -> None:
    spans = find_spans(text, pieces)
    assert "".join(span.text for span in spans) == text
    assert all(span.piece is None or span.piece < len(pieces) for span in spans)


def test_spans_tell_the_pieces_apart() -> None:
    first = "def one():\n    return 1\n\n    # end of it\n}"
    second = "A chain & an anchor, which hold.\nThe rest is cut."
    text = (
        f"[DOC: one.py]\n{first}\n\n<doc path='two.md'>\n"
        "  - A chain &amp; an anchor, which hold.\n...\n</doc>\n"
    )
    found = [(span.piece, span.text) for span in find_spans(text, [first, second])]
    assert found == [
        (None, "[DOC: one.py]\n"),
        (0, first + "\n"),
        (None, "\n<doc path='two.md'>\n"),
        (1, "  - A chain &amp; an anchor, which hold.\n"),
        (None, "...\n</doc>\n"),
    ]


def test_a_paragraph_that_is_joined_is_still_found() -> None:
    piece = "`Anchors` hold\nin *sand*, and in most kinds\nof mud as well."
    text = "### Anchors\nAnchors hold in sand, and in most kinds of mud as well.\n"
    found = [(span.piece, span.text) for span in find_spans(text, ["another", piece])]
    assert found == [(None, "### Anchors\n"), (1, text.removeprefix("### Anchors\n"))]


def owners(text: str, pieces: list[str]) -> list[int | None]:
    """Return the piece of each line."""
    return [span.piece for span in find_spans(text, pieces) for _ in span.text.splitlines()]


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        (  # the first line of a piece stands in the one before as well
            "[DOC: a.py]\nimport sys\ndef one():\n[DOC: b.py]\nimport sys\ndef two():\n",
            ["import sys\ndef one():", "import sys\ndef two():"],
            [None, 0, 0, None, 1, 1],
        ),
        (  # without a marker between them: two parts of one file
            "def save(self):\n    self.check()\n    return self\ndef load(self):\n    return self\n",
            [
                "def save(self):\n    self.check()\n    return self",
                "def load(self):\n    return self",
            ],
            [0, 0, 0, 1, 1],
        ),
        (  # the second begins with a line that the first has in its middle
            "def save(self):\n    self.check()\n    self.write()\n    self.check()\n    return 5\n",
            [
                "def save(self):\n    self.check()\n    self.write()",
                "    self.check()\n    return 5",
            ],
            [0, 0, 0, 1, 1],
        ),
        (  # a bracket before the first line that says something
            "[DOC: a.py]\nname = [\n[DOC: b.py]\n]\nother = 5\n",
            ["name = [", "]\nother = 5"],
            [None, 0, None, 1, 1],
        ),
        (  # a line of a source that could pass for a marker
            "[DOC: a.md]\nA page begins like this:\n\\[DOC: b.md]\n",
            ["A page begins like this:\n[DOC: b.md]"],
            [None, 0, 0],
        ),
        (  # left out in the middle, and the rest is in another piece as well
            "[DOC: a.md]\nOne anchor\n...\nThe tide turns\n[DOC: b.md]\nThe tide turns\n",
            ["One anchor\nTwo bells\nThe tide turns", "The tide turns"],
            [None, 0, None, 0, None, 1],
        ),
    ],
)
def test_lines_of_several_pieces(text: str, pieces: list[str], expected: list[int | None]) -> None:
    assert owners(text, pieces) == expected


LINES = st.lists(
    st.sampled_from(["import sys", "def one():", "return 5", "}"]), min_size=1, max_size=5
)


@given(st.lists(LINES, min_size=1, max_size=5))
def test_whole_pieces_under_markers_have_their_lines(pieces: list[list[str]]) -> None:
    lines, expected = [], []
    for number, piece in enumerate(pieces):
        lines += [f"[DOC: {number}.py]", *piece]
        expected += [None, *([number] * len(piece))]
    if all(any(line != "}" for line in piece) for piece in pieces):
        found = owners("\n".join(lines), ["\n".join(piece) for piece in pieces])
        assert found == expected


def test_a_line_that_is_everywhere() -> None:
    pieces = [f"number {n}\nreturn None\n" * 5 for n in range(200)]
    text = "".join(f"[DOC: {n}.py]\n{piece}" for n, piece in enumerate(pieces))
    expected = [each for n in range(200) for each in [None, *([n] * 10)]]
    assert owners(text, pieces) == expected


def test_real_pages_are_coloured(project: Tree) -> None:
    context = assembled(project, 400)
    spans = find_spans(context.text, [chunk.text for chunk in context.chunks])
    found = {span.piece for span in spans if span.piece is not None}
    assert found == set(range(len(context.chunks)))
    for span in spans:
        if span.piece is None:
            assert all(line.startswith("[") or not line for line in span.text.split("\n"))


def test_the_command(project: Tree) -> None:
    receipt, context = project.root / "r.json", project.root / "c.txt"
    done = project.call("assemble", "anchor", "--budget", "900", "--receipt", str(receipt))
    context.write_bytes(done.stdout.encode())
    done = project.call("report", str(receipt), "--context", str(context), "-o", "report.html")
    assert (done.returncode, done.stdout.strip()) == (0, "report.html")
    page = (project.root / "report.html").read_text("utf-8")
    assert "does not hold" not in page
    assert "The anchor holds in sand." in page
    done = project.call("report", str(receipt), "--no-store", "-o", "-")
    assert "The anchor holds in sand." not in done.stdout
    data = json.loads(project.call("report", str(receipt), "-o", "r.html", "--json").stdout)
    size = (project.root / "r.html").stat().st_size
    assert data == {"report": "r.html", "bytes": size, "opened": False}


def test_an_altered_receipt_is_shown_as_such(project: Tree) -> None:
    receipt = project.root / "r.json"
    project.call("assemble", "anchor", "--receipt", str(receipt))
    data = json.loads(receipt.read_text("utf-8"))
    data["tokens"] += 1
    receipt.write_text(json.dumps(data), "utf-8")
    done = project.call("report", str(receipt), "-o", "-")
    assert "does not hold" in done.stdout


def test_what_is_no_receipt(project: Tree) -> None:
    project.write("r.json", "{}")
    done = project.call("report", "r.json", "-o", "-")
    assert done.returncode == 2
    assert "not a receipt" in done.stderr
    with pytest.raises(InputError, match="malformed"):
        draw({"version": 2, "text_hash": ""})


@pytest.mark.skipif(os.name == "nt", reason="the browser of this test is a shell script")
def test_explain_opens_a_browser(project: Tree, tmp_path: Path) -> None:
    browser, told = tmp_path / "browser", tmp_path / "told"
    browser.write_text(f'#!/bin/sh\necho "$1" > {told}\n', "utf-8")
    browser.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROWSER", str(browser))
        done = project.call("explain", "anchor", "--open", "--viewer", "bob")
    assert done.returncode == 0, done.stderr
    path = Path(done.stdout.strip())
    assert told.read_text("utf-8").strip() == path.as_uri()
    page = path.read_text("utf-8")
    assert "The anchor holds in sand." in page
    assert "does not hold" not in page, "it is checked as the viewer that it was made for"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600, "it shows what this user may read"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
