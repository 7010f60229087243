"""What the measurements share: command lines, a copy of the corpus, the machine, and how figures are given out."""

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks.peer_tools import run
from tests.paths import REPOSITORY


def parser(description: str | None) -> argparse.ArgumentParser:
    """Shows the module's docstring as it is, and knows `--out`."""
    found = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--out", type=Path, metavar="FILE", help="where the figures go")
    return found


def question_parser(description: str | None, *, sample: int | None = None) -> argparse.ArgumentParser:
    """Knows CORPUS, QUESTIONS, `--sample` and `--out`."""
    found = parser(description)
    found.add_argument("corpus", type=Path)
    found.add_argument("questions", type=Path)
    found.add_argument("--sample", type=int, default=sample, help="ask only this many, chosen by a fixed seed")
    return found


def tell(found: object, out: Path | None) -> None:
    """Print figures as JSON, and write them if a file was named."""
    text = json.dumps(found, indent=1) + "\n"
    sys.stdout.write(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")


@contextmanager
def copied(corpus: Path) -> Iterator[Path]:
    """A copy of a corpus without its index, so that nothing is written beside it."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "corpus"
        shutil.copytree(corpus, root, ignore=shutil.ignore_patterns(".qa"))
        yield root


def circumstances(module: str) -> dict[str, Any]:
    """The command, the commit and the machine of a measurement."""
    return {
        "command": shlex.join(["python", "-m", f"tests.benchmarks.{module}", *sys.argv[1:]]),
        "commit": run(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty"]).strip(),
        "machine": machine(),
    }


def machine() -> dict[str, Any]:
    """What this runs on."""
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
