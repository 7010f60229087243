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
from qa.terminal.hyperlinks import file_url, hyperlink, terminal_shows_links
from qa.terminal.text import cells, clean, clean_line, clean_name, embolden, excerpt, is_item, wrap

_MAX_WIDTH = 100
_MIN_WIDTH = 30
_INDENT = "    "
# Lines shown of a passage that the answer is not from.
_EXCERPT = 3
_WORD = re.compile(r"\w+")
# A line of a record, a name with its value.
_FIELD = re.compile(r"[^:]{1,60}: ")
BOLD, DIM, WARN = "\x1b[1m", "\x1b[2m", "\x1b[33m"
_OFF = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class TerminalStyle:
    """How to write to a stream: width in columns, whether with styles, colours and links, and the heading separator."""

    width: int = 80
    styled: bool = False
    coloured: bool = True
    separator: str = " › "
    linked: bool = False

    @classmethod
    def of(cls, stream: TextIO | None, environ: Mapping[str, str] = os.environ) -> TerminalStyle:
        """Return what a stream can show: styles only on a terminal; NO_COLOR stops colour, not bold."""
        is_terminal = stream is not None and stream.isatty()
        styled = is_terminal and environ.get("TERM") != "dumb"
        width = min(_MAX_WIDTH, max(_MIN_WIDTH, shutil.get_terminal_size((80, 24)).columns))
        linked = terminal_shows_links(environ, is_terminal=is_terminal)
        return cls(width, styled, not environ.get("NO_COLOR"), " › " if can_show(stream, "›") else " > ", linked)

    def paint(self, text: str, code: str) -> str:
        """Return a text in a style, if styles may be written."""
        return f"{code}{text}{_OFF}" if self.styled and text and (self.coloured or code != WARN) else text

    def link(self, text: str, url: str) -> str:
        """Return a text as a link of the same width, if links may be written."""
        return hyperlink(text, url) if self.linked and text else text

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
    """Turns paths of the collection into paths to open from `here` (None if unknown): relative, or full if shorter."""

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


def render_result(result: Result, style: TerminalStyle, places: Places, *, in_full: bool = False) -> str:
    """Return the answer to a question, the passage it comes from, and a few lines of the others, or all of them."""
    answering = ((result.answer and result.answer.citations) or (1,))[:1] if result.found else ()
    hits = [_render_hit(hit, style, places, in_full=in_full or hit.rank in answering) for hit in result.passages]
    return "\n\n".join([_render_verdict(result, style), *hits]) + "\n"


def render_brief(result: Result, style: TerminalStyle, places: Places, *, in_full: bool = False) -> str:
    """Return the answer in a conversation, the first passage, and only the locations of the others, or all in full."""
    most = len(result.passages) if in_full else 1
    locations = ["\n".join(_title_lines(hit, style, places)) for hit in result.passages[most:]]
    shown = [
        _render_verdict(result, style, option="/k"),
        *render_hits(result.passages[:most], style, places),
        *(["\n".join(locations)] if locations else []),
    ]
    return "\n\n".join(shown) + "\n"


def render_hits(passages: Sequence[Hit], style: TerminalStyle, places: Places) -> list[str]:
    """Return each passage as a block of lines."""
    return [_render_hit(hit, style, places) for hit in passages]


def _render_verdict(result: Result, style: TerminalStyle, option: str = "-k") -> str:
    percent = display.percent(result.confidence)
    if not result.passages:
        return style.fit("No passage matches the question.")
    if not result.found:
        # Left out if high: a language model may find no answer where the reader is sure of one.
        low = f" ({percent})" if display.confidence_word(result.confidence) == "low" else ""
        return style.fit(f"No passage answers this with confidence{low}. The closest passages:")
    confidence = style.paint(display.confidence_line(result), DIM)
    if result.answer is None:
        return style.fit("These passages should contain the answer.") + "\n" + confidence
    answer = result.answer
    lines = [_render_answer(answer, _answer_text(answer, result.passages), style)]
    if _WORD.findall(answer.sentence) not in ([], _WORD.findall(answer.text)):
        # On one line, since a sentence may begin in the middle of a line of the file.
        between = "; " if all(map(_FIELD.match, answer.sentence.strip().split("\n"))) else " "
        lines.append(style.fit(" ".join(between.join(answer.sentence.strip().split("\n")).split()), indent=_INDENT))
    return "\n".join([*lines, *map(style.fit, display.remarks_below(answer, option)), confidence])


def _answer_text(answer: Answer, passages: Sequence[Hit]) -> str:
    """Return the answer, as one paragraph if it begins in the middle of a line: then its indents mean nothing."""
    text = answer.text.strip("\n")
    passage = next((hit.text for hit in passages if hit.rank in answer.citations[:1]), "")
    text_before, quoted, _ = passage.partition(text)
    begins_within = quoted and text_before.rpartition("\n")[2].strip()
    if begins_within and not any(map(is_item, text.split("\n")[1:])):
        return " ".join(text.split())
    return text


