"""Stream an endpoint's answer over the standard library's HTTP/1.1, within a time limit whatever the endpoint does."""

from __future__ import annotations

import json
import os
import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from http.client import HTTPException, HTTPResponse, IncompleteRead
from ipaddress import ip_address
from typing import Any
from urllib.error import URLError
from urllib.parse import SplitResult
from urllib.request import HTTPErrorProcessor, ProxyHandler, Request, build_opener, getproxies, proxy_bypass

from qa.prose.endpoint import EndpointError, LLMEndpoint

# Bytes of a line, of a response and of an error response; characters of an error message.
_MAX_LINE = 1 << 20
_MAX_RESPONSE = 16 << 20
_MAX_ERROR = 1 << 16
_MAX_MESSAGE = 300
# Seconds after the limit until an abandoned thread stops waiting for a response.
_GRACE = 1
_MEANINGS = {
    400: "it rejects the request",
    401: "it needs a valid key; set QA_LLM_KEY",
    403: "it rejects the key",
    404: "it has no such model or no such path",
    429: "it is overloaded, or allows no more requests for now",
}
# By type of error; the first match counts.
_CAUSES: dict[type[Exception], str] = {
    ssl.SSLError: "it does not speak TLS as its URL says; is it http:// instead of https://?",
    socket.gaierror: "there is no host of that name",
    ConnectionRefusedError: "nothing is listening there",
    TimeoutError: "it did not answer in time",
    ConnectionResetError: "it closed the connection",
    IncompleteRead: "it closed the connection",
    HTTPException: "it does not speak HTTP; is it https:// instead of http://?",
}


# A piece of an answer; an error or None ends it.
_Piece = str | EndpointError | None


