"""Terminal output: answers as text, results as JSON, and the only functions that write to stdout and stderr."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from corpus.formats import PDF
from qa.answer import display
from qa.answer.results import Answer, Hit, Result, State, cite
from qa.terminal.hyperlinks import are_understood, file_url, linked
from qa.terminal.text import cells, clean, clean_line, clean_name, embolden, is_item, wrap

_MAX_WIDTH = 100
_MIN_WIDTH = 30
_INDENT = "    "
BOLD, DIM, WARN = "\x1b[1m", "\x1b[2m", "\x1b[33m"
_OFF = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class TerminalStyle:
    """How to write to a stream: width in columns, whether styled and coloured, heading separator, whether linked."""

    width: int = 80
    styled: bool = False
    coloured: bool = True
    separator: str = " › "
    linked: bool = False

    @classmethod
    def of(cls, stream: TextIO | None, environ: Mapping[str, str] = os.environ) -> TerminalStyle:
        """Return what a stream can show: styles only on a terminal; NO_COLOR stops colour, not bold."""
        terminal = stream is not None and stream.isatty()
        styled = terminal and environ.get("TERM") != "dumb"
        width = min(_MAX_WIDTH, max(_MIN_WIDTH, shutil.get_terminal_size((80, 24)).columns))
        links = are_understood(environ, terminal=terminal)
        return cls(width, styled, not environ.get("NO_COLOR"), " › " if can_show(stream, "›") else " > ", links)

    def paint(self, text: str, code: str) -> str:
        """Return a text in a style, if styles may be written."""
        return f"{code}{text}{_OFF}" if self.styled and text and (self.coloured or code != WARN) else text

    def link(self, text: str, url: str) -> str:
        """Return a text as a link of the same width, if links may be written."""
        return linked(text, url) if self.linked and text else text

    def fit(self, text: str, *, indent: str = "", bold: Sequence[tuple[int, int]] = ()) -> str:
        """Return a text cleaned and wrapped to the width, with some of its characters in bold."""
        lines = wrap(clean(text), self.width - len(indent))
        if self.styled and bold:
            lines = embolden(lines, text, bold, BOLD, _OFF)
        return "\n".join((indent + line).rstrip() for line in lines)


def can_show(stream: TextIO | None, text: str) -> bool:
    """Return whether a stream's encoding has all characters of a text."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeError, LookupError):
        return False
    return True


class Places:
    """Turns paths of the collection into paths that open from the folder `here` (None if unknown).

    A path that would climb many folders is written in full if that is shorter.
    """

    def __init__(self, root: Path, here: Path | None) -> None:
        self.root = root
        self._base = os.path.realpath(root)
        self._here = None if here is None else os.path.realpath(here)
        # Tells a terminal on another machine that the file is not on its own.
        self._host = os.uname().nodename if hasattr(os, "uname") else ""

    def __call__(self, path: str) -> str:
        """Return the path that a person here would open."""
        full = os.path.normpath(Path(self._base, path))
        if self._here is None:
            return full
        try:
            near = os.path.relpath(full, self._here)
        except ValueError:  # another drive
            return full
        if near.startswith("-"):
            near = os.path.join(".", near)  # noqa: PTH118 - a Path would drop the "./" that keeps it from being an option
        return near if not near.startswith("..") or len(near) <= len(full) else full

    def cited(self, hit: Hit) -> str:
        """Return where a passage is, as a person here would open it."""
        source = hit.source
        return clean_name(cite(self(source.path), source.lines, source.page, hit.heading))

    def url(self, path: str, fragment: str = "") -> str:
        """Return the URL of a file for a terminal, with a PDF's page or an HTML anchor as its fragment."""
        return file_url(os.path.normpath(Path(self._base, path)), host=self._host, fragment=fragment)


def result(answer: Result, style: TerminalStyle, place: Places) -> str:
    """Return the answer to a question, then the passages it comes from."""
    return "\n\n".join([_verdict(answer, style), *hits(answer.passages, style, place)]) + "\n"


def brief(answer: Result, style: TerminalStyle, place: Places) -> str:
    """Return the answer to a question, the first passage, and only the locations of the others."""
    others = ["\n".join(_title_lines(hit, style, place)) for hit in answer.passages[1:]]
    shown = [
        _verdict(answer, style),
        *hits(answer.passages[:1], style, place),
        *(["\n".join(others)] if others else []),
    ]
    return "\n\n".join(shown) + "\n"


def hits(passages: Sequence[Hit], style: TerminalStyle, place: Places) -> list[str]:
    """Return each passage as a block of lines."""
    return [_hit(hit, style, place) for hit in passages]


