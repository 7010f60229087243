"""The application: routes, error handlers, and the guard in front of them."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from corpus.errors import QAError
from qa.web.access import Access
from qa.web.api.endpoints import api_routes
from qa.web.api.reference import reference_routes
from qa.web.guard import Guard
from qa.web.login import login_route
from qa.web.page.routes import page_routes
from qa.web.service.problems import on_error
from qa.web.service.service import Service

# Bytes of a request's body; only the token form has a body.
_MAX_BODY = 16 * 1024


def create_app(service: Service, access: Access, log: Callable[[str], None] | None = None) -> ASGIApp:
    """Return the application that serves a collection: the API and the page."""
    app = Starlette(
        routes=[*api_routes(service), *reference_routes(), login_route(access), *page_routes(service)],
        exception_handlers=dict.fromkeys((QAError, HTTPException, Exception), on_error),
        max_body_size=_MAX_BODY,
    )
    app.router.redirect_slashes = False
    return Guard(app, access, log)
