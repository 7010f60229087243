"""Word documents (DOCX): paragraphs, headings by their styles, lists, tables, footnotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from corpus.formats import DOCX
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive
from corpus.types import BlockKind, Extracted

_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
# What was deleted, and second forms of the same content.
_LEFT = frozenset({"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr"})
_HEADING = re.compile(r"heading\s*(\d)", re.IGNORECASE)
_TITLE_LEVEL = 0


def read(archive: Archive, main: str) -> Extracted:
    """Read a Word document whose text is in the part `main`."""
    links = dict(archive.related(main).values())
    styles = _styles(archive, links.get("styles", ""))
    builder = DocumentBuilder()
    body = first(archive.xml(main), "body")
    for element in each(body, "p", "tbl", leave=_LEFT) if body is not None else ():
        if element.tag == "tbl":
            builder.rows([[_words(cell) for cell in each(row, "tc")] for row in each(element, "tr", leave=_LEFT)])
        else:
            _paragraph(builder, element, styles)
    notes = archive.optional(links.get("footnotes", ""))
    for note in each(notes, "footnote") if notes is not None else ():
        builder.block(_words(note))
    builder.title = archive.title("docProps/core.xml")
    return builder.build(DOCX.media_type)


def _paragraph(builder: DocumentBuilder, paragraph: Element, styles: dict[str, int]) -> None:
    about = paragraph.find("pPr")
    level = None if about is None else _outline(about)
    is_item = depth = 0
    if about is not None:
        style = about.find("pStyle")
        level = styles.get(style.get("val", "")) if level is None and style is not None else level
        numbers = about.find("numPr")
        if numbers is not None:
            place = numbers.find("ilvl")
            is_item, depth = 1, int(place.get("val", "0")) if place is not None else 0
    text = _words(paragraph)
    if level is not None:
        builder.heading(level, text)
    else:
        builder.block(text, BlockKind.ITEM if is_item else BlockKind.PARAGRAPH, min(depth, 5))


def _outline(about: Element) -> int | None:
    """The level of a heading, from 1, that a paragraph or style states itself."""
    found = about.find("outlineLvl")
    level = found.get("val", "") if found is not None else ""
    return int(level) + 1 if level.isdigit() and int(level) < 9 else None


def _styles(archive: Archive, name: str) -> dict[str, int]:
    """The levels of the styles that are for headings, those made from others too."""
    root = archive.optional(name)
    levels: dict[str, int] = {}
    bases: dict[str, str] = {}
    for style in each(root, "style") if root is not None else ():
        key = style.get("styleId", "")
        about, named, base = style.find("pPr"), style.find("name"), style.find("basedOn")
        words = named.get("val", "") if named is not None else ""
        level = _outline(about) if about is not None else None
        if words.lower() == "title":
            level = _TITLE_LEVEL
        elif level is None and (found := _HEADING.fullmatch(words)):
            level = int(found[1])
        if level is not None:
            levels[key] = level
        elif base is not None:
            bases[key] = base.get("val", "")
    for key, base_key in bases.items():
        above, seen = base_key, {key}
        while above in bases and above not in seen:
            seen.add(above)
            above = bases[above]
        if above in levels:
            levels[key] = levels[above]
    return levels


def _words(element: Element) -> str:
    return "".join(_runs(element)).strip("\n")


def _runs(element: Element) -> Iterator[str]:
    for one in each(element, "t", "p", *_BREAKS, leave=_LEFT):
        if one.tag == "t":
            yield one.text or ""
        elif one.tag == "p":
            yield "".join(_runs(one)) + "\n"
        else:
            yield _BREAKS[one.tag]
