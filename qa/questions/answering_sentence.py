"""Find the sentence that answers where the best-scored one does not: below a heading, after a question, beside a fact.

For "why is the pump off?", "The pump is off." has all words, and the sentence after it the reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from corpus import lazy_pattern
from index import StoredPassage
from qa.language.question_kinds import asks_why
from qa.language.spans import Span, line_start, paragraph_around
from qa.language.terms import has_form_of, ordered_terms, surroundings, terms
from qa.language.values import FIELD, years_in
from qa.questions.lists import NO_STOP, is_bare_heading, is_bare_title, is_item
from qa.questions.long_numbers import plain_numbers
from qa.questions.numbered import numbered_items_in, prefer_span_about_items
from qa.questions.steps import asks_how_to
from qa.structure.candidate_spans import LONGEST_SPAN, SpanScore, without_marker
from qa.structure.speakers import DAY, turns

# The date and time before the speaker in a chat: "[12/05/2024, 18:02] ", "12/05/2024, 18:02 - ".
_CLOCK = r"\d\d?:\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm]\.?)?\]?(?:\s[-–])?\s"
_STAMP = rf"(?:\[?(?:{DAY},?\s)?{_CLOCK})?"
_TURN = lazy_pattern(_STAMP + r"[^:\n]{1,30}:\s")
# The same, but surely of a chat rather than of a schedule or a log.
_MESSAGE = lazy_pattern(rf"(?:\[{DAY},?|{DAY},)\s{_CLOCK}(?P<sender>[^:\n]{{1,30}}:\s+)")
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
_THEREFORE = terms("therefore thus hence")
_HOW_TO = lazy_pattern(r"\W*how to\b[^.!?:\n]*", re.IGNORECASE)
# A heading that asks: "Why is it wet?", "How to open it", "Why only Ann".
_ASKS_AS_HEADING = lazy_pattern(r".*\?\W*\Z|\W*(?:how to|why)\b", re.IGNORECASE)
# Characters that may follow the question mark at the end of a sentence.
_CLOSING = " \n*_`\"'”’»)"
# A heading at the beginning of a paragraph, and a line that is no sentence.
_RUN_IN = lazy_pattern(r"(?P<mark>[*_]{1,3})(?=\S)[^*_\n?]{1,60}(?P=mark)[.:]?")
# "What is the password of the gate?"; things whose value may be any word, and a statement that is one of a few words.
_ASKS_WHAT_IS = lazy_pattern(r"\W*what(?:['’]?s| is| are| was| were) (?P<what>.+)", re.IGNORECASE | re.DOTALL)
_LABEL = lazy_pattern(
    r"\b(?:address|code|id|login|motto|name|nickname|number|password|pin|title|username)\b", re.IGNORECASE
)
_STATEMENT = lazy_pattern(
    r"\W*(?P<what>[^.:;\n]{2,60}?) (?:is|was)(?: now)? (?!(?:about|at|being|by|for|hard|in|kept|known|like|lost|new|no"
    r"|none|nowhere|not|never|of|off|old|on|only|out|over|same|secret|set|still|subject|the|there|to|too|under|up|very|what"
    r"|with|wrong|un\w+|\w+(?:ed|en|ing))\b)\S+(?: \S+){0,2}",
    re.IGNORECASE,
)
# A sentence that only says how what is before it has changed: "Raised to 7.10 from 1 May."
_CHANGED_SINCE = lazy_pattern(
    r"\W*(?:(?:it|now|since|then|this) ){0,2}(?:(?:has|have) been |is |was |were )?(?:now |since |then )?"
    r"(?:changed|cut|extended|increased|lowered|moved|postponed|put (?:back|off|up)|raised|reduced|replaced)\b"
    r"[^\n]{0,60}?\bto\b[^\n]{0,30}?\d",
    re.IGNORECASE,
)


def states_what_is_asked(question: str, sentence: str) -> bool:
    """Whether a sentence plainly says what something is, as in "The gate password is kittiwake".

    Or it is a line of a log with all words of a question with a number, of which the first is right before another
    number: "pump 12 serviced, pressure 36 kPa".
    """
    asked = _ASKS_WHAT_IS.fullmatch(question)
    topic = ordered_terms(asked["what"]) if asked else []
    if not topic:
        return False
    statement = _STATEMENT.fullmatch(sentence) if _LABEL.search(question) else None
    if statement is not None and terms(statement["what"]) == set(topic):
        return True
    words = sentence.split()
    values = [word for before, word in pairwise(words) if ordered_terms(before)[-1:] == topic[:1]]
    has_number = any(any(map(str.isdigit, term)) for term in topic)
    return has_number and set(topic) < terms(sentence) and any(it.strip("£$€")[:1].isdigit() for it in values)


def skip_stamp(question: str, text: str, sentence: Span) -> Span:
    """Return a sentence without the time and the sender of a chat message, unless the question may be for them."""
    message = _MESSAGE.match(text, *sentence)
    if _ASKS_WHEN_IT_WAS.search(question):
        return sentence
    if message is None:
        words = next((turn.words[0] for turn in turns(text) if turn.line[0] == sentence[0]), sentence[0])
        return sentence if _ASKS_FOR_NAME.search(question) or words >= sentence[1] else (words, sentence[1])
    return message.start("sender") if _ASKS_FOR_NAME.search(question) else message.end(), sentence[1]


def only_asks(question: str, text: str, span: Span) -> bool:
    """Whether a sentence only asks what a question asks: it has the same question word, and a term of it."""
    asks = _ASKS_OPENLY.fullmatch(text[slice(*span)].rstrip(_CLOSING))
    if asks is None or _ASKS_FOR_QUESTION.search(question):
        return False
    is_same = re.search(rf"\b{asks['word']}\b", question, re.IGNORECASE) is not None
    return is_same and not terms(question).isdisjoint(terms(asks[0]))


def _is_question(text: str, span: Span) -> bool:
    """Whether a sentence is a question, or a line such as "How to open it"."""
    sentence = text[slice(*span)]
    return bool(_ASKS.fullmatch(sentence.rstrip(_CLOSING)) or _HOW_TO.fullmatch(sentence))


def _is_apart(text: str, span: Span, following: Span) -> bool:
    """Whether the following sentence begins a paragraph, a list item or a speaker's turn, or is a question."""
    between = text[span[1] : following[0]]
    is_new = "\n" in between and (is_item(text, following) or _TURN.match(text, *following))
    return "\n\n" in between or bool(is_new) or _is_question(text, following)


