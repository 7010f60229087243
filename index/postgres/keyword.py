"""BM25 over the segments of one generation: posting lists come from the server, and are scored here.

The same statistics and sums as those of the embedded index, so that scores are equal to the last bit.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from index.lexical.posting_blocks import Floats
from index.lexical.postings import Numbers
from index.lexical.scoring import bm25, highest, idf, length_norms
from index.postgres.connection import Row
from index.postgres.rows import damage, ids_text

# Places in a segment are 16 bits.
SEGMENT_MOST = 65_536
# A longer term, such as an encoded picture's, is stored by its digest.
_LONGEST = 128

# Bytes of posting lists that a reader keeps, as a question's common words are in the next one too.
_KEPT = 32 * 1024 * 1024

Rows = Callable[[str, Sequence[object]], list[Row]]
PostingList = tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint8]]


class KeywordSegment(NamedTuple):
    """Passages that were indexed together, ascending, with the words in each, and which are still there."""

    passages: Numbers
    lengths: npt.NDArray[np.uint16]
    live: npt.NDArray[np.bool_]
    terms: int  # how many have postings


def term_key(term: str) -> bytes:
    """Return a term as it is stored."""
    data = term.encode("utf-8", "surrogatepass")
    return data if len(data) <= _LONGEST else b"\0" + hashlib.blake2b(data, digest_size=32).digest()


def postings_checksum(segment: int, term: bytes, data: bytes) -> int:
    """Return the checksum of a row: CRC-32, as a common word has many."""
    return zlib.crc32(data, zlib.crc32(term, zlib.crc32(b"%d" % segment)))


def segment_checksum(segment: int, passages: bytes, lengths: bytes, terms: int) -> int:
    """Return the checksum of a segment's row."""
    return zlib.crc32(lengths, zlib.crc32(passages, zlib.crc32(b"%d %d" % (segment, terms))))


def unpack(data: bytes) -> PostingList:
    """Return the places in a segment, ascending, and the weights of a posting list."""
    count = len(data) // 3
    return np.frombuffer(data, dtype="<u2", count=count), np.frombuffer(data, dtype=np.uint8, offset=2 * count)


class PostgresKeywords:
    """The keyword index of one generation, for reading."""

    def __init__(self, rows: Rows, generation: int, passages: int, place: str) -> None:
        self._rows = rows
        self._generation = generation
        self._passages = passages
        self._place = place
        self._kept: dict[str, dict[int, PostingList]] = {}
        self._kept_bytes = 0
        self._lock = Lock()

    def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many passages each term occurs."""
        return {term: sum(len(places) for places, _ in found.values()) for term, found in self._postings(terms).items()}

    def search(self, terms: Mapping[str, float], limit: int, among: Numbers | None) -> tuple[Numbers, Floats]:
        """Return the passages with any of the terms, best first, and all that tie with the last."""
        postings = self._postings(terms)
        weights = {
            term: weight * idf(self._passages, sum(len(places) for places, _ in postings[term].values()))
            for term, weight in terms.items()
        }
        ids, scores = np.empty(0, dtype=np.int64), np.empty(0)
        for number, segment in self.segments.items():
            found = np.zeros(len(segment.passages))
            # In the question's order, so that equal passages get equal sums wherever they are.
            for term, weight in weights.items():
                if number in postings[term]:
                    places, counts = postings[term][number]
                    found[places] += bm25(weight, counts.astype(np.float64), self._norms[number][places])
            if among is not None:
                found[~np.isin(segment.passages, among)] = 0.0
            there = np.flatnonzero(found)
            ids, scores = highest(np.append(ids, segment.passages[there]), np.append(scores, found[there]), limit)
        order = np.argsort(-scores, kind="stable")
        return ids[order], scores[order]

    @cached_property
    def segments(self) -> dict[int, KeywordSegment]:
        """The segments of this generation, by number."""
        query = (
            "SELECT segment, passages, lengths, terms, checksum FROM segments "
            f"WHERE added <= {self._generation:d} AND removed > {self._generation:d} ORDER BY segment"
        )
        gone = self._rows(f"SELECT passage FROM dead WHERE removed <= {self._generation:d}", ())
        dead = np.array([number for (number,) in gone], dtype=np.int64)
        found = {}
        for number, passages, lengths, terms, check in self._rows(query, ()):
            if segment_checksum(number, passages, lengths, terms) != check or len(passages) != 4 * len(lengths):
                raise damage(self._place, f"checksum mismatch in segment {number} of the keyword index")
            ids = np.frombuffer(passages, dtype="<i8")
            found[number] = KeywordSegment(ids, np.frombuffer(lengths, dtype="<u2"), ~np.isin(ids, dead), terms)
        if sum(int(one.live.sum()) for one in found.values()) != self._passages:
            raise damage(self._place, "the number of passages in the keyword index is inconsistent")
        return found

    @cached_property
    def _norms(self) -> dict[int, Floats]:
        total = sum(int(one.lengths[one.live].sum(dtype=np.int64)) for one in self.segments.values())
        mean = total / max(self._passages, 1)
        return {number: length_norms(one.lengths, mean) for number, one in self.segments.items()}

    def _postings(self, terms: Collection[str]) -> dict[str, dict[int, PostingList]]:
        """The posting lists of terms by segment, without passages that are gone."""
        with self._lock:
            found = {term: self._kept[term] for term in terms if term in self._kept}
        keys = {term_key(term): term for term in terms if term not in found}
        read: dict[str, dict[int, PostingList]] = {term: {} for term in keys.values()}
        query = "SELECT segment, term, data, checksum FROM postings WHERE segment = ANY(%s::int[]) AND term = ANY(%s)"
        for number, key, data, check in self._rows(query, (ids_text(self.segments), list(keys))) if keys else ():
            if postings_checksum(number, key, data) != check:
                raise damage(self._place, f"checksum mismatch in segment {number} of the keyword index")
            places, weights = unpack(data)
            live = self.segments[number].live[places]
            if live.any():
                read[keys[key]][number] = (places, weights) if live.all() else (places[live], weights[live])
        self._keep(read)
        return {term: found[term] if term in found else read[term] for term in terms}

    def _keep(self, read: Mapping[str, dict[int, PostingList]]) -> None:
        """Keep posting lists for later questions, in place of those that were read first."""
        with self._lock:
            for term, lists in read.items():
                if term not in self._kept:
                    self._kept[term] = lists
                    self._kept_bytes += _bytes(lists)
            while self._kept_bytes > _KEPT:
                self._kept_bytes -= _bytes(self._kept.pop(next(iter(self._kept))))


def _bytes(lists: Mapping[int, PostingList]) -> int:
    return 200 + sum(3 * len(places) for places, _ in lists.values())
