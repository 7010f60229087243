"""Electronic books (EPUB): chapters in reading order, each an HTML page."""

from __future__ import annotations

import posixpath

from corpus.errors import Unreadable
from corpus.formats import EPUB
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive, resolve, text_of
from corpus.readers.web.html import add_html
from corpus.text.encodings import decode
from corpus.types import Extracted

_PAGES = ("application/xhtml+xml", "text/html")


def read(archive: Archive) -> Extracted:
    """Read an electronic book."""
    root = first(archive.xml("META-INF/container.xml"), "rootfile")
    name = "" if root is None else root.get("full-path", "")
    package = archive.xml(name)
    items = {item.get("id", ""): item for item in each(package, "item")}
    # Fonts are often encrypted in books that are readable otherwise.
    references = each(archive.optional("META-INF/encryption.xml"), "CipherReference")
    encrypted = {reference.get("URI", "") for reference in references}
    builder = DocumentBuilder()
    for entry in each(package, "itemref"):
        item = items.get(entry.get("idref", ""))
        if item is None or item.get("media-type") not in _PAGES or "nav" in item.get("properties", "").split():
            continue
        part = resolve(posixpath.dirname(name), item.get("href", ""))
        if part in encrypted:
            raise Unreadable("encrypted")
        builder.section(1, "")
        add_html(builder, decode(archive.part(part))[0], level=1)
    builder.title = text_of(first(first(package, "metadata"), "title"))
    return builder.build(EPUB.media_type)
