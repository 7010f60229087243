"""Run out of system resources: no descriptors left, a full disk.

python -m tests.robustness.limits [--every N] [--out FILE]
unshare -rm sh -c 'mount -t tmpfs -o size=1m tmpfs FOLDER && python -m tests.robustness.limits --full-disk FOLDER'
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from corpus.errors import StorageError
from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.robustness import options
from tests.robustness.picture import Picture, stray_files, temporary_files
from tests.robustness.process import in_fork, value_in_fork
from tests.robustness.scenarios import SCENARIOS, Expected, Scenario, expected_outcomes, memory_disk, write

# This many extra descriptors are enough for every scenario.
_ENOUGH = 16
# Bytes to free once the small disk is full: enough for another generation of its index.
_BALLAST = 400_000
# Bytes that the next documents take at most.
_RESERVE = 20_000


def _act_with(extra: int, act: Callable[[Path], Any], root: Path) -> Any:
    """Act with `extra` descriptors beyond those already open; the limit ends before the result is reported."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}
    free = (number for number in itertools.count() if number not in used)
    # Listing the descriptors used the first free one.
    resource.setrlimit(resource.RLIMIT_NOFILE, (next(itertools.islice(free, extra, None)), hard))
    try:
        return act(root)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _try_with(extra: int, expected: Expected, folder: Path) -> dict[str, Any]:
    """Write with a limited number of descriptors and check the index; then ask with the same limit."""
    root, scenario = folder / "trial", expected.scenario
    shutil.copytree(expected.template, root)
    try:
        result = in_fork(partial(_act_with, extra, scenario.act, root))
        problems = [f"ended badly: {result}"] if result.crashed else []
        if names := temporary_files(root):
            problems.append(f"temporary files: {names}")
        problems += expected.problems(root, done=result.succeeded)
        answers = in_fork(partial(_act_with, extra, scenario.picture, root))
        if answers.crashed:
            problems.append(f"asking ended badly: {answers}")
        elif not answers.error and _without_states(answers.value[1]) != _without_states(expected.clean):
            problems.append("different answers under the limit")
        return {"scenario": scenario.name, "descriptors": extra, "ended": result.error or "done", "wrong": problems}
    finally:
        shutil.rmtree(root)


def _without_states(picture: Picture) -> Picture:
    """Leave out the states of cited files: without a descriptor, no file can be verified."""
    picture = copy.deepcopy({name: value for name, value in picture.items() if not name.startswith("show")})
    for answer in (*picture["hybrid"], picture["hybrid, within"], picture["keyword, quick"]):
        for passage in answer["passages"]:
            del passage["source"]["state"]
    return picture


def run(every: int = 1, full_disk: str = "") -> dict[str, Any]:
    """Try every nth number of descriptors with the scenarios that do not fork, or fill the disk at this folder."""
    if full_disk:
        return _fill(Path(full_disk))
    started = time.monotonic()
    trials = []
    with tempfile.TemporaryDirectory(dir=memory_disk()) as name:
        for scenario in SCENARIOS:
            if not scenario.forks:
                folder = Path(name).resolve() / scenario.name.replace(" ", "-")
                expected = expected_outcomes(scenario, folder)
                trials += [_try_with(extra, expected, folder) for extra in range(0, _ENOUGH, every)]
    return {
        "tried": len(trials),
        "ended": dict(Counter(trial["ended"] for trial in trials)),
        "violations": [trial for trial in trials if trial["wrong"]],
        "seconds": round(time.monotonic() - started, 1),
    }


def _fill(disk: Path) -> dict[str, Any]:
    """Add documents until the disk is full; the old index must still answer, and update once there is space again."""
    root, ballast, reserve = disk / "corpus", disk / "ballast", disk / "reserve"
    root.mkdir()
    ballast.write_bytes(bytes(_BALLAST))
    picture = partial(Scenario("full disk", lambda _: None, _update).picture, root)
    _add_documents(root, 0)
    value_in_fork(partial(_update, root))
    before, refusal, problems = value_in_fork(picture), "", []
    for number in itertools.count(1):
        # The documents always have room, so that it is the index that does not fit.
        reserve.unlink(missing_ok=True)
        _add_documents(root, number)
        with contextlib.suppress(OSError):
            reserve.write_bytes(bytes(_RESERVE))
        result = in_fork(partial(_update, root))
        if result.error:
            refusal = f"{result.error}: {result.message}"
            break
        before = value_in_fork(picture)
    if not refusal.startswith(StorageError.__name__):
        problems.append(f"unexpected error: {refusal}")
    after = in_fork(picture)
    if after.error or after.value != before:
        problems.append(f"the old answers changed: {after}")
    if temporary_files(root):
        problems.append(f"temporary files: {temporary_files(root)}")
    ballast.unlink()
    documents = value_in_fork(partial(_update, root))
    stray = value_in_fork(partial(stray_files, root))
    if documents != number + 3 or stray:
        problems.append(f"with space again: {documents} documents, stray files {stray}")
    return {"documents": documents, "refused": refusal, "violations": problems}


def _add_documents(root: Path, number: int) -> None:
    text = "".join(f"# Part {number}.{part}\n\nThe sea at {number}, {part}.\n\n" for part in range(20))
    # `QUESTIONS` show one of these documents and look for duplicates of the other.
    more = {"cats.md": "# Cats\n\nThe cat sat.\n", "copy/birds.txt": "Birds sing.\n"}
    write(root, {f"{number:05}.md": text} | more)


def _update(root: Path) -> int:
    return update_index(Request(root, BagEncoder())).documents


if __name__ == "__main__":
    sys.exit(options.main(run))
