"""Create the vectors that the compiled default model is checked against, using the SentenceTransformer in float32.

python -m tests.reference_vectors
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from index.encoder.model_files import find
from index.encoder.openvino_graph import CHECK_TEXTS, REFERENCE_VECTORS
from index.encoder.sentence_transformer import load_network


def reference_vectors() -> npt.NDArray[np.float16]:
    """Return an array of shape `(n, 384)`; float16 changes cosines by 1e-7."""
    vectors: npt.NDArray[np.float16] = load_network(find()).encode(list(CHECK_TEXTS)).astype(np.float16)
    return vectors


if __name__ == "__main__":
    np.save(REFERENCE_VECTORS, reference_vectors())
