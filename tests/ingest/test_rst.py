from __future__ import annotations

from quire.core import hashing

from .reading import read_chunks, read_text, read_titles

BODY = "Some words about this very subject are here. And here are some more of them.\n\n"


def test_adornments_are_levels_in_order_of_appearance() -> None:
    text = (
        f"=====\nTitle\n=====\n\n{BODY}One\n===\n\n{BODY}Deep ``code``\n~~~~~~~~~~~~~\n\n{BODY}"
        f"Two\n===\n\n{BODY}"
    )
    assert read_titles("a.rst", text) == [
        "Title",
        "Title > One",
        "Title > One > Deep code",
        "Title > Two",
    ]
    assert read_text("a.rst", text).record.title == "Title"


def test_an_adornment_without_a_title_is_not_a_title() -> None:
    text = f"{BODY}----------\n\n{BODY}text\nmore text\n=========\n\n{BODY}    indented\n    ========\n\n"
    assert set(read_titles("a.rst", text)) == {""}


def test_a_literal_block_stays_with_the_line_that_opens_it() -> None:
    code = "Example::\n\n    first = 1\n\n    second = 2\n\n    third = 3\n\n"
    directive = ".. code-block:: python\n\n    first = 1\n\n    second = 2\n\n"
    text = BODY + code + BODY + directive + BODY
    texts = [chunk.text for chunk in read_chunks("a.rst", text)]
    assert any(code in chunk for chunk in texts)
    assert any(directive in chunk for chunk in texts)


def test_links_to_other_files() -> None:
    text = (
        "See :doc:`install`, :doc:`the guide <../guide/use>`, `a file <data/x.csv>`_ and\n"
        "`the web <https://example.org>`_ or :doc:`/root`.\n"
    )
    document = read_text("docs/index.rst", text)
    paths = ["docs/install.rst", "guide/use.rst", "docs/data/x.csv", "root.rst"]
    expected = sorted(hashing.record_id("document", path) for path in paths)
    assert [link.target for link in document.links] == expected
