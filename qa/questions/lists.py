"""Lists in a passage: the items that a sentence introduces, and the list around one of its items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from corpus import lazy_pattern
from index import StoredPassage
from qa.language.question_kinds import asks_for_several, names_several
from qa.language.spans import Span, line_start, paragraph_around
from qa.language.terms import terms
from qa.questions.steps import (
    has_step_number,
    is_below_matching_heading,
    is_step,
)
from qa.structure.candidate_spans import LIST_MARKER, SpanScore

# The end of a sentence that a list completes: "The file is refused if".
_UNFINISHED = lazy_pattern(r"\b(?:if|when|unless|and|or|are|is|to|the|with|for|of|that|by|from)\s*\Z")
MAX_LIST_ITEMS = 10
# Lines without marks are a list if there are so many.
_FEWEST_LINES = 3
_ASKS_WHERE = lazy_pattern(r"\W*where\b", re.IGNORECASE)
# Questions that several things may answer, but not "what is the limit?" and "which exit takes me there?".
_ASKS_WHAT = lazy_pattern(
    r"\W*(?:what (?!(?:is|was) (?:an?|her|his|its|my|our|that|the|their|this|your)\b)"
    r"(?:are|came|can|changed|could|did|do|does|ends|goes|got|had|has|have|is|must|should|was|went|were|will|would)\b"
    # A plural, unless that may be a verb: "stops at", "takes me"
    r"|which (?:[\w.'’-]+ ){0,2}?[^\W\d_]+[^\Wisu]s (?!(?:an?|at|by|for|from|her|here|him|in|it|me|my|on|our|that|the"
    r"|them|there|this|to|us|you|your)\b|\w+s\b)|any |(?:the )?(?:two|three|four|five|six|[2-9]) )",
    re.IGNORECASE,
)
# The highest probability of the first of several items that answer.
_MOST_IF_SEVERAL = 0.95
NO_STOP = lazy_pattern(r"\A\D{1,60}(?<![.!?:;,])\Z")


def list_after(text: str, spans: Sequence[Span], answer_span: Span) -> list[Span]:
    """Return the items of the list that a sentence introduces by a final colon, or that completes it; [] if none."""
    is_open = not is_item(text, answer_span) and _UNFINISHED.search(text[slice(*answer_span)]) is not None
    if not (is_open or text[answer_span[0] : answer_span[1]].rstrip().endswith(":")):
        return []
    items: list[Span] = []
    for start, end in spans[spans.index(answer_span) + 1 :]:
        line = line_start(text, start)
        begins = start_of_item(text, start) < start or has_step_number(text, line)
        if not (begins or (items and continues_item(text, items[-1], (start, end)))):
            break
        items.append((start, end))
    return items


def whole_list(
    question: str, passage: StoredPassage, spans: Sequence[Span], answer_span: Span, *, share: SpanScore
) -> list[Span]:
    """Return the list around a sentence if the question asks for several things, or how to do what it is a step of.

    Args:
        question: The question.
        passage: The passage.
        spans: Its sentences.
        answer_span: One of them.
        share: The probability that the answer is in a sentence.
    """
    text, at, best = passage.text, spans.index(answer_span), answer_span
    asks, names = asks_for_several(question), names_several(question)
    if asks or names:
        if below := list_below(question, passage, spans, answer_span):
            return below
        if lines := _lines_around(question, passage, spans, answer_span):
            return lines if _is_about(question, passage, lines) else []
    asks = asks or any(is_bare_heading(question, passage, span) for span in spans[:at][-1:])
    # The line above a list, which may be a heading without marks.
    is_title = not is_item(text, answer_span) and text[answer_span[1] - 1] not in ".!?:"
    following = spans[at + 1 :][:1]
    if following and is_title and (asks or is_step(question, passage, following[0])):
        answer_span = following[0]
    is_asked = asks or names or is_step(question, passage, answer_span)
    around = _list_around(question, passage, spans, answer_span) if is_asked else []
    return around or _list_from(question, passage, spans, best, share(*best))


def list_below(question: str, passage: StoredPassage, spans: Sequence[Span], answer_span: Span) -> list[Span]:
    """Return an item with half the question's terms, and the list that is indented below it; [] if there is none."""
    text, topic = passage.text, terms(question)
    is_named = 2 * len(topic & terms(text[slice(*answer_span)])) >= len(topic)
    # How far the first line of a passage is indented is unknown.
    is_outer = is_item(text, answer_span) and line_start(text, answer_span[0]) > 0
    if not is_named or not is_outer or text[answer_span[1] - 1] == ":":
        return []
    rest = spans[spans.index(answer_span) + 1 :]
    below = list(takewhile(lambda it: is_item(text, it) and _indent(text, it) > _indent(text, answer_span), rest))
    return [answer_span, *below] if below else []


