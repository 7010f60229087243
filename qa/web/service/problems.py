"""Errors as problem details (RFC 9457), with the tool's own messages."""

from __future__ import annotations

import json
import logging
from http import HTTPStatus
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from corpus.errors import (
    CorpusError,
    DamagedIndexError,
    IncompatibleError,
    LockedError,
    NoIndexError,
    QAError,
    StorageError,
    UsageError,
)

MEDIA_TYPE = "application/problem+json"
# What a client that is turned away for the moment waits, in seconds.
RETRY_AFTER = "1"

_log = logging.getLogger(__name__)


class ProblemKind(NamedTuple):
    """What a problem is called: the fragment of its `type`, its status, and its title."""

    name: str
    status: int
    title: str


INVALID = ProblemKind("invalid-request", 400, "Invalid request")
NOT_FOUND = ProblemKind("not-in-collection", 404, "Not in the collection")
BUG = ProblemKind("internal-error", 500, "Internal error")
# The first that an error is an instance of.
_KINDS: dict[type[QAError], ProblemKind] = {
    CorpusError: ProblemKind("folder-unavailable", 503, "The folder of documents is not available"),
    UsageError: INVALID,
    NoIndexError: ProblemKind("no-index", 503, "There is no index"),
    DamagedIndexError: ProblemKind("index-damaged", 500, "The index is damaged"),
    IncompatibleError: ProblemKind("index-incompatible", 500, "The index is of another version or model"),
    LockedError: ProblemKind("index-locked", 503, "The index is being written"),
    StorageError: ProblemKind("storage", 503, "The index cannot be read now"),
}
KINDS = (*_KINDS.values(), NOT_FOUND, BUG)


def told(error: QAError) -> tuple[ProblemKind, str]:
    """Return what an error of the tool is called, and what a client is told of it.

    What is wrong with the server itself is said on its terminal alone: it names folders, hosts and commands there.
    """
    kind = next((kind for each, kind in _KINDS.items() if isinstance(error, each)), BUG)
    if kind.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return kind, str(error)
    _log.warning("%s", error)
    return kind, "The terminal of the server says more."


def problem(kind: ProblemKind, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return a problem as a response."""
    body = {"type": f"/api/v1/docs#{kind.name}", "title": kind.title, "status": kind.status, "detail": detail}
    return _response(body, kind.status, headers)


def _response(body: dict[str, Any], status: int, headers: dict[str, str] | None) -> Response:
    more = {"Retry-After": RETRY_AFTER} if status in (429, 503) else {}
    return Response(json.dumps(body, ensure_ascii=False), status, {**more, **(headers or {})}, MEDIA_TYPE)


def on_tool_error(_request: Request, error: Exception) -> Response:
    """Answer a request that failed for a reason that the tool knows."""
    return problem(*told(error)) if isinstance(error, QAError) else on_bug(_request, error)


def on_http_error(_request: Request, error: Exception) -> Response:
    """Answer a request that was refused: an unknown path or method, a missing token, too much at once."""
    if not isinstance(error, HTTPException):
        return on_bug(_request, error)
    title = HTTPStatus(error.status_code).phrase
    headers = None if error.headers is None else dict(error.headers)
    body = {"type": "about:blank", "title": title, "status": error.status_code, "detail": error.detail}
    return _response(body, error.status_code, headers)


def on_bug(_request: Request, error: Exception) -> Response:
    """Answer a request that failed for no known reason; what it was stays on the server's side."""
    _log.warning("internal error: %s: %s. This is a bug in qa; QA_DEBUG=1 shows where.", type(error).__name__, error)
    _log.debug("unexpected error", exc_info=error)
    return problem(BUG, "A bug in qa. The terminal of the server says more.")
