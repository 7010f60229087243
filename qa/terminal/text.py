"""Text for a terminal: cleaning, width in cells, wrapping that keeps lists, code and bold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Joiners that shape Persian, Indic scripts and emoji; they neither reorder nor hide anything.
_JOINERS = "\u200c\u200d"
_TAB = "    "


def clean(text: str) -> str:
    """Return a text without anything that could drive a terminal or reorder what is read; newlines stay.

    Control characters become their visible pictures (ESC becomes "␛"), C1 controls and lone surrogates U+FFFD;
    bidi controls, tags and other invisible characters are dropped.
    """
    return "".join(map(_clean_character, text))


def clean_line(text: str) -> str:
    """Return a cleaned text on one line, such as a heading: white space becomes single spaces."""
    return " ".join(clean(text).split())


def clean_name(text: str) -> str:
    r"""Return a file name or message on one line, with what could do harm escaped ("\n", "\x1b", "\u202e")."""
    return "".join(c if c not in "\n\t" and _clean_character(c) == c else _escaped(c) for c in text)


def _clean_character(c: str) -> str:
    if " " <= c <= "~" or c == "\n" or c in _JOINERS:
        return c
    category = unicodedata.category(c)
    if category == "Cc":
        return _clean_control(c)
    if category == "Cs":
        return "\ufffd"
    if category in {"Zl", "Zp"}:
        return "\n"
    return "" if category == "Cf" else c


def _clean_control(c: str) -> str:
    if c == "\t":
        return _TAB
    if c in "\r\f\v\x85":
        return " "
    if c < " ":
        return chr(0x2400 + ord(c))
    return "\u2421" if c == "\x7f" else "\ufffd"


def _escaped(c: str) -> str:
    return c.encode("unicode_escape", "surrogatepass").decode("ascii")


def cells(text: str) -> int:
    """Return the columns of a cleaned text on a terminal: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_cell(c) for c in text)


def _cell(c: str) -> int:
    if c in _JOINERS or unicodedata.category(c) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


@dataclass(frozen=True, slots=True)
class StyledText:
    """A text some characters of which are bold; `bold` has one byte, 0 or 1, for each character."""

    text: str
    bold: bytes

    def __getitem__(self, part: slice) -> StyledText:
        return StyledText(self.text[part], self.bold[part])

    def __add__(self, other: StyledText) -> StyledText:
        return StyledText(self.text + other.text, self.bold + other.bold)

    def find_all(self, pattern: str) -> list[StyledText]:
        """Return each match of a pattern."""
        return [self[match.start() : match.end()] for match in re.finditer(pattern, self.text, re.MULTILINE)]

    def rstrip(self) -> StyledText:
        """Return it without white space at the end."""
        return self[: len(self.text.rstrip())]

    def styled(self, on: str, off: str) -> str:
        """Return the text with `on` and `off` around each bold run."""
        out = []
        for match in re.finditer(rb"\x00+|\x01+", self.bold, re.DOTALL):
            part = self.text[match.start() : match.end()]
            out.append(f"{on}{part}{off}" if self.bold[match.start()] else part)
        return "".join(out)


def plain(text: str) -> StyledText:
    """Return a text without bold characters."""
    return StyledText(text, bytes(len(text)))


def with_bold(text: str, spans: Iterable[tuple[int, int]]) -> StyledText:
    """Return a cleaned text whose characters in `spans` (of the text as given) are bold."""
    flags = bytearray(len(text))
    for start, end in spans:
        left, right = max(0, start), min(len(text), end)
        flags[left:right] = b"\x01" * max(0, right - left)
    pieces = [_clean_character(c) for c in text]
    bold = b"".join(flags[at : at + 1] * len(piece) for at, piece in enumerate(pieces))
    return StyledText("".join(pieces), bold)


_ITEM = re.compile(r"\s*(?:[-*+•◦▪‣–]|\d{1,3}[.)])\s+(?=\S)|\s*(?:>\s?)+")
_FENCE = re.compile(r"\s*(```|~~~)")
_DEEP = re.compile(r"\s{4}")
_ROW = re.compile(r"\s*\||\s{4,}\S|\s*#{1,6}\s")
# A line shorter than this share of its paragraph's longest was broken on purpose: an address, a verse, "key: value".
_FILLED = 0.6


