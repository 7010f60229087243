"""uvicorn's HTTP/1.1 protocol, with limits.

uvicorn itself waits forever for an incomplete request, and holds any number of connections.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Bytes of the request line and the headers together.
MAX_HEAD = 64 * 1024
_MAX_CONNECTIONS = 256
# Until a request must have arrived, and until a client must have fetched its response.
_REQUEST_SECONDS = 10.0
_FETCH_SECONDS = 60.0
_BUSY = b"""HTTP/1.1 503 Service Unavailable\r
Content-Type: application/problem+json\r
Retry-After: 1\r
Connection: close\r
\r
{"type": "about:blank", "title": "Service Unavailable", "status": 503, "detail": "too many connections are open."}"""
_RECEIVED = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED, h11.ERROR)


class LimitedProtocol(H11Protocol):
    """A connection that is closed if its request does not arrive, or its response is not fetched, in time."""

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for a request."""
        super().connection_made(transport)
        if len(self.connections) > _MAX_CONNECTIONS:
            transport.write(_BUSY)
            transport.close()
        else:
            self._await_request()

    def data_received(self, data: bytes) -> None:
        """Handle more data, without restarting the deadline of the whole request."""
        super().data_received(data)
        if self.conn.their_state in _RECEIVED:
            self._stop_waiting()
        elif self.timeout_keep_alive_task is None:
            self._await_request()

    def on_response_complete(self) -> None:
        """Give a slow client limited time to fetch the response."""
        super().on_response_complete()
        self.loop.call_later(_FETCH_SECONDS, self._abort_if_unread)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadline."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse data that is too long or not HTTP; abort instead if a response has begun."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        super().send_400_response(msg)

    def _await_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(_REQUEST_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _abort_if_unread(self) -> None:
        if self.transport.is_closing():
            self.transport.abort()
