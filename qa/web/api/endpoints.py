"""The endpoints of the API, which answer as the command line does with `--json`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from corpus.errors import UsageError
from qa.collection.served import Served
from qa.explore.parameters import (
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
from qa.web.api.parameters import read_parameters
from qa.web.service.private import public_body
from qa.web.service.problems import NOT_FOUND, Problem
from qa.web.service.service import Service

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint of the API.

    Attributes:
        name: The path after `/api/v1/`; except for "search", the command whose JSON it returns.
        summary: What it returns.
        parameters: The parameters it takes.
        slow: Whether it reads the whole collection.
        can_be_missing: Whether it answers 404 if the collection does not have what is requested.
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    slow: bool = False
    can_be_missing: bool = False


_SEARCH = (QUESTION, K, MODE, RERANK, *FILTERS)
_SIMILAR = (PLACE, K, DOCUMENTS, *FILTERS)
ENDPOINTS = (
    Endpoint("ask", "The answer to a question", (*_SEARCH, TOPIC)),
    Endpoint("search", "The best passages, without an answer", _SEARCH),
    Endpoint("similar", "Passages or documents like a place or a text", _SIMILAR, can_be_missing=True),
    Endpoint("topics", "What the collection is about", (TOPICS, DOCUMENTS, *FILTERS), slow=True),
    Endpoint("show", "The text of a citation, and its state", (PLACE, CONTEXT), can_be_missing=True),
    Endpoint("status", "What is indexed, and what has changed since", (), slow=True),
)


def api_routes(service: Service) -> list[BaseRoute]:
    """Return the routes of the API."""
    routes = [Route(f"/api/v1/{each.name}", partial(_answer, service, each), name=each.name) for each in ENDPOINTS]
    return [*routes, Route("/api/v1/health", partial(_health, service), name="health")]


async def _answer(service: Service, endpoint: Endpoint, request: Request) -> Response:
    arguments = read_parameters(request.scope["query_string"], endpoint.parameters)
    try:
        body = await service.run(request, partial(_body, endpoint, arguments), slow=endpoint.slow)
    except UsageError as error:
        if type(error) is UsageError and endpoint.can_be_missing:
            return Problem.of(NOT_FOUND, str(error)).response()
        raise
    return JSONResponse(body)


def _body(endpoint: Endpoint, arguments: Arguments, served: Served) -> dict[str, Any]:
    return public_body(served.body(endpoint.name, arguments), served.root)


async def _health(service: Service, request: Request) -> Response:
    """Answer at once, however busy the server is."""
    read_parameters(request.scope["query_string"], ())
    return JSONResponse({"status": "ok", "generation": service.collection.generation})
