"""Lists that answer as a whole: the steps of a procedure ("how do I descale it?"), and tasks with boxes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from corpus import lazy_pattern
from index import StoredPassage
from qa.language.spans import Span, line_start
from qa.language.terms import ordered_terms, terms
from qa.language.values import MONTH

# Questions for a procedure, and the number of a step.
_ASKS_HOW_TO = lazy_pattern(
    r"\W*(?:how (?:do|does|can|could|should|would|must|shall|to)\b"
    r"|(?:(?:what(?:['’]s| is| are)|list|show me|give me) )?(?:the )?"
    r"(?:steps|procedure|process|drill|routine|instructions) (?:for|of|to)\b"
    r"|what(?:['’]s| is| are) the (?:steps|procedure|process|drill|routine)\b"
    r"|what (?:do|should|must) (?:i|we|you) do (?:to|in case of|(?P<when>if|when|before|after))\b)",
    re.IGNORECASE,
)
# Questions for a command.
_ASKS_FOR_COMMAND = lazy_pattern(
    r"\W*(?:(?:what|which)(?:['’]s| is| are)?(?: the)? commands?\b(?![- ]?line)|(?:the )?commands? (?:for|that|to)\b"
    r"|(?:what|which) (?:command )?(?:do|should|must|can) (?:i|we|you) (?:enter|execute|run|type|use)\b)",
    re.IGNORECASE,
)
# Words of such questions, and of the line above a command, that do not say what it does; and questions how to see it.
OF_COMMANDS = terms("command do enter execute follow run then type use")
_LOOKS = lazy_pattern(
    r"\W*(?:(?:i|we|you|one)\s)?(?:check|display|find|get|inspect|list|look|open|read|see|show|view)\b", re.IGNORECASE
)
_STEP = lazy_pattern(r"\(?\d{1,2}[.)]\s")
# The beginning of a numbered clause or rule, which is not a step: "3. The lease ends if".
_STATEMENT = lazy_pattern(
    r"(?:\(?\d{1,2}[.)]?\s+)?(?:the|an?|any|each|every|all|both|either|neither|such)\b", re.IGNORECASE
)
# A number without a mark at the beginning of a line, but not the day of a month nor an amount: "3 rinse it".
_MEASURE = r"(?:[kcmd]?[gl]|oz|lbs?|cups?|tbsps?|tsps?|(?:table|tea)spoons?|pints?|cloves?|slices|large|medium|small)\b"
_BARE_NUMBER = lazy_pattern(rf"[ \t]*(\d{{1,2}})[ \t]+(?!{MONTH}|{_MEASURE})(?=[^\W\d])", re.IGNORECASE)
# "Step 1: ...", "- **Step 1** – ...".
_NAMED_STEP = lazy_pattern(r"[^\w\n]*step[ \t]\d{1,2}[*_]*(?:[.):]|[ \t][–-])", re.IGNORECASE)
_NUMBERED = lazy_pattern(r"^[ \t]*\(?(\d{1,2})(?:[.)][ \t]+(?=\S)|[ \t]+(?=[^\W\d]))", re.MULTILINE)
_FIRST_STEPS = lazy_pattern(r"^[ \t]*(\(?1[.) ][ \t]*\S.*)(?:\n(?![ \t]*\(?\d)[^\n]*)*\n[ \t]*\(?2[.) ]", re.MULTILINE)
# At most this many passages of one list are put together.
_MOST_PARTS = 8
_HOW_TO = lazy_pattern(r"\W*how to\b", re.IGNORECASE)
_BULLET = lazy_pattern(r"[•◦▪‣●○■□–—*+-]\s+(?!\[[ xX]?\])")
# The heading of a procedure: "How to descale it", "Descaling it", "Steps". Below others, bullets may be anything.
_WAY = lazy_pattern(r"\W*(?:how to|\w{3,}ing)\b|\b(?:steps|procedure|instructions|directions)\b", re.IGNORECASE)
# Questions for open or done tasks, which have boxes or Org's words: `- [ ] paint the door`, `** DONE sweep`.
_ASKS_FOR_OPEN = lazy_pattern(
    r"\b(?:(?:still|left|remains?) (?:to|undone|unfinished)|outstanding|pending|unfinished|undone|to[ -]?dos?"
    r"|be (?:done|finished|completed)|(?:left|remaining) (?:task|item|point|issue|job|thing)s?"
    r"|(?:task|item|point|issue|job|thing)s? (?:is |are |still )*(?:left|remain(?:s|ing)?)"
    r"|(?:not|never|\w+n['’]t)(?: (?:yet|been|ever|all|fully))* (?:done|finished|completed|(?:tick|cross)ed(?: off)?)"
    r"|un(?:ticked|checked)|open (?:task|item|point|issue|job)s?"
    r"|(?:task|item|point|issue|job)s? (?:is |are |still )*open)\b",
    re.IGNORECASE,
)
_ASKS_FOR_DONE = lazy_pattern(r"\b(?:done|finished|completed|ticked(?: off)?|crossed off)\b", re.IGNORECASE)
_OPEN_BOX, _DONE_BOX = lazy_pattern(r"(?:\[ ?\]|TODO)\s"), lazy_pattern(r"(?:\[[xX]\]|DONE)\s")
# The owner of a task: "[ ] Lea: order signs".
_OWNER = lazy_pattern(r"\[[ xX]?\]\s+(?P<name>[^\W\d_][^:\n]{0,40}):")
# The tasks that end a text.
_BOXES = lazy_pattern(r"(?:^\s*(?:[*+-] )?\[[ xX]?\]\s[^\n]*\n)+\Z", re.MULTILINE)
_ASKS_WHICH_TASKS = lazy_pattern(r"\W*(?:which|what|list|name|show)\b", re.IGNORECASE)
_TASK = lazy_pattern(r"\b(?:tasks?|items?|points?|issues?|jobs?|things?|to-?dos?|lists?|yet|already)\b", re.IGNORECASE)
# A verb that headings leave out: "How do I make the rye bread?" below "Rye bread".
_MAKE = lazy_pattern(r"\A\W*(?:\w+ )?(?:make|prepare)\b", re.IGNORECASE)
_WORD = lazy_pattern(r"\w+")
# Words that make it another procedure, and pairs that reverse it.
_DECISIVE = frozenset({"not", "no", "never", "without", "don", "before", "after"})
_CONDITIONS = frozenset({"if", "unless"})
_OPPOSITES = (("on", "off"), ("up", "down"), ("in", "out"), ("before", "after"))
# One of these with its verb, "switch on the pump" or "switch the pump on", but not before a noun: "in the shed".
_PARTICLE = lazy_pattern(
    r"(?:\A\W*(?:\d[\d.]*\W+|(?:i|we|you|one)\s)?\w+\s|\w{3,}ing\s|\A\W*(?=before|after)|\b(?=\w+\W*\Z))"
    r"(on|off|up|down|in|out|before|after)\b"
)
# Words of a line or heading that only announce a list: "Follow these steps:".
_INTRODUCES = lazy_pattern(
    r"\b(?:follow\w*|steps?|proceed|below|order|procedure|instructions|directions|method|way|please)\b", re.IGNORECASE
)


def requested_tasks(question: str, text: str, spans: Sequence[Span], best: Span) -> list[Span]:
    """Return the open or the done tasks, whichever the question asks for; none if it asks for neither.

    If it names owners of some of these ("[ ] Lea: order signs"), return only theirs. Unless it says that it means
    tasks, return none if the best-scored sentence is none and has the words that ask for them: "200 is left to pay."
    """
    asks, box = (_ASKS_FOR_OPEN, _OPEN_BOX) if _ASKS_FOR_OPEN.search(question) else (_ASKS_FOR_DONE, _DONE_BOX)
    asked, sentence = set(asks.findall(question.lower())), text[slice(*best)].lower()
    is_prose = sentence.endswith((".", "!")) and not (_OPEN_BOX.match(sentence) or _DONE_BOX.match(sentence))
    if not asked or (is_prose and asked <= set(asks.findall(sentence)) and not _TASK.search(question)):
        return []
    tasks = [span for span in spans if box.match(text, span[0])]
    named = terms(question)
    return [span for span in tasks if (owner := _OWNER.match(text, *span)) and terms(owner["name"]) & named] or tasks


def is_step(question: str, passage: StoredPassage, span: Span) -> bool:
    """Whether a sentence is a step of a procedure that the question may ask for, and not of the opposite one.

    Steps are numbered, but no clauses ("3. The lease ends if"), or have bullets below the heading of a procedure with
    all terms of the question's topic.
    """
    text = passage.text
    at = line_start(text, span[0])
    line = text[at : span[1]].lstrip()
    if not asks_how_to(question) or _STATEMENT.match(line) or is_opposite_procedure(question, passage):
        return False
    if _STEP.match(line) or has_step_number(text, at):
        return True
    heading, topic = nearest_heading(passage), terms(list_topic(question) or "")
    return bool(_BULLET.match(line) and _WAY.search(heading) and topic and topic <= terms(heading))


def is_open_task(sentence: str) -> bool:
    """Whether a sentence is a task that is still to be done: "[ ] fit the filter"."""
    return _OPEN_BOX.match(sentence) is not None


def step_covers_question(question: str, passage: StoredPassage, step: Span) -> bool:
    """Whether a step has all terms of the question's topic itself: "3. Promote the replica: ..."."""
    topic = terms(list_topic(question) or "")
    return len(topic) > 1 and is_step(question, passage, step) and topic <= terms(passage.text[slice(*step)])


