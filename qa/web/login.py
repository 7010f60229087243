"""Login: a browser gives the token once, in a form or as `?token=` in the address, and gets a cookie in return."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qs, parse_qsl, urlencode

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from qa.web.access import Access

LOGIN = "/login"
# The form's style and icon: served without a token, as they reveal nothing about the collection.
LOGIN_ASSETS = ("/static/page.css", "/static/icon.svg")
_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>qa: token</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="{icon}" type="image/svg+xml"><link rel="stylesheet" href="{style}"></head>
<body><main class="token"><h1 class="logo">qa</h1>
<form method="post" action="{login}">
<label for="token">Token, as printed by <code>qa serve</code></label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password">
<input type="hidden" name="next" value="{next}"><button>Continue</button>
<p role="alert">{problem}</p>
</form></main></body></html>
"""


def login_form(request: Request) -> Response:
    """Return the form that asks for the token and then redirects to the requested page."""
    target = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    return _render_form("/" if request.url.path == LOGIN else target, "", 401)


def login_route(access: Access) -> Route:
    """Return the route that handles the form."""

    async def login(request: Request) -> Response:
        if request.method != "POST":
            return _render_form("/", "", 200)
        try:
            form = parse_qs((await request.body()).decode("utf-8", "replace"))
        except ClientDisconnect:
            return Response(status_code=400)
        target = form.get("next", ["/"])[0]
        if not access.is_token(form.get("token", [""])[0]):
            return _render_form(target, "Wrong token.", 401)
        return _grant_and_redirect(access, target)

    return Route(LOGIN, login, methods=["GET", "POST"], name="login")


def redirect_without_token(request: Request, access: Access) -> Response | None:
    """Return a redirect to the same address without its token; None if it has no valid token."""
    if not access.token or request.method != "GET":
        return None
    pairs = parse_qsl(request.url.query, keep_blank_values=True)
    if not any(name == "token" and access.is_token(value) for name, value in pairs):
        return None
    query = urlencode([pair for pair in pairs if pair[0] != "token"])
    return _grant_and_redirect(access, f"{request.url.path}?{query}" if query else request.url.path)


def _grant_and_redirect(access: Access, target: str) -> Response:
    # Two leading slashes would lead to another host.
    response = RedirectResponse("/" + target.lstrip("/\\"), 303)
    access.grant(response.headers)
    return response


def _render_form(target: str, problem: str, status: int) -> Response:
    style, icon = LOGIN_ASSETS
    shown = {"next": escape(target), "problem": escape(problem)}
    return HTMLResponse(_PAGE.format(login=LOGIN, style=style, icon=icon, **shown), status)
