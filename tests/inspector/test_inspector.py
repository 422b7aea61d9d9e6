"""The inspector in a real browser: each view, two viewers, hostile texts, the keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

import pytest

from .conftest import ATTACK, SECRET

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.server.running import Running

    from .conftest import OpenPage

FILES = Path(__file__).parents[2] / "src" / "quire" / "server" / "inspector"
QUESTION = {"view": "ask", "q": "harbour pilot and master", "budget": "900"}
ASK = f"?{urlencode(QUESTION)}"
STEP_MS = 150
"""What a step of the slider may take, on a machine that does nothing else."""


def ready(page: Page) -> Page:
    page.wait_for_selector(".flow")
    return page


def test_a_token_is_typed_once_and_in_no_address(open_page: OpenPage, service: Running) -> None:
    page = open_page(ASK, who=None)
    page.get_by_label("Token").fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    page.get_by_label("Token").fill(service.tokens["bob"])
    page.keyboard.press("Enter")
    ready(page)
    assert service.tokens["bob"] not in page.url
    page.reload()
    ready(page)
    assert "bob" in page.inner_text("#who")
    page.get_by_role("button", name="Forget token").click()
    page.get_by_label("Token").wait_for()


def test_a_forgotten_token_shows_nothing_more(open_page: OpenPage) -> None:
    """At once: also where the service is slow, or answers no more."""
    page = ready(open_page(ASK, who="alice"))
    assert SECRET in page.content()
    page.route("**/v1/**", lambda _: None)  # never answered
    page.get_by_role("button", name="Forget token").click()
    assert SECRET not in page.content()
    assert page.inner_text("main") == ""
    assert "harbour" not in page.title()


def test_an_error_keeps_the_question_and_says_what_to_do(open_page: OpenPage) -> None:
    page = open_page(f"?{urlencode({**QUESTION, 'budget': '3', 'where': 'team = 1'})}")
    alert = page.locator("#result [role=alert]")
    alert.wait_for()
    told = alert.inner_text()
    assert "lower reserve" in told
    assert "{" not in told
    assert page.get_by_label("Question").input_value() == QUESTION["q"]
    assert page.get_by_label("Metadata").input_value() == "team = 1"
    page.get_by_label("Budget", exact=True).fill("900")
    page.get_by_label("Metadata").fill("")
    page.get_by_role("button", name="Ask", exact=True).click()
    ready(page)


def test_metadata_filters_and_is_never_markup(open_page: OpenPage, service: Running) -> None:
    put = {
        "path": "crm/42",
        "content": "# Acme\n\nThe harbour pilot of Acme.",
        "title": ATTACK,
        "metadata": {"team": ATTACK, "note": f"</td><script>window.attacked=3</script>{ATTACK}"},
    }
    assert service.ask("owner", "POST", "/v1/documents", put).status_code == 201
    try:
        where = f'team = "{ATTACK}"'
        page = ready(open_page(f"?{urlencode({**QUESTION, 'budget': '2000', 'where': where})}"))
        assert page.locator(".pieces a.place").all_inner_texts() == ["crm/42:1-3"]
        assert page.get_by_label("Metadata").input_value() == where
        page.locator(".pieces a.place").first.click()
        page.get_by_text("The harbour pilot of Acme.").wait_for()
        page.goto(f"{service.url}/?view=store")
        page.get_by_text(ATTACK).first.wait_for()
        assert page.locator("main img, main script").count() == 0
    finally:
        service.ask("owner", "DELETE", "/v1/document?path=crm/42")


def test_a_context_with_everything_about_it(open_page: OpenPage, service: Running) -> None:
    page = open_page()
    page.locator("#q:focus").wait_for()
    page.keyboard.type(QUESTION["q"])
    page.get_by_label("Budget", exact=True).fill("900")
    page.keyboard.press("Enter")
    ready(page)
    body = {"query": QUESTION["q"], "budget": 900}
    context = service.ask("owner", "POST", "/v1/explain", body).json()
    assert page.locator(".context").text_content() == context["text"], "to the byte"
    assert page.locator(".pieces > li").count() == len(context["sources"])
    coloured = page.locator(".context span[title]").all()
    assert {str(each.get_attribute("title")).split(":")[0] for each in coloured} == {
        source["path"] for source in context["sources"]
    }
    assert page.locator(".candidates tbody tr").count() == len(context["decisions"])
    steps = page.locator(".flow li").all_inner_texts()
    assert len(steps) == 9
    assert all(" ms" in step for step in steps)
    # A click on a line leads to its piece.
    coloured[0].click()
    assert page.evaluate("document.activeElement.id") == "piece-0"
    # The receipt.
    page.get_by_role("button", name="Verify").click()
    page.get_by_text("holds", exact=True).wait_for()
    # The address reproduces it.
    again = open_page(page.url.removeprefix(f"{service.url}/"))
    ready(again)
    assert again.locator(".context").text_content() == context["text"]


def test_the_slider_tells_which_pieces_move(open_page: OpenPage) -> None:
    page = ready(open_page(ASK))
    slider = page.get_by_role("slider")
    slider.focus()
    times = []
    for key in ("Home", "ArrowRight", "PageUp", "PageUp", "PageUp", "End"):
        before = page.locator(".moved").get_attribute("data-budget")
        page.keyboard.press(key)
        page.locator(f'.moved[data-budget]:not([data-budget="{before}"])').wait_for()
        times.append(float(page.locator(".moved").get_attribute("data-ms") or 0))
    assert min(times) < STEP_MS, times
    page.keyboard.press("Home")
    page.locator(".moves .bad").first.wait_for()
    assert "enter" in page.inner_text(".moved")
    page.get_by_role("button", name="Assemble with this budget").click()
    page.get_by_text("The context has no piece.").wait_for()


def test_the_slider_stays_where_it_is_while_it_moves(open_page: OpenPage) -> None:
    """A button that appears beside it must not shift it under the pointer."""
    page = ready(open_page(ASK))
    slider = page.get_by_role("slider")
    slider.focus()
    before = slider.bounding_box()
    button = page.get_by_role("button", name="Assemble with this budget")
    assert not button.is_visible()
    page.keyboard.press("ArrowLeft")
    button.wait_for()
    assert slider.bounding_box() == before


def test_two_viewers_see_different_things(open_page: OpenPage) -> None:
    alice = ready(open_page(ASK, who="alice"))
    assert SECRET in alice.content()
    bob = ready(open_page(ASK, who="bob"))
    assert SECRET not in bob.content()
    assert "hr/pay.md" not in bob.content()
    assert bob.get_by_label("Read as").count() == 0, "a token says who reads"
    bob.goto(f"{bob.url.split('?')[0]}?view=source&path=hr/pay.md")
    bob.get_by_text("There is nothing at hr/pay.md that you may read.").wait_for()
    bob.get_by_role("link", name="Browse").click()
    bob.get_by_text("The bell rings.").wait_for()
    assert "rope" not in bob.content()
    owner = ready(open_page(f"{ASK}&viewer=bob"))
    assert SECRET not in owner.content(), "the owner reads as bob"


def test_why_not_feedback_and_sources(open_page: OpenPage, service: Running) -> None:
    page = ready(open_page(ASK.replace("900", "860"), who="alice"))
    page.get_by_label("Show").select_option("fell at pack")
    page.get_by_role("button", name="why not?").first.click()
    page.locator(".whynot").first.wait_for()
    assert "pack" in page.locator(".whynot").first.inner_text()
    page.get_by_role("button", name="was useful").first.click()
    page.get_by_text("noted as useful").wait_for()
    listed = service.ask("alice", "GET", "/v1/feedback").json()["items"]
    assert any(item["useful"] for item in listed)
    page.locator(".pieces a.place").first.click()
    page.locator(".source .chosen").wait_for()
    assert page.locator(".source .chosen .lineno").count() > 0


def test_receipts_and_two_contexts_side_by_side(open_page: OpenPage, service: Running) -> None:
    ids = [
        service.ask("alice", "POST", "/v1/assemble", {"query": "harbour", "budget": budget})
        .json()["receipt"]["hash"]
        for budget in (900, 2000)
    ]  # fmt: skip
    page = open_page("?view=receipts", who="alice")
    row = page.locator(".receipts tbody tr", has_text=ids[0][:16])
    told = row.inner_text()
    assert "harbour" in told
    assert "documents" in told
    assert " of 100" in told, "of the window of 900, 800 are reserved"
    row.get_by_role("link", name="harbour").click()
    ready(page)
    page.get_by_role("button", name="Verify").click()
    page.get_by_text("holds", exact=True).wait_for()
    page = open_page(f"?view=compare&a={ids[0]}&b={ids[1]}", who="alice")
    page.get_by_text("What differs in the receipts").wait_for()
    chosen = page.get_by_label("Left").locator("option:checked").inner_text()
    assert chosen.startswith("harbour · documents · ")
    assert page.locator(".columns .context").count() == 2
    assert page.get_by_text("Only left: 0").count() == 1
    assert page.locator(".context .only").count() > 0
    other = open_page(f"?view=receipts&id={ids[0]}", who="bob")
    other.get_by_text("no receipt").wait_for()


def test_the_index_and_what_it_skipped(open_page: OpenPage, service: Running) -> None:
    service.tree.write("photo.png", b"\x89PNG\r\n\x1a\n")
    page = open_page("?view=store")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("button", name="Index the project").click()
    page.get_by_text("finished").first.wait_for()
    assert [url.rsplit("/", 1)[1] for url in asked].count("events") == 1
    page.get_by_text("skipped").first.click()
    page.get_by_text("photo.png: binary").wait_for()
    assert open_page("?view=store", who="bob").get_by_role("button", name="Index").count() == 0


def test_nothing_in_the_store_becomes_markup(open_page: OpenPage) -> None:
    """The fixture looks whether anything was run."""
    page = ready(open_page(f"?{urlencode({**QUESTION, 'q': f'harbour {ATTACK}', 'budget': 4000})}"))
    assert ATTACK in page.inner_text("#result"), "in the question, a path and a text"
    assert page.locator("main img, main script").count() == 0
    for kind in ("memories", "experiences", "values", "rules", "blocks"):
        page.goto(f"{page.url.split('?')[0]}?view=browse&kind={kind}")
        page.locator("main h1").wait_for()
        assert page.locator("main img").count() == 0
    page.goto(
        f"{page.url.split('?')[0]}?{urlencode({'view': 'source', 'path': f'docs/{ATTACK}.md'})}"
    )
    page.get_by_text("The tide turns").wait_for()
    assert page.locator("main img").count() == 0


def test_a_name_cannot_look_like_another(open_page: OpenPage) -> None:
    """One that overrides the direction of writing shows by which signs; its link still leads there."""
    page = ready(open_page(f"?{urlencode({**QUESTION, 'q': 'harbour empty at ebb'})}"))
    shown = page.inner_text("#result .pieces")
    assert "docs/ebb\\u202edm.md" in shown
    assert "\u202e" not in shown
    page.locator("#result .pieces a", has_text="ebb").click()
    page.get_by_text("The harbour is empty").wait_for()
    assert page.inner_text("main h1") == "docs/ebb\\u202edm.md"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_accessibility_issue_and_no_sideways_scrolling(
    open_page: OpenPage, service: Running, scheme: Literal["light", "dark"]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    ids = [
        service.ask("owner", "POST", "/v1/assemble", {"query": "harbour", "budget": budget})
        .json()["receipt"]["hash"]
        for budget in (900, 2000)
    ]  # fmt: skip
    compared = f"?view=compare&a={ids[0]}&b={ids[1]}"
    wanted = {
        ASK: ".flow",
        "?view=ask&q=harbour&budget=3": "#result [role=alert]",
        "?view=receipts": ".receipts",
        f"?view=receipts&id={ids[0]}": ".flow",
        compared: ".columns .context",
        "?view=store": ".facts",
        "?view=browse": "main table",
        "?view=source&path=docs/bell.md": ".source",
    }
    for address, shown in wanted.items():
        page = open_page(width=400)
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{service.url}/{address}")
        page.locator(shown).first.wait_for()
        found = Axe().run(page).response["violations"]
        serious = [each["id"] for each in found if each["impact"] in ("serious", "critical")]
        assert serious == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, address


@pytest.mark.parametrize("file", sorted(FILES.glob("*.js")), ids=lambda file: file.name)
def test_texts_are_never_parsed_as_markup(file: Path) -> None:
    text = file.read_text("utf-8")
    for name in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        ".style",
    ):
        assert name not in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
