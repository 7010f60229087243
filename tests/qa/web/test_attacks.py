"""Attacks are refused; each is a test that `pytest --collect-only -q` lists."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from urllib.parse import quote

import pytest

from tests.qa.web.servers import Reply, RunningServer

ASK = "/api/v1/ask?question=secret"
UNSEEN = b"nobody serves"


def send(server: RunningServer, request: bytes) -> bytes:
    """Send bytes and return everything that the server sends back."""
    with socket.create_connection(server.address, timeout=20) as connection:
        parts = []
        # The connection is not shut down for writing, which would end it before the response.
        with suppress(OSError):  # refused before everything was read
            connection.sendall(request)
            while part := connection.recv(65536):
                parts.append(part)
        return b"".join(parts)


def status_of(answer: bytes) -> int:
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    return int(match[1]) if match else 0


def is_guarded(reply: Reply) -> bool:
    """Return whether the headers forbid a browser to run, frame, sniff or share the response."""
    policy = reply.headers["content-security-policy"]
    return (
        "default-src 'none'" in policy
        and "unsafe" not in policy
        and "frame-ancestors 'none'" in policy
        and reply.headers["x-content-type-options"] == "nosniff"
        and reply.headers["referrer-policy"] == "same-origin"
        and reply.headers["cross-origin-resource-policy"] == "same-origin"
        and reply.headers["cross-origin-opener-policy"] == "same-origin"
        and "access-control-allow-origin" not in reply.headers
        and "server" not in reply.headers
    )


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        *(("Host", name, 421) for name in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "")),
        *(("Host", name, 421) for name in ("192.168.1.1", "0.0.0.0", "[::ffff:8.8.8.8]", "[localhost", "2130706433")),  # noqa: S104
        *(("Origin", origin, 403) for origin in ("http://evil.example", "http://127.0.0.1:1", "null", "")),
    ],
)
def test_other_names_and_origins_are_refused(server: RunningServer, header: str, value: str, status: int) -> None:
    """Such requests come by DNS rebinding (an attacker's name for this machine) or from pages of other sites."""
    reply = server.get(ASK, {header: value})
    assert reply.status == status
    assert is_guarded(reply)


@pytest.mark.parametrize("host", ["LOCALHOST", "localhost:9000", "127.1.2.3", "[::1]:8765"])
def test_names_of_this_machine_are_accepted(server: RunningServer, host: str) -> None:
    """The port may differ, as through a tunnel."""
    assert server.get("/api/v1/health", {"Host": host}).status == 200


@pytest.mark.parametrize(
    ("path", "site", "mode", "kind"),
    [
        pytest.param(ASK, "cross-site", "no-cors", "image", id="picture"),
        pytest.param(ASK, "cross-site", "navigate", "document", id="link into the API"),
        pytest.param(ASK, "same-site", "cors", "empty", id="neighbour"),
        pytest.param("/", "cross-site", "navigate", "iframe", id="frame"),
        pytest.param("/", "cross-site", "no-cors", "image", id="page as picture"),
    ],
)
def test_requests_by_pages_of_other_sites_are_refused(
    server: RunningServer, path: str, site: str, mode: str, kind: str
) -> None:
    """Browsers report where a request comes from."""
    reply = server.get(path, {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": kind})
    assert reply.status == 403


def test_own_pages_and_typed_addresses_are_accepted(server: RunningServer) -> None:
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": server.url.rstrip("/")}):
        assert server.get("/api/v1/health", headers).status == 200


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        pytest.param("POST", ASK, {"Origin": "http://evil.example"}, 403, id="cross-site POST"),
        pytest.param("POST", "/login", {}, 403, id="POST from nowhere"),
        pytest.param("POST", ASK, {}, 405, id="POST to the API"),
        pytest.param("POST", "/login", {"Origin": "http://evil.example"}, 403, id="cross-site login"),
        pytest.param("POST", ASK, {"Sec-Fetch-Site": "same-origin"}, 405, id="own POST to what only reads"),
        pytest.param("DELETE", "/api/v1/show?place=awards.md", {}, 405, id="DELETE"),
        pytest.param("OPTIONS", ASK, {"Origin": "http://evil.example"}, 403, id="preflight"),
        pytest.param("TRACE", ASK, {}, 405, id="TRACE"),
        pytest.param("CONNECT", "/", {}, 403, id="CONNECT"),
    ],
)
def test_the_server_is_read_only(
    server: RunningServer, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    reply = server.get(path, headers, method, b"token=x")
    assert reply.status == status
    assert is_guarded(reply)


def test_a_post_to_the_api_is_told_what_to_send(server: RunningServer) -> None:
    reply = server.get(ASK, {}, "POST", b"{}")
    assert reply.headers["allow"] == "GET, HEAD"
    assert b"use GET, with the parameters in the query" in reply.body


PLACES = [
    # Outside the collection
    *("../outside.md", "/etc/passwd", "file:///etc/passwd", "talks/../../outside.md:1", "..\\outside.md"),
    *("%2e%2e%2foutside.md", "~/.ssh/id_rsa"),
    # Hidden, excluded, or a link
    *(".hidden.md", "./.hidden.md:1", ".qa/index.db", "link.md", "linked/outside.md", "drafts/excluded.md, p. 1"),
    # Not a file
    *("awards.md\0.png", ".", "a" * 5000),
]


@pytest.mark.parametrize("name", ["show", "similar"])
@pytest.mark.parametrize("place", PLACES, ids=[repr(place[:40]) for place in PLACES])
def test_only_indexed_files_are_shown(server: RunningServer, name: str, place: str) -> None:
    """No file that is outside the collection, hidden, excluded or a link is shown."""
    reply = server.get(f"/api/v1/{name}?place={quote(place, safe='')}")
    # `similar` takes anything that is not a place for a text, for which no file is read.
    assert reply.status in ((400, 404) if name == "show" else (200, 400, 404))
    assert UNSEEN not in reply.body
    assert b"root:" not in reply.body


@pytest.mark.parametrize("name", ["show", "similar"])
@pytest.mark.parametrize(
    "place", ["{}.md", "{}.md:1", "{}.md, p. 1", "{}.md § A", "{}.md#a", "{}"], ids=lambda place: place
)
def test_an_unindexed_file_is_treated_like_a_missing_one(server: RunningServer, name: str, place: str) -> None:
    """So nobody learns what else is on the disk."""

    def outcome(stem: str) -> tuple[int, str]:
        reply = server.api(name, place=place.format(stem))
        return reply.status, reply.json.get("detail", "").replace(stem, "")

    assert outcome("drafts/excluded") == outcome("drafts/zzzzzzzz")


@pytest.mark.parametrize(
    "path",
    [
        *("/../outside.md", "/%2e%2e%2foutside.md", "/static/../../outside.md", "/static/%2e%2e/%2e%2e/outside.md"),
        *("/static//etc/passwd", "/api/v1/ask/", "/awards.md", "//evil.example/", "http://evil.example/"),
    ],
)
def test_no_address_leads_to_a_file(server: RunningServer, path: str) -> None:
    reply = server.get(path)
    assert reply.status in (400, 404, 421)
    assert UNSEEN not in reply.body
    assert "location" not in reply.headers
    assert is_guarded(reply)


@pytest.mark.parametrize("path", ["../*", "/etc/*", ".*", "drafts/", "link.md", ".hidden.md"])
def test_filters_match_only_indexed_files(server: RunningServer, path: str) -> None:
    assert server.api("ask", question="a secret that nobody serves", path=path).status == 400


def test_a_number_of_thousands_of_digits_counts_as_not_given(server: RunningServer) -> None:
    """Python would refuse to convert it."""
    reply = server.get(f"/?q=a+secret&k={'1' * 5000}&open=awards.md&at={'1' * 5000}")
    assert (reply.status, reply.body.count(b"<article ")) == (200, 5)


def test_unindexed_files_are_not_found(server: RunningServer) -> None:
    reply = server.api("search", question="a secret that nobody serves", k=100, mode="keyword")
    assert not [hit for hit in reply.json["passages"] if UNSEEN.decode() in hit["text"]]


HEAD = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
POST = b"POST /login HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        pytest.param(b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, id="request line"),
        pytest.param(HEAD + b"X: " + b"a" * 200_000 + b"\r\n\r\n", 400, id="header"),
        pytest.param(b"a" * 200_000, 400, id="no HTTP"),
        pytest.param(POST + b"Content-Length: 1000000\r\n\r\n" + b"a" * 1_000_000, 413, id="body"),
        pytest.param(
            POST + b"Transfer-Encoding: chunked\r\n\r\n" + (b"1000\r\n" + b"a" * 4096 + b"\r\n") * 400,
            413,
            id="chunked body",
        ),
        pytest.param(POST + b"Content-Length: 99999999999999999999\r\n\r\n", 413, id="promised body"),
        pytest.param(HEAD + b"Cookie: " + b"a=b; " * 12_000 + b"\r\n\r\n", 200, id="cookies"),
    ],
)
def test_oversized_requests_are_refused(server: RunningServer, request_: bytes, status: int) -> None:
    # If more is sent than is read, the connection may be reset before the response arrives.
    assert status_of(send(server, request_)) in (status, 0)
    assert server.api("health").status == 200


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(HEAD + b"X: a\rSet-Cookie: b=c\r\n\r\n", id="CR in a header"),
        pytest.param(HEAD + b"Host: evil.example\r\n\r\n", id="two hosts"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="no host"),
        pytest.param(b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", id="bytes in the address"),
        pytest.param(POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", id="two lengths"),
        pytest.param(POST + b"Content-Length: 4\r\nTransfer-Encoding: identity\r\n\r\nabcd", id="unknown encoding"),
        pytest.param(b"GET / HTTP/9.9\r\nHost: localhost\r\nConnection: close\r\n\r\n", id="unknown version"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="TLS"),
    ],
)
def test_ambiguous_requests_are_refused(server: RunningServer, request_: bytes) -> None:
    """Otherwise headers could be injected and requests smuggled."""
    answer = send(server, request_)
    assert status_of(answer) in (400, 421, 501, 505)
    assert b"set-cookie" not in answer.lower()


def test_every_origin_header_is_checked(server: RunningServer) -> None:
    local, foreign = b"Origin: http://localhost\r\n", b"Origin: http://evil.example\r\n"
    cases = (local, local + foreign, foreign + local)
    statuses = [status_of(send(server, HEAD + origins + b"\r\n")) for origins in cases]
    assert statuses == [200, 403, 403]


def test_a_smuggled_request_is_not_answered(server: RunningServer) -> None:
    """If both a length and chunks are given, the second request is in the body of the first."""
    smuggled = b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = send(server, POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled)
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b'"generation"' not in answer
