"""Word documents (DOCX): paragraphs, headings by their styles, lists, tables, notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TypeVar
from xml.etree.ElementTree import Element

from corpus.formats import DOCX
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.word_lists import WordLists
from corpus.readers.office.xml_tree import find_all, find_first, value_at, whole_number
from corpus.readers.office.zip_archive import Archive
from corpus.text.headings import could_be_heading
from corpus.text.superscripts import to_superscript
from corpus.types import BlockKind, Extracted

_T = TypeVar("_T")

_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
# Text boxes, also those of drawings.
_BOXES = ("txbxContent", "txBody")
# Deleted text, alternative forms of the same content, and text boxes, which do not belong to their paragraph.
_SKIP = frozenset({"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr", *_BOXES})
# Longer texts are not repeated in each row that they span.
_MAX_REPEATED = 100
_REFERENCES = ("footnoteReference", "endnoteReference", "commentReference")
_HEADING = re.compile(r"heading\s*(\d)", re.IGNORECASE)


def read(archive: Archive, main: str) -> Extracted:
    """Read a Word document with its text in the part `main`."""
    parts = dict(archive.relationships(main).values())
    styles = archive.read_optional(parts.get("styles", ""))
    lists = WordLists(archive.read_optional(parts.get("numbering", "")))
    builder = DocumentBuilder()
    paragraphs = _Paragraphs(builder, styles, lists)
    notes = {
        (f"{kind}Reference", note.get("id")): _text_of_paragraphs(note)
        for kind in ("footnote", "endnote")
        for note in find_all(archive.read_optional(parts.get(f"{kind}s", "")), kind)
    }
    for comment in find_all(archive.read_optional(parts.get("comments", "")), "comment"):
        notes["commentReference", comment.get("id")] = f"Comment: {_text_of_paragraphs(comment)}"
    body = find_first(archive.read_xml(main), "body")
    for paragraph in _with_boxes(body, "p"):
        _delete_unseen(paragraph)
    for element in _with_boxes(body, "p", "tbl"):
        if element.tag == "tbl":
            builder.rows(list(_rows(element)))
        else:
            paragraphs.add(element)
        for reference in find_all(element, *_REFERENCES, skip=_SKIP):
            builder.block(notes.pop((reference.tag, reference.get("id")), ""))
    builder.title = archive.read_title("docProps/core.xml") or builder.title
    builder.metadata = archive.read_metadata("docProps/core.xml")
    return builder.build(DOCX.media_type)


def _with_boxes(parent: Element | None, *names: str) -> Iterator[Element]:
    """Yield the elements with these names, each paragraph before those in its text boxes."""
    pending = [find_all(parent, *names, skip=_SKIP)]
    while pending:
        element = next(pending[-1], None)
        if element is None:
            pending.pop()
            continue
        yield element
        if element.tag == "p":
            boxes = find_all(element, *_BOXES, skip=_SKIP)
            pending.append(chain.from_iterable(find_all(box, *names, skip=_SKIP) for box in boxes))


def _rows(table: Element) -> Iterator[list[str]]:
    """Yield the rows of a table that are neither blank nor deleted; the text of a cell that spans rows is in each."""
    # By column, the text that is repeated in the cell below.
    above: dict[int, str] = {}
    for row in find_all(table, "tr", skip=_SKIP):
        texts: list[str] = []
        is_blank = True
        column = whole_number(value_at(row, "trPr/gridBefore"))
        for cell in find_all(row, "tc"):
            merge, text = cell.find("tcPr/vMerge"), _text_of_paragraphs(cell)
            is_blank = is_blank and not text.strip()
            if merge is not None and merge.get("val") != "restart":
                text = text or above.get(column, "")
            texts.append(text)
            above[column] = text if len(text) <= _MAX_REPEATED else ""
            column += whole_number(value_at(cell, "tcPr/gridSpan"), default=1)
        if not is_blank and row.find("trPr/del") is None:
            yield texts


def _text_of_paragraphs(parent: Element) -> str:
    return "\n".join(map(_text, _with_boxes(parent, "p")))


def _delete_unseen(paragraph: Element) -> None:
    """Delete hidden text, and struck-out text unless the paragraph has no other, as in a task that is done."""
    struck, others = list[Element](), list[Element]()
    for run in find_all(paragraph, "r", skip=_SKIP):
        if _is_set(run, "vanish"):
            run.tag = "del"
        else:
            (struck if _is_set(run, "strike") or _is_set(run, "dstrike") else others).append(run)
    if struck and any(map(str.isalnum, "".join(map(_text, others)))):
        for run in struck:
            run.tag = "del"


def _is_bold(paragraph: Element) -> bool:
    """Whether all text of a paragraph is in bold."""
    runs = (run for run in find_all(paragraph, "r", skip=_SKIP) if _text(run).strip())
    return all(_is_set(run, "b") or value_at(run, "rPr/rStyle") == "Strong" for run in runs)


def _is_set(run: Element, name: str) -> bool:
    switch = run.find(f"rPr/{name}")
    return switch is not None and switch.get("val") not in ("0", "false", "off")


class _Paragraphs:
    """Adds paragraphs as headings, list items or text, by their styles."""

    def __init__(self, builder: DocumentBuilder, styles: Element | None, lists: WordLists) -> None:
        self._builder = builder
        self._lists = lists
        self._levels = _values_by_style(styles, _style_level)
        self._places = _values_by_style(styles, lists.place)

    def add(self, paragraph: Element) -> None:
        """Add a paragraph."""
        text, style = _text(paragraph), value_at(paragraph, "pPr/pStyle")
        level, place = _outline_level(paragraph), self._lists.place(paragraph) or self._places.get(style)
        if level is None:
            level = self._levels.get(style)
        # Headings and blank items have numbers, too; but a deleted paragraph has none.
        is_deleted = not text and paragraph.find("pPr/rPr/del") is not None
        marker = "" if place is None or is_deleted else self._lists.marker(place)
        if level is not None:
            self._builder.heading(level, text)
            # The first paragraph in the style "Title" is the title of the document.
            self._builder.title = self._builder.title or (text if level == 0 else "")
        # The id 0 takes a paragraph out of its style's list.
        elif place is not None and place.list_id != "0":
            self._builder.block(text, BlockKind.ITEM, min(place.level, 5), marker=marker)
        elif could_be_heading(text) and _is_bold(paragraph):
            self._builder.introduction(text)
        else:
            self._builder.block(text)


def _outline_level(element: Element) -> int | None:
    """Return the heading level, from 1, that a paragraph or style sets itself; None if it sets none."""
    level = value_at(element, "pPr/outlineLvl")
    return int(level) + 1 if level.isdigit() and int(level) < 9 else None


def _style_level(style: Element) -> int | None:
    """Return the level of a heading style, 0 for the title's; None for any other style."""
    name, level = value_at(style, "name"), _outline_level(style)
    if name.lower() == "title":
        return 0
    return int(match[1]) if level is None and (match := _HEADING.fullmatch(name)) else level


