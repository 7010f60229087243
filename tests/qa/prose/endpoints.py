"""A real HTTP server whose paths are endpoints; most of them misbehave."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# The path, headers and body of a request.
Asked = tuple[str, dict[str, str], dict[str, Any]]
DONE = b"data: [DONE]\n\n"


def event(text: str, finish: str | None = None) -> bytes:
    """Return a piece of an answer as a server-sent event."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


class Player(ThreadingHTTPServer):
    """Plays the parts in `PARTS`, each below its own path.

    Attributes:
        asked: The requests so far.
        says: The pieces of the answer.
        goes_on: The event that `waits` waits for before its last piece.
        over: Set at the end, for handlers that are still waiting.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[Asked] = []
        self.says: list[str] = []
        self.goes_on = threading.Event()
        self.over = threading.Event()

    def url(self, part: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{part}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The other side may leave at any time."""


class _Handler(BaseHTTPRequestHandler):
    server: Player

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        PARTS[self.path.split("/")[1]](self)

    def start(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


def _sends(*pieces: bytes, status: int = 200, kind: str = "text/event-stream") -> Callable[[_Handler], None]:
    def play(handler: _Handler) -> None:
        handler.start(status, kind)
        for piece in pieces:
            handler.wfile.write(piece)

    return play


def _error(status: int, message: str) -> Callable[[_Handler], None]:
    return _sends(json.dumps({"error": {"message": message}}).encode(), status=status, kind="application/json")


def _says(handler: _Handler) -> None:
    _sends(*map(event, handler.server.says), event("", "stop") + DONE)(handler)


def _waits(handler: _Handler) -> None:
    *first, last = handler.server.says
    _sends(*map(event, first))(handler)
    handler.server.goes_on.wait(60)
    handler.wfile.write(event(last, "stop") + DONE)


def _without_temperature(handler: _Handler) -> None:
    if "temperature" in handler.server.asked[-1][2]:
        _error(400, "temperature is not supported")(handler)
    else:
        _says(handler)


def _whole(handler: _Handler) -> None:
    message = {"choices": [{"message": {"content": "".join(handler.server.says)}}]}
    _sends(json.dumps(message).encode(), kind="application/json")(handler)


def _mute(handler: _Handler) -> None:
    handler.server.over.wait()


def _stalls(handler: _Handler) -> None:
    _sends(event("Soup is served "))(handler)
    handler.server.over.wait()


def _endless(handler: _Handler) -> None:
    handler.start()
    while not handler.server.over.is_set():
        handler.wfile.write(event(f"It rains{' and rains' * 20} [1]. ") * 10)


def _murmurs(handler: _Handler) -> None:
    handler.start()
    while not handler.server.over.wait(0.02):
        handler.wfile.write(event("la "))


def _redirects(handler: _Handler) -> None:
    # To the same server under another name, so that a request which follows is recorded.
    handler.start(307, Location=handler.server.url("says").replace("127.0.0.1", "localhost") + "/chat/completions")


PARTS: dict[str, Callable[[_Handler], None]] = {
    "says": _says,
    "waits": _waits,
    "whole": _whole,
    "evil-error": _error(500, "\x1b]0;evil\x07 \u202e\r\nX"),
    "without-temperature": _without_temperature,
    "key-refused": _error(401, "Incorrect API key provided: sk-secret"),
    "no-model": _error(404, "model 'nobody' not found"),
    "busy": _error(429, "Rate limit reached"),
    "broken": _error(500, "CUDA out of memory"),
    "mute": _mute,
    "stalls": _stalls,
    "murmurs": _murmurs,
    "garbage": _sends(b"data: {not json\n\n"),
    "other-json": _sends(b'{"hello": 1}', kind="application/json"),
    "endless": _endless,
    "huge-line": _sends(*[b"data: " + b"x" * 65536] * 64),
    "page": _sends(b"<html>Please log in</html>", kind="text/html"),
    "redirects": _redirects,
    "breaks-off": _sends(event("Soup is ser")),
    "fails-midway": _sends(event("Soup is "), b'data: {"error": {"message": "out of memory"}}\n\n'),
    "cut": _sends(event("Soup is"), event(" served", "length"), DONE),
    "empty": _sends(event("", "stop"), DONE),
}


@contextmanager
def player() -> Iterator[Player]:
    """Run a server that plays all parts."""
    with Player() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()


@contextmanager
def raw(answer: bytes) -> Iterator[str]:
    """Run a server that sends some bytes to its first client and closes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with server.accept()[0] as other:
                other.recv(65536)
                other.sendall(answer)
                # Closing with unread data would reset the connection and lose the answer.
                other.shutdown(socket.SHUT_WR)
                with suppress(OSError):
                    while other.recv(65536):
                        pass

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}/v1"
