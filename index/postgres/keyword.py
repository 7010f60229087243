"""BM25 over the segments of one generation: posting lists are fetched from the server and scored here.

Statistics and sums are those of the embedded index, so that scores are equal to the last bit.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from index.lexical.postings import Numbers
from index.lexical.scoring import Floats, bm25, idf, length_norms, select_highest
from index.postgres.connection import Row
from index.postgres.rows import ids_text
from index.storage.rows import damaged

# Positions in a segment are 16 bits.
MAX_PASSAGES = 65_536
# In bytes; longer terms, such as base64 data of an image, are stored as digests.
_MAX_TERM_BYTES = 128

# Size of a reader's cache of posting lists, as common words recur from question to question.
_CACHE_BYTES = 32 * 1024 * 1024

Fetch = Callable[[str, Sequence[object]], list[Row]]
PostingList = tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint8]]


class KeywordSegment(NamedTuple):
    """Passages that were indexed together: ascending ids, numbers of words, and which passages are live."""

    passages: Numbers
    lengths: npt.NDArray[np.uint16]
    live: npt.NDArray[np.bool_]
    terms: int  # number of terms with postings

    @property
    def live_passages(self) -> Numbers:
        """The ids of its live passages."""
        return self.passages[self.live]

    @property
    def size(self) -> int:
        """The number of its live passages."""
        return int(self.live.sum())


def term_key(term: str) -> bytes:
    """Return a term in its stored form."""
    data = term.encode("utf-8", "surrogatepass")
    return data if len(data) <= _MAX_TERM_BYTES else b"\0" + hashlib.blake2b(data, digest_size=32).digest()


def postings_checksum(segment: int, term: bytes, data: bytes) -> int:
    """Return the checksum of a row of postings: CRC-32 for speed, as a common word has many rows."""
    return zlib.crc32(data, zlib.crc32(term, zlib.crc32(b"%d" % segment)))


def segment_checksum(segment: int, passages: bytes, lengths: bytes, terms: int) -> int:
    """Return the checksum of a segment's row."""
    return zlib.crc32(lengths, zlib.crc32(passages, zlib.crc32(b"%d %d" % (segment, terms))))


def pack(positions: npt.NDArray[Any], weights: npt.NDArray[Any]) -> bytes:
    """Return a posting list in its stored form."""
    return positions.astype("<u2").tobytes() + weights.astype(np.uint8).tobytes()


def unpack(data: bytes) -> PostingList:
    """Return the positions in the segment, ascending, and the weights of a stored posting list."""
    count = len(data) // 3
    return np.frombuffer(data, dtype="<u2", count=count), np.frombuffer(data, dtype=np.uint8, offset=2 * count)


class PostgresKeywords:
    """The keyword index of one generation, for reading."""

    def __init__(self, fetch: Fetch, generation: int, passages: int, place: str) -> None:
        self._fetch = fetch
        self._generation = generation
        self._passages = passages
        self._place = place
        self._cache: dict[str, dict[int, PostingList]] = {}
        self._cached_bytes = 0
        self._lock = Lock()

    def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return the number of passages with each term."""
        return {term: _frequency(lists) for term, lists in self._postings(terms).items()}

    def search(self, terms: Mapping[str, float], limit: int, among: Numbers | None) -> tuple[Numbers, Floats]:
        """Return the `limit` best passages with any of the terms, best first, and all that tie with the last."""
        postings = self._postings(terms)
        weights = {term: weight * idf(self._passages, _frequency(postings[term])) for term, weight in terms.items()}
        ids, scores = np.empty(0, dtype=np.int64), np.empty(0)
        for number, segment in self.segments.items():
            sums = np.zeros(len(segment.passages))
            # In the question's order, so that equal passages get equal sums wherever they are.
            for term, weight in weights.items():
                if number in postings[term]:
                    positions, counts = postings[term][number]
                    sums[positions] += bm25(weight, counts.astype(np.float64), self._norms[number][positions])
            if among is not None:
                sums[~np.isin(segment.passages, among)] = 0.0
            hits = np.flatnonzero(sums)
            ids, scores = select_highest(np.append(ids, segment.passages[hits]), np.append(scores, sums[hits]), limit)
        order = np.argsort(-scores, kind="stable")
        return ids[order], scores[order]

    @cached_property
    def segments(self) -> dict[int, KeywordSegment]:
        """The segments of this generation, by number."""
        query = (
            "SELECT segment, passages, lengths, terms, checksum FROM segments "
            f"WHERE added <= {self._generation:d} AND removed > {self._generation:d} ORDER BY segment"
        )
        rows = self._fetch(f"SELECT passage FROM dead WHERE removed <= {self._generation:d}", ())
        dead = np.array([passage for (passage,) in rows], dtype=np.int64)
        segments = {}
        for number, passages, lengths, terms, expected in self._fetch(query, ()):
            if segment_checksum(number, passages, lengths, terms) != expected or len(passages) != 4 * len(lengths):
                raise damaged(self._place, f"checksum mismatch in segment {number} of the keyword index")
            ids = np.frombuffer(passages, dtype="<i8")
            segments[number] = KeywordSegment(ids, np.frombuffer(lengths, dtype="<u2"), ~np.isin(ids, dead), terms)
        if sum(segment.size for segment in segments.values()) != self._passages:
            raise damaged(self._place, "the number of passages in the keyword index is inconsistent")
        return segments

    @cached_property
    def _norms(self) -> dict[int, Floats]:
        total = sum(int(segment.lengths[segment.live].sum(dtype=np.int64)) for segment in self.segments.values())
        mean = total / max(self._passages, 1)
        return {number: length_norms(segment.lengths, mean) for number, segment in self.segments.items()}

    def _postings(self, terms: Collection[str]) -> dict[str, dict[int, PostingList]]:
        """Return the posting lists of terms by segment, without dead passages."""
        with self._lock:
            cached = {term: self._cache[term] for term in terms if term in self._cache}
        keys = {term_key(term): term for term in terms if term not in cached}
        fetched: dict[str, dict[int, PostingList]] = {term: {} for term in keys.values()}
        query = "SELECT segment, term, data, checksum FROM postings WHERE segment = ANY(%s::int[]) AND term = ANY(%s)"
        for number, key, data, expected in self._fetch(query, (ids_text(self.segments), list(keys))) if keys else ():
            if postings_checksum(number, key, data) != expected:
                raise damaged(self._place, f"checksum mismatch in segment {number} of the keyword index")
            positions, weights = unpack(data)
            live = self.segments[number].live[positions]
            if live.any():
                fetched[keys[key]][number] = (positions, weights) if live.all() else (positions[live], weights[live])
        self._add_to_cache(fetched)
        return {term: cached[term] if term in cached else fetched[term] for term in terms}

    def _add_to_cache(self, fetched: Mapping[str, dict[int, PostingList]]) -> None:
        """Cache posting lists for later questions, evicting the oldest."""
        with self._lock:
            for term, lists in fetched.items():
                if term not in self._cache:
                    self._cache[term] = lists
                    self._cached_bytes += _cached_size(lists)
            while self._cached_bytes > _CACHE_BYTES:
                self._cached_bytes -= _cached_size(self._cache.pop(next(iter(self._cache))))


def _frequency(lists: Mapping[int, PostingList]) -> int:
    return sum(len(positions) for positions, _ in lists.values())


def _cached_size(lists: Mapping[int, PostingList]) -> int:
    return 200 + 3 * _frequency(lists)
