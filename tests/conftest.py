"""`pytest -m trust` selects the robustness tests."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

from corpus.loading import prefetch, sandbox
from corpus.loading.sandbox import Sandbox
from tests.paths import REPOSITORY, SAMPLE

# No property test fails for being slow.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
# No test, nor any process that it starts, depends on the settings of the user who runs it.
os.environ["XDG_CONFIG_HOME"] = os.devnull
# Several processes share the cores, so idle threads of torch and FAISS should sleep: spinning takes half the time.
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"

# Placed first so that one process runs all of these, and computes answers and imports torch and its libraries once:
# other processes steal from the end.
FIRST = (
    *("tests/test_sample.py", "tests/index/encoder/", "tests/index/compiled/", "tests/benchmarks/reader/"),
    *("tests/robustness/test_changed_model.py", "tests/robustness/test_untrusted_models.py"),
)
TRUST = ("tests/robustness/", "tests/index/test_machine.py", "tests/index/integrity/test_salvage.py")


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample collection, indexed once for all processes by the first session of README.md; do not change it.

    What the session printed is in `first-session.txt`, two folders up.
    """
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with FileLock(folder / "sample.lock"):
        if not (root := folder / "corpus" / "sample").exists():
            shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(".qa"))
            readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
            (session,) = re.findall(r"^\$ pip install .* && qa (.*)$", readme, re.MULTILINE)
            command = [sys.executable, "-m", "qa", *shlex.split(session)]
            # Programs find this checkout and the user's models.
            environment = {"PYTHONPATH": str(REPOSITORY), "HOME": str(Path.home()), "LC_ALL": "C.UTF-8"}
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            (folder / "first-session.txt").write_text(done.stderr + done.stdout, encoding="utf-8")
    return root


class _KeptSandbox(Sandbox):
    """A reading process that outlives whoever closes it."""

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture(scope="module")
def one_reader() -> Iterator[None]:
    """One process reads all files of a module's tests that need one: to start another takes a tenth of a second."""
    kept = _KeptSandbox()
    with pytest.MonkeyPatch.context() as patch:
        for module in (sandbox, prefetch):
            patch.setattr(module, "Sandbox", lambda: kept)
        yield
    Sandbox.close(kept)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark robustness tests by their path, and run the modules with the most shared set-up first."""
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))
    for item in items:
        if item.nodeid.startswith(TRUST):
            item.add_marker(pytest.mark.trust)
