"""OpenDocument texts (ODT), and what all OpenDocument formats share: headings, paragraphs, lists, tables, notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from corpus.errors import Unreadable
from corpus.formats import ODT
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive
from corpus.text.superscripts import to_superscript
from corpus.types import BlockKind, Extracted

_SKIP = frozenset({"tracked-changes", "annotation", "sequence-decls", "forms", "page-number", "notes"})
_BREAKS = {"s": " ", "tab": "\t", "line-break": "\n"}
# The position of raised text, as in "super 58%" or "33% 58%".
_RAISED = re.compile(r"super|[1-9]")


def read(archive: Archive) -> Extracted:
    """Read an OpenDocument text."""
    builder = DocumentBuilder()
    add_content(builder, first(content(archive), "text"))
    builder.title = archive.title("meta.xml")
    return builder.build(ODT.media_type)


def content(archive: Archive) -> Element:
    """Return the content of an OpenDocument file, with raised numbers as superscripts.

    Raises:
        Unreadable: It is encrypted.
    """
    if first(archive.optional("META-INF/manifest.xml"), "encryption-data") is not None:
        raise Unreadable("encrypted")
    root = archive.xml("content.xml")
    styles = {style.get("name"): first(style, "text-properties") for style in each(root, "style")}
    for span in root.iter("span"):
        properties = styles.get(span.get("style-name"))
        if properties is not None and _RAISED.match(properties.get("text-position", "")):
            span.text = to_superscript(span.text or "")
    return root


def add_content(builder: DocumentBuilder, parent: Element | None) -> None:
    """Add the headings, paragraphs, lists and tables in an element."""
    for element in each(parent, "h", "p", "list", "table", skip=_SKIP):
        if element.tag == "h":
            level = element.get("outline-level", "1")
            builder.heading(int(level) if level.isdigit() else 1, text_in(element))
        elif element.tag == "list":
            _add_list(builder, element, 0)
        elif element.tag == "table":
            rows = each(element, "table-row")
            builder.rows([[text_in(cell) for cell in each(row, "table-cell")] for row in rows])
        else:
            builder.block(text_in(element))


def _add_list(builder: DocumentBuilder, element: Element, depth: int) -> None:
    for item in each(element, "list-item", "list-header"):
        for part in each(item, "p", "h", "list"):
            if part.tag == "list":
                _add_list(builder, part, depth + 1)
            else:
                builder.block(text_in(part), BlockKind.ITEM, min(depth, 5))


def text_in(element: Element) -> str:
    """Return the text of an element, one line per paragraph."""
    return "".join(_pieces(element)).strip()


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag in _BREAKS:
            yield _BREAKS[child.tag]
        elif child.tag == "note":
            yield f" ({' '.join(text_in(body) for body in each(child, 'note-body'))})"
        elif child.tag not in _SKIP:
            yield from _pieces(child)
            yield "\n" if child.tag == "p" else ""
        yield child.tail or ""
