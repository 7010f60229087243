"""The server: an address, a collection, and an orderly end."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from corpus.errors import UsageError
from qa.collection.served import ServedCollection
from qa.web.access import Access, is_loopback
from qa.web.app import create_app
from qa.web.protocol import MAX_HEAD, LimitedProtocol
from qa.web.service.service import Service

# What open questions have to finish in when the server is stopped.
_STOP_SECONDS = 30
# An idle connection is kept so long for the next request.
_IDLE_SECONDS = 15


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens: its socket, and the URL by which this machine reaches it."""

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
    """Listen until the end of the block; connections wait until `serve` runs. Port 0 is any that is free.

    Raises:
        UsageError: There is no such address here, or the port is taken.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _cannot_listen(host, port, error) from error
    with found:
        try:
            if os.name == "posix":  # elsewhere it would let others take the port
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(place)
            found.listen(128)
        except OSError as error:
            raise _cannot_listen(host, port, error) from error
        yield Address(found, host, found.getsockname()[1])


def _cannot_listen(host: str, port: int, error: OSError) -> UsageError:
    return UsageError(
        f"cannot listen on {host}, port {port}: {error.strerror or error}. Choose others with --host, --port."
    )


def serve(
    address: Address,
    collection: ServedCollection,
    *,
    token: str,
    ready: Callable[[], None],
    log: Callable[[str], None] | None = None,
) -> int | None:
    """Serve a collection until a signal, and return that; open questions are answered first.

    Args:
        address: Where it listens already.
        collection: What answers.
        token: What requests must have, or "".
        ready: Called once requests are answered.
        log: Called with a line for each request.
    """
    service = Service(collection)
    beyond = Access.beyond_this_machine(address.host, token, address.port)
    access = Access(token=token, port=address.port) if address.is_local else beyond
    config = server_config(create_app(service, access, log))
    server = _Server(config, ready)
    try:
        server.run(sockets=[address.socket])
    finally:
        service.close()
    return server.stopped_by


def server_config(app: ASGIApp) -> uvicorn.Config:
    """Return how an application is served: plain HTTP/1.1 with our limits, and not a word of uvicorn's own."""
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
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=MAX_HEAD,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )


class _Server(uvicorn.Server):
    """uvicorn's, that says when it is ready and ends without raising its signal again."""

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
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
