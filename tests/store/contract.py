"""What must every engine do? The conformance suite, in one list.

Every test is given `engine`, which opens one and the same place as often as it is asked to, and
`store`, which is that place, open. The reference keeps the contract, too: it is run first among
equals.
"""

from .contract_access import TestAccess, TestEvents
from .contract_outlines import TestNewest, TestOutlines, TestPaths
from .contract_proofs import TestProofs
from .contract_records import TestChildren, TestLinks, TestRecords, TestTransactions
from .contract_refusals import TestRefusals
from .contract_search import TestHolding, TestLexical, TestNearby, TestSemantic
from .contract_spaces import TestSpaces, TestStamps, TestStatus
from .contract_upkeep import TestUpkeep
from .contract_vectors import TestVectors

__all__ = [
    "TestAccess",
    "TestChildren",
    "TestEvents",
    "TestHolding",
    "TestLexical",
    "TestLinks",
    "TestNearby",
    "TestNewest",
    "TestOutlines",
    "TestPaths",
    "TestProofs",
    "TestRecords",
    "TestRefusals",
    "TestSemantic",
    "TestSpaces",
    "TestStamps",
    "TestStatus",
    "TestTransactions",
    "TestUpkeep",
    "TestVectors",
]
