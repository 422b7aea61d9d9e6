"""Turn results into plain data and JSON: the one serializer of every interface."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from quire.core.types import SearchResult

# What steers a terminal, breaks a line or turns the order of letters around.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def json_text(value: Any) -> str:
    """Write plain data as JSON in one fixed form."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    # Line ends are the form's own; what JSON leaves as it is can still steer a terminal.
    return _CONTROL.sub(
        lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text
    )


def printable(text: str) -> str:
    """Escape control characters, so that a name cannot steer a terminal or look like two lines."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def search_result(result: SearchResult) -> dict[str, Any]:
    """Return a search result as plain data."""
    return {
        "results": [
            {
                "id": candidate.chunk.id,
                "path": candidate.chunk.path,
                "lines": list(candidate.chunk.lines),
                "score": candidate.score,
                "signals": dict(sorted(candidate.signals.items())),
                "title": candidate.chunk.title,
                "text": candidate.chunk.text,
            }
            for candidate in result.results
        ],
        "state_root": result.state_root,
        "failed": [asdict(failure) for failure in result.failed],
        "notes": list(result.notes),
        "exact": result.exact,
    }
