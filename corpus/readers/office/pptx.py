"""Slides (PPTX): each slide is a page, its title a heading; lists, tables, charts, diagrams and speaker notes."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from corpus.formats import PPTX
from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.office.xml_tree import find_all, find_first
from corpus.readers.office.zip_archive import Archive
from corpus.text.superscripts import to_superscript
from corpus.types import BlockKind, Extracted

_TITLE_TYPES = ("title", "ctrTitle")
_FRAME_TYPES = ("chart", "diagramData")
# Numbers, dates and footers repeat on every slide.
_SKIPPED = ("sldNum", "dt", "ftr", "hdr", "sldImg")


def read(archive: Archive, main: str) -> Extracted:
    """Read a presentation with its list of slides in the part `main`."""
    builder = DocumentBuilder()
    first_title = ""
    links = archive.relationships(main)
    for entry in find_all(archive.read_xml(main), "sldId"):
        _, name = links.get(entry.get("r:id", ""), ("", ""))
        slide = archive.read_xml(name)
        builder.page()
        builder.section(1, "")
        if slide.get("show") == "0":
            continue  # a hidden slide keeps its number
        parts = archive.relationships(name)
        frames = {key: part for key, (kind, part) in parts.items() if kind in _FRAME_TYPES}
        title = _add_slide(builder, slide, {key: archive.read_optional(part) for key, part in frames.items()})
        first_title = first_title or title
        if notes := dict(parts.values()).get("notesSlide"):
            for shape in find_all(archive.read_xml(notes), "sp"):
                if _placeholder_type(shape) not in _SKIPPED:
                    builder.block("\n".join(_paragraphs(shape)))
    return builder.build(PPTX.media_type, title=archive.read_title("docProps/core.xml") or first_title)


def _add_slide(builder: DocumentBuilder, slide: Element, frames: Mapping[str, Element | None]) -> str:
    """Add a slide and return its title; `frames` are the parts of its charts and diagrams, by id."""
    title = ""
    shapes = list(find_all(slide, "sp", "cxnSp", "tbl", "chart", "relIds", skip=frozenset({"Fallback"})))
    shapes.sort(key=lambda shape: _placeholder_type(shape) not in _TITLE_TYPES)
    for shape in shapes:
        kind = _placeholder_type(shape)
        if shape.tag == "tbl":
            builder.rows(
                [["\n".join(_paragraphs(cell)) for cell in find_all(row, "tc")] for row in find_all(shape, "tr")]
            )
        elif shape.tag == "chart":
            _add_chart(builder, frames.get(shape.get("r:id", "")))
        elif shape.tag == "relIds":
            for point in find_all(frames.get(shape.get("dm", "")), "pt"):
                builder.block(" ".join(_paragraphs(point)), BlockKind.ITEM)
        elif kind in _TITLE_TYPES:
            title = title or " ".join(_paragraphs(shape))
            builder.heading(1, " ".join(_paragraphs(shape)))
        elif kind not in _SKIPPED:
            _add_text(builder, shape, is_list=bool(kind))
    return title


def _add_chart(builder: DocumentBuilder, chart: Element | None) -> None:
    """Add the titles of a chart and its axes, then a row for each category with the name and value of each series."""
    for title in find_all(chart, "title"):
        builder.block(" ".join(_paragraphs(title)))
    series = list(find_all(chart, "ser"))
    values = [_points(find_first(ser, "val")) | _points(find_first(ser, "yVal")) for ser in series]
    categories = _points(next((cat for ser in series if (cat := find_first(ser, "cat")) is not None), None))
    names = [" ".join(_texts_of(find_first(ser, "tx"), "v", "t")) for ser in series]
    columns = [
        {index: f"{name}: {value}" if name else value for index, value in column.items()}
        for name, column in zip(names, values, strict=True)
    ]
    indexes = sorted(categories.keys() | set().union(*columns))
    builder.rows([[column.get(index, "") for column in (categories, *columns)] for index in indexes])


def _points(element: Element | None) -> dict[int, str]:
    """Return the values or categories of a series by index; those of empty cells are missing in the file."""
    points: dict[int, str] = {}
    for number, point in enumerate(find_all(element, "pt")):
        index = int(attribute) if (attribute := point.get("idx", "")).isdecimal() else number
        text = "".join(_texts_of(point, "v"))
        # The outer level of a category, such as a year above its months, comes after the inner.
        points[index] = f"{text} {points[index]}" if index in points else text
    return points


def _texts_of(element: Element | None, *names: str) -> list[str]:
    return [part.text or "" for part in find_all(element, *names)]


def _placeholder_type(shape: Element) -> str:
    """Return the type of the placeholder that a shape fills, such as "title"; "" for none."""
    placeholder = find_first(shape, "ph")
    return "" if placeholder is None else placeholder.get("type", "body")


def _add_text(builder: DocumentBuilder, shape: Element, *, is_list: bool) -> None:
    paragraphs = [(paragraph, text) for paragraph in find_all(shape, "p") if one_line(text := _text(paragraph))]
    for paragraph, text in paragraphs:
        properties = paragraph.find("pPr")
        depth = "0" if properties is None else properties.get("lvl", "0")
        if is_list and len(paragraphs) > 1:
            builder.block(text, BlockKind.ITEM, min(int(depth) if depth.isdigit() else 0, 5))
        else:
            builder.block(text)


def _paragraphs(element: Element) -> list[str]:
    return [text for paragraph in find_all(element, "p") if (text := _text(paragraph).strip())]


def _text(paragraph: Element) -> str:
    return "".join(map(_run_text, find_all(paragraph, "r", "t", "br")))


def _run_text(element: Element) -> str:
    """Return the text of a run, with superscripts for raised numbers, or of a part of a run."""
    if element.tag != "r":
        return "\n" if element.tag == "br" else element.text or ""
    text = "".join(_texts_of(element, "t"))
    properties = element.find("rPr")
    baseline = "" if properties is None else properties.get("baseline", "")
    return to_superscript(text) if baseline.strip("%0.") and not baseline.startswith("-") else text
