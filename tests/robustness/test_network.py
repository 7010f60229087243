"""No command uses the network; each runs with the real model, in an empty home, without a network."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.qa.commands import qa
from tests.robustness.program import Program, has_namespaces

HERON = "where does the heron wait?"


def test_socket_use_is_detected(program: Program, tmp_path: Path) -> None:
    """Looking for a missing model on the hub is recorded, so the tests below would notice it."""
    (tmp_path / "a.md").write_text("Words.\n", encoding="utf-8")
    done = program.run("index", str(tmp_path), "--model", "nobody/nothing", namespace="-rn")
    assert done.returncode == 5
    assert done.stderr.count(b"\n") == 1
    assert b"the model nobody/nothing is not on this machine" in done.stderr
    assert any(line.startswith(("socket.getaddrinfo", "socket.connect")) for line in program.socket_events())
    assert not (tmp_path / ".qa").exists()


def test_no_command_opens_a_socket(program: Program, indexed: Path) -> None:
    """The first build, which compiles the model, is checked by its fixture."""
    more = (["show", "birds.md:3"], ["status"], ["check"], ["check", "--repair"], ["index", "--full", "--json"])
    before = [["ask", HERON], *more]
    done = program.run(
        "ask", "--batch", "-", before=before, cwd=indexed, namespace="-rn", stdin=b"when is the train?\n"
    )
    assert (done.returncode, program.socket_events()) == (0, []), done.stderr
    for shown in (b"birds.md:1-3", b"> 3  The heron", b'"reused": 3', b"train.txt"):
        assert shown in done.stdout


def test_a_repair_opens_no_socket(program: Program, indexed: Path, tmp_path: Path) -> None:
    """A damaged index is rebuilt with the installed model."""
    root = shutil.copytree(indexed, tmp_path / "notes")
    database = root / ".qa" / "index.db"
    database.write_bytes(database.read_bytes().replace(b"otter sleeps", b"otter sweeps"))
    assert qa("check", "--index", root).exit_code == 4
    done = program.run("check", "--repair", "--index", str(root), namespace="-rn")
    assert (done.returncode, program.socket_events()) == (0, []), done.stderr
    assert b"\nRepaired: " in done.stdout


@pytest.mark.skipif(not has_namespaces("-rn"), reason="needs a network namespace of its own")
def test_network_tests_have_no_network() -> None:
    """Not even localhost can be reached: it has no address or no route."""
    code = (
        "import socket\ntry: socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as error: print(error.errno)"
    )
    done = subprocess.run(["unshare", "-rn", sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) in {errno.EADDRNOTAVAIL, errno.ENETUNREACH}
