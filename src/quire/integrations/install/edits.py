"""Edits of a text, and how to revert them.

Each edit applies to the text that the one before it left. Only what was removed is kept, never the
rest of a file: settings may hold secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Keys = tuple[str, ...]
"""The path of a value in a settings file: the keys that lead to it."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The replacement of one piece of a text by another."""

    at: int
    removed: str
    inserted: str

    def apply(self, text: str) -> str:
        """Return the text with this edit."""
        return text[: self.at] + self.inserted + text[self.at + len(self.removed) :]

    def revert(self, text: str) -> str:
        """Return the text without this edit."""
        return text[: self.at] + self.removed + text[self.at + len(self.inserted) :]


@dataclass(frozen=True, slots=True)
class EditedText:
    """A text, the edits that led to it, and the containers that they created."""

    text: str
    edits: tuple[Edit, ...] = ()
    created: tuple[Keys, ...] = ()

    def apply(self, edit: Edit) -> EditedText:
        """Apply one more edit; one that changes nothing is left out."""
        if edit.removed == edit.inserted:
            return self
        return EditedText(edit.apply(self.text), (*self.edits, edit), self.created)


def difference(before: str, after: str) -> Edit:
    """Return the one edit that turns a text into another: common ends are left alone."""
    shortest = min(len(before), len(after))
    start = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    rest = shortest - start
    end = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    return Edit(start, before[start : len(before) - end], after[start : len(after) - end])


def revert_all(text: str, edits: Sequence[Edit]) -> str:
    """Revert all edits, the last one first."""
    for edit in reversed(edits):
        text = edit.revert(text)
    return text
