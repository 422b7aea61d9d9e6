"""Hooks: give a coding assistant context at the right moment."""
