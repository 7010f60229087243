"""Who says "I": the sender of a message, the author of a letter, or the speaker of a line in a chat.

The reader is given their names instead, "Ida Grün will drive the bus" for "I'll drive the bus", as it cannot know from
whom a sentence is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from corpus import SIGN_OFF, lazy_pattern
from index import StoredPassage
from qa.language.spans import Span, line_start, trimmed
from qa.language.values import MONTH, WEEKDAY

DAY = r"\d{1,4}[./-]\d\d?[./-]\d{1,4}"
_CLOCK = r"\d\d?[:.]\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm]\.?)?"
_CAPITAL = r"[^\W\d_a-zà-öø-ÿ]"
_NAMES = rf"{_CAPITAL}[\w.'’-]*(?: (?:(?:van|von|de|der|den|du|la|le|di|al|bin|ter) )?{_CAPITAL}[\w.'’-]*){{0,3}}"
# "[2025-01-08 19:30] Ida: yes", "8/1/2025, 19:30 - Ida: yes", "19:30 <ida> yes", "19:30  Ida   yes".
_TURN = lazy_pattern(
    rf"^[ \t]*(?:(?:\[(?:{DAY},?[ \t])?{_CLOCK}\]|(?:{DAY},?[ \t])?{_CLOCK}(?:[ \t][-–])?)[ \t]+"
    rf"(?:(?P<name>[^\W\d_][^:<>\n]{{0,29}}):[ \t]|<(?P<nick>[^<>\n]{{1,30}})>[ \t]"
    rf"|(?P<padded>{_NAMES})(?:[ ]{{2}}|\t))"
    # Or on a line of its own: "Ida Grün  7:30 PM".
    rf"|(?P<above>{_NAMES})(?:[ ]{{2,9}}|\t|[ ][—–-][ ])(?:{DAY},?[ \t])?{_CLOCK}[ \t]*\n)",
    re.MULTILINE,
)
# Without times: "Ida: yes".
_PLAIN_TURN = lazy_pattern(
    rf"^[ \t]*(?!(?:From|To|Cc|Bcc|Date|Sent|Subject|Reply-To):)(?P<name>{_NAMES}):[ \t]+(?=\S)", re.MULTILINE
)
# What ends the words of a speaker that are below the name: a line of dashes or a heading of a day.
_APART = lazy_pattern(r"^(?:[-=_*#]{3,}|\n)", re.MULTILINE)
_HEADER = lazy_pattern(r"(?:To|Cc|Bcc|Date|Sent|Subject|Reply-To):", re.IGNORECASE)
_SENT = lazy_pattern(r"^(?:Date|Sent):[ \t]*(?P<date>\S[^\n]{0,99})", re.MULTILINE)
_FROM = lazy_pattern(r"^From:[ \t]*(?P<sender>\S[^\n]{0,199})", re.MULTILINE)
_GREETING = lazy_pattern(
    r"^(?:my )?(?:dear(?:est)?|hi|hello|hey|good (?:morning|afternoon|evening))\b.{0,60}[,!:]?$", re.I
)
_LINE = lazy_pattern(r"^.*\S.*$", re.MULTILINE)
_NAME_ALONE = lazy_pattern(rf"(?:(?:Love|Yours|Your [a-z]{{2,12}}),? )?(?P<name>{_NAMES})")
_ADDRESS = lazy_pattern(r"\s*[<(\[]?[\w.+-]+@[\w.-]+[>)\]]?")
_WROTE = lazy_pattern(
    rf"(?P<before>{_NAMES})\s*(?:<[^<>]*>|\([^()]*\))?\s*(?:wrote|writes|said|schrieb|schreibt)\b"
    rf"|\bschrieb\s+(?P<after>{_NAMES})|(?P<with_address>{_NAMES})\s*<"
)
# Words before a name that begin with a capital letter, too.
_NOT_NAME = lazy_pattern(rf"(?:\b(?:On|Am|Le|Quoted|AM|PM|Uhr|(?i:{WEEKDAY})|{MONTH})\.? )+")
# Characters of a letterhead.
_LONGEST_HEAD = 500
# Longer documents are not searched for their authors.
MOST_PASSAGES = 40


class Turn(NamedTuple):
    """What somebody says in a chat; spans are characters of a text.

    Attributes:
        speaker: Their name.
        line: All of it, with the time and the name.
        words: Their words.
    """

    speaker: str
    line: Span
    words: Span


class Said(NamedTuple):
    """Part of a text, and the name of whose words it is.

    Attributes:
        span: Its characters.
        speaker: The name.
        head: What is written above it or before it, which may have its date: headers, a letterhead, the time in a chat.
    """

    span: Span
    speaker: str
    head: str = ""


@lru_cache(maxsize=64)  # the reader and rules ask for those of the same passages
def turns(text: str, start: int = 0) -> tuple[Turn, ...]:
    """Return the turns of a chat, in order; none if there is only one, or without times, if few lines are turns."""
    found = list(_TURN.finditer(text, start))
    if not found:
        found = list(_PLAIN_TURN.finditer(text, start))
        names = [match["name"] for match in found]
        lines = sum(1 for _ in _LINE.finditer(text, start))
        if len(set(names)) == len(names) or len(set(names)) == 1 or 2 * len(names) < lines:
            return ()
    result = []
    for match, end in zip(found, [*(it.start() for it in found[1:]), len(text)], strict=False):
        at = match.end()
        if match.groupdict().get("above"):
            apart = _APART.search(text, at, end)
            stop = end if apart is None else apart.start()
        else:
            stop = text.find("\n", at, end)
            stop = end if stop < 0 else stop
        words, stop = trimmed(text, (at, stop))
        if words < stop:
            name = next(filter(None, map(match.groupdict().get, ("name", "nick", "padded", "above"))))
            result.append(Turn(name.strip(), (match.start(), stop), (words, stop)))
    return tuple(result) if len(result) > 1 else ()


def speakers(passage: StoredPassage, document: Sequence[StoredPassage]) -> list[Said]:
    """Return whose words the parts of a passage are, as far as that is known.

    Args:
        passage: The passage.
        document: All passages of its document, if it may be a letter, or a message without the format of one.
    """
    text, body = passage.text, passage.body
    if passage.is_mail:
        name = sender_name(passage.heading[-1]) if passage.heading else ""
        return [Said((body, len(text)), name, passage.heading[-1])] if name else []
    if chat := turns(text, body):
        return [Said(turn.words, turn.speaker, text[turn.line[0] : turn.words[0]]) for turn in chat]
    whole = ""
    for part in document:
        whole = whole.ljust(part.start, "\n") + part.text
    start, end = passage.start, passage.start + len(text)
    return [
        Said((max(span[0], start) - start, min(span[1], end) - start), name, head)
        for span, name, head in _authors(whole)
        if span[0] < end and start < span[1]
    ]


def sender_name(heading: str) -> str:
    """Return the name of who wrote a message or quotation, from its heading: "Ida <i@b.org> to Tom, 2024-03-05"."""
    if heading.startswith("Quoted"):
        wrote = _WROTE.search(heading.partition(":")[2])
        name = "" if wrote is None else wrote["before"] or wrote["after"] or wrote["with_address"]
        return _NOT_NAME.sub("", f"{name} ").strip()
    sender = re.sub(r", \d{4}-\d\d-\d\d\Z", "", heading.partition(" to ")[0])
    name = _ADDRESS.sub("", sender).strip(" \"'<>")
    last, comma, first = name.partition(", ")
    return f"{first} {last}" if comma and first.count(" ") < 2 else name


def _authors(text: str) -> Iterator[Said]:
    """Yield the messages with headers in a text, each with its sender, or else the letters with their authors."""
    marks = [match for match in _FROM.finditer(text) if _is_header(text, match)]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, end in zip(marks, ends, strict=False):
        if name := sender_name(mark["sender"].strip()):
            sent = _SENT.search(text, mark.start(), min(end, mark.start() + _LONGEST_HEAD))
            yield Said((mark.start(), end), name, "" if sent is None else sent["date"])
    if not marks:
        yield from _letters(text)


def _is_header(text: str, line: re.Match[str]) -> bool:
    """Whether the line above or below is a header of a message, too."""
    above = line_start(text, max(line.start() - 1, 0))
    return bool(_HEADER.match(text, above) or _HEADER.match(text, line.end() + 1))


def _letters(text: str) -> Iterator[Said]:
    """Yield the letters of a text, which begin with a greeting and end with a closing or only a name below it."""
    lines = list(_LINE.finditer(text))
    greetings = [number for number, line in enumerate(lines) if _GREETING.match(line[0].strip())]
    done = 0
    for first, following in pairwise([*greetings, len(lines)]):
        end = len(text) if following == len(lines) else lines[following].start()
        letter = [line[0].strip() for line in lines[first + 1 : following]]
        closings = [number for number, line in enumerate(letter) if SIGN_OFF.fullmatch(line)]
        signature = letter[closings[-1] + 1 :][:1] if closings else letter[-1:]
        name = _NAME_ALONE.fullmatch(signature[0]) if signature else None
        if name is not None:
            start = lines[first].start()
            yield Said((start, end), name["name"], text[max(done, start - _LONGEST_HEAD) : start])
        done = end
