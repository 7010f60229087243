"""BM25, as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_K1 = 1.2
_B = 0.75
_MIN_IDF = 1e-6

Floats = npt.NDArray[np.float64]
_Counts = npt.NDArray[np.integer[Any]]


def idf(passages: int, frequency: int) -> float:
    """Return the inverse document frequency of a term that `frequency` of the passages have."""
    return max(float(np.log((passages - frequency + 0.5) / (frequency + 0.5))), _MIN_IDF)


def length_norms(lengths: _Counts, mean: float) -> Floats:
    """Return the length norm of passages, by their lengths in words: a summand of the divisor of their scores."""
    norms: Floats = _K1 * (1 - _B + _B * lengths.astype(np.float64) / mean)
    return norms


def bm25(weight: float, counts: _Counts | Floats, norms: Floats) -> Floats:
    """Return the scores of a term for passages that have it `counts` times; `weight` includes its idf."""
    scores: Floats = np.multiply(counts, weight * (_K1 + 1), dtype=np.float64)
    scores /= norms + counts
    return scores


def select_highest(ids: npt.NDArray[np.int64], scores: Floats, limit: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the `limit` ids with the highest scores, and all that tie with the last, in the order given."""
    if len(ids) <= limit:
        return ids, scores
    is_top = scores >= np.partition(scores, -limit)[-limit]
    return ids[is_top], scores[is_top]
