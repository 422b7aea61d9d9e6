"""Measure how much gold evidence contexts hold."""
