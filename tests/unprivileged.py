"""Run a function as a user who may not do everything, whoever runs the tests."""

from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable
from typing import Any

NOBODY = 65534


def as_other_user(function: Callable[[], Any]) -> Any:
    """Return what a function returns in a child process without the superuser's rights.

    Call the function once before: the child may not be able to import modules.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - in another process
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            result = (function(), "")
        except BaseException:  # noqa: BLE001 - told to the parent
            result = (None, traceback.format_exc())
        os.write(writing, pickle.dumps(result))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as stream:  # noqa: PTH123 - by its descriptor
        data = stream.read()
    os.waitpid(child, 0)
    value, failure = pickle.loads(data)
    assert not failure, failure
    return value
