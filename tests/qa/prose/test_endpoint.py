"""Whatever an endpoint does, the exchange ends within its time limit, with a clear error."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from qa import UsageError
from qa.prose.endpoint import EndpointError, LLMEndpoint
from qa.prose.exchange import stream
from tests.qa.prose.endpoints import EndpointServer, endpoint_server, raw_server

MESSAGES = [{"role": "user", "content": "Hello"}]
LIMIT = 1.0
BAD = {
    "key-refused": r"needs a valid key.*\(HTTP 401: Incorrect API key provided: …\)",
    "no-model": "no such model or no such path.*model 'nobody' not found",
    "busy": "overloaded, or allows no more requests.*Rate limit",
    "broken": r"failed \(HTTP 500: CUDA out of memory\)",
    "mute": "no complete answer within 1 s",
    "murmurs": "no complete answer within 1 s",
    "garbage": "not in the format of OpenAI's API",
    "other-json": "not in the format of OpenAI's API",
    "huge-line": "too long",
    "page": "it answers with text/html, not an event stream",
    "redirects": r"redirects to http://localhost:\d+/says/v1/chat/completions; if you trust that, use it",
    "breaks-off": "broke off",
    "fails-midway": "failed in the middle of its answer: out of memory",
    "cut": r"ended its answer early \(length\)",
    "whole-cut": r"ended its answer early \(length\)",
}


def failure(url: str, **options: Any) -> str:
    """Return the error of an endpoint that fails."""
    with pytest.raises(EndpointError) as error:
        list(stream(LLMEndpoint(url, **{"limit": LIMIT, **options}), MESSAGES))
    return str(error.value)


@pytest.mark.parametrize("behaviour", BAD)
def test_bad_endpoints_give_clear_errors(behaviour: str, server: EndpointServer) -> None:
    """Each gives its own reason, on one line and without the key; no redirect is followed."""
    message = failure(server.url(behaviour), key="sk-secret")
    assert re.search(BAD[behaviour], message)
    assert "sk-secret" not in message
    assert message.isprintable()
    assert [path for path, _, _ in server.requests] == [f"/{behaviour}/v1/chat/completions"]


@pytest.mark.parametrize("behaviour", ["mute", "stalls"])
def test_no_thread_is_left_running(behaviour: str, server: EndpointServer) -> None:
    """A thread that the server keeps waiting ends when the time limit is reached."""
    failure(server.url(behaviour))
    for thread in threading.enumerate():
        if thread.name == "qa-endpoint":
            thread.join(5)
            assert not thread.is_alive()


def test_nothing_is_listening() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    assert "nothing is listening there" in failure(f"http://127.0.0.1:{port}")


def test_unknown_host_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time limit also holds while a name is looked up, which cannot be interrupted."""
    resolved = threading.Event()

    def look_up(*_: object, **__: object) -> None:
        resolved.wait(60)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert "no complete answer within 1 s" in failure("http://somewhere.example")
    resolved.set()
    assert "no host of that name" in failure("http://somewhere.example")


def test_tls_mismatch_is_reported(server: EndpointServer) -> None:
    assert "does not speak TLS" in failure(server.url("says").replace("http://", "https://"), limit=20)
    with raw_server(b"\x15\x03\x01\x00\x02\x02\x46") as tls:
        assert "does not speak HTTP; is it https://" in failure(f"http://{tls}", limit=20)
    with raw_server(b"") as closed:
        assert "closed the connection" in failure(f"http://{closed}", limit=20)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_certificates_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A self-signed certificate is refused before anything is sent; if the system trusts it, it is accepted."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    options = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), *options], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with endpoint_server() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.pieces = ["Soup."]
        url = server.url("says").replace("http://127.0.0.1", "https://localhost")
        assert "certificate cannot be trusted: self-signed certificate" in failure(url, limit=20, key="sk-secret")
        assert server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert "".join(stream(LLMEndpoint(url, limit=20), MESSAGES)) == "Soup."
        assert "certificate cannot be trusted" in failure(url.replace("localhost", "127.0.0.1"), limit=20)


def test_the_request(server: EndpointServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the key from the environment, and only fields that any such server accepts."""
    server.pieces = ["Soup ", "is served."]
    for name, value in {"QA_LLM_ENDPOINT": server.url("says"), "QA_LLM": "small", "QA_LLM_KEY": "sk-1"}.items():
        monkeypatch.setenv(name, value)
    endpoint = LLMEndpoint.named()
    assert list(stream(endpoint, MESSAGES)) == ["Soup ", "is served.", ""]
    path, headers, body = server.requests[-1]
    assert (path, headers["Authorization"]) == ("/says/v1/chat/completions", "Bearer sk-1")
    assert body == {"model": "small", "messages": MESSAGES, "stream": True, "temperature": 0}
    assert "sk-1" not in repr(endpoint)


@pytest.mark.parametrize("behaviour", ["whole", "without-temperature"])
def test_servers_may_refuse_to_stream_or_to_take_a_temperature(behaviour: str, server: EndpointServer) -> None:
    server.pieces = ["Soup is served at noon [1]."]
    assert "".join(stream(LLMEndpoint(server.url(behaviour)), MESSAGES)) == "Soup is served at noon [1]."


def test_proxy_from_the_environment_is_used(server: EndpointServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not used for this machine; its password is sent only to the proxy itself."""
    server.pieces = ["Soup."]
    monkeypatch.setenv("http_proxy", f"http://me:pass@127.0.0.1:{server.server_address[1]}")
    url = "http://far.example/says/v1"
    monkeypatch.setattr("tests.qa.prose.endpoints.BEHAVIOURS", {})
    assert "closed the connection" in failure(url)
    path, headers, _ = server.requests[-1]
    assert (path, headers["Host"]) == (f"{url}/chat/completions", "far.example")
    assert headers["Proxy-Authorization"] == "Basic bWU6cGFzcw=="
    monkeypatch.undo()
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    for url in (server.url("says"), server.url("says").replace("127.0.0.1", "localhost")):
        assert "".join(stream(LLMEndpoint(url), MESSAGES)) == "Soup."


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:11434", "must be a URL such as"),
        ("file:///etc/passwd", "must be a URL such as"),
        ("http://me:secret@host/v1", "A key goes into QA_LLM_KEY"),
        ("http://host:port/v1", "is not a URL"),
        ("http://host/v1\r\nX-Evil: 1", "printable ASCII"),
    ],
)
def test_invalid_urls(url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        LLMEndpoint(url)
    assert "secret" not in str(error.value)


def test_an_endpoint_must_be_named() -> None:
    with pytest.raises(UsageError, match="QA_LLM_ENDPOINT"):
        LLMEndpoint.named()


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://host:1", "/v1/chat/completions"),
        ("http://host/", "/v1/chat/completions"),
        ("http://host/api/v1/", "/api/v1/chat/completions"),
        ("https://host/openai/chat/completions", "/openai/chat/completions"),
    ],
)
def test_the_path_is_completed(url: str, path: str) -> None:
    assert LLMEndpoint(url).target().path == path
