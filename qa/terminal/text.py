"""Text made safe and fitted for a terminal: cleaning, cell widths, wrapping that keeps lists, code and bold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Joiners that shape Persian, Indic scripts and emoji; they neither reorder nor hide anything.
_JOINERS = "\u200c\u200d"
_TAB = "    "


def clean(text: str) -> str:
    """Neutralise whatever could drive a terminal or reorder what is read; newlines stay.

    Control characters become their visible pictures (ESC is shown as "␛"), C1 controls and lone surrogates
    the replacement character; bidi controls, tags and other invisible characters are left out.
    """
    return "".join(map(_clean_character, text))


def clean_line(text: str) -> str:
    """Clean a text that must stay on one line, such as a heading: white space becomes single spaces."""
    return " ".join(clean(text).split())


def clean_name(text: str) -> str:
    r"""Clean a file name or a message: what could do harm is spelled out ("\n", "\x1b", "\u202e")."""
    return "".join(c if c not in "\n\t" and _clean_character(c) == c else _spelled(c) for c in text)


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


def _spelled(c: str) -> str:
    return c.encode("unicode_escape", "surrogatepass").decode("ascii")


def cells(text: str) -> int:
    """Columns that a cleaned text takes on a terminal: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_cell(c) for c in text)


def _cell(c: str) -> int:
    if c in _JOINERS or unicodedata.category(c) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


@dataclass(frozen=True, slots=True)
class Marked:
    """A text in which some characters are marked; `marks` has one byte, 0 or 1, a character."""

    text: str
    marks: bytes

    def __getitem__(self, part: slice) -> Marked:
        return Marked(self.text[part], self.marks[part])

    def __add__(self, other: Marked) -> Marked:
        return Marked(self.text + other.text, self.marks + other.marks)

    def split_lines(self) -> list[Marked]:
        """The lines, without their newlines."""
        ends = [match.start() for match in re.finditer("\n", self.text)]
        starts = [0, *(end + 1 for end in ends)]
        return [self[start:end] for start, end in zip(starts, [*ends, len(self.text)], strict=True)]

    def words(self) -> list[Marked]:
        """The words between white space."""
        return [self[match.start() : match.end()] for match in re.finditer(r"\S+", self.text)]

    def rstrip(self) -> Marked:
        """Without white space at the end."""
        return self[: len(self.text.rstrip())]

    def styled(self, on: str, off: str) -> str:
        """The text with `on` and `off` around each marked run."""
        out = []
        for match in re.finditer(rb"\x00+|\x01+", self.marks, re.DOTALL):
            part = self.text[match.start() : match.end()]
            out.append(f"{on}{part}{off}" if self.marks[match.start()] else part)
        return "".join(out)


def plain(text: str) -> Marked:
    """A text without marks."""
    return Marked(text, bytes(len(text)))


def mark(text: str, spans: Iterable[tuple[int, int]]) -> Marked:
    """Clean a text and mark the characters of `spans` (in characters of the text as given)."""
    flags = bytearray(len(text))
    for start, end in spans:
        left, right = max(0, start), min(len(text), end)
        flags[left:right] = b"\x01" * max(0, right - left)
    pieces = [_clean_character(c) for c in text]
    marks = b"".join(flags[at : at + 1] * len(piece) for at, piece in enumerate(pieces))
    return Marked("".join(pieces), marks)


_ITEM = re.compile(r"\s*(?:[-*+•◦▪‣–]|\d{1,3}[.)])\s+(?=\S)|\s*(?:>\s?)+")
_FENCE = re.compile(r"\s*(```|~~~)")
_DEEP = re.compile(r"\s{4}")
_ROW = re.compile(r"\s*\||\s{4,}\S|\s*#{1,6}\s")
# A line shorter than this share of its paragraph's longest was broken on purpose: an address, a verse, "key: value".
_FILLED = 0.6


def wrap(text: Marked, width: int) -> list[Marked]:
    """Fit a text into `width` columns, keeping its structure.

    Lines that fit stay as they are. A paragraph that was filled to a longer measure is filled anew; other long
    lines are broken where they stand, below the text of their list item. Code, table rows and headings stay whole.
    """
    out: list[Marked] = []
    lines = [line.rstrip() for line in text.split_lines()]
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


