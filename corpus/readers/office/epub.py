"""Electronic books (EPUB): the chapters in their order, each an HTML page."""

from __future__ import annotations

import posixpath
from xml.etree.ElementTree import Element

from corpus.errors import Unreadable
from corpus.formats import EPUB
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive, resolve
from corpus.readers.web.html import add_html
from corpus.text.encodings import decode
from corpus.types import Extracted

_PAGES = ("application/xhtml+xml", "text/html")


def read(archive: Archive) -> Extracted:
    """Read an electronic book."""
    root = first(archive.xml("META-INF/container.xml"), "rootfile")
    name = "" if root is None else root.get("full-path", "")
    package = archive.xml(name)
    parts = {item.get("id", ""): item for item in each(package, "item")}
    locked = _locked(archive)
    builder = DocumentBuilder()
    for entry in each(package, "itemref"):
        item = parts.get(entry.get("idref", ""))
        if item is None or item.get("media-type") not in _PAGES or "nav" in item.get("properties", "").split():
            continue
        part = resolve(posixpath.dirname(name), item.get("href", ""))
        if part in locked:
            raise Unreadable("encrypted")
        builder.under(1, "")
        add_html(builder, decode(archive.part(part))[0], level=1)
    builder.title = _title(package)
    return builder.build(EPUB.media_type)


def _title(package: Element) -> str:
    about = first(package, "metadata")
    found = None if about is None else first(about, "title")
    return "" if found is None else "".join(found.itertext()).strip()


def _locked(archive: Archive) -> frozenset[str]:
    """The parts that are encrypted; fonts often are, in books that can be read."""
    about = archive.optional("META-INF/encryption.xml")
    return frozenset() if about is None else frozenset(one.get("URI", "") for one in each(about, "CipherReference"))
