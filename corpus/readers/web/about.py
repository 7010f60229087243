"""Metadata of a page from its `meta` elements: author, dates, publisher and keywords."""

from __future__ import annotations

import re
from collections.abc import Mapping

from corpus.readers.assemble.document_builder import one_line

# Names of `meta` elements (HTML, Dublin Core, Open Graph articles, Highwire Press) in lower case, and their fields.
_FIELDS = {
    **dict.fromkeys(("author", "article:author", "dc.creator", "dcterms.creator", "citation_author"), "author"),
    **dict.fromkeys(("article:published_time", "dcterms.issued", "citation_publication_date"), "published"),
    **dict.fromkeys(("date", "dc.date", "dcterms.date", "dcterms.created"), "date"),
    **dict.fromkeys(("citation_journal_title", "dc.publisher", "dcterms.publisher"), "publisher"),
    "keywords": "keywords",
}
# The time of day of a date, which a reader has no use for.
_TIME = re.compile(r"(?<=\d\d\d\d-\d\d-\d\d)T\d\d:\S*$")
_MAX_VALUE = 1000


def meta_field(attributes: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the field and value of a `meta` element, or None if a reader has no use for it."""
    name = _FIELDS.get((attributes.get("name") or attributes.get("property") or "").lower())
    value = _TIME.sub("", one_line(attributes.get("content") or ""))[:_MAX_VALUE]
    # An address, such as that of a profile, is no name.
    return None if name is None or not value or value.startswith(("http://", "https://")) else (name, value)
