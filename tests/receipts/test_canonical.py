"""Are decisions, which are written in one go, written as all other data is?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import Decision
from quire.receipts import FrozenDict
from quire.receipts.canonical import canonical, canonical_decisions

TEXT = st.text(st.characters(), max_size=20)
NUMBER = st.integers()
DECISION = st.builds(
    Decision,
    chunk_id=TEXT,
    path=TEXT,
    lines=st.tuples(NUMBER, NUMBER),
    step=TEXT,
    verdict=TEXT,
    reason=TEXT,
    tokens=NUMBER,
    score=NUMBER,
    signals=st.dictionaries(TEXT, NUMBER, max_size=5).map(FrozenDict),
)


@given(st.lists(DECISION, max_size=4).map(tuple))
def test_decisions_are_written_as_data(decisions: tuple[Decision, ...]) -> None:
    assert canonical_decisions(decisions) == canonical(decisions)
