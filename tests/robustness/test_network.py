"""No command uses the network; each runs with the real model, in an empty home, without a network."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from tests.robustness.program import Program, has_namespaces

HERON = "where does the heron wait?"


def test_socket_use_is_detected(program: Program, tmp_path: Path) -> None:
    """Looking for a missing model on the hub is recorded, so the tests below can rely on the count."""
    (tmp_path / "a.md").write_text("Words.\n", encoding="utf-8")
    done = program.run("index", str(tmp_path), "--model", "nobody/nothing", namespace="-rn", timeout=600)
    assert done.returncode == 5
    assert done.stderr.count(b"\n") == 1
    assert b"the model nobody/nothing is not on this machine" in done.stderr
    assert any(line.startswith(("socket.getaddrinfo", "socket.connect")) for line in program.sockets())
    assert not (tmp_path / ".qa").exists()


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (["ask", HERON], b"heron"),
        (["ask", "--batch", "-"], b"train.txt"),
        (["show", "birds.md:3"], b"heron"),
        *((["status"], b""), (["check"], b""), (["check", "--repair"], b"")),
        # The fixture checks the same for the first build, which compiles the model.
        (["index", "--full", "--json"], b'"reused": 3'),
    ],
)
def test_no_command_opens_a_socket(program: Program, indexed: Path, args: list[str], shown: bytes) -> None:
    done = program.run(*args, cwd=indexed, namespace="-rn", stdin=b"when is the train?\n")
    assert (done.returncode, program.sockets()) == (0, []), done.stderr
    assert shown in done.stdout


def test_a_repair_opens_no_socket(program: Program, indexed: Path, tmp_path: Path) -> None:
    """A damaged index is rebuilt with the installed model."""
    (tmp_path / "a.md").write_text("# T\n\nThe dipper sings.\n", encoding="utf-8")
    assert program.run("index", str(tmp_path)).returncode == 0
    database = tmp_path / ".qa" / "index.db"
    database.write_bytes(database.read_bytes().replace(b"dipper sings", b"dipper sinks"))
    assert program.run("check", "--index", str(tmp_path)).returncode == 4
    done = program.run("check", "--repair", "--index", str(tmp_path), namespace="-rn")
    assert (done.returncode, program.sockets()) == (0, []), done.stderr
    assert b"\nRepaired: " in done.stdout


@pytest.mark.skipif(not has_namespaces("-rn"), reason="needs a network namespace of its own")
def test_network_tests_have_no_network() -> None:
    """Not even localhost can be reached: it has no address or no route."""
    code = (
        "import socket\ntry: socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as error: print(error.errno)"
    )
    done = subprocess.run(["unshare", "-rn", sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) in {errno.EADDRNOTAVAIL, errno.ENETUNREACH}
