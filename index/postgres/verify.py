"""Check a whole collection: its checksums, and that its tables agree. A question checks only the rows it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from index.postgres.address import StoreAddress
from index.postgres.keyword import postings_checksum, unpack
from index.postgres.snapshot import PostgresSnapshot
from index.storage.metadata import Verified, run_checks
from index.storage.rows import damaged

_BATCH = 2000


def verify_collection(address: StoreAddress) -> Verified:
    """Check the newest generation of a collection; raises as `PostgresSnapshot` if it cannot be opened."""
    with PostgresSnapshot(address) as snapshot:
        checker = _CollectionChecker(snapshot)
        checks = checker.check_rows, checker.check_vectors, checker.check_keywords
        return run_checks(snapshot.info, checks)


class _CollectionChecker:
    """Checks the parts of a generation; each check raises DamagedIndexError."""

    def __init__(self, snapshot: PostgresSnapshot) -> None:
        self._snapshot = snapshot
        self._place = snapshot.address.url_with_name
        self._columns = snapshot.columns()

    def check_rows(self) -> None:
        documents = self._snapshot.documents()
        counts = Counter(self._columns.documents.tolist())
        if counts != Counter({document.id: document.passages for document in documents}):
            raise damaged(self._place, "the number of passages of a document is inconsistent")
        for ids in _batches(self._columns.passages):
            self._snapshot.passages(ids)

    def check_vectors(self) -> None:
        for ids in _batches(np.unique(self._columns.vectors)):
            self._snapshot.vectors(ids)

    def check_keywords(self) -> None:
        segments = self._snapshot.segments()
        indexed = [segment.live_passages for segment in segments.values()]
        if not np.array_equal(np.sort(np.concatenate([[], *indexed])), np.sort(self._columns.passages)):
            raise damaged(self._place, "the list of passages in the keyword index is inconsistent")
        for number, segment in segments.items():
            count = 0
            for term, data, expected in self._snapshot.postings(number):
                positions = unpack(data)[0]
                if postings_checksum(number, term, data) != expected or positions[-1] >= len(segment.passages):
                    raise damaged(self._place, f"checksum mismatch in segment {number} of the keyword index")
                count += 1
            if count != segment.terms:
                raise damaged(self._place, f"segment {number} of the keyword index lacks a term")


def _batches(ids: np.ndarray) -> Iterator[list[int]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH].tolist()
