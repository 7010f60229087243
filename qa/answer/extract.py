"""Extract the sentences of a passage that answer.

The caller supplies the scores: from the reader, late interaction, or shared words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from corpus import code_spans, is_code, sentence_spans
from index import StoredPassage
from qa.answer.confidence import asks_yes_or_no
from qa.answer.results import Answer, Highlight
from qa.questions.bands import row_of_band
from qa.questions.numbered import numbered_in, of_the_things
from qa.questions.said import without_greetings
from qa.questions.steps import (
    asks_for_way,
    has_bare_number,
    is_below_topic,
    is_named,
    is_step,
    says_all,
    step_number,
    tasks,
    terms,
)
from qa.questions.values import MONTH, asks_for_several
from qa.reader.tables import tables

# A longer highlight would not point at anything in particular.
_MAX_HIGHLIGHT = 400
_MAX_HIGHLIGHTS = 3
_MAX_LIST_ITEMS = 10
# Further sentences are highlighted if they reach this share of the best one's score.
_NEARLY = 0.92
# The marker of a list item; the day of a date is none: "5. Mai 2023: Besuch".
_MARKER = re.compile(rf"(?:[•◦▪‣●○■□–—*+-]|\(?\d{{1,3}}[.)](?!\s{MONTH})|\(?(?:[A-Za-z]|[ivx]{2, 5})\))\s+")
# The date and time before the speaker in a chat: "[12/05/2024, 18:02] ", "12/05/2024, 18:02 - ".
_STAMP = r"(?:\[?(?:\d{1,4}[./-]\d\d?[./-]\d{1,4},?\s)?\d\d?:\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm]\.?)?\]?(?:\s[-–])?\s)?"
_TURN = re.compile(_STAMP + r"[^:\n]{1,30}:\s")
# A question, perhaps after its speaker. Terse notes that merely end in doubt are none: "paid 40, or was it 45?"
_ASKS = re.compile(
    _STAMP + r"(?:[^:\n]{1,30}:\s+)?+\W*(?:[^\W\d_a-zà-öø-ÿ]"
    r"|(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should)\b)"
    r".{0,160}\?",
    re.DOTALL,
)
# Questions for a reason, or for what follows.
_ASKS_FOR_REASON = re.compile(r"\W*(?:why|how come|what (?:if|happens|happened))\b", re.IGNORECASE)
_HOW_TO = re.compile(r"\W*how to\b[^.!?:\n]*", re.IGNORECASE)
# A heading that asks: "Why is it wet?", "How to open it", "Why only Ann".
_ASKS_AS_HEADING = re.compile(r".*\?\W*\Z|\W*(?:how to|why)\b", re.IGNORECASE)
# The end of a sentence that a list completes: "The file is refused if".
_UNFINISHED = re.compile(r"\b(?:if|when|unless|and|or|are|is|to|the|with|for|of|that|by|from)\s*\Z")
# A sentence that says no more than yes or no: "Yes.", "text: No!", "Anna: Of course."
_YES_OR_NO = re.compile(
    r"(?:[^:\n]{1,30}: +)?(?:yes|no|yep|nope|yeah|sure|of course|certainly|correct|exactly|not at all)[.!]",
    re.IGNORECASE,
)
# Characters that may follow the question mark at the end of a sentence.
_CLOSING = " \n*_`\"'”’»)"
# A year, version or rating: "2024", "2024/25", "2.1.4", "5/5".
_NUMBER = re.compile(r"(?<![\d.,/-])(?:\d+(?:[./]\d+)+|(?:19|20)\d\d)(?![\w/]|[.,]\d)")
# A field of front matter other than the title, with its continuation lines.
_FIELD = re.compile(r"^(?!---|\.\.\.|title:)(?=[^\s#])[^\n:]+:.*(?:\n(?:[ \t]+\S|- ).*)*", re.MULTILINE)
# Where an over-long sentence is cut: after a semicolon or before an item, as in "; or (iv) was", else at any blank.
_CLAUSE = re.compile(r";\s+|[:,]\s+(?=(?:(?:and|or)\s+)?\((?:[a-zA-Z]|[ivx]{1,5}|\d{1,2})\)\s)")
_BLANK = re.compile(r"\s+")

# Scores how well part of a passage's text answers, by its first character, after the headings, and one past its last.
SpanScore = Callable[[int, int], float]


@dataclass(frozen=True, slots=True)
class Extract:
    """The answering sentences of one passage.

    Attributes:
        highlights: Best first; the items of a list after the sentence that introduces it.
        score: The best sentence's score.
        lead: Its characters in the passage's text, end exclusive.
        answer: Its text, with the list that it introduces.
        name: The part of `answer` that answers, if that is known.
        names_question: Whether it is all of a list of steps or tasks, and what is above that names all of the question,
            or the step or dated heading that does.
    """

    highlights: tuple[Highlight, ...] = ()
    score: float = 0.0
    lead: tuple[int, int] = (0, 0)
    answer: str = ""
    name: str = ""
    names_question: bool = False

    @property
    def has_list(self) -> bool:
        """Whether the best sentence introduces a list."""
        return len(self.answer) > self.lead[1] - self.lead[0]


def extract(passage: StoredPassage, score: SpanScore, question: str = "", *, looked_up: int | None = None) -> Extract:
    """Choose the sentences of a passage that answer; the one at character `looked_up`, if given, is the best."""
    text, base = passage.text, passage.start
    spans = (passage.is_front_matter and _fields(text)) or _sentences(
        text, passage.body, passage.context, by_line=is_code(passage.document.path, text)
    )
    if not spans:
        return Extract()
    spans = without_greetings(question, passage, spans)
    boxes = tasks(question, text, spans)[:_MAX_LIST_ITEMS] if looked_up is None else []
    scored = sorted((-round(score(start, end), 9), start, end) for start, end in boxes or spans)
    if passage.is_front_matter:
        topic_terms = terms(question)
        scored.sort(key=lambda one: not _is_named(text[one[1] : text.find(":", one[1])], topic_terms))
    if looked_up is not None:
        scored.sort(key=lambda one: looked_up >= one[2] or looked_up < one[1])
    negative, *first = scored[0]
    lead = (first[0], first[1])
    if looked_up is None:
        best_first = [(one[1], one[2]) for one in scored]
        lead = of_the_things(numbered_in(question), passage, _with_number(question, text, best_first), best_first)
        lead = _answering(text, spans, lead)
    best_step, items = lead, _list_after(text, spans, lead)
    items = items if items and is_step(question, passage, items[0]) else items[:_MAX_LIST_ITEMS]
    whole = boxes or ([] if looked_up is not None else _whole_list(question, passage, spans, lead))
    if whole:
        lead, items = whole[0], whole[1:]
    elif looked_up is None and not items and _asks_for_explanation(question):
        lead = _all_below_its_question(question, passage, spans, lead)
    elif looked_up is None and not items:
        lead = row_of_band(passage, question, spans, lead)
    top = (whole or items or [lead])[0]
    is_way = bool(boxes or (items and is_step(question, passage, top)))
    near = [(start, end) for other, start, end in scored[1:_MAX_HIGHLIGHTS] if other <= _NEARLY * negative < 0]
    further = [span for span in near if span[1] <= lead[0] or span[0] >= lead[1]]
    highlights = (Highlight((base + start, base + end), text[start:end]) for start, end in (lead, *(items or further)))
    lead_with_list = text[_with_marker(text, lead[0]) : items[-1][1]] if items else text[slice(*lead)]
    answer = "\n".join(text[start:end] for start, end in boxes) if boxes else lead_with_list
    names_question = (is_way and is_named(question, passage, top[0])) or says_all(question, passage, best_step)
    return Extract(tuple(highlights), -negative, lead, answer, names_question=names_question)


def steps(passage: StoredPassage, *, is_first: bool) -> Extract:
    """Extract the steps of a passage with a part of a numbered list: the last ones if it is the first part."""
    text = passage.text
    spans = _sentences(text, passage.body, passage.context)
    runs: list[list[int]] = []
    before = 0
    for at, (start, _) in enumerate(spans):
        number = step_number(text, start)
        if number is not None:
            runs += [] if runs and number == before + 1 else [[]]
            runs[-1].append(at)
            before = number
    if not runs:  # a number may be within what counts as one sentence
        return Extract()
    run = runs[-1 if is_first else 0]
    last = run[-1]
    while last + 1 < len(spans) and _continues(text, spans[last], spans[last + 1]):
        last += 1
    items = spans[run[0] : last + 1]
    highlights = (Highlight((passage.start + start, passage.start + end), text[start:end]) for start, end in items)
    return Extract(tuple(highlights), 0.0, items[0], text[_with_marker(text, items[0][0]) : items[-1][1]])


def all_steps(
    parts: Sequence[StoredPassage], passages: Sequence[StoredPassage], extracts: Mapping[int, Extract]
) -> Answer | None:
    """Answer with the steps of all parts of a list that are among the passages shown; None if none is."""
    ranks = {one.id: rank for rank, one in enumerate(passages, start=1)}
    shown = [(ranks[one.id], extracts[one.id].answer) for one in parts if one.id in ranks and extracts[one.id].answer]
    text = "\n".join(answer for _, answer in shown)
    by_line = tuple((rank,) for rank, answer in shown for _ in answer.split("\n"))
    cited = tuple(sorted(rank for rank, _ in shown))
    return Answer(text, cited, sentence=text, cited_by_line=by_line) if shown else None


def _all_below_its_question(
    question: str, passage: StoredPassage, spans: Sequence[tuple[int, int]], lead: tuple[int, int]
) -> tuple[int, int]:
    """Return all that is below a question or heading that asks the same, if it is short; else the sentence.

    It asks the same if the sentence has no word of the question that it lacks itself.
    """
    text, first = passage.text, spans.index(lead)
    last, asked = first, ""
    while first and not asked:
        if _is_question(text, spans[first - 1]):
            asked = text[slice(*spans[first - 1])]
        elif _is_apart(text, spans[first - 1], spans[first]):
            break
        else:
            first -= 1
    if asked:
        while last + 1 < len(spans) and not _is_apart(text, spans[last], spans[last + 1]):
            last += 1
    elif passage.body and _ASKS_AS_HEADING.match(heading := passage.context.rsplit(" › ", 1)[-1]):
        first, last, asked = 0, len(spans) - 1, heading
    start, end = spans[first][0], spans[last][1]
    shared = terms(question) & terms(asked)
    is_same = bool(shared) and not (terms(question) & terms(text[slice(*lead)])) - shared
    return (start, end) if is_same and end - start <= _MAX_HIGHLIGHT else lead


def _is_apart(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether a sentence is in another paragraph, item or turn of a talk than the one before it, or is a question."""
    between = text[one[1] : other[0]]
    is_new = "\n" in between and (_is_item(text, other) or _TURN.match(text, *other))
    return "\n\n" in between or bool(is_new) or _is_question(text, other)


