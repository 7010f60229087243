"""Beyond the loopback interface, nobody gets access without the token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.qa.commands import qa
from tests.qa.web.servers import RunningServer, running

TOKEN = "correct-horse-battery"  # noqa: S105 - of the test's own server
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def open_server(served_folder: Path) -> Iterator[RunningServer]:
    """A server that other machines could reach."""
    with running(served_folder, "--host", "0.0.0.0", environ={"QA_TOKEN": TOKEN}) as server:  # noqa: S104 - on purpose
        yield RunningServer(server.process, server.root, f"http://127.0.0.1:{server.address[1]}/")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer \u00e9"},
        {"Cookie": f"qa-{{port}}={TOKEN}"},
        {"Cookie": "qa-{port}="},
    ],
    ids=repr,
)
def test_requests_without_the_token_are_refused(open_server: RunningServer, headers: dict[str, str]) -> None:
    port = str(open_server.address[1])
    encoded = {name: value.replace("{port}", port).encode().decode("latin-1") for name, value in headers.items()}
    reply = open_server.get("/api/v1/status", encoded)
    assert reply.status == 401
    assert reply.headers["www-authenticate"] == 'Bearer realm="qa"'
    assert reply.headers["content-type"] == "application/problem+json"
    assert b"documents" not in reply.body


def test_requests_with_the_token_are_answered(open_server: RunningServer) -> None:
    assert open_server.get("/api/v1/status", {"Authorization": f"Bearer {TOKEN}"}).status == 200
    assert open_server.get("/api/v1/status", {"Authorization": f"bearer  {TOKEN}"}).status == 200


def test_health_needs_no_token_and_reveals_little(open_server: RunningServer) -> None:
    assert open_server.api("health").json == {"status": "ok", "generation": 2}


def test_other_host_names_are_refused_even_with_the_token(open_server: RunningServer) -> None:
    """IP addresses are safe, since DNS rebinding needs a name."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert open_server.get("/api/v1/status", {**headers, "Host": "evil.example"}).status == 421
    assert open_server.get("/api/v1/status", {**headers, "Host": "192.168.1.5:8765"}).status == 200


def test_the_printed_address_logs_a_browser_in(open_server: RunningServer) -> None:
    """A redirect removes the token from the address; the cookie is for this server only and hidden from scripts."""
    reply = open_server.get(f"/?q=who&token={TOKEN}")
    assert (reply.status, reply.headers["location"]) == (303, "/?q=who")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    assert cookie.startswith(f"qa-{open_server.address[1]}="), "browsers send a cookie to all ports of a host"
    assert open_server.get("/api/v1/status", {"Cookie": cookie.partition(";")[0]}).status == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example"])
def test_the_redirect_never_leads_to_another_site(open_server: RunningServer, path: str) -> None:
    reply = open_server.get(f"{path}?token={TOKEN}")
    assert reply.headers["location"][:2] not in ("//", "/\\")
    assert reply.headers["location"].startswith("/")


def test_the_api_accepts_no_token_in_the_address(open_server: RunningServer) -> None:
    """It would end up in histories and logs."""
    assert open_server.get(f"/api/v1/status?token={TOKEN}").status == 401


def test_a_browser_without_the_token_gets_a_form(open_server: RunningServer) -> None:
    reply = open_server.get("/?q=%22%3E%3Cscript%3E", {"Accept": "text/html,*/*"})
    assert reply.status == 401
    assert b'name="token"' in reply.body
    assert b"<script>" not in reply.body
    assert b'value="/?q=%22%3E%3Cscript%3E"' in reply.body
    linked = re.findall(rb'<link [^>]*href="([^"]+)"', reply.body)
    assert [open_server.get(path.decode()).status for path in linked] == [200, 200]
    assert open_server.get("/static/page.js").status == 401


@pytest.mark.parametrize(
    ("body", "status", "location"),
    [
        (f"token={TOKEN}&next=/%3Fq%3Dwho", 303, "/?q=who"),
        (f"token={TOKEN}", 303, "/"),
        (f"token={TOKEN}&next=https://evil.example/", 303, "/https://evil.example/"),
        (f"token={TOKEN}&next=//evil.example/", 303, "/evil.example/"),
        (f"token={TOKEN}&next=/%0d%0aSet-Cookie:%20a=b", 303, "/%0D%0ASet-Cookie:%20a=b"),
        ("token=wrong&next=/", 401, ""),
        ("token=&next=%22%3E%3Cscript%3E", 401, ""),
        ("", 401, ""),
    ],
)
def test_the_form_accepts_only_the_token(open_server: RunningServer, body: str, status: int, location: str) -> None:
    reply = open_server.get("/login", FORM, "POST", body.encode())
    assert (reply.status, reply.headers.get("location", "")) == (status, location)
    assert ("set-cookie" in reply.headers) == (status == 303)
    assert b"<script>" not in reply.body


def test_a_token_is_generated_if_none_is_set(served_folder: Path) -> None:
    with running(served_folder, "--host", "0.0.0.0", environ={"QA_TOKEN": ""}) as server:  # noqa: S104 - as above
        token = server.url.partition("?token=")[2]
        assert len(token) > 40
        assert server.stop()[0] == 0


@pytest.mark.parametrize("token", ["short", "with a space in it and long", "naïve-and-long-enough", "x" * 15])
def test_a_weak_token_is_refused(served_folder: Path, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QA_TOKEN", token)
    done = qa("serve", served_folder, "--port", "0")
    assert done.exit_code == 2
    assert "QA_TOKEN needs 16 or more" in done.stderr


@pytest.mark.parametrize(
    "url",
    [
        *("qa.example.org", "ftp://qa.example.org", "https://", "https://qa.example.org/notes"),
        *("https://ida@qa.example.org", "https://qa.example.org:port", "https://[::1"),
    ],
)
def test_a_public_url_is_that_of_a_whole_host(served_folder: Path, url: str) -> None:
    done = qa("serve", served_folder, "--port", "0", "--public-url", url)
    assert done.exit_code == 2
    assert done.stderr == f"qa: --public-url must be like https://qa.example.org, without a path, not {url!r}.\n"
