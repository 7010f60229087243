"""Errors as shown to people in the browser."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from starlette.exceptions import HTTPException

from corpus.errors import QAError, UsageError
from qa.web.service.problems import BUG, client_message

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PageProblem:
    """A heading, an explanation, and the status of the response."""

    title: str
    detail: str
    status: int


def problem_of(error: Exception, refused: str = "Refused") -> PageProblem:
    """Return what to show for an error; an unexpected one is logged.

    Args:
        error: The error.
        refused: The heading if the request is at fault.
    """
    if isinstance(error, HTTPException):
        return PageProblem("Busy" if error.status_code in (429, 503) else refused, error.detail, error.status_code)
    if isinstance(error, QAError):
        kind, detail = client_message(error)
        return PageProblem(refused if type(error) is UsageError else kind.title, detail, kind.status)
    _log.error("internal error", exc_info=error)
    return PageProblem(BUG.title, "A bug in qa. See the server's terminal for details.", BUG.status)
