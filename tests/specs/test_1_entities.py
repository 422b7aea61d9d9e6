"""Specification 1: entities by type, with sources, in as much detail as fits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire.engine import Quire
from quire.errors import BudgetTooSmallError, InputError
from tests.pipeline.invariants import count

FILES = {
    "shop/cart.py": '''"""Carts and what is in them."""


class Cart:
    """Holds what a customer wants to buy."""

    def total(self) -> int:
        """Add up the prices of the cart."""
        price = 0
        for item in self.items:
            price += item.price * item.count
        return price


def parse_cart(text: str) -> Cart:
    """Read a cart from its text."""
    cart = Cart()
    for line in text.splitlines():
        cart.items.append(line)
    return cart
'''
    + "".join(
        f'\n\ndef cart_rule_{n}(cart: Cart) -> int:\n    """Give the price by rule {n}."""\n'
        + "".join(f"    price = cart.price({n}, {m})  # the cart has a price\n" for m in range(12))
        + "    return price\n"
        for n in range(8)
    ),
    "docs/prices.md": "# Prices\n\nThe price of a cart is the sum of its prices.\n\n## Rounding\n\n"
    "A cart's price is rounded down; see `total`.\n\n"
    + "A price is a whole number of cents in the cart.\n\n"
    * 40,
    "chat.txt": "We decided that the price of a cart is rounded down.\n",
}
QUERY = "price of a cart"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quire]:
    root = tmp_path_factory.mktemp("shop")
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    (root / ".quire").mkdir()
    with quire.open(root) as opened:
        opened.index(embed=False)
        yield opened


# --- the specification's own tests, by name ------------------------------------------------------


def test_should_assemble_context_from_search_results(shop: Quire) -> None:
    context = shop.assemble(QUERY, recipe="entities")
    assert context.text.startswith("## Relevant Code\n\n### ")
    assert {source.path for source in context.sources} >= {"shop/cart.py", "docs/prices.md"}
    assert all(source.name and source.kind for source in context.sources)
    best = max(context.sources, key=lambda source: source.score)
    assert best.name in context.text


def test_should_respect_token_budget(shop: Quire) -> None:
    whole = shop.assemble(QUERY, recipe="entities", budget=100_000)
    assert not whole.truncated
    for budget in (60, 100, 200, 400, 800):
        context = shop.assemble(QUERY, recipe="entities", budget=budget)
        assert context.tokens == count("o200k", context.text) <= budget
        assert context.truncated


def test_should_format_as_markdown(shop: Quire) -> None:
    text = shop.assemble(QUERY, recipe="entities", levels=["full"]).text
    assert "\n```python\n" in text
    assert "\n*shop/cart.py:" in text
    assert re.search(r"\n# … \d+ lines left out\n```", text)


def test_should_format_as_xml(shop: Quire) -> None:
    context = shop.assemble(QUERY, recipe="entities", format="xml")
    root = ET.fromstring(context.text)
    assert root.tag == "context"
    assert [section.get("name") for section in root.iter("section")] == [
        "Relevant Code",
        "Related Documentation",
        "Previous Conversations",
    ]
    names = [source.get("name") for source in root.iter("source")]
    assert names == [entity.get("name") for entity in root.iter("entity")][:10]


def test_should_group_by_type(shop: Quire) -> None:
    text = shop.assemble(QUERY, recipe="entities").text
    code, documents = text.index("## Relevant Code"), text.index("## Related Documentation")
    assert code < text.index("*shop/cart.py") < documents < text.index("*docs/prices.md")
    flat = shop.assemble(QUERY, recipe="entities", groups=False).text
    assert "## Relevant Code" not in flat


def test_should_include_sources(shop: Quire) -> None:
    text = shop.assemble(QUERY, recipe="entities").text
    footer = text.rpartition("---\n**Sources:**\n")[2]
    assert 1 <= len(footer.splitlines()) <= 10
    assert all(line.startswith("- ") and line.endswith(")") for line in footer.splitlines())
    assert "**Sources:**" not in shop.assemble(QUERY, recipe="entities", sources=0).text


# --- levels of detail ----------------------------------------------------------------------------


def test_what_does_not_fit_whole_is_shown_with_less(shop: Quire) -> None:
    context = shop.assemble(QUERY, recipe="entities", budget=500, cap=0)
    reasons = [one.reason for one in context.decisions if one.verdict == "cut"]
    assert any("signature" in reason or "only named" in reason for reason in reasons)
    bare = shop.assemble(QUERY, recipe="entities", budget=500, cap=0, levels=["full"])
    assert len(context.sources) > len(bare.sources)


def test_levels_work_for_documents_too(shop: Quire) -> None:
    levels = ["full", "signature", "outline"]
    bare = shop.assemble(QUERY, budget=600, reserve={}, overflow="stop")
    context = shop.assemble(QUERY, budget=600, reserve={}, overflow="stop", levels=levels)
    assert context.tokens <= 600
    assert len(context.sources) >= len(bare.sources)
    assert not any("signature" in one.reason for one in bare.decisions)


@pytest.mark.parametrize("pack", ["greedy", "interleaved", "score_weighted", "optimal"])
def test_every_way_of_packing_knows_levels(shop: Quire, pack: str) -> None:
    context = shop.assemble(QUERY, recipe="entities", pack=pack, budget=180, cap=0)
    assert context.tokens <= 180
    assert any(one.verdict == "cut" for one in context.decisions)


def test_an_entity_is_said_once(shop: Quire) -> None:
    context = shop.assemble(QUERY, recipe="entities", budget=50_000)
    names = [(source.record_id, source.name) for source in context.sources]
    assert len(set(names)) == len(names)
    again = [one for one in context.decisions if one.reason == "its entity is there already"]
    assert all(one.step == "group" for one in again)


def test_no_room_for_sources_is_told(shop: Quire) -> None:
    for budget in range(20, 80):
        try:
            context = shop.assemble(QUERY, recipe="entities", budget=budget, sources=10)
        except BudgetTooSmallError:
            continue
        if "Sources" not in context.text:
            assert "there is no room to list the sources" in context.notes
            return
    pytest.fail("with some budget there is room for an entity and none for its name")


def test_a_budget_for_nothing_names_one_that_holds_something(shop: Quire) -> None:
    with pytest.raises(BudgetTooSmallError, match="raise budget to") as caught:
        shop.assemble(QUERY, recipe="entities", budget=3)
    needed = int(str(caught.value).partition("raise budget to ")[2].split(",")[0].split()[0])
    assert shop.assemble(QUERY, recipe="entities", budget=needed).sources
    with pytest.raises(BudgetTooSmallError):
        shop.assemble(QUERY, recipe="entities", budget=needed - 1)


# --- audit -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", ["markdown", "xml", "plain"])
@pytest.mark.parametrize("budget", [150, 700, 5000])
def test_its_receipt_holds_and_replays(shop: Quire, format_: str, budget: int) -> None:
    context = shop.assemble(QUERY, recipe="entities", format=format_, budget=budget)
    assert shop.verify(context.receipt, context.text).problems == ()
    again, differing = shop.replay(context.receipt)
    assert differing == []
    assert again.text == context.text


def test_why_not_names_a_budget_that_lets_it_in(shop: Quire) -> None:
    context = shop.assemble(QUERY, recipe="entities", budget=120)
    out = next(one for one in context.decisions if one.step == "pack")
    told = shop.why_not(QUERY, out.path, out.lines[0], recipe="entities", budget=120)
    (one,) = [each for each in told if each.chunk_id == out.chunk_id]
    assert one.checked
    needed = int(one.relaxed[-1].value)
    again = shop.assemble(QUERY, recipe="entities", budget=needed)
    assert out.chunk_id in {source.chunk_id for source in again.sources}


def test_what_is_no_level_is_refused(shop: Quire) -> None:
    with pytest.raises(
        InputError, match="levels: unknown level of detail 'body'; choose from full"
    ):
        shop.assemble(QUERY, levels=["full", "body"])
    with pytest.raises(InputError, match="levels: must contain 'full'"):
        shop.assemble(QUERY, levels=["outline"])
    with pytest.raises(InputError, match="cap: must be at least 0, not -1"):
        shop.assemble(QUERY, cap=-1)


# --- whatever is asked -----------------------------------------------------------------------------


@settings(max_examples=120, deadline=None)
@given(
    st.fixed_dictionaries(
        {"budget": st.integers(30, 1500)},
        optional={
            "format": st.sampled_from(["markdown", "xml", "plain", "markers", "json"]),
            "pack": st.sampled_from(["greedy", "interleaved", "score_weighted", "optimal"]),
            "order": st.sampled_from(["grouped", "packed", "edges"]),
            "overflow": st.sampled_from(["skip", "cut", "stop"]),
            "cap": st.sampled_from([0, 80, 500]),
            "sources": st.sampled_from([0, 1, 10]),
            "groups": st.booleans(),
            "content": st.booleans(),
            "hard": st.booleans(),
            "levels": st.sampled_from(
                [
                    ["full"],
                    ["full", "signature"],
                    ["full", "outline"],
                    ["full", "signature", "outline"],
                ]
            ),
        },
    )
)
def test_every_promise_holds_for_entities(shop: Quire, asked: dict[str, object]) -> None:
    context = shop.assemble(QUERY, recipe="entities", allow_empty=True, **asked)  # type: ignore[arg-type]  # any options
    assert context.tokens == count("o200k", context.text)
    if asked.get("hard", True):
        assert context.tokens <= int(str(asked["budget"]))
    verdicts = {one.chunk_id: one.verdict for one in context.decisions}
    assert len(verdicts) == len(context.decisions)
    assert {source.chunk_id for source in context.sources} == {
        name for name, verdict in verdicts.items() if verdict in {"kept", "cut"}
    }
    assert shop.verify(context.receipt, context.text).problems == ()
    assert shop.verify_determinism(QUERY, recipe="entities", allow_empty=True, **asked)  # type: ignore[arg-type]  # any options
    if asked.get("format") == "xml":
        ET.fromstring(context.text or "<context/>")


def test_unreadable_entities_leave_no_trace(tmp_path: Path) -> None:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    (tmp_path / "quire.toml").write_text('[access]\n"docs/**" = ["alice"]\n')
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        mallory = opened.assemble(QUERY, recipe="entities", viewer="mallory")
        assert "docs/prices.md" not in str(mallory)
        assert "Prices" not in mallory.text
        assert "docs/prices.md" in str(opened.assemble(QUERY, recipe="entities", viewer="alice"))
