"""Systems that give no more: files that may not grow, no descriptors left, a disk that is full.

python -m tests.robustness.limits [--every N] [--out FILE]
unshare -rm sh -c 'mount -t tmpfs -o size=1m tmpfs FOLDER && python -m tests.robustness.limits --full-disk FOLDER'
"""

from __future__ import annotations

import itertools
import json
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from corpus.errors import StorageError
from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.robustness import options
from tests.robustness.contents import content, difference, logical, strays, temporary
from tests.robustness.forks import in_fork, value_of
from tests.robustness.judge import look
from tests.robustness.scenarios import SCENARIOS, Expected, Scenario, in_memory, prepared, warm_up, write

# Sizes at which a write may end in the middle of something; no file of the scenarios is larger than the last.
_SIZES = (0, 1, 7, 100, 1000, *range(2000, 400_000, 9973))
_DESCRIPTORS = range(16)
_SECONDS = 60.0
# Bytes that are freed once the small disk is full: enough for another generation of what is on it.
_BALLAST = 400_000


@dataclass(frozen=True, slots=True)
class Limit:
    """What a process may not exceed: bytes in a file, or descriptors beside those that it has."""

    kind: int
    name: str
    value: int

    def set(self) -> None:
        """Set it for this process."""
        soft = self.value
        if self.kind == resource.RLIMIT_NOFILE:
            used = {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}
            free = (number for number in itertools.count() if number not in used)
            # The first free one is that which listed them.
            soft = next(itertools.islice(free, self.value, None))
        resource.setrlimit(self.kind, (soft, resource.getrlimit(self.kind)[1]))

    def unset(self) -> None:
        """Let this process have what it may."""
        hard = resource.getrlimit(self.kind)[1]
        resource.setrlimit(self.kind, (hard, hard))


def _limits(every: int) -> list[Limit]:
    sizes = [Limit(resource.RLIMIT_FSIZE, "file size", size) for size in _SIZES[::every]]
    return sizes + [Limit(resource.RLIMIT_NOFILE, "descriptors", more) for more in _DESCRIPTORS[::every]]


def _within(limit: Limit, scenario: Scenario, root: Path) -> object:
    limit.set()
    try:
        return scenario.act(root)
    finally:
        limit.unset()


def _ask_within(limit: Limit, root: Path) -> object:
    limit.set()
    try:
        return content(root)
    finally:
        limit.unset()


def try_limit(limit: Limit, scenario: Scenario, expected: Expected, folder: Path) -> dict[str, Any]:
    """Write under a limit and look; then ask under it."""
    root = folder / "trial"
    shutil.copytree(expected.template, root)
    try:
        ended = in_fork(partial(_within, limit, scenario, root), seconds=_SECONDS)
        wrong = [f"ended badly: {ended}"] if ended.status or (ended.error and not ended.typed) else []
        if names := temporary(root):
            wrong.append(f"temporary files: {names}")
        wrong += look(root, expected, done=not ended.status and not ended.error)
        asked = in_fork(partial(_ask_within, limit, root), seconds=_SECONDS)
        if asked.status or (asked.error and not asked.typed):
            wrong.append(f"asking ended badly: {asked}")
        elif not asked.error and difference(_unverified(logical(asked.value)), _unverified(expected.clean)):
            wrong.append("asked under the limit it gave other answers")
        return {"limit": limit.name, "value": limit.value, "ended": ended.error or "done", "wrong": wrong}
    finally:
        shutil.rmtree(root)


def _unverified(found: dict[str, Any]) -> dict[str, Any]:
    """Without what re-reading the cited files showed: a file that cannot be opened is not shown as verified."""
    answers = json.loads(json.dumps(found["answers"]))
    for answer in answers:
        for passage in answer["passages"]:
            del passage["source"]["state"]
    return found | {"answers": answers}


def run(every: int) -> dict[str, Any]:
    """Try all limits, or each so-manieth, on all scenarios that fork nothing themselves."""
    started = time.monotonic()
    warm_up()

    found = []
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        for scenario in SCENARIOS:
            if scenario.forks:
                continue
            folder = Path(name).resolve() / scenario.name.replace(" ", "-")
            expected = prepared(scenario, folder)
            for limit in _limits(every):
                found.append({"scenario": scenario.name} | try_limit(limit, scenario, expected, folder))
    return {
        "tried": len(found),
        "ended": dict(Counter(f"{one['limit']}: {one['ended']}" for one in found)),
        "violations": [one for one in found if one["wrong"]],
        "seconds": round(time.monotonic() - started, 1),
    }


def fill(disk: Path) -> dict[str, Any]:
    """Add documents until the disk is full; what there was answers still, and with space again all is well."""
    root, ballast = disk / "corpus", disk / "ballast"
    root.mkdir()
    ballast.write_bytes(bytes(_BALLAST))
    before: dict[str, Any] = {}
    refused, wrong = "", []
    for number in itertools.count():
        text = "".join(f"# Part {number}.{part}\n\nThe sea at {number}, {part}.\n\n" for part in range(20))
        write(root, {f"{number:05}.md": text})
        ended = in_fork(lambda: update_index(Request(root, BagEncoder())).documents)
        if ended.error:
            refused = f"{ended.error}: {ended.message}"
            break
        before = value_of(partial(content, root))
    if not refused.startswith(StorageError.__name__):
        wrong.append(f"foreign error: {refused}")
    after = in_fork(partial(content, root))
    if after.error or difference(after.value, before):
        wrong.append(f"what there was is changed: {after.message} {difference(after.value or {}, before)}")
    if temporary(root):
        wrong.append(f"temporary files: {temporary(root)}")
    ballast.unlink()
    documents = value_of(lambda: update_index(Request(root, BagEncoder())).documents)
    if documents != number + 1 or value_of(partial(strays, root)):
        wrong.append(f"with space again: {documents} documents, stray files {value_of(partial(strays, root))}")
    return {"documents": documents, "refused": refused, "violations": wrong}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 0 where nothing is wrong."""
    parser = options.parser("Write and ask where the system gives no more.")
    parser.add_argument("--every", type=int, default=1, help="try only each so-manieth limit")
    parser.add_argument("--full-disk", type=Path, metavar="FOLDER", help="fill this small disk instead")
    given = parser.parse_args(arguments)
    return options.tell(fill(given.full_disk) if given.full_disk else run(given.every), given.out)


if __name__ == "__main__":
    sys.exit(main())
