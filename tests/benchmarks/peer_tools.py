"""The tools that `tests.benchmarks.peers` compares: their pins, their virtual environments, and running them.

This process stays small, because Linux counts the memory of a parent into the peak of its child.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.paths import REPOSITORY

_TORCH = "torch==2.13.0"  # installed first and pinned: a newer one may bring gigabytes for GPUs
_MODEL = (_TORCH, "transformers==5.23.0", "sentence-transformers==6.2.0")
_FAISS = "faiss-cpu==1.15.1"
_CHROMA = (*_MODEL, "chromadb==1.5.9", "onnx==1.23.2", "onnxscript==0.7.2")  # onnx: only to convert the model
_REPORTED_PACKAGES = ("faiss-cpu", "onnxruntime", "openvino", "sentence-transformers", "torch", "transformers")


class FailedError(Exception):
    """A command failed; the message is the last line it printed."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One of the tools compared.

    Attributes:
        name: Its name in the results.
        home: The name of its virtual environment and driver; qa runs from this checkout, in the current environment.
        package: Its distribution.
        pins: The packages to install, with versions.
        model: The model name for its driver; "" for the model's folder.
        quick: Whether it is qa without re-ranking, on the same store.
    """

    name: str
    home: str
    package: str
    pins: tuple[str, ...] = ()
    model: str = ""
    quick: bool = False

    @property
    def driver(self) -> str:
        """The script that runs the tool."""
        return str(Path(__file__).with_name("peer_drivers") / f"{self.home}_driver.py")

    def python(self, venvs: Path) -> str:
        """The interpreter that runs it."""
        return str(venvs / self.home / "bin" / "python") if self.pins else sys.executable


OURS = Tool("qa", "qa", "qa-passages")
QUICK = Tool("qa --no-rerank", "qa", "qa-passages", quick=True)
PEERS = (
    Tool("txtai", "txtai", "txtai", (*_MODEL, _FAISS, "txtai==9.14.0")),
    Tool("chroma", "chroma", "chromadb", _CHROMA),
    Tool("chroma-default", "chroma", "chromadb", _CHROMA, model="default"),
    Tool("llm", "llm", "llm", (*_MODEL, "llm==0.36", "llm-sentence-transformers==0.3.2")),
    Tool(
        "langchain",
        "langchain",
        "langchain-community",
        (*_MODEL, _FAISS, "langchain-community==0.4.2", "langchain-huggingface==1.2.3"),
    ),
)


@dataclass(frozen=True, slots=True)
class Process:
    """The cost of a process: wall-clock seconds, and peak resident memory in MiB."""

    seconds: float
    peak_mib: float


@dataclass(frozen=True, slots=True)
class Session:
    """The questions asked of a process that stays open: the milliseconds and passages of each."""

    milliseconds: list[float]
    answers: list[list[str]]


def install(tool: Tool, venvs: Path) -> None:
    """Create the virtual environment of a tool, unless it exists with the same pins.

    Raises:
        FailedError: pip failed.
    """
    folder, pins = venvs / tool.home, "\n".join(tool.pins)
    marker = folder / "peers-pins.txt"
    if marker.is_file() and marker.read_text(encoding="utf-8") == pins:
        return
    run([sys.executable, "-m", "venv", "--clear", str(folder)])
    for packages in ([_TORCH], tool.pins):
        run([tool.python(venvs), "-m", "pip", "install", "--quiet", *packages])
    marker.write_text(pins, encoding="utf-8")


def versions(tool: Tool, venvs: Path) -> dict[str, str]:
    """The versions of the tool and of the libraries that matter."""
    listed = json.loads(run([tool.python(venvs), "-m", "pip", "list", "--format", "json"]))
    return {entry["name"]: entry["version"] for entry in listed if entry["name"] in (tool.package, *_REPORTED_PACKAGES)}


def run(command: Sequence[str], **environment: str) -> str:
    """Run a command that is not measured, and return its stdout.

    Args:
        command: The program and its arguments.
        environment: Its complete environment; by default that of this process.

    Raises:
        FailedError: It failed.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment or None)
    if done.returncode:
        raise FailedError(last_line(done.stderr or done.stdout))
    return done.stdout


def wait_for(process: subprocess.Popen[Any], started: float, accepted: Sequence[int] = (0,)) -> Process:
    """Wait until a process ends, and return its cost since `started`, a value of `time.perf_counter`.

    Raises:
        FailedError: Its exit code is not accepted.
    """
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in accepted:
        raise FailedError(f"exit code {process.returncode}")
    return Process(seconds, usage.ru_maxrss / 1024)


