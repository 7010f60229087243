"""Lines that may be headings, judging by their form, and the stack of the headings above a position."""

from __future__ import annotations

import re
from collections.abc import Sequence

# A longer line is text, even if it is marked as a heading.
MAX_HEADING = 300
_MAX_CHARACTERS = 120
_MAX_WORDS = 18
# Longer lines are headings only if written like titles.
_CLEAR_WORDS = 8
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SMALL = "a an and as at but by de der des die du for from in into of on or over the to und via vs with"
_SMALL_WORDS = frozenset(_SMALL.split())
# Words that begin a title after a colon, not a name.
_TITLE_STARTS = _SMALL_WORDS | {"how", "what", "when", "where", "which", "who", "why"}
# An address, or the credit of a picture: "Delegates on the gate. Photo: Tideline".
_URL = re.compile(r"https?://|www\.|\S@\S|[.(] ?(?:[Pp]hoto|[Ii]mage|[Pp]icture|[Ff]oto)s?(?::| by)")
_LABEL = r"[^\W\d_]+(?:[ ’'-][^\W\d_]+){0,2}"
_LABELLED = re.compile(rf"(?P<label>{_LABEL}): +(?P<value>.+)")
# "[Home](a.md) | [[Log]]", "**Present:** Ann", and of Org "#+DATE: 2024", ":PROPERTIES:".
_LINKS = r"(?:!?\[(?:\[[^\[\]]*\]\]|[^\[\]]*\]\([^()]*\))[\s|·•>/,-]*+)++"
_MARKUP = re.compile(rf"{_LINKS}|(?:(\*+|_+){_LABEL}(?::\1|\1:)\s|#\+\w|:[A-Z_]+:(?!\S)).*", re.DOTALL)
# Closings of a letter, above or before a name.
SIGN_OFF = re.compile(
    r"(?:(?:with )?(?:(?:kind|best|warm(?:est)?) )?(?:regards|wishes)|(?:yours )?(?:sincerely|faithfully|truly)|yours"
    r"|best|cheers|love|(?:many )?thanks|thank you|(?:mit )?(?:freundlich|lieb|viel|herzlich|best)e[nr]? grü(?:ß|ss)en?"
    r"|gruß)[,.!]?",
    re.IGNORECASE,
)
# "Regards, Ann", "Best wishes, A. Lee".
_SIGNED = re.compile(rf"{SIGN_OFF.pattern}(?<=[,.!])(?:\s+(?-i:[^\W\d_a-zà-öø-ÿ])[\w.'’-]*){{1,3}}", re.IGNORECASE)
# A footnote begins with a bare number and has another number: "15 Adjusted HR 0.61."
_FOOTNOTE = re.compile(r"\d+\s.*\d")
_QUOTES = "\"'“‘«>|"
# Directly above a heading, as in a book of abstracts.
_CODE = re.compile(r"[A-Z]{0,4}[-. ]?\d[\w.-]{0,7}")
_TIME = re.compile(r"\d[:.]\d\d(?!\d)")
_SEPARATOR = re.compile(r"[\d,;|=]")
_LABEL_WORDS = 3
_NAME_WORDS = 4
# "Ann Lee, Bo van Dam", in which no word is all in capitals.
_CAPITALISED = r"[^\W\d_a-zà-öø-ÿ](?:\.|[a-zà-öø-ÿ][\w.’'-]*)"
_FULL_NAME = rf"{_CAPITALISED}(?: (?:[a-z]{{2,3}} )?{_CAPITALISED}){{1,3}}"
_FULL_NAMES = re.compile(rf"{_FULL_NAME}(?:, {_FULL_NAME})+")
# A day: "Tuesday", "Wed 6 Sep", "the 3rd of May 2024", "Jun 3", "2025-04-02"; as a line also "Day 2", "2025-04-02 Wed",
# "Tuesday 22nd", "17 Aug 25", or with a title, "Tuesday: Reefs and Rocks".
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_NTH = r"\d\d?(?:st|nd|rd|th)?\b"
_SHORT = r"(?:mon|tue|wed|thu|fri|sat|sun)"
DAY = (
    rf"(?:(?:(?:{_WEEKDAY}|{_SHORT}),? )?(?:(?:the )?{_NTH} (?:of )?{_MONTH}|{_MONTH} {_NTH})(?:,? \d{{4}}\b)?"
    rf"|\d{{4}}-\d\d-\d\d\b|{_WEEKDAY}\b)"
)
_TITLED = rf"(?:{DAY}|(?:day|tag) \d+)(?: {_SHORT}|,? {_NTH})?(?:: (?-i:[^\W\d_a-z]).*)?"
# A paragraph in one line is at least this long; at least so many of them have a heading.
_MIN_LINE, _MIN_PARAGRAPHS = 80, 3
# The last line below a title that is no heading of its own.
_MAX_MASTHEAD = 3
_PARAGRAPH_END = re.compile(r"[.!?][\"”’)\]]*(?:\d{1,3}(?:,\d{1,3})*|\[\d{1,3}\])*\s*\Z")
# A question whose answer begins with "A:" on the next line.
_ASKED = re.compile(r"Q\d*[.:)]\s")
# Prose below a heading, in characters: its first line, and all of it. A line above it would have had room for its first
# word if both are shorter than this share of its lines.
_MIN_PROSE_LINE, _MIN_PROSE, _ROOM = 50, 100, 0.85
# A list or address has no longer line. How many lines are looked at.
_MAX_ITEM, _MAX_LINES = 80, 40


