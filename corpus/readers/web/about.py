"""What a page states about itself in `meta` elements: who wrote it, when it was published, where, its keywords."""

from __future__ import annotations

import re
from collections.abc import Mapping

from corpus.readers.assemble.document_builder import one_line

# Names of `meta` elements, in small letters, and the field that each is: those of HTML, Dublin Core, Open Graph's
# articles and Highwire Press.
_FIELDS = {
    **dict.fromkeys(("author", "article:author", "dc.creator", "dcterms.creator", "citation_author"), "author"),
    **dict.fromkeys(("article:published_time", "dcterms.issued", "citation_publication_date"), "published"),
    **dict.fromkeys(("date", "dc.date", "dcterms.date", "dcterms.created"), "date"),
    **dict.fromkeys(("citation_journal_title", "dc.publisher", "dcterms.publisher"), "publisher"),
    "keywords": "keywords",
}
# The time of a day that a page was published at tells a reader nothing.
_TIME = re.compile(r"(?<=\d\d\d\d-\d\d-\d\d)T\d\d:\S*$")
_MAX_VALUE = 1000


def stated(attributes: Mapping[str, str]) -> tuple[str, str] | None:
    """The field that a `meta` element states, with its value; None where it is of no use to a reader."""
    name = _FIELDS.get((attributes.get("name") or attributes.get("property") or "").lower())
    value = _TIME.sub("", one_line(attributes.get("content") or ""))[:_MAX_VALUE]
    # What stands for an address, such as a profile's, names nobody.
    return None if name is None or not value or value.startswith(("http://", "https://")) else (name, value)
