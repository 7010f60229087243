"""Roles of persons in records: "client: Ida Gray" does not answer who the landlord is, nor who witnessed the contract.

The reader takes any name beside the right subject for an answer. A question that asks for a role, "who is the landlord
of ...?", or for whoever did something, "who witnessed ...?", is answered by a field only if its name may say that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from index import STOP_WORDS, StoredPassage, word_terms
from qa.answer.numbered import record_around

# Roles, and verbs for what those in them do. Two words in one group may mean the same; two words that are both in
# groups, but in none together, do not.
_ALIKE = """
    responsible assignee owner lead leader manager coordinator supervisor head charge handler handle led manage;
    responsible assignee assigned handler handle work fix solve maintain care deal;
    owner landlord lessor own belong let lend lent;
    tenant lessee renter resident occupant rent live occupy pay paid;
    author writer creator write wrote written create draft compose;
    author sender from send sent write wrote written;
    recipient addressee to receive got;
    reporter requester author opener raise report open file submit request create notice discover find
        found write wrote;
    approver signatory approve authorise authorize sign release clear;
    approver reviewer review check approve;
    reviewer editor review check correct edit;
    witness attest;
    inspector auditor examiner tester technician inspect audit examine test check;
    client customer buyer purchaser guest payer buy bought order purchase book pay paid hire rent commission
        stay;
    supplier vendor seller provider manufacturer maker contractor supply supplies sell sold provide deliver
        manufacture make made;
    contractor builder technician repair install build built fix;
    teacher instructor lecturer trainer tutor coach speaker teach taught train give gave hold held;
    speaker presenter lecturer talk speak spoke present give gave;
    employer hire employ;
    employee;
    borrower borrow;
    lender lend lent;
    director direct;
    producer produce;
    artist painter paint drew;
    composer compose write wrote;
    publisher publish;
    translator translate;
    doctor physician surgeon treat operate;
    patient;
    winner win won;
    driver pilot captain drive drove fly flew deliver;
    organiser organizer host chair organise organize;
    chair head president lead led;
    treasurer;
    secretary;
    solicitor lawyer attorney counsel represent advise;
    donor sponsor donate give gave fund finance pay paid;
    guarantor guarantee;
"""
_ROLES_WORDS = """
    approver addressee artist assignee attorney auditor author borrower builder buyer captain chair
    client coach composer contractor coordinator counsel creator customer director doctor donor
    driver editor employee employer examiner guarantor guest handler head host inspector instructor
    landlord lawyer lead leader lecturer lender lessee lessor maker manager manufacturer occupant
    organiser organizer owner painter patient payee payer physician pilot presenter president
    producer provider publisher purchaser recipient renter reporter requester resident responsible
    reviewer secretary seller sender signatory solicitor speaker sponsor supervisor supplier surgeon
    teacher technician tenant tester trainer translator treasurer tutor vendor winner witness writer
"""
# Roles in the handling of a record; others may do what no group says: "who uses the drill?", "borrower: Ida".
_OFFICES_WORDS = """
    approver attorney author client coordinator creator customer editor employee employer guest handler lawyer lead
    leader manager owner reporter requester responsible reviewer secretary solicitor supervisor writer
"""
_ASKS = re.compile(
    r"\W*(?:and |so )?who(?P<is>['’]s| is| are| was| were| will be| has been| have been)?\s+", re.IGNORECASE
)
# What is asked for ends here.
_END = re.compile(
    r"\b(?:of|for|in|at|on|to|from|that|who|when|since|during|by|with|under|according|behind|and|or)\b|[?.,;:(!]",
    re.IGNORECASE,
)
_DETERMINER = re.compile(r"(?:the|our|my|its|their|his|her|your|a|an|this|that)\s+", re.IGNORECASE)
_POSSESSIVE = re.compile(r"[^?]*?\w(?:['’]s|s['’])\s+", re.IGNORECASE)
_PARTICIPLE = re.compile(
    r"(?:(?:in|currently|now|still|also|actually|mainly)\s+)*(?P<word>charge|\w+(?=\s+(?:for|to)\b)|\w+(?:ed|ing))\b",
    re.IGNORECASE,
)
_HELPERS_WORDS = """
    has have had did do does will would shall should can could may might must also first last
    originally usually actually really currently now still finally already just not be been
"""
# Verbs that say little of a role, and nouns that name none.
_LIGHT_WORDS = """
    call came come gave get give gives go got had hold holds held keep keeps kept know made make makes met need
    needs put run runs ran said say see sees saw set take takes told took use used uses want wants went work works
    worked
