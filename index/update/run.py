"""One build under the lock: read the files, embed new texts at the same time, commit once."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter
from pathlib import Path

from corpus import (
    INDEX_FOLDER,
    LoadedFile,
    SkippedFile,
    encoder_text,
    load_all,
    mixed_version,
    split,
    splitter_version,
    types_split_otherwise,
)
from corpus.errors import CorpusError, Unreadable
from corpus.types import Document
from index.commit.change import BuildMode, ChangeSet, SplitFile
from index.protocol import IndexWriter
from index.storage.metadata import BuildConfig, Info, Selection, SkippedRow
from index.storage.rows import StoredDocument
from index.storage.vectors import vector_digest
from index.update.diff import (
    MAX_READ_BYTES,
    Diff,
    apply_choice,
    compare_folder,
    patterns_to_blame,
    read_suspects,
    require_most_kept,
)
from index.update.embed_queue import Embedding
from index.update.report import BuildReport, Note, Progress, Request

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Findings:
    """How the files read so far differ from the index."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    skipped: list[SkippedRow] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def count(self, document: Document, stored: StoredDocument | None) -> None:
        """Count a file that could be read."""
        if document.note:
            self.notes.append(Note(document.path, document.note))
        if stored is None:
            self.added += 1
        elif stored.sha256 == document.sha256:
            self.unchanged += 1
        else:
            self.changed += 1

    def skip(self, loaded: LoadedFile, error: Unreadable, stored: StoredDocument | None) -> None:
        """Record a file that could not be read or split; it stays in the index while its content is unknown."""
        file = loaded.file
        if not error.gone:
            stat = (file.size, file.mtime_ns, loaded.checked_ns)
            self.skipped.append(SkippedRow(file.path, error.reason, error.unknown, *stat))
        if stored is not None:
            (self.kept if error.unknown else self.removed).append(file.path)

    def report(self, diff: Diff, mode: BuildMode, info: Info | None, started: float) -> BuildReport:
        """Return the build's report, with `embedded` and `reused` left at 0."""
        skipped = sorted((*diff.skipped, *self.skipped), key=lambda row: row.path)
        return BuildReport(
            added=self.added,
            changed=self.changed,
            removed=len({*diff.removed, *self.removed}),
            unchanged=self.unchanged + (len(diff.unchanged) if mode is BuildMode.INCREMENTAL else 0),
            skipped=tuple(SkippedFile(row.path, row.reason, unreadable=row.unreadable) for row in skipped),
            documents=0 if info is None else info.documents,
            passages=0 if info is None else info.passages,
            embedded=0,
            reused=0,
            seconds=time.monotonic() - started,
            notes=tuple(self.notes),
            left_out=diff.left_out,
        )


