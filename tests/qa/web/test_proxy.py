"""Behind a reverse proxy, the server is used at the proxy's address, and as protected as on its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.qa.web.servers import RunningServer, running

TOKEN = "correct-horse-battery"  # noqa: S105 - of the test's own server
NAME = "qa.example.org"
ORIGIN = f"https://{NAME}"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Origin": ORIGIN}
LOGIN = f"token={TOKEN}&next=/%3Fq%3Dwho".encode()


def as_reached_by_proxy(printed: RunningServer) -> RunningServer:
    """Return a server with a public URL at the address that it has just printed for its proxy."""
    assert printed.process.stderr is not None
    _, note = printed.process.stderr.readline(), printed.process.stderr.readline()
    start, _, url = note.rstrip().rpartition(" ")
    assert start == "The proxy has to pass requests on to"
    return replace(printed, url=url)


@pytest.fixture(scope="module")
def proxied(served_folder: Path) -> Iterator[RunningServer]:
    """A server with a public URL; requests to it are what its proxy sends."""
    with running(served_folder, "--public-url", f"{ORIGIN.upper()}:443/", environ={"QA_TOKEN": TOKEN}) as server:
        assert server.url == f"{ORIGIN}/?token={TOKEN}"
        yield as_reached_by_proxy(server)


@pytest.fixture(params=[NAME, "127.0.0.1:8765"], ids=["keeps the host", "changes the host"])
def host(request: pytest.FixtureRequest) -> dict[str, str]:
    """The `Host` that a proxy sends."""
    return {"Host": request.param}


def test_the_page_and_the_api_are_reached_through_the_proxy(proxied: RunningServer, host: dict[str, str]) -> None:
    own_page = {**BEARER, **host, "Sec-Fetch-Site": "same-origin"}
    assert proxied.get("/api/v1/health", host).json["status"] == "ok"
    assert proxied.get("/api/v1/ask?question=who+won", own_page).json["passages"]
    assert proxied.get("/?q=who+won", own_page).status == 200


@pytest.mark.parametrize("site", [{"Sec-Fetch-Site": "same-origin"}, {}], ids=["new browser", "old browser"])
def test_a_browser_logs_in_through_the_proxy(
    proxied: RunningServer, host: dict[str, str], site: dict[str, str]
) -> None:
    """The cookie is for encrypted connections only."""
    reply = proxied.get("/login", {**FORM, **host, **site}, "POST", LOGIN)
    assert (reply.status, reply.headers["location"]) == (303, "/?q=who")
    cookie, _, attributes = reply.headers["set-cookie"].partition("; ")
    assert attributes == "Path=/; HttpOnly; SameSite=Strict; Secure"
    assert proxied.get("/?q=who", {**host, "Cookie": cookie}).status == 200
    assert proxied.get(f"/?token={TOKEN}", host).headers["set-cookie"] == f"{cookie}; {attributes}"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({}, 401, id="no token"),
        pytest.param({"Authorization": "Bearer wrong"}, 401, id="wrong token"),
        pytest.param({**BEARER, "Origin": "https://evil.example"}, 403, id="other origin"),
        pytest.param({**BEARER, "Origin": f"{ORIGIN}.evil.example"}, 403, id="other origin that begins alike"),
        pytest.param({**BEARER, "Origin": f"{ORIGIN}:8443"}, 403, id="other port"),
        pytest.param({**BEARER, "Origin": ""}, 403, id="empty origin"),
        pytest.param({**BEARER, "Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"}, 403, id="cross-site"),
        pytest.param({"X-Forwarded-For": "127.0.0.1"}, 401, id="as this machine"),
    ],
)
def test_other_requests_are_refused_through_the_proxy(
    proxied: RunningServer, host: dict[str, str], headers: dict[str, str], status: int
) -> None:
    assert proxied.get("/api/v1/status", {**host, **headers}).status == status


@pytest.mark.parametrize(
    ("name", "status"),
    [
        *((NAME, 200), (f"{NAME.upper()}:443", 200), ("localhost", 200), ("127.0.0.1:8765", 200)),
        *(("evil.example", 421), (f"{NAME}.evil.example", 421), ("example.org", 421), ("192.168.1.1", 421)),
    ],
)
def test_the_public_name_is_the_only_new_one(proxied: RunningServer, name: str, status: int) -> None:
    """DNS rebinding and requests without the token are refused as before."""
    assert proxied.get("/api/v1/status", {**BEARER, "Host": name}).status == status
    assert proxied.get("/api/v1/status", {"Host": name}).status == (401 if status == 200 else 421)


@pytest.mark.parametrize("headers", [{"Host": NAME}, {"Origin": ORIGIN}], ids=["host", "origin"])
def test_without_a_public_url_the_refusal_names_the_option(server: RunningServer, headers: dict[str, str]) -> None:
    reply = server.get("/api/v1/health", headers)
    assert reply.status in (403, 421)
    assert reply.json["detail"].endswith("restart qa serve with --public-url.")


def test_the_client_is_the_last_that_the_proxy_names(served_folder: Path) -> None:
    """The client may forge those before it. A token is needed even if none is set."""
    with running(served_folder, "--log", "--public-url", ORIGIN, environ={"QA_TOKEN": ""}) as printed:
        assert len(printed.url.removeprefix(f"{ORIGIN}/?token=")) > 40
        server = as_reached_by_proxy(printed)
        assert server.get("/", {"X-Forwarded-For": "198.51.100.1, 203.0.113.7"}).status == 401
        assert server.stop()[1].endswith(" ms 203.0.113.7\n")
