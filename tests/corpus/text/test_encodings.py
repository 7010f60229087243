"""Text files in encodings other than UTF-8 are read, and a note says so."""

from __future__ import annotations

import pytest

from corpus.errors import Unreadable
from corpus.text.encodings import decode, web_codec

GERMAN = "Die Größe der Brücke über die Müglitz beträgt „zwölf“ Meter – für Fußgänger genügt das.\n"
RUSSIAN = (
    "Серая цапля часами стоит на мелководье, и её терпение вошло в поговорку. "
    "Мы считали цапель на залитых лугах всю зиму. Самая большая стая насчитывала сорок две птицы.\n"
)
JAPANESE = (
    "アオサギは浅い水の中に何時間も立っていて、その忍耐力は有名です。"
    "私たちは冬の間ずっと、水浸しの草地でサギの数を数えました。\n"
)
POLISH = (
    "Czapla siwa godzinami stoi w płytkiej wodzie, a jej cierpliwość jest przysłowiowa. "
    "Liczyliśmy czaple na zalanych łąkach przez całą zimę. Największe stado liczyło czterdzieści dwa ptaki. "
    "Wydra żyje w pobliżu jazu, gdzie łowi ryby każdej nocy, aż do świtu.\n"
)


@pytest.mark.parametrize(
    ("text", "encoding", "note"),
    [
        (GERMAN, "utf-8", ""),
        (GERMAN, "cp1252", "read as windows-1252"),
        ("café", "latin-1", "read as windows-1252"),
        ("\ufeff" + GERMAN, "utf-16-le", "read as utf-16-le"),
        ("\ufeff" + JAPANESE, "utf-16-be", "read as utf-16-be"),
        ("\ufeff" + RUSSIAN, "utf-32-le", "read as utf-32-le"),
        (RUSSIAN * 3, "cp1251", "read as cp1251"),
        (JAPANESE * 3, "shift_jis", "read as cp932"),
        (POLISH * 3, "cp1250", "read as cp1250"),
    ],
)
def test_encoding_is_detected_and_reported(text: str, encoding: str, note: str) -> None:
    """Every character is kept, so that offsets are those in the text as Python decodes it."""
    assert decode(text.encode(encoding)) == (text.removeprefix("\ufeff"), note)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("iso-8859-1", "€5, “fine”"),
        ("latin1", "€5, “fine”"),
        ("us-ascii", "€5, “fine”"),
        ("ISO-8859-9", "“İyi”"),
        ("gb2312", "朱镕基"),
        ("Shift_JIS", "①髙橋"),
        ("utf-8", "“fine”"),
    ],
)
def test_charset_labels_mean_what_browsers_take_them_for(label: str, text: str) -> None:
    """Each text has letters or signs that the encoding named does not have, though pages use them with that label."""
    assert text.encode(web_codec(label)).decode(web_codec(label)) == text
    assert web_codec("x-none") == "x-none"


def test_invalid_bytes_affect_only_their_line() -> None:
    data = GERMAN.encode() * 3 + "naïve\n".encode("latin-1")
    assert decode(data) == (GERMAN * 3 + "na\ufffdve\n", "read as utf-8; 1 place is not valid")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a word and another \xed\xa0\x80", "a word and another í\xa0€"),
        ("größte Brücke".encode() + b" \xed\xa0\x80", "größte Brücke \ufffd\ufffd\ufffd"),
    ],
)
def test_lone_surrogates_never_reach_the_text(data: bytes, text: str) -> None:
    """Neither SQLite nor JSON can store a surrogate exactly; the bytes are those that UTF-8 would have for it."""
    decoded, note = decode(data)
    assert decoded == text
    assert note


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x7fELF\0\0", "binary, not text"),
        (b"a" * 7999 + b"\0", "binary, not text"),
        (b"\xff\xfea", "marked as UTF-16-LE, but not valid (byte 2)"),
        ("naïve".encode("utf-16-be"), "binary, not text"),
    ],
)
def test_undecodable_data_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(data)
    assert (caught.value.reason, caught.value.gone, caught.value.unknown) == (reason, False, False)


def test_late_nul_is_an_ordinary_character() -> None:
    assert decode(b"a" * 8000 + b"\0") == ("a" * 8000 + "\0", "")
