"""The blocks of a workspace (specification 3)."""
