"""The index algorithms, independent of any storage engine.

Everything here computes with numpy arrays and Python integers and performs no I/O: text analysis,
BM25 scoring and pruning, posting lists, the vector scan and its first pass, neighbor scoring,
access masks, filters, top-k selection, and the bookkeeping of Merkle trees. An engine loads the
arrays and answers the few lookups of `IndexSnapshot` and `TreeStorage`; two engines that do so
correctly give the same results to the byte.

The primitives (`analyzer`, `bm25`, `postings`, `vectors`, `topk`) are part of the package because
the other modules are their only users inside the store, and because together they are everything
that a new engine reuses. Nothing here may import the tables
(`quire.store.sql`) or an engine.
"""
