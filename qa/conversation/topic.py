"""What a question in English is about: the noun phrase that a pronoun in the next question stands for."""

from __future__ import annotations

import re

from qa.language.values import MONTH_NAMES, WEEKDAY_NAME

BE = r"(?:is|are|was|were)"
AUXILIARY_OF_VERB = r"(?:do|does|did|has|have|had|can|could|will|would|shall|should|might|must"
AUXILIARY_OF_VERB += r"|may(?=\s+(?!and\b|or\b)[^\W\d]))"  # not the month
AUXILIARY = rf"(?:{BE}|am|be|{AUXILIARY_OF_VERB})"
ASKING = r"(?:who|whom|whose|what|which|when|where|why|how)"
PREPOSITION = r"(?:in|on|at|from|to|for|of|by|with|during|about|before|after|near|into)"
DETERMINER = r"(?:the|an?|my|our)"
DAY_OR_MONTH = rf"{WEEKDAY_NAME}s?|{'|'.join(MONTH_NAMES)}"
# A date or time is not what "it" refers to.
DATE = re.compile(rf"(?:{DAY_OR_MONTH}|[\d.,:\s]|and|to)+", re.I)
BEFORE_VERB = re.compile(rf"\b{AUXILIARY_OF_VERB}\s+$", re.I)
# Words that may begin with a capital at the start of a question without being names.
NON_NAME = re.compile(rf"(?:{AUXILIARY}|{ASKING}|{PREPOSITION}|{DETERMINER}|and|also|but|so|then|or|i)\b\s*", re.I)

_NAME = r"(?<!\w)(?:[A-Z]|\d[\d.,]*\b)[\w.'’&+-]*"
_NAMES = re.compile(rf"{_NAME}(?:\s+(?:(?:and|of|de|van|von|for|in|the|to|&)\s+)*{_NAME})*")
_PERSON = r"(?:i|we|you|they|he|she|it)"
# The verb of "how many days of leave do I get".
_VERB_OF_PERSON = re.compile(rf"(?<=\s)\b{AUXILIARY_OF_VERB}\s+{_PERSON}\b.*", re.I)
# "how do I restart nginx", "which queue do we use".
_DONE_BY_PERSON = re.compile(
    rf"(?:{ASKING}(?P<noun>(?:\s+[^\W\d]\S*){{0,3}}?)\s+)?{AUXILIARY_OF_VERB}\s+(?P<clause>{_PERSON}\s+[^\W\d]\S*"
    r"(?:\s+(?:up|out|off|down|over|back|away)\b)?(?:\s+in\b)?(?:\s+(?:to|into|for|with|of)\b)?(?P<object>.*))",
    re.I,
)
_SUBJECT = re.compile(rf"(?:{ASKING}(?:'s|\s+{BE})|how\s+(?!many\b|much\b)\w+\s+{BE}|{BE})\s+(?P<subject>.+)", re.I)
# "who is responsible for brisk", "who is in charge of brisk".
_RESPONSIBLE = re.compile(rf"(?:{PREPOSITION}\s+)?[^\W\d]\S*\s+(?:for|of|to|with)\s+(?P<object>[^\W\d].*)", re.I)
# What follows the subject of "when was the pump last cleaned in May", and of "what is brisk used for".
_PREDICATE = re.compile(
    r"\s+(?:(?:last|first|now|not|being|always|often|ever|\w{2,}ly)\s+)?(?:\w{3,}(?<!e)ed|built|made|held|kept|sent|sold"
    r"|bought|paid|found|given|taken|written|shown|known|done|run|set|put|cut|left|lost|broken|chosen|hidden|stolen"
    r"|spent|taught|hung|led|lit|born|due|open|ready|available|over)"
    rf"(?:\s+(?:{PREPOSITION}|last|this|next|every|each|yesterday|today)\b.*)?$",
    re.I,
)
_PREDICATE_OF_WHAT = re.compile(rf"\s+(?:called|named|used|made|built|based|written)(?:\s+{PREPOSITION}\b.*)?$", re.I)
# "which rooms have no lift", but not "which colour is the car".
_WHICH = re.compile(
    rf"(?:which|what)\s+(?P<noun>(?:(?!(?:of|if|{AUXILIARY}|{ASKING})\b)[^\W\d]\S*\s+){{1,3}}?)(?P<clause>(?:ha[sd]|have"
    rf"|{BE}(?!\s+(?:{DETERMINER}\s+(?!most|least|\w+est\b)|(?-i:[A-Z]))))"
    r"(?!\s+(?:i|we|you|s?he|it|th(?!e\b)\w+)\b)\s.+)",
    re.I,
)
# A clause that "it" can stand for as a whole.
_EVENT = re.compile(r"what\s+happens\s+(?:if|when)\b", re.I)
_DETERMINED = re.compile(rf"\b{DETERMINER}\s+.+", re.I)
_AFTER_PREPOSITION = re.compile(rf"(?<=\s){PREPOSITION}\s+(?:to\s+)?(?P<object>[^\W\d].+)", re.I)
# Verbs before an object, which cannot be told from the end of a subject of several words by its form.
_COMMON_VERB = re.compile(
    r"use|need|have|get|run|make|take|call|send|read|write|start|stop|store|keep|eat|want|support|allow|require|mean"
    r"|cost|cause|help|replace|do|go|come|work|live|look",
    re.I,
)
# What no phrase begins with that names a topic.
_NO_TOPIC = re.compile(
    rf"(?:{DETERMINER}|{PREPOSITION}|{AUXILIARY}|{ASKING}|{_PERSON}|us|me|them|this|that|these|those|there|here|last"
    r"|next|first|many|much|most|more|best|worst|twice|again|now|then|today|yesterday|tomorrow|if|than|as|not|\w{2,}ly)\b",
    re.I,
)
# The subject of "when do backups run" and the object of "who owns brisk" have no article.
_BARE_SUBJECT = re.compile(rf"(?:(?!who\b){ASKING}\s+(?:\S+\s+){{0,3}}?)?{AUXILIARY_OF_VERB}\s+(?P<clause>.+)", re.I)
_BARE_OBJECT = re.compile(
    rf"(?:who|what|which\s+\w+)\s+(?:(?!(?:do|does|did)\b){AUXILIARY_OF_VERB}\s+)?"
    rf"(?:ha[sd]|have|(?!{_NO_TOPIC.pattern})[^\W\d]\S*)\s+(?P<object>.+)",
    re.I,
)
_WHICH_SEVERAL = re.compile(
    rf"(?:which|what)\s+(?P<noun>(?!{AUXILIARY}\b)[^\W\d]\S*[^su\W\d]s)\s+(?P<clause>[^\W\d].+)", re.I
)
_MAX_SUBJECT_WORDS = 4


