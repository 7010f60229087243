"""The words of a question about a table, and of its cells and columns, by their stems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from index import STOP_WORDS, word_terms
from qa.language.values import MONTH_NAMES, WEEKDAY_NAMES
from qa.tables.measures import kind_of_unit
from qa.tables.superlatives import VERBS

# Verbs that only say that a row has a value.
_PLAIN_VERBS = frozenset({
    "accept", "accepts", "allow", "allows", "assigned", "based", "belong", "belongs", "contain", "contains", "equipped",
    "held", "hold", "holds", "include", "includes", "kept", "listed", "located", "made", "marked", "offer", "offers",
    "permit", "permits", "provide", "provides", "run", "runs", "running", "sit", "sits", "stand", "stands", "support",
    "supports", "work", "working", "works",
})  # fmt: skip
# Those that say more, which a column has to name: who needs a key may have none.
_OTHER_VERBS = frozenset({
    "came", "come", "comes", "get", "gets", "got", "live", "lives", "need", "needs", "use", "used", "uses", "using",
})  # fmt: skip
# Words that change nothing: a table only says how things are now.
ADVERBS = frozenset({"already", "currently", "now", "still", "yet"})
# Days and months by the three-letter abbreviations in tables.
_NAMES = {*WEEKDAY_NAMES, *MONTH_NAMES, "tues", "weds", "thurs", "sept"} - {"may"}
_SHORT = {name: name[:3] for name in _NAMES}
# Last words of the names of columns with numbers of persons or things: "staff no", beside "name".
IDENTIFIERS = frozenset({"code", "id", "no", "nr", "num", "number"})
# The stems of days and months.
DAYS = frozenset({*_SHORT.values(), "may"})
WORD = re.compile(r"[^\W_]+")
# The end of the head of a column name: "Volume (l)", "depth in m".
_BEHIND_HEAD = re.compile(r"(?<=\w)\s*[(\[,]|(?<=\w)\s+(?:per|of|in|on|at|for|by|above|below|from|to)\b", re.IGNORECASE)
# Endings by which the stems of a verb and its noun differ: owns, owner.
_ENDINGS = frozenset({"er", "or", "ed", "r", "d", "ing", "ion", "s"})
LEAST_STEM = 3


@dataclass(slots=True)
class QuestionWord:
    """A word of the question.

    Attributes:
        text: The word in lower case.
        stem: Its stem.
        start: Its first character.
        end: One past its last character.
        is_explained: Whether the table explains it.
        is_noun: Whether its position makes it a noun: "which run ...?"
        is_name: Whether it is a verb that names a column.
        is_head: Whether it is the noun for the things asked for: "servers" in "which Debian servers ...?"
    """

    text: str
    stem: str
    start: int
    end: int
    is_explained: bool = False
    is_noun: bool = False
    is_name: bool = False
    is_head: bool = False

    @property
    def is_verb(self) -> bool:
        """Whether it is a verb that says that a row has a value, or which property is measured."""
        return not self.is_noun and (self.text in _PLAIN_VERBS | _OTHER_VERBS or self.stem in VERBS)

    @property
    def is_plain(self) -> bool:
        """Whether it need not be explained."""
        return self.text in STOP_WORDS or (self.text in _PLAIN_VERBS and not (self.is_noun or self.is_name))


def stems_of(text: str) -> list[str]:
    """Return the stems of a text's words, in order."""
    return [stem_of(word) for word in words_of(text)]


def words_of(text: str) -> list[str]:
    """Return a text's words in lower case, in order, without adverbs unless there is nothing else."""
    words = WORD.findall(text.lower())
    return [word for word in words if word not in ADVERBS] or words


def head_of(name: str) -> list[str]:
    """Return what a column holds: the last word of its name before its unit, a bracket, a comma or a preposition."""
    words = words_of(_BEHIND_HEAD.split(name, maxsplit=1)[0])
    while len(words) > 1 and (kind_of_unit(words[-1]) is not None or words[-1].isdecimal()):
        words.pop()
    return words[-1:]


def stem_of(word: str) -> str:
    """Return the stem of a word in lower case; days and months by their first three letters."""
    return _SHORT.get(word) or next(iter(word_terms(word)), word)


def is_same_word(one: str, other: str) -> bool:
    """Whether two words in lower case differ at most by the plural, or by the abbreviation of a day or month."""
    short, long = sorted((_SHORT.get(one, one), _SHORT.get(other, other)), key=len)
    return long in {short, f"{short}s", f"{short}es"} or (short[-1:] == "y" and long == f"{short[:-1]}ies")


def is_among(stem: str, names: Sequence[str]) -> bool:
    """Whether a stem is one of the names, or differs from one only by an ending: owns, owner."""
    pairs = [sorted((stem, name), key=len) for name in names]
    return any(
        short == long or (len(short) >= LEAST_STEM and long.startswith(short) and long[len(short) :] in _ENDINGS)
        for short, long in pairs
    )
