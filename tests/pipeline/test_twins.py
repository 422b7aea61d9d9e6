"""The second of two definitions that say the same is shown by its declaration."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import quire

CLIENT = '''\
class {kind}Client:
    {prefix}def send_parcel(self, address: str, weight: int) -> {kind}Parcel:
        """Send a parcel to an address."""
        if weight > self.limit:
            raise ValueError(address)
        parcel = {wait}self.carrier.pick_up(address, weight)
        self.journal.append(parcel)
        return {wait}self.carrier.deliver(parcel, self.deadline)
'''
PLAIN = CLIENT.format(kind="", prefix="", wait="")
TWIN = CLIENT.format(kind="Async", prefix="async ", wait="await ")
OTHER = '''\
class Refunds:
    def send_back_parcel(self, receipt: str) -> None:
        """Send a parcel back."""
        for line in open(receipt):
            self.bank.pay(line.amount, line.account)
            self.printer.print(line)
'''


@pytest.mark.parametrize("recipe", ["agent", "entities"])
def test_the_body_of_a_twin_is_left_out(tmp_path: Path, recipe: str) -> None:
    for name, text in {"client.py": PLAIN, "aclient.py": TWIN, "refunds.py": OTHER}.items():
        (tmp_path / name).write_text(text)
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        page = opened.assemble("how does send_parcel and send_back_parcel work", recipe=recipe)
        assert opened.verify(page.receipt, page.text).problems == ()
        assert opened.replay(page.receipt)[1] == []
    assert page.text.count("def send_parcel") == 2, "both are there"
    assert page.text.count("self.journal.append") == 1
    assert "self.bank.pay" in page.text, "another definition is no twin"
    (shown,) = [one for one in page.decisions if one.reason.startswith("shown by its signature")]
    assert shown.verdict == "cut"


OVERLOADED = """\
class Shop:
{fields}
    @typing.overload
    def pay_parcel(self, one: int, two: typing.Literal[True] = True) -> int: ...
    @typing.overload
    def pay_parcel(self, one: str, two: typing.Literal[False] = False) -> str: ...

{more}
    def pay_parcel(self, one, two=False):
        return self.till.take(one) if two else str(one)
"""


@pytest.mark.parametrize("recipe", ["agent", "entities"])
def test_overloads_stand_for_nothing_beside_what_implements_them(
    tmp_path: Path, recipe: str
) -> None:
    fields = "\n".join(f"    parcel_{number}: int = {number}" for number in range(150))
    more = "\n".join(f"    shelf_{number}: int = {number}" for number in range(150))
    (tmp_path / "shop.py").write_text(OVERLOADED.format(fields=fields, more=more))
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        page = opened.assemble("Shop.pay_parcel", recipe=recipe, budget=1200)
        assert "self.till.take(one)" in page.text
        assert "Literal[True]" not in page.text
        (told,) = [one for one in page.decisions if "implements it" in one.reason]
        assert (told.verdict, told.path) == ("dropped", "shop.py")
        assert opened.verify(page.receipt, page.text).binds
        assert opened.replay(page.receipt)[1] == []


def test_no_item_is_a_mark_alone(tmp_path: Path) -> None:
    parameters = ", ".join(f"parameter_{number}: dict[str, int]" for number in range(30))
    body = "".join(f"    parcel_{number} = weigh({number})\n" for number in range(60))
    (tmp_path / "a.py").write_text(f"def parcel({parameters}):\n{body}\n")
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        for budget in range(80, 1000, 80):
            page = opened.assemble("parcel", recipe="agent", budget=budget, allow_empty=True).text
            assert not re.search(r"```python\n(?:\s*# …[^\n]*\n)+```", page)