def wrap(text: StyledText, width: int) -> list[StyledText]:
    """Return the lines of a text fitted into `width` columns, keeping its structure.

    Lines that fit stay. A paragraph that was filled to a greater width is filled again; other long lines are broken
    one by one, indented below the text of their list item. Code, table rows and headings stay whole.
    """
    out: list[StyledText] = []
    lines = [line.rstrip() for line in text.find_all(r"^.*")]
    at = 0
    while at < len(lines):
        end = _fence_end(lines, at)
        if end > at:
            out.extend(lines[at:end])
            at = end
        elif not lines[at].text or _is_whole(lines, at):
            out.append(lines[at])
            at += 1
        else:
            group = _paragraph(lines, at)
            out.extend(_fit(group, width))
            at += len(group)
    return out


def _fence_end(lines: Sequence[StyledText], at: int) -> int:
    """One past the line that closes the code fence at `at`; `at` itself if there is none or it is never closed."""
    found = _FENCE.match(lines[at].text)
    # In reStructuredText a row of tildes right below a line makes that line a heading.
    if not found or (found[1] == "~~~" and at and lines[at - 1].text):
        return at
    ends = (number for number in range(at + 1, len(lines)) if lines[number].text.lstrip().startswith(found[1]))
    return next(ends, at - 1) + 1


def _is_whole(lines: Sequence[StyledText], at: int) -> bool:
    line = lines[at].text
    if not _ROW.match(line):
        return False
    if not line[:1].isspace() or line.lstrip()[:1] in "|#":
        return True
    # A deep indent means code, unless it follows a list item.
    above = next((before.text for before in reversed(lines[:at]) if before.text and not _DEEP.match(before.text)), "")
    return not _ITEM.match(line) and not _ITEM.match(above)


def _paragraph(lines: Sequence[StyledText], at: int) -> list[StyledText]:
    """The line at `at` and those that continue its paragraph."""
    group = [lines[at]]
    for line in lines[at + 1 :]:
        text = line.text
        if not text or _ITEM.match(text) or _FENCE.match(text) or text.lstrip()[0] in "|#":
            break
        group.append(line)
    return group


def _fit(group: list[StyledText], width: int) -> list[StyledText]:
    sizes = [cells(line.text) for line in group]
    if max(sizes) <= width:
        return group
    if all(size >= _FILLED * max(sizes) for size in sizes[:-1]):
        lead, hang = _lead(group[0])
        words = [
            word
            for at, line in enumerate(group)
            for word in (line[len(lead.text) :] if at == 0 else line).find_all(r"\S+")
        ]
        return _fill(lead, hang, words, width)
    out = []
    for line, size in zip(group, sizes, strict=True):
        lead, hang = _lead(line)
        out.extend([line] if size <= width else _fill(lead, hang, line[len(lead.text) :].find_all(r"\S+"), width))
    return out


def _lead(line: StyledText) -> tuple[StyledText, StyledText]:
    """What precedes the words of a first line (indent, bullet), and what replaces it on the lines below."""
    found = _ITEM.match(line.text) or re.match(r"\s*", line.text)
    lead = line[: found.end() if found else 0]
    if ">" in lead.text:
        return lead, lead
    return lead, plain(" " * cells(lead.text))


_SPACE = plain(" ")


def _fill(lead: StyledText, hang: StyledText, words: list[StyledText], width: int) -> list[StyledText]:
    """Fill lines greedily; only a word wider than a line is broken, and only where its script allows."""
    out: list[StyledText] = []
    line, used, empty = lead, cells(lead.text), True
    for word in words:
        for piece, gap in _pieces(word):
            size = cells(piece.text)
            joint = 1 if gap and not empty else 0
            if not empty and used + joint + size > width:
                out.append(line)
                line, used, joint = hang, cells(hang.text), 0
            if joint:
                both = bool(line.bold[-1:] == b"\x01" and piece.bold[:1] == b"\x01")
                line = line + (StyledText(" ", b"\x01") if both else _SPACE)
            line, used, empty = line + piece, used + joint + size, False
    out.append(line)
    return out


def _pieces(word: StyledText) -> list[tuple[StyledText, bool]]:
    """The parts of a word between which a line may be broken, each with whether a space precedes it."""
    if word.text.isascii() or not any(_cell(c) == 2 for c in word.text):
        return [(word, True)]
    # Chinese, Japanese: a line may be broken between any two wide characters.
    parts: list[tuple[StyledText, bool]] = []
    start = 0
    for at in range(1, len(word.text) + 1):
        whole = at == len(word.text)
        if whole or (_cell(word.text[at]) == 2 and word.text[at] not in "、。，．！？）」』】〕：；"):
            parts.append((word[start:at], start == 0))
            start = at
    return parts
