"""Extract the sentences of a passage that answer: of a paragraph about rent, the one that says when it is due.

The caller supplies the scores: from the reader, late interaction, or shared words. Rules may prefer another sentence to
the best-scored one, such as the field that the question names, or extend it to the whole list that it introduces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpus import lazy_pattern
from index import StoredPassage
from qa.answer.confidence import asks_yes_or_no
from qa.answer.results import Answer, Highlight
from qa.language.terms import has_form_of, terms
from qa.language.values import Span, line_start
from qa.questions.answering_section import asks_why
from qa.questions.lists import (
    MAX_LIST_ITEMS,
    NO_STOP,
    continues_item,
    is_bare_heading,
    is_item,
    list_after,
    start_of_item,
    whole_list,
)
from qa.questions.long_numbers import plain_numbers
from qa.questions.numbered import numbered_items_in, prefer_span_about_items
from qa.questions.sender import topic_of_sender, without_greetings
from qa.questions.steps import (
    asks_for_command,
    asks_how_to,
    asks_to_look,
    command_topic,
    does_what_is_asked,
    headings_name_topic,
    is_step,
    requested_tasks,
    step_covers_question,
    step_number,
)
from qa.structure.candidate_spans import LONGEST_SPAN, candidate_spans, line_before, without_marker
from qa.structure.code_blocks import CodeBlock, code_blocks, without_fences
from qa.structure.speakers import turns

_MAX_HIGHLIGHTS = 3
# Further sentences are highlighted if they reach this share of the best one's score.
_NEARLY = 0.92
# The date and time before the speaker in a chat: "[12/05/2024, 18:02] ", "12/05/2024, 18:02 - ".
_DAY = r"\d{1,4}[./-]\d\d?[./-]\d{1,4}"
_CLOCK = r"\d\d?:\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm]\.?)?\]?(?:\s[-–])?\s"
_STAMP = rf"(?:\[?(?:{_DAY},?\s)?{_CLOCK})?"
_TURN = lazy_pattern(_STAMP + r"[^:\n]{1,30}:\s")
# The same, but surely of a chat rather than of a schedule or a log.
_MESSAGE = lazy_pattern(rf"(?:\[{_DAY},?|{_DAY},)\s{_CLOCK}(?P<sender>[^:\n]{{1,30}}:\s+)")
# Questions that a sender may answer, and those that the time of a message may answer.
_ASKS_FOR_NAME = lazy_pattern(r"\b(?:who|whom|whose|which|names?)\b", re.IGNORECASE)
_ASKS_WHEN_IT_WAS = lazy_pattern(
    r"\b(?:when|time|date|day)\b.*\b(?:did|had|was|were|wrote|sent|messages?)\b", re.IGNORECASE | re.DOTALL
)
# A question, perhaps after its speaker, but not a terse note that merely ends in doubt: "paid 40, or was it 45?"
_ASKS = lazy_pattern(
    _STAMP + r"(?:[^:\n]{1,30}:\s+)?+\W*(?:[^\W\d_a-zà-öø-ÿ]"
    r"|(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should)\b)"
    r".{0,160}\?",
    re.DOTALL,
)
# A question with a question word, and questions that such a question may answer.
_ASKS_OPENLY = lazy_pattern(
    _STAMP + r"(?:[^:\n]{1,30}:\s+)?+\W*(?P<word>who|whom|whose|what|which|when|where|why|how)\b"
    r"(?! (?:i|we|you|he|she|it|they|the|this)\b)[^?]{0,160}\?",
    re.IGNORECASE,
)
_ASKS_FOR_QUESTION = lazy_pattern(r"\b(?:ask|question|quer(?:y|ies)|wonder|want(?:s|ed)? to know)", re.IGNORECASE)
# Questions for a reason, or for what follows.
_ASKS_FOR_REASON = lazy_pattern(r"\W*(?:why|how come|what (?:if|happens|happened))\b", re.IGNORECASE)
_THEREFORE = terms("therefore thus hence")
_HOW_TO = lazy_pattern(r"\W*how to\b[^.!?:\n]*", re.IGNORECASE)
# A heading that asks: "Why is it wet?", "How to open it", "Why only Ann".
_ASKS_AS_HEADING = lazy_pattern(r".*\?\W*\Z|\W*(?:how to|why)\b", re.IGNORECASE)
# Characters that may follow the question mark at the end of a sentence.
_CLOSING = " \n*_`\"'”’»)"
# A heading at the beginning of a paragraph, and a line that is no sentence.
_RUN_IN = lazy_pattern(r"(?P<mark>[*_]{1,3})(?=\S)[^*_\n?]{1,60}(?P=mark)[.:]?")
# A sentence that only says how what is before it has changed: "Raised to 7.10 from 1 May."
_CHANGED_SINCE = lazy_pattern(
    r"\W*(?:(?:it|now|since|then|this) ){0,2}(?:(?:has|have) been |is |was |were )?(?:now |since |then )?"
    r"(?:changed|cut|extended|increased|lowered|moved|postponed|put (?:back|off|up)|raised|reduced|replaced)\b"
    r"[^\n]{0,60}?\bto\b[^\n]{0,30}?\d",
    re.IGNORECASE,
)

# Scores how well a span of a passage's text answers; arguments: its first character, and one past its last.
SpanScore = Callable[[int, int], float]


@dataclass(frozen=True, slots=True)
class Extract:
    """The answering sentences of one passage.

    Attributes:
        highlights: Best first; the items of a list after the sentence that introduces it.
        score: The best sentence's score.
        answer_span: Its characters in the passage's text, end exclusive.
        answer: Its text, with the list that it introduces.
        name: The part of `answer` that answers, if that is known.
        is_certain: Whether the answer surely is about what the question asks: a whole list of steps or tasks below
            headings with all words of its topic, or a step or dated heading that has them.
    """

    highlights: tuple[Highlight, ...] = ()
    score: float = 0.0
    answer_span: Span = (0, 0)
    answer: str = ""
    name: str = ""
    is_certain: bool = False

    @property
    def has_list(self) -> bool:
        """Whether the best sentence introduces a list."""
        return len(self.answer) > self.answer_span[1] - self.answer_span[0]


class Block(NamedTuple):
    """A block that answers: its passage, the lines to highlight, and its text."""

    passage: StoredPassage
    lines: tuple[Span, ...]
    text: str


def extract(passage: StoredPassage, score: SpanScore, question: str = "", *, looked_up: int | None = None) -> Extract:
    """Choose the sentences of a passage that answer; the one at character `looked_up`, if given, is the best."""
    text = passage.text
    spans = candidate_spans(passage)
    if not spans:
        return Extract()
    spans = without_greetings(question, passage, spans)
    # Scores are negated, so that the best sentence is the first, and of several with the same score the earliest.
    scored = sorted((-round(score(start, end), 9), start, end) for start, end in spans)
    boxes = requested_tasks(question, text, spans, scored[0][1:])[:MAX_LIST_ITEMS] if looked_up is None else []
    scored = [it for it in scored if it[1:] in boxes] or scored
    if passage.is_front_matter:
        question_terms = terms(question)
        scored.sort(key=lambda it: not _is_field_named(text[it[1] : text.find(":", it[1])], question_terms))
    if topic := terms(topic_of_sender(question, passage)):
        scored.sort(key=lambda it: not topic <= terms(text[it[1] : it[2]]))
    if looked_up is not None:
        scored.sort(key=lambda it: looked_up >= it[2] or looked_up < it[1])
    best_score, best_first = scored[0][0], [(start, end) for _, start, end in scored]
    below = () if passage.is_front_matter else spans  # a field is not the heading of the next one
    answer_span = best_first[0] = _below_run_in_heading(question, text, below, best_first[0])
    # The paragraph takes the place of its sentences.
    best_first[1:] = (it for it in best_first[1:] if it[1] <= answer_span[0] or it[0] >= answer_span[1])
    spans = sorted(best_first)
    if looked_up is None:
        answer_span = _prefer_sentence_with_long_number(question, text, best_first)
        answer_span = prefer_span_about_items(numbered_items_in(question), passage, answer_span, best_first)
        answer_span = _skip_questions(text, spans, answer_span)
        answer_span = _skip_bare_heading(question, passage, spans, answer_span)
    command = None if looked_up is not None else _command_at(question, passage, answer_span)
    if command is not None:
        return _extract_command(question, passage, command, -best_score)
    best_step, items = answer_span, list_after(text, spans, answer_span)
    items = items if items and is_step(question, passage, items[0]) else items[:MAX_LIST_ITEMS]
    whole = boxes or ([] if looked_up is not None else whole_list(question, passage, spans, answer_span))
    if whole:
        answer_span, items = whole[0], whole[1:]
    elif looked_up is None and not items and _asks_for_explanation(question):
        answer_span = _skip_bare_fact(question, text, spans, answer_span, score)
        answer_span = _prefer_whole_explanation(question, passage, spans, answer_span)
    elif looked_up is None and not items:
        answer_span = _with_change(text, spans, answer_span)
    top = (whole or items or [answer_span])[0]
    is_procedure = bool(boxes or (items and is_step(question, passage, top)))
    near = [(start, end) for negated, start, end in scored[1:_MAX_HIGHLIGHTS] if negated <= _NEARLY * best_score < 0]
    further = [span for span in near if span[1] <= answer_span[0] or span[0] >= answer_span[1]]
    marked = (answer_span, *(items or further))
    highlights = (Highlight.of(passage, span) for span in marked)
    with_list = _with_items(passage, answer_span[0], items[-1][1]) if items else text[slice(*answer_span)]
    answer = "\n".join(text[start:end] for start, end in boxes) if boxes else with_list
    is_certain = is_procedure and headings_name_topic(question, passage, top[0])
    is_certain = is_certain or step_covers_question(question, passage, best_step)
    return Extract(tuple(highlights), -best_score, answer_span, answer, is_certain=is_certain)


def extract_steps(passage: StoredPassage, *, is_first: bool) -> Extract:
    """Extract the steps in a passage with part of a numbered list: its first run of numbers, or its last one.

    The list begins with the last run of the passage that has its first part; other passages continue it.
    """
    text = passage.text
    spans = candidate_spans(passage)
    runs: list[list[int]] = []
    before = 0
    for at, (start, _) in enumerate(spans):
        number = step_number(text, start)
        if number is not None:
            runs += [] if runs and number == before + 1 else [[]]
            runs[-1].append(at)
            before = number
    if not runs:  # the number may be in the middle of a sentence, as these are split
        return Extract()
    run = runs[-1 if is_first else 0]
    last = run[-1]
    while last + 1 < len(spans) and continues_item(text, spans[last], spans[last + 1]):
        last += 1
    items = spans[run[0] : last + 1]
    highlights = tuple(Highlight.of(passage, item) for item in items)
    return Extract(highlights, 0.0, items[0], _with_items(passage, items[0][0], items[-1][1]))


def steps_answer(
    parts: Sequence[StoredPassage], passages: Sequence[StoredPassage], extracts: Mapping[int, Extract]
) -> Answer | None:
    """Answer with the steps of a list from those of its passages that are shown; None if none is."""
    ranks = {passage.id: rank for rank, passage in enumerate(passages, start=1)}
    answers = ((ranks[part.id], extracts[part.id].answer) for part in parts if part.id in ranks)
    shown = [(rank, answer) for rank, answer in answers if answer]
    text = "\n".join(answer for _, answer in shown)
    by_line = tuple((rank,) for rank, answer in shown for _ in answer.split("\n"))
    cited = tuple(sorted(rank for rank, _ in shown))
    return Answer(text, cited, sentence=text, cited_by_line=by_line) if shown else None


def _command_at(question: str, passage: StoredPassage, answer_span: Span) -> CodeBlock | None:
    """Return the block of code that a sentence introduces or is part of, if the question may ask for a command.

    A line that has all words of the question answers alone. How to find or see something is no command that does
    something else with it.
    """
    topic, text = command_topic(question), passage.text
    is_introduction = text[answer_span[1] - 1] == ":"
    if topic is None or (terms(topic) <= terms(text[slice(*answer_span)]) and not is_introduction):
        return None
    for block in code_blocks(text, passage.body, passage.document.media_type):
        is_next = answer_span < block.span and not text[answer_span[1] : block.span[0]].strip()
        if answer_span in block.lines or (is_introduction and is_next):
            line = line_before(text, passage.body, block.span[0]).rpartition(". ")[2]
            return block if not asks_to_look(topic) or does_what_is_asked(topic, line) else None
    return None


def _extract_command(question: str, passage: StoredPassage, block: CodeBlock, score: float) -> Extract:
    """Extract the commands of a block of code."""
    highlights = tuple(Highlight.of(passage, command) for command in block.commands)
    span = block.commands[0][0], block.commands[-1][1]
    return Extract(highlights, score, span, block.text, name=block.text if asks_for_command(question) else "")


def _skip_bare_fact(question: str, text: str, spans: Sequence[Span], best: Span, score: SpanScore) -> Span:
    """Return the best sentence; if it only states what the question asks why it is, the better sentence beside it."""
    asked, at = terms(question), spans.index(best)
    stated = terms(text[slice(*skip_stamp(question, text, best))]) - _THEREFORE
    is_bare = 2 * len(stated) >= len(asked) > 0 and all(has_form_of(term, asked) for term in stated)
    if not is_bare or not asks_why(question):
        return best
    beside = [spans[at - 1]] if at and not _is_apart(text, spans[at - 1], best) else []
    beside += [it for it in spans[at + 1 : at + 2] if not _is_apart(text, best, it)]
    return max(beside, key=lambda span: score(*span), default=best)


def _prefer_whole_explanation(question: str, passage: StoredPassage, spans: Sequence[Span], answer_span: Span) -> Span:
    """Return the whole text below a question or heading that asks the same, if it is short; else the given sentence.

    It asks the same if it has every word of the question that the sentence has.
    """
    text, first = passage.text, spans.index(answer_span)
    last, asks_same = first, ""
    while first and not asks_same:
        if _is_question(text, spans[first - 1]):
            asks_same = text[slice(*spans[first - 1])]
        elif _is_apart(text, spans[first - 1], spans[first]):
            break
        else:
            first -= 1
    if asks_same:
        while last + 1 < len(spans) and not _is_apart(text, spans[last], spans[last + 1]):
            last += 1
    elif passage.body and _ASKS_AS_HEADING.match(heading := passage.context.rsplit(" › ", 1)[-1]):
        first, last, asks_same = 0, len(spans) - 1, heading
    start, end = spans[first][0], spans[last][1]
    shared = terms(question) & terms(asks_same)
    is_same = bool(shared) and not (terms(question) & terms(text[slice(*answer_span)])) - shared
    return (start, end) if is_same and end - start <= LONGEST_SPAN else answer_span


def _is_apart(text: str, span: Span, following: Span) -> bool:
    """Whether the following sentence begins a paragraph, a list item or a speaker's turn, or is a question."""
    between = text[span[1] : following[0]]
    is_new = "\n" in between and (is_item(text, following) or _TURN.match(text, *following))
    return "\n\n" in between or bool(is_new) or _is_question(text, following)


