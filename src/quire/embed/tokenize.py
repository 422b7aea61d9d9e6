"""Tokens of a text for an embedding model.

The tokens of the text between the model's control tokens (`[CLS]` … `[SEP]`), truncated to the
model's limit. Control tokens that are spelled out in a text count as text: a `[SEP]` written in a
document must not end it there.
"""

from __future__ import annotations

import splintr

from quire.embed.model_files import ModelFile
from quire.embed.wellformed import well_formed
from quire.errors import ModelError

_CHARACTERS_PER_TOKEN = 16
"""Taken for the first prefix: English has four to five, source code fewer."""


class Tokenizer:
    """A tokenizer that returns at most `max_tokens` token ids, with the control tokens."""

    def __init__(self, file: ModelFile, max_tokens: int) -> None:
        try:
            self._tokenizer = splintr.from_json_bytes(file.data)
        except ValueError as error:
            raise ModelError(
                f"the tokenizer cannot be used: {error}", place=str(file.path)
            ) from error
        self._max_tokens = max_tokens
        self._closing = _count_closing(self._encode(""), self._encode("a"))
        # WordPiece splits at white space first, so that a text can be truncated there. Other
        # families may join words across white space and get the whole text.
        self._splits_at_space = self._tokenizer.family == "WordPiece"

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, truncated to the limit before the closing tokens."""
        tokens = self._encode_prefix(well_formed(text))
        if len(tokens) <= self._max_tokens:
            return tokens
        closing = tokens[len(tokens) - self._closing :]
        return tokens[: self._max_tokens - self._closing] + closing

    def _encode_prefix(self, text: str) -> list[int]:
        """Return all tokens of a text, or those of a prefix that has at least the limit.

        A prefix that ends before a space has the same tokens as within the whole text. It is
        doubled until it has enough of them, so that the result is that of the whole text, however
        few tokens its characters give.
        """
        size = _CHARACTERS_PER_TOKEN * self._max_tokens
        while self._splits_at_space and size < len(text):
            end = max(text.rfind(" ", 0, size), text.rfind("\n", 0, size))
            tokens = self._encode(text[: max(end, 0)])
            if len(tokens) >= self._max_tokens:
                return tokens
            size *= 2
        return self._encode(text)

    def _encode(self, text: str) -> list[int]:
        tokens: list[int] = self._tokenizer.encode_ordinary(text)
        return tokens


def _count_closing(empty: list[int], filled: list[int]) -> int:
    """Count the control tokens after a text: the common end of an empty and a non-empty one."""
    count = 0
    while count < len(empty) and empty[-1 - count] == filled[-1 - count]:
        count += 1
    return count
