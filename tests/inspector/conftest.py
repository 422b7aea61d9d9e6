"""A browser, and a service whose files try to be markup."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import LONG_AGO, Tree
from tests.server.running import Running, running

pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, sync_playwright

ATTACK = "<img src=x onerror=window.attacked=1>"
FILES = {
    "docs/harbour.md": f"# Harbour {ATTACK}\n\nShips rest in the harbour at night. {ATTACK}\n"
    "</pre><script>window.attacked=2</script>\n\n## Pilot\n\nThe pilot of the harbour is named Wren.\n",
    f"docs/{ATTACK}.md": "# Tides\n\nThe tide turns twice a day; the harbour bar is dry then.\n",
    "docs/ebb\u202edm.md": "# Ebb\n\nThe harbour is empty at ebb.\n",
    "docs/bell.md": "# Bell\n\nThe bell of the harbour rings when the tide turns.\n",
    "src/crane.py": 'def lift(load):\n    """Lift a load of a ship in the harbour."""\n    return load\n',
    "hr/pay.md": "# Pay\n\nThe master of the harbour earns ninety doubloons.\n",
    "quire.toml": '[access]\n"hr/**" = ["alice"]\n',
}
SECRET = "doubloons"
"""A word that alice and the owner may read, and nobody else."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    tree = Tree(tmp_path_factory.mktemp("inspector") / "harbour")
    tree.fill(FILES)
    tree.index()
    with tree.open() as opened:
        opened.memories.add(f"The bell rings. {ATTACK}", at=LONG_AGO, share=["public"])
        opened.memories.add("Only alice knows of the rope.", at=LONG_AGO, viewer="alice")
    with running(tree) as started:
        yield started


@pytest.fixture(scope="module")  # its event loop runs until it ends, and no other can run meanwhile
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no chromium is installed: `make browser` installs it where apt is")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=[*FLAGS])
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser, service: Running) -> Iterator[OpenPage]:
    """Open the inspector as somebody; a test fails on an error in a page, and on a foreign request."""
    problems: list[str] = []
    pages: list[Page] = []

    def watch(request: Any) -> None:
        if not request.url.startswith((service.url, "data:")):
            problems.append(f"asked for {request.url}")

    def open_it(address: str = "", who: str | None = "owner", width: int = 1200) -> Page:
        page = browser.new_page(viewport={"width": width, "height": 900})
        pages.append(page)
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", watch)
        if who is not None:
            token = service.tokens[who]
            page.add_init_script(f"sessionStorage.setItem('quire.token', '{token}')")
        page.goto(f"{service.url}/{address}")
        return page

    yield open_it
    attacked = [page.evaluate("window.attacked") for page in pages]
    for page in pages:
        page.close()
    assert problems == []
    assert set(attacked) <= {None}, "text of the store was run"
