"""The interfaces work with a collection in PostgreSQL as with one in files, with the real models."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa import build_index
from tests.postgres_server import Server
from tests.qa.conversation.terminal import READY, Terminal
from tests.qa.web.servers import running

QUESTION = "When does the ferry leave?"


@pytest.fixture(scope="module")
def address(server: Server) -> str:
    return f"{server.url}#faces"


@pytest.fixture(scope="module")
def ferries(tmp_path_factory: pytest.TempPathFactory, address: str) -> Path:
    root = tmp_path_factory.mktemp("faces") / "ferries"
    root.mkdir()
    (root / "ferry.md").write_text("# Ferries\n\nThe ferry to the island leaves at nine.\n")
    (root / "train.md").write_text("# Trains\n\nThe train to the lake takes an hour.\n")
    build_index(root, store=address)
    return root


def test_the_server_follows_updates_and_reconnects(ferries: Path, server: Server) -> None:
    """It does not reveal the address of the store."""
    with running(ferries) as served:
        result = served.api("ask", question=QUESTION).json
        assert result["answer"]["text"].endswith("nine")
        assert result["passages"][0]["source"]["state"] == "verified"
        status = served.api("status")
        assert (status.json["files"], server.url.encode() in status.body) == (2, False)
        assert b"leaves at nine" in served.get("/?q=ferry&open=ferry.md").body
        assert served.api("similar", place="ferry.md").json["passages"][0]["source"]["path"] == "train.md"
        (ferries / "bus.md").write_text("The bus to the hill is yellow.\n")
        build_index(ferries)
        result = served.api("search", question="What colour is the bus?", k=1).json
        assert result["passages"][0]["source"]["path"] == "bus.md"
        server.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        assert served.api("ask", question=QUESTION).json["answer"]["text"].endswith("nine")
        assert served.stop() == (0, f"Serving {ferries} (Ctrl-C to stop)\n")


def test_a_conversation_uses_only_the_store(ferries: Path, address: str, tmp_path: Path) -> None:
    """It ignores files in the working directory, and shows passages as indexed."""
    (tmp_path / "ferry.md").write_text("Another file.\n")
    terminal = Terminal("ask", "--store", address, cwd=tmp_path, environ={"XDG_STATE_HOME": str(tmp_path)})
    assert f"{address}: " in terminal.until(READY)
    answer = terminal.say(QUESTION)
    assert "nine [1]" in answer
    assert "not indexed" not in answer
    for line in ("1", "/open 1"):
        shown = terminal.say(line)
        assert "ferry.md  its file is not on this machine, or cannot be read; this is the indexed text" in shown
        assert "3  The ferry to the island leaves at nine." in shown
    terminal.type("\x04")
    assert terminal.close() == 0
