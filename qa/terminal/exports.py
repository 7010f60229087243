"""An answer in the formats of other programs: Markdown, BibTeX, and the lines that vim and others jump to."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from corpus import LineMap, read_file
from corpus.errors import Unreadable
from corpus.formats import PDF
from qa.answer.results import Hit, Result
from qa.terminal.answers import Places
from qa.terminal.text import clean, clean_line, clean_name

# What means something in Markdown, and in BibTeX.
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~$&!])")
_BIBTEX = re.compile(r"[\\{}%&#_$~^]")
_BIBTEX_COMMANDS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def markdown(answer: Result, _root: Path, place: Places) -> str:
    """Return the question, the answer as a quotation, and each passage with a link to its file."""
    lines = [f"**{_escaped(clean_line(answer.question))}**", ""]
    if answer.found and answer.answer is not None:
        citations = "".join(f" [{rank}]" for rank in answer.answer.citations)
        lines += [*_quoted(_escaped(clean(answer.answer.text)) + _escaped(citations)), ""]
    else:
        lines += ["No passage answers this with confidence.", ""]
    for hit in answer.passages:
        where = _escaped(place.cited(hit))
        trail = " › ".join(map(clean_line, hit.heading))
        lines.append(f"{hit.rank}. [{where}](<{_target(hit, place)}>){f' — {_escaped(trail)}' if trail else ''}")
        # Markdown is quoted as it is, other text as it reads.
        text = clean(hit.text.strip("\n"))
        text = text if hit.source.media_type == "text/markdown" else _escaped(text)
        lines += ["", *("   " + line for line in _quoted(text)), ""]
    return "\n".join(lines)


def bibtex(answer: Result, _root: Path, place: Places) -> str:
    """Return an entry for each cited document; its note says where in it the passages are."""
    documents: dict[tuple[str, str], list[Hit]] = {}
    for hit in answer.passages:
        documents.setdefault((hit.source.path, hit.title), []).append(hit)
    entries = []
    for (path, title), hits in documents.items():
        first = hits[0]
        key = re.sub(r"[^a-z0-9]+", "-", f"{Path(path).stem} {first.id[:6]}".lower()).strip("-")
        fields = {
            "title": title or Path(path).name,
            "howpublished": place(path),
            "note": "; ".join(place.cited(hit) for hit in hits),
            "annotation": clean_line(first.highlights[0].text if first.highlights else first.text),
        }
        body = ",\n".join(f"  {name} = {{{_bibtex(clean_line(value))}}}" for name, value in fields.items())
        entries.append(f"@misc{{{key},\n{body}\n}}\n")
    return "\n".join(entries)


def vimgrep(answer: Result, root: Path, place: Places) -> str:
    """Return `path:line:column:text` for each passage that is lines of a file, at the sentence that answers."""
    found = []
    for hit in answer.passages:
        lines = hit.source.lines
        if lines is not None and hit.source.page is None:
            line, column, text = _position(hit, root, lines[0])
            found.append(f"{clean_name(place(hit.source.path))}:{line}:{column}:{clean_line(text)}\n")
    return "".join(found)


# By the name that `qa ask --format` takes.
FORMATS: dict[str, Callable[[Result, Path, Places], str]] = {
    "markdown": markdown,
    "bibtex": bibtex,
    "vimgrep": vimgrep,
}


def _position(hit: Hit, root: Path, first: int) -> tuple[int, int, str]:
    """The line, the column in bytes and the text of that line, from 1; the first of the passage if it moved."""
    at = hit.highlights[0].chars[0] if hit.highlights else hit.source.chars[0]
    try:
        text = read_file(root, hit.source.path).decode("utf-8")
    except (Unreadable, UnicodeDecodeError):
        text = ""
    if text[slice(*hit.source.chars)] != hit.text:  # extracted text, or another one by now
        return first, 1, next(filter(str.strip, hit.text.split("\n")), "")
    line = LineMap(text).line_of(at)
    start, end = LineMap(text).span(line)
    return line, len(text[start:at].encode()) + 1, text[start:end]


def _target(hit: Hit, place: Places) -> str:
    """The link to a file, at its page or line as GitHub and others write that."""
    source = hit.source
    if source.media_type == PDF.media_type:
        part = f"#page={source.page}"
    elif source.anchor:
        part = f"#{source.anchor}"
    else:
        part = f"#L{source.lines[0]}" if source.lines and source.page is None else ""
    return re.sub(r"[<>\\%]", lambda found: f"%{ord(found[0]):02X}", clean_name(place(source.path))) + part


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _quoted(text: str) -> list[str]:
    return [f"> {line}".rstrip() for line in text.split("\n")]


def _bibtex(text: str) -> str:
    return _BIBTEX.sub(lambda found: _BIBTEX_COMMANDS.get(found[0], "\\" + found[0]), text)
