"""What each extra adds to the installation, and to the start of a question.

    python -m tests.benchmarks.footprint --venvs DIR [--runs 10] [--out FILE.json]

For the bare package and for each extra a fresh virtual environment is made below DIR and this checkout installed in it
with the versions of constraints.txt; what stands in its packages' folder is added up. There the sample is indexed, and
a question asked from the shell: once unmeasured, then so many times, in turn with the other environments, so that a
change of the machine's mood meets them all.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.common import machine, parser
from tests.benchmarks.peer_tools import install_checkout, run
from tests.paths import REPOSITORY

EXTRAS = ("", "eval", "code")
QUESTION = "Which paper won the ICLR 2025 test of time award?"


def install(extra: str, venv: Path) -> None:
    """Install this checkout into a fresh virtual environment."""
    run([sys.executable, "-m", "venv", "--clear", str(venv)])
    install_checkout(venv, extra)


def weight(venv: Path) -> dict[str, Any]:
    """Megabytes of what is installed, and how many distributions that is; pip's own left out."""
    (folder,) = venv.glob("lib/python*/site-packages")
    own = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
    files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
    size = sum(file.stat().st_size for file in files if not file.relative_to(folder).parts[0].startswith(own))
    count = sum(not found.name.startswith(own) for found in folder.glob("*.dist-info"))
    return {"megabytes": round(size / 1e6, 1), "distributions": count}


def seconds(command: list[str], home: Path) -> float:
    """What a command takes from its start to its end."""
    begun = time.perf_counter()
    run(command, HOME=str(home), PATH="/usr/bin:/bin", HF_HUB_OFFLINE="1")
    return time.perf_counter() - begun


def measure(venvs: Path, runs: int) -> list[dict[str, Any]]:
    """Install, add up and ask."""
    found: dict[str, dict[str, Any]] = {}
    asking: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as work:
        home = Path(work, "home")
        home.mkdir()
        for extra in EXTRAS:
            venv = venvs / (extra or "bare")
            install(extra, venv)
            found[extra] = {"extra": extra, **weight(venv), "seconds": []}
            corpus = Path(work, extra or "bare")
            shutil.copytree(REPOSITORY / "corpus" / "sample", corpus)
            qa = str(venv / "bin" / "qa")
            run([qa, "index", str(corpus)], HOME=str(home), PATH="/usr/bin:/bin", HF_HUB_OFFLINE="1")
            asking[extra] = [qa, "ask", "--index", str(corpus), QUESTION]
            seconds(asking[extra], home)
        for _ in range(runs):
            for extra in EXTRAS:
                found[extra]["seconds"].append(round(seconds(asking[extra], home), 4))
    return list(found.values())


def table(result: dict[str, Any]) -> str:
    """The measurement in Markdown."""
    bare = result["installations"][0]
    rows = ["| installed | distributions | MB | more than without, MB | `qa ask`, s |", "|---|---:|---:|---:|---:|"]
    for one in result["installations"]:
        name = f"`qa-passages[{one['extra']}]`" if one["extra"] else "`qa`"
        more = f"{one['megabytes'] - bare['megabytes']:,.1f}" if one is not bare else "–"
        took = one["seconds"]
        spread = f"{statistics.median(took):.3f} ({min(took):.3f}–{max(took):.3f})"
        rows.append(f"| {name} | {one['distributions']} | {one['megabytes']:,.1f} | {more} | {spread} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Run the command line."""
    options = parser(__doc__)
    options.add_argument("--venvs", type=Path, required=True)
    options.add_argument("--runs", type=int, default=10)
    given = options.parse_args()
    told = machine()
    result = {"machine": told, "question": QUESTION, "installations": measure(given.venvs.absolute(), given.runs)}
    sys.stdout.write(table(result))
    if given.out is not None:
        given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
