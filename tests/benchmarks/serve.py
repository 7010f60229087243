"""Questions per second of `qa serve` compared with the library, and the server's memory.

    python -m tests.benchmarks.serve CORPUS QUESTIONS.jsonl [--asked 240] [--rounds 3] [--long 10000] [--out FILE.json]

The corpus is copied and indexed, and the same questions go in turn to a `Retriever` in a process of its own, from
several threads, and to a server in another, from several clients with open connections; both use default settings.
Clients compete with the server for the machine. Then LONG more questions are asked of the same server, one in ten
re-ranked, and its memory is read after each thousand. Finally the time from the start of `qa serve` to its first answer
is compared with that of `qa ask`.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qa import Retriever
from tests.benchmarks.common import copied, provenance, read_lines, result_parser, write_result
from tests.benchmarks.peer_tools import run
from tests.qa.web.servers import RunningServer, running

CLIENTS = (1, 8, 64)
STARTS = 7


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """The median and 99th percentile of the times of questions, in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {"p50_ms": round(1000 * cuts[49], 2), "p99_ms": round(1000 * cuts[98], 2)}


def rated(times: Sequence[float], elapsed: float) -> dict[str, float]:
    """Questions per second, and the percentiles of their times."""
    return {"per_second": round(len(times) / elapsed, 2), **percentiles(times)}


@cache
def opened(root: Path) -> Retriever:
    """The retriever of this process."""
    return Retriever.open(root)


def ask_library(root: Path, threads: int, questions: Sequence[str]) -> dict[str, float]:
    """Ask the questions from several threads."""

    def timed(question: str) -> float:
        begun = time.perf_counter()
        opened(root).ask(question)
        return time.perf_counter() - begun

    begun = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        times = list(pool.map(timed, questions))
    return rated(times, time.perf_counter() - begun)


async def client(server: RunningServer, paths: list[str], times: list[float]) -> None:
    """Request the remaining paths one after another over one connection."""
    reader, writer = await asyncio.open_connection(*server.address)
    while paths:
        begun = time.perf_counter()
        writer.write(f"GET {paths.pop()} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r")[0]))
        if " 200 " not in head.partition("\r")[0]:
            raise RuntimeError(head)
        times.append(time.perf_counter() - begun)
    writer.close()
    await writer.wait_closed()


def ask_server(server: RunningServer, clients: int, questions: Sequence[str], more: str = "") -> dict[str, float]:
    """Ask the questions from several clients."""
    paths = [f"/api/v1/ask?question={quote(one, safe='')}{more}" for one in reversed(questions)]
    times: list[float] = []

    async def all_clients() -> None:
        await asyncio.gather(*(client(server, paths, times) for _ in range(clients)))

    begun = time.perf_counter()
    asyncio.run(all_clients())
    return rated(times, time.perf_counter() - begun)


def memory(process: subprocess.Popen[str]) -> float:
    """The resident memory of a process in MiB."""
    lines = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines()
    return round(int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024, 1)


def rates(root: Path, server: RunningServer, asked: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Median rates of several rounds, each of which asks the same questions in every way, in a different order."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as own:

        def library(threads: int, questions: Sequence[str]) -> dict[str, float]:
            return own.submit(ask_library, root, threads, questions).result()

        library(1, ["who?"] * 2)  # loads everything
        ways: dict[str, tuple[Callable[[int, Sequence[str]], dict[str, float]], int]]
        ways = {f"library, {n} thread{'s' if n > 1 else ''}": (library, n) for n in CLIENTS[:2]}
        ways |= {f"qa serve, {n} client{'s' if n > 1 else ''}": (partial(ask_server, server), n) for n in CLIENTS}
        found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
        for number, questions in enumerate(asked):
            names = list(ways)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                how, count = ways[name]
                found[name].append(how(count, questions))
    return {
        name: {key: round(statistics.median(one[key] for one in several), 2) for key in several[0]}
        for name, several in found.items()
    }


def growth(server: RunningServer, questions: Sequence[str], count: int) -> list[list[float]]:
    """The server's memory after each thousand of `count` questions."""
    chosen = random.Random(0)  # noqa: S311 - nothing secret
    found = [[0, memory(server.process)]]
    for done in range(1000, count + 1, 1000):
        for more, size in (("", 100), ("&rerank=false", 900)):
            ask_server(server, 8, chosen.choices(questions, k=size), more)
        found.append([done, memory(server.process)])
    return found


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


def starts(root: Path, question: str) -> dict[str, float]:
    """Median seconds from the start of a process to its first answer, measured in turn."""
    asked, served = zip(
        *((seconds_to_answer(root, question), seconds_to_serve(root, question)) for _ in range(STARTS)), strict=True
    )
    ratios = [one / other for one, other in zip(served, asked, strict=True)]
    values = {"qa_ask_s": asked, "qa_serve_s": served, "ratio": ratios}
    return {name: round(statistics.median(each), 3) for name, each in values.items()}


def measure(corpus: Path, questions: Path, asked: int, rounds: int, count: int) -> dict[str, Any]:
    """Run all measurements on one index."""
    known = [row["question"] for row in read_lines(questions)]
    random.Random(0).shuffle(known)  # noqa: S311 - as above
    samples = [known[at : at + asked] for at in range(0, asked * rounds, asked)]
    with copied(corpus) as root:
        run([sys.executable, "-m", "qa", "index", str(root)])
        with running(root) as server:
            ask_server(server, 1, known[:8])
            status = server.api("status").json
            found = rates(root, server, samples)
            held = growth(server, known, count)
        begun = starts(root, known[0])
    return {"passages": status["passages"], "questions": asked, "rates": found, "memory_mib": held, "starts": begun}


def table(result: dict[str, Any]) -> str:
    """The results in Markdown."""
    best = max(one["per_second"] for name, one in result["rates"].items() if name.startswith("library"))
    rows = [
        "| what | questions/s | × the library's best | p50, ms | p99, ms | p99 / p50 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, one in result["rates"].items():
        ratio, spread = one["per_second"] / best, one["p99_ms"] / one["p50_ms"]
        figures = f"{one['per_second']:.1f} | {ratio:.2f} | {one['p50_ms']:.0f} | {one['p99_ms']:.0f} | {spread:.1f}"
        rows.append(f"| {name} | {figures} |")
    held = {int(done): size for done, size in result["memory_mib"]}
    last, begun = max(held), result["starts"]
    return "\n".join(rows) + (
        f"\n\n{result['passages']:,} passages, {result['questions']} questions a round, {result['machine']['cores']} "
        "cores; × the library's rate with as many threads as served it best. "
        f"The server holds {held[1000]:.0f} MiB after 1,000 questions and {held[last]:.0f} MiB after {last:,}. "
        f"Start to first answer: `qa ask` {begun['qa_ask_s']:.2f} s, `qa serve` {begun['qa_serve_s']:.2f} s "
        f"(× {begun['ratio']:.2f}).\n"
    )


def main() -> None:
    """Run the command line."""
    parser = result_parser(__doc__, "corpus", "questions")
    parser.add_argument("--asked", type=int, default=240, help="questions per round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, default=10_000, help="questions asked while memory is read")
    given = parser.parse_args()
    result = provenance("serve") | measure(given.corpus, given.questions, given.asked, given.rounds, given.long)
    write_result(result, given.out)
    sys.stdout.write(table(result))


if __name__ == "__main__":
    main()
