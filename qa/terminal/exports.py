"""An answer in the formats of other programs: Markdown, BibTeX, and lines that vim and other editors jump to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from corpus import LineMap, load, read_file
from corpus.errors import Unreadable
from corpus.formats import MARKDOWN, PDF
from qa.answer.display import flags, remarks_below, with_marks
from qa.answer.results import Hit, Result, State
from qa.terminal.answers import Places
from qa.terminal.text import clean, clean_line, clean_name

_ENTRY = re.compile(r"^[ \t]*@\w+[ \t]*[{(][ \t]*([^\s,{}()]+)", re.MULTILINE)
_KEY = re.compile(r"[^\s,{}()\"#%'~\\]+")
# Special characters of Markdown, and of BibTeX.
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~$&!])")
_BIBTEX = re.compile(r"[\\{}%&#_$~^]")
_BIBTEX_COMMANDS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def markdown(result: Result, places: Places) -> str:
    """Return the question, the answer as a quotation, and each passage with a link to its file."""
    lines = [f"**{_escape_markdown(clean_line(result.question))}**", ""]
    if result.found and result.answer is not None:
        marked = with_marks(result.answer, clean(result.answer.text))
        lines += [*_quote_lines(_escape_markdown("\n".join(line + marks for line, marks in marked))), ""]
        for remark in remarks_below(result.answer):
            lines += [_escape_markdown(clean_line(remark)), ""]
    else:
        lines += ["No passage answers this with confidence.", ""]
    for hit in result.passages:
        citation = _escape_markdown(places.cited(hit))
        trail = " › ".join(map(clean_line, hit.heading))
        headings = f" — {_escape_markdown(trail)}" if trail else ""
        remarks = "".join(f" **({_escape_markdown(clean_line(flag))})**" for flag in flags(hit))
        lines.append(f"{hit.rank}. [{citation}](<{_link_target(hit, places)}>){headings}{remarks}")
        # Markdown is quoted verbatim, other text is escaped.
        text = clean(hit.text.strip("\n"))
        text = text if hit.source.media_type == "text/markdown" else _escape_markdown(text)
        lines += ["", *("   " + line for line in _quote_lines(text)), ""]
    return "\n".join(lines)


def bibtex(result: Result, places: Places) -> str:
    """Return an entry for each cited document, copied from a bibliography if possible, else with its places as a note.

    Bibliographies in the document's folder or above are searched for its title.
    """
    root = places.root
    documents: dict[tuple[str, str], list[Hit]] = {}
    for hit in result.passages:
        documents.setdefault((hit.source.path, hit.title), []).append(hit)
    entry_by_document = {document: _entry_of(hits[0], root) for document, hits in documents.items()}
    without_entry = [hits[0] for document, hits in documents.items() if not entry_by_document[document]]
    by_title = _entries_by_title(without_entry, root)
    for hit in without_entry:
        entry = "" if _citekey(hit, root) else by_title.get(_normalise_title(hit.title), "")
        entry_by_document[hit.source.path, hit.title] = entry
    keys = {match[1] for entry in entry_by_document.values() if (match := _ENTRY.match(entry))}
    entries = []
    for (path, title), hits in documents.items():
        if entry := entry_by_document[path, title]:
            entries.append(f"{clean(entry)}\n")
            continue
        first = hits[0]
        key = _citekey(first, root)
        if not key or key in keys:
            key = re.sub(r"[^a-z0-9]+", "-", f"{Path(path).stem} {first.id[:6]}".lower()).strip("-")
        keys.add(key)
        fields = {
            "title": title or Path(path).name,
            "howpublished": places(path),
            "note": "; ".join(dict.fromkeys([*map(places.cited, hits), *flags(first)])),
            "annotation": clean_line(first.highlights[0].text if first.highlights else first.text),
        }
        body = ",\n".join(f"  {name} = {{{_escape_bibtex(clean_line(value))}}}" for name, value in fields.items())
        entries.append(f"@misc{{{key},\n{body}\n}}\n")
    return "\n".join(dict.fromkeys(entries))  # a paper and its entry are one


def vimgrep(result: Result, places: Places) -> str:
    """Return `path:line:column:text` of the answering sentence in each passage that has line numbers.

    The text begins with remarks such as "(file is missing)".
    """
    rows = []
    for hit in result.passages:
        lines = hit.source.lines
        if lines is not None and hit.source.page is None:
            line, column, text = _position(hit, places.root, lines[0])
            remarks = "".join(f"({clean_line(flag)}) " for flag in flags(hit))
            rows.append(f"{clean_name(places(hit.source.path))}:{line}:{column}:{remarks}{clean_line(text)}\n")
    return "".join(rows)


# By the names that `qa ask --format` takes.
FORMATS: dict[str, Callable[[Result, Places], str]] = {"markdown": markdown, "bibtex": bibtex, "vimgrep": vimgrep}


def _entry_of(hit: Hit, root: Path) -> str:
    """Return the bibliography entry that contains a passage, copied from the file, or ""."""
    source = hit.source
    if source.media_type != "text/x-bibtex" or source.state is not State.VERIFIED or source.lines is None:
        return ""
    return _entry_at(_read_text(source.path, root), source.lines[0])


def _entry_at(text: str, line: int) -> str:
    """Return the entry of a bibliography that begins at or above a line, or ""."""
    if not text:
        return ""
    at = LineMap(text).span(line)[1]
    starts = [match.start() for match in _ENTRY.finditer(text)]
    start = max((offset for offset in starts if offset <= at), default=at)
    end = min((offset for offset in starts if offset > at), default=len(text))
    entry = text[start:end].strip()
    # Cut comments between entries.
    return entry[: max(entry.rfind("}"), entry.rfind(")")) + 1] if _ENTRY.match(entry) else ""


def _entries_by_title(hits: Sequence[Hit], root: Path) -> dict[str, str]:
    """Return the entries with the titles of these passages, from bibliographies in their folders or above."""
    hits = [hit for hit in hits if hit.title and hit.source.state is State.VERIFIED]
    titles = {_normalise_title(hit.title) for hit in hits}
    entries: dict[str, str] = {}
    for folder in sorted({folder for hit in hits for folder in PurePosixPath(hit.source.path).parents}):
        for file in sorted((root / folder).glob("*.bib")):
            path = (folder / file.name).as_posix()
            with suppress(Unreadable):
                document = load(root, path)
                text, lines = _read_text(path, root), LineMap(document.text)
                for record in document.records:
                    if (title := _normalise_title(record.title)) in titles:
                        entries.setdefault(title, _entry_at(text, lines.line_of(record.start)))
    return entries


def _normalise_title(title: str) -> str:
    return re.sub(r"[\W_]+", "", title).casefold()


def _citekey(hit: Hit, root: Path) -> str:
    """Return the citation key in a note's front matter, or ""."""
    if hit.source.media_type != MARKDOWN.media_type:
        return ""
    with suppress(Unreadable):
        key = dict(load(root, hit.source.path).metadata).get("citekey", "")
        return key if _KEY.fullmatch(key) else ""
    return ""


