"""Requests to language models, at an endpoint or through the client of a call."""
