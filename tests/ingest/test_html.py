from __future__ import annotations

import sys

import pytest

from quire.core import hashing
from quire.core.types import IngestSettings
from quire.ingest.types import UnreadableFile

from .reading import SMALL, read_chunks, read_text

WHOLE = IngestSettings(whole=100_000)
PAGE = """<!doctype html>
<html><head><title>The &amp; title</title>
<style>p { color: red }</style><script>if (1 < 2) document.write("<p>no</p>")</script></head>
<body>
<nav><a href="index.html">Home</a> menu</nav>
<h1>Heading <em>one</em></h1>
<p>First   paragraph
with <b>bold</b>text &lt;tag&gt;, a <a href="../other.html#x">link</a>.</p>
<div hidden>hidden</div><p style="display: none">hidden too</p><template>t</template>
<ul><li>one</li><li>two <p>more</p></li></ul>
<table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p></td><td>2</td></tr></table>
<pre>def f():
    return 1
</pre>
<h2>Sub</h2>line<br>break
<p>last <a href="https://example.org/">web</a> <a href="x.py">code</a></p>
</body></html>
"""
TEXT = """Heading one

First paragraph with boldtext <tag>, a link.

- one
- two
more

a | b
1 | 2

def f():
    return 1


Sub

line
break

last web code"""


def test_visible_text() -> None:
    document = read_text("docs/page.html", PAGE, WHOLE)
    assert document.chunks[0].text == TEXT
    assert document.record.title == "The & title"
    assert document.record.attrs == {"language": "html", "role": "documentation"}


def test_heading_paths_and_source_lines() -> None:
    chunks = read_chunks("docs/page.html", PAGE)
    assert "".join(chunk.text for chunk in chunks) == TEXT
    assert [chunk.title for chunk in chunks] == ["Heading one", "Heading one", "Heading one > Sub"]
    assert chunks[0].text.startswith("Heading one\n\nFirst")
    assert [chunk.lines for chunk in chunks] == [(6, 10), (11, 12), (15, 16)]
    assert chunks[-1].end == len(TEXT.encode())


def test_links_to_other_files() -> None:
    document = read_text("docs/page.html", PAGE)
    expected = [hashing.record_id("document", "other.html"), hashing.record_id("code", "docs/x.py")]
    assert [link.target for link in document.links] == sorted(expected)


def test_a_page_without_text_has_a_record_and_no_chunks() -> None:
    document = read_text("empty.html", "<html><head><title>Only this</title></head></html>")
    assert (document.record.title, document.chunks) == ("Only this", ())


def test_a_heading_in_a_layout_table_is_a_heading() -> None:
    body = "<p>Some words about this very subject are here, and more of them.</p>" * 3
    page = f"<table><tr><td><h1>One</h1>{body}<h2>Two</h2>{body}</td></tr></table>"
    assert {chunk.title for chunk in read_chunks("a.html", page)} == {"One", "One > Two"}


def test_a_page_that_is_nested_too_deeply_is_refused() -> None:
    assert read_chunks("a.html", "<div>" * 900 + "text")[0].text == "text"
    assert read_chunks("a.html", "<p>text<br>" * 5000)[0].text.startswith("text\n\ntext")
    with pytest.raises(UnreadableFile, match="more than 1000 elements"):
        read_text("a.html", "<div>" * 1100 + "text")


def test_without_the_extra_the_reason_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    with pytest.raises(UnreadableFile, match=r"pip install 'quire-context\[docs\]'"):
        read_text("a.html", "<p>x", SMALL)
