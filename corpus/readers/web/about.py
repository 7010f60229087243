"""What a page says about itself: its title, and from its `meta` elements author, dates, publisher and keywords."""

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
# Separators between a page's title and the name of its site, and the end of such names.
_SEPARATOR = re.compile(r"\s+[—–|·»-]\s+|\s*[|»·]\s*")
_SITE_NAME_END = re.compile(r"\b(?:documentation|docs|manual|wiki|wikipedia)\b[^—–|·»]*$", re.IGNORECASE)


def meta_field(attributes: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the field and value of a `meta` element, or None if a reader has no use for it."""
    name = _FIELDS.get((attributes.get("name") or attributes.get("property") or "").lower())
    value = _TIME.sub("", one_line(attributes.get("content") or ""))[:_MAX_VALUE]
    # An address, such as that of a profile, is no name.
    return None if name is None or not value or value.startswith(("http://", "https://")) else (name, value)


def strip_site_name(title: str, heading: str) -> str:
    """Return a page's title without the name of its site, as in "Widgets — Python 3.13 documentation"."""
    marks = list(_SEPARATOR.finditer(title))
    if heading and any(heading in (title[: mark.start()], title[mark.end() :]) for mark in marks):
        return heading
    return title[: marks[-1].start()] if marks and _SITE_NAME_END.search(title, marks[-1].end()) else title