def _read_text(path: str, root: Path) -> str:
    """Return the text of a file, or "" if it is gone or not UTF-8."""
    try:
        return read_file(root, path).decode("utf-8")
    except (Unreadable, UnicodeDecodeError):
        return ""


def _position(hit: Hit, root: Path, first: int) -> tuple[int, int, str]:
    """Return the line number, column in bytes (both from 1) and line of a highlight; the passage's if it moved."""
    at = hit.highlights[0].chars[0] if hit.highlights else hit.source.chars[0]
    text = _read_text(hit.source.path, root)
    if text[slice(*hit.source.chars)] != hit.text:  # extracted text, or the file has changed
        return first, 1, next(filter(str.strip, hit.text.split("\n")), "")
    line = LineMap(text).line_of(at)
    start, end = LineMap(text).span(line)
    return line, len(text[start:at].encode()) + 1, text[start:end]


def _link_target(hit: Hit, places: Places) -> str:
    """Return the link to a file, at its page or line in the syntax of GitHub and others."""
    source = hit.source
    if source.media_type == PDF.media_type:
        fragment = f"#page={source.page}"
    elif source.anchor:
        fragment = f"#{source.anchor}"
    else:
        fragment = f"#L{source.lines[0]}" if source.lines and source.page is None else ""
    return re.sub(r"[<>\\%]", lambda match: f"%{ord(match[0]):02X}", clean_name(places(source.path))) + fragment


def _escape_markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _quote_lines(text: str) -> list[str]:
    return [f"> {line}".rstrip() for line in text.split("\n")]


def _escape_bibtex(text: str) -> str:
    return _BIBTEX.sub(lambda match: _BIBTEX_COMMANDS.get(match[0], "\\" + match[0]), text)
