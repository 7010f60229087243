"""Operations that are interrupted, and the states in which they may leave an index.

A scenario is a folder and an operation on it. Whatever happens to the operation, the index must be exactly the old
generation or the new one, or raise a typed error that says what to do. An update must then give the same answers as a
first build, embed no text whose vector was stored, and leave no stray file.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from corpus.errors import DamagedIndexError, IncompatibleError, NoIndexError, QAError
from index.storage.vectors import vector_digest
from index.update.report import BuildReport, Request
from index.update.update import rebuild_index, update_index
from tests.encoders import BagEncoder
from tests.robustness.fault_library import Action, FaultLibrary, is_loaded
from tests.robustness.picture import Picture, Questions, complete_picture, differences, stored_digests, stray_files
from tests.robustness.process import in_fork, value_in_fork

# Long before any test: a file that changed less than two seconds before it was read is read again by the next update.
LONG_AGO = 1_700_000_000
INTERIM = (DamagedIndexError, NoIndexError)
_FILES = {
    "birds.txt": "Birds sing in the morning.\n",
    "cats.md": "# Cats\n\nThe cat sat on the mat.\n\n## Dogs\n\nDogs bark at state-of-the-art robots.\n",
    "copy/birds.txt": "Birds sing in the morning.\n",
    "harbour.md": "# Harbour\n\nThe harbour closes at dusk.\n\n## Ferries\n\nThe last ferry leaves at nine.\n",
    "ledger.md": "".join(f"# Page {page}\n\nPayments of page {page}.\n\n" for page in range(24)),
    "notes/fish.md": "# Fish\n\nFish swim in the sea.\n\n## Whales\n\nWhales are no fish.\n",
    "notes/old.txt": "An old note that nobody reads.\n",
}
QUESTIONS = Questions(
    texts=(
        "Where did the cat sit?",
        "When do birds sing in the morning?",
        "Who swims in the sea?",
        "Which harbour closes at dusk?",
    ),
    words=("cat", "dogs", "harbour", "unheard-of"),
    pattern="notes/",
    path="cats.md",
    duplicate="copy/birds.txt",
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """An operation on a folder."""

    name: str
    prepare: Callable[[Path], object]  # fills the folder, which exists
    act: Callable[[Path], object]
    interim: tuple[type[QAError], ...] = ()  # errors that the index may raise until the operation is done
    forks: bool = False  # whether `prepare` forks
    encoder: Callable[[], Any] = BagEncoder  # for questions and the update afterwards; `embedded` lists its texts
    questions: Questions = QUESTIONS

    def picture(self, root: Path) -> tuple[int, Picture]:
        """The generation of an index and all its answers."""
        return complete_picture(root, self.encoder(), self.questions)


@dataclass(slots=True)
class Expected:
    """The permitted outcomes of a scenario."""

    scenario: Scenario
    template: Path  # the folder before the operation
    old: tuple[int, Picture] | None  # generation and answers before the operation; None without an index
    new: tuple[int, Picture]  # generation and answers after it
    clean: Picture  # answers of a first build of the same files
    digests: frozenset[bytes]  # of the vectors stored before the operation
    operations: list[str] = field(default_factory=list)  # on files, in order; needs the fault library
    result: Any = None  # of the operation; in `kills`, the seconds it took

    def problems(self, root: Path, *, done: bool) -> list[str]:
        """What is wrong with an index after its writer was interrupted; `done` if the operation reported success."""
        result = in_fork(partial(self._problems, root, done=done))
        problems: list[str] = result.value if result.succeeded else [f"asking: {result}"]
        return problems

    def _problems(self, root: Path, *, done: bool) -> list[str]:
        problems = self._state_problems(root, done=done)
        stored = self.digests | stored_digests(root / ".qa")
        encoder = self.scenario.encoder()
        bring_up_to_date(root, encoder)
        if embedded_again := [text for text in encoder.embedded if vector_digest(encoder.fingerprint, text) in stored]:
            problems.append(f"embedded again: {embedded_again}")
        if differing := differences(self.scenario.picture(root)[1], self.clean):
            problems.append(f"after an update, it differs from a first build in: {differing}")
        if names := stray_files(root):
            problems.append(f"stray files: {names}")
        return problems

    def _state_problems(self, root: Path, *, done: bool) -> list[str]:
        """Problems unless the index is the old or the new one, or raises a typed error that names it and the fix."""
        interim = self.scenario.interim if self.old else (*self.scenario.interim, NoIndexError)
        try:
            generation, answers = self.scenario.picture(root)
        except QAError as error:
            problems = [f"opening: {type(error).__name__}: {error}"] if done or not isinstance(error, interim) else []
            return problems if ".qa" in str(error) and "`qa " in str(error) else [*problems, f"names no fix: {error}"]
        allowed = [self.new] if done or self.old is None else [self.new, self.old]
        if (generation, answers) in allowed:
            return []
        differing = [(number, differences(answers, expected)) for number, expected in allowed]
        return [f"neither old nor new: {generation}; {differing}"]


def expected_outcomes(scenario: Scenario, folder: Path) -> Expected:
    """Prepare a scenario inside a folder and determine its permitted outcomes, each step in a fork."""
    template, trial, clean = (folder / name for name in ("template", "new", "clean"))
    template.mkdir(parents=True)
    if scenario.forks:
        scenario.prepare(template)
    else:
        value_in_fork(lambda: scenario.prepare(template) and None)
    shutil.copytree(template, trial)
    old = in_fork(partial(scenario.picture, trial))
    if old.crashed:
        raise RuntimeError(old.message)
    digests = stored_digests(trial / ".qa")
    # Questions may have checkpointed the log.
    shutil.rmtree(trial)
    shutil.copytree(template, trial)
    result, operations = value_in_fork(partial(_run_and_log, scenario, trial, folder / "operations"))
    new = value_in_fork(partial(scenario.picture, trial))
    if old.value:
        shutil.copytree(template, clean, ignore=shutil.ignore_patterns(".qa"))
        value_in_fork(lambda: update_index(Request(clean, scenario.encoder())).passages)
        expected = value_in_fork(partial(scenario.picture, clean))[1]
    else:
        expected = new[1]
    return Expected(scenario, template, old.value, new, expected, digests, operations, result)


def _run_and_log(scenario: Scenario, root: Path, log: Path) -> tuple[object, list[str]]:
    """Run the operation; return its result and what it did to files."""
    if not is_loaded():
        return scenario.act(root), []
    library = FaultLibrary()
    library.log_to(os.open(log, os.O_WRONLY | os.O_CREAT))
    library.arm(root)
    result = scenario.act(root)
    library.disarm()
    return result, log.read_text(encoding="utf-8").splitlines()


def write(root: Path, files: dict[str, str], *, at: int = LONG_AGO) -> None:
    """Write documents, all with the same modification time."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (at, at))