def _asks_for_explanation(question: str) -> bool:
    """Whether a question asks for a way, a reason, what follows, or yes or no."""
    return asks_for_way(question) or _ASKS_FOR_REASON.match(question) is not None or asks_yes_or_no(question)


def _is_question(text: str, span: tuple[int, int]) -> bool:
    """Whether a sentence is a question, or a line such as "How to open it"."""
    sentence = text[slice(*span)]
    return bool(_ASKS.fullmatch(sentence.rstrip(_CLOSING)) or _HOW_TO.fullmatch(sentence))


def _with_number(question: str, text: str, scored: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the best sentence, or if it is an item or row with another year, the best one with the question's."""
    best = scored[0]
    if not (_is_item(text, best) or "|" in text[slice(*best)]):
        return best
    asked, own, *others = (set(_NUMBER.findall(part)) for part in (question, *(text[slice(*span)] for span in scored)))
    fitting = [span for span, numbers in zip(scored[1:], others, strict=True) if asked & numbers]
    return fitting[0] if fitting and own.isdisjoint(asked) and own else best


def _answering(text: str, spans: Sequence[tuple[int, int]], best: tuple[int, int]) -> tuple[int, int]:
    """Return the best sentence, or if it is a question, the first one after it that is none."""
    after = spans[spans.index(best) :]
    return next((span for span in after if not _is_question(text, span)), best)


def _list_after(text: str, spans: Sequence[tuple[int, int]], lead: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the items of the list that a sentence introduces by a final colon, or that ends it, if any."""
    is_open = not _is_item(text, lead) and _UNFINISHED.search(text[slice(*lead)]) is not None
    if not (is_open or text[lead[0] : lead[1]].rstrip().endswith(":")):
        return []
    items: list[tuple[int, int]] = []
    for start, end in spans[spans.index(lead) + 1 :]:
        line = text.rfind("\n", 0, start) + 1
        is_item = _with_marker(text, start) < start or has_bare_number(text, line)
        continues_item = items and _continues(text, items[-1], (start, end))
        if not (is_item or continues_item):
            break
        items.append((start, end))
    return items


def _whole_list(
    question: str, passage: StoredPassage, spans: Sequence[tuple[int, int]], lead: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return the list around a sentence if the question asks for several things, or for a way of which it is a step."""
    below = spans[spans.index(lead) + 1 :][:1]
    # A line above a list, such as a heading without marks.
    is_title = not _is_item(passage.text, lead) and passage.text[lead[1] - 1] not in ".!?:"
    several = asks_for_several(question)
    if below and is_title and (several or is_step(question, passage, below[0])):
        lead = below[0]
    is_asked = several or is_step(question, passage, lead)
    return _list_around(question, passage, spans, lead) if is_asked else []


def _list_around(
    question: str, passage: StoredPassage, spans: Sequence[tuple[int, int]], lead: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return the items of the list around a sentence, if the question's topic is named above them.

    If that names only part of the topic, none of the items may name any of it, unless they are the steps of a way.
    """
    text = passage.text
    at = spans.index(lead)
    is_way = is_step(question, passage, lead)
    first, last = at, at + 1
    for before in range(at - 1, -1, -1):
        if _is_item(text, spans[before]):
            first = before
        elif not before or not _continues(text, spans[before - 1], spans[before]):
            break
    while last < len(spans) and (_is_item(text, spans[last]) or _continues(text, spans[last - 1], spans[last])):
        last += 1
    items = list(spans[first:last] if is_way else spans[first:last][:_MAX_LIST_ITEMS])
    topic_terms = terms(question)
    above = terms(f"{passage.context} {passage.title} {text[: items[0][0]]}")
    is_above = 2 * len(topic_terms & above) >= len(topic_terms) > 0
    is_above = is_above or (is_way and is_below_topic(question, passage, lead))
    is_whole = is_way or topic_terms <= above or topic_terms.isdisjoint(terms(text[items[0][0] : items[-1][1]]))
    return items if len(items) > 1 and _is_item(text, lead) and is_above and is_whole else []


def _is_item(text: str, span: tuple[int, int]) -> bool:
    line = text.rfind("\n", 0, span[0]) + 1
    return bool(_MARKER.match(text[line : span[1]].lstrip())) or has_bare_number(text, line)


def _continues(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether a sentence continues the item that the one before it is of: on the same line, or on an indented one."""
    line = text.rfind("\n", 0, other[0]) + 1
    return line < other[0] and "\n\n" not in text[one[1] : other[0]]


def _with_marker(text: str, start: int) -> int:
    """Return the start of the line of a sentence that follows the marker of an item; of another sentence, its own."""
    line = text.rfind("\n", 0, start) + 1
    return line if _MARKER.fullmatch(text[line:start].lstrip()) else start


def _sentences(text: str, body: int, context: str, *, by_line: bool = False) -> list[tuple[int, int]]:
    """Return the sentences after a text's headings and the rows of its tables, without list markers; cut long ones.

    A mere "yes" or "no" is one sentence with the next. In code, given `by_line`, each line is one.
    """
    found: list[tuple[int, int]] = []
    for first, end in code_spans(text, body) if by_line else _sentences_and_rows(text, body, context):
        marker = _MARKER.match(text, first, end)
        start = marker.end() if marker else first
        if not marker and found and _is_yes_or_no(text, found[-1]) and "\n\n" not in text[found[-1][1] : first]:
            start = found.pop()[0]
        while end - start > _MAX_HIGHLIGHT:
            most = start + _MAX_HIGHLIGHT
            breaks = [m.end() for mark in (_BLANK, _CLAUSE) for m in mark.finditer(text, start, most)]
            stop = breaks[-1] if breaks else most
            found.append((start, start + len(text[start:stop].rstrip())))
            # The cut may be inside a word, or before a blank.
            start = stop + len(text[stop:end]) - len(text[stop:end].lstrip())
        found.append((start, end))
    return found


def _is_yes_or_no(text: str, span: tuple[int, int]) -> bool:
    return _YES_OR_NO.fullmatch(text, *span) is not None


def _fields(text: str) -> list[tuple[int, int]]:
    """Return the fields of front matter but the title, which is the subject of questions, not their answer."""
    return [(field.start(), field.start() + len(field[0].rstrip())) for field in _FIELD.finditer(text)]


def _is_named(field: str, topic_terms: set[str]) -> bool:
    name = terms(field)
    return bool(name) and name <= topic_terms


def _sentences_and_rows(text: str, body: int, context: str) -> Iterator[tuple[int, int]]:
    done = body
    for table in tables(text, context):
        yield from sentence_spans(text, done, max(done, table.span[0]))
        for cells in table.rows:
            if filled := [cell for cell in cells if cell[0] < cell[1]]:
                yield filled[0][0], filled[-1][1]
        done = table.span[1]
    yield from sentence_spans(text, done)