def _list_from(
    question: str, passage: StoredPassage, spans: Sequence[Span], answer_span: Span, share: float
) -> list[Span]:
    """Return the list that begins with a sentence, if the question may ask for all of it; [] if it may not.

    The reader picks the first of several items that answer, but is less sure of it than of one that answers alone.
    """
    text, at = passage.text, spans.index(answer_span)
    asks = asks_for_several(question) or _ASKS_WHAT.match(question) is not None
    is_first = is_item(text, answer_span) and not (at and is_item(text, spans[at - 1]))
    above = terms(f"{passage.context} {passage.title} {text[: answer_span[0]]}")
    if not (asks and is_first) or share > _MOST_IF_SEVERAL or terms(question).isdisjoint(above):
        return []
    indent = _indent(text, answer_span)
    items = list(takewhile(lambda it: is_item(text, it) and _indent(text, it) >= indent, spans[at:]))
    return items[:MAX_LIST_ITEMS] if len(items) > 1 else []


def _lines_around(question: str, passage: StoredPassage, spans: Sequence[Span], answer_span: Span) -> list[Span]:
    """Return the lines of the paragraph of a line, without a heading that is the first; [] if they are sentences."""
    text = passage.text
    first, last = paragraph_around(text, answer_span, passage.body)
    lines = [it for it in spans if first <= it[0] and it[1] <= last]
    written = [text[slice(*it)] for it in lines]
    are_lines = text[first:last].strip().split("\n") == written and not any(it[-1] in ".!?:;," for it in written)
    items = lines[is_bare_heading(question, passage, lines[0]) :]
    return items[:MAX_LIST_ITEMS] if are_lines and answer_span in items and len(items) >= _FEWEST_LINES else []


def _indent(text: str, span: Span) -> int:
    line = text[line_start(text, span[0]) : span[1]]
    return len(line) - len(line.lstrip())


def _list_around(question: str, passage: StoredPassage, spans: Sequence[Span], answer_span: Span) -> list[Span]:
    """Return the items of the list around a sentence, if they are about what the question asks, or the steps of it."""
    text = passage.text
    at = spans.index(answer_span)
    is_procedure = is_step(question, passage, answer_span)

    def continues(number: int) -> bool:
        is_paragraph_of_step = is_procedure and _indent(text, spans[number]) > 0
        return is_paragraph_of_step or continues_item(text, spans[number - 1], spans[number])

    first, last = at, at + 1
    for before in range(at - 1, -1, -1):
        if is_item(text, spans[before]):
            first = before
        elif not before or not continues(before):
            break
    while last < len(spans) and (is_item(text, spans[last]) or continues(last)):
        last += 1
    items = list(spans[first:last] if is_procedure else spans[first:last][:MAX_LIST_ITEMS])
    is_below = is_procedure and is_below_matching_heading(question, passage, answer_span)
    is_about = is_below or _is_about(question, passage, items, is_procedure=is_procedure)
    return items if len(items) > 1 and is_item(text, answer_span) and is_about else []


def _is_about(question: str, passage: StoredPassage, items: Sequence[Span], *, is_procedure: bool = False) -> bool:
    """Whether the text above the items of a list has at least half the question's terms.

    If it lacks some, no item may have any of the question's terms, unless they are the steps of a procedure. Of several
    things, a list tells where each is only if each is named.
    """
    text, topic = passage.text, terms(question)
    terms_above = terms(f"{passage.context} {passage.title} {text[: items[0][0]]}")
    is_above = 2 * len(topic & terms_above) >= len(topic) > 0
    is_whole = is_procedure or topic <= terms_above or topic.isdisjoint(terms(text[items[0][0] : items[-1][1]]))
    is_named = not _ASKS_WHERE.match(question) or all(":" in text[slice(*item)] for item in items)
    return is_above and is_whole and is_named


def is_item(text: str, span: Span) -> bool:
    """Whether a sentence is an item of a list, or a step."""
    line = line_start(text, span[0])
    return bool(LIST_MARKER.match(text[line : span[1]].lstrip())) or has_step_number(text, line)


def continues_item(text: str, span: Span, following: Span) -> bool:
    """Whether the following sentence continues the item of a sentence: on the same line, or on an indented one."""
    line = line_start(text, following[0])
    return line < following[0] and "\n\n" not in text[span[1] : following[0]]


def start_of_item(text: str, start: int) -> int:
    """Return where the line of a sentence begins if only a list marker is before it; else where the sentence does."""
    line = line_start(text, start)
    return line if LIST_MARKER.fullmatch(text[line:start].lstrip()) else start


def is_bare_heading(question: str, passage: StoredPassage, span: Span) -> bool:
    """Whether a sentence is the first line of a paragraph, and says no more than the question."""
    text, (start, end) = passage.text, span
    is_first = start == passage.body or text[:start].endswith("\n\n")
    is_line = is_first and text[end : end + 1] == "\n" and text[end + 1 : end + 2].strip() != ""
    return is_line and NO_STOP.match(text[start:end]) is not None and terms(text[start:end]) <= terms(question)


def is_bare_title(question: str, passage: StoredPassage, span: Span) -> bool:
    """Whether a sentence is a paragraph of its own without a stop, like a title, and says no more than the question."""
    text, (start, end) = passage.text, span
    is_alone = (start == passage.body or text[:start].endswith("\n\n")) and text.startswith("\n\n", end)
    return (
        is_alone
        and NO_STOP.match(text[start:end].strip("*_")) is not None
        and terms(text[start:end]) <= terms(question)
    )
