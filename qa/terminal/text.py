"""Text for a terminal: cleaning, width in cells, wrapping that keeps lists, code and bold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

from corpus import lazy_pattern

# Joiners that shape Persian, Indic scripts and emoji; they neither reorder nor hide anything.
_JOINERS = "\u200c\u200d"
# Control characters and their visible pictures, or white space to show instead.
_CONTROLS = {chr(code): chr(0x2400 + code) for code in range(32)}
_CONTROLS |= {"\x7f": "\u2421", "\t": "    ", **dict.fromkeys("\r\f\v\x85", " ")}


def clean(text: str) -> str:
    """Return a text without anything that could control a terminal or reorder the text; newlines stay.

    Control characters become their visible pictures (ESC becomes "␛"), C1 controls and lone surrogates U+FFFD;
    bidi controls, tags and other invisible characters are dropped.
    """
    return "".join(map(_clean_character, text))


def clean_rows(line: str) -> list[str]:
    r"""Return a line of a file as cleaned rows, split at what ends a line on some screens ("\f", U+2028)."""
    return [clean(row) for row in line.splitlines()] or [""]


def clean_line(text: str) -> str:
    """Return a cleaned text on one line, such as a heading: white space becomes single spaces."""
    return " ".join(clean(text).split())


def clean_name(text: str) -> str:
    r"""Return a file name or message on one line, with harmful characters escaped ("\n", "\x1b", "\u202e")."""
    return "".join(c if c not in "\n\t" and _clean_character(c) == c else _escaped(c) for c in text)


def _clean_character(c: str) -> str:
    if " " <= c <= "~" or c == "\n" or c in _JOINERS:
        return c
    category = unicodedata.category(c)
    if category == "Cc":
        return _CONTROLS.get(c, "\ufffd")
    if category == "Cs":
        return "\ufffd"
    if category in {"Zl", "Zp"}:
        return "\n"
    return "" if category == "Cf" else c


def _escaped(c: str) -> str:
    return c.encode("unicode_escape", "surrogatepass").decode("ascii")


def cells(text: str) -> int:
    """Return the columns of a cleaned text on a terminal: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_width(c) for c in text)


def _width(c: str) -> int:
    if c in _JOINERS or unicodedata.category(c) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def embolden(lines: Iterable[str], text: str, spans: Iterable[tuple[int, int]], on: str, off: str) -> list[str]:
    """Return the wrapped lines of a text with `on` and `off` around its spans; wrapping changed only white space."""
    flags = ["0"] * len(text)
    for start, end in spans:
        for at in range(max(0, start), min(len(text), end)):
            flags[at] = "1"
    pairs = zip(text, flags, strict=True)
    marks = (flag for c, flag in pairs for shown in _clean_character(c) if not shown.isspace())
    bold_lines = []
    for line in lines:
        mask = "".join(" " if c.isspace() else next(marks) for c in line)
        mask = re.sub("(?<=1) +(?=1)", lambda gap: "1" * len(gap[0]), mask)
        runs = ((line[run.start() : run.end()], run[0][0] == "1") for run in re.finditer("1+|[^1]+", mask))
        bold_lines.append("".join(f"{on}{part}{off}" if is_bold else part for part, is_bold in runs))
    return bold_lines


_ITEM = lazy_pattern(r"\s*(?:[-*+•◦▪‣–]|\d{1,3}[.)])\s+(?=\S)|\s*(?:>\s?)+")
_FENCE = lazy_pattern(r"\s*(```|~~~)")
_DEEP = lazy_pattern(r"\s{4}")
_ROW = lazy_pattern(r"\s*\||\s{4,}\S|\s*#{1,6}\s")
# A line shorter than this share of its paragraph's longest was broken on purpose: an address, a verse, "key: value".
_MIN_FILLED = 0.6


