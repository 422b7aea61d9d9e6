"""The clock: the one place that tells the present time to the interfaces and the services.

Everything below the configuration takes its moments as arguments, so that the same input gives
the same bytes at any time of day.
"""

from __future__ import annotations

import time as _time
from time import gmtime, monotonic, strftime, time, time_ns

DAY = 24 * 60 * 60


def now() -> int:
    """Return the current time in seconds since 1970."""
    return int(time())


def end_of_day() -> int:
    """Return the last second of the current day in UTC, in seconds since 1970."""
    return now() // DAY * DAY + DAY - 1


def today() -> str:
    """Return the current day in UTC: `2026-01-31`."""
    return strftime("%Y-%m-%d", gmtime(now()))


def seconds_passed() -> float:
    """Return the seconds since some moment in the past, which no change of the clock moves."""
    return monotonic()


def sleep(seconds: float) -> None:
    """Wait."""
    _time.sleep(seconds)


def now_ns() -> int:
    """Return the current time in nanoseconds since 1970, as file systems stamp it."""
    return time_ns()