def names_in(question: str) -> list[str]:
    """Return the proper names in a question, in order; "Ann and Bo" is a single name, and a number alone is none."""
    names = []
    for match in _NAMES.finditer(question):
        name = match[0].rstrip(".,'’")
        while word := NON_NAME.match(name):
            name = name[word.end() :]
        if re.search(r"[A-Z]", name):
            names.append(name)
    return names


def content_words(question: str) -> str:
    """Return the words of a question that say what it is about, without question words, auxiliaries and the like."""
    return " ".join(word for word in question.split() if not _NO_TOPIC.fullmatch(word.strip("?!.,")))


def topic_of(question: str, *, is_one: bool = False) -> str:
    """Return the topic of a question without its end mark, or "" if it cannot be told; `is_one` if it is not several.

    It is what "which" asks for, the first name, the subject, the object, or what follows "the" or a preposition.
    """
    if _EVENT.match(question):
        return question
    if which := _WHICH.fullmatch(question):
        return f"the {which['noun']}that {which['clause']}"
    if names := [name for name in names_in(question) if not DATE.fullmatch(name)]:
        return names[0]
    if subject := _SUBJECT.fullmatch(question):
        return _of_subject(question, subject["subject"])
    if (
        topic := _done_by_person(question)
        or _bare_subject(question, is_one=is_one)
        or _bare_object(question, is_one=is_one)
    ):
        return topic
    return _after_article_or_preposition(_VERB_OF_PERSON.sub("", question).rstrip() or question)


def _after_article_or_preposition(question: str) -> str:
    determined, prepositional = _DETERMINED.search(question), _AFTER_PREPOSITION.search(question)
    if determined and BEFORE_VERB.search(question, 0, determined.start()):
        return _without_verb(determined[0])
    topic = determined[0] if determined else prepositional["object"] if prepositional else ""
    return "" if DATE.fullmatch(topic) else topic


