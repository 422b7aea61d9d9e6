"""Which tokens does the model read?

The text's own tokens between those that the model wants around them (`[CLS]` … `[SEP]`), cut
to what the model can take. A text that spells such a control token is text like any other:
who writes `[SEP]` into a document must not be able to end it there.
"""

from __future__ import annotations

import splintr

from quire.embed.model_files import ModelFile
from quire.embed.wellformed import well_formed
from quire.errors import ModelError

_FIRST_LOOK = 16
"""Characters for each token at first: English has four to five, source code fewer."""


class Tokeniser:
    """Turns text into at most `max_tokens` token numbers, control tokens included."""

    def __init__(self, file: ModelFile, max_tokens: int) -> None:
        try:
            self._tokenizer = splintr.from_json_bytes(file.data)
        except ValueError as error:
            raise ModelError(f"{file.path} cannot be used: {error}") from error
        self._max_tokens = max_tokens
        self._closing = _closing_tokens(self._encode(""), self._encode("a"))
        # WordPiece splits at white space before all else, so that a text may be cut there.
        # Other kinds may join words across it, and are given the whole text.
        self._splits_at_space = self._tokenizer.family == "WordPiece"

    def tokens(self, text: str) -> list[int]:
        """Give the tokens of a text, cut to the model's limit with the closing ones kept."""
        tokens = self._enough(well_formed(text))
        if len(tokens) <= self._max_tokens:
            return tokens
        closing = tokens[len(tokens) - self._closing :]
        return tokens[: self._max_tokens - self._closing] + closing

    def _enough(self, text: str) -> list[int]:
        """Give all tokens of a text, or those of a beginning that holds more than are read.

        A beginning that ends before a space has the same tokens as it has within the whole
        text; it is doubled until it holds enough of them, so that the result is that of
        the whole text, however few tokens a character gives.
        """
        size = _FIRST_LOOK * self._max_tokens
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


def _closing_tokens(empty: list[int], filled: list[int]) -> int:
    """Count the control tokens after a text: what an empty and a filled one end in alike."""
    count = 0
    while count < len(empty) and empty[-1 - count] == filled[-1 - count]:
        count += 1
    return count
