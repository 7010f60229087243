"""What the server turns away, and what browsers may do with what it sends.

A page of another site must not reach a server on the loopback interface, directly or by a name of its own that it lets
point there (DNS rebinding), so `Host`, `Origin` and `Sec-Fetch-Site` are checked. Beyond it there is a token.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qa.web.access import Access
from qa.web.login import LOGIN, LOOKS, login_form, token_in_address
from qa.web.service.problems import on_http_error

API = "/api/"
HEALTH = "/api/v1/health"
# Of every answer: nothing but our own files runs or is shown, nobody frames it, and no address goes to other sites.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # With `no-referrer`, browsers would send forms with `Origin: null`.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


class Guard:
    """Turns away what must not come in, and sets the headers of all answers.

    Args:
        app: What answers the rest.
        access: Whom to let in.
        log: Called with a line for each request that was answered.
    """

    def __init__(self, app: ASGIApp, access: Access, log: Callable[[str], None] | None = None) -> None:
        self._app = app
        self._access = access
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        began = time.perf_counter()

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if self._log is not None:
                    self._log(_line(scope, message["status"], time.perf_counter() - began))
            await send(message)

        request = Request(scope, receive)
        try:
            self._check_source(scope, request.headers)
            answer = self._turned_away(request) or self._app
        except HTTPException as error:
            answer = on_http_error(request, error)
        await answer(scope, receive, guarded)

    def _turned_away(self, request: Request) -> Response | None:
        """What a request without the token gets: the form, if it is a browser's."""
        is_page = not request.url.path.startswith(API)
        if is_page and (onward := token_in_address(request, self._access)) is not None:
            return onward
        if request.url.path in (HEALTH, LOGIN, *LOOKS) or self._access.has_token(request.headers):
            return None
        if is_page and "text/html" in request.headers.get("accept", ""):
            return login_form(request)
        raise HTTPException(
            401, "a token is required: the one that qa serve printed.", {"WWW-Authenticate": 'Bearer realm="qa"'}
        )

    def _check_source(self, scope: Scope, headers: Headers) -> None:
        """Refuse what a page of another site may have sent."""
        if scope["http_version"] not in ("1.0", "1.1"):
            raise HTTPException(505, "this server speaks HTTP/1.1.")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._access.knows(hosts[0]):
            raise HTTPException(421, "this server is not known under that host name.")
        origins = headers.getlist("origin")
        if any(origin.lower() not in _origins(hosts[0]) for origin in origins):
            raise HTTPException(403, "requests from other sites are refused.")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and not _is_link(scope, headers):
            raise HTTPException(403, "requests from other sites are refused.")
        if scope["method"] not in ("GET", "HEAD") and not origins and site != "same-origin":
            raise HTTPException(403, "only this server's own pages may send this.")


def _origins(host: str) -> dict[str, None]:
    return dict.fromkeys(f"{scheme}://{host.lower()}" for scheme in ("http", "https"))


def _is_link(scope: Scope, headers: Headers) -> bool:
    """Whether somebody follows a link to a page, which no other page can read."""
    navigates = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return scope["method"] in ("GET", "HEAD") and navigates and not scope["path"].startswith(API)


def _line(scope: Scope, status: int, seconds: float) -> str:
    client = scope["client"][0] if scope["client"] else "-"
    # The token may be in it.
    query = re.sub(r"(^|&)token=[^&]*", r"\1token=…", scope["query_string"].decode("ascii", "replace"))
    asked = f"{scope['method']} {scope['path']}{'?' if query else ''}{query}"
    return f"{time.strftime('%H:%M:%S')} {status} {asked} {seconds * 1000:.0f} ms {client}"
