"""Responses never reveal folders of the server's machine, whatever goes wrong there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa import build_index
from qa.collection.settings import user_file
from qa.web.service.private import public_body, without_folder
from tests.qa.web.servers import RunningServer, running

ADDRESSES = (
    *("/", "/?q=ferry", "/?q=ferry&path=nothing/", "/?open=nothing.md", "/?like=nothing.md", "/source?open=nothing.md"),
    *("/api/v1/ask?question=ferry", "/api/v1/search?question=ferry", "/api/v1/similar?place=ferry.md"),
    *("/api/v1/topics", "/api/v1/show?place=ferry.md", "/api/v1/show?place=nothing.md", "/api/v1/status"),
    *("/api/v1/similar?place=nothing.md", "/api/v1/health", "/api/v1/docs", "/api/v1/openapi.json"),
    *("/page.png?file=ferry.md&page=1", "/page.png?file=nothing.pdf&page=1"),
)


@pytest.fixture(scope="module")
def notes_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of a small folder."""
    root = tmp_path_factory.mktemp("private") / "notes"
    root.mkdir()
    (root / "ferry.md").write_text("The ferry leaves at nine.\n")
    build_index(root)
    with running(root, "--no-update") as server:
        yield server


def checked_statuses(server: RunningServer) -> dict[str, int]:
    """Return the status of each address, after checking that its response names no folder of this machine."""
    statuses = {}
    for address in ADDRESSES:
        reply = server.get(address, {"Accept": "text/html"})
        response = reply.body + repr(reply.headers).encode()
        for folder in (server.root.parent, Path.home(), Path(os.sep, "tmp")):
            assert f"{folder}/".encode() not in response, address
        statuses[address] = reply.status
    return statuses


def test_answers_and_errors_do_not_reveal_folders(notes_server: RunningServer) -> None:
    """The index may be intact, damaged or missing, or the folder gone; the terminal shows the details."""
    server, root, index = notes_server, notes_server.root, notes_server.root / ".qa"
    question = "/api/v1/ask?question=ferry"
    assert set(checked_statuses(server).values()) == {200, 400, 404}
    copy, moved = root.with_name("copy"), root.with_name("moved")
    shutil.copytree(index, copy)
    (index / "index.db").write_bytes(b"no database" * 1000)
    assert checked_statuses(server)[question] == 500
    shutil.rmtree(index)
    assert checked_statuses(server)[question] == 503
    shutil.copytree(copy, index)
    root.rename(moved)
    checked_statuses(server)
    moved.rename(root)
    assert checked_statuses(server)[question] == 200
    _, stderr = server.stop()
    for reason in (f"{index}/index.db is damaged", f"there is no index in {index}"):
        assert reason in stderr, stderr


def test_folders_in_responses_are_cut_to_their_names(tmp_path: Path) -> None:
    """This includes the model's folder; a link to the collection counts as the collection."""
    (tmp_path / "real").mkdir()
    (link := tmp_path / "notes").symlink_to(tmp_path / "real")
    assert without_folder(f"a is not in {link}, nor {tmp_path}/real/b", link) == "a is not in notes, nor notes/b"
    assert without_folder("/a is not in the collection /.", Path("/")) == "/a is not in the collection /."
    status = {"version": 1, "index": "postgresql://ida@db/library#notes", "model": "/home/ida/model", "passages": 7}
    status["changes"] = {"added": 0, "problem": f"no such folder: {link}."}
    assert public_body(status, link) == {
        "version": 1, "index": ".qa", "model": "model", "passages": 7,
        "changes": {"added": 0, "problem": "no such folder: notes."},
    }  # fmt: skip
    for settings in (f"{user_file()}: unknown key 'x'.", None):
        public = public_body({"settings": settings}, link)
        assert public == {"settings": settings and "config.toml: unknown key 'x'."}
    text = {"passages": [{"text": f"{link}"}], "index": {"passages": 7, "model": "sentence-transformers/some"}}
    assert public_body(text, link) == text