def asks_how_to(question: str) -> bool:
    """Whether a question asks how to do something."""
    return _ASKS_HOW_TO.match(question) is not None


def is_opposite_procedure(question: str, passage: StoredPassage) -> bool:
    """Whether a question asks for a procedure and the heading is that of its opposite: "on" for "off"."""
    if not asks_how_to(question):
        return False
    parts = ((list_topic(question) or "").lower(), nearest_heading(passage).lower())
    topic_words, heading_words = (set(_WORD.findall(part)) for part in parts)
    particles = {particle for part in parts for particle in _PARTICLE.findall(part)}
    return any({word, opposite} <= (topic_words ^ heading_words) & particles for word, opposite in _OPPOSITES)


def has_step_number(text: str, line: int) -> bool:
    """Whether the line at a character has "Step 1:", or a bare number that the line before or after it continues."""
    if _NAMED_STEP.match(text, line):
        return True
    number = _BARE_NUMBER.match(text, line)
    neighbours = ((line_start(text, max(line - 1, 0)), -1), (text.find("\n", line) + 1, 1))
    neighbour_numbers = ((_BARE_NUMBER.match(text, at), step) for at, step in neighbours if at != line)
    return number is not None and any(it and int(it[1]) == int(number[1]) + step for it, step in neighbour_numbers)


