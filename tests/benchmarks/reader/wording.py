"""Rephrase questions, and change questions and passages so that they no longer match."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from .words import DAYS, FORMS, MONTHS, OPENINGS, SMALL, SPELLED, opposites, synonyms

_SYNONYMS = synonyms()
_OPPOSITES = opposites()
_NAME = re.compile(
    r"(?<![.?!]\s)(?<!^)\b[A-Z][\w'’-]+(?:[ ](?:(?:of|de|von|van|the|al|du)[ ])*[A-Z][\w'’-]*|[ ][A-Z]\.)*"
)
_YEAR = re.compile(r"\b(?:1[0-9]{3}|20[0-2][0-9])s?\b")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w])")
# In order of precedence.
_KINDS = {
    "year": _YEAR,
    "month": re.compile(rf"\b(?:{'|'.join(MONTHS)})\b"),
    "day": re.compile(rf"\b(?:{'|'.join(DAYS)})\b"),
    "number": _NUMBER,
    "spelled": re.compile(rf"\b(?:{'|'.join(SPELLED)})\b"),
    "name": _NAME,
}
_NO_NAMES = frozenset(
    [
        "What", "Who", "When", "Where", "Why", "How", "Which", "Whose", "Whom", "In", "On", "At", "The", "A", "An",
        "Is", "Was", "Are", "Were", "Did", "Does", "Do", "I", "It", "He", "She", "They", "We", "This", "That",
    ]
)  # fmt: skip
_AUXILIARY = re.compile(r"\b(did|does|do|is|was|are|were|can|could|will|would|has|have|had|should|must|may)\b", re.I)
_SENTENCE = re.compile(r".+?(?:[.!?][\"”’)\]]*(?=\s+[A-Z0-9\"“(\[])|\n|$)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entity:
    """A name, number or date in a text."""

    kind: str
    start: int
    end: int
    text: str


def entities(text: str) -> list[Entity]:
    """The names, numbers and dates in a text, in order and without overlaps."""
    result: list[Entity] = []
    is_taken = [False] * len(text)
    for kind, pattern in _KINDS.items():
        for match in pattern.finditer(text):
            # A possessive ending is not part of the name.
            word = re.sub(r"['’]s?$", "", match.group())
            span = slice(match.start(), match.start() + len(word))
            if word not in _NO_NAMES and not any(is_taken[span]):
                is_taken[span] = [True] * len(word)
                result.append(Entity(kind, span.start, span.stop, word))
    return sorted(result, key=lambda entity: entity.start)


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a text, including trailing blanks."""
    return [match.span() for match in _SENTENCE.finditer(text)]


def _with_case_of(model: str, word: str) -> str:
    return word[0].upper() + word[1:] if model[:1].isupper() else word


def paraphrase(question: str, random: Random) -> str:
    """The question with synonyms, in another form, or shortened."""
    changed = " ".join(question.split()).rstrip("?").rstrip()
    if random.random() < 0.7:
        changed = re.sub(r"[A-Za-z]+", lambda match: _other_word(match.group(), random), changed)
    draw = random.random()
    if draw < 0.45:
        changed = _other_form(changed, random)
    elif draw < 0.65:
        kept = [word for word in changed.split() if word.lower() not in SMALL]
        changed = " ".join(kept) if len(kept) >= 3 else changed
    elif draw < 0.8:
        changed = random.choice(OPENINGS) + changed[0].lower() + changed[1:]
    return changed + random.choice(("?", "?", "", ""))


def as_typed(question: str, random: Random) -> str:
    """A question unchanged, paraphrased, or in lower case without its question mark."""
    draw = random.random()
    if draw < 0.15:
        return paraphrase(question, random)
    if draw < 0.35:
        return question.lower().rstrip("?")
    return question


def _other_word(word: str, random: Random) -> str:
    others = _SYNONYMS.get(word.lower())
    return _with_case_of(word, random.choice(others)) if others and random.random() < 0.7 else word


def _other_form(question: str, random: Random) -> str:
    for pattern, forms in FORMS:
        if re.match(pattern, question, re.I):
            return re.sub(pattern, random.choice(forms), question, count=1, flags=re.I)
    return question


def negated(question: str, random: Random) -> str | None:
    """The question with "not" or "never", or with a word replaced by its opposite."""
    words = [match for match in re.finditer(r"[A-Za-z]+", question) if match.group().lower() in _OPPOSITES]
    if words and random.random() < 0.75:
        match = random.choice(words)
        word = _with_case_of(match.group(), _OPPOSITES[match.group().lower()])
        return question[: match.start()] + word + question[match.end() :]
    verb = _AUXILIARY.search(question)
    if verb is None:
        return None
    if verb.group().lower() in ("did", "was", "is", "were", "are", "does", "do") and random.random() < 0.5:
        return question[: verb.end()] + "n't" + question[verb.end() :]
    following = question[verb.end() :].split(" ")
    # After the subject, which is assumed to have two or three words.
    at = min(len(following), random.choice((2, 2, 3)))
    return question[: verb.end()] + " ".join([*following[:at], random.choice(("never", "not")), *following[at:]])