def memory_disk() -> Path | None:
    """A file system in memory, where syncing takes no time; None if there is only the default temporary folder."""
    memory = Path("/dev/shm")  # noqa: S108 - folders in it get random names
    return memory if memory.is_dir() else None


def bring_up_to_date(root: Path, encoder: Any) -> BuildReport:
    """Update, or rebuild if the update is refused."""
    try:
        return update_index(Request(root, encoder))
    except (DamagedIndexError, IncompatibleError):
        return rebuild_index(Request(root, encoder))


def damage_generation(root: Path) -> None:
    """Change the generation number without updating its checksum."""
    with closing(sqlite3.connect(root / ".qa" / "index.db")) as connection:
        connection.execute("UPDATE meta SET value = '9' WHERE key = 'generation'")
        connection.commit()


def _update(root: Path) -> object:
    return update_index(Request(root, BagEncoder())).passages


def _rebuild(root: Path) -> object:
    return rebuild_index(Request(root, BagEncoder())).passages


def _repair(root: Path) -> object:
    return bring_up_to_date(root, BagEncoder()).passages


def _create(root: Path) -> None:
    write(root, _FILES)


def _build(root: Path) -> None:
    _create(root)
    _update(root)


def _change(root: Path) -> None:
    """Create two segments: the next update keeps the larger, with dead vectors, and merges the smaller into a third."""
    _build(root)
    write(root, {"late.txt": "A late note.\n"})
    _update(root)
    cats = "# Cats\n\nThe cat left.\n\n## Dogs\n\nDogs bark at state-of-the-art robots.\n"
    write(root, {"cats.md": cats}, at=LONG_AGO + 9)
    write(root, {"new.md": "# New\n\nNobody has read this yet.\n"})
    (root / "notes" / "old.txt").unlink()
    (root / "birds.txt").rename(root / "renamed.txt")


def _damage(root: Path) -> None:
    _build(root)
    damage_generation(root)


def _touch(root: Path) -> None:
    _build(root)
    os.utime(root / "cats.md", (LONG_AGO + 9, LONG_AGO + 9))


def _kill(root: Path, prepare: Callable[[Path], object], act: Callable[[Path], object]) -> None:
    """Kill the operation when it is three quarters done; it leaves a hot log, and files not yet renamed."""
    value_in_fork(partial(prepare, root))
    library = FaultLibrary()
    copy = root.with_name(root.name + "-count")
    shutil.copytree(root, copy)

    def count() -> int:
        library.arm(copy)
        act(copy)
        return library.disarm()

    at = value_in_fork(count) * 3 // 4
    shutil.rmtree(copy)

    def die() -> None:
        library.arm(root, at=at, action=Action.KILL_HALFWAY)
        act(root)

    if in_fork(die).status == 0:
        raise RuntimeError("it was not killed")


SCENARIOS = (
    Scenario("first build", _create, _update),
    Scenario("first build, once killed", partial(_kill, prepare=_create, act=_update), _update, forks=True),
    Scenario("update", _change, _update),
    Scenario("update, once killed", partial(_kill, prepare=_change, act=_update), _update, forks=True),
    Scenario("rebuild", _change, _rebuild),
    Scenario("repair", _damage, _rebuild, INTERIM),
    Scenario("repair, once killed", partial(_kill, prepare=_damage, act=_rebuild), _repair, INTERIM, forks=True),
    Scenario("files touched", _touch, _update),
)