class HeadingStack:
    """The headings above the current position in a document; `path` has their titles, outermost first."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self.path: tuple[str, ...] = ()

    def push(self, level: int, title: str) -> tuple[str, ...]:
        """Close headings at this level (1 is the outermost) and below, open `title` unless "", and return the path."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        if title:
            self._open.append((level, title))
        self.path = tuple([title for _, title in self._open])
        return self.path


class TopHeading:
    """Finds the heading that is the title of a document: the first, if no later one has its level or a higher one."""

    def __init__(self) -> None:
        self.title = ""
        self._level = 0

    def add(self, level: int, title: str) -> None:
        """Take the next heading; `level` 1 is the outermost."""
        if not title:
            return
        if not self._level:
            self._level, self.title = level, title
        elif level <= self._level:
            self.title = ""


def heading_title(text: str) -> str:
    """Return the text of a heading as in heading paths: one line without final punctuation."""
    return " ".join(text.split()).rstrip(":. ") or text.strip()


def is_upper(line: str) -> bool:
    """Whether a line is written in capitals, as headings in old notes and manuals are."""
    letters = [c for c in line if c.isalpha()]
    return len(letters) >= 4 and sum(c.isupper() for c in letters) >= 0.9 * len(letters)


def is_title_case(line: str, share: float = 0.7) -> bool:
    """Whether most words begin with a capital, small words such as "of" aside."""
    words = [word for word in _WORD.findall(line) if word.lower() not in _SMALL_WORDS]
    return bool(words) and sum(word[0].isupper() for word in words) >= share * len(words)


def could_be_heading(line: str) -> bool:
    """Whether a line between blank lines could be a heading, judging by its form."""
    text = line.strip()
    # Check the length first: a line may have millions of words.
    if not 2 <= len(text) <= _MAX_CHARACTERS or not 1 <= len(words := text.split()) <= _MAX_WORDS:
        return False
    if (
        text[0] in _QUOTES
        or text.startswith("Dear ")
        or text[0].islower()
        or text[-1] in ",;!…"
        or _URL.search(text)
        or is_markup(text)
    ):
        return False
    if not any(len(word) >= 4 for word in _WORD.findall(text)) and not is_upper(text):
        return False
    if text[-1] == "." and (_FOOTNOTE.match(text) or not (is_title_case(text, share=0.85) and len(words) >= 2)):
        return False
    return not (_SIGNED.fullmatch(text) or _is_list_of_names(text) or _is_labelled(text))


def is_markup(line: str) -> bool:
    """Whether a line is only links, a value with a bold label, or a keyword or drawer of Org: never a title."""
    return bool(_MARKUP.fullmatch(line))


def _is_labelled(line: str) -> bool:
    """Whether a line is a label with names or values: "Present: Ann Lee (chair), Bo Xu", "Rent: 300 euros"."""
    match = _LABELLED.fullmatch(line)
    if not match or line[-1] == "?":
        return False
    value = re.sub(r"\([^)]*\)", "", match["value"])
    names, words = value.split(", "), value.split()
    if value[:1].isdigit() or (
        len(names) > 1 and all(len(name.split()) <= 4 for name in names) and is_title_case(value)
    ):
        return True
    # "Excused: Thomas Behr", but "Counting: A Survey", "Herons: Counted Twice in Spring".
    is_title = not words or words[0].lower() in _TITLE_STARTS or (len(words) > 3 and is_title_case(value))
    return " " not in match["label"] and len(words) <= 5 and not is_title


def _is_list_of_names(line: str) -> bool:
    names = re.sub(r"^(?:authors?|by)\b:? ?", "", line, flags=re.IGNORECASE)
    lengths = _lengths(names.rstrip("."))
    minimum = 2 if names != line or line.endswith(".") or _FULL_NAMES.fullmatch(line) else 3
    return len(lengths) >= minimum and max(lengths) <= _NAME_WORDS and is_title_case(names)


