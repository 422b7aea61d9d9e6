"""Which characters do these bytes stand for?

The rule, in this order; it depends on the bytes alone:

1. A byte order mark decides: UTF-8, UTF-16 little or big endian.
2. Zero bytes: UTF-16 without a mark if they stand at every second place only, and often;
   otherwise the file is binary.
3. UTF-8. A file that is UTF-8 but for a few damaged places (at most one for ten sound
   characters beyond ASCII) stays UTF-8; each damaged place becomes U+FFFD.
4. Windows-1252, or Latin-1 where a byte means nothing in it.

A text in which more than one character in a hundred (and more than two) is a control
character is binary. Line ends become LF.
"""

from __future__ import annotations

import re

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
SAMPLE = 8192
ZEROS_PER_HUNDRED = 40

# Tabs, line ends, form feeds, backspaces (manual pages) and escapes (terminal colours) are text.
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\v\f\b\x1b") | {127})
CONTROLS_ALLOWED = 2
CONTROLS_PER_HUNDRED = 1
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
    """The bytes are no text; says what they seem to be."""


def text_of(data: bytes) -> str:
    """Decode a file's bytes, with LF at each line's end; raises NotText."""
    for magic, meaning in MAGIC:
        if data.startswith(magic) and not _plain(data):
            raise NotText(f"binary: {meaning}")
    text = _decode(data)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def clean_text(text: str) -> str:
    """Make text that was taken out of another format fit to be kept.

    Line ends become LF, zero characters go, and half a sign becomes U+FFFD: a sign outside the
    basic plane may come as two halves, or as one half only.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    if SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _plain(data: bytes) -> bool:
    """Tell whether a file is text in spite of its first letters (`ID3`, `BZh`)."""
    return data[:SAMPLE].isascii() and not _controls(data[:SAMPLE]) and data[:5] != b"%PDF-"


def _decode(data: bytes) -> str:
    encoding = UTF16_MARKS.get(data[:2])
    if encoding:
        return _utf16(data[2:], encoding)
    if b"\0" in data:
        guess = _unmarked_utf16(data)
        if guess is None:
            raise NotText("binary: it holds zero bytes")
        return _utf16(data, guess)
    data = data.removeprefix(UTF8_MARK)
    _refuse_controls(_controls(data), len(data))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _damaged_or_western(data)


def _damaged_or_western(data: bytes) -> str:
    repaired = data.decode("utf-8", "replace")
    sound = len(repaired) - len(repaired.encode("ascii", "ignore"))
    damaged = repaired.count("\ufffd") - data.count("\ufffd".encode())
    if damaged * 11 <= sound:
        return repaired
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        _refuse_controls(len(CONTROL_CHARACTERS.findall(text)), len(text))
        return text


def _unmarked_utf16(data: bytes) -> str | None:
    even, odd = data[:SAMPLE:2], data[1:SAMPLE:2]
    if len(data) % 2 == 0:
        if not even.count(0) and odd.count(0) * 100 >= len(odd) * ZEROS_PER_HUNDRED:
            return "utf-16-le"
        if not odd.count(0) and even.count(0) * 100 >= len(even) * ZEROS_PER_HUNDRED:
            return "utf-16-be"
    return None


def _utf16(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise NotText("binary: it begins like UTF-16 but is none") from error
    if "\0" in text:
        raise NotText("binary: it holds zero bytes")
    _refuse_controls(len(CONTROL_CHARACTERS.findall(text)), len(text))
    return text


def _controls(data: bytes) -> int:
    return len(data) - len(data.translate(None, CONTROLS))


def _refuse_controls(count: int, length: int) -> None:
    if count > CONTROLS_ALLOWED and count * 100 > length * CONTROLS_PER_HUNDRED:
        raise NotText("binary: it is full of control characters")
