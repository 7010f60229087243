"""Shared by the benchmarks: command lines, JSON lines, copies of a corpus, the machine, and writing results."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.peer_tools import run
from tests.paths import REPOSITORY

if TYPE_CHECKING:
    from index import Encoder


def path_parser(description: str | None, *paths: str) -> argparse.ArgumentParser:
    """A parser that prints the module's docstring unchanged and takes these paths as positional arguments."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in paths:
        parser.add_argument(name, type=Path)
    return parser


def result_parser(description: str | None, *paths: str) -> argparse.ArgumentParser:
    """A parser as of `path_parser`, with the option `--out`."""
    parser = path_parser(description, *paths)
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the results to this file")
    return parser


def write_result(result: object, out: Path | None) -> None:
    """Print a result as JSON, and write it to a file if one is named."""
    text = json.dumps(result, indent=1) + "\n"
    sys.stdout.write(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")


def read_lines(file: Path) -> list[Any]:
    """The values of a JSON-lines file; empty lines are skipped."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def write_lines(file: Path, rows: Iterable[object]) -> None:
    """Write a JSON-lines file."""
    with file.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


class EncoderWrapper:
    """An encoder with methods that a subclass replaces."""

    def __init__(self, model: Encoder) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


@contextmanager
def temporary_copy(corpus: Path) -> Iterator[Path]:
    """A temporary copy of a corpus without its index: the original stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "corpus"
        shutil.copytree(corpus, root, ignore=shutil.ignore_patterns(".qa"))
        yield root


def provenance(module: str) -> dict[str, Any]:
    """The command, the commit and the machine of a measurement."""
    return {
        "command": shlex.join(["python", "-m", f"tests.benchmarks.{module}", *sys.argv[1:]]),
        "commit": run(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"]).strip(),
        "machine": machine(),
    }


def machine() -> dict[str, Any]:
    """The processor, memory, load and Python of this machine, and the date."""
    cpu = dict(line.split(":", 1) for line in Path("/proc/cpuinfo").read_text().splitlines() if ":" in line)
    cpu = {name.strip(): value.strip() for name, value in cpu.items()}
    return {
        "cpu": cpu.get("model name", platform.machine()),
        "cores": len(os.sched_getaffinity(0)),
        "bf16": "bf16" in cpu.get("flags", ""),
        "amx": "amx_tile" in cpu.get("flags", ""),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3, 1),
        "load_before": os.getloadavg()[0],
        "python": platform.python_version(),
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
    }
