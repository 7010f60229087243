"""One cache of the compiled model for all tests here: bare at first, made by whichever needs it first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.program import Program, make_old


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The program with the real model and no cache but its own."""
    return Program(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory, program: Program) -> Path:
    """Three documents and their index, made without a network where that can be had; tests leave it as it is."""
    root = tmp_path_factory.mktemp("collection") / "notes"
    (root / "sub").mkdir(parents=True)
    (root / "birds.md").write_text("# Birds\n\nThe heron waits at the weir until noon.\n", encoding="utf-8")
    (root / "sub" / "otters.md").write_text("# Otters\n\nThe otter sleeps by the old lock.\n", encoding="utf-8")
    (root / "train.txt").write_text("The train to Lyon leaves at nine.\n", encoding="utf-8")
    make_old(root)
    done = program.run("index", str(root), namespace="-rn")
    assert done.returncode == 0, done.stderr
    assert program.sockets() == []
    return root
