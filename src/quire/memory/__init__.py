"""Memories, experiences, principles and feedback (specification 4)."""
