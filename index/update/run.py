"""One update under the lock: read the files, embed what is new as it is read, commit once."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from corpus import FoundFile, LoadedFile, SkippedFile, encoder_text, load_all, outermost, split, splitter_version
from corpus.errors import CorpusError, Unreadable
from corpus.types import Document
from index.commit.change import BuildConfig, BuildMode, ChangeSet, Entry, UnchangedFile, config_of
from index.commit.staging import Staging
from index.commit.store import Store
from index.dense.vector_rows import vector_digest
from index.storage.metadata import Info, SkippedRow
from index.storage.rows import StoredDocument
from index.update.diff import Diff, compare
from index.update.embed_queue import Embedding
from index.update.report import BuildReport, Note, Progress, Request

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files of the root are indexed; the fields are those of `Request`."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def select(
    info: Info | None,
    *,
    include: Sequence[str] | None,
    exclude: Sequence[str] | None,
    paths: Sequence[str] | None,
    more_paths: Sequence[str],
) -> Selection:
    """Return what is asked for, and where nothing is, what the last update selected."""
    before = Selection() if info is None else Selection(info.include, info.exclude, info.paths)
    kept = before.paths if paths is None else tuple(paths)
    # More paths widen a limited collection; one of the whole root has them already.
    is_new = info is None and paths is None
    return Selection(
        before.include if include is None else tuple(include),
        before.exclude if exclude is None else tuple(exclude),
        outermost((*kept, *more_paths)) if kept or is_new else (),
    )


def in_order_of_path(left: Sequence[SkippedRow]) -> tuple[SkippedFile, ...]:
    """What was left out, as it is reported."""
    ordered = sorted(left, key=lambda one: one.path)
    return tuple(SkippedFile(one.path, one.reason, unreadable=one.unreadable) for one in ordered)


@dataclass(slots=True)
class Findings:
    """What reading files brought to light, counted."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    left: list[SkippedRow] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def look(self, read: LoadedFile, stored: StoredDocument | None) -> Document | None:
        """Note how a file that was read compares with what is stored; None where it yields no document."""
        document = read.outcome
        if isinstance(document, Unreadable):
            self._failed(read.file, document, read.checked_ns, stored)
            return None
        if document.note:
            self.notes.append(Note(document.path, document.note))
        if stored is None:
            self.added += 1
        elif stored.sha256 == document.sha256:
            self.unchanged += 1
        else:
            self.changed += 1
        return document

    def refuse(
        self,
        file: FoundFile,
        document: Document,
        error: Unreadable,
        checked_ns: int,
        stored: StoredDocument | None,
    ) -> None:
        """Take back what `look` noted of a file that was read but is not taken in."""
        if stored is None:
            self.added -= 1
        elif stored.sha256 == document.sha256:
            self.unchanged -= 1
        else:
            self.changed -= 1
        self._failed(file, error, checked_ns, stored)

    def _failed(self, file: FoundFile, error: Unreadable, checked_ns: int, stored: StoredDocument | None) -> None:
        if not error.gone:
            self.left.append(SkippedRow(file.path, error.reason, error.unknown, file.size, file.mtime_ns, checked_ns))
        if stored is not None:
            (self.kept if error.unknown else self.removed).append(file.path)