def stream(endpoint: LLMEndpoint, messages: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield the pieces of a model's answer to a conversation as they arrive.

    Raises:
        EndpointError: There is no answer, it broke off, or it exceeds the endpoint's limit.
    """
    # Blocking calls such as a DNS lookup cannot be given a time limit, but waiting for a thread can.
    exchange = _Exchange(endpoint, messages)
    threading.Thread(target=exchange.run, name="qa-endpoint", daemon=True).start()
    try:
        yield from _wait_for_pieces(exchange.pieces, endpoint.limit)
    finally:
        exchange.abandon()


def _wait_for_pieces(pieces: queue.SimpleQueue[_Piece], limit: float) -> Iterator[str]:
    end = time.monotonic() + limit
    # A server that never pauses must not exceed the limit either.
    while (remaining := end - time.monotonic()) > 0:
        with suppress(queue.Empty):
            piece = pieces.get(timeout=remaining)
            if piece is None:
                return
            if isinstance(piece, EndpointError):
                raise piece
            yield piece
    raise EndpointError(f"no complete answer within {limit:g} s")


class _AnyStatus(HTTPErrorProcessor):
    """Accepts responses of every status, so that no redirect is followed."""

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        return response

    https_response = http_response


class _Exchange:
    """One request to an endpoint; `pieces` receives the answer, and finally None or the error."""

    def __init__(self, endpoint: LLMEndpoint, messages: Sequence[Mapping[str, str]]) -> None:
        self.pieces: queue.SimpleQueue[_Piece] = queue.SimpleQueue()
        self._endpoint = endpoint
        self._target = endpoint.target()
        self._socket: socket.socket | None = None
        self._opened = ExitStack()
        self._is_abandoned = False
        self._request = {"model": endpoint.model, "messages": list(messages), "stream": True, "temperature": 0}

    def run(self) -> None:
        """Put each piece of the answer as it arrives; never raises."""
        try:
            for piece in self._answer():
                self.pieces.put(piece)
                if self._is_abandoned:
                    return
            self.pieces.put(None)
        except EndpointError as error:
            self.pieces.put(error)
        except (OSError, HTTPException, ValueError) as error:
            self.pieces.put(EndpointError(_explanation(error)))
        finally:
            self._opened.close()

    def abandon(self) -> None:
        """End the exchange from any thread, even while a read is blocked."""
        self._is_abandoned = True
        if self._socket is not None:
            with suppress(OSError):  # it is closed already
                self._socket.shutdown(socket.SHUT_RDWR)

    def _answer(self) -> Iterator[str]:
        response = self._post(self._request)
        if response.status == 400:
            # Some models reject a temperature.
            response = self._post({name: value for name, value in self._request.items() if name != "temperature"})
        self._require_success(response)
        kind = response.headers.get_content_type()
        if kind == "text/event-stream":
            yield from _deltas(_lines(response))
        elif kind == "application/json":
            answer = _parse(response.read(_MAX_RESPONSE))
            yield _content(answer, "message")
            _require_whole(answer)
        else:
            raise EndpointError(f"it answers with {kind[:80]}, not an event stream; is this the URL of its API?")

    def _post(self, body: Mapping[str, Any]) -> HTTPResponse:
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        request = Request(self._target.geturl(), json.dumps(body).encode(), headers)  # noqa: S310 - only HTTP
        opener = build_opener(_AnyStatus, ProxyHandler(_proxies(self._target)))
        opener.addheaders = []
        response: HTTPResponse = self._opened.enter_context(opener.open(request, timeout=self._endpoint.limit + _GRACE))
        # The response itself cannot be closed while another thread reads from it.
        self._socket = self._opened.enter_context(socket.socket(fileno=os.dup(response.fileno())))
        return response

    def _require_success(self, response: HTTPResponse) -> None:
        if response.status == 200:
            return
        if 300 <= response.status < 400:
            raise EndpointError(
                f"it redirects to {_one_line(response.headers.get('Location', 'nowhere'))}; if you trust that, use it"
            )
        meaning = _MEANINGS.get(response.status, "it failed" if response.status >= 500 else "it rejects the request")
        text = response.read(_MAX_ERROR).decode("utf-8", "replace")
        with suppress(ValueError, EndpointError):
            text = _error_message(_parse(text.encode())) or text
        message = _one_line(text.replace(self._endpoint.key, "…") if self._endpoint.key else text)
        raise EndpointError(f"{meaning} (HTTP {response.status}{': ' if message else ''}{message})")


def _proxies(target: SplitResult) -> dict[str, str]:
    """Return the proxy that the environment sets for a host, by the URL's scheme; {} for this machine."""
    host, proxy = f"{target.hostname}", getproxies().get(target.scheme)
    with suppress(ValueError):
        if ip_address(host).is_loopback:
            return {}
    if host == "localhost" or not proxy or proxy_bypass(host):
        return {}
    if "://" in proxy and not proxy.startswith("http://"):
        raise EndpointError("the proxy set in the environment is not an http:// one")
    return {target.scheme: proxy}


def _lines(response: HTTPResponse) -> Iterator[bytes]:
    """Yield the lines of a response as they arrive."""
    total = 0
    while line := response.readline(_MAX_LINE):
        total += len(line)
        if len(line) == _MAX_LINE or total > _MAX_RESPONSE:
            raise EndpointError("its answer is too long")
        yield line


def _deltas(lines: Iterator[bytes]) -> Iterator[str]:
    """Yield the text of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).

    Raises:
        EndpointError: The stream reports an error, or ends without an end marker.
    """
    is_finished = False
    for line in lines:
        name, _, data = line.rstrip(b"\r\n").partition(b":")
        if name != b"data" or not data.strip():
            continue
        if data.strip() == b"[DONE]":
            return
        event = _parse(data)
        if message := _error_message(event):
            raise EndpointError(f"it failed in the middle of its answer: {_one_line(message)}")
        yield _content(event, "delta")
        is_finished = _require_whole(event) or is_finished
    if not is_finished:
        raise EndpointError("its answer broke off")


def _require_whole(event: dict[str, Any]) -> bool:
    """Return whether this ends an answer; raises EndpointError if it was cut off."""
    reason = _choice(event).get("finish_reason")
    if reason not in (None, "stop"):
        raise EndpointError(f"it ended its answer early ({_one_line(str(reason))})")
    return reason is not None


def _parse(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise EndpointError("its answer is not in the format of OpenAI's API")
    return value


def _choice(event: dict[str, Any]) -> dict[str, Any]:
    choices = event.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return first if isinstance(first, dict) else {}


def _content(event: dict[str, Any], key: str) -> str:
    part = _choice(event).get(key)
    if key == "message" and not isinstance(part, dict):
        raise EndpointError(_one_line(_error_message(event)) or "its answer is not in the format of OpenAI's API")
    content = part.get("content") if isinstance(part, dict) else None
    return content if isinstance(content, str) else ""


def _error_message(event: dict[str, Any]) -> str:
    """Return the message of an error object, or "" if it is not one."""
    error = event.get("error") or event.get("detail")
    if isinstance(error, dict):
        error = error.get("message") or json.dumps(error)
    return error if isinstance(error, str) else ""


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_MESSAGE else line[: _MAX_MESSAGE - 1] + "…"


def _explanation(error: Exception) -> str:
    """Return the likely cause of a network error."""
    if isinstance(error, URLError) and isinstance(error.reason, Exception):
        error = error.reason
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate cannot be trusted: {error.verify_message}"
    meanings = (meaning for kind, meaning in _CAUSES.items() if isinstance(error, kind))
    return next(meanings, None) or _one_line(str(error)) or type(error).__name__
