"""Answer with the whole block that a line or heading introduces: the command below "Run the tests:", or a list.

A block answers only if its line, the headings above it, and the title and path of its document have every content word
of the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpus import path_words
from index import Index, StoredPassage
from qa.answer.candidate_spans import LIST_MARKER
from qa.questions.steps import command_topic, is_other_topic, nearest_heading, terms
from qa.questions.values import Span
from qa.reader.code_blocks import CodeBlock, code_blocks

# Verbs of questions for commands that say nothing about them.
_GENERIC = terms("display do execute find get run see show use view")
# Before the words of the question, these make it another case: "Before you format the code, stage it:".
_CONDITION = re.compile(r"\b(?:after|before|if|instead|no|not|once|unless|when|without)\b", re.IGNORECASE)
_LONGEST_LINE = 200
# A document with more passages is not searched for the block that a line introduces.
_MAX_PASSAGES = 200
_NUMBERED = re.compile(r"^[ \t]*\d{1,2}[.)] ", re.MULTILINE)


class Block(NamedTuple):
    """A block that answers: its passage, the lines to highlight, and its text."""

    passage: StoredPassage
    lines: tuple[Span, ...]
    text: str


def command_block(snapshot: Index, question: str, passages: Sequence[StoredPassage]) -> Block | None:
    """Return the block of code that a line introduces with the words of a question for a command, or how to do it."""
    topic = command_topic(question)
    asked = terms(topic or "") - _GENERIC
    if topic is None or not asked:
        return None
    found = [it for passage in passages for it in _commands(snapshot, topic, asked, passage)]
    fewest = min((unasked for unasked, _ in found), default=0)
    return next((block for unasked, block in found if unasked == fewest), None)


def _commands(snapshot: Index, topic: str, asked: set[str], passage: StoredPassage) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of code that may answer, with the number of other terms in the lines that introduce them."""
    heading = nearest_heading(passage)
    around = terms(f"{passage.context} {passage.title} {path_words(passage.document.path)}")
    blocks = list(_code(snapshot, asked, passage))
    is_only = len(blocks) == 1 and not _NUMBERED.search(passage.text, passage.body)
    for above, owner, block in blocks:
        line = heading if asked <= terms(heading) and (is_only or not above) else above
        named = asked & terms(line)
        if not named or not asked <= named | around or _is_other(topic, line, named):
            continue
        unasked = len(terms(line) - _GENERIC - asked)
        if len(asked) > 1 or not unasked:
            yield unasked, Block(owner, block.commands, block.text)


def _code(snapshot: Index, asked: set[str], passage: StoredPassage) -> Iterator[tuple[str, StoredPassage, CodeBlock]]:
    """Yield the blocks of code in a passage, and the one that its last line introduces, with the lines above them."""
    text, at = passage.text, passage.body
    for block in code_blocks(text, at, passage.document.media_type):
        yield _line_before(text, at, block.span[0]), passage, block
        at = block.span[1]
    line = _line_before(text, at, len(text))
    if not line.endswith(":") or asked.isdisjoint(terms(line)) or passage.document.passages > _MAX_PASSAGES:
        return
    beside = snapshot.passages_of(passage.document.path)
    following = next((it for it in beside if it.start >= passage.end and it.context == passage.context), passage)
    for block in code_blocks(following.text, following.body, following.document.media_type)[:1]:
        if following is not passage and not following.text[: block.span[0]].strip():
            yield line, following, block


def _line_before(text: str, start: int, end: int) -> str:
    """Return the paragraph right before a block, without a list marker; "" if it is long."""
    line = text[start:end].strip().rpartition("\n\n")[2].strip()
    marker = LIST_MARKER.match(line)
    return "" if len(line) > _LONGEST_LINE else line[marker.end() :] if marker else line


def _is_other(topic: str, line: str, named: set[str]) -> bool:
    """Whether the line is about something else: the opposite, or a case that it names before the words asked for."""
    words = list(re.finditer(r"\w+", line))
    last = max((word.start() for word in words if terms(word[0]) & named), default=0)
    condition = _CONDITION.search(line, 0, last)
    is_other_case = condition is not None and condition[0].lower() not in topic.lower().split()
    return is_other_case or is_other_topic(topic, line[: last or None])
