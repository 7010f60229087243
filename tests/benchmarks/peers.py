"""Comparison of qa with other tools that search a folder with the same model: time, memory, disk.

    python -m tests.benchmarks.peers CORPUS QUESTIONS.jsonl --venvs DIR --out FILE [--runs N] [--peers NAME,NAME]

The other tools have virtual environments in DIR, kept as long as their pins match; only creating one needs a network.
qa indexes a copy of CORPUS; the others get its passages, which they embed, store and search with the same files of
all-MiniLM-L6-v2 and their own default settings. Whole processes are timed, the tools taking turns: building an index
from scratch, then asking one question. Then a process that stays open is asked up to 200 questions. The first round
warms the page cache and is not counted; qa compiles its model in it, which is timed separately.

The work differs: qa also reads and splits the files, keeps a keyword index, re-ranks, picks an answer and checks its
citations against the files. The others do none of that here; txtai and llm keep no text.
If the processor has AMX, qa runs the model in bf16 and the others in float32, by their defaults.
Not compared: the quality of answers (a passage of the right file among five only shows that a tool works), updates,
large collections, GPUs, other models and non-default settings.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from qa.evaluation.evidence import Gold
from qa.evaluation.questions import sample
from tests.benchmarks.common import provenance, result_parser, write_result
from tests.benchmarks.peer_tools import (
    OURS,
    PEERS,
    QUICK,
    Bench,
    FailedError,
    Process,
    Session,
    Tool,
    install,
    versions,
)
from tests.gold_questions import read_questions

_QUESTIONS = 200
_MEBI = 1024 * 1024
# The quantities compared, and their keys in the figures of a tool.
_RATIOS = {
    "index": ("index", "seconds"),
    "ask": ("ask", "seconds"),
    "warm_question": ("warm", "median_ms"),
    "index_memory": ("index", "peak_mib"),
    "ask_memory": ("ask", "peak_mib"),
    "disk": ("disk_mib",),
}


@dataclass(slots=True)
class Record:
    """The measurements of a tool."""

    versions: dict[str, str]
    index: list[Process] = field(default_factory=list)
    ask: list[Process] = field(default_factory=list)
    warm: list[Session] = field(default_factory=list)


def measure(bench: Bench, records: dict[Tool, Record], runs: int) -> Process:
    """Measure the tools in turn; return the cost of a build by qa that has to compile its model."""
    for number in range(runs + 1):
        for phase, run in (("index", bench.index), ("ask", bench.ask), ("warm", bench.ask_warm)):
            for tool, record in records.items():
                if tool.quick and phase == "index":
                    continue
                sys.stderr.write(f"round {number} of {runs}: {phase} {tool.name}\n")
                measured = run(tool)
                if number:
                    getattr(record, phase).append(measured)
    shutil.rmtree(bench.cache / "qa", ignore_errors=True)
    return bench.index(OURS)


def figures(record: Record, bytes_stored: int, golds: Sequence[Gold], paths: dict[str, str]) -> dict[str, Any]:
    """A summary of a tool's measurements."""
    summary: dict[str, Any] = {"versions": record.versions}
    for phase, processes in (("index", record.index), ("ask", record.ask)):
        if processes:
            names = ("seconds", "peak_mib")
            summary[phase] = {name: _spread([getattr(process, name) for process in processes]) for name in names}
            summary[phase]["runs"] = len(processes)
    if record.index:
        summary["disk_mib"] = {"median": round(bytes_stored / _MEBI, 3)}
    if record.warm:
        times = [session.milliseconds for session in record.warm]
        summary["warm"] = {
            "median_ms": _spread([statistics.median(session) for session in times]),
            "p95_ms": _spread([float(np.percentile(session, 95)) for session in times]),
            "questions": len(golds),
            "runs": len(times),
        }
        answerable = [(gold, ids) for gold, ids in zip(golds, record.warm[-1].answers, strict=True) if gold.answerable]
        hits = [{span.path for span in gold.spans} & {paths[number] for number in ids} for gold, ids in answerable]
        summary["gold_file_in_5"] = {"found": sum(map(bool, hits)), "questions": len(answerable)}
    return summary


def _spread(values: Sequence[float]) -> dict[str, float]:
    spread = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return {name: round(value, 3) for name, value in spread.items()}


def _spread_of(tool_figures: dict[str, Any], ratio: str) -> dict[str, float]:
    value: dict[str, Any] = tool_figures
    for name in _RATIOS[ratio]:
        value = value.get(name, {})
    return value


def ratios(tool: dict[str, Any], ours: dict[str, Any]) -> dict[str, float]:
    """A tool's medians divided by ours, where both have one."""
    pairs = {name: (_spread_of(tool, name), _spread_of(ours, name)) for name in _RATIOS}
    return {name: round(a["median"] / b["median"], 2) for name, (a, b) in pairs.items() if a and b}


