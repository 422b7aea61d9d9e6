"""The tree of errors in the docstring of `quire.errors` is the tree of its classes."""

from __future__ import annotations

import re

from quire import errors

_LINE = re.compile(r"^(?P<indent>[ │├└─]*)(?P<name>[A-Z]\w+Error)\b", re.MULTILINE)


def test_the_docstring_draws_every_error_below_its_parent() -> None:
    above: list[tuple[int, str]] = []
    drawn: dict[str, str] = {}
    for match in _LINE.finditer(errors.__doc__ or ""):
        depth = len(match["indent"])
        above = [(each, name) for each, name in above if each < depth]
        drawn[match["name"]] = above[-1][1] if above else "Exception"
        above.append((depth, match["name"]))
    defined = {
        name: kind.__bases__[0].__name__
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.QuireError)
    }
    assert drawn == defined
