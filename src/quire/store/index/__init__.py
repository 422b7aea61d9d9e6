"""The index algorithms, independent of any storage engine."""
