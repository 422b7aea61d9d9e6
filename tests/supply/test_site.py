"""Is every page of the site in its navigation, and does every link lead somewhere?

This reads the pages alone; `make docs` builds the site, which needs packages of its own.
"""

from __future__ import annotations

import importlib.util
import posixpath
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SITE: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hooks = load("site_hooks")


def in_nav(part: Any) -> Iterator[str]:
    """Yield the pages of a part of the navigation."""
    if isinstance(part, str):
        yield part
    else:
        for inner in part.values() if isinstance(part, dict) else part:
            yield from in_nav(inner)


PAGES = sorted(page.relative_to(ROOT).as_posix() for page in DOCS.rglob("*.md"))
SOURCES = ["README.md", *sorted(hooks.PAGES), *PAGES]


def slug(heading: str) -> str:
    """Return the anchor of a heading, as Python-Markdown makes it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    ascii_only = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())


def anchors(source: str) -> set[str]:
    prose = re.sub(
        r"^```.*?^```$", "", (ROOT / source).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return {slug(match[1]) for match in re.finditer(r"^#+ (.+)$", prose, re.MULTILINE)}


def dead_links(text: str, source: str) -> Iterator[str]:
    """Yield the links of a page of the repository that lead nowhere."""
    folder = posixpath.dirname(source)
    for path, anchor in hooks.targets(text):
        target = posixpath.normpath(posixpath.join(folder, path))
        page = f"docs/{hooks.FOLDERS[target]}" if target in hooks.FOLDERS else target
        if not (ROOT / page).exists():
            yield f"{path}: there is no such file"
        elif source != "README.md" and hooks.place_of(target) is None:
            yield f"{path}: not on the site; add it to docs/site_hooks.py"
        elif anchor and page.endswith(".md") and anchor not in anchors(page):
            yield f"{path}#{anchor}: there is no such heading"
    prose = re.sub(r"^```.*?^```$|`[^`\n]+`", "", text, flags=re.MULTILINE | re.DOTALL)
    own = anchors(source) if (ROOT / source).exists() else set()
    for match in re.finditer(r"\]\(#([^)\s]+)\)", prose):
        if match[1] not in own:
            yield f"#{match[1]}: there is no such heading"


@pytest.mark.parametrize("source", SOURCES)
def test_no_link_is_dead(source: str) -> None:
    assert list(dead_links((ROOT / source).read_text("utf-8"), source)) == []


def broken_lists(text: str) -> Iterator[str]:
    """Yield the lines that GitHub shows as parts of a list, and Python-Markdown as running text."""
    for part in re.split(r"^```.*?^```$", text, flags=re.MULTILINE | re.DOTALL):
        before = ""
        for line in part.splitlines():
            item = re.match(r" *([-*]|\d+\.) ", line)
            is_prose = bool(before.strip()) and not before.startswith((" ", "#"))
            if item and is_prose and not re.match(r"([-*]|\d+\.) ", before):
                yield f"{line}: put an empty line before the list"
            elif re.match(r" {1,3}\S", line) and not before.strip():
                yield f"{line}: indent what belongs to an item by four spaces"
            before = line


@pytest.mark.parametrize("source", [*sorted(hooks.PAGES), *PAGES])
def test_lists_are_lists_on_the_site_too(source: str) -> None:
    assert [*broken_lists((ROOT / source).read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("Two things:\n- one\n- two\n", 1),
        ("Two things:\n\n- one\n  and more\n- two\n", 0),
        ("1. one\n\n   | a |\n", 1),
        ("1. one\n\n    | a |\n", 0),
        ("```\nTwo things:\n- one\n```\n", 0),
    ],
)
def test_a_broken_list_is_found(text: str, broken: int) -> None:
    assert len([*broken_lists(text)]) == broken


def test_every_page_is_in_the_navigation_once() -> None:
    listed = [hooks.source_of(page) for page in in_nav(SITE["nav"])]
    assert sorted(listed) == sorted([*PAGES, *hooks.PAGES])


def test_what_is_brought_from_outside_exists() -> None:
    for source in {**hooks.PAGES, **hooks.FILES, **hooks.FOLDERS}:
        assert (ROOT / source).exists(), source


def test_nothing_is_loaded_from_elsewhere() -> None:
    """Fonts, scripts and styles come with the site; `social` would fetch some.

    `offline` fetches a script unless the site names one of its own. `make test-site` looks at what a
    browser really asks for.
    """
    assert SITE["theme"]["font"] is False
    assert "repo_url" not in SITE
    assert not any("://" in each for each in SITE.get("extra_css", []))
    assert "extra_javascript" not in SITE
    assert SITE["extra"]["polyfills"] == ["iframe-worker.js"]
    assert (DOCS / "iframe-worker.js").exists()
    names = [each if isinstance(each, str) else next(iter(each)) for each in SITE["plugins"]]
    assert names == ["search", "offline", "mkdocstrings"]
    assert SITE["strict"] is True


def test_the_picture_of_a_page_is_what_the_code_draws() -> None:
    drawn = load("make_page").draw()
    assert (DOCS / "page.svg").read_text("utf-8") == drawn, "run `make pictures`"


def test_the_pictures_are_what_the_code_and_the_figures_draw() -> None:
    for name, draw in load("make_pictures").PICTURES.items():
        assert (DOCS / name).read_text("utf-8") == draw(), "run `make pictures`"


@pytest.mark.parametrize("script", sorted(file.name for file in DOCS.glob("make_*.py")))
def test_asking_a_script_for_help_writes_nothing(script: str) -> None:
    """A script that took no options would write its file whatever stood after its name."""
    text = (DOCS / script).read_text("utf-8")
    main = text[text.index('if __name__ == "__main__":') :]
    assert main.splitlines()[1].strip().endswith(("parse_args()", "main()")), script


def test_the_reference_is_what_the_code_says() -> None:
    for name, text in load("make_reference").files().items():
        assert (DOCS / "reference" / name).read_text("utf-8") == text, "run `make reference`"


# --- the checks themselves ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("[a](cli.md) [b](../README.md)", 1),  # the README is not on the site
        ("[a](nowhere.md)", 1),
        ("[a](cli.md#no-such-heading)", 1),
        ("[a](guide/rules.md#judges) [b](../ARCHITECTURE.md#packages)", 0),
        ("[a](https://example.org/guide.md)", 0),
        ("`[a](nowhere.md)`\n\n```text\n[a](nowhere.md)\n```\n", 0),
    ],
)
def test_a_dead_link_is_found(text: str, dead: int) -> None:
    assert len(list(dead_links(text, "docs/some.md"))) == dead


@pytest.mark.parametrize(
    ("page", "written", "on_site"),
    [
        ("evidence.md", "[a](../model/README.md#data)", "[a](project/model.md#data)"),
        ("how-to/x.md", "[a](../../ARCHITECTURE.md)", "[a](../project/architecture.md)"),
        ("project/architecture.md", "[a](docs/pages.md)", "[a](../pages.md)"),
        ("project/model.md", "[a](../README.md)", "[a](../README.md)"),
        ("guide.md", "[a](plugin-template)", "[a](plugin-template/README.md)"),
        ("guide.md", "`[a](../README.md)`", "`[a](../README.md)`"),
        (
            "guide.md",
            "```console\n# runs\n$ false  # exits 1\n# runs\n```",
            "```console\n$ false\n# runs\n```",
        ),
        (
            "guide.md",
            "```console\n# runs\n$ echo a > b  # the lines above\n$ cat b\na\n```",
            "```console\n$ cat b\na\n```",
        ),
        ("guide.md", "```python\n# runs on x\nx = 1\n```", "```python\nx = 1\n```"),
        ("guide.md", "```sh\n# runs\n$ a  # exits 1\n```", "```sh\n# runs\n$ a  # exits 1\n```"),
    ],
)
def test_links_are_rewritten_for_the_site(page: str, written: str, on_site: str) -> None:
    assert hooks.rewrite(written, page) == on_site


def test_a_page_title_says_what_it_is() -> None:
    """Search ranks titles first: each page has one, and no two are the same."""
    titles = []
    for source in [*PAGES, *hooks.PAGES]:
        heading = (ROOT / source).read_text("utf-8").splitlines()[0]
        assert heading.startswith("# "), source
        titles.append(heading)
    assert len(set(titles)) == len(titles)