def _asks_for_explanation(question: str) -> bool:
    """Whether a question asks how, why, what would happen, or for yes or no."""
    return asks_how_to(question) or _ASKS_FOR_REASON.match(question) is not None or asks_yes_or_no(question)


def _is_question(text: str, span: Span) -> bool:
    """Whether a sentence is a question, or a line such as "How to open it"."""
    sentence = text[slice(*span)]
    return bool(_ASKS.fullmatch(sentence.rstrip(_CLOSING)) or _HOW_TO.fullmatch(sentence))


def only_asks(question: str, text: str, span: Span) -> bool:
    """Whether a sentence only asks what a question asks: it has the same question word, and a term of it."""
    asks = _ASKS_OPENLY.fullmatch(text[slice(*span)].rstrip(_CLOSING))
    if asks is None or _ASKS_FOR_QUESTION.search(question):
        return False
    is_same = re.search(rf"\b{asks['word']}\b", question, re.IGNORECASE) is not None
    return is_same and not terms(question).isdisjoint(terms(asks[0]))


def skip_stamp(question: str, text: str, sentence: Span) -> Span:
    """Return a sentence without the time and the sender of a chat message, unless the question may be for them."""
    message = _MESSAGE.match(text, *sentence)
    if _ASKS_WHEN_IT_WAS.search(question):
        return sentence
    if message is None:
        words = next((turn.words[0] for turn in turns(text) if turn.line[0] == sentence[0]), sentence[0])
        return sentence if _ASKS_FOR_NAME.search(question) or words >= sentence[1] else (words, sentence[1])
    return message.start("sender") if _ASKS_FOR_NAME.search(question) else message.end(), sentence[1]


