"""Recipes as data (TOML), and the entry points of the specifications that use them."""
