"""Headings of Markdown: what of their lines is not their text."""

from __future__ import annotations

import re

_ID = re.compile(
    r"(?<=\S)[ \t]+\{:?[ \t]*#(?!(?:if|each|await|key|snippet)\b)[A-Za-z][\w.:-]*(?: [^{}\n]*)?\}"
    r"[ \t#]*\Z"
)
"""An id with braces; `{#each}` and the like are of Svelte."""


def without_id(heading: str) -> str:
    """Return a heading without the id that a generator of pages gives it: `Options {#options}`."""
    return _ID.sub("", heading) if "{" in heading else heading
