"""Lines that reject one value and give another: "Ann no, Bob yes", "80 -> 110", "Ann was for Rome. We chose Oslo"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from corpus import lazy_pattern
from index import STOP_WORDS

# Part of a clause: no mark that ends it, except within numbers and after titles.
_CHARACTER = r"(?:[^\n.;:,()]|[.,:](?=\d)|(?<=\bDr)\.|(?<=\bMr)\.|(?<=\bMrs)\.|(?<=\bProf)\.|(?<=\bSt)\.)"
_OLD = rf"(?P<old>(?=\S){_CHARACTER}{{1,50}}?)"
_NEW = rf"(?P<new>(?=\S){_CHARACTER}{{1,60}})"
_SHORT_NEW = rf"(?P<new>(?=\S){_CHARACTER}{{1,50}}?)"
# After the name of a field, the marker of an item or the time of a message.
_BEGIN = r"(?:^|(?<=[:.!?*] )|(?<=\*\*)|(?<=[-–] )|(?<=\())"
_IT_IS = r"(?:(?:it['’]?s|it is|it will be|make (?:it|that)|take|now|actually|rather|we (?:take|have|use)) )?"
_FAILED = (
    r"(?:fell through|has fallen through|said no|dropped out|declined|(?:has |have |is |are )?(?:cancell?ed|backed out)"
    r"|(?:was|were) (?:rejected|turned down|taken)|is (?:out|taken)|(?:doesn['’]?t|does not) work(?: after all)?)"
)
_INSTEAD_OF_OLD = (
    r"\((?P<old>(?:was|formerly|previously|instead of)(?: (?:the|at|by|for|from|in|on))? (?=[A-Z\d£€$]|[\w’-]+\))"
    r"[^()\n]{1,50}|not (?:(?:the|at|by|for|from|in|on) )?(?=[A-Z\d£€$])[^()\n]{1,50})\)"
)
# Words without which a pattern cannot match, and the pattern, which is compiled when they first occur.
_REPLACEMENTS = (
    (r"\byes\b", rf"{_BEGIN}{_OLD},? (?:said )?no[,;:–-]? +{_SHORT_NEW},? (?:said )?yes\b"),
    (
        r"\bbut ",
        r"\b(?i:not|no longer) (?!(?:all|every|just|merely|only|yet)\b)(?P<old>(?:[^\n.;:]|[.:](?=\d)){1,60}?),? "
        rf"but {_IT_IS}{_NEW}",
    ),
    (
        r"\b(?:wrong|no|nope|oops|sorry)[,:;!–-]",
        rf"{_BEGIN}{_OLD},? \(?(?:[A-Z]\w+: )?(?:wrong|no|nope|oops|sorry)(?:[,:;!–-]* (?:it['’]?s|it is"
        rf"|make (?:it|that)|should be)|[:!]) {_NEW}",
    ),
    (r"\bgoing to be ", rf"\bwas going to be (?P<old>(?:[^\n.;:]|[.:](?=\d)){{1,50}}?),? but {_IT_IS}{_NEW}"),
    (
        _FAILED,
        rf"{_BEGIN}{_OLD} {_FAILED}[,;]? (?:so|therefore|and so|we took|instead|but) {_IT_IS}{_NEW}",
    ),
    (_FAILED, rf"{_BEGIN}{_OLD} {_FAILED}[,;] {_SHORT_NEW}(?= (?:comes?|does|do|gets?|takes?|is|yes)\b)"),
    (
        r"\bcan(?:['’]?t|not)\b",
        rf"{_BEGIN}{_OLD},? (?:s?he |they |it )?can(?:['’]?t|not)\b[^\n.;:,]{{0,30}}?"
        rf"(?:, so| ?->| ?→) ?{_IT_IS}{_NEW}",
    ),
    (r"\((?:was|formerly|previously|instead|not) ", rf"{_BEGIN}{_SHORT_NEW} {_INSTEAD_OF_OLD}"),
)
_ARROW = lazy_pattern(rf"{_BEGIN}{_OLD} ?(?:-{{1,2}}>|→|=>) ?{_NEW}$", re.MULTILINE)
_ARROWS = lazy_pattern(r"->|→|=>")
# What was proposed, and what was decided after that.
_PROPOSED = lazy_pattern(
    r"\b(?:suggest\w*|propos\w+|(?:was|were) (?:for|in favour of)|want(?:s|ed)|offers?|offered|favou?red"
    r"|looked at)\b|\bor\b[^\n?]{0,40}\?",
    re.IGNORECASE,
)
_DECIDED = lazy_pattern(
    r"\b(?:(?:agreed|settled|decided|voted)(?: \w+ly)? (?:on|for|in favour of)|chose|opted for|went for) (?=\S)"
    rf"(?P<new>{_CHARACTER}{{1,80}})"
)
_TAKEN = lazy_pattern(
    r"\b(?P<new>(?:the )?\w+(?: \w+)?) (?:it is\b|gets (?:it|the (?:job|order|contract))\b)", re.IGNORECASE
)
_AGREED_WITH = lazy_pattern(r"\bagreed with (?P<who>[A-Z]\w+)")
_VOTES = lazy_pattern(
    rf"(?P<votes>\d+|one|two|three|none)(?: votes?)? for (?P<new>{_CHARACTER}{{1,50}}?)(?=[,;\n]|\.(?!\d)|\Z| and )"
)
_VOTED = lazy_pattern(r"\bvotes?\b", re.IGNORECASE)
_SMALL = {"none": 0, "one": 1, "two": 2, "three": 3}
# Questions for what was not chosen, or for how somewhere is reached.
_ASKS_FOR_REJECTED = re.compile(
    r"\b(?:suggest\w*|propos\w+|want\w*|reject\w*|turned down|offer\w*|originally|at first|before|instead|no|not"
    r"|favou?rites?|likes?d?|prefer\w*|taste|old|former\w*|previous\w*|used to|vot\w+|against|for whom|why"
    r"|how (?:do|does|can|to|is|are|did))\b",
    re.IGNORECASE,
)
_END_OF_ITEM = lazy_pattern(r"\n[ \t]*(?:\n|[-*•+][ \t]|\d{1,2}[.)][ \t]|[\[(]?\d{1,4}[./-]\d\d?[./-])")
_LONGEST_ITEM = 500
# The most words of an answer that may be rejected.
_MOST_WORDS = 12
_WORD = lazy_pattern(r"\w+")
_AMOUNT = lazy_pattern(r"[£€$]?\d+(?:[.,]\d+)*(?![\w:])")
_NUMBER = lazy_pattern(r"[£€$]?\d+(?:[.,:]\d+)*")


class Decision(NamedTuple):
    """A value that is rejected, and what is chosen instead.

    Attributes:
        old: The characters of what is rejected, end exclusive.
        new: Those of what is chosen, perhaps with a few more words.
    """

    old: tuple[int, int]
    new: tuple[int, int]


def decision_about(question: str, text: str, words: tuple[int, int], body: int) -> Decision | None:
    """Return what the line or item around some words of an answer chooses instead of them, if it rejects them.

    Args:
        question: What is asked; if it is for what was rejected, nothing is chosen instead.
        text: The text of a passage.
        words: The characters of the answer.
        body: Where the text begins, after its headings.
    """
    if _ASKS_FOR_REJECTED.search(question) or text.count(" ", *words) >= _MOST_WORDS:
        return None
    start = max(text.rfind("\n", body, words[0]) + 1, body, words[1] - _LONGEST_ITEM)
    end = _END_OF_ITEM.search(text, words[1])
    item = text[start : min(end.start() if end else len(text), start + _LONGEST_ITEM)]
    asked = _words(question)
    for old, new in _decisions(item):
        decision = Decision((old[0] + start, old[1] + start), (new[0] + start, new[1] + start))
        rejected = item[old[0] : new[0]]
        is_rejected = decision.old[0] < words[1] and words[0] < decision.old[1]
        # A name is no answer instead of a number.
        is_alike = not _NUMBER.search(text, *words) or _NUMBER.search(text, *decision.new)
        if is_rejected and is_alike and asked.isdisjoint(_words(rejected) - _words(item[: old[0]])):
            return decision
    return None


def _decisions(item: str) -> Iterator[Decision]:
    for cue, pattern in _REPLACEMENTS:
        for match in re.finditer(pattern, item, re.MULTILINE) if re.search(cue, item) else ():
            yield _narrowed(item, Decision(match.span("old"), match.span("new")))
    yield from _changes_with_arrow(item)
    proposed = _PROPOSED.search(item)
    if proposed is None:
        return
    begin = max(item.rfind(mark, 0, proposed.start()) + len(mark) for mark in (": ", "** ", "\n", "- "))
    begin = begin if begin < proposed.start() else 0
    if votes := [(_count(it["votes"]), it.span("new")) for it in _VOTES.finditer(item)] if _VOTED.search(item) else []:
        most, new = max(votes)
        if sum(count == most for count, _ in votes) == 1:
            yield Decision((begin, new[0]), new)
    for decided in _DECIDED.finditer(item, proposed.end()):
        yield _narrowed(item, Decision((begin, decided.start()), decided.span("new")))
    for taken in _TAKEN.finditer(item, proposed.end()):
        yield Decision((begin, taken.start()), taken.span("new"))
    for agreed in _AGREED_WITH.finditer(item, proposed.end()):
        theirs = re.compile(
            rf"\b{agreed['who']} (?:(?:was|is) for|suggested|proposed|wanted|preferred) (?P<new>{_CHARACTER}{{1,60}})"
        ).search(item, 0, agreed.start())
        if theirs:
            yield Decision((begin, theirs.start()), theirs.span("new"))


def _changes_with_arrow(item: str) -> Iterator[Decision]:
    """Yield "80 -> 110", but neither the way from one place or time to another nor a path through menus."""
    for match in _ARROW.finditer(item) if len(_ARROWS.findall(item)) == 1 else ():
        amount = _AMOUNT.match(match["new"])
        if amount and _AMOUNT.match(match["old"].split()[-1]):
            yield _narrowed(item, Decision(match.span("old"), match.span("new")))


def _narrowed(item: str, decision: Decision) -> Decision:
    """Return what a number replaces as the last number of it: of "start at 10", "10"."""
    numbers = list(_NUMBER.finditer(item, *decision.old))
    is_number = _NUMBER.match(item, *decision.new) is not None
    return Decision(numbers[-1].span(), decision.new) if numbers and is_number else decision


def _count(votes: str) -> int:
    return _SMALL[votes] if votes in _SMALL else int(votes)


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS}