def preferred_sentence(question: str, passage: StoredPassage, best_first: Sequence[Span], *, is_lookup: bool) -> Span:
    """Return the best sentence, or another that a rule prefers; for a lookup, only one below a heading."""
    text, best = passage.text, best_first[0]
    if not is_lookup:
        best = _prefer_sentence_with_number(question, passage, best_first)
        best = prefer_span_about_items(numbered_items_in(question), passage, best, best_first)
        best = _skip_questions(text, sorted(best_first), best)
    return _below_bare_heading(question, passage, best_first, best)


def explaining_sentence(
    question: str, passage: StoredPassage, spans: Sequence[Span], best: Span, score: SpanScore
) -> Span:
    """Return the best sentence for a question that asks how, why or for yes or no, or what explains it."""
    best = _skip_bare_fact(question, passage.text, spans, best, score)
    return _prefer_whole_explanation(question, passage, spans, best)


def _prefer_sentence_with_number(question: str, passage: StoredPassage, best_first: Sequence[Span]) -> Span:
    """Return the best sentence; if it has another long number or year than the question, the best with that one.

    A year above the passage is that of all its sentences. The sentence of the year must be about the same as the best.
    """
    sentences = [(span, passage.text[slice(*span)]) for span in best_first]
    asked, best = plain_numbers(question), sentences[0][1]
    if asked and plain_numbers(best) - asked:
        return next((span for span, text in sentences if asked & plain_numbers(text)), best_first[0])
    years = years_in(question)
    if years and years_in(best) and not years & years_in(f"{surroundings(passage)}\n{best}"):
        shared = (terms(question) - years) & terms(best)
        of_year = (span for span, text in sentences if years & years_in(text) and shared <= terms(text))
        return next(of_year, best_first[0]) if shared else best_first[0]
    return best_first[0]


def below_run_in_heading(question: str, text: str, spans: Sequence[Span], best: Span) -> Span:
    """Return the best sentence; if it is a heading that the question names, the rest of its paragraph.

    That is the next sentence, if the paragraph is long: "**Side effects.** Common: headache."
    """
    line = without_marker(text[line_start(text, best[0]) : best[1]].strip())
    is_marked = _RUN_IN.fullmatch(text[slice(*best)]) is not None
    is_line = line == text[slice(*best)].strip() and text[best[1] : best[1] + 1] == "\n"
    is_line = is_line and NO_STOP.search(line) is not None and not FIELD.fullmatch(line)
    named = terms(text[slice(*best)])
    # A longer name may have one more word than the question: "Possible side effects".
    is_named = 3 * len(named - terms(question)) <= len(named)
    following = [span for span in spans if span[0] >= best[1]]
    if not (is_marked or is_line) or not named or not is_named or not following or asks_how_to(question):
        return best
    _, end = paragraph_around(text, best)
    below = [span for span in following if span[1] <= end]
    if not below or "\n\n" in text[best[1] : below[0][0]] or is_item(text, below[0]):
        return best
    whole = below[0][0], below[-1][1]
    return whole if whole[1] - whole[0] <= LONGEST_SPAN else below[0]


def _below_bare_heading(question: str, passage: StoredPassage, best_first: Sequence[Span], best: Span) -> Span:
    """Return the given sentence, or if it is a heading without more words than the question, one below it.

    That is the next line or, below a paragraph of its own, the best sentence. How to do something is not in any one.
    """
    below = [span for span in best_first if span[0] >= best[1]]
    if not below or asks_how_to(question):
        return best
    if is_bare_heading(question, passage, best):
        return min(below)
    is_title = is_bare_title(question, passage, best)
    return next((span for span in below if is_title and passage.text[span[1] - 1] in ".!?"), best)


def with_change(text: str, spans: Sequence[Span], best: Span) -> Span:
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
