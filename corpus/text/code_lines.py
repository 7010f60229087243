"""Recognise source code and settings, and divide them into lines that can be quoted as an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import splitext

from corpus.formats import PLAIN, UNNAMED, format_of
from corpus.text.sentences import sentence_spans

# Minimum share of lines that look like settings, in a file whose name does not tell its format.
_MOSTLY = 2 / 3
# With more words, a line is prose unless it ends like code.
_MOST_WORDS = 4
_WORD = re.compile(r"[^\W_][\w'’-]*")
_LINE = re.compile(r"\S[^\n]*")
_COMMENT = re.compile(r"//|/?\*|#|--\s|;|%|\"\"\"|'''")
# "[section]", "key = value", "Key value", "listen 443 ssl;", "server {".
_SETTING = re.compile(rf"\[[^\]]+\]|[\w.-]+ ?=.*|.*[;{{}}\\]|[\w./*-]+(?: +\S+){{0,{_MOST_WORDS - 1}}}(?<![.!?:,])")
_CODE_END = re.compile(r"[;{}(),=\\|&]$")


def is_code(path: str, text: str) -> bool:
    """Whether a text is source code or settings, by the name of its file, otherwise by its lines."""
    file_format = format_of(path)
    if file_format is None or file_format.reader == "source.code":
        return file_format is not None
    if file_format is not UNNAMED and (file_format is not PLAIN or splitext(path)[1]):
        return False
    lines = [line[0].rstrip() for line in _LINE.finditer(text)]
    settings = [line for line in lines if not _COMMENT.match(line)]
    return len(settings) > 1 and sum(map(bool, map(_SETTING.fullmatch, settings))) >= _MOSTLY * len(settings)


def code_spans(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield each line of code; comments and prose of several lines are split into sentences."""
    block = (start, start)
    before = ""
    for line in _LINE.finditer(text, start):
        if not (before and "\n\n" not in text[block[1] : line.start()] and _continues(before, line[0])):
            yield from _sentences(text, block)
            block = line.span()
        block, before = (block[0], line.end()), line[0].rstrip()
    yield from _sentences(text, block)


def _continues(before: str, line: str) -> bool:
    is_comment = _COMMENT.match(line) is not None
    if _COMMENT.match(before) or is_comment:
        return is_comment and _COMMENT.match(before) is not None
    return before.endswith("\\") or _is_prose(before)


def _is_prose(line: str) -> bool:
    return len(_WORD.findall(line)) > _MOST_WORDS + 1 and not _CODE_END.search(line) and " = " not in line


def _sentences(text: str, block: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the sentences of consecutive lines; a single line is one sentence, whatever it contains."""
    if "\n" in text[slice(*block)] and "\\\n" not in text[slice(*block)]:
        yield from sentence_spans(text, *block)
    elif block[0] < block[1]:
        yield block[0], block[0] + len(text[slice(*block)].rstrip())
