"""How is a name said on one line, whatever it holds?"""

from __future__ import annotations

import re

_LINE_BREAKING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def one_line(text: str) -> str:
    """Write out what would break a line or a terminal: a file may be called anything."""
    return _LINE_BREAKING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
