"""Notes on the languages of a store: what the configured model does not know well."""

from __future__ import annotations

from quire import embed
from quire.core.languages import language_name
from quire.core.types import Status

MOST = 2
"""Most of the text is not English if this many times its chunks are more than all."""
NAMED = 3
"""How many languages are named."""


def language_notes(status: Status) -> list[str]:
    """Return a note if most of the readable text is not English, but the model is."""
    foreign = sum(status.languages.values())
    if foreign * MOST <= status.chunks or not embed.is_english(status.model):
        return []
    most = sorted(status.languages, key=lambda code: (-status.languages[code], code))[:NAMED]
    names = ", ".join(language_name(code) for code in most)
    text = (
        f"{foreign} of {status.chunks} chunks are not English ({names}), but the model "
        f"{status.model} is: their words are searched by the rules of their languages, their "
        'meaning less reliably; [embed] provider = "http" or folder sets another model, and '
        'provider = "none" searches by words alone'
    )
    return [text]
