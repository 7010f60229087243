"""Rewrite a text in the third person for the reader: "Ann lost the key" for "I lost the key" in her message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpus import lazy_pattern
from qa.language.spans import Span
from qa.reader.reading import Reading
from qa.structure.speakers import Said

# The words of somebody else: quoted, or reported after a colon.
_QUOTATION = lazy_pattern(
    r"[\"“„«][^\"”“»\n]{1,600}[\"”“»]|(?<!\w)[‘'](?=\S)(?:[^'‘’\n]|(?<=\w)['’](?=\w)){3,400}['’](?!\w)"
    r"|^[ \t]*>[^\n]*|\b(?:said|says|wrote|writes|asked|replied|answered|told \w+):[^\n]*",
    re.MULTILINE,
)
_I = lazy_pattern(
    r"(?<![\w.'’(-])(?:(?P<i>I|i(?=['’\s]))(?:['’](?P<short>m|ve|ll|d)|(?P<verb>[ \n](?:am|have)))?(?![\w'’])(?!\.\w)"
    r"|(?P<my>[Mm]y)(?![\w'’-])|(?P<me>[Mm]e)(?![\w'’-]))"
)
_NAME_END = lazy_pattern(r"[ \t]{2,}|:[ \t]|\n")
# The speaker is not who does it: "Ann, I think".
_ASIDE = lazy_pattern(r"I (?:think|guess|suppose|reckon|believe|mean)[ \t]*(?=[,.!?;)\n]|\Z)")
_SHORT = {"m": " is", "ve": " has", "ll": " will", "d": " would", " am": " is", " have": " has"}


class Rewritten(NamedTuple):
    """A text with names instead of "I"; `starts` and `ends` map each of its characters to the original."""

    text: str
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]


def says_i(text: str) -> bool:
    """Whether a text may have words in the first person."""
    return _I.search(text) is not None


def words_or_speaker(text: str, span: Span, said: Sequence[Said]) -> str:
    """Return part of a text, or the name of who says it if that part is "I", "me" or "my", with the name or alone."""
    start, end = span
    whole = in_third_person(text, [it for it in said if it.span[0] < end and start < it.span[1]])
    kept = np.flatnonzero((whole.starts >= start) & (whole.ends <= end))
    new = whole.text[kept[0] : kept[-1] + 1] if kept.size else ""
    # "Ida   I" in a chat.
    parts = {part.strip().removesuffix("'s") for part in _NAME_END.split(new)}
    return next((it.speaker for it in said if parts == {it.speaker}), text[start:end])


def in_third_person(text: str, said: Sequence[Said]) -> Rewritten:
    """Put the name of who says it in the place of each "I", "me" and "my", unless they quote somebody else."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0

    def keep(start: int, end: int) -> None:
        pieces.append(text[start:end])
        starts.extend(range(start, end))
        ends.extend(range(start + 1, end + 1))

    for match, name in _first_person(text, said):
        keep(done, match.start())
        group = "i" if match["i"] else "my" if match["my"] else "me"
        start, end = match.span(group)
        verb = (match["short"] or match["verb"] or "").replace("\n", " ")
        named = (f"{name}'s" if match["my"] else name, (start, end)), (_SHORT.get(verb, ""), (end, match.end()))
        for words, replaced in named:
            pieces.append(words)
            starts.extend([replaced[0]] * len(words))
            ends.extend([replaced[1]] * len(words))
        done = match.end()
    keep(done, len(text))
    return Rewritten("".join(pieces), np.array(starts, dtype=np.int32), np.array(ends, dtype=np.int32))


def of_original(reading: Reading, rewritten: Rewritten) -> Reading:
    """Return the reading of a rewritten text as one of the original."""
    spans = reading.spans
    if not len(spans):
        return reading
    known = spans[:, 0] >= 0
    mapped = spans.copy()
    mapped[known, 0] = rewritten.starts[spans[known, 0]]
    mapped[known, 1] = rewritten.ends[spans[known, 1] - 1]
    return replace(reading, spans=mapped)


def _first_person(text: str, said: Sequence[Said]) -> Iterator[tuple[re.Match[str], str]]:
    for (start, end), name, _ in said:
        quoted = [match.span() for match in _QUOTATION.finditer(text, start, end)]
        for match in _I.finditer(text, start, end):
            # Nor in "he told me".
            is_aside = _ASIDE.match(text, match.start()) or (match["me"] and text[start : match.start()].strip())
            if not is_aside and not any(first <= match.start() < last for first, last in quoted):
                yield match, name
