"""Scripts beside files that are named as our packages are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import REPOSITORY

# As an installed qa is found: behind the script's own folder.
FIND = f"import sys\nsys.path.append({str(REPOSITORY)!r})\n"
ASK = """
from qa import QAError, Retriever, build_index
build_index("notes")
with Retriever.open("notes") as retriever:
    print(retriever.ask("When does the harbour close?").answer.text)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A script's folder, with documents that the reader process is needed for."""
    (tmp_path / "notes").mkdir()
    page = "<html><body><h1>Harbour</h1><p>The harbour closes at dusk.</p></body></html>"
    (tmp_path / "notes" / "a.html").write_text(page, encoding="utf-8")
    return tmp_path


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(FIND + code, encoding="utf-8")
    return subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", ["modules", "packages", "folders"])
def test_a_script_beside_files_of_these_names_works(folder: Path, kind: str) -> None:
    for name in ("index", "corpus"):
        if kind == "modules":
            (folder / f"{name}.py").write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
        else:
            (folder / name).mkdir()
        if kind == "packages":
            (folder / name / "__init__.py").write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
    done = run(folder, ASK)
    assert done.stdout.removeprefix("at ") == "dusk\n", done.stderr


@pytest.mark.parametrize("name", ["index", "corpus"])
def test_a_module_that_is_already_there_is_explained(folder: Path, name: str) -> None:
    (folder / f"{name}.py").write_text("", encoding="utf-8")
    done = run(folder, f"import {name}\nimport qa\n")
    *_, last = done.stderr.splitlines()
    assert last == (
        f"ImportError: qa has a package of its own named {name}, and {folder / name}.py was imported under that name "
        "before. Rename that one, or use qa in a process of its own."
    )


def test_our_own_package_may_be_there_already(folder: Path) -> None:
    assert run(folder, "import index\nimport qa\nqa.Retriever\n").stderr == ""


def test_a_process_of_a_pool_finds_them_too(folder: Path) -> None:
    """Where processes are started afresh, they import the script again."""
    (folder / "index.py").write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
    code = (
        "import multiprocessing\nimport qa\n\n\ndef name(error):\n    return type(error), qa.BuildReport\n\n\n"
        "if __name__ == '__main__':\n    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(*pool.map(name, [qa.QAError('x')]))\n"
    )
    assert run(folder, code).stdout == "(<class 'corpus.errors.QAError'>, <class 'index.update.report.BuildReport'>)\n"
