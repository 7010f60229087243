"""`qa check`: read the whole index and verify its checksums; `--repair` rebuilds what is damaged."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from corpus import INDEX_FOLDER
from corpus.errors import DamagedIndexError, NoIndexError, StorageError
from index import (
    DATABASE,
    BuildMode,
    BuildReport,
    ProgressCallback,
    Verified,
    is_built,
    read_sealed,
    store_of,
    verify_index,
    verify_store,
    write_derived,
)
from qa.collection.build import build_index

# Stored by `qa topics` next to the index, and recomputed if it is unusable.
_TOPICS = "topics.bin"


class RepairKind(Enum):
    """What a repair did."""

    NONE = "nothing was damaged"
    DERIVED = "derived data was rebuilt from the stored passages and vectors; no file was read, nothing embedded"
    REBUILT = "all files were read again; undamaged embeddings were kept"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """An index whose checksums all match, the problems that were repaired, and the report of a rebuild."""

    place: str
    documents: int
    passages: int
    kind: RepairKind = RepairKind.NONE
    problems: tuple[str, ...] = ()
    rebuilt: BuildReport | None = None


def check(root: Path) -> CheckReport:
    """Verify the structure of the index, the checksum of every row and FAISS file, and that all of them agree.

    Raises:
        DamagedIndexError: Something does not match; the message says where.
        NoIndexError: There is no index, or its first build was never finished.
        StorageError: A file may not be read.
    """
    folder = root / INDEX_FOLDER
    verified = verify_index(folder)
    verified = replace(verified, problems=(*verified.problems, *_damaged_topics(root)))
    return _report_of(verified, store_of(folder) or str(folder))


def check_store(url: str) -> CheckReport:
    """Verify a collection in PostgreSQL like `check`."""
    return _report_of(verify_store(url), url)


def _report_of(verified: Verified, place: str) -> CheckReport:
    if verified.problems:
        further = len(verified.problems) - 1
        more = f" ({further} more {'problem' if further == 1 else 'problems'})" if further else ""
        raise DamagedIndexError(verified.problems[0] + more)
    return CheckReport(place, verified.documents, verified.passages)


def repair(root: Path, *, progress: ProgressCallback | None = None) -> CheckReport:
    """Check an index and rebuild what is damaged; if that fails, as `build_index` may, the index is as it was.

    Derived data is rebuilt from the stored documents, passages and vectors, without the files or the model. If these
    are damaged, the files are read again, and only texts whose embeddings are lost are embedded.
    """
    from index import rebuild_derived  # noqa: PLC0415 - what writes is imported where it is needed

    topics = _damaged_topics(root)
    if topics:
        write_derived(root / INDEX_FOLDER / _TOPICS, b"")
    try:
        problems = (*_find_problems(root), *topics)
    except NoIndexError:
        if not is_built(root / INDEX_FOLDER):
            raise
        rebuilt = build_index(root, progress=progress)  # the first build was interrupted, so it is finished
        return replace(check(root), rebuilt=rebuilt)
    if not problems:
        return check(root)
    if problems == topics:
        return replace(check(root), kind=RepairKind.DERIVED, problems=problems)
    with suppress(DamagedIndexError):
        rebuild_derived(root)
        if not _find_problems(root):
            return replace(check(root), kind=RepairKind.DERIVED, problems=problems)
    rebuilt = build_index(root, mode=BuildMode.FULL, progress=progress)
    return replace(check(root), kind=RepairKind.REBUILT, problems=problems, rebuilt=rebuilt)


def _find_problems(root: Path) -> tuple[str, ...]:
    try:
        return verify_index(root / INDEX_FOLDER).problems
    except DamagedIndexError as error:
        return (str(error),)


def _damaged_topics(root: Path) -> tuple[str, ...]:
    file = root / INDEX_FOLDER / _TOPICS
    if not file.exists() or read_sealed(file) is not None:
        return ()
    if not os.access(file, os.R_OK):
        raise StorageError(f"cannot read {file}: Permission denied; its owner can chmod it like {DATABASE}.")
    return (f"{file} is damaged: checksum mismatch. Run `qa check --repair`, or `qa topics` to compute them again.",)
