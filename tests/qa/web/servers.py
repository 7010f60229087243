"""Real servers on real sockets, and plain requests to them."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.paths import REPOSITORY


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A `qa serve` process from this checkout."""

    process: subprocess.Popen[str]
    root: Path
    url: str

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or 0

    def get(self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET", body: bytes = b"") -> Reply:
        """Send one request as given: neither the path nor the headers are corrected."""
        host, port = self.address
        connection = http.client.HTTPConnection(host, port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host="Host" in (headers or {}), skip_accept_encoding=True)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if body:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            answer = connection.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def api(self, name: str, **parameters: object) -> Reply:
        """Request an API endpoint."""
        return self.get(f"/api/v1/{name}?{urlencode(parameters, doseq=True)}")

    def stop(self, by: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Stop the server and return its exit code and stderr."""
        self.process.send_signal(by)
        _, stderr = self.process.communicate(timeout=60)
        return self.process.returncode, stderr


@contextmanager
def running(
    root: Path, *options: str, environ: Mapping[str, str] | None = None, program: Sequence[str] = ("-m", "qa")
) -> Iterator[RunningServer]:
    """Run `qa serve` on a free port until the end of the block."""
    command = [sys.executable, *program, "serve", str(root), "--port", "0", *options]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), **(environ or {})}
    process = subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        url = process.stdout.readline().strip() if process.stdout else ""
        if not url:
            raise RuntimeError(f"qa serve did not start: {process.communicate()[1]}")
        yield RunningServer(process, root, url)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