def _disjoint(text: str, other_text: str) -> bool:
    a, b = text.lower(), other_text.lower()
    return a not in b and b not in a and not set(a.split()) & set(b.split())


def other_entity(entity: Entity, near: list[Entity], random: Random) -> str | None:
    """Another entity of the same kind: from `near`, or made up unless it is a name."""
    same_kind = [other for other in near if other.kind == entity.kind]
    others = sorted({other.text for other in same_kind if _disjoint(other.text, entity.text)})
    if others and (entity.kind == "name" or random.random() < 0.7):
        return random.choice(others)
    new: str | None = None
    lists = {"month": MONTHS, "day": DAYS, "spelled": SPELLED}
    if entity.kind in lists:
        new = random.choice(lists[entity.kind])
    elif entity.kind == "year":
        digits = entity.text.rstrip("s")
        new = str(int(digits) + random.choice((-50, -20, -10, -7, -3, -2, -1, 1, 2, 3, 5, 10, 20))) + entity.text[4:]
    elif entity.kind == "number":
        new = re.sub(r"\d", lambda match: str(random.randint(1, 9)), entity.text)
    return new if new is not None and new != entity.text else None


def asks_for_another(question: str, passage: str, answer: str, pool: list[Entity], random: Random) -> str | None:
    """The question with another name, number or date from the passage or from `pool` (its article)."""
    replaceable = [entity for entity in entities(question) if _disjoint(entity.text, answer)]
    if not replaceable:
        return None
    entity = random.choice(replaceable)
    local = [other for other in entities(passage) if _disjoint(other.text, answer) and other.text not in question]
    near = local if random.random() < 0.55 else [other for other in pool if other.text not in passage]
    other = other_entity(entity, near, random)
    if other is None or other in question:
        return None
    return question[: entity.start] + other + question[entity.end :]


def word_swapped(question: str, passage: str, answer: str, random: Random) -> str | None:
    """The question with a word that is also in the passage replaced by another word of the passage."""
    words = {word for word in re.findall(r"\b[a-z]{5,}\b", passage) if word not in answer.lower()}
    shared = [m for m in re.finditer(r"\b[a-z]{5,}\b", question) if m.group() in words and m.start()]
    if not shared:
        return None
    match: re.Match[str] = random.choice(shared)
    ending = match.group()[-2:]
    others: list[str] = sorted(
        w for w in words if w[-2:] == ending and w not in question and w[:4] != match.group()[:4]
    )
    if not others:
        return None
    return question[: match.start()] + random.choice(others) + question[match.end() :]


def without_answer(passage: str, answer: str) -> str | None:
    """The passage without the sentences that contain the answer; None if too little remains."""
    kept = "".join(passage[a:b] for a, b in sentences(passage) if answer.lower() not in passage[a:b].lower())
    return kept.strip() if len(kept) > 0.35 * len(passage) and len(kept.split()) >= 15 else None


def about_another(question: str, passage: str, answer: str, pool: list[Entity], random: Random) -> str | None:
    """The passage with a name, number or date of the question replaced by another one."""
    shared = [e for e in entities(question) if e.text in passage and _disjoint(e.text, answer)]
    if not shared:
        return None
    entity = random.choice(shared)
    other = other_entity(entity, [e for e in pool if e.text not in passage and e.text not in question], random)
    if other is None:
        return None
    changed = re.sub(rf"(?<!\w){re.escape(entity.text)}(?!\w)", lambda _: other, passage)
    return changed if entity.text not in changed else None


def with_other_answer(
    passage: str, start: int, end: int, pool: list[Entity], random: Random
) -> tuple[str, int, int] | None:
    """The passage with another answer in the same place: otherwise a changed passage would always be a near miss."""
    answer = passage[start:end]
    # The pattern finds no name at the beginning of a text.
    matching = [e for e in entities("x " + answer) if e.text == answer]
    if not matching or passage.count(answer) != 1:
        return None
    other = other_entity(matching[0], [e for e in pool if e.text not in passage], random)
    if other is None:
        return None
    return passage[:start] + other + passage[end:], start, start + len(other)


def as_list(passage: str, start: int, end: int, random: Random) -> tuple[str, int, int]:
    """The passage as a list with a sentence per item, and the answer's new place."""
    mark = random.choice(("- ", "* ", "• "))
    text, begin, stop = "", start, end
    for a, b in sentences(passage):
        if a <= start < b:
            begin = len(text) + len(mark) + start - a
            stop = begin + end - start
        text += mark + passage[a:b].rstrip() + "\n"
    return (text, begin, stop) if text[begin:stop] == passage[start:end] else (passage, start, end)
