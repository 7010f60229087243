"""Answer with whole blocks: the command below "Run the tests:", a list of ingredients, the changes of a release.

A block answers only if its line, the headings above it, and the title and path of its document have every content word
of the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from corpus import lazy_pattern
from index import Index, StoredPassage
from qa.answer.extract import Block, Extract
from qa.answer.results import Answer, Highlight, answer_from_parts
from qa.language.spans import Span, line_start, trimmed
from qa.language.terms import surroundings, terms
from qa.questions.steps import (
    OF_COMMANDS,
    asks_how_to,
    command_topic,
    does_what_is_asked,
    is_other_topic,
    nearest_heading,
)
from qa.structure.candidate_spans import LIST_MARKER, LONGEST_SPAN, candidate_spans, line_before
from qa.structure.code_blocks import CodeBlock, code_blocks
from qa.structure.dated_sections import dated_sections
from qa.structure.sections import answering_section

# Before the words of the question, these make it another case: "Before you format the code, stage it:".
_CONDITION = lazy_pattern(r"\b(?:after|before|if|instead|no|not|once|unless|when|without)\b", re.IGNORECASE)
# A document with more passages is not searched for the block that a line introduces.
_MAX_PASSAGES = 200
# Questions for what goes into something, and the lines above lists of that.
_ASKS_FOR_INGREDIENTS = lazy_pattern(
    r"\W*(?:(?:what|which|list|show|the)\b.*\b)?(?:ingredients|shopping list)\b|.{3,60} ingredients\W*\Z"
    r"|\W*what (?:goes|do (?:i|we|you) put) in(?:to)?\b|\W*what(?:['’]s| is) in\b"
    r"|\W*what do (?:i|we|you) need (?:for|to (?:bake|cook|make|prepare))\b",
    re.IGNORECASE,
)
_INGREDIENTS = lazy_pattern(
    r"(?:the )?(?:ingredients|zutaten|(?:what )?you(?:['’]ll| will)? need|shopping list)\b[^.!?]*", re.IGNORECASE
)
_OF_RECIPES = terms("bake contain cook go goes ingredients list make me need prepare put recipe shopping show use")
_DIGITS = "0123456789¼½¾"
_AMOUNT = lazy_pattern(rf"(?:[{_DIGITS}]|an? |half |juice |one |pinch |some |two |three )", re.IGNORECASE)
_BRACKETS = lazy_pattern(r"\([^()]*\)")
_LONGEST_NAME = 80
_STEP = lazy_pattern(r"\d{1,2}[.)]\s")
_STEPS = lazy_pattern(rf"^[ \t]*{_STEP.pattern}", re.MULTILINE)
_NEGATED = lazy_pattern(r"\b(?:not|no|never|neither|without|except|besides|\w+n['’]t)\b", re.IGNORECASE)
_MAY_BE_ABOUT_VERSIONS = lazy_pattern(r"\d\.\d|version|release|firmware", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BlockAnswer:
    """Blocks that answer.

    Attributes:
        blocks: In the order of the text; one a passage.
        name: The words that answer, if that is not the text of the blocks.
    """

    blocks: tuple[Block, ...]
    name: str = ""

    @property
    def passages(self) -> list[StoredPassage]:
        """The passages with the blocks, in order."""
        return [block.passage for block in self.blocks]

    def answer(self, passages: Sequence[StoredPassage]) -> Answer | None:
        """Answer with the blocks in the passages that are shown; None if there is none."""
        answer = answer_from_parts([(it.passage, it.text) for it in self.blocks], passages)
        if answer is None or (len(answer.citations) > 1 and not self.name):
            return answer
        return replace(answer, text=self.name or answer.text, cited_by_line=())

    def extracts(self) -> dict[int, Extract]:
        """Return the lines of the blocks as highlights, by the row numbers of their passages."""
        extracts = {}
        for passage, lines, text in self.blocks:
            highlights = tuple(Highlight.of(passage, line) for line in lines)
            extracts[passage.id] = Extract(highlights, 1.0, (lines[0][0], lines[-1][1]), text)
        return extracts


def block_answer(snapshot: Index, question: str, ranked: Sequence[StoredPassage]) -> BlockAnswer | None:
    """Return the blocks that a question surely asks for; None if there are none."""
    if command := command_block(snapshot, question, ranked):
        return BlockAnswer((command,))
    if _NEGATED.search(question):
        return None
    if block := ingredients_block(question, ranked):
        return BlockAnswer((block,))
    if sections := _named_sections(snapshot, question, ranked):
        return sections
    if not _MAY_BE_ABOUT_VERSIONS.search(question):
        return None
    from qa.tables.releases import release_answer  # noqa: PLC0415 - few questions are about versions

    blocks, name = release_answer(snapshot, question, ranked)
    return BlockAnswer(tuple(blocks), name) if blocks else None


def command_block(snapshot: Index, question: str, passages: Sequence[StoredPassage]) -> Block | None:
    """Return the block of code that a line introduces with the words of a question for a command, or how to do it."""
    topic = command_topic(question)
    asked = terms(topic or "") - OF_COMMANDS
    if topic is None or not asked:
        return None
    found = [it for passage in passages for it in _commands(snapshot, topic, asked, passage)]
    fewest = min((unasked for unasked, _ in found), default=0)
    return next((block for unasked, block in found if unasked == fewest), None)


def _commands(snapshot: Index, topic: str, asked: set[str], passage: StoredPassage) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of code that may answer, with the number of other terms in the lines that introduce them."""
    heading = nearest_heading(passage)
    around = terms(surroundings(passage))
    blocks = list(_code(snapshot, asked, passage))
    is_only = len(blocks) == 1 and not _STEPS.search(passage.text, passage.body)
    for above, owner, block in blocks:
        line = heading if asked <= terms(heading) and (is_only or not above) else above
        named = asked & terms(line)
        if not named or not asked <= named | around or _is_other(topic, line, named):
            continue
        if not does_what_is_asked(topic, line):
            continue
        unasked = len(terms(line) - OF_COMMANDS - asked)
        if len(asked) > 1 or not unasked:
            yield unasked, Block(owner, block.commands, block.text)


