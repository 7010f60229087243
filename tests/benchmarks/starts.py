"""Seconds from the start of a process to its first answer: `qa ask`, `qa serve`, and `qa mcp` to `initialize`.

    python -m tests.benchmarks.starts [--runs 15] [--out FILE.json]

On a copy of the sample, in turn; medians and minimums. Processor time is that of all threads of `qa mcp` until its
answer is read.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.common import copied, provenance, result_parser, write_result
from tests.benchmarks.peer_tools import run
from tests.paths import SAMPLE
from tests.qa.web.servers import running

QUESTION = "What won the ICLR 2025 test of time award?"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}},
}


def seconds_to_answer(root: Path, question: str) -> float:
    """Time `qa ask`; "not found" is an answer too."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "qa", "ask", "--index", str(root), question]
    done = subprocess.run(command, check=False, capture_output=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode())
    return time.perf_counter() - begun


def seconds_to_serve(root: Path, question: str) -> float:
    """Time `qa serve` until it has answered a question."""
    begun = time.perf_counter()
    with running(root) as server:
        server.api("ask", question=question)
        return time.perf_counter() - begun


def seconds_to_initialize(root: Path) -> tuple[float, float]:
    """Time `qa mcp` until it has answered `initialize`: wall time and processor time."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "qa", "mcp", str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("no pipes")
        process.stdin.write(json.dumps(INITIALIZE) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        wall = time.perf_counter() - begun
        tasks = Path(f"/proc/{process.pid}/task").iterdir()
        spent = sum(int(Path(each, "schedstat").read_text(encoding="ascii").split()[0]) for each in tasks) / 1e9
        process.stdin.close()
    if '"result"' not in answer:
        raise RuntimeError(answer)
    return wall, spent


def measure(runs: int) -> dict[str, dict[str, float]]:
    """Time all of them in turn; the first round is not counted."""
    with copied(SAMPLE) as root:
        run([sys.executable, "-m", "qa", "index", str(root)])
        rounds = [
            (seconds_to_answer(root, QUESTION), seconds_to_serve(root, QUESTION), *seconds_to_initialize(root))
            for _ in range(runs + 1)
        ][1:]
    names = ("qa ask", "qa serve", "qa mcp", "qa mcp, processor time")
    return {
        name: {"median_s": round(statistics.median(times), 3), "least_s": round(min(times), 3)}
        for name, times in zip(names, zip(*rounds, strict=True), strict=True)
    }


def main() -> None:
    """Run the command line."""
    parser = result_parser(__doc__)
    parser.add_argument("--runs", type=int, default=15)
    given = parser.parse_args()
    write_result({**provenance("starts"), "seconds": measure(given.runs)}, given.out)


if __name__ == "__main__":
    main()
