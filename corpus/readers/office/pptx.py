"""Slides (PPTX): each slide is a page, its title a heading; lists, tables, charts, diagrams and speaker notes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from xml.etree.ElementTree import Element

from corpus.formats import PPTX
from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive
from corpus.text.superscripts import to_superscript
from corpus.types import BlockKind, Extracted

_TITLES = ("title", "ctrTitle")
_FRAMES = ("chart", "diagramData")
# Numbers, dates and footers repeat on every slide.
_LEFT_OUT = ("sldNum", "dt", "ftr", "hdr", "sldImg")


def read(archive: Archive, main: str) -> Extracted:
    """Read a presentation whose list of slides is in the part `main`."""
    builder = DocumentBuilder()
    first_title = ""
    links = archive.links(main)
    for entry in each(archive.xml(main), "sldId"):
        _, name = links.get(entry.get("r:id", ""), ("", ""))
        slide = archive.xml(name)
        builder.page()
        builder.section(1, "")
        if slide.get("show") == "0":
            continue  # a hidden slide keeps its number
        parts = archive.links(name)
        frames = {key: part for key, (kind, part) in parts.items() if kind in _FRAMES}
        title = _add_slide(builder, slide, {key: archive.optional(part) for key, part in frames.items()})
        first_title = first_title or title
        if notes := dict(parts.values()).get("notesSlide"):
            for shape in each(archive.xml(notes), "sp"):
                if _placeholder(shape) not in _LEFT_OUT:
                    builder.block("\n".join(_lines(shape)))
    return builder.build(PPTX.media_type, title=archive.title("docProps/core.xml") or first_title)


def _add_slide(builder: DocumentBuilder, slide: Element, frames: Mapping[str, Element | None]) -> str:
    """Add a slide and return its title; `frames` are the parts of its charts and diagrams, by id."""
    title = ""
    shapes = list(each(slide, "sp", "cxnSp", "tbl", "chart", "relIds", skip=frozenset({"Fallback"})))
    shapes.sort(key=lambda shape: _placeholder(shape) not in _TITLES)
    for shape in shapes:
        placeholder = _placeholder(shape)
        if shape.tag == "tbl":
            builder.rows([["\n".join(_lines(cell)) for cell in each(row, "tc")] for row in each(shape, "tr")])
        elif shape.tag == "chart":
            _add_chart(builder, frames.get(shape.get("r:id", "")))
        elif shape.tag == "relIds":
            for point in each(frames.get(shape.get("dm", "")), "pt"):
                builder.block(" ".join(_lines(point)), BlockKind.ITEM)
        elif placeholder in _TITLES:
            title = title or " ".join(_lines(shape))
            builder.heading(1, " ".join(_lines(shape)))
        elif placeholder not in _LEFT_OUT:
            _add_text(builder, shape, is_list=bool(placeholder))
    return title


def _add_chart(builder: DocumentBuilder, chart: Element | None) -> None:
    """Add the title of a chart, then a row for each category with the name and value of each series."""
    builder.block(" ".join(_lines(title)) if (title := first(chart, "title")) is not None else "")
    series = list(each(chart, "ser"))
    values = [_texts(first(ser, "val"), "v") + _texts(first(ser, "yVal"), "v") for ser in series]
    categories = next((first(ser, "cat") for ser in series if first(ser, "cat") is not None), None)
    names = [" ".join(_texts(first(ser, "tx"), "v", "t")) for ser in series]
    columns = [
        [f"{name}: {value}" if name else value for value in column] for name, column in zip(names, values, strict=True)
    ]
    builder.rows(list(zip_longest(_texts(categories, "v"), *columns, fillvalue="")))


def _texts(element: Element | None, *names: str) -> list[str]:
    return [part.text or "" for part in each(element, *names)]


def _placeholder(shape: Element) -> str:
    """The kind of placeholder that a shape fills, such as "title"; "" for none."""
    found = first(shape, "ph")
    return "" if found is None else found.get("type", "body")


def _add_text(builder: DocumentBuilder, shape: Element, *, is_list: bool) -> None:
    paragraphs = [(paragraph, text) for paragraph in each(shape, "p") if one_line(text := _text(paragraph))]
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
    return "".join(map(_run, each(paragraph, "r", "t", "br")))


def _run(element: Element) -> str:
    """The text of a run, with raised numbers as superscripts, or of a part of one."""
    if element.tag != "r":
        return "\n" if element.tag == "br" else element.text or ""
    text = "".join(_texts(element, "t"))
    properties = element.find("rPr")
    baseline = "" if properties is None else properties.get("baseline", "")
    return to_superscript(text) if baseline.strip("%0.") and not baseline.startswith("-") else text
