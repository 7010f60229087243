"""The server follows changes of the index at once and of files a moment later, and reports what it cannot follow."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qa import build_index
from tests.qa.web.servers import RunningServer, running


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("changes") / "notes"
    root.mkdir()
    for name, text in (("ferry.md", "The ferry leaves at nine.\n"), ("train.md", "The train leaves at noon.\n")):
        (root / name).write_text(text)
        os.utime(root / name, (1_000_000_000, 1_000_000_000))
    build_index(root)
    return root


@pytest.fixture
def folder(indexed: Path, tmp_path: Path) -> Path:
    """A small folder and its index."""
    return Path(shutil.copytree(indexed, tmp_path / "notes"))


@pytest.fixture
def following_server(folder: Path) -> Iterator[RunningServer]:
    with running(folder) as server:
        yield server


def sources(server: RunningServer, question: str) -> dict[str, tuple[str, str]]:
    """Return the state and text of each passage found, by path."""
    reply = server.api("ask", question=question, mode="keyword", rerank="false")
    return {hit["source"]["path"]: (hit["source"]["state"], hit["text"].strip()) for hit in reply.json["passages"]}


def count(server: RunningServer) -> int:
    return len(server.api("ask", question="leaves", mode="keyword", rerank="false").json["passages"])


def wait_for(expected: Any, ask: Callable[..., Any], *args: Any) -> list[Any]:
    """Ask until the answer is the expected one, and return the earlier answers."""
    answers: list[Any] = []
    for _ in range(300):
        answers.append(ask(*args))
        if answers[-1] == expected:
            return answers[:-1]
        time.sleep(0.2)
    raise AssertionError(f"still {answers[-1]}")


def test_changed_and_deleted_files_are_followed(following_server: RunningServer) -> None:
    """Until the index is updated, passages are shown as changed or missing."""
    ferry = following_server.root / "ferry.md"
    old, new = "The ferry leaves at nine.", "The ferry leaves at ten."
    assert sources(following_server, "ferry") == {"ferry.md": ("verified", old)}
    ferry.write_text(f"{new}\n")
    earlier = wait_for({"ferry.md": ("verified", new)}, sources, following_server, "ferry")
    assert [answer for answer in earlier if answer != {"ferry.md": ("changed", old)}] == []
    ferry.unlink()
    earlier = wait_for({}, sources, following_server, "ferry")
    assert [answer for answer in earlier if answer != {"ferry.md": ("missing", new)}] == []
    (following_server.root / "bus.md").write_text("The bus leaves at one.\n")
    wait_for({"bus.md": ("verified", "The bus leaves at one.")}, sources, following_server, "bus")
    assert following_server.stop() == (0, f"Serving {following_server.root} (Ctrl-C to stop)\n")


def test_a_folder_that_is_moved_away_is_reported_as_gone(following_server: RunningServer) -> None:
    """It does not count as a folder without an index, and is no longer served."""
    following_server.root.rename(following_server.root.with_name("moved"))
    time.sleep(2.2)
    reply = following_server.api("ask", question="ferry", rerank="false")
    assert (reply.status, reply.json["type"]) == (503, "/api/v1/docs#folder-unavailable")
    _, stderr = following_server.stop()
    assert "no longer exists: deleted, renamed or unmounted." in stderr
    assert not re.search("no index|as it is", stderr)


def test_invalid_settings_are_ignored(following_server: RunningServer) -> None:
    """The previous settings stay in force; the error is reported once, and noted on the page without the folder."""
    (following_server.root / "qa.toml").write_text("k = 1\n")
    wait_for(1, count, following_server)
    (following_server.root / "qa.toml").write_text("colour = 7\n")
    for _ in range(3):
        time.sleep(1.2)
        assert count(following_server) == 1
    page = following_server.get("/?q=leaves").body.decode()
    assert "Note: notes/qa.toml: unknown key &#39;colour&#39;. " in page
    assert str(following_server.root.parent) not in page
    _, stderr = following_server.stop()
    assert stderr.count("unknown key 'colour'") == 1


def test_a_new_index_is_served_by_the_next_request(folder: Path) -> None:
    """The files need not be watched."""
    with running(folder, "--no-update") as server:
        (folder / "bus.md").write_text("The bus leaves at one.\n")
        assert sources(server, "bus") == {}
        build_index(folder)
        assert sources(server, "bus") == {"bus.md": ("verified", "The bus leaves at one.")}
        shutil.rmtree(folder / ".qa")
        reply = server.api("ask", question="bus")
        assert (reply.status, reply.json["type"]) == (503, "/api/v1/docs#no-index")
        assert reply.headers["retry-after"]
        build_index(folder)
        assert sources(server, "bus") == {"bus.md": ("verified", "The bus leaves at one.")}
