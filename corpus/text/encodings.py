"""Bytes to characters: UTF-8 first, then what the bytes themselves suggest, and never in silence."""

from __future__ import annotations

import codecs
import re

from corpus.errors import Unreadable

# Each line costs its readers about a kilobyte.
MAX_LINES = 200_000
# Git's rule of thumb: a NUL in the first 8,000 bytes means binary.
_SNIFF = 8000
_MARKED = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
# What a detector looks at.
_SAMPLE = 256 * 1024
_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffe\uffff]")
_WESTERN = re.compile(r"[À-ÖØ-öø-ÿŒœŠšŽžŸ’‘“”„‚–—…•€§°«»¿¡ß´`\xa0©®™±²³µ·¼½¾×]")
# Without the mark at their beginning they are too rare to be guessed.
_UNLIKELY = ["utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "utf_7"]
_NAMES = {"cp1252": "windows-1252", "latin_1": "iso-8859-1"}


def decode(data: bytes) -> tuple[str, str]:
    """Decode a text file's bytes; a byte order mark stays in the text, so that offsets hold.

    Returns:
        The text, and what a person should know of how it was decoded: "" for UTF-8.

    Raises:
        Unreadable: Binary, or in no encoding that can be told.
    """
    for mark, name in _MARKED.items():
        if data.startswith(mark):
            return _marked(data, name)
    require_text(data)
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        return _damaged(data) or _guessed(data)


def require_text(data: bytes) -> None:
    """Refuse bytes that are no text in any encoding of single bytes.

    Raises:
        Unreadable: There is a NUL near their beginning.
    """
    if b"\0" in data[:_SNIFF]:
        raise Unreadable("binary, not text")


def require_few_lines(text: str) -> None:
    """Refuse a text of more lines than a reader has the memory for.

    Raises:
        Unreadable: It has more than `MAX_LINES`.
    """
    if text.count("\n") > MAX_LINES:
        raise Unreadable(f"more than {MAX_LINES:,} lines; split it into smaller files")


def _marked(data: bytes, name: str) -> tuple[str, str]:
    try:
        text = data.decode(name)
    except UnicodeDecodeError as error:
        raise Unreadable(f"not {name.upper()}, which its first bytes promise (byte {error.start})") from error
    if _is_binary(text):
        raise Unreadable("binary, not text")
    return text, f"read as {name}"


def _damaged(data: bytes) -> tuple[str, str] | None:
    """A text that is UTF-8 but for few bytes, with a sign where they stood; None where it is something else."""
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd") - data.count("\ufffd".encode())
    foreign = len(text) - sum(map(text.count, map(chr, range(128))))
    # What is in another encoding is hardly ever valid UTF-8, not even by half.
    if 2 * broken > foreign or _is_binary(text):
        return None
    return text, f"read as utf-8; {broken:,} {'place is' if broken == 1 else 'places are'} not valid"


def _guessed(data: bytes) -> tuple[str, str]:
    name = _western(data) or _detected(data)
    if name is None:
        raise Unreadable("not UTF-8, and its encoding cannot be told; save it as UTF-8")
    text = data.decode(name, "replace")
    if _is_binary(text):
        raise Unreadable("binary, not text")
    return text, f"read as {_NAMES.get(name, name)}"


def _western(data: bytes) -> str | None:
    """Windows-1252 where that gives letters and signs of western Europe inside mostly plain text."""
    foreign = bytes(byte for byte in data[:_SAMPLE] if byte >= 0x80)
    if len(foreign) * 3 > len(data[:_SAMPLE]):
        return None
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    known = len(_WESTERN.findall(foreign.decode("cp1252", "replace")))
    return "cp1252" if known == len(foreign) and not _odd(text) else None


def _odd(text: str) -> bool:
    """Whether capitals with accents stand inside words, as they do where another encoding is read as this one."""
    return len(re.findall(r"[a-zà-öø-ÿ][À-ÖØ-Þ¼½¾±²³µ°][a-zà-öø-ÿ]", text[:_SAMPLE])) > 0


def _detected(data: bytes) -> str | None:
    # Most folders have no such file, and a question waits for every import.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    best = from_bytes(data[:_SAMPLE], cp_exclusion=_UNLIKELY).best()
    return None if best is None else best.encoding


def _is_binary(text: str) -> bool:
    sample = text[:_SNIFF]
    return len(_NOT_TEXT.findall(sample)) * 50 > len(sample)
