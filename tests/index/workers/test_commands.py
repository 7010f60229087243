"""`qa index` with the real model in worker processes, and wrong usage."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from index.encoder.load import load_encoder
from index.update.report import Request
from index.update.update import update_index
from qa.cli import main
from tests.index.workers.builds import contents
from tests.paths import REPOSITORY


def test_processes_embed_with_the_real_model(root: Path, tmp_path: Path) -> None:
    """The vectors are those of a build without workers, bit for bit."""
    command = [sys.executable, "-m", "qa", "index", str(root), "--workers", "2", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert json.loads(done.stdout)["embedded"] == 4
    assert done.stderr == ""
    embedded_by_workers = contents(root)
    (root / ".qa").rename(tmp_path / "old")
    update_index(Request(root, load_encoder()))
    assert contents(root) == embedded_by_workers


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "0"], "--workers"),
        (["--workers", "2", "--dask", "tcp://127.0.0.1:1"], "choose one"),
        (["--dask", "nowhere"], "there is no Dask scheduler at nowhere"),
    ],
)
def test_invalid_options_are_wrong_usage(root: Path, options: list[str], message: str) -> None:
    """No index is created."""
    done = CliRunner().invoke(main.app, ["index", str(root), *options], prog_name="qa")
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (root / ".qa" / "index.db").exists()