def _fence_end(lines: Sequence[Marked], at: int) -> int:
    """One past the line that closes the code fence at `at`; `at` itself where none stands or none closes it."""
    found = _FENCE.match(lines[at].text)
    # In reStructuredText a row of tildes right below a line makes that line a heading.
    if not found or (found[1] == "~~~" and at and lines[at - 1].text):
        return at
    ends = (number for number in range(at + 1, len(lines)) if lines[number].text.lstrip().startswith(found[1]))
    return next(ends, at - 1) + 1


def _is_whole(lines: Sequence[Marked], at: int) -> bool:
    line = lines[at].text
    if not _ROW.match(line):
        return False
    if not line[:1].isspace() or line.lstrip()[:1] in "|#":
        return True
    # A deep indent means code, unless it stands below a list item.
    above = next((before.text for before in reversed(lines[:at]) if before.text and not _DEEP.match(before.text)), "")
    return not _ITEM.match(line) and not _ITEM.match(above)


def _paragraph(lines: Sequence[Marked], at: int) -> list[Marked]:
    """The line at `at` and those that carry its paragraph on."""
    group = [lines[at]]
    for line in lines[at + 1 :]:
        text = line.text
        if not text or _ITEM.match(text) or _FENCE.match(text) or text.lstrip()[0] in "|#":
            break
        group.append(line)
    return group


def _fit(group: list[Marked], width: int) -> list[Marked]:
    sizes = [cells(line.text) for line in group]
    if max(sizes) <= width:
        return group
    if all(size >= _FILLED * max(sizes) for size in sizes[:-1]):
        lead, hang = _lead(group[0])
        words = [
            word for at, line in enumerate(group) for word in (line[len(lead.text) :] if at == 0 else line).words()
        ]
        return _fill(lead, hang, words, width)
    out = []
    for line, size in zip(group, sizes, strict=True):
        lead, hang = _lead(line)
        out.extend([line] if size <= width else _fill(lead, hang, line[len(lead.text) :].words(), width))
    return out


def _lead(line: Marked) -> tuple[Marked, Marked]:
    """What stands before the words of a first line (an indent, a bullet), and what takes its place below."""
    found = _ITEM.match(line.text) or re.match(r"\s*", line.text)
    lead = line[: found.end() if found else 0]
    if ">" in lead.text:
        return lead, lead
    return lead, plain(" " * cells(lead.text))


_SPACE = plain(" ")


def _fill(lead: Marked, hang: Marked, words: list[Marked], width: int) -> list[Marked]:
    """Fill lines with words, greedily; only what is wider than a line is broken, and only where scripts allow."""
    out: list[Marked] = []
    line, used, empty = lead, cells(lead.text), True
    for word in words:
        for piece, gap in _pieces(word):
            size = cells(piece.text)
            joint = 1 if gap and not empty else 0
            if not empty and used + joint + size > width:
                out.append(line)
                line, used, joint = hang, cells(hang.text), 0
            if joint:
                both = bool(line.marks[-1:] == b"\x01" and piece.marks[:1] == b"\x01")
                line = line + (Marked(" ", b"\x01") if both else _SPACE)
            line, used, empty = line + piece, used + joint + size, False
    out.append(line)
    return out


def _pieces(word: Marked) -> list[tuple[Marked, bool]]:
    """A word in parts between which a line may be broken, each with whether a space stands before it."""
    if word.text.isascii() or not any(_cell(c) == 2 for c in word.text):
        return [(word, True)]
    # Chinese, Japanese: a break may stand between any two wide characters.
    parts: list[tuple[Marked, bool]] = []
    start = 0
    for at in range(1, len(word.text) + 1):
        whole = at == len(word.text)
        if whole or (_cell(word.text[at]) == 2 and word.text[at] not in "、。，．！？）」』】〕：；"):
            parts.append((word[start:at], start == 0))
            start = at
    return parts