"""
_ANYBODY = frozenset(
    {"boss", "contact", "guy", "man", "member", "name", "one", "people", "person", "staff", "team", "woman"}
)
_WORD = re.compile(r"[^\W\d_]+")
_ROLES = frozenset(_ROLES_WORDS.split())
_OFFICES = frozenset(_OFFICES_WORDS.split())
_HELPERS = frozenset(_HELPERS_WORDS.split())
_LIGHT = frozenset(_LIGHT_WORDS.split()) | {""}
_LEAST_STEM = 4
_ENDINGS = frozenset({"", "e", "er", "or", "r", "d", "ed", "ee", "t", "s", "ing", "ion", "ist"})


def is_in_another_role(question: str, passage: StoredPassage, lead: tuple[int, int], answer: str) -> bool:
    """Whether a question for a person in a role is answered by a record's field that names a person in another one.

    Args:
        question: The question.
        passage: The passage that answers.
        lead: The characters of its answering sentence, row or field.
        answer: The part of it that answers.
    """
    asked, are_nouns = _asked(question)
    record = dict(_fields(record_around(passage, lead))) if asked else {}
    names = [name for name, value in record.items() if answer.strip() in f"{name}: {value}"]
    if not names or any(_may_say(name, asked) for name in names):
        return False
    if any(map(_groups, asked)) or _has_any(asked, " ".join(record)):
        return True
    path = passage.document.path.rsplit(".", 1)[0]
    around = (path, passage.title, *passage.heading, passage.text[: passage.body], *record.values())
    is_office = any(_role(name) in _OFFICES for name in names)
    return (are_nouns or is_office) and not _has_any(asked, " ".join(around))


def _may_say(name: str, asked: Sequence[str]) -> bool:
    """Whether a field may name whoever is asked for: it is no role, or the same one."""
    role = _role(name)
    return not role or _has_any(asked, name) or any(_groups(word) & _groups(role) for word in asked)


def _has_any(words: Sequence[str], text: str) -> bool:
    return any(_is_same(word, own) for word in words for own in _words(text))


def _asked(question: str) -> tuple[list[str], bool]:
    """Return the words of a question that name a role, and True; or the verb for what someone did, and False."""
    asks = _ASKS.match(question)
    if asks is None:
        return [], False
    rest = question[asks.end() :]
    if not asks["is"]:
        verb = next((word for word in _words(rest) if word not in _HELPERS), "")
        return [] if verb in STOP_WORDS | _LIGHT else [verb], False
    noun = _POSSESSIVE.match(rest)
    if noun is None or _END.search(rest, 0, noun.end()):
        noun = _DETERMINER.match(rest)
    if noun is not None:
        words = _words(_END.split(rest[noun.end() :], maxsplit=1)[0])
        return [word for word in words if word not in STOP_WORDS | _ANYBODY], True
    participle = _PARTICIPLE.match(rest)
    return [participle["word"].lower()] if participle else [], False


def _fields(record: str) -> Iterator[tuple[str, str]]:
    for line in record.split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip(), value.strip()


def _role(name: str) -> str:
    """Return the role that a field names: "supplier" of "main supplier", "reviewer" of "reviewed by"; else ""."""
    words = _words(name)
    if words[-1:] == ["by"] and len(words) > 1:
        return next((role for role in sorted(_ROLES) if _is_same(words[-2], role)), "")
    return words[-1] if words and words[-1] in _ROLES else ""


@cache
def _groups(word: str) -> frozenset[int]:
    """Return the numbers of the groups of words for the same role that have a word, in any form."""
    stem = _stem(word)
    groups = enumerate(_ALIKE.split(";"))
    return frozenset(number for number, group in groups if stem in map(_stem, group.split()))


def _is_same(word: str, other: str) -> bool:
    """Whether two words differ at most by an ending: reviews, reviewer; but an employer is no employee."""
    ends = {one[-2:] if one.endswith("ee") else "er" for one in (word, other) if one.endswith(("ee", "er", "or"))}
    if len(ends) > 1:
        return False
    short, long = sorted((_stem(word), _stem(other)), key=len)
    return short == long or (len(short) >= _LEAST_STEM and long.startswith(short) and long[len(short) :] in _ENDINGS)


@cache
def _stem(word: str) -> str:
    return next(iter(word_terms(word)), word)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
