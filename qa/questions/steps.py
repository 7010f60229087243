"""Lists that are answers as a whole: the steps of a way to do something, and tasks with boxes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from index import STOP_WORDS, StoredPassage, word_terms

# Questions for a way to do something, and a step of it.
_ASKS_HOW_TO = re.compile(
    r"\W*(?:how (?:do|does|can|could|should|would|must|shall|to)\b"
    r"|what(?:['’]s| is| are) the (?:steps|procedure|process|drill|routine)\b"
    r"|what (?:do|should|must) (?:i|we|you) do (?:to|in case of|(?P<when>if|when|before|after))\b)",
    re.IGNORECASE,
)
_STEP = re.compile(r"\(?\d{1,2}[.)]\s")
# The beginning of a clause or a rule rather than of a step: "3. The lease ends if".
_STATEMENT = re.compile(
    r"(?:\(?\d{1,2}[.)]?\s+)?(?:the|an?|any|each|every|all|both|either|neither|such)\b", re.IGNORECASE
)
# A number without a mark at the beginning of a line, but no day of a month: "3 rinse it".
_MONTH = r"(?:jan|feb|mar|apr|ma[iy]|jun|jul|aug|sept?|o[ck]t|nov|de[cz])(?:r?uary?|ch|il|[ei]|y|ust|(?:t?em|o)ber)?\b"
_BARE_NUMBER = re.compile(rf"[ \t]*(\d{{1,2}})[ \t]+(?!{_MONTH})(?=[^\W\d])", re.IGNORECASE)
_NUMBERED = re.compile(r"^[ \t]*\(?(\d{1,2})(?:[.)][ \t]+(?=\S)|[ \t]+(?=[^\W\d]))", re.MULTILINE)
_FIRST_STEPS = re.compile(r"^[ \t]*(\(?1[.) ][ \t]*\S.*)(?:\n(?![ \t]*\(?\d)[^\n]*)*\n[ \t]*\(?2[.) ]", re.MULTILINE)
# At most this many passages of one list are put together.
_MOST_PARTS = 8
_HOW_TO = re.compile(r"\W*how to\b", re.IGNORECASE)
_BULLET = re.compile(r"[•◦▪‣●○■□–—*+-]\s+(?!\[[ xX]?\])")
# A heading that says that what follows is a way: "How to descale it", "Descaling it", "Steps". Bullets may be anything.
_WAY = re.compile(r"\W*(?:how to|\w{3,}ing)\b|\b(?:steps|procedure|instructions|directions)\b", re.IGNORECASE)
# Questions for open or done tasks, which have boxes: `- [ ] paint the door`, `- [x] sweep`.
_ASKS_FOR_OPEN = re.compile(
    r"\b(?:still|left|remain(?:s|ing)?|outstanding|pending|unfinished|undone|to[ -]?dos?|be (?:done|finished|completed)"
    r"|(?:not|never|\w+n['’]t)(?: (?:yet|been|ever|all|fully))* (?:done|finished|completed|(?:tick|cross)ed(?: off)?)"
    r"|un(?:ticked|checked)|open (?:task|item|point|issue|job)s?"
    r"|(?:task|item|point|issue|job)s? (?:is |are )?open)\b",
    re.IGNORECASE,
)
_ASKS_FOR_DONE = re.compile(r"\b(?:done|finished|completed|ticked(?: off)?|crossed off)\b", re.IGNORECASE)
_OPEN_BOX, _DONE_BOX = re.compile(r"\[ ?\]\s"), re.compile(r"\[[xX]\]\s")
# Whose task it is.
_OF_ONE = re.compile(r"\[[ xX]?\]\s+(?P<name>[^\W\d_][^:\n]{0,40}):")
# Other tasks before one.
_BOXES = re.compile(r"(?:^\s*(?:[*+-] )?\[[ xX]?\]\s[^\n]*\n)+\Z", re.MULTILINE)
_ASKS_WHICH_TASKS = re.compile(r"\W*(?:which|what|list|name|show)\b", re.IGNORECASE)
_TASK = re.compile(r"\b(?:tasks?|items?|points?|issues?|jobs?|things?|to-?dos?|lists?|yet|already)\b", re.IGNORECASE)
# A verb that headings leave out: "How do I make the rye bread?" below "Rye bread".
_MAKE = re.compile(r"\A\W*(?:\w+ )?(?:make|prepare)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
# Words without which a way is another one, and pairs that turn it around.
_DECISIVE = frozenset({"not", "no", "never", "without", "don", "before", "after"})
_CONDITIONS = frozenset({"if", "unless"})
_OPPOSITES = (("on", "off"), ("up", "down"), ("in", "out"), ("before", "after"))
# One of these with its verb, "switch on the pump", "switch the pump on", rather than before a noun, "in the shed".
_PARTICLE = re.compile(
    r"(?:\A\W*(?:\d[\d.]*\W+|(?:i|we|you|one)\s)?\w+\s|\w{3,}ing\s|\A\W*(?=before|after)|\b(?=\w+\W*\Z))"
    r"(on|off|up|down|in|out|before|after)\b"
)
# Words of an introducing line or a heading that say no more than that a list follows: "Follow these steps:".
_INTRODUCES = re.compile(
    r"\b(?:follow\w*|steps?|proceed|below|order|procedure|instructions|directions|method|way|please)\b", re.IGNORECASE
)


def terms(text: str) -> set[str]:
    """Return the stems of a text's words, without stop words."""
    return set(_ordered_terms(text))