def _render_answer(answer: Answer, text: str, style: TerminalStyle) -> str:
    marked, bold = "", []
    for line, marks in display.with_marks(answer, text):
        marked += "\n" if marked else ""
        bold.append((len(marked), len(marked) + len(line)))
        marked += line + marks
    return style.fit(marked, bold=bold)


def _render_hit(hit: Hit, style: TerminalStyle, places: Places, *, in_full: bool = True) -> str:
    lines = _title_lines(hit, style, places)
    text, bold = _body_and_highlights(hit)
    lines.append(style.fit(text, indent=_INDENT, bold=bold) if in_full else _render_excerpt(text, bold, style))
    if hit.also_in:
        locations = [clean_name(cite(places(location.path), location.lines, location.page)) for location in hit.also_in]
        lines.append(style.paint(style.fit("also in " + first_few(locations, 3), indent=_INDENT), DIM))
    return "\n".join(lines)


def _render_excerpt(text: str, bold: Sequence[tuple[int, int]], style: TerminalStyle) -> str:
    """Return the lines of a passage from its best sentence on."""
    more = "…" if style.separator == " › " else "..."
    lines = wrap(clean(text), style.width - len(_INDENT) - len(more) - 1)
    in_best = [BOLD in line for line in embolden(lines, text, bold[:1], BOLD, "")]
    start, end = excerpt(lines, in_best, _EXCERPT)
    if style.styled and bold:
        lines = embolden(lines, text, bold, BOLD, _OFF)
    shown = [(_INDENT + line).rstrip() for line in lines[start:end]]
    if start:
        shown[0] = more.ljust(len(_INDENT)) + lines[start]
    if end < len(lines):
        shown[-1] += f" {more}"
    return "\n".join(shown)


def _title_lines(hit: Hit, style: TerminalStyle, places: Places) -> list[str]:
    """Return the lines above a passage: its place, headings, and whether its file has changed or is outdated."""
    source = hit.source
    citation, trail = _citation_and_trail(hit, style, places)
    shown = style.paint(citation, BOLD)
    if source.state not in (State.MISSING, State.UNCHECKED):
        page = f"page={source.page}" if source.media_type == PDF.media_type else ""
        shown = style.link(shown, places.url(source.path, page or source.anchor or ""))
    head = f"{style.paint(f'[{hit.rank}]', BOLD)} {shown}"
    lines = []
    if trail and cells(f"[{hit.rank}] {citation}  {trail}") <= style.width:
        head += f"  {style.paint(trail, DIM)}"
    elif trail:
        lines.append(style.paint(style.fit(trail, indent=_INDENT), DIM))
    lines += [style.paint(style.fit(f"! {flag}", indent=_INDENT), WARN) for flag in display.flags(hit)]
    return [head, *lines]


def _citation_and_trail(hit: Hit, style: TerminalStyle, places: Places) -> tuple[str, str]:
    """Return the citation of a passage and its headings, "" if the citation includes them."""
    citation, trail = places.cited(hit), _trail(hit, style)
    if style.separator == " › " and citation.endswith(trail) and cells(f"[{hit.rank}] {citation}") <= style.width:
        return citation, ""
    return clean_name(cite(places(hit.source.path), hit.source.lines, hit.source.page)), trail


def _trail(hit: Hit, style: TerminalStyle) -> str:
    return style.separator.join(filter(None, map(clean_line, display.trail(hit))))


def _body_and_highlights(hit: Hit) -> tuple[str, list[tuple[int, int]]]:
    """Return the passage without leading headings, and the spans of its highlights."""
    start, end = display.body_span(hit)
    offset = hit.source.chars[0] + start
    return hit.text[start:end], [(a - offset, b - offset) for a, b in (light.chars for light in hit.highlights)]


def first_few(items: Sequence[str], most: int) -> str:
    """Return the first items of a list in words: "a, b and 3 more"."""
    more = len(items) - most
    return ", ".join(items[:most]) + (f" and {more:,} more" if more > 0 else "")


def error_line(message: str) -> str:
    """Return an error message on one line, or wrapped at words for a terminal."""
    line = f"qa: {clean_name(message)}"
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return TerminalStyle.of(sys.stderr).fit(line) if is_terminal else line


def encode_json(value: dict[str, Any], stream: TextIO | None) -> str:
    """Return a JSON object on one line, escaping what could control a terminal or is not in its encoding."""
    text = re.sub(r"[^ -~]", _escaped, json.dumps(value, ensure_ascii=False))
    return text if can_show(stream, text) else json.dumps(value)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    harmless = unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return character if harmless else json.dumps(character)[1:-1]


def write_stdout(text: str) -> None:
    """Write a result to stdout and flush it; raises OSError if the reader is gone or the disk is full."""
    _write(sys.stdout, text)


def write_stderr(text: str) -> None:
    """Write lines to stderr."""
    if text:
        _write(sys.stderr, text.rstrip("\n") + "\n")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None:  # None if it was closed
        stream.write(text)
        stream.flush()
