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
# Deleted text, and alternative forms of the same content.
_SKIP = frozenset({"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr"})
_HEADING = re.compile(r"heading\s*(\d)", re.IGNORECASE)


def read(archive: Archive, main: str) -> Extracted:
    """Read a Word document whose text is in the part `main`."""
    links = dict(archive.links(main).values())
    levels = _style_levels(archive.optional(links.get("styles", "")))
    builder = DocumentBuilder()
    body = first(archive.xml(main), "body")
    for element in each(body, "p", "tbl", skip=_SKIP):
        if element.tag == "tbl":
            builder.rows([[_text(cell) for cell in each(row, "tc")] for row in each(element, "tr", skip=_SKIP)])
        else:
            _add_paragraph(builder, element, levels)
    for note in each(archive.optional(links.get("footnotes", "")), "footnote"):
        builder.block(_text(note))
    builder.title = archive.title("docProps/core.xml") or builder.title
    return builder.build(DOCX.media_type)


def _add_paragraph(builder: DocumentBuilder, paragraph: Element, levels: dict[str, int]) -> None:
    text = _text(paragraph)
    level = _outline_level(paragraph)
    if level is None:
        level = levels.get(_value(paragraph, "pPr/pStyle"))
    if level is not None:
        builder.heading(level, text)
        # The first paragraph in the style "Title" is the title of the document.
        builder.title = builder.title or (text if level == 0 else "")
    elif paragraph.find("pPr/numPr") is not None:
        builder.block(text, BlockKind.ITEM, min(int(_value(paragraph, "pPr/numPr/ilvl") or 0), 5))
    else:
        builder.block(text)


def _value(element: Element, path: str) -> str:
    found = element.find(path)
    return "" if found is None else found.get("val", "")


def _outline_level(element: Element) -> int | None:
    """The heading level, from 1, set directly on a paragraph or style; None if there is none."""
    level = _value(element, "pPr/outlineLvl")
    return int(level) + 1 if level.isdigit() and int(level) < 9 else None


def _style_levels(styles: Element | None) -> dict[str, int]:
    """The levels of heading styles, and of styles based on them."""
    levels: dict[str, int] = {}
    bases: dict[str, str] = {}
    for style in each(styles, "style"):
        key, name = style.get("styleId", ""), _value(style, "name")
        level = _outline_level(style)
        if name.lower() == "title":
            level = 0
        elif level is None and (match := _HEADING.fullmatch(name)):
            level = int(match[1])
        if level is not None:
            levels[key] = level
        elif base := _value(style, "basedOn"):
            bases[key] = base
    for key, base in bases.items():
        ancestor, seen = base, {key}
        while ancestor in bases and ancestor not in seen:
            seen.add(ancestor)
            ancestor = bases[ancestor]
        if ancestor in levels:
            levels[key] = levels[ancestor]
    return levels


def _text(element: Element) -> str:
    return "".join(_pieces(element)).strip("\n")


def _pieces(element: Element) -> Iterator[str]:
    for child in each(element, "t", "p", *_BREAKS, skip=_SKIP):
        if child.tag == "t":
            yield child.text or ""
        elif child.tag == "p":
            yield "".join(_pieces(child)) + "\n"
        else:
            yield _BREAKS[child.tag]