def _code(snapshot: Index, asked: set[str], passage: StoredPassage) -> Iterator[tuple[str, StoredPassage, CodeBlock]]:
    """Yield the blocks of code in a passage, and the one that its last line introduces, with the lines above them."""
    text, at = passage.text, passage.body
    for block in code_blocks(text, at, passage.document.media_type):
        yield line_before(text, at, block.span[0]), passage, block
        at = block.span[1]
    line = line_before(text, at, len(text))
    if not line.endswith(":") or asked.isdisjoint(terms(line)) or passage.document.passages > _MAX_PASSAGES:
        return
    beside = snapshot.passages_of(passage.document.path)
    following = next((it for it in beside if it.start >= passage.end and it.context == passage.context), passage)
    for block in code_blocks(following.text, following.body, following.document.media_type)[:1]:
        if following is not passage and not following.text[: block.span[0]].strip():
            yield line, following, block


class _List(NamedTuple):
    """A list: its passage, its items without markers, and the short line above it, or else the heading."""

    passage: StoredPassage
    items: tuple[Span, ...]
    line: str

    @property
    def block(self) -> Block:
        text = self.passage.text
        starts = [line_start(text, start) for start, _ in self.items]
        lines = (text[start:end] for start, (_, end) in zip(starts, self.items, strict=True))
        return Block(self.passage, self.items, "\n".join(lines))


def ingredients_block(question: str, passages: Sequence[StoredPassage]) -> Block | None:
    """Return the list of ingredients below the heading that a question names."""
    if not _ASKS_FOR_INGREDIENTS.match(question):
        return None
    topic = terms(question) - _OF_RECIPES
    found: list[tuple[int, _List]] = []
    for passage in passages:
        for it in _lists(passage):
            is_labelled = _INGREDIENTS.fullmatch(it.line) is not None
            headings = [name for name in passage.heading if not _INGREDIENTS.fullmatch(name)]
            name = terms(_BRACKETS.sub(" ", (headings or [""])[-1] if is_labelled else it.line))
            amounts = sum(bool(_AMOUNT.match(passage.text, start)) for start, _ in it.items)
            is_asked = topic & name and topic <= name | terms(surroundings(passage))
            if is_asked and (is_labelled or 2 * amounts > len(it.items)):
                found.append((len(name - topic), it))
    fewest = [it for unasked, it in found if unasked == min(unasked for unasked, _ in found)]
    return fewest[0].block if len(fewest) == 1 else None


def _named_sections(snapshot: Index, question: str, passages: Sequence[StoredPassage]) -> BlockAnswer | None:
    """Return the day of the section that a question names, or all of its text; None if there is none."""
    if dated := dated_sections(question, passages, snapshot.passages_of):
        return BlockAnswer(tuple(_quoted(*part) for part in dated.parts), dated.name)
    parts = answering_section(question, passages, snapshot.passages_of, is_how_to=asks_how_to(question))
    return BlockAnswer(tuple(_quoted(*part) for part in parts)) if parts else None


def _quoted(passage: StoredPassage, span: Span) -> Block:
    """Return part of a passage as a block, to be highlighted as a whole or, if it is long, by its sentences."""
    text, (start, end) = passage.text, span
    end = start + len(text[start:end].rstrip())
    lines = tuple(it for it in candidate_spans(passage) if start <= it[0] and it[1] <= end and start >= passage.body)
    whole = (lines[0][0], lines[-1][1]) if lines else span
    is_short = not lines or whole[1] - whole[0] <= LONGEST_SPAN
    return Block(passage, (whole,) if is_short else lines, text[start:end].strip("\n"))


def _lists(passage: StoredPassage) -> Iterator[_List]:
    """Yield the lists in a passage: items with bullets, or lines that begin with a digit."""
    text = passage.text
    heading = passage.heading[-1] if passage.heading else ""
    items: list[Span] = []
    line, is_item = heading, False
    for match in re.finditer(r"[ \t]*\S.*", text[passage.body :]):
        start, end = passage.body + match.start(), passage.body + match.end()
        first = trimmed(text, (start, end))[0]
        marker, is_step = LIST_MARKER.match(text, first), _STEP.match(text, first)
        if not is_step and (marker or text[first] in _DIGITS):
            items.append((marker.end() if marker else first, end))
            is_item = True
        elif is_item and first - start > 1 and text[start - 1 : start] == "\n" and text[start - 2 : start - 1] != "\n":
            items[-1] = items[-1][0], end
        else:
            if len(items) > 1:
                yield _List(passage, tuple(items), line)
            items, is_item = [], False
            is_name = len(match[0]) <= _LONGEST_NAME and not match[0].rstrip().endswith((".", "!", "?"))
            line = match[0].strip(" \t*_:#=") if is_name else heading
    if len(items) > 1:
        yield _List(passage, tuple(items), line)


def _is_other(topic: str, line: str, named: set[str]) -> bool:
    """Whether the line is about something else: the opposite, or a case that it names before the words asked for."""
    words = list(re.finditer(r"\w+", line))
    last = max((word.start() for word in words if terms(word[0]) & named), default=0)
    condition = _CONDITION.search(line, 0, last)
    is_other_case = condition is not None and condition[0].lower() not in topic.lower().split()
    return is_other_case or is_other_topic(topic, line[: last or None])