def _values_by_style(styles: Element | None, value_of: Callable[[Element], _T | None]) -> dict[str, _T]:
    """Return the value of each style by id, its own or else that of the nearest style it is based on."""
    by_id = {style.get("styleId", ""): style for style in find_all(styles, "style")}
    values = {style_id: value for style_id, style in by_id.items() if (value := value_of(style)) is not None}
    inherited = dict(values)
    for style_id in by_id:
        ancestor, visited = style_id, set[str]()
        while ancestor in by_id and ancestor not in values and ancestor not in visited:
            visited.add(ancestor)
            ancestor = value_at(by_id[ancestor], "basedOn")
        if ancestor in values:
            inherited[style_id] = values[ancestor]
    return inherited


def _text(element: Element) -> str:
    return "".join(_text_parts(element)).strip("\n")


def _text_parts(element: Element) -> Iterator[str]:
    for child in find_all(element, "r", "sup", "t", *_BREAKS, skip=_SKIP):
        if child.tag == "r" and value_at(child, "rPr/vertAlign") != "superscript":
            yield from _text_parts(child)
        elif child.tag in ("r", "sup"):  # "sup" is an exponent in a formula
            yield to_superscript("".join(_text_parts(child)))
        elif child.tag == "t":
            yield child.text or ""
        else:
            yield _BREAKS[child.tag]