def last_line(text: str) -> str:
    """The last line a program printed, or pip's last error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["no output"])[-1][:500]


_QA = (sys.executable, "-m", "qa")


class Bench:
    """The files and questions of one measurement.

    Args:
        venvs: The folder of the virtual environments.
        work: An empty folder for everything else.
        corpus: The documents, which are copied.
        questions: All questions; processes that answer only one get the first.

    Attributes:
        paths: The file of each passage.
        counts: Files and passages of the corpus.

    Raises:
        FailedError: A process failed: here qa, when it indexed the corpus; any method may raise it.
    """

    def __init__(self, venvs: Path, work: Path, corpus: Path, questions: Sequence[str]) -> None:
        self.venvs, self.work, self.questions = venvs, work, questions
        self.corpus, self.passages, self.cache = work / "corpus", work / "passages.jsonl", work / "cache"
        self.errors = work / "stderr"
        shutil.copytree(corpus, self.corpus, ignore=shutil.ignore_patterns(".qa"))
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        folders = {"HOME": str(work / "home"), "XDG_CACHE_HOME": str(self.cache), "HF_HUB_OFFLINE": "1"}
        no_telemetry = {"ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        self.environment = {**kept, **folders, **no_telemetry, "PYTHONPATH": str(REPOSITORY)}
        (work / "home").mkdir()
        (work / "stores").mkdir()
        exported = json.loads(self._run(OURS, "export", str(self.corpus), str(self.passages)))
        self.model: str = exported.pop("model")
        self.paths: dict[str, str] = exported.pop("paths")
        self.counts: dict[str, int] = exported

    def convert(self, tool: Tool) -> None:
        """Create the file that Chroma would download for its default model."""
        self._run(tool, "export", str(self.store(tool)), self.model)

    def store(self, tool: Tool) -> Path:
        """The folder that the tool writes."""
        return self.corpus / ".qa" if tool.home == OURS.home else self.work / "stores" / tool.name

    def index(self, tool: Tool) -> Process:
        """Build a tool's store from scratch."""
        shutil.rmtree(self.store(tool), ignore_errors=True)
        if tool is OURS:
            return self._run_timed([*_QA, "index", str(self.corpus)])[0]
        return self._run_timed([*self._driver(tool, "index"), str(self.passages)])[0]

    def ask(self, tool: Tool) -> Process:
        """Start a tool for one question."""
        question = self.questions[0]
        if tool.home != OURS.home:
            cost, printed = self._run_timed([*self._driver(tool, "ask"), question])
            _ids(printed.splitlines())
            return cost
        options = ["--index", str(self.corpus), "--json", *(["--no-rerank"] if tool.quick else [])]
        command = [*_QA, "ask", *options, "--", question]
        cost, printed = self._run_timed(command, accepted=(0, 1))  # 1: passages found, but no answer
        if not json.loads(printed)["passages"]:
            raise FailedError("no passage was printed")
        return cost

    def ask_warm(self, tool: Tool) -> Session:
        """Ask one process all questions, after a first one that is not counted."""
        session, pipe = Session([], []), subprocess.PIPE
        command, folder = self._driver(tool, "ask"), self.work
        with (
            self.errors.open("wb") as stderr,
            subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=stderr, env=self.environment, cwd=folder, text=True
            ) as process,
        ):
            assert process.stdin
            assert process.stdout
            try:
                for question in [self.questions[0], *self.questions]:
                    started = time.perf_counter()
                    process.stdin.write(json.dumps(question) + "\n")
                    process.stdin.flush()
                    session.answers.append(_ids(process.stdout))
                    session.milliseconds.append(1000 * (time.perf_counter() - started))
            except (FailedError, OSError) as error:
                process.kill()
                raise FailedError(f"{error}; {self._last_error()}") from error
        return Session(session.milliseconds[1:], session.answers[1:])

    def _driver(self, tool: Tool, action: str) -> list[str]:
        if tool.home == OURS.home:
            quick = ["--no-rerank"] if tool.quick else []
            return [sys.executable, tool.driver, action, str(self.corpus), *quick]
        return [tool.python(self.venvs), tool.driver, action, str(self.store(tool)), tool.model or self.model]

    def _run(self, tool: Tool, *arguments: str) -> str:
        return run([tool.python(self.venvs), tool.driver, *arguments], **self.environment)

    def _last_error(self) -> str:
        return last_line(self.errors.read_text(encoding="utf-8", errors="replace"))

    def _run_timed(self, command: Sequence[str], accepted: Sequence[int] = (0,)) -> tuple[Process, str]:
        """Run a command; return its cost and its stdout."""
        out = self.work / "stdout"
        with out.open("wb") as stdout, self.errors.open("wb") as stderr:
            started = time.perf_counter()
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=self.environment, cwd=self.work
            )
            try:
                return wait_for(process, started, accepted), out.read_text(encoding="utf-8")
            except FailedError as error:
                raise FailedError(f"{error}; {self._last_error()}") from error


def _ids(printed: Iterable[str]) -> list[str]:
    """The passage ids of the first answer printed; other lines are skipped."""
    for line in printed:
        if line.startswith('{"ids":'):
            ids: list[str] = json.loads(line)["ids"]
            if ids:
                return ids
    raise FailedError("no passage was printed")
