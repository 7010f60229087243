"""OpenDocument texts (ODT): headings, paragraphs, lists, tables, notes."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from corpus.errors import Unreadable
from corpus.formats import ODT
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive
from corpus.types import BlockKind, Extracted

_SKIP = frozenset({"tracked-changes", "annotation", "sequence-decls", "forms"})
_BREAKS = {"s": " ", "tab": "\t", "line-break": "\n"}


def read(archive: Archive) -> Extracted:
    """Read an OpenDocument text."""
    if first(archive.optional("META-INF/manifest.xml"), "encryption-data") is not None:
        raise Unreadable("encrypted")
    builder = DocumentBuilder()
    for element in each(first(archive.xml("content.xml"), "text"), "h", "p", "list", "table", skip=_SKIP):
        if element.tag == "h":
            level = element.get("outline-level", "1")
            builder.heading(int(level) if level.isdigit() else 1, _text(element))
        elif element.tag == "list":
            _add_list(builder, element, 0)
        elif element.tag == "table":
            rows = each(element, "table-row")
            builder.rows([[_text(cell) for cell in each(row, "table-cell")] for row in rows])
        else:
            builder.block(_text(element))
    builder.title = archive.title("meta.xml")
    return builder.build(ODT.media_type)


def _add_list(builder: DocumentBuilder, element: Element, depth: int) -> None:
    for item in each(element, "list-item", "list-header"):
        for part in each(item, "p", "h", "list"):
            if part.tag == "list":
                _add_list(builder, part, depth + 1)
            else:
                builder.block(_text(part), BlockKind.ITEM, min(depth, 5))


def _text(element: Element) -> str:
    return "".join(_pieces(element)).strip()


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag in _BREAKS:
            yield _BREAKS[child.tag]
        elif child.tag == "note":
            yield f" ({' '.join(_text(body) for body in each(child, 'note-body'))})"
        elif child.tag not in _SKIP:
            yield from _pieces(child)
            yield "\n" if child.tag == "p" else ""
        yield child.tail or ""