def wrap(text: str, width: int) -> list[str]:
    """Return the lines of a text fitted into `width` columns, keeping its structure.

    Lines that fit stay. A paragraph that was filled to a greater width is filled again; other long lines are broken
    one by one, indented below the text of their list item. Code, table rows and headings are not wrapped.
    """
    out: list[str] = []
    lines = [line.rstrip() for line in text.split("\n")]
    at = 0
    while at < len(lines):
        end = _fence_end(lines, at)
        if end > at:
            out.extend(lines[at:end])
            at = end
        elif not lines[at] or _is_unwrapped(lines, at):
            out.append(lines[at])
            at += 1
        else:
            group = _paragraph(lines, at)
            out.extend(_refit(group, width))
            at += len(group)
    return out


def excerpt(lines: Sequence[str], marked: Sequence[bool], most: int) -> tuple[int, int]:
    """Return which lines of a text to show, start and end: at most `most` of the paragraph with the first marked line.

    They begin with that line, or with the text if none is marked. If at most one line would be left out, all are shown.
    """
    if len(lines) <= most + 1:
        return 0, len(lines)
    start = marked.index(True) if True in marked else 0
    return start, next((at for at in range(start, start + most) if not "".join(lines[at : at + 1])), start + most)


def is_item(line: str) -> bool:
    """Return whether a line begins a list item or a quotation."""
    return _ITEM.match(line) is not None


def _fence_end(lines: Sequence[str], at: int) -> int:
    """Return the end of the code (a closed fence or a Python session) that begins at `at`; `at` if there is none."""
    if lines[at].lstrip().startswith(">>> "):
        return next((number for number in range(at, len(lines)) if not lines[number]), len(lines))
    fence = _FENCE.match(lines[at])
    if not fence:
        return at
    ends = (number for number in range(at + 1, len(lines)) if lines[number].lstrip().startswith(fence[1]))
    return next(ends, at - 1) + 1


def _is_unwrapped(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    if not _ROW.match(line):
        return False
    if not line[:1].isspace() or line.lstrip()[:1] in "|#":
        return True
    # A deep indent means code, unless it follows a list item.
    parent = next((earlier for earlier in reversed(lines[:at]) if earlier and not _DEEP.match(earlier)), "")
    return not is_item(line) and not is_item(parent)


def _paragraph(lines: Sequence[str], at: int) -> list[str]:
    """Return the line at `at` and those that continue its paragraph."""
    group = [lines[at]]
    for line in lines[at + 1 :]:
        if not line or is_item(line) or _FENCE.match(line) or line.lstrip()[0] in "|#":
            break
        group.append(line)
    return group


def _refit(group: list[str], width: int) -> list[str]:
    sizes = [cells(line) for line in group]
    if max(sizes) <= width:
        return group
    if all(size >= _MIN_FILLED * max(sizes) for size in sizes[:-1]):
        lead, hang = _lead_and_hang(group[0])
        return _fill(lead, hang, " ".join(group)[len(lead) :].split(), width)
    out = []
    for line, size in zip(group, sizes, strict=True):
        lead, hang = _lead_and_hang(line)
        out.extend([line] if size <= width else _fill(lead, hang, line[len(lead) :].split(), width))
    return out


def _lead_and_hang(line: str) -> tuple[str, str]:
    """Return the indent and bullet of a line, and the indent of its continuation lines."""
    match = _ITEM.match(line) or re.match(r"\s*", line)
    lead = line[: match.end() if match else 0]
    return lead, " " * cells(lead)


def _fill(lead: str, hang: str, words: list[str], width: int) -> list[str]:
    """Fill lines greedily; only a word wider than a line is broken, and only where its script allows."""
    out: list[str] = []
    line, used, empty = lead, cells(lead), True
    for word in words:
        for piece, gap in _split_word(word):
            size = cells(piece)
            joint = 1 if gap and not empty else 0
            if not empty and used + joint + size > width:
                out.append(line)
                line, used, joint = hang, cells(hang), 0
            line, used, empty = line + " " * joint + piece, used + joint + size, False
    out.append(line)
    return out


def _split_word(word: str) -> list[tuple[str, bool]]:
    """Return the parts of a word between which a line may be broken, each with whether a space precedes it."""
    # In Chinese and Japanese, a line may be broken before any wide character but closing punctuation.
    inner = [at for at, c in enumerate(word) if at and _width(c) == 2 and c not in "、。，．！？）」』】〕：；"]
    return [(word[start:end], start == 0) for start, end in pairwise((0, *inner, len(word)))]
