"""`qa check`: read the whole index and compare it with its checksums; `--repair` makes it good."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from corpus import INDEX_FOLDER
from corpus.errors import DamagedIndexError
from index import BuildMode, BuildReport, ProgressCallback, Verified, verify
from qa.collection.build import build_index


class RepairKind(Enum):
    """What a repair took."""

    NONE = "nothing was damaged"
    DERIVED = "what follows from documents, passages and vectors was made again; nothing was read or embedded"
    REBUILT = "every document was read again; embeddings that were sound were kept"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was read and found to hold what was written.

    Attributes:
        folder: The index folder.
        documents: Documents.
        passages: Passages, each with its vector.
        kind: What the repair took.
        problems: What it cured.
        rebuilt: What reading the documents again did, where that was needed.
    """

    folder: Path
    documents: int
    passages: int
    kind: RepairKind = RepairKind.NONE
    problems: tuple[str, ...] = ()
    rebuilt: BuildReport | None = None


def check(root: Path) -> CheckReport:
    """Verify SQLite's own structure, the checksum of every row, the FAISS files, and that all of them agree.

    Raises:
        NoIndexError: There is no index.
        IncompatibleError: It has another format version.
        DamagedIndexError: Something does not hold what was written; the message says what.
    """
    folder = root / INDEX_FOLDER
    found = verify(folder)
    if found.problems:
        others = len(found.problems) - 1
        more = f" So {'is 1 other part' if others == 1 else f'are {others} other parts'} of it." if others else ""
        raise DamagedIndexError(found.problems[0] + more)
    return CheckReport(folder, found.documents, found.passages)


def repair(root: Path, *, progress: ProgressCallback | None = None) -> CheckReport:
    """Check, and make good what is damaged.

    What follows from documents, passages and vectors is made from them again, without the files or the model. Where
    they themselves are damaged, the files are read again, and only texts whose embeddings are lost are embedded.

    Raises:
        As `qa.collection.build.build_index`; the index is as it was then.
    """
    problems = _problems(root)
    if not problems:
        return check(root)
    if _rederived(root):
        kind, rebuilt = RepairKind.DERIVED, None
    else:
        kind, rebuilt = RepairKind.REBUILT, build_index(root, mode=BuildMode.FULL, progress=progress)
    checked = check(root)
    return CheckReport(checked.folder, checked.documents, checked.passages, kind, problems, rebuilt)


def _problems(root: Path) -> tuple[str, ...]:
    try:
        found: Verified = verify(root / INDEX_FOLDER)
    except DamagedIndexError as error:
        return (str(error),)
    return found.problems


def _rederived(root: Path) -> bool:
    from index import rebuild_derived  # noqa: PLC0415 - what writes is imported where it is needed

    try:
        rebuild_derived(root)
    except DamagedIndexError:
        return False
    return not _problems(root)
