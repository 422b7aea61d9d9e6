"""The recipes that come with Quire, as data."""
