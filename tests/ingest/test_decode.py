from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.ingest.decode import NotText, decode_text

TEXT = "Grüße, \u2018quoted\u2019 €5 \u2013 naïve\nsecond line\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        TEXT.encode("cp1252"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        TEXT.replace("\n", "\r\n").encode("utf-16"),
    ],
    ids=[
        "utf8",
        "utf8-bom",
        "utf16le-bom",
        "utf16be-bom",
        "utf16le",
        "utf16be",
        "cp1252",
        "crlf",
        "cr",
        "utf16-crlf",
    ],
)
def test_the_same_text_in_many_encodings(data: bytes) -> None:
    assert decode_text(data) == TEXT


def test_bytes_that_cp1252_does_not_know_are_latin1() -> None:
    assert decode_text(b"plain words " * 20 + b"\x81").endswith(" \x81")


def test_a_damaged_place_does_not_turn_all_of_utf8_into_gibberish() -> None:
    sound = "äöü " * 20
    assert decode_text(sound.encode() + b"\xc3" + b" end") == sound + "\ufffd end"
    # One odd byte among ASCII says nothing for UTF-8.
    assert decode_text(b"caf\xe9") == "café"


def test_a_text_that_holds_replacement_characters_is_not_damaged_by_them() -> None:
    assert decode_text(("\ufffd" * 30 + "é").encode()) == "\ufffd" * 30 + "é"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "a PNG image"),
        (b"PK\x03\x04\x14\x00", "a ZIP archive"),
        (b"%PDF-1.7\nplain", "a PDF document under another name"),
        (b"abc\x00def", "zero bytes"),
        (bytes(range(1, 32)) * 40, "control characters"),
        (b"\xff\xfea", "UTF-16"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", "zero bytes"),
        (b"\x81\x8d\x8f\x90\x9d" * 50, "control characters"),
    ],
)
def test_what_is_no_text_says_so(data: bytes, reason: str) -> None:
    with pytest.raises(NotText, match=f"binary: .*{reason}"):
        decode_text(data)


def test_letters_that_look_like_magic_are_still_letters() -> None:
    assert decode_text(b"ID3 tags are explained here") == "ID3 tags are explained here"
    assert decode_text(b"GIF89a is a format") == "GIF89a is a format"


def test_terminal_colours_are_text() -> None:
    assert decode_text(b"\x1b[31mred\x1b[0m" * 20).startswith("\x1b[31m")


@given(st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs", "Cc"])))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    assert decode_text(text.encode()) == text


@given(st.binary(max_size=400))
def test_any_bytes_are_text_or_no_text(data: bytes) -> None:
    try:
        text = decode_text(data)
    except NotText:
        return
    assert "\r" not in text
    assert "\0" not in text
    text.encode()  # no half signs


SENTENCES = {
    "ru": "Проверка дверей проводится ежегодно, ключ хранится рядом, внизу.",
    "uk": "Перевірка дверей проводиться щороку, ключ зберігається поруч, внизу.",
    "el": "έλεγχος της πύλης γίνεται κάθε χρόνο και το κλειδί είναι στον φύλακα.",
    "he": "בדיקת השער נעשית מדי שנה והמפתח נמצא אצל השומר",
    "ar": "يتم فحص البوابة كل عام والمفتاح موجود عند الحارس",
    "th": "การตรวจสอบประตูทำทุกปีและกุญแจอยู่กับยาม",
    "ja": "ドアの点検は毎年行われます。鍵は守衛が保管します。",
    "ko": "문의 점검은 매년 이루어지고 열쇠는 경비원이 보관합니다.",
    "zh": "门的检查每年进行一次。钥匙由门卫保管。他在这个楼里工作。",
    "tw": "門的檢查每年進行一次。鑰匙由門衛保管。他在這個樓裡工作。",
}


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        ("ru", "cp1251"), ("ru", "koi8_r"), ("ru", "cp866"), ("uk", "cp1251"), ("el", "cp1253"),
        ("he", "cp1255"), ("ar", "cp1256"), ("th", "cp874"), ("ja", "cp932"), ("ja", "euc_jp"),
        ("ko", "cp949"), ("zh", "gb18030"), ("tw", "big5"),
    ],
)  # fmt: skip
def test_a_text_of_another_script_is_read_in_its_old_encoding(language: str, encoding: str) -> None:
    text = f"# Gate 7\n\n{SENTENCES[language]}\n"
    assert decode_text(text.encode(encoding)) == text
    code = f"int gate(int number) {{\n  return number;  // {SENTENCES[language]}\n}}\n"
    assert decode_text(code.encode(encoding)) == code


@pytest.mark.parametrize(
    "text",
    [
        "Die Prüfung der Türen ist fällig; größere Schäden übernimmt der Wächter ärgerlich oft.",
        "Le gardien a été prévenu : l'élève a créé « déjà » trois âmes à Noël, où ça ?",
        "El señor de la montaña comió piñón; ¿cuándo vendrá? ¡Mañana, según él! ÑÑÑ",
        "Naïve façade — “curly” quotes … €5 ½ £3 ©® «»",
    ],
)
def test_a_western_text_stays_one(text: str) -> None:
    assert decode_text(text.encode("cp1252")) == text
