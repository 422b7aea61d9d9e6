"""Which pieces of text does a model know?

Each vocabulary cuts text into the tokens that its models read; counting those is exact. The
vocabularies come with `splintr`: nothing is downloaded, and one is loaded at its first count.

Text is content, never control: `<|endoftext|>` or `[INST]` written in a document counts as
the characters that it is made of, and nothing is added around a text.
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

_SURROGATE = re.compile("[\ud800-\udfff]")

# Gemma 2 and 3 read these tags of HTML as one token each. They are text, not control, but the
# engine keeps them apart with the control tokens, so that they are taken out before it counts.
_TAGS = "table|caption|thead|tbody|tfoot|tr|th|td|h[1-6]|blockquote|strong|em|b|i|u|s|sub|sup|code"
_GEMMA2_TAG = re.compile(f"</?(?:{_TAGS})>")
_GEMMA3_TAG = re.compile(f"</?(?:{_TAGS}|a|html|body|img|span|bbox|ul|li|div|iframe|footer)>")


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@dataclass(frozen=True, slots=True)
class VocabularyCounter:
    """Counts by a model's own vocabulary."""

    name: str
    pretrained: str
    prepare: Callable[[str], str] | None = None
    """What the model does to a text before it reads it."""
    whole: re.Pattern[str] | None = None
    """Text that is one token wherever it stands."""
    careful: str | None = None
    """A letter at which the fast engine may miscount: text that holds it takes the slow one."""
    exact: bool = True
    note: str | None = None

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        if self.prepare:
            text = self.prepare(text)
        if self.whole and "<" in text:
            pieces = self.whole.split(text)
            return sum(map(self._tokens, pieces)) + len(pieces) - 1
        return self._tokens(text)

    def _tokens(self, text: str) -> int:
        tokenizer = _load(self.pretrained, slow=self.careful is not None and self.careful in text)
        try:
            return len(tokenizer.encode_ordinary(text))
        except UnicodeEncodeError:
            return len(tokenizer.encode_ordinary(_SURROGATE.sub("\ufffd", text)))


VOCABULARIES = (
    # OpenAI's pattern knows no case, so that a long s is an s; the fast engine misses that.
    VocabularyCounter("o200k", "o200k_base", careful="\u017f"),
    VocabularyCounter("cl100k", "cl100k_base"),
    VocabularyCounter("llama3", "llama3"),
    VocabularyCounter("qwen", "qwen3", prepare=_nfc),
    # Versions 1, 2, 3 and 7 of Mistral's SentencePiece differ in control tokens alone.
    VocabularyCounter("mistral-spm", "mistral_v2"),
    VocabularyCounter("mistral-tekken", "mistral_v3"),
    VocabularyCounter("gemma2", "gemma2", whole=_GEMMA2_TAG),
    VocabularyCounter("gemma3", "gemma3", whole=_GEMMA3_TAG),
    VocabularyCounter("gemma4", "gemma4"),
    VocabularyCounter("deepseek", "deepseek_v3"),
)


@cache
def _load(pretrained: str, *, slow: bool = False) -> AnyTokenizer:
    from splintr import Tokenizer

    tokenizer = Tokenizer.from_pretrained(pretrained)
    return tokenizer.pcre2() if slow else tokenizer
