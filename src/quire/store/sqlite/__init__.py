"""The embedded engine: a store in one SQLite file."""
