"""BM25, as in Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6

_Floats = npt.NDArray[np.float64]


def idf(passages: int, frequency: int) -> float:
    """Return how much a term tells that so many of the passages have."""
    return max(float(np.log((passages - frequency + 0.5) / (frequency + 0.5))), _LEAST_IDF)


def length_norms(lengths: npt.NDArray[np.uint16] | _Floats, mean: float) -> _Floats:
    """Return what the length of each passage, in words, adds to the divisor of its scores."""
    norms: _Floats = _K1 * (1 - _B + _B * lengths.astype(np.float64) / mean)
    return norms


def bm25(weight: float, counts: _Floats, norms: _Floats) -> _Floats:
    """Return what a term adds to the scores of passages that have it `counts` times; `weight` has its idf."""
    return weight * (_K1 + 1) * counts / (counts + norms)
