"""Subtitles (WebVTT, SubRip): the spoken text in paragraphs, with its lines in the file and its time as an anchor."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from corpus.readers.assemble.document_builder import DocumentBuilder, count_visible
from corpus.readers.plaintext import plain
from corpus.text.encodings import file_lines
from corpus.types import Extracted

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_CUE = re.compile(rf"\s*{_TIME}\s+-->\s+{_TIME}")
# Tags of both formats, and of players: <i>, <v Ann>, <00:01.000>, {\an8}
_TAG = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_SPEAKER = re.compile(r"<v(?:\.[^ \t<>]*)?[ \t]+([^<>\s][^<>]*)>")
_HEADER = re.compile(r"WEBVTT[ \t]+(?:-\s*)?(\S.*)")
_ENDS = re.compile(r"[.!?…。！？]['\"”’»)\]]*$")
# Seconds of silence that end a paragraph, after a sentence and anywhere; and characters that do, as recognised speech
# has no full stops.
_PAUSE, _SILENCE = 2.0, 10.0
_LONG, _LONGEST = 500, 1000
# Seconds between cues that follow each other, as times are rounded.
_TOUCHING = 0.1


@dataclass(frozen=True, slots=True)
class _Cue:
    """Text shown at a time: its times in seconds, its speaker (or ""), its lines with their numbers."""

    begin: float
    end: float
    speaker: str
    lines: list[tuple[int, str]]


def read(path: str, data: bytes) -> Extracted:
    """Read subtitles; see `corpus.readers`. A file without cues is plain text."""
    lines, note = file_lines(data)
    cues = list(_parse_cues(lines))
    if not cues:
        return plain.read(path, data)
    builder = DocumentBuilder()
    if header := _HEADER.match(lines[0]):
        builder.title = header[1]
    for paragraph in _group_cues(cues):
        _add_paragraph(builder, paragraph)
    return builder.build("text/vtt", note=note)


def _parse_cues(lines: Sequence[str]) -> Iterator[_Cue]:
    """Yield the cues with text, one per speaker, without lines that the previous cue showed until then."""
    starts = [(index, match) for index, line in enumerate(lines) if (match := _CUE.match(line))]
    stops = [*(index for index, _ in starts[1:]), len(lines)]
    shown, shown_until = frozenset[str](), 0.0
    for (start, match), stop in zip(starts, stops, strict=False):
        values = [int(value or 0) for value in match.groups()]
        begin, end = _seconds(*values[:4]), _seconds(*values[4:])
        spoken = list(_spoken_lines(lines, start + 1, stop))
        repeated = shown if begin <= shown_until + _TOUCHING else ()
        for speaker, same_speaker in groupby(spoken, key=itemgetter(0)):
            words = [(number, words) for _, number, words in same_speaker if words not in repeated]
            if words:
                yield _Cue(begin, end, speaker, words)
        shown, shown_until = frozenset(words for *_, words in spoken), end


def _spoken_lines(lines: Sequence[str], start: int, stop: int) -> Iterator[tuple[str, int, str]]:
    """Yield the speaker, number and words of each line between two times; blank lines end a cue only in WebVTT."""
    if stop < len(lines) and lines[stop - 1].strip().isdecimal():
        stop -= 1  # the number of the next cue
    speaker = ""
    for index in range(start, stop):
        line = lines[index]
        if not line.strip() and lines[0].startswith("WEBVTT"):
            return
        if voice := _SPEAKER.search(line):
            speaker = html.unescape(voice[1]).strip()
        if words := " ".join(html.unescape(_TAG.sub("", line)).split()):
            yield speaker, index + 1, words


def _seconds(hours: int, minutes: int, seconds: int, parts: int) -> float:
    return 3600 * hours + 60 * minutes + seconds + parts / 1000


def _group_cues(cues: Sequence[_Cue]) -> Iterator[list[_Cue]]:
    """Group the cues of one speaker up to a pause."""
    pending: list[_Cue] = []
    for cue in cues:
        if pending:
            previous = pending[-1]
            pause = cue.begin - previous.end
            length = sum(len(words) for shown in pending for _, words in shown.lines)
            is_complete = _ENDS.search(previous.lines[-1][1])
            max_pause, max_length = (_PAUSE, _LONG) if is_complete else (_SILENCE, _LONGEST)
            if (cue.speaker and cue.speaker != pending[0].speaker) or pause >= max_pause or length >= max_length:
                yield pending
                pending = []
        pending.append(cue)
    if pending:
        yield pending


def _add_paragraph(builder: DocumentBuilder, cues: Sequence[_Cue]) -> None:
    first = cues[0]
    speaker = f"{first.speaker}: " if first.speaker else ""
    marks: list[tuple[int, int]] = []
    text = speaker
    for number, words in (line for cue in cues for line in cue.lines):
        marks.append((count_visible(text) if marks else 0, number))
        text += f"{words} "
    # A media fragment: https://www.w3.org/TR/media-frags/
    builder.anchor(f"t={int(first.begin)}")
    builder.block(text, lines=marks)
