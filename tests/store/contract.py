"""The conformance suite that every engine must pass, in one list.

Every test has the fixtures `engine`, which opens one place as often as it is called, and `store`,
which is that place, open. The reference implementation is an engine like any other.
"""

from .contract_access import TestAccess, TestEvents
from .contract_export import TestExports
from .contract_lifetime import (
    TestClosedStores,
    TestClosedViews,
    TestSnapshots,
    TestThreads,
    TestWriters,
)
from .contract_outlines import TestNewest, TestOutlines, TestPaths
from .contract_proofs import TestProofs
from .contract_records import TestChildren, TestLinks, TestRecords, TestTransactions
from .contract_refusals import TestRefusals
from .contract_search import TestHolding, TestLexical, TestNearby, TestSemantic, TestWording
from .contract_spaces import TestSpaces, TestStamps, TestStatus
from .contract_upkeep import TestUpkeep
from .contract_vectors import TestOldVectors, TestVectors, TestWaitingVectors

__all__ = [
    "TestAccess",
    "TestChildren",
    "TestClosedStores",
    "TestClosedViews",
    "TestEvents",
    "TestExports",
    "TestHolding",
    "TestLexical",
    "TestLinks",
    "TestNearby",
    "TestNewest",
    "TestOldVectors",
    "TestOutlines",
    "TestPaths",
    "TestProofs",
    "TestRecords",
    "TestRefusals",
    "TestSemantic",
    "TestSnapshots",
    "TestSpaces",
    "TestStamps",
    "TestStatus",
    "TestThreads",
    "TestTransactions",
    "TestUpkeep",
    "TestVectors",
    "TestWaitingVectors",
    "TestWording",
    "TestWriters",
]