def tasks(question: str, text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the open or the done tasks, whichever the question asks for; none if it asks for neither.

    If it names whose, only these: "[ ] Lea: order signs".
    """
    box = _OPEN_BOX if _ASKS_FOR_OPEN.search(question) else _DONE_BOX if _ASKS_FOR_DONE.search(question) else None
    found = [span for span in spans if box and box.match(text, span[0])]
    own = [span for span in found if (one := _OF_ONE.match(text, *span)) and terms(one["name"]) & terms(question)]
    return own or found


def is_step(question: str, passage: StoredPassage, span: tuple[int, int]) -> bool:
    """Whether a sentence is one of the steps of what the question asks how to do, not below a heading for the opposite.

    They are numbered and no clauses ("3. The lease ends if"), or have bullets below a heading that says that this is a
    way to do just that.
    """
    text = passage.text
    at = text.rfind("\n", 0, span[0]) + 1
    line = text[at : span[1]].lstrip()
    if not asks_for_way(question) or _STATEMENT.match(line) or is_opposite_way(question, passage):
        return False
    if _STEP.match(line) or has_bare_number(text, at):
        return True
    heading, topic = _heading(passage), terms(subject(question) or "")
    return bool(_BULLET.match(line) and _WAY.search(heading) and topic and topic <= terms(heading))


def says_all(question: str, passage: StoredPassage, step: tuple[int, int]) -> bool:
    """Whether a step itself has all that the question asks how to do: "3. Promote the replica: ..."."""
    topic = terms(subject(question) or "")
    return len(topic) > 1 and is_step(question, passage, step) and topic <= terms(passage.text[slice(*step)])


def asks_for_way(question: str) -> bool:
    """Whether a question asks how to do something."""
    return _ASKS_HOW_TO.match(question) is not None


def is_opposite_way(question: str, passage: StoredPassage) -> bool:
    """Whether a question asks how to switch something on, say, and the heading above is about switching it off."""
    if not asks_for_way(question):
        return False
    parts = ((subject(question) or "").lower(), _heading(passage).lower())
    asked, said = (set(_WORD.findall(part)) for part in parts)
    particles = {one for part in parts for one in _PARTICLE.findall(part)}
    return any({one, other} <= (asked ^ said) & particles for one, other in _OPPOSITES)


def has_bare_number(text: str, line: int) -> bool:
    """Whether a line, by its first character, has a number without a mark, and one next to it the one next to that."""
    found = _BARE_NUMBER.match(text, line)
    near = ((text.rfind("\n", 0, max(line - 1, 0)) + 1, -1), (text.find("\n", line) + 1, 1))
    others = ((_BARE_NUMBER.match(text, at), step) for at, step in near if at != line)
    return found is not None and any(one and int(one[1]) == int(found[1]) + step for one, step in others)


def is_below_topic(question: str, passage: StoredPassage, step: tuple[int, int]) -> bool:
    """Whether the heading above a step says nothing that the question does not, and the step nothing else of that.

    It may have the question's verb: "Bake for 12 minutes" below "Scones" is a step of "how do I bake scones?", but
    "Keep them warm at 80" answers "how do I keep them warm?" alone.
    """
    heading = terms(_INTRODUCES.sub("", _heading(passage)))
    asked = _ordered_terms(subject(question) or "")
    others = set(asked[1:]) - heading
    return bool(heading) and heading <= terms(question) and others.isdisjoint(terms(passage.text[slice(*step)]))


def is_of_another_way(
    question: str, passages: Iterable[StoredPassage], best: StoredPassage, lead: tuple[int, int]
) -> bool:
    """Whether a step is below headings that lack a word of what is asked, while another one in the document has all."""
    topic = terms(subject(question) or "")
    above = terms(f"{best.context} {best.title} {_line_above(best, lead[0])}")
    is_other = is_step(question, best, lead) and not topic <= above
    return is_other and any(topic <= terms(_heading(one)) for one in passages)


def parts_of_way(
    question: str, passages: Sequence[StoredPassage], best: StoredPassage, lead: tuple[int, int]
) -> Sequence[StoredPassage]:
    """Return the passages with the numbered steps of what a question asks how to do, in order; none if nothing says so.

    Either the answering sentence is one of several steps below "How to ..." or a heading that says nothing that the
    question does not, or the best passage is below a heading that names all of the question, and so are the steps.

    Args:
        question: The question.
        passages: All passages of the best one's document, in order.
        best: The best passage.
        lead: Its answering sentence.
    """
    if step_number(best.text, lead[0]) is not None:
        if not is_step(question, best, lead):
            return ()
        says_so = is_below_topic(question, best, lead) or is_named(question, best, lead[0])
        parts = _parts_of_list(passages, best) if says_so or _HOW_TO.match(_line_above(best, lead[0])) else ()
        return parts if len(parts) > 1 else ()
    for one in passages:
        first = _FIRST_STEPS.search(one.text, one.body) if _place(one) == _place(best) else None
        if first is not None and is_step(question, one, first.span(1)) and is_named(question, one, first.start(1)):
            return _parts_of_list(passages, one)
    return ()


def step_number(text: str, start: int) -> int | None:
    """Return the number before or at a sentence, by its first character, if a line begins with it."""
    found = _NUMBERED.match(text, text.rfind("\n", 0, start) + 1)
    return int(found[1]) if found is not None and start <= found.end() else None


def _parts_of_list(passages: Sequence[StoredPassage], one: StoredPassage) -> Sequence[StoredPassage]:
    """Return the passages of a numbered list of which one has a part, in order: each goes on with the next number.

    Args:
        passages: All passages of the document, in order.
        one: The passage.
    """
    first = last = [other.id for other in passages].index(one.id)
    while first and _goes_on(passages[first - 1], passages[first]):
        first -= 1
    while last + 1 < len(passages) and _goes_on(passages[last], passages[last + 1]):
        last += 1
    return passages[first : last + 1] if last - first < _MOST_PARTS else passages[:0]


def _goes_on(one: StoredPassage, other: StoredPassage) -> bool:
    last = [found[1] for found in _NUMBERED.finditer(one.text, one.body)][-1:]
    following = _NUMBERED.match(other.text[other.body :].lstrip("\n"))
    return one.context == other.context and following is not None and [str(int(following[1]) - 1)] == last


def is_named(question: str, passage: StoredPassage, first: int) -> bool:
    """Whether the headings above a list name all that a question for steps or tasks is about, and nothing else does.

    The nearest heading has all of its words; or the title and the headings further up have what is missing, and the
    nearest one is about nothing else. A line right before the first item, at character `first`, has its verb.
    """
    about = subject(question)
    topic = _ordered_terms(about or "")
    if about is None or not topic:
        return about is not None and _TASK.search(question) is not None
    heading, line = _heading(passage), _line_above(passage, first)
    if set(topic) <= terms(line):
        heading = line
    else:
        near, above = terms(_TASK.sub("", heading)), terms(f"{passage.context} {passage.title}")
        is_all_above = set(topic) <= near or near <= set(topic) <= above
        if not is_all_above or (_ordered_terms(_INTRODUCES.sub("", line)) and topic[0] not in terms(line)):
            return False
    asked, said = (set(_WORD.findall(part.lower())) for part in (about, heading))
    is_opposite = any({one, other} <= asked ^ said for one, other in _OPPOSITES)
    return not (is_opposite or (asked ^ said) & _DECISIVE or (said - asked) & _CONDITIONS)


def subject(question: str) -> str | None:
    """Return what a question for steps or tasks says besides asking for them; None if it is another question."""
    if how := _ASKS_HOW_TO.match(question):
        return _MAKE.sub("", question[how.start("when") if how["when"] else how.end() :])
    if not _ASKS_WHICH_TASKS.match(question):
        return None
    rest = question
    for words in (_ASKS_FOR_OPEN, _ASKS_FOR_DONE, _TASK, _ASKS_WHICH_TASKS):
        rest = words.sub(" ", rest)
    return rest


def _heading(passage: StoredPassage) -> str:
    """Return the nearest heading above a passage that names something, which "Steps" does not; else the title."""
    return _place(passage).rsplit(" › ", 1)[-1] or passage.title


def _place(passage: StoredPassage) -> str:
    """Return the headings above a passage, down to the last one that names something."""
    parts = passage.context.split(" › ")
    while parts and not terms(_INTRODUCES.sub("", parts[-1])):
        parts.pop()
    return " › ".join(parts)


def _line_above(passage: StoredPassage, first: int) -> str:
    """Return the line right before a list if it introduces it: if it ends in a colon, or is no sentence."""
    before = passage.text[passage.body : passage.text.rfind("\n", 0, first) + 1]
    before = _BOXES.sub("", before)
    line = before.rstrip().rpartition("\n")[2].strip()
    is_apart = before.rstrip(" \t").endswith("\n\n")
    return "" if line.endswith((".", "!", "?")) or (is_apart and not line.endswith(":")) else line


def _ordered_terms(text: str) -> list[str]:
    return [term for word in _WORD.findall(text.lower()) if word not in STOP_WORDS for term in word_terms(word)]
