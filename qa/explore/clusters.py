"""Clusters unit vectors: a Ward tree over a sample (scipy), refined by k-means (FAISS).

K-means from random starts splits large groups and merges small ones. On the passages of 35 articles it reached an
adjusted Rand index of .82 to .92, Ward's tree .98, and k-means started from Ward's clusters .99.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from index import Vectors

# Time and memory of the tree, and of the silhouettes for each count tried, are quadratic in the sample.
_MAX_TREE_SAMPLE = 4000
_MAX_SILHOUETTE_SAMPLE = 1500
_COUNTS_TRIED = 24
_KMEANS_ITERATIONS = 10
# Nobody reads a longer list of topics.
MAX_CLUSTERS = 50
# Outliers: more than this many (robust) standard deviations below the median cosine, in a cluster of at least this many
# members. With 3, 20 of 1,619 passages of 35 articles were outliers, nearly all of them in the right topic; with 4, 4.
_OUTLIER_DEVIATIONS = 4.0
_MIN_MEMBERS = 20

Labels = npt.NDArray[np.int64]
Cosines = npt.NDArray[np.float32]


def find_centroids(vectors: Vectors, *, wanted: int | None = None, limit: int = MAX_CLUSTERS) -> Vectors:
    """Find the clusters of vectors.

    Args:
        vectors: `(n, dim) float32`, unit L2 norm, at least one.
        wanted: How many clusters; None for the number with the highest mean silhouette.
        limit: The most clusters if `wanted` is None; never more than the square root of n.

    Returns:
        Their centroids, `(k, dim) float32`, unit L2 norm, the largest cluster first; fewer than wanted if vectors are
        equal.
    """
    from scipy.cluster.hierarchy import fcluster, linkage  # noqa: PLC0415 - only needed to cluster

    # For small inputs, waking other threads costs more than it saves: 35 articles took three times as long.
    with _thread_pools().limit(limits=1 if len(vectors) <= _MAX_TREE_SAMPLE else None):
        sample = vectors[evenly_spaced(len(vectors), _MAX_TREE_SAMPLE)]
        if len(sample) < 2 or wanted == 1:
            return _centroids(sample, np.zeros(len(sample), dtype=np.int64))
        squares = 2 - 2 * np.clip(sample @ sample.T, -1, 1)
        np.fill_diagonal(squares, 0)
        tree = linkage(np.sqrt(squares[np.triu_indices(len(sample), 1)], dtype=np.float64), "ward")

        def cut(count: int) -> Labels:
            labels: Labels = np.unique(fcluster(tree, count, "maxclust"), return_inverse=True)[1]
            return labels

        number = wanted or _best_cluster_count(squares, cut, min(limit, int(len(vectors) ** 0.5)))
        centroids = refine(vectors, _centroids(sample, cut(number)))
        counts = np.bincount(nearest(vectors, centroids)[0], minlength=len(centroids))
        return centroids[np.argsort(-counts, kind="stable")]


@cache
def _thread_pools() -> Any:
    """Return the thread pools of all loaded libraries."""
    import faiss  # noqa: F401, PLC0415 - has a thread pool, and must be loaded to be found
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415

    return ThreadpoolController()


def refine(vectors: Vectors, start: Vectors) -> Vectors:
    """Improve centroids by k-means, keeping their order."""
    import faiss  # noqa: PLC0415

    if len(vectors) <= len(start):
        return start
    model = faiss.Kmeans(
        vectors.shape[1], len(start), niter=_KMEANS_ITERATIONS, spherical=True, seed=1,
        min_points_per_centroid=1, max_points_per_centroid=len(vectors),
    )  # fmt: skip
    model.train(np.ascontiguousarray(vectors), init_centroids=np.ascontiguousarray(start))
    return np.asarray(model.centroids, dtype=np.float32)


def nearest(vectors: Vectors, centroids: Vectors) -> tuple[Labels, Cosines]:
    """Return each vector's nearest centroid, and their cosine."""
    cosines = vectors @ centroids.T
    labels: Labels = cosines.argmax(axis=1)
    return labels, cosines[np.arange(len(labels)), labels]


def floors(labels: Labels, cosines: Cosines, count: int) -> Cosines:
    """Return for each cluster the cosine below which a vector does not belong to it: `(count,)`."""
    thresholds = np.full(count, -1, dtype=np.float32)
    for cluster in range(count):
        members = cosines[labels == cluster]
        if len(members) >= _MIN_MEMBERS:
            median = np.median(members)
            # For normal data, the standard deviation is 1.4826 times the median absolute deviation.
            thresholds[cluster] = median - _OUTLIER_DEVIATIONS * 1.4826 * np.median(np.abs(members - median))
    return thresholds


def _best_cluster_count(squares: Vectors, cut: Callable[[int], Labels], limit: int) -> int:
    """Return the number of clusters with the highest mean silhouette over cosine distances."""
    chosen = evenly_spaced(len(squares), _MAX_SILHOUETTE_SAMPLE)
    distances = squares[np.ix_(chosen, chosen)]
    scores = {}
    for count in sorted(set(np.geomspace(2, max(limit, 2), _COUNTS_TRIED).astype(int).tolist())):
        labels = cut(count)[chosen]
        if 1 < len(set(labels.tolist())) < len(labels):
            scores[count] = mean_silhouette(distances, labels)
    return max(scores, key=lambda count: scores[count], default=1)


def mean_silhouette(distances: Vectors, labels: Labels) -> float:
    """Return the mean silhouette (Rousseeuw 1987): how much nearer members are to their own cluster than to the next.

    Equals scikit-learn's, which takes longer to import than this takes to run.
    """
    rows = np.arange(len(labels))
    membership = np.eye(labels.max() + 1, dtype=np.float32)[labels]
    sums, sizes = distances @ membership, membership.sum(axis=0)
    within = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / np.maximum(sizes, 1)
    means[rows, labels] = np.inf
    means[:, sizes == 0] = np.inf
    to_next = means.min(axis=1)
    scores = np.where(sizes[labels] > 1, (to_next - within) / np.maximum(np.maximum(within, to_next), 1e-9), 0)
    return float(scores.mean())


def _centroids(vectors: Vectors, labels: Labels) -> Vectors:
    sums = np.zeros((labels.max() + 1, vectors.shape[1]), dtype=np.float32)
    np.add.at(sums, labels, vectors)
    return unit_rows(sums)


def unit_rows(vectors: Vectors) -> Vectors:
    """Scale vectors to unit L2 norm; zeros stay zeros."""
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
    return unit


def evenly_spaced(count: int, limit: int) -> Labels:
    """Return at most `limit` of the numbers below `count`, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, limit)).astype(np.int64))


def score_of(cosine: float) -> float:
    """Return a cosine as a score from 0 to 1; those of unit vectors may exceed 1 by rounding."""
    return round(min(max(float(cosine), 0.0), 1.0), 6)
