"""Make text encodable as UTF-8."""

from __future__ import annotations


def well_formed(text: str) -> str:
    """Replace lone surrogates by U+FFFD, and join surrogate pairs.

    Python strings may hold lone surrogates (a file name that is not UTF-8, a careless JSON
    escape); tokenizers and JSON take UTF-8 only.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
