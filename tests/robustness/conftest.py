"""A small index that tests may damage, and the program with its own home folder and index."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.robustness.process import value_of
from tests.robustness.program import Program, make_old
from tests.robustness.samples import Sample, make


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return value_of(partial(make, "plain", tmp_path_factory.mktemp("foreign") / "corpus", documents=12))


@pytest.fixture
def sample(made: Sample) -> Sample:
    """The index in its original state, whatever the previous test did to it."""
    made.lay_out()
    return made


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The program with the real model and a cache of its own."""
    return Program(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory, program: Program) -> Path:
    """Three documents and their index, built without a network if possible; tests must not change it."""
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
