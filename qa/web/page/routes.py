"""The page's routes: a question with its answer and passages, and a source beside them; each view has a URL."""

from __future__ import annotations

from functools import partial
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from qa.collection.served import Served
from qa.web.page.content import PageContent, PageMaker
from qa.web.page.render import render
from qa.web.page.state import PageState, number_in
from qa.web.service.problems import problem_of
from qa.web.service.service import Service

_STATIC = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
# Pictures never change, as their URL has their digest; only the browser itself may cache them.
_KEEP = {"Cache-Control": "private, max-age=86400, immutable"}


def page_routes(service: Service) -> list[BaseRoute]:
    """Return the routes of the page."""
    maker = PageMaker()
    return [
        Route("/", partial(_view, service, maker, "page.html"), name="page"),
        Route("/source", partial(_view, service, maker, "source.html"), name="source"),
        Route("/page.png", partial(_picture, service, maker), name="picture"),
        Route("/static/{name}", _static, name="static"),
    ]


async def _view(service: Service, maker: PageMaker, template: str, request: Request) -> Response:
    """Return the whole page, or only the source, which the page's script puts beside the passages."""
    state = PageState.read(request.query_params)
    is_page = template == "page.html"

    def make(served: Served) -> tuple[str, int]:
        content = maker.content(served, state) if is_page else PageContent(source=maker.source(served, state))
        return render(template, state, content), content.status

    headers = {}
    try:
        text, status = await service.run(request, make)
    # People read any error in the browser; the application's handlers are for the API.
    except Exception as error:
        problem = problem_of(error)
        content = maker.problem_page(problem) if is_page else PageContent(source=problem)
        text, status = render(template, state, content), problem.status
        headers = dict(getattr(error, "headers", None) or {})
    return Response(text.encode("utf-8", "replace"), status, headers, "text/html; charset=utf-8")


async def _picture(service: Service, maker: PageMaker, request: Request) -> Response:
    path, page = request.query_params.get("file", ""), number_in(request.query_params.get("page", ""))
    if page is None:
        raise HTTPException(400, "page must be a number.")
    png = await service.run(request, lambda served: maker.picture(served, path, page))
    return Response(png, headers=_KEEP, media_type="image/png")


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    data = files("qa.web.page").joinpath("static", name).read_bytes()
    return Response(data, headers={"Cache-Control": "no-cache"}, media_type=_STATIC[name])
