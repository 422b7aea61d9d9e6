"""Quire: one context that fits, from what you may read, with a receipt."""
