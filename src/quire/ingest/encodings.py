"""Encodings of other scripts than that of the West, told by what is common in texts.

Bytes that are no UTF-8 may be text in any of them, and most decode as several. The right one gives
the letters, syllables or characters that make up a good part of every text of its language.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

SAMPLE = 32_768
"""So many characters of a text are looked at."""
MIN_BYTES = 12
"""Fewer bytes beyond ASCII than this tell nothing."""
RUN = re.compile(rb"[\x80-\xff]{3,}")
"""Words of a Western language have single letters beyond ASCII, those of other scripts are such."""
THOUSAND = 1000


class Encoding(NamedTuple):
    """An encoding, what is common in its texts, and how often that is, in thousandths at least."""

    name: str
    common: str
    share: int


_KANA = "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB))))
_CYRILLIC, _GREEK = "оеаинтсрвл", "αοιετσνηυρ"
_HEBREW, _ARABIC = "יוהלאמרתבש", "ايلمونرتبع"
_THAI = "นารอกเงมยลวดท่้ั"
_KOREAN = "이다는에의가을를고하한로기지사인도은"
_SIMPLIFIED = "的一是不了在人有我他这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会"
_TRADITIONAL = "的一是不了在人有我他這個上們來到時大地為子中你說生國年著就那和要她出也得裡後自以會"
ENCODINGS = (
    # In this order: kana stand in GB 18030 where they stand in EUC-JP.
    Encoding("cp932", _KANA, 250),
    Encoding("euc_jp", _KANA, 250),
    Encoding("cp949", _KOREAN, 150),
    Encoding("gb18030", _SIMPLIFIED, 100),
    Encoding("big5", _TRADITIONAL, 100),
    Encoding("cp1251", _CYRILLIC, 450),
    Encoding("koi8_r", _CYRILLIC, 450),
    Encoding("cp866", _CYRILLIC, 450),
    Encoding("cp1253", _GREEK, 450),
    Encoding("cp1255", _HEBREW, 450),
    Encoding("cp1256", _ARABIC, 450),
    Encoding("cp874", _THAI, 450),
)


def decode_by_script(data: bytes) -> str | None:
    """Decode bytes that are no UTF-8 in the encoding of another script; None: they are Western."""
    high = len(data) - len(data.translate(None, bytes(range(128, 256))))
    if high < MIN_BYTES or 2 * sum(map(len, RUN.findall(data))) < high:
        return None
    for encoding in ENCODINGS:
        try:
            text = data.decode(encoding.name)
        except UnicodeDecodeError:
            continue
        if _share(text[:SAMPLE], encoding.common) >= encoding.share:
            return text
    return None


def _share(text: str, common: str) -> int:
    """Return how many of a text's characters beyond ASCII are common ones, in thousandths."""
    counts = Counter(char for char in text if not char.isascii())
    return THOUSAND * sum(counts[char] for char in common) // max(1, counts.total())
