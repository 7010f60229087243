"""What the tool was doing when it was struck: a folder as it is then, and the operation."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from corpus.errors import DamagedIndexError, IncompatibleError, NoIndexError, QAError
from index.update.report import BuildReport, Request
from index.update.update import rebuild_index, update_index
from tests.encoders import BagEncoder
from tests.robustness.contents import content, logical, stored_digests
from tests.robustness.fault_library import Action, Shim, is_loaded
from tests.robustness.forks import in_fork, value_of

# Long before any test: what was changed less than two seconds before it was read is read again the next time.
_LONG_AGO = 1_700_000_000

_FILES = {
    "birds.txt": "Birds sing in the morning.\n",
    "cats.md": "# Cats\n\nThe cat sat on the mat.\n\n## Dogs\n\nDogs bark at state-of-the-art robots.\n",
    "copy/birds.txt": "Birds sing in the morning.\n",
    "harbour.md": "# Harbour\n\nThe harbour closes at dusk.\n\n## Ferries\n\nThe last ferry leaves at nine.\n",
    "ledger.md": "".join(f"# Page {page}\n\nOn page {page} stands what was paid.\n\n" for page in range(24)),
    "notes/fish.md": "# Fish\n\nFish swim in the sea.\n\n## Whales\n\nWhales are no fish.\n",
    "notes/old.txt": "An old note that nobody reads.\n",
}


def write(root: Path, files: dict[str, str], *, at: int = _LONG_AGO) -> None:
    """Write documents, all last changed at the same moment."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (at, at))


def in_memory() -> Path | None:
    """A disk in memory, where syncing costs nothing, if there is one; else None, for the usual place."""
    memory = Path("/dev/shm")  # noqa: S108 - the names of folders in it are random
    return memory if memory.is_dir() else None


def warm_up() -> None:
    """Import what is otherwise imported where it is needed, so that forks need no time and no descriptors for it."""
    for name in ("faiss", "corpus.readers.plaintext.markdown", "corpus.readers.plaintext.plain", "pathspec", "socket"):
        importlib.import_module(name)
    gc.freeze()  # or each fork would copy what it looks through


def bring_up_to_date(root: Path) -> tuple[BuildReport, BagEncoder]:
    """Update, or where that is refused do what the message says; with the encoder, which knows what it embedded."""
    encoder = BagEncoder()
    try:
        return update_index(Request(root, encoder)), encoder
    except (DamagedIndexError, IncompatibleError):
        return rebuild_index(Request(root, encoder)), encoder


@dataclass(frozen=True, slots=True)
class Scenario:
    """A folder and what is done to it.

    Attributes:
        name: Of the operation.
        prepare: Fills the folder, which is there already.
        act: The operation.
        interim: Errors that the index may give until it is done.
        forks: Whether `prepare` has its work done by processes of its own.
    """

    name: str
    prepare: Callable[[Path], object]
    act: Callable[[Path], object]
    interim: tuple[type[QAError], ...] = ()
    forks: bool = False


@dataclass(slots=True)
class Expected:
    """What is allowed of a scenario.

    Attributes:
        template: The folder as it is before the operation.
        old: Its content, or None where it has none.
        interim: Errors that it may give until it is done.
        new: Its content afterwards.
        clean: What a first build of the same files gives.
        digests: Vectors that are stored before.
        operations: What the operation does to files, in order.
    """

    template: Path
    old: dict[str, Any] | None
    interim: tuple[type[QAError], ...]
    new: dict[str, Any]
    clean: dict[str, Any]
    digests: set[str]
    operations: list[str] = field(default_factory=list)


def _update(root: Path) -> object:
    return update_index(Request(root, BagEncoder())).passages


def _rebuild(root: Path) -> object:
    return rebuild_index(Request(root, BagEncoder())).passages


def _cure(root: Path) -> object:
    return bring_up_to_date(root)[0].passages


def _first(root: Path) -> None:
    write(root, _FILES)


def _built(root: Path) -> None:
    _first(root)
    _update(root)


