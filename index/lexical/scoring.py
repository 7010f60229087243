"""BM25, as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_K1 = 1.2
_B = 0.75
_MIN_IDF = 1e-6

_Floats = npt.NDArray[np.float64]
_Counts = npt.NDArray[np.integer[Any]]


def idf(passages: int, frequency: int) -> float:
    """Return the inverse document frequency of a term that `frequency` of the passages have."""
    return max(float(np.log((passages - frequency + 0.5) / (frequency + 0.5))), _MIN_IDF)


def length_norms(lengths: _Counts, mean: float) -> _Floats:
    """Return the length norm of passages, by their lengths in words: a summand of the divisor of their scores."""
    norms: _Floats = _K1 * (1 - _B + _B * lengths.astype(np.float64) / mean)
    return norms


def bm25(weight: float, counts: _Counts | _Floats, norms: _Floats) -> _Floats:
    """Return the scores of a term for passages that have it `counts` times; `weight` includes its idf."""
    scores: _Floats = np.multiply(counts, weight * (_K1 + 1), dtype=np.float64)
    scores /= norms + counts
    return scores


def select_highest(ids: npt.NDArray[np.int64], scores: _Floats, limit: int) -> tuple[npt.NDArray[np.int64], _Floats]:
    """Return the `limit` ids with the highest scores, and all that tie with the last, in the order given."""
    if len(ids) <= limit:
        return ids, scores
    is_top = scores >= np.partition(scores, -limit)[-limit]
    return ids[is_top], scores[is_top]
