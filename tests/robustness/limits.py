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
from tests.robustness.picture import Picture, difference, strays, temporary
from tests.robustness.process import in_fork, value_in_fork
from tests.robustness.scenarios import SCENARIOS, Expected, Scenario, in_memory, prepared, write

# More descriptors than this are always enough.
_MOST = 16
# Bytes to free once the small disk is full: enough for another generation of its index.
_BALLAST = 400_000
# Bytes that the next documents need.
_RESERVE = 20_000


def _with_descriptors(more: int, act: Callable[[Path], Any], root: Path) -> Any:
    """Act with so many descriptors beyond those already open; afterwards there is no limit to reporting the result."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}
    free = (number for number in itertools.count() if number not in used)
    # The first free one was used to list them.
    resource.setrlimit(resource.RLIMIT_NOFILE, (next(itertools.islice(free, more, None)), hard))
    try:
        return act(root)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _try(more: int, expected: Expected, folder: Path) -> dict[str, Any]:
    """Write under a limit and check the result; then ask under the limit."""
    root, scenario = folder / "trial", expected.scenario
    shutil.copytree(expected.template, root)
    try:
        ended = in_fork(partial(_with_descriptors, more, scenario.act, root))
        wrong = [f"ended badly: {ended}"] if ended.crashed else []
        if names := temporary(root):
            wrong.append(f"temporary files: {names}")
        wrong += expected.problems(root, done=ended.succeeded)
        asked = in_fork(partial(_with_descriptors, more, scenario.picture, root))
        if asked.crashed:
            wrong.append(f"asking ended badly: {asked}")
        elif not asked.error and difference(_unverified(asked.value[1]), _unverified(expected.clean)):
            wrong.append("different answers under the limit")
        return {"scenario": scenario.name, "descriptors": more, "ended": ended.error or "done", "wrong": wrong}
    finally:
        shutil.rmtree(root)


def _unverified(found: Picture) -> Picture:
    """Leave out the state of the cited files: a file that cannot be opened is not shown as verified."""
    found = copy.deepcopy({name: value for name, value in found.items() if not name.startswith("show")})
    for answer in (*found["hybrid"], found["hybrid, within"], found["keyword, quick"]):
        for passage in answer["passages"]:
            del passage["source"]["state"]
    return found


def run(every: int = 1, full_disk: str = "") -> dict[str, Any]:
    """Allow every nth number of descriptors in scenarios that do not fork; or fill the small disk at this folder."""
    if full_disk:
        return _fill(Path(full_disk))
    started = time.monotonic()
    found = []
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        for scenario in SCENARIOS:
            if not scenario.forks:
                folder = Path(name).resolve() / scenario.name.replace(" ", "-")
                expected = prepared(scenario, folder)
                found += [_try(more, expected, folder) for more in range(0, _MOST, every)]
    return {
        "tried": len(found),
        "ended": dict(Counter(one["ended"] for one in found)),
        "violations": [one for one in found if one["wrong"]],
        "seconds": round(time.monotonic() - started, 1),
    }


def _fill(disk: Path) -> dict[str, Any]:
    """Add documents until the disk is full; the old index must still answer, and update once there is space again."""
    root, ballast, reserve = disk / "corpus", disk / "ballast", disk / "reserve"
    root.mkdir()
    ballast.write_bytes(bytes(_BALLAST))
    picture = partial(Scenario("full disk", lambda _: None, _update).picture, root)
    _add(root, 0)
    value_in_fork(partial(_update, root))
    before, refused, wrong = value_in_fork(picture), "", []
    for number in itertools.count(1):
        # There is always room for the documents, so that it is the index that does not fit.
        reserve.unlink(missing_ok=True)
        _add(root, number)
        with contextlib.suppress(OSError):
            reserve.write_bytes(bytes(_RESERVE))
        ended = in_fork(partial(_update, root))
        if ended.error:
            refused = f"{ended.error}: {ended.message}"
            break
        before = value_in_fork(picture)
    if not refused.startswith(StorageError.__name__):
        wrong.append(f"unexpected error: {refused}")
    after = in_fork(picture)
    if after.error or after.value != before:
        wrong.append(f"the old answers changed: {after}")
    if temporary(root):
        wrong.append(f"temporary files: {temporary(root)}")
    ballast.unlink()
    documents = value_in_fork(partial(_update, root))
    stray = value_in_fork(partial(strays, root))
    if documents != number + 3 or stray:
        wrong.append(f"with space again: {documents} documents, stray files {stray}")
    return {"documents": documents, "refused": refused, "violations": wrong}


def _add(root: Path, number: int) -> None:
    text = "".join(f"# Part {number}.{part}\n\nThe sea at {number}, {part}.\n\n" for part in range(20))
    # The questions need both: a document to show, and one to look for duplicates of.
    others = {"cats.md": "# Cats\n\nThe cat sat.\n", "copy/birds.txt": "Birds sing.\n"}
    write(root, {f"{number:05}.md": text} | others)


def _update(root: Path) -> int:
    return update_index(Request(root, BagEncoder())).documents


if __name__ == "__main__":
    sys.exit(options.main(run))