def _changed(root: Path) -> None:
    """Two segments; the next update takes the smaller into a third and leaves the larger, with dead vectors."""
    _built(root)
    write(root, {"late.txt": "A late note.\n"})
    _update(root)
    cats = "# Cats\n\nThe cat left.\n\n## Dogs\n\nDogs bark at state-of-the-art robots.\n"
    write(root, {"cats.md": cats}, at=_LONG_AGO + 9)
    write(root, {"new.md": "# New\n\nNobody has read this yet.\n"})
    (root / "notes" / "old.txt").unlink()
    (root / "birds.txt").rename(root / "renamed.txt")


def _damaged(root: Path) -> None:
    _built(root)
    connection = sqlite3.connect(root / ".qa" / "index.db")
    connection.execute("UPDATE meta SET value = '9' WHERE key = 'generation'")
    connection.commit()
    connection.close()


def _touched(root: Path) -> None:
    _built(root)
    os.utime(root / "cats.md", (_LONG_AGO + 9, _LONG_AGO + 9))


def _killed(root: Path, act: Callable[[Path], object]) -> None:
    """Leave what a process leaves that was killed in the middle of its second half: a hot log, files not yet named."""
    shim = Shim()
    copy = root.with_name(root.name + "-count")
    shutil.copytree(root, copy)

    def count() -> int:
        shim.arm(copy)
        act(copy)
        return shim.disarm()

    at = value_of(count) * 3 // 4
    shutil.rmtree(copy)

    def die() -> None:
        shim.arm(root, at=at, action=Action.KILL_HALFWAY)
        act(root)

    if in_fork(die).status == 0:
        raise RuntimeError("it was not killed")


def _first_killed(root: Path) -> None:
    _first(root)
    _killed(root, _update)


def _update_killed(root: Path) -> None:
    value_of(partial(_changed, root))
    _killed(root, _update)


def _repair_killed(root: Path) -> None:
    value_of(partial(_damaged, root))
    _killed(root, _rebuild)


INTERIM = (DamagedIndexError, NoIndexError)

SCENARIOS = (
    Scenario("first build", _first, _update),
    Scenario("first build, once killed", _first_killed, _update, forks=True),
    Scenario("update", _changed, _update),
    Scenario("update, once killed", _update_killed, _update, forks=True),
    Scenario("rebuild", _changed, _rebuild),
    Scenario("repair", _damaged, _rebuild, INTERIM),
    Scenario("repair, once killed", _repair_killed, _cure, INTERIM, forks=True),
    Scenario("files touched", _touched, _update),
)


def prepared(scenario: Scenario, folder: Path) -> Expected:
    """Make a scenario's folder below another, and learn what is allowed of it; each step in a process of its own."""
    template, looked_at, trial, clean = (folder / name for name in ("template", "looked-at", "new", "clean"))
    template.mkdir(parents=True)
    if scenario.forks:
        scenario.prepare(template)
    else:
        value_of(lambda: scenario.prepare(template) and None)
    for copy in (looked_at, trial):
        shutil.copytree(template, copy)
    old = in_fork(partial(content, looked_at))
    if old.error and not old.typed:
        raise RuntimeError(old.message)
    operations = _operations(scenario, trial, folder / "operations")
    shutil.copytree(template, clean, ignore=shutil.ignore_patterns(".qa"))
    value_of(partial(_update, clean))
    return Expected(
        template=template,
        old=old.value,
        interim=scenario.interim if old.value else (*scenario.interim, NoIndexError),
        new=value_of(partial(content, trial)),
        clean=value_of(lambda: logical(content(clean))),
        digests=set(value_of(lambda: sorted(stored_digests(looked_at)))),
        operations=operations,
    )


def _operations(scenario: Scenario, root: Path, log: Path) -> list[str]:
    """Do it; what it did to files, where the library sees that."""
    if not is_loaded():
        value_of(partial(scenario.act, root))
        return []
    shim = Shim()

    def run() -> None:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT)
        shim.log_to(descriptor)
        shim.arm(root)
        scenario.act(root)
        shim.disarm()

    value_of(run)
    return log.read_text(encoding="utf-8").splitlines()
