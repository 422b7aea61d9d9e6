"""The built site in a real browser: search, widths, and nothing loaded from elsewhere.

`make test-site` builds the site and runs this with QUIRE_SITE set to its folder; otherwise it is
skipped. Search is tried with a server and from the folder, where browsers allow no workers.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Page

SITE = Path(os.environ.get("QUIRE_SITE", "site")).resolve()
pytestmark = pytest.mark.skipif(
    "QUIRE_SITE" not in os.environ, reason="`make test-site` builds the site and runs this"
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (360, 800, 1400)
QUESTIONS = {
    "getting started": "tutorial.html",
    "index a monorepo": "how-to/index-a-monorepo.html",
    "share a store with my team": "how-to/serve-a-team.html",
    "give my agent a memory": "how-to/give-an-agent-memory.html",
    "how do I write rules": "how-to/write-rules.html",
    "import an Obsidian vault": "how-to/import-a-vault.html",
    "use my own embedding model": "how-to/plug-in-an-embedder.html",
    "LangChain": "frameworks.html",
    "verify a receipt": "how-to/audit-a-receipt.html",
    "tune with eval": "how-to/tune-with-eval.html",
    "why is a document missing": "how-to/find-what-is-missing.html",
    "upgrade": "how-to/keep-it-running.html",
    "Docker": "operate.html",
    "PostgreSQL": "postgres.html",
    "Qdrant": "vectors.html",
    "how are candidates ranked": "explanation/ranking.html",
    "who may read what": "explanation/access.html",
    "is it deterministic": "explanation/determinism.html",
    "quire.toml settings": "reference/settings.html",
    "MCP tools": "reference/mcp.html",
    "how fast is it": "performance.html",
    "semantic versioning": "stability.html",
    "report a vulnerability": "project/security.html",
    "how does it compare with other tools": "comparison.html",
    "how do I keep a store up to date": "how-to/keep-it-running.html",
    "filter by metadata": "guide/search.html",
    "other languages": "guide/search.html",
    "Claude Code hooks": "guide/assistants.html",
    "redacted secrets": "guide/index-a-project.html",
    "delete a file for good": "guide/maintenance.html",
    "token budget reserve": "guide/contexts.html",
    "async": "guide/python.html",
    "write a plug-in": "guide/plug-ins.html",
    "git commits": "guide/git-history.html",
    "TLS proxy": "operate.html",
    "trust a cloned project": "guide/trust.html",
    "GPU": "workers.html",
    "JSON schema of a receipt": "reference/receipts.html",
    "exit codes": "guide/configuration.html",
    "prompt cache": "guide/python.html",
    "MCP server": "reference/mcp.html",
    "SQLite database tickets sync": "guide/documents.html",
    "why is my file not in the context": "how-to/find-what-is-missing.html",
    "how large can a store be": "capacity.html",
    "replay": "guide/receipts.html",
    "restore a backup": "how-to/keep-it-running.html",
    "revoke a token": "operate.html",
    "exclude files from the index": "how-to/index-a-monorepo.html",
    "sign receipts with a key": "guide/receipts.html",
    "Prometheus metrics": "operate.html",
    "which file formats are supported": "guide/formats.html",
    "embedding endpoint": "how-to/plug-in-an-embedder.html",
    "licenses of dependencies": "licenses.html",
    "how much memory does it need": "capacity.html",
    "ChatGPT conversations": "guide/formats.html",
    "PDF": "guide/formats.html",
    "environment variables": "guide/configuration.html",
    "ignore files": "guide/index-a-project.html",
    "watch for file changes": "guide/index-a-project.html",
    "zip archive": "guide/index-a-project.html",
    "store is damaged": "guide/maintenance.html",
    "multi tenant": "guide/configuration.html",
    "Ollama": "how-to/plug-in-an-embedder.html",
    "OpenAI API key": "how-to/plug-in-an-embedder.html",
    "compare two recipes": "how-to/tune-with-eval.html",
    "offline": "index.html",
    "what is a viewer": "guide/access.html",
    "count tokens for Claude": "guide/contexts.html",
    "VS Code": "guide/assistants.html",
    "markdown front matter": "guide/search.html",
    "how do I install it": "index.html",
    "how do I start": "tutorial.html",
    "what is a recipe": "guide/contexts.html",
    "what is a block": "guide/blocks.html",
    "what is a space": "guide/configuration.html",
    "is my data private": "index.html",
    "does it send my data anywhere": "index.html",
    "privacy telemetry": "index.html",
    "context is empty": "how-to/find-what-is-missing.html",
    "use with Claude Desktop": "guide/assistants.html",
    "connect Cursor": "guide/assistants.html",
    "REST API": "http.html",
    "HTTP API authentication": "http.html",
    "vector database": "vectors.html",
    "backup the store": "how-to/keep-it-running.html",
    "move store to another machine": "operate.html",
    "how do I update the index": "guide/index-a-project.html",
    "multiple projects in one store": "guide/configuration.html",
    "custom retriever": "guide/plug-ins.html",
    "reranker": "guide/plug-ins.html",
    "Word documents": "guide/formats.html",
    "Slack export": "guide/formats.html",
    "Notion": "how-to/import-a-vault.html",
    "prompt injection": "guide/assistants.html",
    "permissions": "guide/access.html",
    "groups of users": "guide/access.html",
    "log what was read by whom": "guide/access.html",
    "change the token budget": "guide/contexts.html",
    "search by meaning does not work": "guide/vectors.html",
    "Python example": "guide/python.html",
    "uninstall": "guide/assistants.html",
}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    """Return where the site is: behind a server, and as a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"server": f"http://127.0.0.1:{server.server_port}", "folder": SITE.as_uri()}
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def new_page(addresses: dict[str, str]) -> Iterator[Callable[[], Page]]:
    """Open pages; whatever they ask for elsewhere, and each of their errors, fails."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no chromium is installed: `make browser` installs it where apt is")
    problems: list[str] = []

    def watch(request: Any) -> None:
        if not request.url.startswith((*addresses.values(), "data:", "blob:", "about:")):
            problems.append(f"asked for {request.url}")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])

        def open_page() -> Page:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.set_default_timeout(20_000)
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("request", watch)
            return page

        yield open_page
        browser.close()
    assert problems == []


def first_hit(page: Page, address: str, question: str) -> str:
    """Type a question into the search of the site; return the page of the first result."""
    page.goto(f"{address}/index.html")
    page.wait_for_selector("[data-md-component=search-query]")
    page.keyboard.press("/")
    page.locator("[data-md-component=search-query]").fill(question)
    page.keyboard.press("End")  # the search listens to keys
    link = page.locator(".md-search-result__item a.md-search-result__link").first
    link.wait_for()
    target = str(link.evaluate("link => link.href"))
    return urlsplit(target.removeprefix(f"{address}/")).path


@pytest.mark.parametrize("question", QUESTIONS)
def test_search_finds_the_right_page_first(
    new_page: Callable[[], Page], addresses: dict[str, str], question: str
) -> None:
    page = new_page()
    assert first_hit(page, addresses["server"], question) == QUESTIONS[question]
    page.close()


@pytest.mark.parametrize("question", ["PostgreSQL", "verify a receipt", "how do I write rules"])
def test_search_works_from_a_folder(
    new_page: Callable[[], Page], addresses: dict[str, str], question: str
) -> None:
    page = new_page()
    assert first_hit(page, addresses["folder"], question) == QUESTIONS[question]
    page.close()


def test_the_copy_button_copies_commands_alone(
    new_page: Callable[[], Page], addresses: dict[str, str]
) -> None:
    page = new_page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{addresses['server']}/how-to/audit-a-receipt.html")
    block = page.locator(".highlight").first
    assert "the receipt holds" in block.inner_text()
    block.hover()
    block.locator("[data-md-type=copy]").click()
    page.wait_for_selector(".md-dialog--active")
    copied = str(page.evaluate("navigator.clipboard.readText()")).split("\n")
    assert copied[0] == "quire index --no-embed"
    assert all(line.startswith(("quire ", "mkdir ", "sed ")) for line in copied if line)
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_the_window(
    new_page: Callable[[], Page], addresses: dict[str, str], width: int
) -> None:
    page = new_page()
    page.set_viewport_size({"width": width, "height": 900})
    wide = {}
    for file in sorted(SITE.rglob("*.html")):
        name = file.relative_to(SITE).as_posix()
        page.goto(f"{addresses['server']}/{name}")
        over = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
        if over > 0:
            wide[name] = over
    page.close()
    assert wide == {}
