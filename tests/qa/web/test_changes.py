"""What is served is the newest state: of the index at once, of the files a moment later, and never in silence."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.qa.web.servers import RunningServer, run_qa, running


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("changes") / "notes"
    root.mkdir()
    for name, text in (("ferry.md", "The ferry leaves at nine.\n"), ("train.md", "The train leaves at noon.\n")):
        (root / name).write_text(text)
        os.utime(root / name, (1_000_000_000, 1_000_000_000))
    run_qa(root, "index", ".")
    return root


@pytest.fixture
def folder(indexed: Path, tmp_path: Path) -> Path:
    """A copy of a small folder with its index."""
    return Path(shutil.copytree(indexed, tmp_path / "notes"))


@pytest.fixture
def following(folder: Path) -> Iterator[RunningServer]:
    with running(folder) as found:
        yield found


def sources(server: RunningServer, question: str) -> dict[str, tuple[str, str]]:
    """State and text of what is found, by path."""
    reply = server.api("ask", question=question, mode="keyword", rerank="false")
    return {one["source"]["path"]: (one["source"]["state"], one["text"].strip()) for one in reply.json["passages"]}


def until(server: RunningServer, question: str, wanted: dict[str, tuple[str, str]]) -> list[dict[str, Any]]:
    """Ask until the answer is the wanted one; all answers on the way."""
    seen: list[dict[str, Any]] = []
    for _ in range(200):
        seen.append(sources(server, question))
        if seen[-1] == wanted:
            return seen
        time.sleep(0.1)
    raise AssertionError(f"still {seen[-1]}")


def test_files_that_change_and_vanish_are_followed(following: RunningServer) -> None:
    """Until the index has followed, what is shown says that it changed, or that it is missing."""
    ferry = following.root / "ferry.md"
    old, new = "The ferry leaves at nine.", "The ferry leaves at ten."
    assert sources(following, "ferry") == {"ferry.md": ("verified", old)}
    ferry.write_text(f"{new}\n")
    on_the_way = until(following, "ferry", {"ferry.md": ("verified", new)})
    assert [one for one in on_the_way[:-1] if one != {"ferry.md": ("changed", old)}] == []
    ferry.unlink()
    on_the_way = until(following, "ferry", {})
    assert [one for one in on_the_way[:-1] if one != {"ferry.md": ("missing", new)}] == []
    (following.root / "bus.md").write_text("The bus leaves at one.\n")
    until(following, "bus", {"bus.md": ("verified", "The bus leaves at one.")})


def test_large_changes_are_said_once_and_wait(following: RunningServer) -> None:
    for number in range(70):
        (following.root / f"new{number}.md").write_text(f"Note {number}.\n")
    for _ in range(3):
        assert following.api("health").json["generation"] == 1
        time.sleep(1.2)
    code, said = following.stop()
    assert code == 0
    assert said.count("70 new or changed files are not indexed yet") == 1


def test_a_folder_that_is_moved_away_is_said_to_be_gone(following: RunningServer) -> None:
    """Not that it has no index, nor that what is gone still answers."""
    following.root.rename(following.root.with_name("moved"))
    time.sleep(2.2)
    reply = following.api("ask", question="ferry", rerank="false")
    assert (reply.status, reply.json["type"]) == (503, "/api/v1/docs#folder-unavailable")
    _, said = following.stop()
    assert "no longer exists: deleted, renamed or unmounted." in said
    assert not re.search("no index|as it is", said)


def test_settings_that_cannot_be_read_stop_nothing(following: RunningServer) -> None:
    """What was set before holds, and whoever runs the server is told once."""
    (following.root / "qa.toml").write_text("k = 1\n")
    for _ in range(200):
        if len(following.api("ask", question="leaves", rerank="false").json["passages"]) == 1:
            break
        time.sleep(0.1)
    (following.root / "qa.toml").write_text("colour = 7\n")
    for _ in range(3):
        time.sleep(1.2)
        assert len(following.api("ask", question="leaves", rerank="false").json["passages"]) == 1
    _, said = following.stop()
    assert said.count("unknown key 'colour'") == 1


def test_a_new_index_is_served_by_the_next_request(folder: Path) -> None:
    """Also where files are not looked at."""
    with running(folder, "--no-update") as server:
        (folder / "bus.md").write_text("The bus leaves at one.\n")
        assert sources(server, "bus") == {}
        run_qa(folder, "index", ".")
        assert sources(server, "bus") == {"bus.md": ("verified", "The bus leaves at one.")}
        shutil.rmtree(folder / ".qa")
        reply = server.api("ask", question="bus")
        assert (reply.status, reply.json["type"]) == (503, "/api/v1/docs#no-index")
        assert reply.headers["retry-after"]
        run_qa(folder, "index", ".")
        assert sources(server, "bus") == {"bus.md": ("verified", "The bus leaves at one.")}