def is_below_matching_heading(question: str, passage: StoredPassage, step: Span) -> bool:
    """Whether the heading of a step has only terms of the question, and the step no other term of it but the verb.

    "Bake for 12 minutes" below "Scones" is a step of "how do I bake scones?", but "Keep them warm at 80" alone answers
    "how do I keep them warm?".
    """
    heading = terms(_INTRODUCES.sub("", nearest_heading(passage)))
    topic = ordered_terms(list_topic(question) or "")
    other_terms = set(topic[1:]) - heading
    return bool(heading) and heading <= terms(question) and other_terms.isdisjoint(terms(passage.text[slice(*step)]))


def is_step_of_other_procedure(
    question: str, passages: Iterable[StoredPassage], best: StoredPassage, answer_span: Span
) -> bool:
    """Whether the headings of a step lack a term of the question's topic, while another heading of its file has all."""
    topic = terms(list_topic(question) or "")
    headings = terms(f"{best.context} {best.title} {_introducing_line(best, answer_span[0])}")
    is_other = is_step(question, best, answer_span) and not topic <= headings
    return is_other and any(topic <= terms(nearest_heading(passage)) for passage in passages)


def procedure_parts(
    question: str, passages: Sequence[StoredPassage], best: StoredPassage, answer_span: Span
) -> Sequence[StoredPassage]:
    """Return the passages with the numbered steps of the procedure that a question asks for, in order; () if not sure.

    Either the answering sentence is one of its steps, below "How to ..." or a heading with only terms of the question;
    or the best passage and the steps are below the same heading, which has all terms of the question's topic.

    Args:
        question: The question.
        passages: All passages of the document, in order.
        best: The best passage.
        answer_span: Its answering sentence.
    """
    if step_number(best.text, answer_span[0]) is not None:
        if not is_step(question, best, answer_span):
            return ()
        start = answer_span[0]
        is_sure = is_below_matching_heading(question, best, answer_span) or headings_name_topic(question, best, start)
        parts = _parts_of_list(passages, best) if is_sure or _HOW_TO.match(_introducing_line(best, start)) else ()
        return parts if len(parts) > 1 else ()
    for passage in (passage for passage in passages if _naming_headings(passage) == _naming_headings(best)):
        firsts = (match.span(1) for match in _FIRST_STEPS.finditer(passage.text, passage.body))
        first = next((span for span in firsts if is_step(question, passage, span)), None)
        if first is not None and headings_name_topic(question, passage, first[0]):
            return _parts_of_list(passages, passage)
    return ()


def step_number(text: str, start: int) -> int | None:
    """Return the number at the beginning of the line of a sentence; None if there is none right before or in it."""
    match = _NUMBERED.match(text, line_start(text, start))
    return int(match[1]) if match is not None and start <= match.end() else None


