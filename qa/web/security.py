"""Whom the server lets in, and what browsers may do with what it sends.

A page of another site must not reach a server on the loopback interface, directly or by a name of its own that it lets
point there (DNS rebinding), so `Host`, `Origin` and `Sec-Fetch-Site` are checked. Beyond it there is a token.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qa.web.problems import on_http_error

API = "/api/"
HEALTH = "/api/v1/health"
SHORTEST_TOKEN = 16
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


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


@dataclass(frozen=True, slots=True)
class Access:
    """Whom a server lets in.

    Attributes:
        local: Whether it is on the loopback interface, and known by no other name.
        names: Further names that it is known by, in lower case.
        token: What requests must have, or "".
        port: Where it listens; cookies are for all ports of a host.
    """

    local: bool = True
    names: frozenset[str] = frozenset()
    token: str = ""
    port: int = 0

    @classmethod
    def beyond_this_machine(cls, host: str, token: str, port: int) -> Access:
        """Return that of a server that others reach, by its addresses, this machine's name, or the name of `host`."""
        own = socket.gethostname().lower()
        names = frozenset({own, f"{own.partition('.')[0]}.local", host.lower()})
        return cls(local=False, names=names, token=token, port=port)

    def knows(self, host: str) -> bool:
        """Return whether a `Host` is meant for this server: any address, as rebinding takes a name, or a known name."""
        name = _name_of(host)
        if name in {"localhost", *self.names}:
            return True
        try:
            return is_loopback(name) or not self.local
        except ValueError:
            return False

    @property
    def cookie(self) -> str:
        """The name of the cookie that stands for the token."""
        return f"qa-{self.port}"

    @property
    def cookie_value(self) -> str:
        """What it holds: nothing that the token could be computed from."""
        return hmac.digest(self.token.encode(), b"cookie of qa serve", "sha256").hex()

    def has_token(self, headers: Headers) -> bool:
        """Return whether a request has the token, as a bearer or by the cookie; none is needed without one."""
        if not self.token:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_token(given.strip()):
            return True
        return any(_same(one, self.cookie_value) for one in _cookies(headers, self.cookie))

    def is_token(self, given: str) -> bool:
        """Return whether a text is the token; that takes as long for any text."""
        return bool(self.token) and _same(given, self.token)

    def grant(self, headers: MutableHeaders) -> None:
        """Let a browser in from now on."""
        headers.append("Set-Cookie", f"{self.cookie}={self.cookie_value}; Path=/; HttpOnly; SameSite=Strict")


def _same(given: str, secret: str) -> bool:
    one, other = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (given, secret))
    return hmac.compare_digest(one, other)


def _cookies(headers: Headers, name: str) -> Iterable[str]:
    for line in headers.getlist("cookie"):
        try:
            found = SimpleCookie(line)
        except CookieError:
            continue
        if name in found:
            yield found[name].value


def _name_of(host: str) -> str:
    """The name or address in a `Host`, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


class Guard:
    """Turns away what must not come in, and sets the headers of all answers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        try:
            self._check_source(scope, request.headers)
            if (redirect := self._redirect(request)) is not None:
                await redirect(scope, receive, guarded)
                return
            if scope["path"] != HEALTH and not self._access.has_token(request.headers):
                raise HTTPException(401, "this server needs its token.", {"WWW-Authenticate": 'Bearer realm="qa"'})
        except HTTPException as error:
            await on_http_error(request, error)(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _check_source(self, scope: Scope, headers: Headers) -> None:
        """Refuse what a page of another site may have sent."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._access.knows(hosts[0]):
            raise HTTPException(421, "this server does not answer to that host name.")
        origins = headers.getlist("origin")
        if any(origin.lower() not in _origins(hosts[0]) for origin in origins):
            raise HTTPException(403, "requests of other sites are refused.")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and not _is_link(scope, headers):
            raise HTTPException(403, "requests of other sites are refused.")
        if scope["method"] not in ("GET", "HEAD") and not origins and site != "same-origin":
            raise HTTPException(403, "only this server's own pages may send that.")

    def _redirect(self, request: Request) -> RedirectResponse | None:
        """A browser that comes with the token in the address gets the cookie, and the address without it."""
        if not self._access.token or request.method != "GET" or request.url.path.startswith(API):
            return None
        pairs = parse_qsl(request.url.query, keep_blank_values=True)
        if not any(name == "token" and self._access.is_token(value) for name, value in pairs):
            return None
        rest = urlencode([pair for pair in pairs if pair[0] != "token"])
        # Only slashes at the start would make it another host.
        path = "/" + request.url.path.lstrip("/")
        response = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        self._access.grant(response.headers)
        return response


def _origins(host: str) -> Mapping[str, None]:
    return dict.fromkeys(f"{scheme}://{host.lower()}" for scheme in ("http", "https"))


def _is_link(scope: Scope, headers: Headers) -> bool:
    """Whether somebody follows a link to a page, which no other page can read."""
    navigates = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return scope["method"] in ("GET", "HEAD") and navigates and not scope["path"].startswith(API)
