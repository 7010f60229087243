"""The guard: which requests are refused, and the security headers of every response.

A page of another site must not reach a server on the loopback interface, directly or through a name of its own that
resolves to it (DNS rebinding), so `Host`, `Origin` and `Sec-Fetch-Site` are checked. Other interfaces, and a proxy's
public address, need a token.
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
from qa.web.login import LOGIN, LOGIN_ASSETS, login_form, redirect_without_token
from qa.web.service.problems import on_error

API = "/api/"
HEALTH = "/api/v1/health"
_HINT = "If it is that of a proxy in front of this server, restart qa serve with --public-url."
# For every response: only our own files run or are shown, no site frames it, and no other site sees the address.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # With `no-referrer`, browsers send forms with `Origin: null`.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


class Guard:
    """Refuses unwanted requests, and sets the headers of all responses.

    Args:
        app: Answers all other requests.
        access: Which requests to accept.
        log: Called with a line for each answered request.
    """

    def __init__(self, app: ASGIApp, access: Access, log: Callable[[str], None] | None = None) -> None:
        self._app = app
        self._access = access
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        start = time.perf_counter()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if self._log is not None:
                    self._log(_log_line(scope, message["status"], time.perf_counter() - start))
            await send(message)

        request = Request(scope, receive)
        try:
            self._check_origin(scope, request.headers)
            responder = self._check_token(request) or self._app
        except HTTPException as error:
            responder = on_error(request, error)
        await responder(scope, receive, send_with_headers)

    def _check_token(self, request: Request) -> Response | None:
        """Return None if a request is authorised, else a browser's redirect or token form; refuse other clients."""
        is_page = not request.url.path.startswith(API)
        if is_page and (redirect := redirect_without_token(request, self._access)) is not None:
            return redirect
        if request.url.path in (HEALTH, LOGIN, *LOGIN_ASSETS) or self._access.has_token(request):
            return None
        if is_page and "text/html" in request.headers.get("accept", ""):
            return login_form(request)
        raise HTTPException(
            401, "a token is required: the one printed by qa serve.", {"WWW-Authenticate": 'Bearer realm="qa"'}
        )

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        """Refuse requests that a page of another site may have sent."""
        if scope["http_version"] not in ("1.0", "1.1"):
            raise HTTPException(505, "this server speaks HTTP/1.1.")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._access.answers_to(hosts[0]):
            raise HTTPException(421, f"this server does not answer to that host name. {_HINT}")
        origins = headers.getlist("origin")
        own_origins = {f"http://{hosts[0].lower()}", f"https://{hosts[0].lower()}", self._access.public_origin}
        if any(origin.lower() not in own_origins for origin in origins):
            raise HTTPException(403, f"requests from another origin are refused. {_HINT}")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and not _is_link(scope, headers):
            raise HTTPException(403, "requests from other sites are refused.")
        if scope["method"] not in ("GET", "HEAD") and not origins and site != "same-origin":
            if scope["path"].startswith(API):
                detail = "the API only reads: use GET, with the parameters in the query."
                raise HTTPException(405, detail, {"Allow": "GET, HEAD"})
            raise HTTPException(403, "only this server's own pages may send this.")


def _is_link(scope: Scope, headers: Headers) -> bool:
    """Return whether a user follows a link to a page; the linking site cannot read the response."""
    is_navigation = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return scope["method"] in ("GET", "HEAD") and is_navigation and not scope["path"].startswith(API)


def _log_line(scope: Scope, status: int, seconds: float) -> str:
    client = scope["client"][0] if scope["client"] else "-"
    # Keep the token out of the log.
    query = re.sub(r"(^|&)token=[^&]*", r"\1token=…", scope["query_string"].decode("ascii", "replace"))
    request = f"{scope['method']} {scope['path']}{'?' if query else ''}{query}"
    return f"{time.strftime('%H:%M:%S')} {status} {request} {seconds * 1000:.0f} ms {client}"
