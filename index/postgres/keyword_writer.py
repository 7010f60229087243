"""Write the keyword index of a generation: new passages become new segments, and small segments are merged."""

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
from index.lexical.writer import FIELD_WEIGHTS, MAX_LENGTH, Fields
from index.postgres.connection import fetch_number
from index.postgres.keyword import (
    MAX_PASSAGES,
    KeywordSegment,
    PostgresKeywords,
    pack,
    postings_checksum,
    segment_checksum,
    term_key,
    unpack,
)
from index.postgres.rows import live_condition

# Number of segments of similar size that are merged, and the factor between sizes.
_MERGE_FACTOR = 8


class KeywordWriter:
    """Adds passages inside the caller's transaction, after the removed passages were added to `dead`."""

    def __init__(self, connection: psycopg.Connection, place: str, generation: int) -> None:
        self._connection = connection
        self._place = place
        self._generation = generation
        self._passages = array("q")
        self._lengths = array("H")
        self._positions: defaultdict[bytes, array[int]] = defaultdict(lambda: array("H"))
        self._weights: defaultdict[bytes, array[int]] = defaultdict(lambda: array("B"))

    def add(self, passage: int, fields: Fields) -> None:
        """Index a passage under its row id; ids must ascend."""
        weights, length = _weigh(fields)
        for term, weight in weights.items():
            key = term_key(term)
            self._positions[key].append(len(self._passages))
            self._weights[key].append(min(weight, MAX_WEIGHT))
        self._passages.append(passage)
        self._lengths.append(min(max(length, 1), MAX_LENGTH))
        if len(self._passages) == MAX_PASSAGES:
            self._flush()

    def finish(self) -> None:
        """Write the added passages, and merge segments if many are of similar size."""
        self._flush()
        segments = self._segments()
        sizes = sorted((segment.size, number) for number, segment in segments.items())
        empty = [number for size, number in sizes if size == 0]
        self._mark_removed(empty)
        for _, group in groupby(sizes[len(empty) :], key=lambda pair: int(np.log(pair[0]) / np.log(_MERGE_FACTOR))):
            similar = list(group)
            totals = np.cumsum([size for size, _ in similar])
            fitting = [number for (_, number), total in zip(similar, totals, strict=True) if total <= MAX_PASSAGES]
            if len(similar) >= _MERGE_FACTOR and len(fitting) > 1:
                self._merge({number: segments[number] for number in fitting})

    def _flush(self) -> None:
        if self._passages:
            rows = (
                (key, pack(np.array(self._positions[key]), np.array(self._weights[key])))
                for key in sorted(self._positions)
            )
            self._write(np.array(self._passages, dtype="<i8"), np.array(self._lengths, dtype="<u2"), rows)
        self._passages, self._lengths = array("q"), array("H")
        self._positions.clear()
        self._weights.clear()

    def _merge(self, segments: dict[int, KeywordSegment]) -> None:
        """Write several segments as one, without dead passages; readers may still hold the old ones."""
        passages = np.sort(np.concatenate([segment.live_passages for segment in segments.values()]))
        lengths = np.zeros(len(passages), dtype="<u2")
        for segment in segments.values():
            lengths[np.searchsorted(passages, segment.live_passages)] = segment.lengths[segment.live]
        query = "SELECT term, segment, data FROM postings WHERE segment = ANY(%s) ORDER BY term, segment"
        rows = self._connection.execute(query, (list(segments),), binary=True).fetchall()
        merged = ((key, _merge_postings(segments, group, passages)) for key, group in groupby(rows, key=itemgetter(0)))
        self._write(passages, lengths, ((key, data) for key, data in merged if data))
        self._mark_removed(list(segments))

    def _mark_removed(self, segments: Sequence[int]) -> None:
        query = "UPDATE segments SET removed = %s WHERE segment = ANY(%s)"
        self._connection.execute(query, (self._generation, list(segments)))

    def _write(self, passages: Numbers, lengths: np.ndarray, rows: Iterator[tuple[bytes, bytes]]) -> None:
        reserve = "UPDATE meta SET value = value + 1 WHERE key = 'next_segment' RETURNING value - 1"
        number = fetch_number(self._connection, reserve)
        terms = 0
        into = "COPY postings (segment, term, data, checksum) FROM STDIN"
        with self._connection.cursor() as cursor, cursor.copy(into) as copy:
            for key, data in rows:
                copy.write_row((number, key, data, postings_checksum(number, key, data)))
                terms += 1
        packed = passages.astype("<i8").tobytes(), lengths.tobytes()
        self._connection.execute(
            "INSERT INTO segments (segment, added, passages, lengths, terms, checksum) VALUES (%s, %s, %s, %s, %s, %s)",
            (number, self._generation, *packed, terms, segment_checksum(number, *packed, terms)),
        )

    def _segments(self) -> dict[int, KeywordSegment]:
        def fetch(query: str, values: Sequence[object]) -> list[tuple[object, ...]]:
            return self._connection.execute(query, values, binary=True).fetchall()

        live = live_condition("p", self._generation)
        count = fetch_number(self._connection, f"SELECT count(*) FROM passages p WHERE {live}")
        return PostgresKeywords(fetch, self._generation, count, self._place).segments


def _weigh(fields: Fields) -> tuple[dict[str, int], int]:
    """Return the weight of each term in a passage, and its number of words."""
    weights: defaultdict[str, int] = defaultdict(int)
    length = 0
    # Passages of one document share all fields but the text.
    for text, weight in zip(fields, FIELD_WEIGHTS, strict=True):
        simple, joined = terms(text) if text is fields.text else _shared_terms(text)
        length += len(simple)
        for term in (*simple, *joined):
            weights[term] += weight
    return weights, length


_shared_terms = lru_cache(maxsize=64)(terms)


def _merge_postings(
    segments: dict[int, KeywordSegment], rows: Iterator[tuple[bytes, int, bytes]], passages: Numbers
) -> bytes:
    """Merge a term's posting lists from several segments into a list with positions in `passages`."""
    positions, weights = [], []
    for _, number, data in rows:
        old_positions, old_weights = unpack(data)
        is_live = segments[number].live[old_positions]
        positions.append(np.searchsorted(passages, segments[number].passages[old_positions[is_live]]))
        weights.append(old_weights[is_live])
    all_positions, all_weights = np.concatenate(positions), np.concatenate(weights)
    order = np.argsort(all_positions, kind="stable")
    return pack(all_positions[order], all_weights[order])