def _prefer_sentence_with_long_number(question: str, text: str, best_first: Sequence[Span]) -> Span:
    """Return the best sentence; if it has another long number than the question, the best with that one."""
    asked, best = plain_numbers(question), best_first[0]
    if not asked or not plain_numbers(text[slice(*best)]) - asked:
        return best
    return next((span for span in best_first if asked & plain_numbers(text[slice(*span)])), best)


def _below_run_in_heading(question: str, text: str, spans: Sequence[Span], best: Span) -> Span:
    """Return the best sentence; if it is a heading that the question names, the rest of its paragraph.

    That is the next sentence, if the paragraph is long: "**Side effects.** Common: headache."
    """
    line = without_marker(text[line_start(text, best[0]) : best[1]].strip())
    is_marked = _RUN_IN.fullmatch(text[slice(*best)]) is not None
    is_line = line == text[slice(*best)].strip() and text[best[1] : best[1] + 1] == "\n" and NO_STOP.search(line)
    named = terms(text[slice(*best)])
    # A longer name may have one more word than the question: "Possible side effects".
    is_named = 3 * len(named - terms(question)) <= len(named)
    following = [span for span in spans if span[0] >= best[1]]
    if not (is_marked or is_line) or not named or not is_named or not following or asks_how_to(question):
        return best
    end = text.find("\n\n", best[1])
    below = [span for span in following if end < 0 or span[1] <= end]
    if not below or "\n\n" in text[best[1] : below[0][0]] or is_item(text, below[0]):
        return best
    whole = below[0][0], below[-1][1]
    return whole if whole[1] - whole[0] <= LONGEST_SPAN else below[0]


