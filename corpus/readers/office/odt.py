"""OpenDocument texts (ODT), and the elements of all OpenDocument formats: headings, paragraphs, lists, tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from corpus.errors import Unreadable
from corpus.formats import ODT
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.xml_tree import find_all, find_first
from corpus.readers.office.zip_archive import Archive
from corpus.readers.records.sheets import MAX_COLUMNS
from corpus.text.superscripts import to_superscript
from corpus.types import BlockKind, Extracted

_SKIP = frozenset({"tracked-changes", "annotation", "sequence-decls", "forms", "page-number", "notes"})
_BREAKS = {"s": " ", "tab": "\t", "line-break": "\n"}
# The position of raised text, as in "super 58%" or "33% 58%".
_RAISED = re.compile(r"super|[1-9]")


def read(archive: Archive) -> Extracted:
    """Read an OpenDocument text."""
    builder = DocumentBuilder()
    add_elements(builder, find_first(read_content(archive), "text"))
    builder.title = archive.read_title("meta.xml")
    return builder.build(ODT.media_type)


def read_content(archive: Archive) -> Element:
    """Return the content of an OpenDocument file, with superscripts for raised numbers.

    Raises:
        Unreadable: It is encrypted.
    """
    if find_first(archive.read_optional("META-INF/manifest.xml"), "encryption-data") is not None:
        raise Unreadable("encrypted")
    root = archive.read_xml("content.xml")
    styles = {style.get("name"): find_first(style, "text-properties") for style in find_all(root, "style")}
    for span in root.iter("span"):
        properties = styles.get(span.get("style-name"))
        if properties is not None and _RAISED.match(properties.get("text-position", "")):
            span.text = to_superscript(span.text or "")
    return root


def add_elements(builder: DocumentBuilder, parent: Element | None) -> None:
    """Add the headings, paragraphs, lists and tables in an element."""
    for element in find_all(parent, "h", "p", "list", "table", skip=_SKIP):
        if element.tag == "h":
            _add_heading(builder, element)
        elif element.tag == "list":
            _add_list(builder, element, 0)
        elif element.tag == "table":
            rows = find_all(element, "table-row")
            builder.rows([row_texts(row, text_in) for row in rows])
        else:
            builder.block(text_in(element))


def _add_heading(builder: DocumentBuilder, element: Element) -> None:
    level = element.get("outline-level", "1")
    builder.heading(int(level) if level.isdigit() else 1, text_in(element))


def _add_list(builder: DocumentBuilder, element: Element, depth: int) -> None:
    for item in find_all(element, "list-item", "list-header"):
        for part in find_all(item, "p", "h", "list"):
            if part.tag == "list":
                _add_list(builder, part, depth + 1)
            elif part.tag == "h":
                _add_heading(builder, part)
            else:
                builder.block(text_in(part), BlockKind.ITEM, min(depth, 5))


def row_texts(row: Element, text_of: Callable[[Element], str]) -> list[str]:
    """Return the text in each column of a row of a table, up to `MAX_COLUMNS`."""
    values: list[str] = []
    for cell in find_all(row, "table-cell", "covered-table-cell"):
        repeated = min(repeat_count(cell, "number-columns-repeated"), MAX_COLUMNS - len(values))
        values.extend([text_of(cell)] * repeated)
    return values


def repeat_count(element: Element, name: str) -> int:
    """Return how often a row or cell is repeated, by the attribute `name`."""
    count = element.get(name, "")
    return int(count) if count.isdecimal() and len(count) < 9 else 1


def text_in(element: Element) -> str:
    """Return the text of an element, one line per paragraph."""
    return "".join(_text_parts(element)).strip()


def _text_parts(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag in _BREAKS:
            yield _BREAKS[child.tag]
        elif child.tag == "note":
            yield f" ({' '.join(text_in(body) for body in find_all(child, 'note-body'))})"
        elif child.tag not in _SKIP:
            yield from _text_parts(child)
            yield "\n" if child.tag == "p" else ""
        yield child.tail or ""