class Build:
    """One update under the lock."""

    def __init__(self, request: Request, store: Store, started: float) -> None:
        self._request = request
        self._encoder = request.encoder
        self._store = store
        self._started = started
        self._before = store.info()
        self._documents = store.documents()
        selection = select(
            self._before,
            include=request.include,
            exclude=request.exclude,
            paths=request.paths,
            more_paths=request.more_paths,
        )
        self._config = BuildConfig(
            model=self._encoder.name,
            fingerprint=self._encoder.fingerprint,
            dimension=self._encoder.dimension,
            splitter=splitter_version(),
            include=selection.include,
            exclude=selection.exclude,
            paths=selection.paths,
        )
        self._found = Findings()
        self._seen: list[UnchangedFile] = []
        self._passages = 0
        self._embedded = 0
        self._done = 0.0
        self._total = 0

    def run(self, mode: BuildMode) -> BuildReport:
        """Read, embed, commit.

        Args:
            mode: `INCREMENTAL` for what changed, `FULL` to write every row anew.
        """
        mode = self._mode(mode)
        # A full run tries again what was skipped before: the tool may have learned to read it.
        left_before = self._store.skipped() if mode is BuildMode.INCREMENTAL else ()
        config = self._config
        diff = compare(
            self._request.root,
            self._documents,
            left_before,
            include=config.include,
            exclude=config.exclude,
            paths=config.paths,
        )
        entries = self._store.stage()
        self._read(diff, mode, entries)
        removed = frozenset((*diff.removed, *self._found.removed))
        kept = self._kept(diff)
        self._require_some_left(diff, entries, kept, mode)
        info = self._commit(mode, entries, removed, kept, (*diff.left, *self._found.left))
        return self._report(diff, info, removed, mode)

    def _mode(self, asked: BuildMode) -> BuildMode:
        before = self._before
        if before is not None and (before.fingerprint, before.splitter) != (
            self._config.fingerprint,
            self._config.splitter,
        ):
            return BuildMode.FULL
        return asked

    def _read(self, diff: Diff, mode: BuildMode, entries: Staging) -> None:
        """Read what may have changed; it is embedded meanwhile."""
        again = diff.unchanged if mode is BuildMode.FULL else ()
        files = sorted((*diff.added, *diff.suspect, *again), key=lambda file: file.path)
        self._total = sum(file.size for file in files)
        with Embedding(self._encoder, self._store, self._tell) as embedding:
            for read in load_all(self._request.root, files):
                file, checked_ns = read.file, read.checked_ns
                stored = self._documents.get(file.path)
                document = self._found.look(read, stored)
                if document is None:
                    self._tell(file.size)
                elif mode is BuildMode.INCREMENTAL and stored is not None and stored.sha256 == document.sha256:
                    self._seen.append(UnchangedFile(file.path, file.size, file.mtime_ns, checked_ns))
                    self._tell(file.size)
                else:
                    self._enter(document, file, checked_ns, entries, embedding)
            embedding.finish()
        self._embedded = embedding.embedded

    def _enter(
        self, document: Document, file: FoundFile, checked_ns: int, entries: Staging, embedding: Embedding
    ) -> None:
        encoder = self._encoder
        try:
            passages = split(document, count_tokens=encoder.count_tokens, max_tokens=encoder.max_tokens)
        except Unreadable as error:
            self._found.refuse(file, document, error, checked_ns, self._documents.get(file.path))
            self._tell(file.size)
            return
        texts = [encoder_text(passage) for passage in passages]
        digests = tuple(vector_digest(encoder.fingerprint, text) for text in texts)
        for digest, text in zip(digests, texts, strict=True):
            embedding.offer(digest, text, file.size / len(passages))
        if not passages:
            self._tell(file.size)
        self._passages += len(passages)
        entries.add(
            Entry(
                path=document.path,
                sha256=document.sha256,
                size=file.size,
                mtime_ns=file.mtime_ns,
                checked_ns=checked_ns,
                media_type=document.media_type,
                title=document.title,
                passages=passages,
                digests=digests,
                records=len(document.records),
            )
        )

    def _kept(self, diff: Diff) -> frozenset[str]:
        """What cannot be read now stays, unless its vectors come from another model."""
        kept = frozenset((*diff.kept, *self._found.kept))
        if kept and self._before is not None and self._before.fingerprint != self._config.fingerprint:
            _LOG.warning("%d files cannot be read and are left out of the index for the new model", len(kept))
            return frozenset()
        return kept

    def _require_some_left(self, diff: Diff, entries: Staging, kept: frozenset[str], mode: BuildMode) -> None:
        stay = bool(diff.unchanged) and mode is BuildMode.INCREMENTAL
        if self._documents and not (entries.paths or self._seen or kept or stay or self._request.allow_empty):
            raise CorpusError(
                f"{self._request.root} has no readable documents any more, and the index has {len(self._documents)}. "
                "Is it mounted? To empty the index on purpose, allow it to be empty."
            )

    def _tell(self, size: float) -> None:
        if self._request.progress is not None and size:
            self._done += size
            self._request.progress(Progress(min(round(self._done), self._total), self._total))

    def _commit(
        self,
        mode: BuildMode,
        entries: Staging,
        removed: frozenset[str],
        kept: frozenset[str],
        left: Sequence[SkippedRow],
    ) -> Info:
        left = sorted(left, key=lambda one: one.path)
        info = self._before
        if info is None or mode is BuildMode.FULL or entries.paths or removed or self._config != config_of(info):
            change = ChangeSet(mode, entries, entries.paths, removed, kept)
            return self._store.commit(change, self._config, seen=self._seen, left=left)
        if self._seen or tuple(left) != self._store.skipped():
            self._store.note(self._seen, left)
        return info

    def _report(self, diff: Diff, info: Info, removed: frozenset[str], mode: BuildMode) -> BuildReport:
        return BuildReport(
            added=self._found.added,
            changed=self._found.changed,
            removed=len(removed),
            unchanged=self._found.unchanged + (len(diff.unchanged) if mode is BuildMode.INCREMENTAL else 0),
            skipped=in_order_of_path((*diff.left, *self._found.left)),
            documents=info.documents,
            passages=info.passages,
            embedded=self._embedded,
            reused=self._passages - self._embedded,
            seconds=time.monotonic() - self._started,
            notes=tuple(self._found.notes),
        )
