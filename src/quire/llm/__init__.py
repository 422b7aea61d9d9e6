"""Requests to language models over HTTP or through the calling client."""
