"""A small reverse proxy, in front of a server of the tests."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.qa.web.servers import RunningServer

# Not passed on: they are about one connection.
_HOP = {"connection", "keep-alive", "transfer-encoding"}


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a port of this machine, which is set once the server runs.

    Args:
        host: The `Host` to send; None keeps the client's.
    """

    def __init__(self, host: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.host = host
        self.target = 0

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: Proxy

    def do_GET(self) -> None:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        earlier = headers.get("X-Forwarded-For")
        headers["X-Forwarded-For"] = ", ".join(filter(None, [earlier, self.client_address[0]]))
        if self.server.host is not None:
            headers["Host"] = self.server.host
        connection = http.client.HTTPConnection("127.0.0.1", self.server.target, timeout=60)
        try:
            body = self.rfile.read(int(headers.get("Content-Length", 0)))
            connection.request(self.command, self.path, body, headers)
            reply = connection.getresponse()
            self.send_response_only(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.read())
        finally:
            connection.close()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def reverse_proxy(host: str | None = None) -> Iterator[Proxy]:
    """Run a proxy until the end of the block."""
    with Proxy(host) as proxy:
        thread = Thread(target=proxy.serve_forever)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()


def behind_proxy(printed: RunningServer) -> RunningServer:
    """Return a server with a public URL as the proxy reaches it, at the address that it has just printed."""
    assert printed.process.stderr is not None
    _, note = printed.process.stderr.readline(), printed.process.stderr.readline()
    start, _, url = note.rstrip().rpartition(" ")
    assert start == "The proxy has to pass requests on to"
    return replace(printed, url=url)
