"""Places items on a map, similar ones close together (t-SNE, van der Maaten and Hinton 2008)."""

from __future__ import annotations

import numpy as np

from index import Index, Vectors
from qa.explore.clusters import evenly_spaced
from qa.explore.items import Items

# The most items that t-SNE lays out; others are placed between their nearest landmarks.
LANDMARKS = 10_000
_NEIGHBOURS = 4
# Fewer items are put on a line, as t-SNE needs neighbours to compare.
_MIN_ITEMS = 8
_PERPLEXITY = 30
_STEPS = 500
# Up to this many items, threads that wait for each other cost more than they save: on a busy machine with two cores,
# 2,937 passages took 20 s of processor time instead of 6 s.
_MAX_SINGLE_THREADED = 4000


def lay_out(snapshot: Index, items: Items) -> Vectors:
    """Return the positions of items: `(n, 2) float32`, in [0, 1], deterministic."""
    vectors = np.concatenate(
        [np.empty((0, snapshot.info.dimension), dtype=np.float32), *(means for _, _, means in items.batches(snapshot))]
    )
    sample = evenly_spaced(len(vectors), LANDMARKS)
    positions = landmarks = _embed(vectors[sample])
    if len(sample) < len(vectors):
        positions = _interpolate(vectors, vectors[sample], landmarks)
        positions[sample] = landmarks
    low, high = positions.min(axis=0, initial=np.inf), positions.max(axis=0, initial=-np.inf)
    scaled: Vectors = ((positions - low) / np.maximum(high - low, 1e-9)).astype(np.float32)
    return scaled


def _embed(vectors: Vectors) -> Vectors:
    from sklearn.manifold import TSNE  # noqa: PLC0415 - only a map needs it
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    if len(vectors) < _MIN_ITEMS:
        line = np.linspace(0, 1, len(vectors), dtype=np.float32)
        return np.stack([line, line], axis=1)
    perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
    threads = 1 if len(vectors) <= _MAX_SINGLE_THREADED else None
    model = TSNE(init="pca", perplexity=perplexity, max_iter=_STEPS, random_state=1, n_jobs=threads or -1)
    with threadpool_limits(threads):
        positions: Vectors = model.fit_transform(vectors)
    return positions


def _interpolate(vectors: Vectors, landmarks: Vectors, positions: Vectors) -> Vectors:
    """Return the means of the nearest landmarks' positions, weighted by similarity."""
    means = np.empty((len(vectors), 2), dtype=np.float32)
    for start in range(0, len(vectors), 2048):
        cosines = vectors[start : start + 2048] @ landmarks.T
        near = np.argpartition(-cosines, _NEIGHBOURS, axis=1)[:, :_NEIGHBOURS]
        # The nearest landmark dominates: a plain mean of distant positions would lie in the middle of nowhere.
        weights = np.exp(20 * (np.take_along_axis(cosines, near, axis=1) - cosines.max(axis=1, keepdims=True)))
        means[start : start + 2048] = (positions[near] * weights[:, :, None]).sum(axis=1) / weights.sum(axis=1)[:, None]
    return means
