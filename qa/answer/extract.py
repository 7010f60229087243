"""Extract the sentences of a passage that answer: of a paragraph about rent, the one that says when it is due.

The caller supplies the scores: from the reader, late interaction, or shared words. Rules may prefer another sentence to
the best-scored one, such as the field that the question names, or extend it to the whole list that it introduces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from corpus import lazy_pattern
from index import StoredPassage
from qa.answer.confidence import asks_yes_or_no
from qa.answer.results import Answer, Highlight
from qa.language.spans import Span
from qa.language.terms import terms
from qa.questions.answering_sentence import below_run_in_heading, explaining_sentence, preferred_sentence, with_change
from qa.questions.lists import (
    MAX_LIST_ITEMS,
    continues_item,
    list_after,
    list_below,
    start_of_item,
    whole_list,
)
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
from qa.structure.candidate_spans import LONGEST_SPAN, SpanScore, candidate_spans, line_before
from qa.structure.code_blocks import CodeBlock, code_blocks, without_fences

_MAX_HIGHLIGHTS = 3
# Further sentences are highlighted if they reach this share of the best one's score.
_NEARLY = 0.92
# Questions for a reason, or for what follows.
_ASKS_FOR_REASON = lazy_pattern(r"\W*(?:why|how come|what (?:if|happens|happened))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Extract:
    """The answering sentences of one passage.

    Attributes:
        highlights: Best first; a short list as a whole, with what introduces it.
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


def extract(
    passage: StoredPassage,
    score: SpanScore,
    question: str = "",
    *,
    looked_up: int | None = None,
    share: SpanScore = lambda *_: 1.0,
) -> Extract:
    """Choose the sentences of a passage that answer.

    Args:
        passage: The passage.
        score: Scores its sentences.
        question: The question.
        looked_up: The character of what is looked up; the sentence with it is the best.
        share: The probability that an answer is in a sentence, by the reader.
    """
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
    answer_span = best_first[0] = below_run_in_heading(question, text, below, best_first[0])
    # The paragraph takes the place of its sentences.
    best_first[1:] = (it for it in best_first[1:] if it[1] <= answer_span[0] or it[0] >= answer_span[1])
    spans = sorted(best_first)
    answer_span = preferred_sentence(question, passage, best_first, is_lookup=looked_up is not None)
    command = None if looked_up is not None else _command_at(question, passage, answer_span)
    if command is not None:
        return _extract_command(question, passage, command, -best_score)
    best_step, items = answer_span, list_after(text, spans, answer_span)
    items = items if items and is_step(question, passage, items[0]) else items[:MAX_LIST_ITEMS]
    find_list = partial(whole_list, share=share) if looked_up is None else list_below
    whole = boxes or find_list(question, passage, spans, answer_span)
    if whole:
        answer_span, items = whole[0], whole[1:]
    elif looked_up is None and not items and _asks_for_explanation(question):
        answer_span = explaining_sentence(question, passage, spans, answer_span, score)
    elif looked_up is None and not items:
        answer_span = with_change(text, spans, answer_span)
    top = (whole or items or [answer_span])[0]
    is_procedure = bool(boxes or (items and is_step(question, passage, top)))
    near = [(start, end) for negated, start, end in scored[1:_MAX_HIGHLIGHTS] if negated <= _NEARLY * best_score < 0]
    further = [span for span in near if span[1] <= answer_span[0] or span[0] >= answer_span[1]]
    marked: Sequence[Span] = (answer_span, *(items or further))
    if items and not boxes:
        marked = _mark_list(text, marked, is_introduced=not whole)
    highlights = (Highlight.of(passage, span) for span in marked)
    with_list = _with_items(passage, answer_span[0], items[-1][1]) if items else text[slice(*answer_span)]
    answer = "\n".join(text[start:end] for start, end in boxes) if boxes else with_list
    is_certain = is_procedure and headings_name_topic(question, passage, top[0])
    is_certain = is_certain or step_covers_question(question, passage, best_step)
    return Extract(tuple(highlights), -best_score, answer_span, answer, is_certain=is_certain)


def _mark_list(text: str, spans: Sequence[Span], *, is_introduced: bool) -> Sequence[Span]:
    """Return what to highlight of a list, best first: all of it if short, else its introduction last."""
    whole = start_of_item(text, spans[0][0]), spans[-1][1]
    if whole[1] - whole[0] <= LONGEST_SPAN:
        return (whole,)
    return (*spans[1:], spans[0]) if is_introduced else spans


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


def _asks_for_explanation(question: str) -> bool:
    """Whether a question asks how, why, what would happen, or for yes or no."""
    return asks_how_to(question) or _ASKS_FOR_REASON.match(question) is not None or asks_yes_or_no(question)


def _with_items(passage: StoredPassage, start: int, end: int) -> str:
    """Return the text of a list, or of a sentence and its list, without fences of code."""
    text = passage.text
    blocks = code_blocks(text, passage.body, passage.document.media_type)
    return without_fences(text, (start_of_item(text, start), end), blocks)


def _is_field_named(field: str, topic_terms: set[str]) -> bool:
    name = terms(field)
    return bool(name) and name <= topic_terms