def _parts_of_list(passages: Sequence[StoredPassage], part: StoredPassage) -> Sequence[StoredPassage]:
    """Return the passages of the numbered list around one of its parts, in order; each continues with the next number.

    Args:
        passages: All passages of the document, in order.
        part: A passage with part of the list.
    """
    first = last = [passage.id for passage in passages].index(part.id)
    while first and _continues_list(passages[first - 1], passages[first]):
        first -= 1
    while last + 1 < len(passages) and _continues_list(passages[last], passages[last + 1]):
        last += 1
    return passages[first : last + 1] if last - first < _MOST_PARTS else passages[:0]


def _continues_list(passage: StoredPassage, following: StoredPassage) -> bool:
    last = [match[1] for match in _NUMBERED.finditer(passage.text, passage.body)][-1:]
    first = _NUMBERED.match(following.text[following.body :].lstrip("\n"))
    return passage.context == following.context and first is not None and [str(int(first[1]) - 1)] == last


def headings_name_topic(question: str, passage: StoredPassage, first: int) -> bool:
    """Whether the headings of a list have the topic of a question for steps or tasks, and not another topic.

    The nearest heading has all terms; or only terms of the topic, while the title and outer headings have the rest.
    A line that introduces the list, before its first item at character `first`, has the verb, or all terms itself.
    """
    about = list_topic(question)
    topic = ordered_terms(about or "")
    if about is None or not topic:
        return about is not None and _TASK.search(question) is not None
    heading, line = nearest_heading(passage), _introducing_line(passage, first)
    if set(topic) <= terms(line):
        heading = line
    else:
        nearest, outer = terms(_TASK.sub("", heading)), terms(f"{passage.context} {passage.title}")
        is_all_above = set(topic) <= nearest or nearest <= set(topic) <= outer
        if not is_all_above or (ordered_terms(_INTRODUCES.sub("", line)) and topic[0] not in terms(line)):
            return False
    return not is_other_topic(about, heading)


def is_other_topic(topic: str, heading: str) -> bool:
    """Whether a word of a topic or a heading makes them different: "on" and "off", "not", "if"."""
    topic_words, heading_words = (set(_WORD.findall(part.lower())) for part in (topic, heading))
    is_opposite = any({word, opposite} <= topic_words ^ heading_words for word, opposite in _OPPOSITES)
    return is_opposite or bool((topic_words ^ heading_words) & _DECISIVE or (heading_words - topic_words) & _CONDITIONS)


def list_topic(question: str) -> str | None:
    """Return the topic of a question for steps or tasks: "descale it" of "how do I descale it?"; None for others."""
    if how := _ASKS_HOW_TO.match(question):
        return _MAKE.sub("", question[how.start("when") if how["when"] else how.end() :])
    if not _ASKS_WHICH_TASKS.match(question):
        return None
    rest = question
    for words in (_ASKS_FOR_OPEN, _ASKS_FOR_DONE, _TASK, _ASKS_WHICH_TASKS):
        rest = words.sub(" ", rest)
    return rest


def command_topic(question: str) -> str | None:
    """Return the topic of a question that a command may answer: "lint it" of "how do I lint it?"; None for others."""
    asks = _ASKS_FOR_COMMAND.match(question)
    return question[asks.end() :] if asks else list_topic(question) if asks_how_to(question) else None


def asks_for_command(question: str) -> bool:
    """Whether only a command answers a question."""
    return _ASKS_FOR_COMMAND.match(question) is not None


def asks_to_look(topic: str) -> bool:
    """Whether the topic of a question for a command is to find or see something: "view the logs"."""
    return _LOOKS.match(topic) is not None


def does_what_is_asked(topic: str, line: str) -> bool:
    """Whether the first word of the line above a command, which says what that does, is one of the question's topic."""
    first = [term for term in ordered_terms(line) if term not in OF_COMMANDS][:1]
    return set(first) <= terms(topic)


def nearest_heading(passage: StoredPassage) -> str:
    """Return the innermost heading of a passage that is more than "Steps" or the like; else the title."""
    return _naming_headings(passage).rsplit(" › ", 1)[-1] or passage.title


def _naming_headings(passage: StoredPassage) -> str:
    """Return the headings of a passage, down to the last one that is more than "Steps" or the like."""
    parts = passage.context.split(" › ")
    while parts and not terms(_INTRODUCES.sub("", parts[-1])):
        parts.pop()
    return " › ".join(parts)


def _introducing_line(passage: StoredPassage, first: int) -> str:
    """Return the line right before a list if it introduces that, ending in a colon or being no sentence; else ""."""
    before = passage.text[passage.body : line_start(passage.text, first)]
    before = _BOXES.sub("", before)
    line = before.rstrip().rpartition("\n")[2].strip()
    is_apart = before.rstrip(" \t").endswith("\n\n")
    return "" if line.endswith((".", "!", "?")) or (is_apart and not line.endswith(":")) else line
