"""Electronic books (EPUB): chapters in reading order, each an HTML page."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from corpus.errors import Unreadable
from corpus.formats import EPUB
from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.office.xml_tree import find_all, find_first
from corpus.readers.office.zip_archive import Archive, resolve, text_of
from corpus.readers.web.html import add_html
from corpus.text.encodings import decode
from corpus.types import Extracted

_PAGES = ("application/xhtml+xml", "text/html")
_MAX_NAME = 1000


def read(archive: Archive) -> Extracted:
    """Read an electronic book."""
    root = find_first(archive.read_xml("META-INF/container.xml"), "rootfile")
    package_name = "" if root is None else root.get("full-path", "")
    package = archive.read_xml(package_name)
    items = {item.get("id", ""): item for item in find_all(package, "item")}
    # Fonts are often encrypted in books that are otherwise readable.
    references = find_all(archive.read_optional("META-INF/encryption.xml"), "CipherReference")
    encrypted = {reference.get("URI", "") for reference in references}
    builder = DocumentBuilder()
    metadata = find_first(package, "metadata")
    builder.front_matter(list(dict.fromkeys(("author", name) for name in _authors(metadata) if name)))
    for entry in find_all(package, "itemref"):
        item = items.get(entry.get("idref", ""))
        if item is None or item.get("media-type") not in _PAGES or "nav" in item.get("properties", "").split():
            continue
        part = resolve(posixpath.dirname(package_name), item.get("href", ""))
        if part in encrypted:
            raise Unreadable("encrypted")
        builder.section(1, "")
        add_html(builder, decode(archive.read_part(part))[0], level=1)
    builder.title = text_of(find_first(metadata, "title"))
    return builder.build(EPUB.media_type)


def _authors(metadata: Element | None) -> Iterator[str]:
    """Yield the names of a book's creators, without those who only illustrated, translated or edited it."""
    roles = {
        meta.get("refines", "").removeprefix("#"): text_of(meta)
        for meta in find_all(metadata, "meta")
        if meta.get("property") == "role"
    }
    for creator in find_all(metadata, "creator"):
        if roles.get(creator.get("id", ""), creator.get("role", "aut")) == "aut":
            yield one_line(text_of(creator))[:_MAX_NAME]
