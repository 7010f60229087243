"""Word documents (DOCX): paragraphs, headings by their styles, lists, tables, notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeVar
from xml.etree.ElementTree import Element

from corpus.formats import DOCX
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.numbering import BULLET, Numbering, val
from corpus.readers.office.xml_tree import find_all, find_first
from corpus.readers.office.zip_archive import Archive, authors
from corpus.text.superscripts import to_superscript
from corpus.types import BlockKind, Extracted

_T = TypeVar("_T")

_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
# Deleted text, and alternative forms of the same content.
_SKIP = frozenset({"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr"})
_REFERENCES = ("footnoteReference", "endnoteReference", "commentReference")
# Text boxes are in the paragraph beside which they are shown.
_BOX = "txbxContent"
_HEADING = re.compile(r"heading\s*(\d)", re.IGNORECASE)


def read(archive: Archive, main: str) -> Extracted:
    """Read a Word document with its text in the part `main`."""
    parts = dict(archive.relationships(main).values())
    styles = archive.read_optional(parts.get("styles", ""))
    lists = _Lists(
        levels=_values_by_style(styles, _style_level),
        list_ids=_values_by_style(styles, _list_id),
        numbering=Numbering(archive.read_optional(parts.get("numbering", ""))),
    )
    builder = DocumentBuilder()
    notes = {
        (f"{kind}Reference", note.get("id")): _text(note)
        for kind in ("footnote", "endnote")
        for note in find_all(archive.read_optional(parts.get(f"{kind}s", "")), kind)
    }
    for comment in find_all(archive.read_optional(parts.get("comments", "")), "comment"):
        notes["commentReference", comment.get("id")] = f"Comment: {_text(comment)}"
    body = find_first(archive.read_xml(main), "body")
    for paragraph in find_all(body, "p", skip=_SKIP):
        _delete_unseen(paragraph)
    for element in find_all(body, "p", "tbl", skip=_SKIP):
        if element.tag == "tbl":
            builder.rows(list(_rows(element)))
        else:
            _add_paragraph(builder, element, lists)
        for box in find_all(element, _BOX, skip=_SKIP) if element.tag == "p" else ():
            for paragraph in find_all(box, "p", skip=_SKIP):
                _add_paragraph(builder, paragraph, lists)
        for reference in find_all(element, *_REFERENCES, skip=_SKIP):
            builder.block(notes.pop((reference.tag, reference.get("id")), ""))
    builder.title = archive.read_title("docProps/core.xml") or builder.title
    builder.metadata = authors(archive.read_optional("docProps/core.xml"))
    return builder.build(DOCX.media_type)


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


def _is_set(run: Element, name: str) -> bool:
    switch = run.find(f"rPr/{name}")
    return switch is not None and switch.get("val") not in ("0", "false", "off")


class _Lists(NamedTuple):
    """What styles and numbering say about paragraphs: the levels of headings, and lists by their ids, by style."""

    levels: Mapping[str, int]
    list_ids: Mapping[str, str]
    numbering: Numbering


def _rows(table: Element) -> Iterator[list[str]]:
    """Yield the cells of each row; one that is merged with the cell above has its text."""
    above: list[str] = []
    for row in find_all(table, "tr", skip=_SKIP):
        if row.find("trPr/del") is not None:
            continue
        cells = list(find_all(row, "tc"))
        texts = [_text(cell) for cell in cells]
        for column, cell in enumerate(cells[: len(above)]):
            merge = cell.find("tcPr/vMerge")
            if merge is not None and merge.get("val") != "restart":
                texts[column] = texts[column] or above[column]
        above = texts
        yield texts


def _add_paragraph(builder: DocumentBuilder, paragraph: Element, lists: _Lists) -> None:
    text, style = _text(paragraph), val(paragraph, "pPr/pStyle")
    level = _outline_level(paragraph)
    if level is None:
        level = lists.levels.get(style)
    list_id = lists.list_ids.get(style, "0") if (own := _list_id(paragraph)) is None else own
    if level is not None:
        builder.heading(level, text)
        # The first paragraph in the style "Title" is the title of the document.
        builder.title = builder.title or (text if level == 0 else "")
    elif list_id != "0":
        depth = min(int(val(paragraph, "pPr/numPr/ilvl") or 0), 5)
        marker = lists.numbering.marker(list_id, depth) if text.strip() else BULLET
        builder.block(text, BlockKind.ITEM, depth, marker=marker)
    else:
        builder.block(text)


def _outline_level(element: Element) -> int | None:
    """Return the heading level, from 1, that a paragraph or style sets itself; None if it sets none."""
    level = val(element, "pPr/outlineLvl")
    return int(level) + 1 if level.isdigit() and int(level) < 9 else None


def _list_id(element: Element) -> str | None:
    """Return the id of the list of which a paragraph or style makes an item, "0" for none; None if that is open."""
    return None if element.find("pPr/numPr") is None else val(element, "pPr/numPr/numId")


def _style_level(style: Element) -> int | None:
    """Return the level of a heading style, 0 for the title's; None for any other style."""
    name, level = val(style, "name"), _outline_level(style)
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
            ancestor = val(by_id[ancestor], "basedOn")
        if ancestor in values:
            inherited[style_id] = values[ancestor]
    return inherited


def _text(element: Element) -> str:
    return "".join(_text_parts(element)).strip("\n")


def _text_parts(element: Element) -> Iterator[str]:
    for child in find_all(element, "r", "sup", "t", "p", *_BREAKS, skip=_SKIP | {_BOX}):
        if child.tag == "r" and val(child, "rPr/vertAlign") != "superscript":
            yield from _text_parts(child)
        elif child.tag in ("r", "sup"):  # "sup" is an exponent in a formula
            yield to_superscript("".join(_text_parts(child)))
        elif child.tag == "t":
            yield child.text or ""
        elif child.tag == "p":
            yield "".join(_text_parts(child)) + "\n"
        else:
            yield _BREAKS[child.tag]
