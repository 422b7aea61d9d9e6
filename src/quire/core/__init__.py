"""Values, protocols and pure functions that every package shares."""
