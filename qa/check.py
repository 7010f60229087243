"""`qa check`: read the whole index and compare it with its checksums; `--repair` makes it good."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from corpus.errors import DamagedIndexError
from index.records import StoredDocument, damaged
from index.report import BuildReport, ProgressCallback
from index.schema import DATABASE, REPAIR, open_for_reading, seam
from index.snapshot import Snapshot
from index.vectors import load
from qa.build import Rescan, build_index
from qa.locate import INDEX_FOLDER


@dataclass(frozen=True, slots=True)
class Checked:
    """What was read and found to hold what was written.

    Attributes:
        folder: The index folder.
        documents: Documents.
        passages: Passages, each with its vector.
        repaired: What the repair did, or None where none was needed.
    """

    folder: Path
    documents: int
    passages: int
    repaired: BuildReport | None = None


def check(root: Path) -> Checked:
    """Verify SQLite's own structure, the checksum of every row, and the FAISS files.

    Raises:
        NoIndexError: There is no index.
        IncompatibleError: It has another format version.
        DamagedIndexError: Something does not hold what was written; the message says what.
    """
    folder = root / INDEX_FOLDER
    _check_structure(folder / DATABASE)
    with Snapshot(folder) as snapshot:
        documents = snapshot.documents()
        passages = sum(_check_document(snapshot, document) for document in documents)
        if passages != snapshot.info.passages:
            raise damaged(folder / DATABASE, "the number of passages")
        snapshot.verify_terms()
        _check_segments(folder, snapshot)
    return Checked(folder, len(documents), passages)


def repair(root: Path, *, progress: ProgressCallback | None = None) -> Checked:
    """Check, and where something is damaged write the index anew; embeddings that hold are taken over.

    Raises:
        As `qa.build.build_index`.
    """
    try:
        return check(root)
    except DamagedIndexError:
        report = build_index(root, rescan=Rescan.ALL, progress=progress)
    checked = check(root)
    return Checked(checked.folder, checked.documents, checked.passages, report)


def _check_structure(file: Path) -> None:
    connection = open_for_reading(file)
    try:
        with seam(file):
            (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    finally:
        connection.close()
    if verdict != "ok":
        raise DamagedIndexError(f"{file} is damaged: {' '.join(str(verdict).split())}. {REPAIR}")


def _check_document(snapshot: Snapshot, document: StoredDocument) -> int:
    """Read a document's passages and vectors, which checks them; how many there are."""
    ids = [passage.id for passage in snapshot.passages_of(document.path)]
    snapshot.vectors(ids)
    return len(ids)


def _check_segments(folder: Path, snapshot: Snapshot) -> None:
    for segment in snapshot.info.segments:
        try:
            load(folder, segment, dimension=snapshot.info.dimension)
        except (OSError, ValueError) as error:
            raise DamagedIndexError(
                f"{folder / segment.name} is damaged: {error}. Questions are still answered rightly, but slower. "
                f"{REPAIR}"
            ) from error
