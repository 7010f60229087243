"""The endpoints of the API: what they take, and that they answer as the command line does with `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from corpus.errors import UsageError
from qa.collection.served import Served
from qa.web.api import parameters
from qa.web.api.parameters import (
    CONTEXT,
    DOCUMENTS,
    FILTERS,
    MODE,
    PLACE,
    QUESTION,
    RERANK,
    TOPIC,
    TOPICS,
    K,
    Parameter,
)
from qa.web.service.private import public_body
from qa.web.service.problems import NOT_FOUND, problem
from qa.web.service.service import Service

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address of the API.

    Attributes:
        name: Behind `/api/v1/`.
        summary: What it returns.
        command: The command whose JSON it returns, or "".
        parameters: Those it takes.
        slow: Whether it looks at the whole collection.
        lacks: Whether it answers 404 where the collection does not have what is asked for.
    """

    name: str
    summary: str
    command: str
    parameters: tuple[Parameter, ...]
    slow: bool = False
    lacks: bool = False


_TAKES_QUESTION = (QUESTION, K, MODE, RERANK, *FILTERS)
_TAKES_PLACE = (PLACE, K, DOCUMENTS, *FILTERS)
ENDPOINTS = (
    Endpoint("ask", "The answer to a question", "ask", (*_TAKES_QUESTION, TOPIC)),
    Endpoint("search", "The passages that answer best, alone", "", _TAKES_QUESTION),
    Endpoint("similar", "What is like a place or a text", "similar", (PLACE, K, DOCUMENTS, *FILTERS), lacks=True),
    Endpoint("topics", "What the collection is about", "topics", (TOPICS, DOCUMENTS, *FILTERS), slow=True),
    Endpoint("show", "The text of a citation, and its state", "show", (PLACE, CONTEXT), lacks=True),
    Endpoint("status", "What is indexed, and what has changed since", "status", (), slow=True),
)


def api_routes(service: Service) -> list[BaseRoute]:
    """Return the routes of the API."""
    routes = [Route(f"/api/v1/{one.name}", partial(_answer, service, one), name=one.name) for one in ENDPOINTS]
    return [*routes, Route("/api/v1/health", partial(_health, service), name="health")]


async def _answer(service: Service, endpoint: Endpoint, request: Request) -> Response:
    given = parameters.read_parameters(request.scope["query_string"], endpoint.parameters)
    try:
        body = await service.run(request, partial(_body, endpoint, given), slow=endpoint.slow)
    except UsageError as error:
        if type(error) is UsageError and endpoint.lacks:
            return problem(NOT_FOUND, str(error))
        raise
    return JSONResponse(body)


def _body(endpoint: Endpoint, given: Arguments, served: Served) -> dict[str, Any]:
    return public_body(served.body(endpoint.name, given), served.root)


async def _health(service: Service, request: Request) -> Response:
    parameters.read_parameters(request.scope["query_string"], ())
    served: Sequence[int] = await service.run(request, lambda served: [served.snapshot.info.generation])
    return JSONResponse({"status": "ok", "generation": served[0]})
