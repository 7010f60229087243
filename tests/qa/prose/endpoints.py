"""A real HTTP server whose paths are endpoints; most of them misbehave."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# The path, headers and body of a request.
RecordedRequest = tuple[str, dict[str, str], dict[str, Any]]
DONE = b"data: [DONE]\n\n"


def event(text: str, finish: str | None = None) -> bytes:
    """Return a piece of an answer as a server-sent event."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


class EndpointServer(ThreadingHTTPServer):
    """Behaves as `BEHAVIOURS` say, each below its own path.

    Attributes:
        requests: The requests so far.
        pieces: The pieces of the answer.
        continued: What `waits` waits for before its last piece.
        stopped: Set at the end, for handlers that are still waiting.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[RecordedRequest] = []
        self.pieces: list[str] = []
        self.continued = threading.Event()
        self.stopped = threading.Event()

    def url(self, behaviour: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{behaviour}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors, as clients may disconnect at any time."""


class _Handler(BaseHTTPRequestHandler):
    server: EndpointServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), body))
        BEHAVIOURS[self.path.split("/")[1]](self)

    def start(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


def _send(*pieces: bytes, status: int = 200, kind: str = "text/event-stream") -> Callable[[_Handler], None]:
    def respond(handler: _Handler) -> None:
        handler.start(status, kind)
        for piece in pieces:
            handler.wfile.write(piece)

    return respond


def _error(status: int, message: str) -> Callable[[_Handler], None]:
    return _send(json.dumps({"error": {"message": message}}).encode(), status=status, kind="application/json")


def _answer(handler: _Handler) -> None:
    _send(*map(event, handler.server.pieces), event("", "stop") + DONE)(handler)


def _answer_when_continued(handler: _Handler) -> None:
    *first, last = handler.server.pieces
    _send(*map(event, first))(handler)
    handler.server.continued.wait(60)
    handler.wfile.write(event(last, "stop") + DONE)


def _refuse_temperature(handler: _Handler) -> None:
    if "temperature" in handler.server.requests[-1][2]:
        _error(400, "temperature is not supported")(handler)
    else:
        _answer(handler)


def _answer_unstreamed(handler: _Handler, finish: str = "stop") -> None:
    choice = {"message": {"content": "".join(handler.server.pieces)}, "finish_reason": finish}
    _send(json.dumps({"choices": [choice]}).encode(), kind="application/json")(handler)


def _stay_silent(handler: _Handler) -> None:
    handler.server.stopped.wait()


def _stall(handler: _Handler) -> None:
    _send(event("Soup is served "))(handler)
    handler.server.stopped.wait()


def _never_end(handler: _Handler) -> None:
    handler.start()
    while not handler.server.stopped.is_set():
        handler.wfile.write(event(f"It rains{' and rains' * 20} [1]. ") * 10)


def _trickle(handler: _Handler) -> None:
    handler.start()
    while not handler.server.stopped.wait(0.02):
        handler.wfile.write(event("la "))


def _redirect(handler: _Handler) -> None:
    # To the same server under another name, so that a client that follows it is recorded.
    handler.start(307, Location=handler.server.url("says").replace("127.0.0.1", "localhost") + "/chat/completions")


BEHAVIOURS: dict[str, Callable[[_Handler], None]] = {
    "says": _answer,
    "waits": _answer_when_continued,
    "whole": _answer_unstreamed,
    "evil-error": _error(500, "\x1b]0;evil\x07 \u202e\r\nX"),
    "without-temperature": _refuse_temperature,
    "key-refused": _error(401, "Incorrect API key provided: sk-secret"),
    "no-model": _error(404, "model 'nobody' not found"),
    "busy": _error(429, "Rate limit reached"),
    "broken": _error(500, "CUDA out of memory"),
    "mute": _stay_silent,
    "stalls": _stall,
    "murmurs": _trickle,
    "garbage": _send(b"data: {not json\n\n"),
    "other-json": _send(b'{"hello": 1}', kind="application/json"),
    "endless": _never_end,
    "huge-line": _send(*[b"data: " + b"x" * 65536] * 64),
    "page": _send(b"<html>Please log in</html>", kind="text/html"),
    "redirects": _redirect,
    "breaks-off": _send(event("Soup is ser")),
    "fails-midway": _send(event("Soup is "), b'data: {"error": {"message": "out of memory"}}\n\n'),
    "whole-cut": partial(_answer_unstreamed, finish="length"),
    "cut": _send(event("Soup is"), event(" served", "length"), DONE),
    "empty": _send(event("", "stop"), DONE),
}


@contextmanager
def endpoint_server() -> Iterator[EndpointServer]:
    """Run a server with all behaviours."""
    with EndpointServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            server.shutdown()


@contextmanager
def raw_server(answer: bytes) -> Iterator[str]:
    """Run a server that sends some bytes to its first client and closes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with server.accept()[0] as client:
                client.recv(65536)
                client.sendall(answer)
                # Closing with unread data would reset the connection and lose the answer.
                client.shutdown(socket.SHUT_WR)
                with suppress(OSError):
                    while client.recv(65536):
                        pass

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}/v1"
