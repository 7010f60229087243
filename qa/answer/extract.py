"""Extract the sentences of a passage that answer: of a paragraph about rent, the one that says when it is due.

The caller supplies the scores: from the reader, late interaction, or shared words. Rules may prefer another sentence to
the best-scored one, such as the field that the question names, or extend it to the whole list that it introduces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from corpus import lazy_pattern
from index import StoredPassage
from qa.answer.results import Highlight
from qa.language.question_kinds import asks_yes_or_no
from qa.language.spans import Span, spans_overlap
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
    question: str,
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
    text, is_lookup = passage.text, looked_up is not None
    spans = without_greetings(question, passage, candidate_spans(passage))
    if not spans:
        return Extract()
    ranked = _ranked(question, passage, spans, score, looked_up)
    tasks = [] if is_lookup else requested_tasks(question, text, spans, min(ranked)[1])[:MAX_LIST_ITEMS]
    ranked = [it for it in ranked if it[1] in tasks] or ranked
    best_score, best_first = -ranked[0][0], _with_paragraph(question, passage, spans, [span for _, span in ranked])
    best = preferred_sentence(question, passage, best_first, is_lookup=is_lookup)
    command = None if is_lookup else _command_at(question, passage, best)
    if command is not None:
        return _extract_command(question, passage, command, best_score)
    spans, find_list = sorted(best_first), list_below if is_lookup else partial(whole_list, share=share)
    whole = tasks or find_list(question, passage, spans, best)
    items = whole[1:] if whole else _introduced_items(question, passage, spans, best)
    answer_span = whole[0] if whole else best
    if not (whole or items or is_lookup):
        answer_span = _with_explanation(question, passage, spans, best, score)
    if tasks:
        marked, answer = tasks, "\n".join(text[slice(*task)] for task in tasks)
    elif items:
        marked = _mark_list(text, [answer_span, *items], is_introduced=not whole)
        answer = _with_items(passage, answer_span[0], items[-1][1])
    else:
        near = (span for negated, span in ranked[1:_MAX_HIGHLIGHTS] if -negated >= _NEARLY * best_score > 0)
        marked = [answer_span, *(it for it in near if not spans_overlap(it, answer_span))]
        answer = text[slice(*answer_span)]
    first = answer_span if whole or not items else items[0]
    is_procedure = bool(tasks) or (bool(items) and is_step(question, passage, first))
    is_certain = is_procedure and headings_name_topic(question, passage, first[0])
    is_certain = is_certain or step_covers_question(question, passage, best)
    highlights = tuple(Highlight.of(passage, span) for span in marked)
    return Extract(highlights, best_score, answer_span, answer, is_certain=is_certain)


def _ranked(
    question: str, passage: StoredPassage, spans: Sequence[Span], score: SpanScore, looked_up: int | None
) -> list[tuple[float, Span]]:
    """Return sentences with their negated scores, best first: those that the question names before all others."""
    text = passage.text
    # Scores are negated, so that of several sentences with the same score the earliest is the first.
    ranked = sorted((-round(score(*span), 9), span) for span in spans)
    if passage.is_front_matter:
        question_terms = terms(question)
        ranked.sort(key=lambda it: not _is_field_named(text[it[1][0] : text.find(":", it[1][0])], question_terms))
    if topic := terms(topic_of_sender(question, passage)):
        ranked.sort(key=lambda it: not topic <= terms(text[slice(*it[1])]))
    if looked_up is not None:
        ranked.sort(key=lambda it: not it[1][0] <= looked_up < it[1][1])
    return ranked


def _with_paragraph(
    question: str, passage: StoredPassage, spans: Sequence[Span], best_first: Sequence[Span]
) -> list[Span]:
    """Return sentences, best first; if the best is a run-in heading, its paragraph takes the place of its sentences."""
    below = () if passage.is_front_matter else spans  # a field is not the heading of the next one
    best = below_run_in_heading(question, passage.text, below, best_first[0])
    return [best, *(it for it in best_first[1:] if not spans_overlap(it, best))]


def _introduced_items(question: str, passage: StoredPassage, spans: Sequence[Span], best: Span) -> list[Span]:
    """Return the items of the list that a sentence introduces, all of them only if they are steps."""
    items = list_after(passage.text, spans, best)
    return items if items and is_step(question, passage, items[0]) else items[:MAX_LIST_ITEMS]


def _with_explanation(
    question: str, passage: StoredPassage, spans: Sequence[Span], best: Span, score: SpanScore
) -> Span:
    """Return the best sentence, or what explains it, or that with the change of its value that follows."""
    if asks_how_to(question) or _ASKS_FOR_REASON.match(question) or asks_yes_or_no(question):
        return explaining_sentence(question, passage, spans, best, score)
    return with_change(passage.text, spans, best)


def _mark_list(text: str, spans: list[Span], *, is_introduced: bool) -> list[Span]:
    """Return what to highlight of a list, best first: all of it if short, else its introduction last."""
    whole = start_of_item(text, spans[0][0]), spans[-1][1]
    if whole[1] - whole[0] <= LONGEST_SPAN:
        return [whole]
    return [*spans[1:], spans[0]] if is_introduced else spans


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


def _with_items(passage: StoredPassage, start: int, end: int) -> str:
    """Return the text of a list, or of a sentence and its list, without fences of code."""
    text = passage.text
    blocks = code_blocks(text, passage.body, passage.document.media_type)
    return without_fences(text, (start_of_item(text, start), end), blocks)


def _is_field_named(field: str, topic_terms: set[str]) -> bool:
    name = terms(field)
    return bool(name) and name <= topic_terms
