"""Bring files and git history into a store."""