def is_enumeration(line: str) -> bool:
    """Whether a line has topics or names, some of a single word: "Walls, Waves and Rust", "Work Today: Ann, Bo, Cy"."""
    label, _, items = line.strip()[:MAX_HEADING].rpartition(": ")
    is_list = len(lengths := _lengths(items)) > 2 and min(lengths) == 1 and max(lengths) <= _NAME_WORDS
    is_title = is_title_case(items) and (not label or (" " in label and is_title_case(label, share=1)))
    return is_list and is_title and items[-1].isalpha()


def _lengths(names: str) -> list[int]:
    """Return the number of words of each item of a list in a sentence."""
    return [len(item.split()) for item in re.split(r",|\band\b|&", names) if item.strip()]


def is_day(line: str) -> bool:
    """Whether a line is a day, as above what happens on it, maybe with a title: "Jun 3", "Tuesday: Reefs, Rocks"."""
    return bool(re.fullmatch(_TITLED, line.strip(), re.IGNORECASE))


def tight_heading(lines: Sequence[str], *, any_text: bool = False, first: bool = False) -> int:
    """Return how many lines are a heading directly above their text, with no blank line between; 0 if none is.

    The heading is the first line, or a code such as "S4-01" and the next one; there may be names below it. A line in
    capitals is a heading anyway.

    Args:
        lines: Lines without a blank line between them.
        any_text: Whether the text may be other than prose, such as the items of a list.
        first: Whether the document begins with them, so that there may be a title above a date or an address.
    """
    end = 2 if _CODE.fullmatch(lines[0].strip()) else 1
    title, rest = "".join(lines[end - 1 : end]).strip(), lines[end : end + _MAX_LINES]
    if not rest or not could_be_heading(title) or is_upper(title) or not _is_quiet(title):
        return 0
    names = 1 if len(rest) > 1 and len(rest[0]) <= _MAX_CHARACTERS and is_title_case(rest[0], share=1) else 0
    body = rest[names].strip()
    had_room = len(title) + len(body.split(maxsplit=1)[0]) < _ROOM * max(map(len, rest))
    is_list = max(map(len, rest)) <= _MAX_ITEM
    if body[0].islower() or not (had_room or (any_text and is_list)):
        return 0
    is_prose = len(body) >= _MIN_PROSE_LINE and sum(map(len, rest[names:])) >= _MIN_PROSE
    is_name = len(title.split()) <= _CLEAR_WORDS and not _SEPARATOR.search(title)
    return end if is_prose or (any_text and (first or is_name)) else 0


def headings_between_paragraphs(lines: Sequence[str]) -> list[int]:
    """Return which lines are headings in a text without any blank lines, each of whose paragraphs is one long line.

    These are the short lines right before a paragraph, and right after one, as a list may follow.
    """
    is_paragraph = [len(line) >= _MIN_LINE and _PARAGRAPH_END.search(line) is not None for line in lines]
    if sum(is_paragraph) < _MIN_PARAGRAPHS:
        return []
    found: list[int] = []
    for i, (before, after) in enumerate(zip([False, *is_paragraph], [*is_paragraph[1:], False], strict=False)):
        line = lines[i].strip()
        is_short = not is_paragraph[i] and len(line) <= _MAX_ITEM and could_be_heading(line) and _is_quiet(line)
        # The numbered clauses of a contract are found better without their headings.
        is_short = is_short and not line[0].isdigit() and line[0] != "§"
        # Below a title there may be names, and below that of the document anything.
        is_names = found[-1:] == [i - 1] and "," in line and is_title_case(line, share=1)
        is_masthead = 0 < i <= _MAX_MASTHEAD and not any(is_paragraph[:i])
        if is_short and (before or after) and not (is_names or is_masthead):
            found.append(i)
    return found if sum(is_paragraph[i + 1] for i in found if i + 1 < len(lines)) >= _MIN_PARAGRAPHS else []


def _is_quiet(line: str) -> bool:
    """Whether a line is no head of a message, closing of a letter, item, command, question with "Q:" or sentence."""
    is_start = (line[0].isalnum() or line[0] == "§") and not _ASKED.match(line)
    is_end = line[-1] != "." and (line[-1] != ":" or len(line.split()) <= _LABEL_WORDS)
    return is_start and is_end and not SIGN_OFF.fullmatch(line) and not _TIME.search(line)


def is_clear_heading(line: str) -> bool:
    """Whether a possible heading is taken as one even in a document with few headings."""
    text = line.strip()
    return len(text.split()) <= _CLEAR_WORDS or text[-1] == "?" or is_title_case(text) or is_upper(text)


def is_long_title(line: str) -> bool:
    """Whether a line is longer than most headings but written like a title."""
    text = line.strip()
    if len(text) <= _MAX_CHARACTERS and len(text.split()) <= _MAX_WORDS:
        return False
    is_odd = len(text) > MAX_HEADING or text[-1] in ".,;:!…" or text[0] in _QUOTES or _URL.search(text)
    return not is_odd and is_title_case(text)
