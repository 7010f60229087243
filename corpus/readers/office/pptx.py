"""Slides (PPTX): each slide is a page, its title a heading; lists, tables and speaker notes."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from corpus.formats import PPTX
from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive
from corpus.types import BlockKind, Extracted

_TITLES = ("title", "ctrTitle")
# Numbers, dates and footers repeat on every slide.
_LEFT_OUT = ("sldNum", "dt", "ftr", "hdr", "sldImg")


def read(archive: Archive, main: str) -> Extracted:
    """Read a presentation whose list of slides is in the part `main`."""
    builder = DocumentBuilder()
    links = archive.links(main)
    for entry in each(archive.xml(main), "sldId"):
        _, name = links.get(entry.get("r:id", ""), ("", ""))
        slide = archive.xml(name)
        builder.page()
        builder.section(1, "")
        if slide.get("show") == "0":
            continue  # a hidden slide keeps its number
        _add_slide(builder, slide)
        if notes := dict(archive.links(name).values()).get("notesSlide"):
            for shape in each(archive.xml(notes), "sp"):
                if _placeholder(shape) == "body":
                    builder.block("\n".join(_lines(shape)))
    builder.title = archive.title("docProps/core.xml")
    return builder.build(PPTX.media_type)


def _add_slide(builder: DocumentBuilder, slide: Element) -> None:
    shapes = list(each(slide, "sp", "tbl", skip=frozenset({"Fallback"})))
    shapes.sort(key=lambda shape: _placeholder(shape) not in _TITLES)
    for shape in shapes:
        placeholder = _placeholder(shape)
        if shape.tag == "tbl":
            builder.rows([["\n".join(_lines(cell)) for cell in each(row, "tc")] for row in each(shape, "tr")])
        elif placeholder in _TITLES:
            builder.heading(1, " ".join(_lines(shape)))
        elif placeholder not in _LEFT_OUT:
            _add_text(builder, shape, is_list=bool(placeholder))


def _placeholder(shape: Element) -> str:
    """The kind of placeholder that a shape fills, such as "title"; "" for none."""
    found = first(shape, "ph")
    return "" if found is None else found.get("type", "body")


def _add_text(builder: DocumentBuilder, shape: Element, *, is_list: bool) -> None:
    paragraphs = [(one, text) for one in each(shape, "p") if one_line(text := _text(one))]
    for paragraph, text in paragraphs:
        properties = paragraph.find("pPr")
        depth = "0" if properties is None else properties.get("lvl", "0")
        if is_list and len(paragraphs) > 1:
            builder.block(text, BlockKind.ITEM, min(int(depth) if depth.isdigit() else 0, 5))
        else:
            builder.block(text)


def _lines(element: Element) -> list[str]:
    return [text for paragraph in each(element, "p") if (text := _text(paragraph).strip())]


def _text(paragraph: Element) -> str:
    return "".join("\n" if one.tag == "br" else one.text or "" for one in each(paragraph, "t", "br"))
