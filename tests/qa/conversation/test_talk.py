"""Conversations on a terminal with the real models, and the follow-up questions of a test set."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa import Retriever
from qa.conversation.history import LineHistory
from tests.benchmarks import follow_ups
from tests.paths import REPOSITORY
from tests.qa.conversation.terminal import READY, Terminal

AWARD = "What won the ICLR 2025 test of time award?"
WINNER = "Adam: A Method for Stochastic Optimization"


@pytest.fixture(scope="module")
def sample(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(sample, tmp_path_factory.mktemp("talk") / "sample")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def process(sample: Path, state: Path) -> Iterator[Terminal]:
    """One process for all tests."""
    environ = {"XDG_STATE_HOME": str(state), "VISUAL": "", "EDITOR": "true", "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    before = "from tests.qa.remembered import *\nfor one in REMEMBERED: setattr(*one)"
    terminal = Terminal("ask", "-k", "4", cwd=sample, environ=environ, before=before)
    greeting = terminal.until(READY)
    assert ": 27 documents, 142 passages. Ask away; /help lists commands, Ctrl-D ends." in greeting
    yield terminal
    terminal.type("\x04")
    assert terminal.close() == 0


@pytest.fixture
def terminal(process: Terminal) -> Terminal:
    """A new conversation."""
    process.say("/new")
    return process


def output_lines(text: str) -> list[str]:
    """Return the lines below the typed line."""
    return [line.rstrip() for line in text.removesuffix(READY).splitlines()[1:] if line.strip()]


def test_an_answer_is_brief_and_a_number_opens_a_passage(terminal: Terminal) -> None:
    """The first passage is shown in full, the others by their citations."""
    lines = output_lines(terminal.say(AWARD))
    assert lines[0] == f"{WINNER} [1]"
    assert lines[3].startswith("Confidence: ")
    assert lines[4] == "[1] awards.md:12-16  ICLR 2025 awards › Test of time › Winner: Adam"
    assert [line[:3] for line in lines[-3:]] == ["[2]", "[3]", "[4]"]
    assert lines[5].startswith("    The ICLR 2025 test of time award was won by")
    opened = output_lines(terminal.say("1"))
    assert opened[0] == "awards.md  as indexed"
    assert any(line.startswith("> 14  The ICLR 2025 test of time award was won by") for line in opened)
    # With its context.
    assert any(line.startswith("   9  The prize looks back") for line in opened)
    assert output_lines(terminal.say("9")) == ["qa: there is no passage 9; the last answer has 4."]
    assert output_lines(terminal.say("/open 1")) == ["Opened awards.md with true."]


def test_a_completed_follow_up_is_shown(terminal: Terminal) -> None:
    terminal.say("Who gave the opening keynote?")
    lines = output_lines(terminal.say("what else did he do?"))
    assert lines[0] == "Asked: what else did Zico Kolter do?"
    assert "Kolter" in "\n".join(lines[1:])
    terminal.say("/new")
    assert not output_lines(terminal.say("what else did he do?"))[0].startswith("Asked:")


def test_commands_change_how_questions_are_asked(terminal: Terminal) -> None:
    """Changes last until they are undone; the prompt shows which files are searched."""
    assert output_lines(terminal.say("help")) == output_lines(terminal.say("/help"))
    terminal.say("/path talks/")
    # An invalid value changes nothing.
    assert "Similar: talks/" in terminal.say("/path tlaks/")
    answer = terminal.say("Adam")
    assert "talks/> Adam" in answer
    assert [line for line in output_lines(answer) if line.startswith("[") and "talks/" in line]
    assert not [line for line in output_lines(answer) if line.startswith("[") and "talks/" not in line]
    terminal.say("/path")
    terminal.say("/k 2")
    terminal.say("/mode keyword")
    terminal.say("/json")
    answer = json.loads(next(line for line in terminal.say("Kingma").splitlines() if line.startswith("{")))
    assert (len(answer["passages"]), answer["question"]) == (2, "Kingma")
    terminal.say("/json")
    terminal.say("/mode hybrid")
    assert output_lines(terminal.say("/k 4")) == []
    assert len([line for line in output_lines(terminal.say(AWARD)) if line.startswith("[")]) == 4


def test_after_an_error_or_ctrl_c_the_conversation_goes_on(terminal: Terminal) -> None:
    """An error is one line, and Ctrl-C drops the line."""
    for line, message in {
        "/nope": "no command /nope. Commands: /help, /json, /k, /mode, /new, /open, /path, /show, /topic.",
        "/k many": "/k needs a number from 1 to 1,000, such as /k 8.",
        "/k 000000005123": "/k needs a number from 1 to 1,000, such as /k 8.",
        "/mode best": "/mode takes hybrid, dense or keyword.",
        "/topic 99": "there is no topic 99; `qa topics` lists them.",
        "/open": "expected the number of a passage, or a place such as awards.md:12.",
        "/show nothing.md": "nothing.md is not in the collection",
    }.items():
        assert output_lines(terminal.say(line))[0].startswith(f"qa: {message}")
    terminal.type("what is thi\x03")
    terminal.until(READY)
    assert f"{WINNER} [1]" in terminal.say(AWARD)


def test_changes_to_the_files_are_noticed_between_questions(terminal: Terminal, sample: Path) -> None:
    (sample / "mascot.md").write_text("# Mascot\n\nThe mascot of the conference is a quokka named Bob.\n")
    lines = output_lines(terminal.say("What is the mascot of the conference?"))
    assert lines[0].endswith("Index updated: 1 file added")
    assert "quokka" in "\n".join(lines[:4])
    (sample / "mascot.md").unlink()
    answer = terminal.say("What is the mascot of the conference?")
    assert "Index updated: 1 file removed" in answer
    assert "quokka" not in answer


def test_typed_lines_are_kept_in_a_private_history(terminal: Terminal, state: Path) -> None:
    """The up arrow brings them back; a line that begins with a blank is not kept."""
    file = state / "qa" / "history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "/new" in file.read_text().splitlines()
    terminal.say("/k first")
    terminal.say(" /k secret")
    assert "secret" not in file.read_text()
    terminal.say("/new")
    terminal.type("\x1b[A\x1b[A\x1b[A")
    terminal.type("\r")
    terminal.until(READY)
    assert file.read_text().endswith("/k first\n/new\n/k first\n")


def test_without_prompt_toolkit_lines_are_read_plainly(sample: Path, tmp_path: Path) -> None:
    """The history is the same; Ctrl-C stops a slow question, and `exit` ends the conversation."""
    (tmp_path / "qa").mkdir()
    (tmp_path / "qa" / "history").write_text("an earlier one\n")
    slow = (
        "import sys, time; sys.modules['prompt_toolkit'] = None\n"
        "from qa.conversation import conversation\n"
        "def wait(*_): print('asking', flush=True); time.sleep(100)\n"
        "next_turn = conversation.next_turn\n"
        "conversation.next_turn = lambda line, previous: wait() if line == 'slow' else next_turn(line, previous)"
    )
    terminal = Terminal("ask", str(sample) + "/", cwd=tmp_path, environ={"XDG_STATE_HOME": str(tmp_path)}, before=slow)
    terminal.until(r"ends\.\s+> ")
    terminal.type("slow\r")
    terminal.until("asking")
    terminal.type("\x03")
    assert "qa: interrupted" in terminal.until(r"interrupted\s+> ")
    terminal.type(f"{AWARD}\r")
    assert f"{WINNER} [1]" in terminal.until(r"\[5\] .*\s+> ")
    terminal.type("exit\r")
    assert terminal.close() == 0
    assert (tmp_path / "qa" / "history").read_text() == f"an earlier one\nslow\n{AWARD}\nexit\n"


def test_a_history_that_cannot_be_written_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = LineHistory(tmp_path / "file" / "history")
    history.add("one\nline\x1b")
    history.add("one line\x1b")
    assert history.lines == ["one line\x1b"]


def test_follow_ups_find_their_passages(sample: Path) -> None:
    """As typed they find 20 and 31, without the reader; `python -m tests.benchmarks.follow_ups` uses the reader."""
    rows = follow_ups.read()
    questions = [(row.completed, row.evidence) for row in rows if row.evidence]
    with Retriever.open(sample) as retriever:
        first, in_top = follow_ups.count_found(retriever, questions, rerank=False)
    assert (len(rows), len(questions)) == (60, 50)
    assert first >= 36
    assert in_top >= 44
    assert all(row.completed == row.alone for row in rows if row.evidence is None)


def test_command_line_question_loads_no_other_interfaces(sample: Path) -> None:
    """Installed extras are not imported, nor is FAISS unless vectors are compressed."""
    program = (
        "import sys\nfrom qa.cli.main import app\n"
        "try: app(['ask', sys.argv[1], 'who won the award?'], prog_name='qa')\nexcept SystemExit: pass\n"
        "names = [name for name, module in sys.modules.items() if module is not None]\n"
        "print(sorted({name.partition('.')[0] for name in names} & {'prompt_toolkit', 'readline', 'mcp', 'pydantic', "
        "'anyio', 'starlette', 'fastapi', 'uvicorn', 'jinja2', 'httpx', 'httpx2', 'langchain_core', 'llama_index', "
        "'haystack', 'asyncio', 'torch', 'transformers', 'sentence_transformers', 'huggingface_hub', "
        "'openvino_telemetry', 'sklearn', 'faiss'} | {name for name in names if name.startswith(("
        "'qa.conversation', 'qa.web', 'qa.mcp', 'qa.integrations', 'qa.explore.'))}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, f"{sample}/"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert "Adam" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
