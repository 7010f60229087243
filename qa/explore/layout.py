"""Where items are on a map: what is alike is close (t-SNE, van der Maaten and Hinton 2008)."""

from __future__ import annotations

import numpy as np

from index import Index, Vectors
from qa.explore.clusters import spread
from qa.explore.items import Items

# So many are laid out by themselves; further ones are placed between the landmarks they are nearest to.
LANDMARKS = 10_000
_NEIGHBOURS = 4
# Fewer are a line; t-SNE needs neighbours to compare.
_FEWEST = 8
_PERPLEXITY = 30
_STEPS = 500


def lay_out(snapshot: Index, items: Items) -> Vectors:
    """Return the places of items: `(n, 2) float32`, in [0, 1], the same for the same vectors."""
    vectors = np.concatenate(
        [np.empty((0, snapshot.info.dimension), dtype=np.float32), *(means for _, _, means in items.batches(snapshot))]
    )
    chosen = spread(len(vectors), LANDMARKS)
    landmarks = _embedded(vectors[chosen])
    places = landmarks
    if len(chosen) < len(vectors):
        places = _between(vectors, vectors[chosen], landmarks)
        places[chosen] = landmarks
    low, high = places.min(axis=0, initial=np.inf), places.max(axis=0, initial=-np.inf)
    scaled: Vectors = ((places - low) / np.maximum(high - low, 1e-9)).astype(np.float32)
    return scaled


def _embedded(vectors: Vectors) -> Vectors:
    from sklearn.manifold import TSNE  # noqa: PLC0415 - only a map needs it

    if len(vectors) < _FEWEST:
        line = np.linspace(0, 1, len(vectors), dtype=np.float32)
        return np.stack([line, line], axis=1)
    model = TSNE(
        init="pca",
        perplexity=min(_PERPLEXITY, (len(vectors) - 1) / 3),
        max_iter=_STEPS,
        random_state=1,
        n_jobs=-1,
    )
    found: Vectors = model.fit_transform(vectors)
    return found


def _between(vectors: Vectors, landmarks: Vectors, places: Vectors) -> Vectors:
    """The means of the nearest landmarks' places, weighed by how near they are."""
    found = np.empty((len(vectors), 2), dtype=np.float32)
    for start in range(0, len(vectors), 2048):
        cosines = vectors[start : start + 2048] @ landmarks.T
        near = np.argpartition(-cosines, _NEIGHBOURS, axis=1)[:, :_NEIGHBOURS]
        # Far apart, a mean of places would be nowhere: the nearest one counts most.
        weights = np.exp(20 * (np.take_along_axis(cosines, near, axis=1) - cosines.max(axis=1, keepdims=True)))
        found[start : start + 2048] = (places[near] * weights[:, :, None]).sum(axis=1) / weights.sum(axis=1)[:, None]
    return found
