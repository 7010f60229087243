"""Word documents (DOCX): paragraphs, headings by their styles, lists, tables, footnotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar
from xml.etree.ElementTree import Element

from corpus.formats import DOCX
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive
from corpus.text.superscripts import to_superscript
from corpus.types import BlockKind, Extracted

_T = TypeVar("_T")

_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
# Deleted text, and alternative forms of the same content.
_SKIP = frozenset({"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr"})
_HEADING = re.compile(r"heading\s*(\d)", re.IGNORECASE)


def read(archive: Archive, main: str) -> Extracted:
    """Read a Word document whose text is in the part `main`."""
    links = dict(archive.links(main).values())
    styles = archive.optional(links.get("styles", ""))
    levels, lists = _by_style(styles, _style_level), _by_style(styles, _is_item)
    builder = DocumentBuilder()
    body = first(archive.xml(main), "body")
    for element in each(body, "p", "tbl", skip=_SKIP):
        if element.tag == "tbl":
            builder.rows([[_text(cell) for cell in each(row, "tc")] for row in each(element, "tr", skip=_SKIP)])
        else:
            _add_paragraph(builder, element, levels, lists)
    for note in each(archive.optional(links.get("footnotes", "")), "footnote"):
        builder.block(_text(note))
    builder.title = archive.title("docProps/core.xml") or builder.title
    return builder.build(DOCX.media_type)


def _add_paragraph(
    builder: DocumentBuilder, paragraph: Element, levels: Mapping[str, int], lists: Mapping[str, bool]
) -> None:
    text, style = _text(paragraph), _value(paragraph, "pPr/pStyle")
    level = _outline_level(paragraph)
    if level is None:
        level = levels.get(style)
    if level is not None:
        builder.heading(level, text)
        # The first paragraph in the style "Title" is the title of the document.
        builder.title = builder.title or (text if level == 0 else "")
    elif lists.get(style, False) if (is_item := _is_item(paragraph)) is None else is_item:
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


def _is_item(element: Element) -> bool | None:
    """Whether a paragraph or style is set to be a list item; None if it does not say."""
    # The number 0 takes a paragraph out of the list of its style.
    return None if element.find("pPr/numPr") is None else _value(element, "pPr/numPr/numId") != "0"


def _style_level(style: Element) -> int | None:
    """The level of a heading style, 0 for that of the document's title; None for any other style."""
    name, level = _value(style, "name"), _outline_level(style)
    if name.lower() == "title":
        return 0
    return int(match[1]) if level is None and (match := _HEADING.fullmatch(name)) else level


def _by_style(styles: Element | None, own: Callable[[Element], _T | None]) -> dict[str, _T]:
    """What styles have of their `own`, else from the nearest style that they are based on."""
    by_id = {style.get("styleId", ""): style for style in each(styles, "style")}
    values = {key: value for key, style in by_id.items() if (value := own(style)) is not None}
    found = dict(values)
    for key in by_id:
        ancestor, seen = key, set[str]()
        while ancestor in by_id and ancestor not in values and ancestor not in seen:
            seen.add(ancestor)
            ancestor = _value(by_id[ancestor], "basedOn")
        if ancestor in values:
            found[key] = values[ancestor]
    return found


def _text(element: Element) -> str:
    return "".join(_pieces(element)).strip("\n")


def _pieces(element: Element) -> Iterator[str]:
    for child in each(element, "r", "sup", "t", "p", *_BREAKS, skip=_SKIP):
        if child.tag == "r" and _value(child, "rPr/vertAlign") != "superscript":
            yield from _pieces(child)
        elif child.tag in ("r", "sup"):  # "sup" is an exponent in a formula
            yield to_superscript("".join(_pieces(child)))
        elif child.tag == "t":
            yield child.text or ""
        elif child.tag == "p":
            yield "".join(_pieces(child)) + "\n"
        else:
            yield _BREAKS[child.tag]
