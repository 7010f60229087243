"""Slides (PPTX): a slide is a page, its title a heading; lists, tables and the speaker's notes."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from corpus.formats import PPTX
from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive
from corpus.types import BlockKind, Extracted

_TITLES = ("title", "ctrTitle")
# The number, the date and the foot stand on every slide.
_LEFT_OUT = ("sldNum", "dt", "ftr", "hdr", "sldImg")


def read(archive: Archive, main: str) -> Extracted:
    """Read a presentation whose list of slides is in the part `main`."""
    builder = DocumentBuilder()
    links = archive.related(main)
    for entry in each(archive.xml(main), "sldId"):
        _, name = links.get(entry.get("r:id", ""), ("", ""))
        slide = archive.xml(name)
        builder.page()
        builder.under(1, "")
        if slide.get("show") == "0":
            continue  # a hidden slide keeps its number
        _slide(builder, slide)
        notes = dict(archive.related(name).values()).get("notesSlide")
        if notes is not None:
            _notes(builder, archive.xml(notes))
    builder.title = archive.title("docProps/core.xml")
    return builder.build(PPTX.media_type)


def _slide(builder: DocumentBuilder, slide: Element) -> None:
    shapes = list(each(slide, "sp", "tbl", leave=frozenset({"Fallback"})))
    shapes.sort(key=lambda shape: _place(shape) not in _TITLES)
    for shape in shapes:
        place = _place(shape)
        if shape.tag == "tbl":
            builder.rows([["\n".join(_lines(cell)) for cell in each(row, "tc")] for row in each(shape, "tr")])
        elif place in _TITLES:
            builder.heading(1, " ".join(_lines(shape)))
        elif place not in _LEFT_OUT:
            _text(builder, shape)


def _place(shape: Element) -> str:
    """What a shape is for: "title"; "" for one of its own."""
    found = first(shape, "ph")
    return "" if found is None else found.get("type", "body")


def _text(builder: DocumentBuilder, shape: Element) -> None:
    lines = [(paragraph, _words(paragraph)) for paragraph in each(shape, "p")]
    lines = [(paragraph, words) for paragraph, words in lines if one_line(words)]
    for paragraph, words in lines:
        about = paragraph.find("pPr")
        depth = about.get("lvl", "0") if about is not None else "0"
        if len(lines) > 1 and _place(shape):
            builder.block(words, BlockKind.ITEM, min(int(depth) if depth.isdigit() else 0, 5))
        else:
            builder.block(words)


def _notes(builder: DocumentBuilder, notes: Element) -> None:
    for shape in each(notes, "sp"):
        if _place(shape) == "body":
            builder.block("\n".join(_lines(shape)))


def _lines(element: Element) -> list[str]:
    return [words for paragraph in each(element, "p") if (words := _words(paragraph).strip())]


def _words(paragraph: Element) -> str:
    return "".join("\n" if one.tag == "br" else one.text or "" for one in each(paragraph, "t", "br"))
