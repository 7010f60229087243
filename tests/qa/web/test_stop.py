"""How the server starts and stops."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import time
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest

from tests.qa.commands import qa
from tests.qa.web.servers import running

QUESTION = f"/api/v1/ask?k=30&question={quote('which paper won the test of time award, and who gave the keynote?')}"


def test_open_questions_are_answered_before_the_end(served_folder: Path) -> None:
    """Idle connections are closed, new ones are refused, and nothing is printed after the start."""
    with running(served_folder) as server:
        host, port = server.address
        idle = socket.create_connection((host, port))
        incomplete = socket.create_connection((host, port))
        incomplete.sendall(b"GET /api/v1/he")
        connections = [http.client.HTTPConnection(host, port, timeout=60) for _ in range(6)]
        for connection in connections:
            connection.request("GET", QUESTION)
        statuses = [connections[0].getresponse().status]  # by now all of them have arrived
        stopped: list[tuple[int, str]] = []
        stopping = Thread(target=lambda: stopped.append(server.stop(signal.SIGINT)))
        stopping.start()
        statuses += [connection.getresponse().status for connection in connections[1:]]
        stopping.join()
        for connection in connections:
            connection.close()
        idle.close()
        incomplete.close()
        assert statuses == [200] * 6
        assert stopped == [(130, f"Serving {served_folder} (Ctrl-C to stop)\n")]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, port))


def test_a_port_in_use_is_an_error(served_folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = qa("serve", served_folder, "--port", str(taken.getsockname()[1]))
    assert done.exit_code == 2
    assert "Address already in use. Choose another with --host or --port." in done.stderr


@pytest.mark.parametrize("host", ["nowhere.invalid", "203.0.113.7", "::::"])
def test_an_address_that_cannot_be_bound_is_an_error(served_folder: Path, host: str) -> None:
    done = qa("serve", served_folder, "--host", host, "--port", "0")
    assert done.exit_code == 2
    assert f"cannot listen on {host}, port 0: " in done.stderr


def test_without_the_extra_the_error_says_what_to_install(served_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qa.cli.serve.find_spec", lambda name: None if name == "starlette" else name)
    done = qa("serve", served_folder)
    assert done.exit_code == 2
    assert done.stderr == 'qa: qa serve needs starlette. Run: pip install "qa-passages[web]"\n'


def test_serving_needs_an_index(tmp_path: Path) -> None:
    done = qa("serve", tmp_path, "--port", "0")
    assert done.exit_code == 3
    assert "Build one with" in done.stderr
    assert done.stdout == ""


def test_open_opens_the_page_in_the_browser(served_folder: Path, tmp_path: Path) -> None:
    """The address includes the token; without a display, the server says that it could not open a browser."""
    opened = tmp_path / "opened"
    (program := tmp_path / "xdg-open").write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    program.chmod(0o755)
    display = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "DISPLAY": ":0", "QA_TOKEN": "x" * 20}
    with running(served_folder, "--open", environ=display) as server:
        for _ in range(200):
            if opened.exists() and (url := opened.read_text()):
                break
            time.sleep(0.05)
        else:
            raise AssertionError("nothing was opened")
        assert url == server.url == f"http://127.0.0.1:{server.address[1]}/?token={'x' * 20}"
        assert server.get(f"/?token={'x' * 20}").status == 303
        assert "browser" not in server.stop()[1]
    with running(served_folder, "--open", environ={"DISPLAY": "", "WAYLAND_DISPLAY": ""}) as server:
        assert server.get("/").status == 200
        assert server.stop()[1].endswith("No browser could be opened.\n")


def test_the_log_is_readable_and_hides_the_token(served_folder: Path) -> None:
    with running(served_folder, "--log", environ={"QA_TOKEN": "x" * 20}) as server:
        server.get(f"/?q=a&token={'x' * 20}")
        server.get("/api/v1/%0a%1b[2J")
        server.get("/api/v1/health", {"Host": "evil.example"})
        _, stderr = server.stop()
    lines = stderr.splitlines()[1:]
    assert [line.split(" ", 1)[1].rpartition(" ms ")[0].rpartition(" ")[0] for line in lines] == [
        "303 GET /?q=a&token=…",
        "401 GET /api/v1/\\n\\x1b[2J",
        "421 GET /api/v1/health",
    ]