class Build:
    """One build; the caller holds the writer lock. A first build uses the selection of the index that it replaces."""

    def __init__(self, request: Request, store: IndexWriter, started: float, replaced: Selection | None = None) -> None:
        self._request = request
        self._encoder = request.encoder
        self._store = store
        self._started = started
        self._previous = store.info()
        self._documents = store.documents()
        selection = apply_choice(self._previous or replaced, request.choice)
        previous_fields = () if self._previous is None else self._previous.from_file
        from_file = request.choice.from_file
        self._config = BuildConfig(
            **asdict(selection),
            from_file=previous_fields if from_file is None else tuple(sorted(from_file)),
            model=self._encoder.name,
            fingerprint=self._encoder.fingerprint,
            dimension=self._encoder.dimension,
            splitter=splitter_version(),
        )
        self._findings = Findings()
        self._unchanged: list[StoredDocument] = []
        self._outdated: frozenset[str] = frozenset()  # unchanged files to split again
        self._passages = 0
        self._done = 0.0
        self._total = 0

    def run(self, mode: BuildMode) -> BuildReport:
        """Read, embed, commit and report; a changed model, splitter or format choice forces a full build."""
        previous, config = self._previous, self._config
        if self._request.progress is not None:
            self._request.progress(Progress(0, 0))  # listing a large folder takes a while
        # The settings that passages and vectors depend on.
        affects_passages = attrgetter("fingerprint", "formats")
        outdated_types = frozenset() if previous is None else types_split_otherwise(previous.splitter)
        if previous is not None and (outdated_types is None or affects_passages(previous) != affects_passages(config)):
            mode = BuildMode.FULL
        # A full build retries skipped files: a later version may be able to read them.
        skipped = self._store.skipped() if mode is BuildMode.INCREMENTAL else ()
        diff = compare_folder(self._request.root, self._documents, skipped, config, retry=self._request.retry)
        if mode is BuildMode.INCREMENTAL:
            limit = math.inf if self._request.retry else MAX_READ_BYTES
            diff = read_suspects(self._request.root, diff, self._documents, limit=limit)
            diff = self._split_again(diff, outdated_types or frozenset())
            self._unchanged = [*diff.same]
        if not self._request.allow_empty:
            require_most_kept(len(self._documents), len(diff.removed), self._request.choice)
        embedding = self._read(diff, mode)
        info = self._commit(diff, mode)
        report = self._findings.report(diff, mode, info, self._started)
        return replace(report, embedded=embedding.embedded, reused=self._passages - embedding.embedded)

    def _split_again(self, diff: Diff, types: Set[str]) -> Diff:
        """Count unchanged files of these types as suspect; before a question, only remember that this is to be done."""
        outdated = [file for file in diff.unchanged if self._documents[file.path].media_type in types]
        if not outdated:
            return diff
        if not self._request.retry:
            self._config = replace(self._config, splitter=mixed_version())
            return diff
        self._outdated = frozenset(file.path for file in outdated)
        return replace(
            diff,
            suspect=(*diff.suspect, *outdated),
            unchanged=tuple(file for file in diff.unchanged if file.path not in self._outdated),
            same=tuple(document for document in diff.same if document.path not in self._outdated),
        )

    def _read(self, diff: Diff, mode: BuildMode) -> Embedding:
        """Read the files that may have changed, and embed their passages at the same time."""
        unchanged = diff.unchanged if mode is BuildMode.FULL else ()
        files = sorted((*diff.added, *diff.suspect, *unchanged), key=lambda file: file.path)
        self._total = sum(file.size for file in files)
        if self._request.progress is not None and files:
            self._request.progress(Progress(0, self._total))
        with Embedding(self._encoder, self._store, self._report_done, workers=self._request.workers) as embedding:
            for loaded in load_all(self._request.root, files, formats=self._config.formats):
                stored = self._documents.get(loaded.file.path)
                try:
                    if isinstance(document := loaded.outcome, Unreadable):
                        raise document
                    keeps = mode is BuildMode.INCREMENTAL and loaded.file.path not in self._outdated
                    if keeps and stored is not None and stored.sha256 == document.sha256:
                        file, checked_ns = loaded.file, loaded.checked_ns
                        updated = replace(stored, size=file.size, mtime_ns=file.mtime_ns, checked_ns=checked_ns)
                        self._unchanged.append(updated)
                        self._report_done(loaded.file.size)
                    else:
                        self._split(document, loaded, embedding)
                    self._findings.count(document, stored)
                except Unreadable as error:
                    self._findings.skip(loaded, error, stored)
                    self._report_done(loaded.file.size)
            embedding.finish()
        return embedding

    def _split(self, document: Document, loaded: LoadedFile, embedding: Embedding) -> None:
        """Split a file, have its passages embedded, and stage it."""
        encoder, file = self._encoder, loaded.file
        passages = split(document, count_tokens=encoder.count_tokens, max_tokens=encoder.max_tokens)
        texts = [encoder_text(passage) for passage in passages]
        digests = tuple(vector_digest(encoder.fingerprint, text) for text in texts)
        embedding.offer(digests, texts, file.size)
        if not passages:
            self._report_done(file.size)
        self._passages += len(passages)
        row = StoredDocument(
            id=0,
            path=document.path,
            sha256=document.sha256,
            size=file.size,
            mtime_ns=file.mtime_ns,
            checked_ns=loaded.checked_ns,
            media_type=document.media_type,
            title=document.title,
            passages=len(passages),
            records=len(document.records),
            metadata=json.dumps(document.metadata, ensure_ascii=False),
        )
        self._store.stage(SplitFile(row, passages, digests))

    def _report_done(self, size: float) -> None:
        if self._request.progress is not None and size:
            self._done += size
            self._request.progress(Progress(min(round(self._done), self._total), self._total))

    def _commit(self, diff: Diff, mode: BuildMode) -> Info:
        change = ChangeSet(
            mode,
            self._config,
            removed=frozenset((*diff.removed, *self._findings.removed)),
            kept=self._kept(diff),
            unchanged=self._unchanged,
            skipped=sorted((*diff.skipped, *self._findings.skipped), key=lambda row: row.path),
        )
        self._require_documents(diff, change)
        info = self._previous
        staged, is_full = self._store.staged, mode is BuildMode.FULL
        if info is None or is_full or staged or change.removed or self._config != info.config:
            return self._store.commit(change)
        if change.unchanged or tuple(change.skipped) != self._store.skipped():
            self._store.update_stats(change.unchanged, change.skipped)
        return info

    def _kept(self, diff: Diff) -> frozenset[str]:
        """Return the unreadable files to keep: all, or none if their vectors are from another model."""
        kept = frozenset((*diff.kept, *self._findings.kept))
        if kept and self._previous is not None and self._previous.fingerprint != self._config.fingerprint:
            _LOG.warning("%d unreadable files are no longer indexed, as the model has changed", len(kept))
            return frozenset()
        return kept

    def _require_documents(self, diff: Diff, change: ChangeSet) -> None:
        unchanged = diff.unchanged if change.mode is BuildMode.INCREMENTAL else ()
        if self._documents and not (
            self._store.staged or change.unchanged or change.kept or unchanged or self._request.allow_empty
        ):
            root = self._request.root
            patterns = patterns_to_blame(root, self._config)
            known = f"{len(self._documents):,} {'file' if len(self._documents) == 1 else 'files'}"
            raise CorpusError(
                f"no readable documents are left in {root}{patterns and f' with {patterns}'}, "
                f"and the index has {known}.{'' if patterns else _why_empty(root, change.skipped)} "
                "To empty the index on purpose: qa index --allow-empty."
            )


def _why_empty(root: Path, skipped: Sequence[SkippedRow]) -> str:
    if skipped:
        return f" Skipped {skipped[0].path}: {skipped[0].reason}."
    if any(entry.name != INDEX_FOLDER for entry in root.iterdir()):
        return " All its files are hidden or ignored."
    return " Is the folder mounted?"
