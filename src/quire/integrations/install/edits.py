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

    def then(self, edit: Edit) -> Changed:
        """Make one more edit; one that changes nothing is left out."""
        if edit.removed == edit.put:
            return self
        return Changed(edit.done(self.text), (*self.edits, edit), self.made)


def difference(before: str, after: str) -> Edit:
    """Give the one edit that makes a text of another: what is alike at both ends stays."""
    least = min(len(before), len(after))
    start = next((at for at in range(least) if before[at] != after[at]), least)
    rest = least - start
    end = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    return Edit(start, before[start : len(before) - end], after[start : len(after) - end])


def undone(text: str, edits: Sequence[Edit]) -> str:
    """Take back all edits, the last one first."""
    for edit in reversed(edits):
        text = edit.undone(text)
    return text
