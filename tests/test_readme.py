"""README.md is a promise: its commands run, its session looks like that, its code works."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks import plot, tables
from tests.paths import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a fresh clone, and beside it notes and questions of a user's own."""
    folder = tmp_path_factory.mktemp("readme")
    ignore = shutil.ignore_patterns(".qa")
    shutil.copytree(REPOSITORY / "corpus" / "sample", folder / "corpus" / "sample", ignore=ignore)
    shutil.copytree(REPOSITORY / "corpus" / "sample", folder / "notes", ignore=ignore)
    (folder / "notes" / "2025").mkdir()
    (folder / "notes" / "2025" / "questions.txt").write_text("who won?\nwhere was it?\n", encoding="utf-8")
    (folder / "papers").mkdir()
    (folder / "papers" / "one.txt").write_text("One paper.\n", encoding="utf-8")
    (folder / "talk.md").write_text("# Talk\n\nOf papers.\n", encoding="utf-8")
    known = {"id": "1", "question": "Who won the test of time award?", "file": "awards.md"}
    (folder / "notes" / "2025" / "questions.jsonl").write_text(json.dumps(known) + "\n", encoding="utf-8")
    return folder


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell command in which `qa` and `python` are this checkout's."""
    python = shlex.quote(sys.executable)
    script = f'qa() {{ {python} -m qa "$@"; }}; jq() {{ cat; }}; python() {{ {python} "$@"; }}\n{command}'
    environment = {
        "PYTHONPATH": str(REPOSITORY),
        "HOME": str(Path.home()),
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
    }
    return subprocess.run(
        ["bash", "-c", script], check=False, cwd=folder, env=environment, capture_output=True, text=True
    )


def test_the_first_session_is_what_a_newcomer_sees(place: Path) -> None:
    """Word for word, but for the seconds and for what follows the first passage."""
    command, *shown = blocks("console")[0].splitlines()
    asked = command.partition("&& ")[2]
    assert command.startswith("$ pip install -c constraints.txt . && ")
    done = run(asked, place)
    assert done.returncode == 0
    # Once the model is prepared for a machine, the line that says so does not come again.
    once = "qa: preparing "
    assert shown[0].startswith(once)
    shown = [line for line in shown if not line.startswith(once)]
    said = [line for line in (done.stderr + done.stdout).splitlines() if not line.startswith(once)]
    assert shown[-1] == "…"
    seconds = re.compile(r"[\d.]+ s$")
    assert [seconds.sub("", line) for line in said[: len(shown) - 1]] == [seconds.sub("", line) for line in shown[:-1]]


def test_measuring_looks_as_shown(place: Path) -> None:
    """The rows and columns; figures differ in the third digit from one kind of processor to another."""
    command, *shown = next(text for text in blocks("text") if "qa eval" in text).splitlines()
    shutil.copytree(REPOSITORY / "tests", place / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    done = run(command.removeprefix("$ "), place)
    assert done.returncode == 0, done.stderr
    without_figures = re.compile(r"[+-]?\d[\d.]*")
    said = {" ".join(without_figures.sub("#", line).split()) for line in done.stdout.splitlines()}
    rows = [" ".join(without_figures.sub("#", line).split()) for line in shown if line not in ("", "…")]
    assert [row for row in rows if row not in said and not row.startswith("hit@# # # #")] == []
    assert len(rows) == 8


def test_every_command_shown_runs(place: Path) -> None:
    commands = [line[2:].partition(" #")[0].strip() for line in blocks("console")[1].splitlines()]
    assert len(commands) == 12
    # What comes after `cd` is asked from there.
    script = "\n".join(f'( {line} ) || echo "exit $? of {shlex.quote(line)[1:-1]}"' for line in commands[3:])
    done = run(f"set -e\n{commands[0]}\n{commands[1]}\n{commands[2]} || true\n{script}\ncat answers.jsonl", place)
    assert done.returncode == 0, done.stderr
    # Exit 1 says that nothing was found, which is an answer.
    assert re.findall(r"exit (?!1 )\d+ of .*", done.stdout) == []
    assert done.stdout.count('"version": 1') == 3
    assert "is intact" in done.stdout
    assert "1 question (1 answerable) over " in done.stdout


def test_the_code_shown_works(place: Path) -> None:
    (code,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=place,
        env={"PYTHONPATH": str(REPOSITORY), "HOME": str(Path.home())},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("27 documents, ")
    assert "Adam: A Method for Stochastic" in lines[1]
    assert "awards.md:12-16 ICLR 2025 awards › Test of time › Winner: Adam verified" in done.stdout


def test_the_gate_runs_the_second_command() -> None:
    gate = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert "grep -m1 -F '&& pytest' README.md" in gate
    assert 'pip install -c constraints.txt -e ".[test]" && pytest' in README


def test_the_tables_are_those_of_the_measurements() -> None:
    """Written by `python -m tests.benchmarks.tables`, not by hand."""
    assert tables.filled(README) == README
    drawn = (tables.RESULTS / "scale.svg").read_text(encoding="utf-8")
    assert drawn == plot.drawing(tables.read("scale.json"))
    assert all(f"<!-- {name} -->" in README for name in tables.TABLES)
