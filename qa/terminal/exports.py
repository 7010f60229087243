"""An answer in the formats of other programs: Markdown, BibTeX, and lines that vim and other editors jump to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from corpus import LineMap, load, read_file
from corpus.errors import Unreadable
from corpus.formats import MARKDOWN, PDF
from qa.answer.display import with_marks
from qa.answer.results import Hit, Result, State
from qa.terminal.answers import Places
from qa.terminal.text import clean, clean_line, clean_name

_ENTRY = re.compile(r"^[ \t]*@\w+[ \t]*[{(][ \t]*([^\s,{}()]+)", re.MULTILINE)
_KEY = re.compile(r"[^\s,{}()\"#%'~\\]+")
# Special characters of Markdown, and of BibTeX.
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~$&!])")
_BIBTEX = re.compile(r"[\\{}%&#_$~^]")
_BIBTEX_COMMANDS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def markdown(answer: Result, place: Places) -> str:
    """Return the question, the answer as a quotation, and each passage with a link to its file."""
    lines = [f"**{_escaped(clean_line(answer.question))}**", ""]
    if answer.found and answer.answer is not None:
        marked = with_marks(answer.answer, clean(answer.answer.text))
        lines += [*_quoted(_escaped("\n".join(line + marks for line, marks in marked))), ""]
    else:
        lines += ["No passage answers this with confidence.", ""]
    for hit in answer.passages:
        where = _escaped(place.cited(hit))
        trail = " › ".join(map(clean_line, hit.heading))
        lines.append(f"{hit.rank}. [{where}](<{_target(hit, place)}>){f' — {_escaped(trail)}' if trail else ''}")
        # Markdown is quoted verbatim, other text is escaped.
        text = clean(hit.text.strip("\n"))
        text = text if hit.source.media_type == "text/markdown" else _escaped(text)
        lines += ["", *("   " + line for line in _quoted(text)), ""]
    return "\n".join(lines)


def bibtex(answer: Result, place: Places) -> str:
    """Return an entry for each cited document: verbatim from a bibliography, else one whose note lists the places.

    A bibliography beside or above a document may have the entry with its title.
    """
    root = place.root
    documents: dict[tuple[str, str], list[Hit]] = {}
    for hit in answer.passages:
        documents.setdefault((hit.source.path, hit.title), []).append(hit)
    own_entries = {document: _entry_of(hits[0], root) for document, hits in documents.items()}
    others = [hits[0] for document, hits in documents.items() if not own_entries[document]]
    by_title = _entries_by_title(others, root)
    for hit in others:
        own_entries[hit.source.path, hit.title] = "" if _citekey(hit, root) else by_title.get(_letters(hit.title), "")
    keys = {found[1] for entry in own_entries.values() if (found := _ENTRY.match(entry))}
    entries = []
    for (path, title), hits in documents.items():
        if entry := own_entries[path, title]:
            entries.append(f"{clean(entry)}\n")
            continue
        first = hits[0]
        key = _citekey(first, root)
        if not key or key in keys:
            key = re.sub(r"[^a-z0-9]+", "-", f"{Path(path).stem} {first.id[:6]}".lower()).strip("-")
        keys.add(key)
        fields = {
            "title": title or Path(path).name,
            "howpublished": place(path),
            "note": "; ".join(dict.fromkeys(map(place.cited, hits))),
            "annotation": clean_line(first.highlights[0].text if first.highlights else first.text),
        }
        body = ",\n".join(f"  {name} = {{{_bibtex(clean_line(value))}}}" for name, value in fields.items())
        entries.append(f"@misc{{{key},\n{body}\n}}\n")
    return "\n".join(dict.fromkeys(entries))  # a paper and its entry are one


def vimgrep(answer: Result, place: Places) -> str:
    """Return `path:line:column:text` of the answering sentence in each passage that has line numbers."""
    found = []
    for hit in answer.passages:
        lines = hit.source.lines
        if lines is not None and hit.source.page is None:
            line, column, text = _position(hit, place.root, lines[0])
            found.append(f"{clean_name(place(hit.source.path))}:{line}:{column}:{clean_line(text)}\n")
    return "".join(found)


# By the names that `qa ask --format` takes.
FORMATS: dict[str, Callable[[Result, Places], str]] = {"markdown": markdown, "bibtex": bibtex, "vimgrep": vimgrep}


def _entry_of(hit: Hit, root: Path) -> str:
    """Return the bibliography entry that a passage is in, verbatim from the file, or ""."""
    source = hit.source
    if source.media_type != "text/x-bibtex" or source.state is not State.VERIFIED or source.lines is None:
        return ""
    return _entry_at(_text_of(source.path, root), source.lines[0])


def _entry_at(text: str, line: int) -> str:
    """Return the entry of a bibliography that begins at or above a line, or ""."""
    if not text:
        return ""
    at = LineMap(text).span(line)[1]
    starts = [found.start() for found in _ENTRY.finditer(text)]
    start = max((offset for offset in starts if offset <= at), default=at)
    end = min((offset for offset in starts if offset > at), default=len(text))
    entry = text[start:end].strip()
    # Cut comments between entries.
    return entry[: max(entry.rfind("}"), entry.rfind(")")) + 1] if _ENTRY.match(entry) else ""


def _entries_by_title(hits: Sequence[Hit], root: Path) -> dict[str, str]:
    """Return the entries of bibliographies beside or above passages that have these titles."""
    hits = [hit for hit in hits if hit.title and hit.source.state is State.VERIFIED]
    titles = {_letters(hit.title) for hit in hits}
    found: dict[str, str] = {}
    for folder in sorted({folder for hit in hits for folder in PurePosixPath(hit.source.path).parents}):
        for file in sorted((root / folder).glob("*.bib")):
            path = (folder / file.name).as_posix()
            with suppress(Unreadable):
                document = load(root, path)
                text, lines = _text_of(path, root), LineMap(document.text)
                for record in document.records:
                    if (title := _letters(record.title)) in titles:
                        found.setdefault(title, _entry_at(text, lines.line_of(record.start)))
    return found


def _letters(title: str) -> str:
    return re.sub(r"[\W_]+", "", title).casefold()


def _citekey(hit: Hit, root: Path) -> str:
    """Return the citation key in a note's front matter, or ""."""
    if hit.source.media_type != MARKDOWN.media_type:
        return ""
    with suppress(Unreadable):
        stated = dict(load(root, hit.source.path).metadata).get("citekey", "")
        return stated if _KEY.fullmatch(stated) else ""
    return ""


def _text_of(path: str, root: Path) -> str:
    """Return the text of a file, or "" if it is gone or not UTF-8."""
    try:
        return read_file(root, path).decode("utf-8")
    except (Unreadable, UnicodeDecodeError):
        return ""


def _position(hit: Hit, root: Path, first: int) -> tuple[int, int, str]:
    """Return a line number, a column in bytes (both from 1) and the line; the passage's first line if it moved."""
    at = hit.highlights[0].chars[0] if hit.highlights else hit.source.chars[0]
    text = _text_of(hit.source.path, root)
    if text[slice(*hit.source.chars)] != hit.text:  # extracted text, or the file has changed
        return first, 1, next(filter(str.strip, hit.text.split("\n")), "")
    line = LineMap(text).line_of(at)
    start, end = LineMap(text).span(line)
    return line, len(text[start:at].encode()) + 1, text[start:end]


def _target(hit: Hit, place: Places) -> str:
    """Return the link to a file, at its page or line in the syntax of GitHub and others."""
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
