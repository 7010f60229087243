"""Decode bytes as UTF-8, or in a detected encoding, which is reported."""

from __future__ import annotations

import codecs
import re

from corpus.errors import Unreadable
from corpus.formats import MAX_LINES

# Git's rule of thumb: a NUL in the first 8,000 bytes means binary.
_BINARY_SAMPLE = 8000
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_ENCODING_SAMPLE = 256 * 1024
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffe\uffff]")
_WESTERN = re.compile(r"[À-ÖØ-öø-ÿŒœŠšŽžŸ’‘“”„‚–—…•€§°«»¿¡ß´`\xa0©®™±²³µ·¼½¾×]")
# An accented capital inside a word, as when another encoding is decoded as windows-1252.
_ODD_CAPITAL = re.compile(r"[a-zà-öø-ÿ][À-ÖØ-Þ¼½¾±²³µ°][a-zà-öø-ÿ]")
# Never guessed, as they are rare without a byte order mark.
_UNLIKELY = ["utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "utf_7"]
_NAMES = {"cp1252": "windows-1252", "latin_1": "iso-8859-1"}
# Codecs for which browsers use a larger one, as most pages do: https://encoding.spec.whatwg.org/#names-and-labels.
_WEB_CODECS = {
    "ascii": "windows-1252",
    "iso8859-1": "windows-1252",
    "iso8859-9": "windows-1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}


def decode_lines(data: bytes) -> tuple[str, str]:
    """Decode a text file as `decode` does, but refuse more than `MAX_LINES`, for readers that work line by line."""
    text, note = decode(data)
    if text.count("\n") > MAX_LINES:
        raise Unreadable(f"more than {MAX_LINES:,} lines; split it into smaller files")
    return text, note


def file_lines(data: bytes) -> tuple[list[str], str]:
    """Return the lines of a text file, without newlines and byte order mark, and the remark; see `decode_lines`."""
    text, note = decode_lines(data)
    return [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")], note


def decode(data: bytes) -> tuple[str, str]:
    """Decode a text file; as in Python's codecs, a byte order mark stays in UTF-8, but is dropped from UTF-16.

    Returns:
        The text, and a remark on its encoding: "" for UTF-8.

    Raises:
        Unreadable: It is binary, or its encoding is unknown.
    """
    for mark, name in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return _decode_marked(data, name)
    require_text(data)
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        return _decode_damaged_utf_8(data) or _decode_guessed(data)


def web_codec(name: str) -> str:
    """Return the codec that browsers use for a charset label: windows-1252 for latin1; unknown labels stay."""
    try:
        return _WEB_CODECS.get(codecs.lookup(name).name, name)
    except LookupError:
        return name


def require_text(data: bytes) -> None:
    """Raise `Unreadable` if there is a NUL near the beginning, which no text in a single-byte encoding has."""
    if b"\0" in data[:_BINARY_SAMPLE]:
        raise Unreadable("binary, not text")


def _decode_marked(data: bytes, name: str) -> tuple[str, str]:
    try:
        text = data.decode(name).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise Unreadable(f"marked as {name.upper()}, but not valid (byte {error.start})") from error
    _require_printable(text)
    return text, f"read as {name}"


def _decode_damaged_utf_8(data: bytes) -> tuple[str, str] | None:
    """Decode UTF-8 with a few invalid bytes, which become U+FFFD; None for another encoding."""
    text = data.decode("utf-8", "replace")
    invalid = text.count("\ufffd") - data.count("\ufffd".encode())
    non_ascii = len(text) - sum(map(text.count, map(chr, range(128))))
    # Text in another encoding is rarely even half valid as UTF-8.
    if 2 * invalid > non_ascii or _is_binary(text):
        return None
    return text, f"read as utf-8; {invalid:,} {'place is' if invalid == 1 else 'places are'} not valid"


def _decode_guessed(data: bytes) -> tuple[str, str]:
    name = "cp1252" if _is_western(data) else _detect(data)
    if name is None:
        raise Unreadable("not UTF-8, and its encoding is unknown; save it as UTF-8")
    text = data.decode(name, "replace")
    _require_printable(text)
    return text, f"read as {_NAMES.get(name, name)}"


def _is_western(data: bytes) -> bool:
    """Whether the data, decoded as windows-1252, is mostly ASCII with western European letters and signs."""
    sample = data[:_ENCODING_SAMPLE]
    non_ascii = bytes(byte for byte in sample if byte >= 0x80)
    if len(non_ascii) * 3 > len(sample):
        return False
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return False
    western_count = len(_WESTERN.findall(non_ascii.decode("cp1252", "replace")))
    return western_count == len(non_ascii) and not _ODD_CAPITAL.search(text[:_ENCODING_SAMPLE])


def _detect(data: bytes) -> str | None:
    # Not imported at the start: most folders have no such file, and each import delays a question.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    best = from_bytes(data[:_ENCODING_SAMPLE], cp_exclusion=_UNLIKELY).best()
    return None if best is None else best.encoding


def _require_printable(text: str) -> None:
    if _is_binary(text):
        raise Unreadable("binary, not text")


def _is_binary(text: str) -> bool:
    sample = text[:_BINARY_SAMPLE]
    return len(_CONTROL.findall(sample)) * 50 > len(sample)
