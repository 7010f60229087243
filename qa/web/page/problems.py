"""Errors as shown to people in the browser."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.exceptions import HTTPException

from corpus.errors import UsageError
from qa.web.service.problems import client_message


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
    kind, detail = client_message(error)
    return PageProblem(refused if type(error) is UsageError else kind.title, detail, kind.status)
