"""Assemble a context: resolve the request, retrieve, rank, pack, render."""
