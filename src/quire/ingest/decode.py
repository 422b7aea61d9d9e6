"""Decode the bytes of a file.

The encoding depends on the bytes alone. The rules, in this order:

1. A byte order mark decides: UTF-8, UTF-16 little or big endian.
2. With zero bytes the file is UTF-16 without a mark if they are frequent and only at every second
   place; otherwise it is binary.
3. UTF-8. A file that is UTF-8 but for a few invalid bytes (at most one for ten valid characters
   beyond ASCII) stays UTF-8; each invalid byte becomes U+FFFD.
4. An encoding of another script (Shift JIS, GB 18030, Windows-1251, ...), if most bytes beyond
   ASCII stand together and give what is common in texts of that script (`encodings.py`).
5. Windows-1252, or Latin-1 if a byte is undefined in it.

Text in which more than one character in a hundred (and more than two) is a control character is
binary. Line ends become LF.
"""

from __future__ import annotations

import re

from quire.ingest.encodings import decode_by_script

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
SAMPLE = 8192
MIN_ZEROS_PER_HUNDRED = 40

# Tabs, line ends, form feeds, backspaces (manual pages) and escapes (terminal colours) are text.
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\v\f\b\x1b") | {127})
MAX_CONTROLS = 2
MAX_CONTROLS_PER_HUNDRED = 1
CONTROL_CHARACTERS = re.compile(
    "[" + "".join(f"\\x{code:02x}" for code in CONTROLS) + "\\x80-\\x9f]"
)

SURROGATE = re.compile("[\ud800-\udfff]")

MAGIC = (
    (b"\x89PNG", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "zstandard data"),
    (b"\x7fELF", "an ELF program"),
    (b"MZ\x90\x00", "a Windows program"),
    (b"\xca\xfe\xba\xbe", "a Java class or Mach-O program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\x00asm", "WebAssembly"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%PDF-", "a PDF document under another name"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
)


class NotText(Exception):  # noqa: N818  # not an error: it becomes a Skipped value
    """The bytes are not text; the message says what they seem to be."""


def decode_text(data: bytes) -> str:
    """Return the text of a file's bytes, with LF as line end.

    Raises:
        NotText: The bytes are not text.
    """
    for magic, format_name in MAGIC:
        if data.startswith(magic) and not _is_plain(data):
            raise NotText(f"binary: {format_name}")
    text = _decode(data)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def clean_text(text: str) -> str:
    """Clean text that was extracted from another format.

    Line ends become LF, zero characters are removed, pairs of surrogates become one character, and
    a lone surrogate becomes U+FFFD.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    if SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _is_plain(data: bytes) -> bool:
    """Return whether a file is text although it begins like a binary format (`ID3`, `BZh`)."""
    return data[:SAMPLE].isascii() and not _count_controls(data[:SAMPLE]) and data[:5] != b"%PDF-"


def _decode(data: bytes) -> str:
    encoding = UTF16_MARKS.get(data[:2])
    if encoding:
        return _decode_utf16(data[2:], encoding)
    if b"\0" in data:
        guess = _guess_utf16(data)
        if guess is None:
            raise NotText("binary: it holds zero bytes")
        return _decode_utf16(data, guess)
    data = data.removeprefix(UTF8_MARK)
    _refuse_controls(_count_controls(data), len(data))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _decode_invalid_utf8(data)


def _decode_invalid_utf8(data: bytes) -> str:
    """Decode bytes as damaged UTF-8, or in an encoding of another time."""
    repaired = data.decode("utf-8", "replace")
    non_ascii = len(repaired) - len(repaired.encode("ascii", "ignore"))
    invalid = repaired.count("\ufffd") - data.count("\ufffd".encode())
    if invalid * 11 <= non_ascii:
        return repaired
    if (text := decode_by_script(data)) is not None:
        _refuse_controls(len(CONTROL_CHARACTERS.findall(text)), len(text))
        return text
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        _refuse_controls(len(CONTROL_CHARACTERS.findall(text)), len(text))
        return text


def _guess_utf16(data: bytes) -> str | None:
    even, odd = data[:SAMPLE:2], data[1:SAMPLE:2]
    if len(data) % 2 == 0:
        if not even.count(0) and odd.count(0) * 100 >= len(odd) * MIN_ZEROS_PER_HUNDRED:
            return "utf-16-le"
        if not odd.count(0) and even.count(0) * 100 >= len(even) * MIN_ZEROS_PER_HUNDRED:
            return "utf-16-be"
    return None


def _decode_utf16(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise NotText("binary: it begins like UTF-16 but is not") from error
    if "\0" in text:
        raise NotText("binary: it holds zero bytes")
    _refuse_controls(len(CONTROL_CHARACTERS.findall(text)), len(text))
    return text


def _count_controls(data: bytes) -> int:
    return len(data) - len(data.translate(None, CONTROLS))


def _refuse_controls(count: int, length: int) -> None:
    if count > MAX_CONTROLS and count * 100 > length * MAX_CONTROLS_PER_HUNDRED:
        raise NotText("binary: it is full of control characters")