def compare(options: argparse.Namespace) -> dict[str, Any]:
    """Install, measure and summarise.

    Raises:
        FailedError: A tool cannot be installed, or fails; `--peers` leaves it out.
    """
    result = provenance("peers")
    records = {}
    for tool in (OURS, QUICK, *(peer for peer in PEERS if peer.home in options.peers.split(","))):
        if tool.pins:
            sys.stderr.write(f"virtual environment of {tool.name}\n")
            install(tool, options.venvs)
        records[tool] = Record(versions(tool, options.venvs))
    golds = sample(read_questions(options.questions, options.corpus), _QUESTIONS)
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options.venvs, Path(work), options.corpus, [gold.question for gold in golds])
        for tool in records:
            if tool.model:
                bench.convert(tool)
        first = measure(bench, records, options.runs)
        stored = {tool: sum(f.stat().st_size for f in bench.store(tool).rglob("*") if f.is_file()) for tool in records}
    tools = {tool.name: figures(record, stored[tool], golds, bench.paths) for tool, record in records.items()}
    for tool_figures in tools.values():
        tool_figures["ratio"] = ratios(tool_figures, tools[OURS.name])
    return result | {
        "corpus": {"name": options.corpus.name, **bench.counts},
        "question": golds[0].question,
        "runs": options.runs,
        "first_build": asdict(first),
        "tools": tools,
    }


def table(result: dict[str, Any]) -> str:
    """The results in Markdown: caveats, a table, the command."""
    machine, corpus, first = result["machine"], result["corpus"], result["first_build"]
    features = " ".join(name for name in ("bf16", "amx") if machine[name]) or "neither bf16 nor AMX"
    precision = " qa computes in bf16 here, the others in float32." if machine["amx"] else ""
    processor = f"{machine['cpu']}, {machine['cores']} cores, {features}, {machine['memory_gib']} GiB"
    caveats = (
        f"Caveats first: one machine ({processor}, load {machine['load_before']:.1f} before), {machine['date']}; "
        f"{corpus['files']:,} files cut into {corpus['passages']:,} passages by "
        "qa, which the others were handed; one model, all-MiniLM-L6-v2, for all; each tool's own settings. qa's time "
        "has in it reading, splitting, words, re-ranking and checking citations, the others' has not; txtai and llm "
        f"keep no text.{precision} qa's model was compiled before: with that, the first build took "
        f"{first['seconds']:.1f} s. `chroma` runs the model in sentence-transformers like the rest, `chroma-default` "
        "in onnxruntime, from our conversion. "
        f"Medians of {result['runs']} (least–most), × over qa's; that a passage of the right file is among five "
        "says that a tool works, not how well."
    )
    lines = [
        "| tool | index, s | one question from the shell, s | one more question, ms; p95 "
        "| peak MiB, index | peak MiB, question | store, MiB | right file |",
        "|---|" + "---:|" * 7,
        *(_row(name, tool) for name, tool in result["tools"].items()),
    ]
    return "\n".join([caveats, "", *lines, "", "```console", f"$ {result['command']}", "```", ""])


def _row(name: str, tool: dict[str, Any]) -> str:
    def cell(ratio: str) -> str:
        spread = _spread_of(tool, ratio)
        if not spread:
            return "–"
        extent = f" ({_short(spread['min'])}–{_short(spread['max'])})" if "min" in spread else ""
        times = f" ×{_short(tool['ratio'][ratio])}" if name != OURS.name and ratio in tool["ratio"] else ""
        return _short(spread["median"]) + extent + times

    cells = {ratio: cell(ratio) for ratio in _RATIOS}
    if "warm" in tool:
        cells["warm_question"] += f"; {_short(tool['warm']['p95_ms']['median'])}"
    gold = tool.get("gold_file_in_5")
    version = tool["versions"].get(next(peer.package for peer in (OURS, QUICK, *PEERS) if peer.name == name), "")
    right = f"{gold['found']}/{gold['questions']}" if gold else "–"
    return " | ".join([f"| {name} {version}", *cells.values(), f"{right} |"])


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    """Run the command line."""
    homes = list(dict.fromkeys(peer.home for peer in PEERS))
    parser = result_parser(__doc__, "corpus", "questions")
    parser.add_argument("--venvs", type=Path, required=True, help="folder for the virtual environments")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peers", default=",".join(homes))
    options = parser.parse_args()
    if unknown := set(options.peers.split(",")) - {*homes}:
        parser.error(f"there is no peer {', '.join(sorted(unknown))}")
    options.venvs = options.venvs.absolute()
    try:
        write_result(compare(options), options.out)
    except FailedError as error:
        sys.exit(f"nothing was compared: {error}")


if __name__ == "__main__":
    main()
