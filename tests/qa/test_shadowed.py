"""Scripts in a folder with files that have the names of our packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import REPOSITORY

# Like an installed qa, this checkout is found after the script's own folder.
FIND = f"import sys\nsys.path.append({str(REPOSITORY)!r})\n"
ASK = """
from qa import QAError, Retriever, build_index
build_index("notes")
with Retriever.open("notes") as retriever:
    print(retriever.search("When does the harbour close?")[0].text)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A script's folder, with a document that requires the reader process."""
    (tmp_path / "notes").mkdir()
    page = "<html><body><h1>Harbour</h1><p>The harbour closes at dusk.</p></body></html>"
    (tmp_path / "notes" / "a.html").write_text(page, encoding="utf-8")
    return tmp_path


def run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(FIND + code, encoding="utf-8")
    return subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kinds", [("module", "package"), ("folder", "module")])
def test_a_script_next_to_files_with_these_names_works(folder: Path, kinds: tuple[str, str]) -> None:
    for name, kind in zip(("index", "corpus"), kinds, strict=True):
        if kind == "module":
            (folder / f"{name}.py").write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
        else:
            (folder / name).mkdir()
        if kind == "package":
            (folder / name / "__init__.py").write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
    done = run(folder, ASK)
    assert "The harbour closes at dusk." in done.stdout, done.stderr


@pytest.mark.parametrize("name", ["index", "corpus"])
def test_a_conflict_with_an_imported_module_is_explained(folder: Path, name: str) -> None:
    (folder / f"{name}.py").write_text("", encoding="utf-8")
    done = run(folder, f"import {name}\nimport qa\n")
    *_, last = done.stderr.splitlines()
    assert last == (
        f"ImportError: qa includes a package named {name}, but {folder / name}.py is already imported under that name. "
        "Rename it, or run qa in a separate process."
    )


def test_our_own_package_may_already_be_imported(folder: Path) -> None:
    assert run(folder, "import index\nimport qa\nqa.Retriever\n").stderr == ""


def test_pool_processes_find_our_packages_too(folder: Path) -> None:
    """Spawned processes import the script again."""
    (folder / "index.py").write_text("raise SystemExit('the wrong one')\n", encoding="utf-8")
    code = (
        "import multiprocessing\nimport qa\n\n\ndef name(error):\n    return type(error), qa.BuildReport\n\n\n"
        "if __name__ == '__main__':\n    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(*pool.map(name, [qa.QAError('x')]))\n"
    )
    assert run(folder, code).stdout == "(<class 'corpus.errors.QAError'>, <class 'index.update.report.BuildReport'>)\n"