def _of_subject(question: str, subject: str) -> str:
    """Return the topic in what follows "is" or "was": its subject without the predicate, or ""."""
    subject = re.sub(r"^there\s+", "", subject, flags=re.I)
    asks_who = re.match(r"who\b", question, re.I)
    if asks_who and (responsible := _RESPONSIBLE.fullmatch(subject)):
        return responsible["object"]
    if re.match(rf"{PREPOSITION}\b", subject, re.I):
        return ""
    if (
        re.match(BE, question, re.I)
        and question.endswith(f" {subject}")
        and not re.search(r"\sthere\s", question, re.I)
    ):
        return _without_adjective(subject)
    predicate = (_PREDICATE_OF_WHAT if asks_who or re.match(r"what\b", question, re.I) else _PREDICATE).search(subject)
    rest = subject[: predicate.start()] if predicate else subject
    return subject if re.fullmatch(DETERMINER, rest, re.I) else rest


def _without_adjective(subject: str) -> str:
    """Return the subject of "wifi free" or "the pool open on Sundays", in which something is said of it."""
    words = re.split(rf"\s+{PREPOSITION}\b", subject, maxsplit=1, flags=re.I)[0].split()
    least = 2 if re.fullmatch(DETERMINER, words[0], re.I) else 1
    return " ".join(words[:-1] if len(words) > least else words)


def _done_by_person(question: str) -> str:
    """Return the topic of "how do I restart nginx" or "which queue do we use", or ""."""
    asked = _DONE_BY_PERSON.fullmatch(question)
    if asked is None:
        return ""
    if asked["noun"]:
        is_clear = re.match(r"(?:which|what)\s", question, re.I) and re.search(r"\bdo\s+\S+\s+\S+$", question, re.I)
        return f"the{asked['noun']} {asked['clause']}" if is_clear else ""
    return _phrase(asked["object"])


def _bare_subject(question: str, *, is_one: bool) -> str:
    """Return the subject of a verb with an auxiliary, "when do backups run", if it has no article and is plain.

    Of "how do bees make honey", return the object if the topic is one thing.
    """
    asked = _BARE_SUBJECT.fullmatch(question)
    words = _phrase(asked["clause"]).split() if asked else []
    if not words or re.fullmatch(DETERMINER, words[0], re.I):
        return ""
    verbs = [at for at in range(1, len(words)) if _COMMON_VERB.fullmatch(words[at])]
    plurals = [at for at in range(1, len(words)) if re.search(r"[^su]s$", words[at - 1])]
    is_object_asked = re.match(r"(?:what|which|whom)\b", question, re.I)
    end = verbs[0] if verbs else plurals[0] if plurals else len(words) - 1 if is_object_asked or len(words) == 2 else 0
    is_object = is_one and bool(plurals) and end == plurals[0] < len(words) - 1
    return " ".join(words[end + 1 :] if is_object else words[:end]) if end < _MAX_SUBJECT_WORDS else ""


def _bare_object(question: str, *, is_one: bool) -> str:
    """Return the object of a verb whose subject is asked for, "who owns brisk", if it has no article.

    If the topic is several things, as in "which laptops support linux", return these.
    """
    several = None if is_one else _WHICH_SEVERAL.fullmatch(question)
    if several and not re.match(AUXILIARY, several["clause"], re.I):
        return f"the {several['noun']} that {several['clause']}"
    asked = _BARE_OBJECT.fullmatch(question)
    return _phrase(asked["object"]) if asked else ""


def _phrase(text: str) -> str:
    """Return the noun phrase that a text begins with, or ""; one without an article ends at most prepositions."""
    text = text.strip()
    if re.match(rf"{DETERMINER}\s", text, re.I):
        return text
    bare = re.split(rf"\s+(?!of\b|about\b){PREPOSITION}\b", text, maxsplit=1, flags=re.I)[0]
    return "" if _NO_TOPIC.match(bare) else bare


def _without_verb(clause: str) -> str:
    """Return the subject of "the course start on Monday": up to a preposition, less the last word."""
    words = re.split(rf"\s+{PREPOSITION}\b", clause, maxsplit=1, flags=re.I)[0].split()
    return " ".join(words[:-1] if len(words) > 2 else words)
