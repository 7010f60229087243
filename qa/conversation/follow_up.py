"""Complete follow-up questions in English from the previous turn by rules; leave them alone if no rule clearly applies.

Three kinds are completed. A pronoun without an antecedent in its own question is replaced by the previous answer or by
the topic of the previous question. A fragment after "and" or "what about" replaces its counterpart in the previous
question. A question after "and" that names nothing is asked together with the topic of the previous question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from qa.conversation.topic import (
    ASKING,
    AUXILIARY,
    BE,
    BEFORE_VERB,
    DATE,
    DAY_OR_MONTH,
    DETERMINER,
    NON_NAME,
    PREPOSITION,
    content_words,
    names_in,
    topic_of,
)

_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")
_CONJUNCTION = re.compile(r"(?:(?:and|also|but)\b[\s,]*)+(?:(?:what|how) about\s+)?|(?:what|how) about\s+", re.I)
_PERSON = re.compile(r"he|him|his|she|hers?", re.I)
_PLURAL_PRONOUN = re.compile(r"they|them|theirs?|(?:these|those)(?!\s+\w+s\b)", re.I)
_THING = re.compile(r"its?", re.I)
_POSSESSIVE = re.compile(r"his|its|theirs?|hers", re.I)
# "it" without an antecedent.
_IMPERSONAL = re.compile(
    r"\bit\s+(?:rain|snow|pour|possible|worth|true|ok|necessary|allowed|safe|common|likely|late|(?:take|cost)\w* to)",
    re.I,
)
_IMPERSONAL_QUESTION = re.compile(
    r"(?:(?:what|which)\s+(?:time|day|date)\s+(?:is|was)\s+it\s+(?:in|now)|how\s+far\s+(?:is|was)\s+it\s+(?:to|from)"
    r"|.*\bit\s+(?:get|become)s?\s+(?:dark|light|cold|warm|hot|late))\b",
    re.I,
)
# What a question with one of these names needs no topic.
_SINGLE = re.compile(r"\b(?:nearest|closest)\b", re.I)
# "this" and "that" as pronouns, not as the beginning of a clause.
_DEMONSTRATIVE = re.compile(
    r"(?:(?<=\bdid )|(?<=\bdoes )|(?<=\bis )|(?<=\bwas )|(?<=\bwill ))th(?:is|at)\b"
    r"(?!\s+(?:year|month|week|day|morning|afternoon|evening|quarter|term|season)\b)|\bth(?:is|at)$",
    re.I,
)
_OTHER_ONE = re.compile(r"\b(?:another|other|which|that|this) ones?\b|\belse$", re.I)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_PHRASE_WITH_YEAR = re.compile(rf"\s*(?:\b{PREPOSITION}\s+)?{_YEAR.pattern}", re.I)
_MONTH = re.compile(rf"\b(?:{DAY_OR_MONTH})\b(?P<year>\s+{_YEAR.pattern})?", re.I)
# A numbered thing: "1044", "B-14", "room 14".
_NUMBERED = re.compile(r"(?:(?P<noun>[^\W\d]+)\s+)?(?P<number>\S*\d\S*)")
_COUNTED = re.compile(rf"(?<=how many )(?:\S+\s+){{0,2}}?\S+(?=\s+{AUXILIARY}\b)|(?<=how many )\S+", re.I)
# A bare question word, as in "since when?".
_BARE_QUESTION_WORD = re.compile(rf"(?:(?:since|until|{PREPOSITION})\s+)?{ASKING}", re.I)
# A noun phrase at the end of a question: "the rent", "my sick leave".
_LAST_PHRASE = re.compile(rf"(?<=\s){DETERMINER}(?:\s+(?!{PREPOSITION}\b)[^\s,]+){{1,3}}$", re.I)
_CLAUSE = re.compile(rf"{AUXILIARY}\b|{ASKING}\s", re.I)
# A question about what it names; its answer is a description, not a new topic.
_DEFINITION = re.compile(rf"(?:who|what)(?:'s|\s+{BE})\s+(?!{DETERMINER}\b)", re.I)
# Possible antecedents of "it" and "they" in their own question.
_SINGULAR = re.compile(rf"\b{DETERMINER}\s+\S*[^s\s](?=\s|$)", re.I)
_PLURAL = re.compile(rf"\b(?!{BE}\b|has\b|does\b)(?<!\bwho )(?<!\bwhat )\w+s(?=\s)", re.I)
_SOMEBODY = re.compile(r"\b(?:(?:an?|each|every|any|no)\s+\w|(?:some|every)(?:one|body)\b)", re.I)
# An answer of more words is not a name.
_MAX_NAME_WORDS = 8
# A longer question, in characters, is taken to be complete.
_MAX_QUESTION_CHARS = 300


@dataclass(frozen=True, slots=True)
class Turn:
    """A completed question and its exact answer, or "".

    `topic_question` is the earlier question that names its topic, or "" if it names the topic itself.
    """

    question: str
    answer: str = ""
    topic_question: str = ""

    @property
    def standalone(self) -> str:
        """The last question that can be understood alone."""
        return self.topic_question or self.question


def next_turn(question: str, previous: Turn | None) -> Turn:
    """Return the turn for a question asked after another turn, without an answer yet."""
    if previous is None or len(question) > _MAX_QUESTION_CHARS:
        return Turn(question)
    conjunction = _CONJUNCTION.match(question)
    text = _without_end_mark(question[conjunction.end() :] if conjunction else question)
    standalone, topic_question = _without_end_mark(previous.standalone), ""
    topic = topic_of(standalone) or standalone
    resolved = _resolve_pronouns(text, previous)
    if resolved is None:
        text, topic_question = f"{text}? ({content_words(standalone) or standalone})", previous.standalone
    elif resolved != text:
        text = f"{resolved}?"
    elif _OTHER_ONE.search(text):
        text, topic_question = f"{text}, {topic}?", previous.standalone
    elif _BARE_QUESTION_WORD.fullmatch(text):
        text, topic_question = f"{standalone}, and {text.lower()}?", previous.standalone
    elif conjunction is None or not text:
        text = question
    elif _CLAUSE.match(text):
        text, topic_question = (
            (f"{text}?", "") if names_in(text) or _SINGLE.search(text) else (f"{text}? ({topic})", previous.standalone)
        )
    elif replaced := _replace_counterpart(text, standalone):
        text = replaced
    else:
        # The topic's own year would be another one.
        topic = _PHRASE_WITH_YEAR.sub("", topic) if _YEAR.search(text) else topic
        text, topic_question = f"{text}, {topic}?", previous.standalone
    return Turn(text, topic_question=topic_question)


def _resolve_pronouns(question: str, previous: Turn) -> str | None:
    """Return a question with the pronouns that refer to the previous turn replaced by their antecedents.

    None if there are such pronouns, but what they refer to cannot be told.
    """
    resolved, at = "", 0
    replaced: dict[str, bool] = {}
    for match in _WORD.finditer(question):
        antecedent = _antecedent(match, question, previous)
        if antecedent == "":
            return None
        is_thing = _THING.fullmatch(match[0]) is not None
        # "it" and "they" in the same question are two things.
        if antecedent and replaced.setdefault(antecedent, is_thing) is is_thing:
            resolved += question[at : match.start()] + antecedent
            at = match.end()
    return resolved + question[at:]


def _antecedent(match: re.Match[str], question: str, previous: Turn) -> str | None:
    """Return the antecedent of a pronoun in the previous turn, "" if it cannot be told; other words have None."""
    word, preceding, following = match[0], question[: match.start()], question[match.end() :]
    if word.lower() == "there":
        is_place = not re.search(rf"\b{BE}\s+$", preceding, re.I) and not re.match(rf"\s*{BE}\b", following, re.I)
        name = _answer_if_name(previous, "where")
        return f"in {name}" if is_place and name else None
    if _PERSON.fullmatch(word):
        # Abbreviations, such as "GPUs", are not people.
        is_named = any(re.search(r"[A-Z][a-z]{2}", name) for name in names_in(preceding))
        is_in_question = is_named or bool(_SOMEBODY.search(preceding))
        antecedent = _answer_if_name(previous, "who") or _first_name(previous)
    elif (plural := _PLURAL_PRONOUN.match(question, match.start())) and plural.end() == match.end():
        is_in_question = bool(names_in(preceding) or _PLURAL.search(preceding))
        antecedent = _answer_if_name(previous, "who") or _topic(previous)
    elif _IMPERSONAL.match(question, match.start()) or _IMPERSONAL_QUESTION.match(question):
        return None
    elif (_THING.fullmatch(word) and word != "IT") or _DEMONSTRATIVE.match(question, match.start()):
        is_in_question = bool(names_in(preceding) or _SINGULAR.search(preceding))
        antecedent = _answer_if_name(previous, "which", "what") or _topic(previous, is_one=True)
    else:
        return None
    if is_in_question:
        return None
    antecedent = re.sub(r"['’]s$", "", antecedent)
    is_her = word.lower() == "her" and re.match(r"\s+\w", following) and not NON_NAME.match(following.lstrip())
    is_possessive = is_her or _POSSESSIVE.fullmatch(word)
    is_of_plural = word.lower() == "their" and antecedent.endswith("s")
    possessive = "'" if is_of_plural else "'s" if is_possessive and antecedent else ""
    return f"{antecedent}{possessive}"


def _answer_if_name(previous: Turn, *question_words: str) -> str:
    """Return the previous answer if it is a name and its question began with one of these words, else ""."""
    is_date = DATE.fullmatch(previous.answer)
    is_name = re.match(r"[A-Z]", previous.answer) and not is_date and len(previous.answer.split()) <= _MAX_NAME_WORDS
    is_requested = previous.question.lower().startswith(question_words) and not _DEFINITION.match(previous.question)
    return previous.answer if is_name and is_requested else ""


def _topic(previous: Turn, *, is_one: bool = False) -> str:
    return topic_of(_without_end_mark(previous.standalone), is_one=is_one)


def _first_name(previous: Turn) -> str:
    return next(iter(names_in(previous.question) or names_in(previous.standalone)), "")


def _replace_counterpart(fragment: str, standalone: str) -> str:
    """Return the previous question with a fragment in place of its counterpart, or ""."""
    replace = _replace_after_preposition if re.match(rf"{PREPOSITION}\b", fragment, re.I) else _replace_phrase
    rules = _replace_year, _replace_month, _replace_number, replace
    return next(filter(None, (rule(fragment, standalone) for rule in rules)), "")


def _replace_year(fragment: str, standalone: str) -> str:
    """Return the question with the year that the fragment consists of, or ""."""
    year = re.fullmatch(rf"({PREPOSITION}\s+)?({_YEAR.pattern})", fragment, re.I)
    old_years = _YEAR.findall(standalone)
    if year is None or len(old_years) > 1:
        return ""
    with_preposition = f"{year[1] or 'in '}{year[2]}"
    return f"{_YEAR.sub(year[2], standalone)}?" if old_years else f"{standalone} {with_preposition}?"


def _replace_month(fragment: str, standalone: str) -> str:
    """Return the question with the fragment, a month or weekday, for its only one, or ""; the year is the same."""
    new = _MONTH.fullmatch(fragment)
    if new is None:
        return ""
    replaced, count = _MONTH.subn(lambda old: new[0] if new["year"] else f"{new[0]}{old['year'] or ''}", standalone)
    return f"{replaced}?" if count == 1 else ""


def _replace_number(fragment: str, standalone: str) -> str:
    """Return the question with the fragment for the only number that is written like it, "room 14" or "B-14", or ""."""
    new = _NUMBERED.fullmatch(fragment)
    if new is None:
        return ""
    before = rf"\b{new['noun']}\s+" if new["noun"] else r"(?<!\S)"
    written = r"\d+".join(map(re.escape, re.split(r"\d+", new["number"])))
    replaced, count = re.subn(rf"{before}{written}(?!\S)", lambda _: fragment, standalone, flags=re.I)
    return f"{replaced}?" if count == 1 else ""


def _replace_after_preposition(fragment: str, standalone: str) -> str:
    """Return the question with the fragment for the phrase after the same preposition, or at the end."""
    preposition, years = fragment.split(maxsplit=1)[0], _YEAR.findall(standalone)
    phrase = re.search(rf"\b{preposition}\s+.+?(?=\s+{PREPOSITION}\b|$)", standalone, re.I)
    start, end = phrase.span() if phrase else (len(standalone), len(standalone))
    is_month = re.fullmatch(rf"{preposition}\s+(?:{DAY_OR_MONTH})", fragment, re.I)
    # A month is one of the same year.
    year = f" {years[0]}" if is_month and len(years) == 1 and years[0] in standalone[start:end] else ""
    return f"{standalone[:start].rstrip()} {fragment}{year}{standalone[end:]}?"


def _replace_phrase(fragment: str, standalone: str) -> str:
    """Return the question with the fragment for its only name, its last phrase, or what it counts, or ""."""
    new_years, old_years = _YEAR.findall(fragment), _YEAR.findall(standalone)
    if len(new_years) == len(old_years) == 1:
        replaced = _replace_phrase(*(_PHRASE_WITH_YEAR.sub("", it).strip() for it in (fragment, standalone)))
        return f"{_without_end_mark(replaced)} in {new_years[0]}?" if replaced else ""
    new_names, old_names = names_in(fragment), names_in(standalone)
    is_determined = re.match(rf"{DETERMINER}\s+", fragment, re.I)
    is_one_of_same = is_determined and re.search(r"\bones?$", fragment)
    bare = fragment[is_determined.end() if is_determined else 0 :]
    # "Project Elm" after "who leads project Fir?"
    before = "" if not (new_names and old_names) else bare.removesuffix(new_names[0])
    is_named = len(new_names) == len(old_names) == 1 and bare == before + new_names[0]
    if is_named and f"{before}{old_names[0]}".lower() in standalone.lower():
        is_possessive = new_names[0].endswith(("'s", "’s"))
        old_name = old_names[0] if is_possessive else re.sub(r"['’]s$", "", old_names[0])
        return standalone.replace(old_name, new_names[0]) + "?"
    if not old_names and is_determined and not is_one_of_same and (phrase := _LAST_PHRASE.search(standalone)):
        # After "does" and the like, the last word is the verb: "when does the tour start".
        verb = phrase[0].rsplit(maxsplit=1)[1] if BEFORE_VERB.search(standalone, 0, phrase.start()) else ""
        return f"{standalone[: phrase.start()]}{fragment} {verb}".rstrip() + "?"
    is_counted = _COUNTED.search(standalone) and not is_determined
    return _COUNTED.sub(fragment, standalone, count=1) + "?" if is_counted else ""


def _without_end_mark(question: str) -> str:
    return question.strip().rstrip("?!. ")
