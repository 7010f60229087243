"""No client is told where on the machine of the server anything is, whatever goes wrong there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa.web.service.private import public_body, without_folder
from tests.qa.web.servers import RunningServer, run_qa, running

ADDRESSES = (
    *("/", "/?q=ferry", "/?q=ferry&path=nothing/", "/?open=nothing.md", "/?like=nothing.md", "/source?open=nothing.md"),
    *("/api/v1/ask?question=ferry", "/api/v1/search?question=ferry", "/api/v1/similar?place=ferry.md"),
    *("/api/v1/topics", "/api/v1/show?place=ferry.md", "/api/v1/show?place=nothing.md", "/api/v1/status"),
    *("/api/v1/similar?place=nothing.md", "/api/v1/health", "/api/v1/docs", "/api/v1/openapi.json"),
    *("/page.png?file=ferry.md&page=1", "/page.png?file=nothing.pdf&page=1"),
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of a small folder."""
    root = tmp_path_factory.mktemp("private") / "notes"
    root.mkdir()
    (root / "ferry.md").write_text("The ferry leaves at nine.\n")
    run_qa(root, "index", ".")
    with running(root, "--no-update") as server:
        yield server


def answers(server: RunningServer) -> dict[str, int]:
    """The status of each address, whose answers name no folder of this machine."""
    found = {}
    for address in ADDRESSES:
        reply = server.get(address, {"Accept": "text/html"})
        whole = reply.body + repr(reply.headers).encode()
        for folder in (server.root.parent, Path.home(), Path(os.sep, "tmp")):
            assert f"{folder}/".encode() not in whole, address
        found[address] = reply.status
    return found


def test_neither_answers_nor_errors_name_folders(told: RunningServer) -> None:
    """Of a collection, and of what is left of it; what it is stands on the terminal."""
    root, index = told.root, told.root / ".qa"
    assert set(answers(told).values()) == {200, 400, 404}
    away = told.root.with_name("away")
    shutil.copytree(index, away)
    (index / "index.db").write_bytes(b"no database" * 1000)
    assert {answers(told)[address] for address in ADDRESSES if address.startswith("/api/v1/ask")} == {500}
    shutil.rmtree(index)
    assert answers(told)["/api/v1/ask?question=ferry"] == 503
    shutil.copytree(away, index)
    root.rename(root.with_name("moved"))
    answers(told)
    root.with_name("moved").rename(root)
    assert answers(told)["/api/v1/ask?question=ferry"] == 200
    _, said = told.stop()
    for reason in (f"{index}/index.db is damaged", f"there is no index in {index}"):
        assert reason in said, said


def test_a_folder_in_an_answer_is_its_name(tmp_path: Path) -> None:
    """Of the model, and where a link leads to the collection."""
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
    text = {"passages": [{"text": f"{link}"}], "index": {"passages": 7, "model": "sentence-transformers/some"}}
    assert public_body(text, link) == text
