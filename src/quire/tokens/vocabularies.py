"""Exact counters: one for each vocabulary that ships with `splintr`.

A vocabulary splits text into the tokens that its models read, so that counting them is exact.
Nothing is downloaded, and a vocabulary is loaded at its first count.

Text is content, never control: `<|endoftext|>` or `[INST]` written in a document counts as the
characters that it is made of, and nothing is added around a text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from splintr import AnyTokenizer

TOKEN_BYTES = 4
"""The size of a token in a buffer."""
_SURROGATE = re.compile("[\ud800-\udfff]")

# Gemma 2 and 3 read each of these HTML tags as one token. They are text, not control, but the
# tokenizer lists them with its control tokens, so they are taken out before it counts.
_TAGS = "table|caption|thead|tbody|tfoot|tr|th|td|h[1-6]|blockquote|strong|em|b|i|u|s|sub|sup|code"
_GEMMA2_TAG = re.compile(f"</?(?:{_TAGS})>")
_GEMMA3_TAG = re.compile(f"</?(?:{_TAGS}|a|html|body|img|span|bbox|ul|li|div|iframe|footer)>")


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@dataclass(frozen=True, slots=True)
class VocabularyCounter:
    """A counter that uses a model's own vocabulary."""

    name: str
    pretrained: str
    prepare: Callable[[str], str] | None = None
    """The normalization that the model applies to a text."""
    single_tokens: re.Pattern[str] | None = None
    """Text that is always one token."""
    slow_letter: str | None = None
    """A letter that the fast tokenizer may miscount: text with it goes to the slow one."""
    control: str | None = None
    """What all control tokens begin with. Text without it is encoded into a buffer, which is faster
    than a list of numbers, but reads control tokens as such. None: always into a list."""
    by_pattern: bool = True
    """Whether a pattern splits a text before it is encoded, at every line end at the latest."""
    exact: bool = True
    note: str | None = None

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        if self.prepare:
            text = self.prepare(text)
        if self.single_tokens and "<" in text:
            pieces = self.single_tokens.split(text)
            return sum(map(self._count_piece, pieces)) + len(pieces) - 1
        return self._count_piece(text)

    def _count_piece(self, text: str) -> int:
        slow = self.slow_letter is not None and self.slow_letter in text
        tokenizer = _load(self.pretrained, slow=slow)
        try:
            if self.control is not None and self.control not in text:
                return len(tokenizer.encode_flat(text)) // TOKEN_BYTES
            return len(tokenizer.encode_ordinary(text))
        except UnicodeEncodeError:
            return len(tokenizer.encode_ordinary(_SURROGATE.sub("\ufffd", text)))


VOCABULARIES = (
    # OpenAI's pattern ignores case, so that a long s is an s; the fast tokenizer misses that.
    VocabularyCounter("o200k", "o200k_base", slow_letter="\u017f", control="<|"),
    VocabularyCounter("cl100k", "cl100k_base", control="<|"),
    VocabularyCounter("llama3", "llama3", control="<|"),
    VocabularyCounter("qwen", "qwen3", prepare=_nfc, control="<"),
    # Versions 1, 2, 3 and 7 of Mistral's SentencePiece differ in control tokens alone.
    VocabularyCounter("mistral-spm", "mistral_v2", by_pattern=False),
    VocabularyCounter("mistral-tekken", "mistral_v3"),
    VocabularyCounter("gemma2", "gemma2", single_tokens=_GEMMA2_TAG, by_pattern=False),
    VocabularyCounter("gemma3", "gemma3", single_tokens=_GEMMA3_TAG, by_pattern=False),
    VocabularyCounter("gemma4", "gemma4", control="<", by_pattern=False),
    VocabularyCounter("deepseek", "deepseek_v3", control="<"),
)


@cache
def _load(pretrained: str, *, slow: bool = False) -> AnyTokenizer:
    from splintr import Tokenizer

    tokenizer = Tokenizer.from_pretrained(pretrained)
    return tokenizer.pcre2() if slow else tokenizer
