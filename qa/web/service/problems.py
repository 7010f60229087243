"""Reports errors as problem details (RFC 9457), with the tool's own messages."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import NamedTuple

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
# Seconds that a client should wait after 429 or 503.
RETRY_AFTER = "1"
_NO_ADDRESS = "there is nothing at this address. Those of the API are at /api/v1/docs."

_log = logging.getLogger(__name__)


class ProblemKind(NamedTuple):
    """A kind of problem: the fragment of its `type`, its status, and its title."""

    name: str
    status: int
    title: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem as clients see it; the fields are those of RFC 9457."""

    type: str
    title: str
    status: int
    detail: str

    @classmethod
    def of(cls, kind: ProblemKind, detail: str) -> Problem:
        """Return a problem of one of the kinds that the API documents."""
        return cls(f"/api/v1/docs#{kind.name}", kind.title, kind.status, detail)

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """Return the problem as a response."""
        retry = {"Retry-After": RETRY_AFTER} if self.status in (429, 503) else {}
        return Response(
            json.dumps(asdict(self), ensure_ascii=False), self.status, {**retry, **(headers or {})}, MEDIA_TYPE
        )


NOT_FOUND = ProblemKind("not-in-collection", 404, "Not in the collection")
BUG = ProblemKind("internal-error", 500, "Internal error")
# The first class that an error is an instance of determines its kind.
_KINDS: dict[type[QAError], ProblemKind] = {
    CorpusError: ProblemKind("folder-unavailable", 503, "The folder of documents is not available"),
    UsageError: ProblemKind("invalid-request", 400, "Invalid request"),
    NoIndexError: ProblemKind("no-index", 503, "There is no index"),
    DamagedIndexError: ProblemKind("index-damaged", 500, "The index is damaged"),
    IncompatibleError: ProblemKind("index-incompatible", 500, "The index is of another version or model"),
    LockedError: ProblemKind("index-locked", 503, "The index is being written"),
    StorageError: ProblemKind("storage", 503, "The index cannot be read now"),
}
KINDS = (*_KINDS.values(), NOT_FOUND, BUG)


def problem_of(error: Exception) -> Problem:
    """Return how an error is reported to a client; HTTP exceptions are refused requests, such as unknown paths.

    Faults of the server itself are explained on its terminal only, as those messages name folders, hosts and commands.
    """
    if isinstance(error, HTTPException):
        status = HTTPStatus(error.status_code)
        detail = _NO_ADDRESS if error.detail == HTTPStatus.NOT_FOUND.phrase else error.detail
        return Problem("about:blank", status.phrase, status, detail)
    if not isinstance(error, QAError):
        name = type(error).__name__
        _log.warning("internal error: %s: %s. This is a bug in qa; QA_DEBUG=1 shows where.", name, error)
        _log.debug("unexpected error", exc_info=error)
        return Problem.of(BUG, "A bug in qa. See the server's terminal for details.")
    kind = next((kind for error_class, kind in _KINDS.items() if isinstance(error, error_class)), BUG)
    if kind.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return Problem.of(kind, str(error))
    _log.warning("%s", error)
    return Problem.of(kind, "See the server's terminal for details.")


def on_error(_request: Request, error: Exception) -> Response:
    """Answer a request with its problem."""
    return problem_of(error).response(getattr(error, "headers", None))
