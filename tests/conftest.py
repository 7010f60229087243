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

# Property tests may be slow.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
# Neither tests nor the processes that they start depend on the user's settings.
os.environ["XDG_CONFIG_HOME"] = os.devnull
# Several processes share the cores, so idle threads of torch and FAISS should sleep: spinning takes half the time.
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"

# These come first so that a single process runs them all, and imports torch and computes the answers once: other
# processes steal tests from the end.
FIRST = (
    *("tests/test_sample.py", "tests/index/encoder/", "tests/index/compiled/", "tests/benchmarks/reader/"),
    *("tests/robustness/test_changed_model.py", "tests/robustness/test_untrusted_models.py"),
)
TRUST = ("tests/robustness/", "tests/index/test_machine.py", "tests/index/integrity/test_salvage.py")


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample collection, indexed once for all processes by the first session of README.md; do not change it.

    The session's output is in `first-session.txt`, two folders up.
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


class _SharedSandbox(Sandbox):
    """A reader process that stays open when it is closed."""

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture(scope="module")
def shared_reader_process() -> Iterator[None]:
    """A process that reads all files for the tests of a module: starting another takes a tenth of a second."""
    shared = _SharedSandbox()
    with pytest.MonkeyPatch.context() as patch:
        for module in (sandbox, prefetch):
            patch.setattr(module, "Sandbox", lambda: shared)
        yield
    Sandbox.close(shared)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark robustness tests by their path, and run the modules with the most shared set-up first."""
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))
    for item in items:
        if item.nodeid.startswith(TRUST):
            item.add_marker(pytest.mark.trust)
