"""The page's routes: a question with its answer and passages, and a source beside them; each view has a URL."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from qa.collection.served import Served
from qa.web.page.content import PageMaker
from qa.web.page.problems import PageProblem, problem_of
from qa.web.page.render import render_page, render_source
from qa.web.page.state import PageState
from qa.web.service.service import Service

_STATIC = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
# Pictures never change, as their URL has their digest; only the browser itself may cache them.
_KEEP = {"Cache-Control": "private, max-age=86400, immutable"}


def page_routes(service: Service) -> list[BaseRoute]:
    """Return the routes of the page."""
    maker = PageMaker()
    return [
        Route("/", partial(_page, service, maker), name="page"),
        Route("/source", partial(_source, service, maker), name="source"),
        Route("/page.png", partial(_picture, service, maker), name="picture"),
        Route("/static/{name}", _static, name="static"),
    ]


async def _page(service: Service, maker: PageMaker, request: Request) -> Response:
    state = PageState.read(request.query_params)

    def make(served: Served) -> tuple[str, int]:
        content = maker.content(served, state)
        return render_page(state, content), content.status

    return await _html(service, request, make, lambda problem: render_page(state, maker.failed(problem)))


async def _source(service: Service, maker: PageMaker, request: Request) -> Response:
    """Return only the source, which the page's script puts beside the passages."""
    state = PageState.read(request.query_params)

    def make(served: Served) -> tuple[str, int]:
        source = maker.source(served, state)
        return render_source(state, source), source.status if isinstance(source, PageProblem) else 200

    return await _html(service, request, make, lambda problem: render_source(state, problem))


async def _html(
    service: Service,
    request: Request,
    make: Callable[[Served], tuple[str, int]],
    on_problem: Callable[[PageProblem], str],
) -> Response:
    """Return the HTML that a thread makes, or a page with the problem."""
    headers = {}
    try:
        text, status = await service.run(request, make)
    # People read any error in the browser; the application's handlers are for the API.
    except Exception as error:
        problem = problem_of(error)
        text, status = on_problem(problem), problem.status
        headers = dict(getattr(error, "headers", None) or {})
    return Response(text.encode("utf-8", "replace"), status, headers, "text/html; charset=utf-8")


async def _picture(service: Service, maker: PageMaker, request: Request) -> Response:
    query = request.query_params
    page = query.get("page", "")
    if not (page.isascii() and page.isdecimal() and len(page) < 6):
        raise HTTPException(400, "page must be a number.")
    png = await service.run(request, lambda served: maker.picture(served, query.get("file", ""), int(page)))
    return Response(png, headers=_KEEP, media_type="image/png")


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    data = files("qa.web.page").joinpath("static", name).read_bytes()
    return Response(data, headers={"Cache-Control": "no-cache"}, media_type=_STATIC[name])
