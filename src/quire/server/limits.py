"""How much a client may ask for: sizes, rates, times, and how many at once."""

from __future__ import annotations

from dataclasses import dataclass

MAX_BODY = 4 * 1024 * 1024
MAX_CONNECTIONS = 512
MAX_IDLE = 256
"""Connections without a request; with a further one, the one that is idle for longest ends."""
MAX_BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a service; those of counts and rates hold for each worker process."""

    body: int = MAX_BODY
    """Bytes of a request."""
    rate: float = 50.0
    """Requests a second of one token, after a burst of twice as many; 0: any number."""
    seconds: float = 60.0
    """Time to answer a request."""
    send_seconds: float = 30.0
    """Time for a client to send a request, and to take each part of an answer."""
    running: int = 16
    """Requests that are worked on at the same time."""
    waiting: int = 256
    """Requests that wait for that; further ones are refused."""
    grace: float = 30.0
    """Time to finish what runs when the service is stopped."""


class RateLimiter:
    """A bucket for each token: it fills with time, and each request takes one from it."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._burst = max(1.0, 2 * rate)
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait(self, name: str, at: float) -> float:
        """Take one; return 0, or for how many seconds to wait if there is none."""
        if self._rate <= 0:
            return 0.0
        left, since = self._buckets.get(name, (self._burst, at))
        left = min(self._burst, left + (at - since) * self._rate)
        if len(self._buckets) >= MAX_BUCKETS and name not in self._buckets:
            self._buckets.clear()
        if left < 1:
            self._buckets[name] = (left, at)
            return (1 - left) / self._rate
        self._buckets[name] = (left - 1, at)
        return 0.0
