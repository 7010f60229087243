"""A small index that tests may damage, and the program with its own home folder and index."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

import pytest
from filelock import FileLock

from tests.robustness.process import value_of
from tests.robustness.program import Program, backdate
from tests.robustness.samples import Sample, make_sample


@pytest.fixture(scope="session")
def session_sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """A sample with every kind of segment."""
    return value_of(partial(make_sample, "compressed", tmp_path_factory.mktemp("foreign") / "corpus", documents=12))


@pytest.fixture
def sample(session_sample: Sample) -> Sample:
    """The sample in its original state, whatever the previous test did to it."""
    session_sample.restore()
    return session_sample


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with compiled models, and three documents, indexed without a network where that is possible.

    Made once for all test processes, each of which works with copies.
    """
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with FileLock(folder / "built.lock"):
        if not (built := folder / "built").exists():
            root, program = built / "notes", Program(built / "home")
            for path in (root / "sub", program.home):
                path.mkdir(parents=True)
            (root / "birds.md").write_text("# Birds\n\nThe heron waits at the weir until noon.\n", encoding="utf-8")
            (root / "sub" / "otters.md").write_text("# Otters\n\nThe otter sleeps by the old lock.\n", encoding="utf-8")
            (root / "train.txt").write_text("The train to Lyon leaves at nine.\n", encoding="utf-8")
            backdate(root)
            done = program.run("index", str(root), namespace="-rn")
            assert done.returncode == 0, done.stderr
            assert program.socket_events() == []
    return built


@pytest.fixture(scope="session")
def program(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The program with the real model and a cache of its own."""
    # Hard links, as the models are large; the cache replaces files and never changes them.
    home = tmp_path_factory.mktemp("program") / "home"
    return Program(shutil.copytree(built / "home", home, copy_function=os.link))


@pytest.fixture(scope="session")
def indexed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents and their index; tests must not change it."""
    return shutil.copytree(built / "notes", tmp_path_factory.mktemp("collection") / "notes")
