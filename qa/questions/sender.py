"""Questions about what people write to each other: "what did Ann say about the rent?", "who takes the big pot?".

Passages by Ann seldom name her, so the reader is asked for the topic alone; mails by others must not answer. If the
same was asked in a chat ("who takes the big pot?"), the reply answers, which alone says nothing ("me").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile, pairwise
from typing import NamedTuple

from corpus import SIGN_OFF, lazy_pattern
from index import STOP_WORDS, StoredPassage
from qa.language.question_kinds import QUESTION_WORD, asks_for_person, kind_of
from qa.language.spans import Span
from qa.language.terms import terms
from qa.language.values import MONTH, NUMBER_WORDS, WEEKDAY_NAME
from qa.structure.speakers import Said, Turn, turns

_ASKS_WHAT_WAS_SAID = lazy_pattern(
    r"what (?:did|does|do|has|have) (?P<name>[\w.'’ -]{1,40}?) (?:sa(?:y|id)|wr(?:ite|ote|itten)|th(?:ink|ought)"
    r"|repl(?:y|ied)|answer(?:ed)?|suggest(?:ed)?|mention(?:ed)?|report(?:ed)?|advised?|recommend(?:ed)?"
    r"|t(?:ell|old) \w+) (?:about|of|on|regarding|concerning) (?P<topic>.+?)[?. ]*",
    re.IGNORECASE,
)
_WORD = lazy_pattern(r"\w+")
# A word with a capital letter, but not the first one.
_CAPITALISED = lazy_pattern(r"(?<=\w )[^\W\d_a-zà-öø-ÿ]\w")
# The heading of a mail or quotation whose sender is known.
_HAS_SENDER = lazy_pattern(r"Quoted:|.+ to ")
# The most words of a greeting or signature.
_MAX_GREETING = 3

_ANYBODY = lazy_pattern(r"\b(?:any|some)(?:body|one)\b", re.IGNORECASE)
_YOU = lazy_pattern(r"\byour?s?\b", re.IGNORECASE)
_ASKS_FIRST = lazy_pattern(rf"\W*{QUESTION_WORD}", re.IGNORECASE)
# Words of questions that are not about their topic.
_GENERIC = terms(
    "anybody anyone somebody someone people person many much long what which time day date how cost yes no us"
)
_VERB = r"(?:am|can|could|will|would|do|did|have|shall|was)"
_IT = r"(?: \w{1,12}){0,2} (?:it|that|them|this|him|her|one|some)"
_ME = rf"(?:me|mine|i(?:['’](?:ll|d|ve|m)| {_VERB}){_IT}|i {_VERB})"
_IS_ME = lazy_pattern(
    rf"(?:(?:yes|yeah|yep|ok|sure|well|oh)\b[,.! ]*)?{_ME}(?:(?:[,.!]+ ?| and )[^?]{{0,60}}|[^\w?'’]*)", re.IGNORECASE
)
_REPLIES = {
    "time": lazy_pattern(
        r"\d[:.]\d\d|\d(?:st|nd|rd|th)\b|\d ?[ap]\.?m\b"
        r"|(?:\A\W*|\b(?:at|by|from|until|around|about) )\d\d?\b(?! \w)"
        rf"|\b{WEEKDAY_NAME}\b|\b{MONTH}|\b(?:today|tonight|tomorrow|noon|midnight|midday"
        r"|morning|afternoon|evening|night|half past|quarter (?:past|to)|o['’]clock|week|weekend|month)\b",
        re.IGNORECASE,
    ),
    "place": lazy_pattern(
        r"\A\W*(?:it['’]?s |they['’]?re |probably |maybe )?(?:in|at|on|by|behind|under|below|above|over|opposite|near"
        r"|next to|beside|between|inside|outside|upstairs|downstairs|round|around|across|here|there)\b"
        r"(?!(?: \w+)? (?:case|fact|general|least|opinion|time|view)\b)(?:\W+[\w'’-]+){0,5}\W*\Z",
        re.IGNORECASE,
    ),
    "number": lazy_pattern(
        rf"\d|(?:\A\W*|\b(?!one\b))(?:{'|'.join(NUMBER_WORDS)}|dozen|hundred|none|nothing|half)\b(?! of\b)",
        re.IGNORECASE,
    ),
    "yes or no": lazy_pattern(
        r"\A\W*(?:yes|no|yeah|yep|nope|nah|sure|of course|certainly|sadly|unfortunately|i think so"
        r"|i['’]?m afraid (?:so|not)|i don['’]t think so|not)\b",
        re.IGNORECASE,
    ),
}
# A reply that does not answer.
_NO_REPLY = lazy_pattern(
    r"(?:ok(?:ay)?|ha(?:ha)+|lol|thanks?(?: you)?|no idea|(?:i )?don['’]?t know|dunno|not sure|hm+|me too|sorry|ask \w+"
    r"|good (?:question|morning|evening|night)|happy (?:birthday|easter|christmas)|congrat\w*|see (?:you|ya|u)|bye"
    r"|hi|hello|hey|wow|yay|boo|nice|great|cool|lovely|well done|back (?:in|soon)|look|have you|just|still|also)\b"
    r"|\W*\Z",
    re.IGNORECASE,
)
_PROPOSES = lazy_pattern(r"\W*(?:or )?[\w'’-]+(?: [\w'’-]+)?\?\W*")
_QUESTION = lazy_pattern(r"[^.!?\n]{0,200}\?")
_SENTENCE = lazy_pattern(r"[^.!?\n]{1,400}(?:\n(?=[a-z])[^.!?\n]{1,400})?[.!?\n]?")
_ASKS_OTHER = lazy_pattern(
    r"\bI(?:['’](?:ve|d|ll)| have| had| will)? (?P<verb>asked?|told|want(?:ed)?|got|need(?:ed)?|expect(?:ed)?|let"
    r"|persuaded|begged|invited|paid) (?:[^\W\d_a-zà-öø-ÿ]|you\b|him\b|her\b|them\b|the\b|my\b)[^.!?]{0,60}\bto\b"
)
_NAME = lazy_pattern(r"(?<=[a-z,] )[^\W\d_a-zà-öø-ÿ][\w’'-]+")
# Most words of a reply, and how many further turns it may be after the question, for a thing or reason and for others.
_MOST_WORDS = 12
_NEXT, _NEAR = 1, 3
# Most terms that the question in the chat has beyond those of the question asked.
_MOST_OTHER = 2
# Turns before a question that say what it is about.
_ABOVE = 4
# Most words after a name in a reply: "Otto downstairs".
_MOST_FURTHER = 2
# Most characters between passages that follow each other.
_GAP = 100


class _Line(NamedTuple):
    """A turn of a chat, and its passage."""

    passage: StoredPassage
    turn: Turn

    @property
    def words(self) -> str:
        return self.passage.text[slice(*self.turn.words)]


class Reply(NamedTuple):
    """The reply to a question in a chat.

    Attributes:
        passage: The passage with the reply.
        asked: The turn that asks, if it is in the same passage.
        turn: The turn that replies.
        answer: Its words, or the name of who says "me".
    """

    passage: StoredPassage
    asked: Turn | None
    turn: Turn
    answer: str


def may_name_person(question: str) -> bool:
    """Whether a question asks for a person, or has what may be the name of one."""
    return asks_for_person(question) or _CAPITALISED.search(question) is not None


def said_of_topic(question: str, text: str, said: Sequence[Said]) -> list[Said]:
    """Return the sentences with a term of a question, if it asks for a person or has a name of who says them.

    Of "I asked Ann to call", only the asking is the speaker's.
    """
    topic, words, asks = terms(question), set(_WORD.findall(question)), asks_for_person(question)
    sentences = [
        Said(sentence.span(), it.speaker, it.head)
        for it in said
        if asks or any(len(word) > 1 for word in words.intersection(_WORD.findall(it.speaker)))
        for sentence in _SENTENCE.finditer(text, *it.span)
    ]
    own = [it for it in sentences if not topic.isdisjoint(terms(text[slice(*it.span)]))]
    others = [_ASKS_OTHER.search(text, *it.span) for it in own]
    return [
        it
        for it, other in zip(own, others, strict=True)
        if other is None or terms(text[it.span[0] : other.end("verb")]) & topic
    ]


def chat_reply(question: str, passages: Sequence[StoredPassage]) -> Reply | None:
    """Return the reply to the same question in a chat; None if there is none or several, or if others say it, too."""
    kind, topic = kind_of(question), terms(question) - _GENERIC
    if not kind or not topic:
        return None
    lines = _chat_lines(passages)
    names = {line.turn.speaker for line in lines}
    names |= {name for passage in passages if lines for name in _NAME.findall(passage.text)}
    found = []
    for at, line in enumerate(lines):
        asked = _asks_same(kind, topic, line.words)
        reply = None if asked is None else _reply(kind, line, _following(lines, at), names)
        if asked is None or reply is None:
            continue
        # "When do you start?"
        answerer = terms(reply.turn.speaker)
        said = (terms(it.words) for it in lines[max(0, at - _ABOVE) : at] if it.turn.speaker == reply.turn.speaker)
        rest = topic - asked
        if not rest or (_YOU.search(line.words) and rest & answerer and rest <= answerer.union(*said)):
            found.append((len(asked - topic) + len(rest), reply))
    best = [reply for other, reply in found if other == min(it[0] for it in found)]
    is_plain = len({reply.answer for reply in best}) == 1 and not _is_stated(topic, passages)
    return best[0] if is_plain else None


def is_cut_off(question: str, passage: StoredPassage) -> bool:
    """Whether a passage ends soon after the same question in a chat, so that the reply may be in the next one."""
    kind, topic = kind_of(question), terms(question) - _GENERIC
    last = turns(passage.text, passage.body)[-_NEAR:] if kind and topic else ()
    return any(_asks_same(kind, topic, passage.text[slice(*turn.words)]) is not None for turn in last)


def _chat_lines(passages: Sequence[StoredPassage]) -> list[_Line]:
    """Return the turns of passages in the order of their documents."""
    ordered = sorted(passages, key=lambda passage: (passage.document.id, passage.start))
    return [_Line(passage, turn) for passage in ordered for turn in turns(passage.text, passage.body)]


def _following(lines: Sequence[_Line], at: int) -> list[_Line]:
    """Return the next turns of the same chat, without a gap."""
    following: list[_Line] = []
    for line, further in pairwise(lines[at : at + 1 + 2 * _NEAR]):
        gap = further.passage.start - line.passage.end
        is_next = further.passage.document.id == line.passage.document.id and gap <= _GAP
        if not is_next:
            break
        following.append(further)
    return following


def _asks_same(kind: str, topic: set[str], words: str) -> set[str] | None:
    """Return the terms with which a turn asks for what a question of this kind and topic does; None if for another."""
    is_open = _ASKS_FIRST.match(words) and kind not in {"thing", "reason"}
    for asked in _QUESTION.findall(words) or ([words] if is_open else []):
        asked_kind, asked_terms = kind_of(asked), terms(asked) - _GENERIC
        is_same = asked_kind == kind or (kind == "person" and asked_kind == "yes or no" and _ANYBODY.search(asked))
        if is_same and topic & asked_terms and len(asked_terms - topic) <= _MOST_OTHER:
            return asked_terms
    return None


def _is_stated(topic: set[str], passages: Sequence[StoredPassage]) -> bool:
    """Whether a sentence that asks nothing has all the terms of a topic."""
    return any(
        not sentence.endswith("?") and topic <= terms(sentence) and not _ASKS_FIRST.match(sentence.rpartition(": ")[2])
        for passage in passages
        for sentence in _SENTENCE.findall(passage.text, passage.body)
    )


def _reply(kind: str, asked: _Line, following: Sequence[_Line], names: set[str]) -> Reply | None:
    """Return the first of the turns after a question that replies, by another speaker; None if none does plainly.

    None, too, if somebody then asks whether it is something else.
    """
    for number, line in enumerate(following[: _NEXT if kind in {"thing", "reason"} else _NEAR]):
        passage, turn = line
        if turn.speaker == asked.turn.speaker:
            return None
        if "?" in line.words or _NO_REPLY.match(line.words) or len(line.words.split()) > _MOST_WORDS:
            continue
        if kind == "person":
            answer = _person(line.words, turn.speaker, names)
        else:
            fits = _REPLIES.get(kind)
            answer = line.words if fits is None or fits.search(line.words) else ""
        if answer and not any(_PROPOSES.fullmatch(it.words) for it in following[number + 1 : number + 1 + _NEAR]):
            return Reply(passage, asked.turn if passage.id == asked.passage.id else None, turn, answer)
    return None


def _person(words: str, speaker: str, names: set[str]) -> str:
    """Return whom a reply names: the speaker for "me", or somebody known: "Otto downstairs"; "" if neither."""
    if _IS_ME.fullmatch(words):
        return speaker
    plain = words.rstrip(".!… ")
    first, *further = plain.replace(",", " ").split() or [""]
    is_known = plain in names or first in names or any(first == name.partition(" ")[0] for name in names)
    return plain if is_known and len(further) <= _MOST_FURTHER else ""


def topic_of_sender(question: str, passage: StoredPassage) -> str:
    """Return the topic of a question for somebody's words if the passage is by them; else "".

    The heading of a message is "Ann to Bob, 4 June", that of a quotation the name of its author.
    """
    request = _ASKS_WHAT_WAS_SAID.fullmatch(question)
    if not request or not passage.heading:
        return ""
    sender = passage.heading[-1].partition(" to ")[0]
    return request["topic"] if _words(request["name"]) <= _words(sender) else ""


def covers_topic_of_sender(question: str, passage: StoredPassage) -> bool:
    """Whether the passage is by the person whose words a question asks for, and has all terms of the topic."""
    topic = terms(topic_of_sender(question, passage))
    return bool(topic) and topic <= terms(passage.text[passage.body :])


def is_by_other_sender(question: str, passage: StoredPassage) -> bool:
    """Whether a question asks for the words of somebody by name, and the passage is a mail that does not name them.

    Names in its greeting do not count, and in "Ann's lawyer" only the lawyer's.
    """
    request = _ASKS_WHAT_WAS_SAID.fullmatch(question)
    if not request or not passage.is_mail or not _HAS_SENDER.match("".join(passage.heading[-1:])):
        return False
    by_whom = re.sub(r"\w+['’]s?\s", "", request["name"])
    name = {word for word in _WORD.findall(by_whom) if word[0].isupper() and word.lower() not in STOP_WORDS}
    names = _mentioned_names(request["name"], passage)
    lines = dropwhile(lambda line: _is_greeting(line, names), passage.text[passage.body :].splitlines())
    named = "\n".join((*(heading.partition(" to ")[0] for heading in passage.heading), *lines))
    return bool(name) and _words(" ".join(name)).isdisjoint(_words(named))


def without_greetings(question: str, passage: StoredPassage, sentences: list[Span]) -> list[Span]:
    """Leave out greetings and signatures if a question asks for what somebody said, unless there is nothing else."""
    request = _ASKS_WHAT_WAS_SAID.fullmatch(question)
    if not request:
        return sentences
    names = _mentioned_names(request["name"], passage)
    return [span for span in sentences if not _is_greeting(passage.text[slice(*span)], names)] or sentences


def _mentioned_names(name: str, passage: StoredPassage) -> set[str]:
    """Return the words of the name in the question, and of those in the passage's heading."""
    return {word for word in _words(" ".join((name, *passage.heading[-1:]))) if word.isalpha()}


def _is_greeting(sentence: str, names: set[str]) -> bool:
    """Whether a sentence is the closing of a letter, or is short and ends in a comma, or in a line with only names."""
    lines = sentence.split("\n")
    is_short = all(len(_WORD.findall(line)) <= _MAX_GREETING for line in lines)
    is_closing = SIGN_OFF.fullmatch(sentence) is not None
    return is_closing or (is_short and (sentence.endswith(",") or _words(lines[-1]) <= names))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
