"""What an endpoint may do: whatever it is, there is a clear end within its time limit."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from qa import UsageError
from qa.prose.endpoint import EndpointError, LLMEndpoint
from qa.prose.exchange import stream
from tests.qa.prose.endpoints import Player, player, raw

MESSAGES = [{"role": "user", "content": "Hello"}]
LIMIT = 1.0
BAD = {
    "key-refused": r"needs a valid key.*\(HTTP 401: Incorrect API key provided: …\)",
    "no-model": "no such model or no such path.*model 'nobody' not found",
    "busy": "overloaded, or allows no more requests.*Rate limit",
    "broken": r"failed \(HTTP 500: CUDA out of memory\)",
    "mute": "no whole answer within 1 s",
    "murmurs": "no whole answer within 1 s",
    "drips": "no whole answer within 1 s",
    "drips-headers": "no whole answer within 1 s",
    "garbage": "not in the form of OpenAI's API",
    "other-json": "not in the form of OpenAI's API",
    "huge-line": "too long",
    "page": "it answers with text/html, not an event stream",
    "redirects": r"redirects to http://localhost:\d+/says/v1/chat/completions; if you trust it, name that",
    "breaks-off": "broke off",
    "fails-midway": "failed in the middle of its answer: out of memory",
    "cut": r"ended its answer early \(length\)",
}


@pytest.fixture(scope="module")
def server() -> Iterator[Player]:
    with player() as found:
        yield found


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


def failure(url: str, **more: Any) -> str:
    """What is said of an endpoint that fails; nothing is waited for that never ends."""
    said: list[str] = []

    def ask() -> None:
        try:
            said.append("".join(stream(LLMEndpoint(url, **{"limit": LIMIT, **more}), MESSAGES)))
        except EndpointError as error:
            said.append(f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(60)
    assert said, f"still waiting for {url}"
    assert said[0].startswith("EndpointError: "), said
    return said[0]


@pytest.mark.parametrize("part", BAD)
def test_bad_endpoints_end_clearly(part: str, server: Player) -> None:
    """Each for its own reason, on one line, and without the key."""
    said = failure(server.url(part), key="sk-secret")
    with pytest.raises(EndpointError, match=BAD[part]):
        raise EndpointError(said)
    assert "sk-secret" not in said
    assert said.isprintable()


@pytest.mark.parametrize("part", ["mute", "stalls", "drips-headers"])
def test_no_thread_stays_behind(part: str, server: Player) -> None:
    """What the other side keeps waiting is ended when the time is over, however long that would have gone on."""
    failure(server.url(part))
    for thread in threading.enumerate():
        if thread.name == "qa-endpoint":
            thread.join(5)
            assert not thread.is_alive()


def test_silence_ends_sooner_than_the_limit(server: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once there was a word, the next is waited for less long than the first."""
    monkeypatch.setattr("qa.prose.exchange._SILENCE", 0.2)
    assert "silent for 0.2 s in the middle" in failure(server.url("stalls"), limit=600)


def test_nobody_listens() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    assert "nothing is listening there" in failure(f"http://127.0.0.1:{port}")


def test_no_host_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are looked up outside of our time limit, which holds all the same."""
    waits = threading.Event()

    def look_up(*_: object, **__: object) -> None:
        waits.wait(60)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert "no whole answer within 1 s" in failure("http://somewhere.example")
    waits.set()
    assert "no host of that name" in failure("http://somewhere.example")


def test_tls_where_there_is_none_and_the_reverse(server: Player) -> None:
    assert "does not speak TLS" in failure(server.url("says").replace("http://", "https://"))
    with raw(b"\x15\x03\x01\x00\x02\x02\x46") as tls:
        assert "does not speak HTTP; is it https://" in failure(f"http://{tls}")
    with raw(b"") as closed:
        assert "closed the connection" in failure(f"http://{closed}")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_certificates_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that nobody vouches for is refused before anything is sent; one that the system trusts is fine."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    more = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*made.split(), *more], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with player() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.says = ["Soup."]
        url = server.url("says").replace("http://127.0.0.1", "https://localhost")
        assert "certificate cannot be trusted: self-signed certificate" in failure(url, limit=20, key="sk-secret")
        assert server.asked == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert "".join(stream(LLMEndpoint(url, limit=20), MESSAGES)) == "Soup."
        assert "certificate cannot be trusted" in failure(url.replace("localhost", "127.0.0.1"), limit=20)


def test_no_redirect_is_followed(server: Player) -> None:
    """Neither the question nor the key goes to a host that was not named."""
    before = len(server.asked)
    failure(server.url("redirects"), key="sk-secret")
    assert [path for path, _, _ in server.asked[before:]] == ["/redirects/v1/chat/completions"]


def test_what_is_sent(server: Player) -> None:
    """The key to that host alone, as it is in the environment; a request that any such server takes."""
    server.says = ["Soup ", "is served."]
    named = LLMEndpoint.named(environ={"QA_LLM_ENDPOINT": server.url("says"), "QA_LLM": "small", "QA_LLM_KEY": "sk-1"})
    assert list(stream(named, MESSAGES)) == ["Soup ", "is served.", ""]
    path, headers, body = server.asked[-1]
    assert (path, headers["Authorization"]) == ("/says/v1/chat/completions", "Bearer sk-1")
    assert body == {"model": "small", "messages": MESSAGES, "stream": True, "temperature": 0}
    assert "sk-1" not in repr(named)


@pytest.mark.parametrize("part", ["whole", "without-temperature"])
def test_servers_differ(part: str, server: Player) -> None:
    """Some do not stream, some take no temperature."""
    server.says = ["Soup is served."]
    assert "".join(stream(LLMEndpoint(server.url(part)), MESSAGES)) == "Soup is served."


def test_a_proxy_of_the_environment_is_used(server: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    """But not for this machine; its password is sent to it alone."""
    server.says = ["Soup."]
    monkeypatch.setenv("http_proxy", f"http://me:pass@127.0.0.1:{server.server_address[1]}")
    url = "http://far.example/says/v1"
    monkeypatch.setattr("tests.qa.prose.endpoints.PARTS", {})
    assert "closed the connection" in failure(url)
    path, headers, _ = server.asked[-1]
    assert (path, headers["Host"]) == (f"{url}/chat/completions", "far.example")
    assert headers["Proxy-Authorization"] == "Basic bWU6cGFzcw=="
    monkeypatch.undo()
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    for url in (server.url("says"), server.url("says").replace("127.0.0.1", "localhost")):
        assert "".join(stream(LLMEndpoint(url), MESSAGES)) == "Soup."


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:11434", "must be a URL such as"),
        ("file:///etc/passwd", "must be a URL such as"),
        ("http://me:secret@host/v1", "A key goes into QA_LLM_KEY"),
        ("http://host:port/v1", "is not a URL"),
        ("http://host/v1\r\nX-Evil: 1", "printable ASCII"),
    ],
)
def test_urls_that_are_none(url: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        LLMEndpoint(url)
    assert "secret" not in str(error.value)


def test_an_endpoint_must_be_named() -> None:
    with pytest.raises(UsageError, match="QA_LLM_ENDPOINT"):
        LLMEndpoint.named(environ={})


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
