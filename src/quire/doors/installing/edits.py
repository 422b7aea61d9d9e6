"""What was changed in a text, and how is it undone?

A change is a list of edits, each made to what the one before it left. Only what was taken out is
kept, never the rest of a file: settings may hold secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """At a place, a text was taken out and another was put in."""

    at: int
    removed: str
    put: str

    def done(self, text: str) -> str:
        """Make it."""
        return text[: self.at] + self.put + text[self.at + len(self.removed) :]

    def undone(self, text: str) -> str:
        """Take it back."""
        return text[: self.at] + self.removed + text[self.at + len(self.put) :]


@dataclass(frozen=True, slots=True)
class Changed:
    """A text with its edits, and the containers that had to be made."""

    text: str
    edits: tuple[Edit, ...] = ()
    made: tuple[Path, ...] = ()

    def then(self, edit: Edit, made: Sequence[Path] = ()) -> Changed:
        """Make one more edit."""
        return Changed(edit.done(self.text), (*self.edits, edit), (*self.made, *made))


def undone(text: str, edits: Sequence[Edit]) -> str:
    """Take back all edits, the last one first."""
    for edit in reversed(edits):
        text = edit.undone(text)
    return text
