"""The server: listens on an address, serves a collection, and shuts down cleanly."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from corpus.errors import QAError, UsageError
from qa.collection.served import ServedCollection
from qa.web.access import Access, is_loopback
from qa.web.api.endpoints import api_routes
from qa.web.api.reference import reference_routes
from qa.web.guard import Guard
from qa.web.login import login_route
from qa.web.page.routes import page_routes
from qa.web.protocol import MAX_HEAD, LimitedProtocol
from qa.web.service.problems import on_error
from qa.web.service.service import Service

# Bytes of a request's body; only the token form has a body.
_MAX_BODY = 16 * 1024
# How long open requests have to finish when the server is stopped.
_STOP_SECONDS = 30
# How long an idle connection is kept open.
_IDLE_SECONDS = 15
# Proxies whose `X-Forwarded-For` is believed; from elsewhere, anyone could pass for another client.
_THIS_MACHINE = ("127.0.0.0/8", "::1", "::ffff:127.0.0.0/104")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens."""

    socket: socket.socket
    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.socket.getsockname()[0])

    @property
    def url(self) -> str:
        """The URL of the page."""
        host = socket.gethostname() if self.host in ("", "0.0.0.0", "::") else self.host  # noqa: S104 - shows it
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"


@contextmanager
def listening(host: str, port: int) -> Iterator[Address]:
    """Listen until the end of the block; connections wait until `serve` runs. Port 0 picks a free port.

    Raises:
        UsageError: This machine has no such address, or the port is taken.
    """
    with ExitStack() as opened:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            listener = opened.enter_context(socket.socket(family, kind, protocol))
            if os.name == "posix":  # elsewhere it would let others take the port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(128)
        except OSError as error:
            raise UsageError(
                f"cannot listen on {host}, port {port}: {error.strerror or error}. "
                "Choose another with --host or --port."
            ) from error
        yield Address(listener, host, listener.getsockname()[1])


def serve(
    address: Address,
    collection: ServedCollection,
    *,
    token: str,
    public: str | None = None,
    ready: Callable[[], None],
    log: Callable[[str], None] | None = None,
) -> int | None:
    """Serve a collection until a signal stops it, answer open requests, and return the signal.

    Args:
        address: Where the server already listens.
        collection: The collection to serve.
        token: The token that requests must carry, or "".
        public: The origin at which a proxy in front of the server is reached, if there is one.
        ready: Called once the server answers requests.
        log: Called with a line for each request.
    """
    service = Service(collection)
    network_access = Access.for_network(address.host, token, address.port)
    access = Access(token=token, port=address.port) if address.is_local else network_access
    if public is not None:
        access = access.behind_proxy(public)
    proxies = () if public is None else _THIS_MACHINE
    server = _Server(server_config(create_app(service, access, log), proxies), ready)
    try:
        server.run(sockets=[address.socket])
    finally:
        service.close()
    return server.stopped_by


def create_app(service: Service, access: Access, log: Callable[[str], None] | None = None) -> ASGIApp:
    """Return the application that serves a collection: the API and the page, with the guard in front of them."""
    app = Starlette(
        routes=[*api_routes(service), *reference_routes(), login_route(access), *page_routes(service)],
        exception_handlers=dict.fromkeys((QAError, HTTPException, Exception), on_error),
        max_body_size=_MAX_BODY,
    )
    app.router.redirect_slashes = False
    return Guard(app, access, log)


def server_config(app: ASGIApp, proxies: Sequence[str] = ()) -> uvicorn.Config:
    """Return uvicorn's configuration for an application: plain HTTP/1.1 with our limits and no logging of its own.

    Args:
        app: The application.
        proxies: Addresses and networks of proxies, whose last client in `X-Forwarded-For` counts as the client.
    """
    return uvicorn.Config(
        app,
        http=LimitedProtocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        server_header=False,
        h11_max_incomplete_event_size=MAX_HEAD,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )


class _Server(uvicorn.Server):
    """uvicorn's server, which reports when it is ready and stops without raising the signal again."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self.stopped_by: int | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.stopped_by = sig
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        previous = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
