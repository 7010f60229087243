"""Documents and passages as resources: `qa://COLLECTION/document/PATH` and `qa://COLLECTION/passage/ID`."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

import mcp_types as types

from corpus.errors import QAError, UsageError
from qa.mcp.collections import NamedCollections

if TYPE_CHECKING:
    from index import StoredDocument

# Documents per page.
_PAGE = 500
_CURSOR = re.compile(r"\d{1,9}", re.ASCII)

_log = logging.getLogger(__name__)

TEMPLATES = (
    types.ResourceTemplate(
        name="document",
        uri_template="qa://{collection}/document/{+path}",
        description="The text of a document, by its path in the collection.",
        mime_type="text/plain",
    ),
    types.ResourceTemplate(
        name="passage",
        uri_template="qa://{collection}/passage/{id}",
        description="The text of a passage, by its id, as in answers.",
        mime_type="text/plain",
    ),
)


def list_documents(collections: NamedCollections, cursor: str | None) -> types.ListResourcesResult:
    """Return a page of the documents of all collections; the cursor is the number of the page's first document.

    A collection that cannot be read is logged and left out; its error is raised if that leaves no document to list.
    """
    documents: list[tuple[str, StoredDocument]] = []
    problem: QAError | None = None
    for name in collections.names:
        try:
            documents += [(name, document) for document in collections.documents(name)]
        except QAError as error:
            _log.warning("%s", error)
            problem = error
    if problem and not documents:
        raise problem
    start = int(cursor) if cursor and _CURSOR.fullmatch(cursor) else 0
    page = [
        types.Resource(
            name=document.path,
            title=document.title or None,
            uri=f"qa://{quote(name, safe='')}/document/{quote(document.path)}",
            mime_type="text/plain",
        )
        for name, document in documents[start : start + _PAGE]
    ]
    return types.ListResourcesResult(
        resources=page, next_cursor=str(start + _PAGE) if start + _PAGE < len(documents) else None
    )


def read_resource(collections: NamedCollections, uri: str) -> types.ReadResourceResult:
    """Return the text of a document or a passage; any other URI is a UsageError."""
    from qa.collection.show import show_indexed  # noqa: PLC0415 - would delay the first answer

    parts = urlsplit(uri)
    kind, _, place = unquote(parts.path).lstrip("/").partition("/")
    if parts.scheme != "qa" or kind not in ("document", "passage") or not place:
        raise UsageError(f"{uri} is neither qa://COLLECTION/document/PATH nor qa://COLLECTION/passage/ID.")
    with collections.reading(unquote(parts.netloc)) as served:
        if kind == "document" and served.snapshot.document(place) is None:
            raise UsageError(f"no document {place}.")
        view = show_indexed(served.root, served.snapshot, place, context=0)
    text = "\n".join(line for _, line in view.lines)
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type="text/plain")])
