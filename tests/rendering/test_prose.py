"""A heading that repeats the name of its piece is not shown twice."""

from __future__ import annotations

import pytest

from quire.rendering.prose import without_title


@pytest.mark.parametrize(
    "heading", ["## Use it", "## Use it {#use}", "## Use it {: #use .wide} ##"]
)
def test_a_heading_is_left_out_with_its_id(heading: str) -> None:
    assert without_title(f"{heading}\n\nSome words.", "Use it") == "Some words."


def test_another_heading_stays() -> None:
    assert without_title("## Use it {#use}\n\nSome words.", "Use").startswith("## Use it")
