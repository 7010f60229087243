"""Write the keyword index of a generation: new passages as segments of their own, and small segments as one."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

import numpy as np
import psycopg

from index.lexical.analyzer import terms
from index.lexical.postings import MAX_WEIGHT, Numbers
from index.lexical.writer import FIELD_WEIGHTS, Fields
from index.postgres.keyword import (
    SEGMENT_MOST,
    KeywordSegment,
    PostgresKeywords,
    postings_checksum,
    segment_checksum,
    term_key,
    unpack,
)
from index.postgres.rows import live

_MAX_LENGTH = 65_535
# Segments of about one size, and the factor between sizes.
_SAME_SIZE = 8


class KeywordWriter:
    """Adds passages inside the caller's transaction; what was removed is in `dead` by then."""

    def __init__(self, connection: psycopg.Connection, place: str, generation: int) -> None:
        self._connection = connection
        self._place = place
        self._generation = generation
        self._passages = array("q")
        self._lengths = array("H")
        self._places: defaultdict[bytes, array[int]] = defaultdict(lambda: array("H"))
        self._weights: defaultdict[bytes, bytearray] = defaultdict(bytearray)

    def add(self, passage: int, fields: Fields) -> None:
        """Index a passage under its row id; ids ascend."""
        weights, length = _weigh(fields)
        for term, weight in weights.items():
            key = term_key(term)
            self._places[key].append(len(self._passages))
            self._weights[key].append(min(weight, MAX_WEIGHT))
        self._passages.append(passage)
        self._lengths.append(min(max(length, 1), _MAX_LENGTH))
        if len(self._passages) == SEGMENT_MOST:
            self._flush()

    def finish(self) -> None:
        """Write what was added, and merge segments of about one size where they are many."""
        self._flush()
        segments = self._segments()
        self._end([number for number, one in segments.items() if not one.live.any()])
        sizes = sorted((int(one.live.sum()), number) for number, one in segments.items() if one.live.any())
        for _, group in groupby(sizes, key=lambda pair: int(np.log(pair[0]) / np.log(_SAME_SIZE))):
            alike = list(group)
            total = np.cumsum([size for size, _ in alike])
            fitting = [number for (_, number), upto in zip(alike, total, strict=True) if upto <= SEGMENT_MOST]
            if len(alike) >= _SAME_SIZE and len(fitting) > 1:
                self._merge({number: segments[number] for number in fitting})

    def _flush(self) -> None:
        if self._passages:
            rows = ((key, _packed(self._places[key], self._weights[key])) for key in sorted(self._places))
            self._write(np.array(self._passages, dtype="<i8"), np.array(self._lengths, dtype="<u2"), rows)
        self._passages, self._lengths = array("q"), array("H")
        self._places.clear()
        self._weights.clear()

    def _merge(self, segments: dict[int, KeywordSegment]) -> None:
        """Write segments again as one, without the passages that are gone; the old ones stay for who holds them."""
        passages = np.sort(np.concatenate([one.passages[one.live] for one in segments.values()]))
        lengths = np.zeros(len(passages), dtype="<u2")
        for one in segments.values():
            lengths[np.searchsorted(passages, one.passages[one.live])] = one.lengths[one.live]
        query = b"SELECT term, segment, data FROM postings WHERE segment = ANY(%s) ORDER BY term, segment"
        rows = self._connection.execute(query, (list(segments),), binary=True).fetchall()
        merged = ((key, _merged(segments, group, passages)) for key, group in groupby(rows, key=itemgetter(0)))
        self._write(passages, lengths, ((key, data) for key, data in merged if data))
        self._end(list(segments))

    def _end(self, segments: Sequence[int]) -> None:
        ended = b"UPDATE segments SET removed = %s WHERE segment = ANY(%s)"
        self._connection.execute(ended, (self._generation, list(segments)))

    def _write(self, passages: Numbers, lengths: np.ndarray, rows: Iterator[tuple[bytes, bytes]]) -> None:
        reserved = b"UPDATE meta SET value = value + 1 WHERE key = 'next_segment' RETURNING value - 1"
        found = self._connection.execute(reserved).fetchone()
        number = int(found[0]) if found else 0
        terms = 0
        into = "COPY postings (segment, term, data, checksum) FROM STDIN"
        with self._connection.cursor() as cursor, cursor.copy(into) as copy:
            for key, data in rows:
                copy.write_row((number, key, data, postings_checksum(number, key, data)))
                terms += 1
        packed = passages.astype("<i8").tobytes(), lengths.tobytes()
        self._connection.execute(
            b"INSERT INTO segments (segment, added, passages, lengths, terms, checksum) "
            b"VALUES (%s, %s, %s, %s, %s, %s)",
            (number, self._generation, *packed, terms, segment_checksum(number, *packed, terms)),
        )

    def _segments(self) -> dict[int, KeywordSegment]:
        def rows(query: str, values: Sequence[object]) -> list[tuple[object, ...]]:
            return self._connection.execute(query.encode(), values, binary=True).fetchall()

        here = f"SELECT count(*) FROM passages p WHERE {live('p', self._generation)}"
        count = self._connection.execute(here.encode()).fetchone()
        return PostgresKeywords(rows, self._generation, count[0] if count else 0, self._place).segments


def _weigh(fields: Fields) -> tuple[dict[str, int], int]:
    """The weight of each term in a passage, and how many words it has."""
    weights: defaultdict[str, int] = defaultdict(int)
    length = 0
    # Passages of one document share all but the text.
    for text, weight in zip(fields, FIELD_WEIGHTS, strict=True):
        simple, joined = terms(text) if text is fields.text else _shared_terms(text)
        length += len(simple)
        for term in (*simple, *joined):
            weights[term] += weight
    return weights, length


@lru_cache(maxsize=64)
def _shared_terms(text: str) -> tuple[Sequence[str], Sequence[str]]:
    return terms(text)


def _packed(places: array[int], weights: bytearray) -> bytes:
    return np.array(places, dtype="<u2").tobytes() + bytes(weights)


def _merged(segments: dict[int, KeywordSegment], rows: Iterator[tuple[bytes, int, bytes]], passages: Numbers) -> bytes:
    """The posting list of a term over several segments, its places now those among `passages`."""
    places, weights = [], []
    for _, number, data in rows:
        own, own_weights = unpack(data)
        live = segments[number].live[own]
        places.append(np.searchsorted(passages, segments[number].passages[own[live]]))
        weights.append(own_weights[live])
    all_places, all_weights = np.concatenate(places), np.concatenate(weights)
    order = np.argsort(all_places, kind="stable")
    return all_places[order].astype("<u2").tobytes() + all_weights[order].astype(np.uint8).tobytes()
