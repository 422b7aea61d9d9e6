"""Take the pictures of the inspector: a real service over a part of this project, in Chromium.

Three widths, each in light and dark: `inspector-ask`, `inspector-budget`, `inspector-phone`.
"""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
ROOT = HERE.parent
PROJECT = ("README.md", "ARCHITECTURE.md", "docs/guide", "docs/cli.md", "src/quire/packing")
QUESTION = {"view": "ask", "q": "How are pieces packed into the budget?", "budget": "3000"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZES: Mapping[str, tuple[int, int]] = {
    "inspector-ask": (1400, 1150),
    "inspector-budget": (900, 900),
    "inspector-phone": (400, 860),
}
STEPS_TO_THE_RIGHT = 12


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """Index a copy of a part of this project without vectors, and serve it; yield the address."""
    project = folder / "quire"
    for name in PROJECT:
        target = project / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, target)
    (project / ".quire").mkdir()  # makes it a project of its own
    command = (sys.executable, "-m", "quire")
    home = str(folder / "home")
    place = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "XDG_STATE_HOME": home}
    environment = {**os.environ, **place}
    subprocess.run((*command, "index", "--no-embed"), cwd=project, env=environment, check=True)  # noqa: S603 - our own command
    serve = (*command, "serve", "--no-token", "--port", "0")
    with subprocess.Popen(  # noqa: S603 - our own command
        serve,
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield next(
                match[1]
                for line in process.stdout or ()
                if (match := re.search(r"listening on (http://\S+)", line))
            )
        finally:
            process.terminate()


def open_question(browser: Browser, address: str, name: str, scheme: str) -> Page:
    """Open the inspector with a question, and wait for its context."""
    width, height = SIZES[name]
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page.goto(f"{address}/?{urlencode(QUESTION)}")
    page.wait_for_selector(".flow")
    return page


def move_the_slider(page: Page) -> None:
    """Raise the budget until pieces enter, and bring the slider to the top."""
    slider = page.locator("#slider")
    slider.focus()
    for _ in range(STEPS_TO_THE_RIGHT):
        page.keyboard.press("ArrowRight")
    page.get_by_text(re.compile(r"[1-9]\d* enter")).wait_for()
    page.wait_for_load_state("networkidle")
    page.get_by_role("heading", name="Budget", exact=True).evaluate(
        "heading => heading.parentElement.scrollIntoView()"
    )


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="folder for the pictures")
    out = parser.parse_args().out
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit("no Chromium is installed: run `make browser`")
    with (
        tempfile.TemporaryDirectory() as folder,
        service(Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name in SIZES:
            for scheme, suffix in (("light", ""), ("dark", "-dark")):
                page = open_question(browser, address, name, scheme)
                if name == "inspector-budget":
                    move_the_slider(page)
                page.screenshot(path=out / f"{name}{suffix}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