def _verdict(answer: Result, style: TerminalStyle) -> str:
    percent = display.percent(answer.confidence)
    if not answer.passages:
        return style.fit("No passage matches the question.")
    if not answer.found:
        # Left out if high: a language model may find no answer where the reader is sure of one.
        low = f" ({percent})" if display.confidence_word(answer.confidence) == "low" else ""
        return style.fit(f"No passage answers this with confidence{low}. The closest passages:")
    confidence = style.paint(f"Confidence: {display.confidence_word(answer.confidence)} ({percent})", DIM)
    if answer.answer is None:
        return style.fit("These passages should contain the answer.") + "\n" + confidence
    found = answer.answer
    lines = [_with_marks(found, _answer_text(found, answer.passages), style)]
    if found.sentence.strip() not in ("", found.text.strip()):
        # On one line, since a sentence may begin in the middle of a line of the file.
        lines.append(style.fit(" ".join(found.sentence.split()), indent=_INDENT))
    if found.more:
        lines.append(style.fit(f"and {found.more:,} more; -k {len(found.citations) + found.more} shows them"))
    for other in found.alternatives:
        lines.append(style.fit(f"{display.OTHER_VALUE[other.time]} {other.text}{_cited(other.citations)}"))
    return "\n".join([*lines, confidence])


def _answer_text(answer: Answer, passages: Sequence[Hit]) -> str:
    """Return the answer, as one paragraph if it begins within a line of the file: its indents mean nothing then."""
    text = answer.text.strip("\n")
    quoted = next((hit.text for hit in passages if hit.rank in answer.citations[:1]), "")
    before, found, _ = quoted.partition(text)
    begins_within = found and before.rpartition("\n")[2].strip()
    if begins_within and not any(map(is_item, text.split("\n")[1:])):
        return " ".join(text.split())
    return text


def _with_marks(answer: Answer, text: str, style: TerminalStyle) -> str:
    marked, bold = "", []
    for line, marks in display.with_marks(answer, text):
        marked += "\n" if marked else ""
        bold.append((len(marked), len(marked) + len(line)))
        marked += line + marks
    return style.fit(marked, bold=bold)


def _cited(ranks: Sequence[int]) -> str:
    return "".join(f" [{rank}]" for rank in ranks)


def _hit(hit: Hit, style: TerminalStyle, place: Places) -> str:
    lines = _title_lines(hit, style, place)
    text, bold = _body(hit)
    lines.append(style.fit(text, indent=_INDENT, bold=bold))
    if hit.also_in:
        others = [clean_name(cite(place(other.path), other.lines, other.page)) for other in hit.also_in]
        lines.append(style.paint(style.fit("also in " + few(others, 3), indent=_INDENT), DIM))
    return "\n".join(lines)


def _title_lines(hit: Hit, style: TerminalStyle, place: Places) -> list[str]:
    """Return lines on where a passage is, the headings above it, and whether its file has changed."""
    source = hit.source
    where, trail = _where(hit, style, place)
    shown = style.paint(where, BOLD)
    if source.state not in (State.MISSING, State.UNCHECKED):
        page = f"page={source.page}" if source.media_type == PDF.media_type else ""
        shown = style.link(shown, place.url(source.path, page or source.anchor or ""))
    head = f"{style.paint(f'[{hit.rank}]', BOLD)} {shown}"
    lines = []
    if trail and cells(f"[{hit.rank}] {where}  {trail}") <= style.width:
        head += f"  {style.paint(trail, DIM)}"
    elif trail:
        lines.append(style.paint(style.fit(trail, indent=_INDENT), DIM))
    if flag := display.FLAGS.get(source.state):
        lines.append(_INDENT + style.paint(f"! {flag}", WARN))
    return [head, *lines]


def _where(hit: Hit, style: TerminalStyle, place: Places) -> tuple[str, str]:
    """Return the citation of a passage and the headings above it, "" if the citation includes them."""
    by_heading, trail = place.cited(hit), _trail(hit, style)
    if style.separator == " › " and by_heading.endswith(trail) and cells(f"[{hit.rank}] {by_heading}") <= style.width:
        return by_heading, ""
    return clean_name(cite(place(hit.source.path), hit.source.lines, hit.source.page)), trail


def _trail(hit: Hit, style: TerminalStyle) -> str:
    return style.separator.join(filter(None, map(clean_line, display.trail(hit))))


def _body(hit: Hit) -> tuple[str, list[tuple[int, int]]]:
    """Return the passage without leading headings, and the spans of its highlights."""
    first, (start, end) = hit.source.chars[0], display.body_span(hit)
    return hit.text[start:end], [(a - first - start, b - first - start) for a, b in (h.chars for h in hit.highlights)]


def few(items: Sequence[str], most: int) -> str:
    """Return the first few of a list in words: "a, b and 3 more"."""
    rest = len(items) - most
    return ", ".join(items[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def problem(message: str) -> str:
    """Return an error message on one line, or wrapped at words for a terminal."""
    line = f"qa: {clean_name(message)}"
    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    return TerminalStyle.of(sys.stderr).fit(line) if on_terminal else line


def as_json(value: dict[str, Any], stream: TextIO | None) -> str:
    """Return a JSON object on one line, escaping what could control a terminal or is not in its encoding."""
    text = re.sub(r"[^ -~]", _escaped, json.dumps(value, ensure_ascii=False))
    return text if can_show(stream, text) else json.dumps(value)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    harmless = unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return character if harmless else json.dumps(character)[1:-1]


def out(text: str) -> None:
    """Write a result to stdout and flush it; raises OSError if the reader is gone or the disk is full."""
    _write(sys.stdout, text)


def note(text: str) -> None:
    """Write lines to stderr."""
    if text:
        _write(sys.stderr, text.rstrip("\n") + "\n")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None:  # None if it was closed
        stream.write(text)
        stream.flush()
