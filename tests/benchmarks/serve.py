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
from tests.benchmarks.common import provenance, read_lines, result_parser, temporary_copy, write_result
from tests.benchmarks.peer_tools import run
from tests.qa.web.servers import RunningServer, running

CLIENTS = (1, 8, 64)
STARTS = 7


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """The median and 99th percentile of the times of questions, in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {"p50_ms": round(1000 * cuts[49], 2), "p99_ms": round(1000 * cuts[98], 2)}


def rate_figures(times: Sequence[float], elapsed: float) -> dict[str, float]:
    """Questions per second, and the percentiles of their times."""
    return {"per_second": round(len(times) / elapsed, 2), **percentiles(times)}


@cache
def retriever_of(root: Path) -> Retriever:
    """The retriever that this process opens once."""
    return Retriever.open(root)


def ask_library(root: Path, threads: int, questions: Sequence[str]) -> dict[str, float]:
    """Ask the questions from several threads."""

    def timed(question: str) -> float:
        started = time.perf_counter()
        retriever_of(root).ask(question)
        return time.perf_counter() - started

    started = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        times = list(pool.map(timed, questions))
    return rate_figures(times, time.perf_counter() - started)


async def client(server: RunningServer, paths: list[str], times: list[float]) -> None:
    """Request the remaining paths one after another over one connection."""
    reader, writer = await asyncio.open_connection(*server.address)
    while paths:
        started = time.perf_counter()
        writer.write(f"GET {paths.pop()} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r")[0]))
        if " 200 " not in head.partition("\r")[0]:
            raise RuntimeError(head)
        times.append(time.perf_counter() - started)
    writer.close()
    await writer.wait_closed()


def ask_server(server: RunningServer, clients: int, questions: Sequence[str], more: str = "") -> dict[str, float]:
    """Ask the questions from several clients."""
    paths = [f"/api/v1/ask?question={quote(question, safe='')}{more}" for question in reversed(questions)]
    times: list[float] = []

    async def all_clients() -> None:
        await asyncio.gather(*(client(server, paths, times) for _ in range(clients)))

    started = time.perf_counter()
    asyncio.run(all_clients())
    return rate_figures(times, time.perf_counter() - started)


def memory(process: subprocess.Popen[str]) -> float:
    """The resident memory of a process in MiB."""
    lines = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines()
    return round(int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024, 1)


def rates(root: Path, server: RunningServer, samples: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Median rates of several rounds, each of which asks its questions in every variant, in a different order."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:

        def library(threads: int, questions: Sequence[str]) -> dict[str, float]:
            return process.submit(ask_library, root, threads, questions).result()

        library(1, ["who?"] * 2)  # loads everything
        variants: dict[str, tuple[Callable[[int, Sequence[str]], dict[str, float]], int]]
        variants = {f"library, {n} thread{'s' if n > 1 else ''}": (library, n) for n in CLIENTS[:2]}
        variants |= {f"qa serve, {n} client{'s' if n > 1 else ''}": (partial(ask_server, server), n) for n in CLIENTS}
        results: dict[str, list[dict[str, float]]] = {name: [] for name in variants}
        for number, questions in enumerate(samples):
            names = list(variants)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                ask, count = variants[name]
                results[name].append(ask(count, questions))
    return {
        name: {key: round(statistics.median(figures[key] for figures in rounds), 2) for key in rounds[0]}
        for name, rounds in results.items()
    }


def growth(server: RunningServer, questions: Sequence[str], count: int) -> list[list[float]]:
    """The server's memory after each thousand of `count` questions."""
    random_ = random.Random(0)  # noqa: S311 - nothing secret
    sizes = [[0, memory(server.process)]]
    for done in range(1000, count + 1, 1000):
        for more, size in (("", 100), ("&rerank=false", 900)):
            ask_server(server, 8, random_.choices(questions, k=size), more)
        sizes.append([done, memory(server.process)])
    return sizes


def seconds_to_answer(root: Path, question: str) -> float:
    """Time `qa ask`; "not found" is an answer too."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "qa", "ask", "--index", str(root), question]
    done = subprocess.run(command, check=False, capture_output=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode())
    return time.perf_counter() - started


def seconds_to_serve(root: Path, question: str) -> float:
    """Time `qa serve` until it has answered a question."""
    started = time.perf_counter()
    with running(root) as server:
        server.api("ask", question=question)
        return time.perf_counter() - started


def starts(root: Path, question: str) -> dict[str, float]:
    """Median seconds from the start of a process to its first answer, measured in turn."""
    ask_seconds, serve_seconds = zip(
        *((seconds_to_answer(root, question), seconds_to_serve(root, question)) for _ in range(STARTS)), strict=True
    )
    ratios = [serve / ask for serve, ask in zip(serve_seconds, ask_seconds, strict=True)]
    values = {"qa_ask_s": ask_seconds, "qa_serve_s": serve_seconds, "ratio": ratios}
    return {name: round(statistics.median(runs), 3) for name, runs in values.items()}


def measure(corpus: Path, questions: Path, size: int, rounds: int, count: int) -> dict[str, Any]:
    """Run all measurements on one index."""
    texts = [row["question"] for row in read_lines(questions)]
    random.Random(0).shuffle(texts)  # noqa: S311 - as above
    samples = [texts[at : at + size] for at in range(0, size * rounds, size)]
    with temporary_copy(corpus) as root:
        run([sys.executable, "-m", "qa", "index", str(root)])
        with running(root) as server:
            ask_server(server, 1, texts[:8])
            status = server.api("status").json
            medians = rates(root, server, samples)
            sizes = growth(server, texts, count)
        seconds = starts(root, texts[0])
    return {"passages": status["passages"], "questions": size, "rates": medians, "memory_mib": sizes, "starts": seconds}


def table(result: dict[str, Any]) -> str:
    """The results in Markdown."""
    best = max(figures["per_second"] for name, figures in result["rates"].items() if name.startswith("library"))
    rows = [
        "| what | questions/s | × the library's best | p50, ms | p99, ms | p99 / p50 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, figures in result["rates"].items():
        rate, p50, p99 = (figures[key] for key in ("per_second", "p50_ms", "p99_ms"))
        cells = f"{rate:.1f} | {rate / best:.2f} | {p50:.0f} | {p99:.0f} | {p99 / p50:.1f}"
        rows.append(f"| {name} | {cells} |")
    sizes = {int(done): size for done, size in result["memory_mib"]}
    last, seconds = max(sizes), result["starts"]
    return "\n".join(rows) + (
        f"\n\n{result['passages']:,} passages, {result['questions']} questions a round, {result['machine']['cores']} "
        "cores; × the library's rate with as many threads as served it best. "
        f"The server holds {sizes[1000]:.0f} MiB after 1,000 questions and {sizes[last]:.0f} MiB after {last:,}. "
        f"Start to first answer: `qa ask` {seconds['qa_ask_s']:.2f} s, `qa serve` {seconds['qa_serve_s']:.2f} s "
        f"(× {seconds['ratio']:.2f}).\n"
    )


def main() -> None:
    """Run the command line."""
    parser = result_parser(__doc__, "corpus", "questions")
    parser.add_argument("--asked", type=int, default=240, help="questions per round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, default=10_000, help="questions asked while memory is read")
    options = parser.parse_args()
    counts = (options.asked, options.rounds, options.long)
    result = provenance("serve") | measure(options.corpus, options.questions, *counts)
    write_result(result, options.out)
    sys.stdout.write(table(result))


if __name__ == "__main__":
    main()
