"""The operating system: the clock, and what differs between systems."""
