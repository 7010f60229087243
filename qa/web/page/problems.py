"""What went wrong, as a person reads it in the browser."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from starlette.exceptions import HTTPException

from corpus.errors import QAError, UsageError
from qa.web.service.problems import BUG, told

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PageProblem:
    """A heading, what to do about it, and the status of the answer."""

    title: str
    detail: str
    status: int


def problem_of(error: Exception, refused: str = "Refused") -> PageProblem:
    """Return what to say about an error; one that nobody expected is logged.

    Args:
        error: It.
        refused: The heading where what was asked for is the reason.
    """
    if isinstance(error, HTTPException):
        return PageProblem("Busy" if error.status_code in (429, 503) else refused, error.detail, error.status_code)
    if isinstance(error, QAError):
        kind, detail = told(error)
        return PageProblem(refused if type(error) is UsageError else kind.title, detail, kind.status)
    _log.error("internal error", exc_info=error)
    return PageProblem(BUG.title, "A bug in qa. The terminal of the server says more.", BUG.status)
