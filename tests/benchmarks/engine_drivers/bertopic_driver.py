"""BERTopic over given texts and vectors, in an environment of its own: FOLDER KIND TOPICS; prints one JSON line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from bertopic import BERTopic  # type: ignore[import-not-found]
from sklearn.cluster import KMeans
from umap import UMAP  # type: ignore[import-not-found]


def main() -> None:
    """Cluster, and print the topic of each text and the words of each topic."""
    folder, kind, wanted = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    vectors = np.load(folder / "vectors.npy")
    # Its own settings, but for a seed.
    options = {"umap_model": UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=42)}
    if kind == "kmeans":
        options["hdbscan_model"] = KMeans(n_clusters=wanted, random_state=42, n_init=10)
    else:
        options["nr_topics"] = wanted + 1  # one of them is for what belongs to none
    model = BERTopic(embedding_model=None, **options)
    labels, _ = model.fit_transform(texts, vectors)
    if kind == "reduced":
        labels = model.reduce_outliers(texts, labels, strategy="embeddings", embeddings=vectors)
    labels = [int(label) for label in labels]
    words = {number: [word for word, _ in model.get_topic(number)[:4]] for number in sorted(set(labels)) if number >= 0}
    print(json.dumps({"labels": labels, "words": words}))


if __name__ == "__main__":
    main()
