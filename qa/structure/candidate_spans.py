"""The spans of a passage that may answer: its sentences, the rows of its tables, the fields of its front matter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from corpus import code_spans, is_code, lazy_pattern, sentence_spans
from index import StoredPassage
from qa.language.spans import Span, trimmed
from qa.language.values import MONTH
from qa.structure.code_blocks import code_blocks
from qa.structure.dated_entries import entry_starts
from qa.structure.tables import tables

# In characters; a longer highlight would not point at anything in particular.
LONGEST_SPAN = 400
# The marker of a list item, but not the day of a date: "5. Mai 2023: Besuch".
LIST_MARKER = lazy_pattern(rf"(?:[•◦▪‣●○■□–—*+-]|\(?\d{{1,3}}[.)](?!\s{MONTH})|\(?(?:[A-Za-z]|[ivx]{{2,5}})\))\s+")
# What is between a title that asks and its text: "Why so slow? : We measured it."
_MARK_BEFORE = lazy_pattern(r"[:;,]\s+(?=\S)")
# A paragraph that is longer introduces no block.
_LONGEST_LINE = 200
# The marks of a heading, by media type.
_HEADING_MARKS = {
    "text/markdown": lazy_pattern(r"^#{1,6}[ \t]+(?=\S)", re.MULTILINE),
    "text/x-org": lazy_pattern(r"^\*+[ \t]+(?=\S)", re.MULTILINE),
    "text/asciidoc": lazy_pattern(r"^={1,6}[ \t]+(?=\S)", re.MULTILINE),
}
# A sentence that says no more than yes or no: "Yes.", "text: No!", "Anna: Of course."
_YES_OR_NO = lazy_pattern(
    r"(?:[^:\n]{1,30}: +)?(?:yes|no|yep|nope|yeah|sure|of course|certainly|correct|exactly|not at all)[.!]",
    re.IGNORECASE,
)
# A field of front matter other than the title, with its continuation lines.
_FIELD = lazy_pattern(r"^(?!---|\.\.\.|title:)(?=[^\s#])[^\n:]+:.*(?:\n(?:[ \t]+\S|- ).*)*", re.MULTILINE)
# Where an over-long sentence is cut: after a semicolon or before an item, as in "; or (iv) was", else at any blank.
_CLAUSE = lazy_pattern(r";\s+|[:,]\s+(?=(?:(?:and|or)\s+)?\((?:[a-zA-Z]|[ivx]{1,5}|\d{1,2})\)\s)")
_BLANK = lazy_pattern(r"\s+")

# Scores how well a span of a passage's text answers; arguments: its first character, and one past its last.
SpanScore = Callable[[int, int], float]


def without_marker(line: str) -> str:
    """Return a line without the marker of a list item before it."""
    marker = LIST_MARKER.match(line)
    return line[marker.end() :] if marker else line


def line_before(text: str, start: int, end: int) -> str:
    """Return the paragraph right before a block, without a list marker; "" if it is long."""
    line = text[start:end].strip().rpartition("\n\n")[2].strip()
    return "" if len(line) > _LONGEST_LINE else without_marker(line)


def candidate_spans(passage: StoredPassage) -> list[Span]:
    """Return the spans of a passage that may answer, in order; none is empty."""
    return (passage.is_front_matter and _front_matter_fields(passage.text)) or _sentences(passage)


def _sentences(passage: StoredPassage) -> list[Span]:
    """Return the sentences below the headings and the rows of tables, without list markers; cut long ones.

    A mere "yes" or "no" is joined with the next sentence. In code, each line is a sentence.
    """
    text = passage.text
    by_line = is_code(passage.document.path, text)
    spans: list[Span] = []
    for first, end in code_spans(text, passage.body) if by_line else _sentences_and_rows(passage):
        marker = LIST_MARKER.match(text, first, end)
        begins = marker or _MARK_BEFORE.match(text, first, end)
        start = begins.end() if begins else first
        if not marker and spans and _is_yes_or_no(text, spans[-1]) and "\n\n" not in text[spans[-1][1] : first]:
            start = spans.pop()[0]
        while end - start > LONGEST_SPAN:
            most = start + LONGEST_SPAN
            breaks = [m.end() for mark in (_BLANK, _CLAUSE) for m in mark.finditer(text, start, most)]
            stop = breaks[-1] if breaks else most
            spans.append(trimmed(text, (start, stop)))
            # The cut may be inside a word, or before a blank.
            start = trimmed(text, (stop, end))[0]
        spans.append((start, end))
    return spans


def _is_yes_or_no(text: str, span: Span) -> bool:
    return _YES_OR_NO.fullmatch(text, *span) is not None


def _front_matter_fields(text: str) -> list[Span]:
    """Return the fields of front matter except the title, which questions name rather than ask for."""
    return [trimmed(text, field.span()) for field in _FIELD.finditer(text)]


def _sentences_and_rows(passage: StoredPassage) -> Iterator[Span]:
    text, done = passage.text, passage.body
    for table in tables(text, passage.context):
        yield from _prose(passage, done, max(done, table.span[0]))
        for cells in table.rows:
            if filled := [cell for cell in cells if cell[0] < cell[1]]:
                yield filled[0][0], filled[-1][1]
        done = table.span[1]
    yield from _prose(passage, done, len(text))


def _prose(passage: StoredPassage, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of part of a passage, and the lines of its blocks of code, without fences."""
    for block in code_blocks(passage.text, passage.body, passage.document.media_type):
        first, last = max(start, block.span[0]), min(end, block.span[1])
        if first < last:
            yield from _text(passage, start, first)
            yield from (line for line in block.lines if start <= line[0] and line[1] <= end)
            start = last
    yield from _text(passage, start, end)


def _text(passage: StoredPassage, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of part of a passage; a heading begins one, without its marks."""
    marks = _HEADING_MARKS.get(passage.document.media_type)
    for mark in marks.finditer(passage.text, start, end) if marks else ():
        yield from _lines_of_log(passage.text, start, mark.start())
        start = mark.end()
    yield from _lines_of_log(passage.text, start, end)


def _lines_of_log(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of part of a text; a line that begins with a date begins one."""
    cuts = [start, *(at for at in entry_starts(text, start, end) if at > start), end]
    for first, last in pairwise(cuts):
        yield from sentence_spans(text, first, last)