def _skip_bare_heading(question: str, passage: StoredPassage, spans: Sequence[Span], best: Span) -> Span:
    """Return the best sentence, or if it is a heading without more words than the question, the next sentence.

    How to do something is not in any sentence below it.
    """
    after = spans[spans.index(best) + 1 :]
    is_skipped = bool(after) and not asks_how_to(question) and is_bare_heading(question, passage, best)
    return after[0] if is_skipped else best


def _with_change(text: str, spans: Sequence[Span], best: Span) -> Span:
    """Return the best sentence, up to the next one or the one after it if that says how a value has changed."""
    previous = best
    for span in [span for span in spans if span[0] >= best[1]][:2]:
        if _is_apart(text, previous, span) or not any(map(str.isdigit, text[slice(*best)])):
            break
        if _CHANGED_SINCE.match(text, *span):
            return best[0], span[1]
        previous = span
    return best


def _skip_questions(text: str, spans: Sequence[Span], best: Span) -> Span:
    """Return the best sentence, or if it is a question, the next sentence that is not."""
    after = spans[spans.index(best) :]
    return next((span for span in after if not _is_question(text, span)), best)


def _with_items(passage: StoredPassage, start: int, end: int) -> str:
    """Return the text of a list, or of a sentence and its list, without fences of code."""
    text = passage.text
    blocks = code_blocks(text, passage.body, passage.document.media_type)
    return without_fences(text, (start_of_item(text, start), end), blocks)


def _is_field_named(field: str, topic_terms: set[str]) -> bool:
    name = terms(field)
    return bool(name) and name <= topic_terms
