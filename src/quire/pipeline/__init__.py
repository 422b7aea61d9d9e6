"""Assemble a context: resolve the request, retrieve, rank, pack, render.

Receipts record the version of the pipeline (`receipts.receipt.PIPELINE`). Raise it with every
change that lets a recipe make another context of the same request and store.
"""
