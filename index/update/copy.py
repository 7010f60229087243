"""Copy a collection from one store to another: documents, passages and vectors; nothing is embedded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corpus import INDEX_FOLDER
from corpus.errors import UsageError
from index.commit.change import BuildMode, ChangeSet, SplitFile
from index.protocol import Index, IndexWriter
from index.storage.metadata import Info
from index.storage.vectors import vector_digest
from index.stores import is_same_collection, open_index, open_store, open_store_writer, open_writer, use_files_in_folder
from index.update.report import Progress, ProgressCallback
from index.update.update import lock_index_folder

# How many vectors are written at once.
_BATCH = 1000


def copy_index(source: Path | str, target: Path | str, *, progress: ProgressCallback | None = None) -> Info:
    """Copy the newest generation of a collection, and replace everything in the target except its vectors.

    Args:
        source: A folder of documents, or an address in PostgreSQL.
        target: The same; a folder keeps its index in its own files from then on.
        progress: Called with the number of passages copied.

    Raises:
        UsageError: The target does not name a collection and there already is one; or source and target are the same.
        QAError: As raised by `open_index` and `update_index`.
    """
    if is_same_collection(source, target):
        raise UsageError("a collection cannot be copied to itself.")
    source_index = open_store(source) if isinstance(source, str) else open_index(source / INDEX_FOLDER)
    with source_index as index, _open_target(target, source) as writer:
        copied = 0
        batch: dict[bytes, int] = {}
        for document in index.documents():
            passages = index.passages_of(document.path)
            digests = tuple(vector_digest(index.info.fingerprint, passage.encoder_text) for passage in passages)
            stored = writer.known_vectors(digests, index.info.dimension)
            digested = zip(digests, passages, strict=True)
            batch |= {digest: passage.vector for digest, passage in digested if digest not in stored}
            if len(batch) >= _BATCH:
                _copy_vectors(index, writer, batch)
                batch = {}
            writer.stage(SplitFile(document, passages, digests))
            copied += len(passages)
            if progress is not None:
                progress(Progress(copied, index.info.passages))
        _copy_vectors(index, writer, batch)
        info = writer.commit(ChangeSet(BuildMode.FULL, index.info.config, skipped=index.skipped()))
    if isinstance(target, Path):
        use_files_in_folder(target / INDEX_FOLDER)
    return info


def _copy_vectors(index: Index, writer: IndexWriter, batch: dict[bytes, int]) -> None:
    vectors = index.vectors(list(batch.values()))
    writer.adopt_vectors([(digest, vector.tobytes()) for digest, vector in zip(batch, vectors, strict=True)])


@contextmanager
def _open_target(target: Path | str, source: Path | str) -> Iterator[IndexWriter]:
    if isinstance(target, str):
        with open_store_writer(target, source) as writer:
            yield writer
    else:
        with lock_index_folder(target) as folder, open_writer(folder, in_folder=True) as writer:
            yield writer
